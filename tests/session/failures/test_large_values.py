"""A query whose values come to be too large for the heap is disabled; the JVM, other queries and sessions go on."""

from __future__ import annotations

import pyarrow as pa
import pytest
from long import rare
from pyspark import SparkContext
from pyspark.sql import SparkSession

from workbench import Session

ROWS = pa.table({"id": list(range(30)), "s": ["x" * 9] * 14 + ["a" * 100_000] * 2 + ["y"] * 14})


def multiplied(text: str) -> str:
    return f"REPLACE({text}, 'a', '{'a' * 32}')"


@rare
@pytest.mark.parametrize("fused", [False, True], ids=["selected", "counted"])
def test_a_text_that_is_larger_than_it_counted_as(spark: SparkSession, fused: bool) -> None:
    long = f"LENGTH({multiplied(multiplied(multiplied('s')))})"
    with Session(spark) as session, Session(spark) as other:
        for of in (session, other):
            of.add_stream("t", ROWS, history=10, batch=10)
            of.register("SELECT id FROM t WHERE LENGTH(s) > 1", name="kept")
            of.register("SELECT LENGTH(s) AS n, COUNT(*) AS rows FROM t GROUP BY LENGTH(s)", name="counted")
        text = f"SELECT SUM({long}) AS n FROM t" if fused else f"SELECT id FROM t WHERE {long} > 5"
        session.register(text, name="large")
        assert SparkContext._gateway is not None
        java = SparkContext._gateway.proc.pid
        assert [report.batch for report in session.run(2)] == [1, 2]
        assert SparkContext._gateway.proc.pid == java
        statuses = {name: query.status for name, query in session.queries.items()}
        why = "memory ran out for batch 1 twice, and not without this query"
        assert statuses == {"kept": "active", "counted": "active", "large": why}
        other.run(2)
        for name in ("kept", "counted"):
            assert session.query(name).result().equals(other.query(name).result())
        assert len(session.query("kept").result()) == 16
