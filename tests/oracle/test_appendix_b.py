"""The 21 queries of Appendix B over the sample data: together and alone, over NULLs, duplicates and an empty batch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from long import some
from oracle.harness import Case, Feed, Oracle
from pyarrow import parquet
from pyspark.sql import SparkSession

from workbench.experiments.query_sets.appendix_b import load
from workbench.experiments.sample_streams.schemas import STREAM_NAMES
from workbench.experiments.sample_streams.zipcodes import zipdistance

SAMPLES = Path(__file__).parents[2] / "sample_data"
QUERIES = load()
CASES = {name: Case(query.oracle_sql, query.duckdb_sql, "oracle") for name, query in QUERIES.items()}
FUNCTIONS = {"zipdistance": (zipdistance, ["VARCHAR", "VARCHAR"], "DOUBLE")}
NAMES = list(CASES)
ALONE = some([*NAMES[::3], *NAMES[1::3], *NAMES[2::3]], 7)
"""Those that are also asked alone; there each of their operators has one reader."""
HISTORY = 10_000


@pytest.fixture(scope="module")
def samples() -> dict[str, pa.Table]:
    read = {stream for query in QUERIES.values() for stream in query.streams}
    return {
        name: parquet.read_table(SAMPLES / f"{file}.parquet") for file, name in STREAM_NAMES.items() if name in read
    }


@pytest.mark.timeout(900)
def test_together(spark: SparkSession, samples: dict[str, pa.Table]) -> None:
    feeds = {name: Feed(table, HISTORY, 2_000) for name, table in samples.items()}
    with Oracle(spark, feeds, functions=FUNCTIONS) as oracle:
        oracle.register(CASES)
        reports = oracle.run(6, check=False)
        assert [report.rows for report in reports] == [6_000] * 5
        oracle.check_results()
        oracle.check_changes(since=True)


@pytest.mark.parametrize("name", ALONE)
def test_alone(spark: SparkSession, samples: dict[str, pa.Table], name: str) -> None:
    feeds = {stream: Feed(samples[stream], HISTORY, 5_000) for stream in QUERIES[name].streams}
    with Oracle(spark, feeds, functions=FUNCTIONS) as oracle:
        oracle.register({name: CASES[name]})
        oracle.run(2, check=[name])
        oracle.check_changes()


def test_nulls_duplicates_and_an_empty_batch(spark: SparkSession, samples: dict[str, pa.Table]) -> None:
    """The three streams end one batch before a fourth; whatever is evaluated then has no rows."""
    feeds = {name: Feed(with_duplicates(with_nulls(table)), 12_000, 4_500) for name, table in samples.items()}
    feeds["pulse"] = Feed(pa.table({"beat": [1, 2, 3]}), 0, 1)
    with Oracle(spark, feeds, functions=FUNCTIONS) as oracle:
        oracle.register({**CASES, "beats": Case("SELECT COUNT(*) n FROM pulse")})
        *full, last = oracle.run(4, check=False)
        assert [report.rows for report in full] == [13_501] * 2
        assert last.rows == 1
        assert [name for name, rows in last.changes.items() if rows] == ["beats"]
        oracle.check_results()
        oracle.check_changes()
        changed = {name for name in CASES if len(oracle.watched[name].expected[2])}
        assert len(changed) > 15, "most queries must have answers, or nothing was tested"


def with_nulls(table: pa.Table, share: float = 0.1) -> pa.Table:
    """A tenth of the values of every column that may be NULL, replaced by NULL."""
    chosen = np.random.default_rng(11)
    for i, field in enumerate(table.schema):
        if field.nullable:
            hidden = pa.array(chosen.random(table.num_rows) < share)
            column = table.column(i).combine_chunks()
            table = table.set_column(i, field, pc.if_else(hidden, pa.scalar(None, field.type), column))
    return table


def with_duplicates(table: pa.Table, share: float = 0.05) -> pa.Table:
    """One row in twenty comes again: half of them at once, the others much later. 21,000 rows of 20,000."""
    chosen = np.random.default_rng(12)
    again = chosen.choice(table.num_rows, int(table.num_rows * share), replace=False)
    at = np.where(chosen.random(len(again)) < 0.5, again, chosen.integers(0, table.num_rows, len(again)))
    order = np.argsort(np.concatenate([np.arange(table.num_rows), at + 0.5]), kind="stable")
    return table.take(np.concatenate([np.arange(table.num_rows), again])[order])
