"""Variances of numbers that are large and close to each other, while rows come and go; fractions are the judge."""

from __future__ import annotations

from fractions import Fraction
from math import isnan

import pyarrow as pa
import pytest
from oracle.test_shortcuts import WAYS, force
from pyspark.sql import SparkSession

from workbench import Session

START = 1_700_000_000_000_000
"""Microseconds since 1970."""
CHANGES = [
    (1, START, 1), (1, START + 5, 1), (2, 1 - START, 1), (1, START + 1_000_003, 1), (2, 2 - START, 1),
    (1, START + 5, 1), (1, START + 5, -1), (2, 2 - START, 1), (1, START + 1_000_003, -1), (2, 1 - START, -1),
    (1, START, -1), (1, 7, 1),
]  # fmt: skip
"""A group, a value, and 1, or -1 where the row is taken back."""


def expected(rows: int) -> dict[int, list[float]]:
    """VAR_POP of each group, and STDDEV where it has two values."""
    left: dict[int, list[int]] = {}
    for group, value, sign in CHANGES[:rows]:
        values = left.setdefault(group, [])
        values.append(value) if sign > 0 else values.remove(value)
    found = {}
    for group, values in left.items():
        mean = Fraction(sum(values), len(values))
        squares = sum((value - mean) ** 2 for value in values)
        sample = [float(squares / (len(values) - 1)) ** 0.5] if len(values) > 1 else []
        found[group] = [float(squares / len(values)), *sample]
    return found


@pytest.mark.parametrize("way", [None, "Spark evaluates all rows", "rows are many"])
def test_variance_has_every_digit(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, way: str | None) -> None:
    if way is not None:
        force(monkeypatch, WAYS[way])
    columns = [pa.array(column, pa.int64()) for column in zip(*CHANGES, strict=True)]
    with Session(spark) as session:
        session.add_stream("t", pa.table(columns, ["g", "v", "w"]), history=4, batch=2, weight="w")
        query = session.register("SELECT g, VAR_POP(v) AS p, STDDEV(v) AS d FROM t GROUP BY g", "q")
        rows = 4
        while True:
            answer = query.result()
            found = {int(g): [value for value in both if not isnan(value)] for g, *both in answer.values}
            assert found.keys() == expected(rows).keys()
            for group, both in expected(rows).items():
                assert found[group] == pytest.approx(both, rel=1e-12, abs=0), (rows, group)
            if not session.run(1):
                break
            rows += 2
