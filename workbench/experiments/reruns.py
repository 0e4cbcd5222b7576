"""The baseline of a user without the workbench: run every query again on all rows so far, with DuckDB or with Spark.

That is slow for a whole set, so a sample is run, and its time is scaled to the set. A query that takes too long is
stopped; it then counts as the time it was given, which is in the competitor's favour.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import mean, median
from threading import Event, Timer
from typing import TYPE_CHECKING

import pyarrow as pa
import sqlglot
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from workbench.engine.spark.local_session import local_spark
from workbench.experiments.digests import Digest, answer_digest, connect, digest_of
from workbench.experiments.query_sets import GeneratedQuery
from workbench.experiments.sample_streams.zipcodes import zipdistance
from workbench.experiments.workload import Workload

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

THREADS = 2
MEMORY = "6GB"
"""The memory of DuckDB before it writes to disk: as much as our own engine may use, driver and workers together."""
RERUN_PATIENCE = 60.0
"""Seconds for one query."""

_AGAIN = 0.2
"""Seconds between two tries to interrupt a query."""
_GROUP = "argus-rerun"
"""Names what is to be stopped in Spark."""


@dataclass(frozen=True)
class Reruns:
    """One run of each query over all rows.

    Attributes:
        who: that ran them.
        seconds: by query.
        digests: of the answers of those that ended.
    """

    who: str
    seconds: Mapping[str, float]
    digests: Mapping[str, Digest]

    @property
    def stopped(self) -> list[str]:
        """Queries that took too long."""
        return [query for query in self.seconds if query not in self.digests]

    def whole(self, queries: int) -> float:
        """Seconds for a number of queries of this kind."""
        return queries * mean(self.seconds.values())

    def typical(self, queries: int) -> float:
        """Seconds for a number of queries, if each took what the one in the middle takes: without the few worst."""
        return queries * median(self.seconds.values())


def in_duckdb(
    work: Workload,
    queries: Sequence[GeneratedQuery],
    rows: int,
    patience: float = RERUN_PATIENCE,
    clock: Callable[[], float] = time.perf_counter,
) -> Reruns:
    """Run queries over the first rows in DuckDB, with two threads and bounded memory; answers are kept as a table."""
    from duckdb import InterruptException

    seconds: dict[str, float] = {}
    digests: dict[str, Digest] = {}
    with _database(work, rows) as database:
        for query in queries:
            text = query.duckdb_sql.rstrip().rstrip(";")
            names = ", ".join(f"c{i}" for i in range(len(database.execute(f"DESCRIBE {text}").fetchall())))
            with _clock(seconds, query.name, patience, database.interrupt, clock) as stopped:
                try:
                    database.execute(f"CREATE OR REPLACE TEMP TABLE answer AS SELECT * FROM ({text}) AS t({names})")
                except InterruptException:
                    if not stopped.is_set():
                        raise KeyboardInterrupt from None
            if not stopped.is_set():
                digests[query.name] = answer_digest(database, "answer")
    return Reruns("DuckDB", seconds, digests)


def duckdb_answer(work: Workload, query: GeneratedQuery) -> pa.Table:
    """DuckDB's answer over all rows of a workload."""
    with _database(work, work.table.num_rows) as database:
        return database.execute(query.duckdb_sql).to_arrow_table()


@contextmanager
def _database(work: Workload, rows: int) -> Iterator[DuckDBPyConnection]:
    """DuckDB with the first rows of a stream, and the tables beside it."""
    from duckdb.func import SPECIAL

    with tempfile.TemporaryDirectory(prefix="argus-duckdb-") as folder, connect() as database:
        database.execute(f"SET threads = {THREADS}; SET memory_limit = '{MEMORY}'; SET temp_directory = '{folder}'")
        database.create_function("zipdistance", zipdistance, ["VARCHAR", "VARCHAR"], "DOUBLE", null_handling=SPECIAL)
        database.register("arrived", work.table.slice(0, rows))
        database.execute(f"CREATE TABLE {work.stream} AS FROM arrived")
        for name, table in work.tables.items():
            database.register(name, table)
        yield database


def in_spark(work: Workload, queries: Sequence[GeneratedQuery], rows: int, patience: float = RERUN_PATIENCE) -> Reruns:
    """Run queries over the first rows in Spark, which holds the rows in memory; answers are fetched."""
    seconds: dict[str, float] = {}
    digests: dict[str, Digest] = {}
    spark = local_spark().newSession()
    spark.conf.set("spark.sql.shuffle.partitions", str(spark.sparkContext.defaultParallelism))
    spark.udf.register("zipdistance", zipdistance, "double")
    cached = spark.createDataFrame(work.table.slice(0, rows)).cache()
    cached.createOrReplaceTempView(work.stream)
    cached.count()
    context = spark.sparkContext
    context.setJobGroup(_GROUP, "queries run again", interruptOnCancel=True)
    for query in queries:
        text = sqlglot.transpile(query.duckdb_sql, read="duckdb", write="spark")[0]
        with _clock(seconds, query.name, patience, lambda: context.cancelJobGroup(_GROUP)) as stopped:
            try:
                answer = spark.sql(text).toArrow()
            except (PySparkException, Py4JError):
                if not stopped.is_set():
                    raise
        if not stopped.is_set():
            digests[query.name] = digest_of(answer)
    context._jsc.clearJobGroup()
    cached.unpersist()
    return Reruns("Spark", seconds, digests)


@contextmanager
def _clock(
    seconds: dict[str, float],
    query: str,
    patience: float,
    interrupt: Callable[[], object],
    clock: Callable[[], float] = time.perf_counter,
) -> Iterator[Event]:
    """Time a block and interrupt it when it takes too long; yields the event that says whether it was."""
    stopped, ended = Event(), Event()

    def stop() -> None:
        stopped.set()
        # Again and again: a query that is still being planned has nothing yet that could be interrupted.
        while not ended.wait(_AGAIN):
            interrupt()

    timer = Timer(patience, stop)
    timer.start()
    started = clock()
    try:
        yield stopped
    finally:
        ended.set()
        timer.cancel()
        timer.join()
        # The timer may be some milliseconds early by this clock.
        seconds[query] = patience if stopped.is_set() else clock() - started
