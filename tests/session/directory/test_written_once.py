"""No file that Spark's workers read or write is ever replaced: who sees files late sees none, or the one.

What a network's disk shows of a replaced file may be as old as its caches, and no checksum tells an old one. So what
differs between batches travels with Spark's jobs, and every file has a name of its own.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from long import rare
from pyspark.sql import SparkSession

from workbench import Options, Session
from workbench.limits import Limits
from workbench.session.directory.directory import CATALOG, READERS, WRITER
from workbench.session.directory.identity import IDENTITY

pytestmark = pytest.mark.usefixtures("spark_soundex")

BY_SPARK = Limits(rows_stepped_in_process=0, rows_filtered_in_process=0)
"""All steps of a batch are jobs of Spark."""

OF_DRIVER = (CATALOG, READERS, WRITER, IDENTITY)
"""Files of which workers know nothing."""

QUERIES = {
    "join": "SELECT a.id, b.amount FROM t a JOIN t b ON a.id = b.parent WHERE a.amount > 30",
    "groups": "SELECT name, COUNT(*) AS n, SUM(amount) AS s, COUNT(DISTINCT amount) AS d FROM t GROUP BY name",
    "outputs": "SELECT name, SPARK_SOUNDEX(MAX(name)) AS sound FROM t GROUP BY name"
    " HAVING SPARK_SOUNDEX(MAX(name)) <> 'N000'",
    "function": "SELECT id FROM t WHERE twice(amount) > 60",
}


def rows(number: int) -> pa.Table:
    ids = range(number)
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "parent": pa.array([at * 7 % number for at in ids], pa.int64()),
            "name": [f"n{'aeiou'[at % 5]}{at % 7}r" for at in ids],
            "amount": pa.array([at * 13 % 50 for at in ids], pa.int64()),
        }
    )


def written(folder: Path) -> dict[str, tuple[int, str]]:
    """The files below a folder: which they are, and what they have."""
    files = (file for file in folder.rglob("*") if file.is_file() and file.name not in OF_DRIVER)
    return {
        str(file): (file.stat().st_ino, hashlib.sha256(file.read_bytes()).hexdigest())
        for file in files
        if not file.name.startswith(CATALOG)
    }


def descriptions(spark: SparkSession) -> list[str]:
    """What Spark's pages say of its jobs."""
    context: Any = spark.sparkContext._jsc
    context.sc().listenerBus().waitUntilEmpty()
    jobs = context.sc().statusStore().jobsList(None)
    texts = [jobs.apply(at).description() for at in range(jobs.size())]
    return [text.get() for text in texts if text.isDefined()]


@pytest.mark.parametrize(
    "options", [Options(), pytest.param(Options(incremental_aggregates=False), marks=rare)], ids=["states", "anew"]
)
def test_no_file_is_replaced(spark: SparkSession, tmp_path: Path, options: Options) -> None:
    with Session(spark, tmp_path / "session", options=options, limits=BY_SPARK) as session:
        session.add_stream("t", rows(700), history=400, batch=100)
        session.add_function("twice", lambda value: 2 * value, returns="bigint")
        session.register_many(QUERIES)
        before = written(session.path)
        for _ in range(2):
            session.run(1)
            after = written(session.path)
            assert [file for file in before.keys() & after.keys() if before[file] != after[file]] == []
            before = after
        said = descriptions(spark)
        assert [text for text in said if re.match(r"batch 2, depth 2 of 2: .*J\w+ for join", text)]
