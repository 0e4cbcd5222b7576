"""The 22 questions of TPC-H as they are written, together in one session, over orders and lines that arrive.

All are planned here; every other one is answered, and all with ``ARGUS_LONG=all``.
"""

from __future__ import annotations

import pytest
from long import LONG
from oracle.harness import Case, Feed, Oracle
from pyspark.sql import SparkSession

from benchmarks.query_sets.tpch import load
from benchmarks.sample_streams.tpch import tpch
from workbench.arrow.types import to_data_type
from workbench.errors import UnsupportedError
from workbench.network.network import Network
from workbench.sharing.planner import Planner
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema

STREAMS = {"lineitem": (1_400, 200), "orders": (350, 50)}
"""Rows of history, and of a batch."""


def feeds(orders: int = 500, seed: int = 1) -> dict[str, Feed]:
    return {
        name: Feed(table, *STREAMS[name]) if name in STREAMS else Feed(table, static=True)
        for name, table in tpch(orders, seed).items()
    }


@pytest.mark.parametrize(("dialect", "read"), [("spark", 22), ("duckdb", 22), ("postgres", 22)])
def test_they_are_planned_as_they_are_written(dialect: str, read: int) -> None:
    columns = {name: tuple((f.name, to_data_type(f.type)) for f in table.schema) for name, table in tpch(20).items()}
    schema, refused = Schema(columns), []
    for name, sql in load().items():
        try:
            query = bind(sql, dialect, schema).query
        except UnsupportedError as problem:
            refused.append((name, str(problem).splitlines()[0]))
            continue
        assert query is not None
        assert name in Planner().register(Network(), name, query).network.queries
    assert 22 - len(refused) == read, refused


def test_all_answers_follow_the_stream(spark: SparkSession) -> None:
    asked = [*load().items()][:: 1 if LONG else 2]
    cases = {name: Case(sql, dialect="duckdb") for name, sql in asked}
    with Oracle(spark, feeds()) as oracle:
        oracle.register(cases)
        oracle.run(3, check=False)
        oracle.check_results()
        oracle.check_changes()
        empty = [name for name, watched in oracle.watched.items() if not watched.expected[3]]
        assert not empty
