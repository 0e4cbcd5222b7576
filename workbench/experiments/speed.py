"""Time per batch of a whole query set, beside what a user would pick instead, on the same rows in the same run.

Competitors: DuckDB re-running every query over all rows so far (two threads); Spark re-running a sample of them; our
own engine on a sample, sharing nothing. What was sampled is scaled to the whole set, and said to be. Before a time is
printed, the size and a digest of every query's answer are compared with DuckDB's.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median

import duckdb
import pyarrow as pa
import sqlglot
from duckdb.func import SPECIAL

from workbench.errors import WorkbenchError
from workbench.experiments.measure import PeakMemory, machine
from workbench.experiments.query_sets import GeneratedQuery, query_set
from workbench.options import Options
from workbench.query import Query
from workbench.session import Session
from workbench.streams.fed import fed
from workbench.streams.med import med
from workbench.streams.zipcodes import zipdistance

BATCH = 4_000
WARM_UP = 3
"""Batches that are run before those that are measured."""


Digest = tuple[int, int]
"""How many rows an answer has, and a sum of hashes."""


@dataclass(frozen=True)
class Work:
    """What a query set runs on: the stream, its rows by number, and its history (T10.1.1)."""

    stream: str
    rows: Callable[[int], pa.Table]
    history: int


FED = Work("FedWireTrans", fed, 300_000)
MED = Work("MHDCFY01A", med, 600_000)


@dataclass(frozen=True)
class Speed:
    """Figures of one run; seconds are of the whole set for one batch.

    ``competitors``: median seconds by name; ``sampled``: of how many queries each was scaled, if it was.
    """

    name: str
    queries: int
    history: int
    register_seconds: float
    batch_seconds: tuple[float, ...]
    operators: tuple[int, ...]
    weighted_size: int
    peak_gib: float
    competitors: Mapping[str, float]
    sampled: Mapping[str, int]
    machine: Mapping[str, object]

    @property
    def seconds(self) -> float:
        """Median time of a batch."""
        return median(self.batch_seconds)

    def __str__(self) -> str:
        low, high = min(self.batch_seconds), max(self.batch_seconds)
        lines = [
            f"{self.name}: {self.queries} queries, {self.history:,} rows of history, batches of {BATCH:,}",
            f"  registering {self.register_seconds:8.1f} s   weighted size {self.weighted_size:,}",
            f"  shared      {self.seconds:8.2f} s a batch ({low:.2f} to {high:.2f}), "
            f"{median(self.operators):.0f} operators, peak {self.peak_gib:.1f} GiB",
        ]
        for name, seconds in self.competitors.items():
            scaled = f", from {self.sampled[name]} queries" if name in self.sampled else ""
            lines.append(f"  {name:11} {seconds:8.2f} s a batch, {seconds / self.seconds:.1f} times ours{scaled}")
        return "\n".join(lines)


def measure(
    name: str, *, history: int | None = None, queries: int | None = None, batches: int = 10, sample: int = 16
) -> Speed:
    """Measure one query set.

    Args:
        name: of ``QUERY_SETS``.
        history: rows of history; the thesis's number unless given.
        queries: how many of the set; all unless given.
        batches: how many are measured.
        sample: how many queries the slow competitors run; none of these with 0.

    Raises:
        WorkbenchError: an answer is another than DuckDB's; no figure is given then.
    """
    work = FED if "fed" in name else MED
    chosen = list(query_set(name).values())[:queries]
    before = work.history if history is None else history
    table = work.rows(before + (WARM_UP + batches) * BATCH)
    with PeakMemory() as peak, Session() as session:
        register, seconds, operators = _ours(session, work, table, before, chosen, batches)
        size = session.network.weighted_size()
        got = {query.name: _digest_of(session.query(query.name)) for query in chosen}
    in_duckdb, expected = _duckdb(work, table, chosen)
    wrong = [query for query, digest in got.items() if digest != expected[query]]
    if wrong:
        raise WorkbenchError(f"{len(wrong)} answers are not DuckDB's: {', '.join(wrong[:5])}")
    competitors, sampled = {"DuckDB": in_duckdb}, {}
    some = _spread(chosen, sample)
    if some:
        scale = len(chosen) / len(some)
        sampled = dict.fromkeys(("unshared", "Spark"), len(some))
        competitors["unshared"] = scale * _unshared(work, table, before, some)
        competitors["Spark"] = scale * _spark(work, table, some)
    return Speed(
        name,
        len(chosen),
        before,
        register,
        seconds,
        operators,
        size,
        peak.bytes / 2**30,
        competitors,
        sampled,
        machine(),
    )


def _ours(
    session: Session, work: Work, table: pa.Table, history: int, queries: Sequence[GeneratedQuery], batches: int
) -> tuple[float, tuple[float, ...], tuple[int, ...]]:
    """Seconds to register, seconds of each batch, and operators that had work in each."""
    session.add_function("zipdistance", zipdistance, returns="double")
    session.add_stream(work.stream, table, history=history, batch=BATCH)
    started = time.perf_counter()
    session.register_many({query.name: query.sql for query in queries}, dialect="oracle")
    register = time.perf_counter() - started
    reports = session.run(WARM_UP + batches)[WARM_UP:]
    return register, tuple(r.seconds for r in reports), tuple(len(r.operators) for r in reports)


def _unshared(work: Work, table: pa.Table, history: int, queries: Sequence[GeneratedQuery]) -> float:
    with Session(options=Options(sharing=False)) as session:
        _, seconds, _ = _ours(session, work, table, history, queries, batches=3)
    return median(seconds)


def _duckdb(work: Work, table: pa.Table, queries: Iterable[GeneratedQuery]) -> tuple[float, dict[str, Digest]]:
    """Seconds to run every query once, and the digests of the answers."""
    database = duckdb.connect()
    database.execute("SET threads = 2")
    database.register("rows", table)
    database.execute(f"CREATE TABLE {work.stream} AS FROM rows")
    database.create_function("zipdistance", zipdistance, ["VARCHAR", "VARCHAR"], "DOUBLE", null_handling=SPECIAL)
    seconds, digests = 0.0, {}
    for query in queries:
        # Counting and hashing the rows makes DuckDB compute all of them, and keeps none.
        started = time.perf_counter()
        digests[query.name] = _digest(database, f"({query.duckdb_sql.rstrip().rstrip(';')})")
        seconds += time.perf_counter() - started
    return seconds, digests


def _spark(work: Work, table: pa.Table, queries: Iterable[GeneratedQuery]) -> float:
    """Seconds to run every query once over the rows, which Spark holds in memory."""
    with Session() as session:
        spark = session.spark
        session.add_function("zipdistance", zipdistance, returns="double")
        spark.udf.register("zipdistance", zipdistance, "double")
        spark.createDataFrame(table).cache().createOrReplaceTempView(work.stream)
        spark.table(work.stream).count()
        seconds = 0.0
        for query in queries:
            text = sqlglot.transpile(query.duckdb_sql, read="duckdb", write="spark")[0]
            started = time.perf_counter()
            spark.sql(text).toArrow()
            seconds += time.perf_counter() - started
        spark.catalog.dropTempView(work.stream)
    return seconds


def _digest_of(query: Query) -> Digest:
    """The digest of a query's answer, which Spark hands over as Arrow."""
    with duckdb.connect() as database, query.answers(query) as answers:
        database.register("answer", answers.result().toArrow())
        return _digest(database, "answer")


def _spread(queries: Sequence[GeneratedQuery], number: int) -> list[GeneratedQuery]:
    """Some of the queries, at equal distances."""
    if number <= 0:
        return []
    step = max(1, len(queries) // number)
    return list(queries[::step])[:number]


def _digest(database: duckdb.DuckDBPyConnection, answer: str) -> Digest:
    """Rows of a relation, and the sum of their hashes: equal for equal bags. Floats count to nine digits."""
    columns = database.execute(f"DESCRIBE FROM {answer}").fetchall()
    floats = ("DOUBLE", "FLOAT")
    texts = [f"printf('%.9g', \"{n}\")" if t in floats else f'"{n}"::VARCHAR' for n, t, *_ in columns]
    row = ", ".join(f"coalesce({text}, '')" for text in texts)
    found = database.execute(
        f"SELECT count(*), coalesce(sum(hash(concat_ws(chr(31), {row}))), 0) FROM {answer}"
    ).fetchone()
    assert found is not None
    return int(found[0]), int(found[1])


def as_json(speed: Speed) -> dict[str, object]:
    """The figures as JSON holds them."""
    return {**asdict(speed), "seconds": speed.seconds}
