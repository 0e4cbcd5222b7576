"""Rows a number of places away are found by few entries, however many rows of their partition change together."""

from __future__ import annotations

import pyarrow as pa
import pytest

from workbench import Session
from workbench.engine.operators.analytic.key_places import Partitions
from workbench.engine.spark.in_process import InProcess

ROWS, BATCH = 4_000, 60


@pytest.mark.parametrize("call", ["LAG(x) IGNORE NULLS", "LAST_VALUE(x IGNORE NULLS)"])
def test_a_row_behind_many_new_ones_is_told_from_few_stored_entries(
    in_process: InProcess, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    looked = list[int]()
    nearest = Partitions.nearest_entry

    def counted(self: Partitions, *arguments: object) -> object:
        looked.append(arguments[2])  # type: ignore[arg-type]
        return nearest(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Partitions, "nearest_entry", counted)
    rows = pa.table({"id": range(ROWS + 3 * BATCH), "x": [n if n % 3 else None for n in range(ROWS + 3 * BATCH)]})
    with Session(in_process) as session:
        session.add_stream("t", rows, history=ROWS, batch=BATCH)
        query = session.register(f"SELECT id, {call} OVER (ORDER BY id) AS y FROM t", name="q")
        session.run(3)
        assert len(query.result()) == ROWS + 3 * BATCH
    assert looked and max(looked) <= 4
