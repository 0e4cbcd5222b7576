"""The places of long arrays come in parts, since each of their rows has the whole array."""

from __future__ import annotations

import pyarrow as pa
import pytest

from workbench.engine.physical.array_places import PLACE, ArrayPlaces
from workbench.sql.algebra.expressions import Column
from workbench.sql.algebra.types import INTEGER, STRING
from workbench.sql.predicates.cnf import ORPred

PLACES = ArrayPlaces(Column("s", STRING), Column("n", INTEGER), Column("p", INTEGER, 1), ORPred(()))


@pytest.mark.parametrize("sizes", [[500, None, 3, 0, 40], [0, None], [], [1000]])
def test_parts_have_the_rows_of_the_whole(sizes: list[int | None]) -> None:
    texts = ["x" * (size or 0) for size in sizes]
    rows = pa.RecordBatch.from_arrays([pa.array(sizes, pa.int64()), pa.array(texts, pa.string())], names=["n", "s"])
    expected = [(size, place) for size in sizes for place in range(1, (size or 0) + 1)]
    for most in (1 << 40, 20_000, 1):
        parts = list(PLACES.each(rows, ["n", "s"], most=most))
        found = [(row["n"], row[PLACE]) for part in parts for row in part.to_pylist()]
        assert found == expected
        assert len(parts) <= 1 if most > 1 << 30 else len(parts) > 5 or not expected
    assert all(part.nbytes < 4 * 20_000 for part in PLACES.each(rows, ["n", "s"], most=20_000))
