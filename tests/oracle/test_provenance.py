"""Why a row is in an answer: DuckDB has it again from those rows alone that are said to explain it."""

from __future__ import annotations

import duckdb
import pytest
from long import LONG
from oracle.bags import difference, frame_rows
from oracle.class_queries import ALL
from oracle.harness import Oracle
from oracle.test_query_classes import feeds
from pyspark.sql import SparkSession

EVERY = 1 if LONG else 40
"""Of the queries of all classes a run has every n-th."""


@pytest.mark.parametrize("limit", [1, 100])
def test_rows_are_there_again_from_what_explains_them(spark: SparkSession, limit: int) -> None:
    begun = limit % EVERY
    cases = dict(sorted(ALL.items())[begun::EVERY])
    failed = []
    with Oracle(spark, feeds(seed=7)) as oracle:
        oracle.register(cases)
        oracle.run(2, check=False)
        oracle.duck.execute("CREATE SCHEMA explained")
        for name, watched in oracle.watched.items():
            found = watched.query.why(limit=limit)
            assert len(found.rows) == min(limit, watched.query.count())
            for stream in oracle.feeds:
                oracle.duck.execute(f"CREATE OR REPLACE TABLE explained.{stream} AS FROM main.{stream} LIMIT 0")
                if (rows := found.tables.get(stream)) is not None:
                    oracle.duck.register("those", rows.drop_columns(["batch"]))
                    oracle.duck.execute(f"INSERT INTO explained.{stream} BY NAME FROM those")
            oracle.duck.execute("USE explained")
            try:
                again = oracle.answer(watched.case.asked)
            except duckdb.OutOfRangeException:  # DuckDB computes of fewer rows what it did not of all
                continue
            finally:
                oracle.duck.execute("USE main")
            _, lost = difference(frame_rows(found.rows), again, watched.case.zero or 1e-9)
            if lost:
                failed.append(f"{name}: {watched.case.sql}: {lost[:3]} not in {again[:3]}")
    assert not failed, "\n".join(failed)
