"""TPC-H and Nexmark as continuous queries: a batch of all questions together, shared and not, compared with DuckDB.

Orders and lines, or persons, auctions and bids, arrive in batches of a share of the history. The sessions, and DuckDB
running all questions again over all rows so far, take turns batch by batch: ratios are of one machine at one time.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING

import pyarrow as pa

from benchmarks.query_sets import nexmark, tpch
from benchmarks.sample_streams.nexmark import nexmark as nexmark_rows
from benchmarks.sample_streams.tpch import tpch as tpch_rows
from workbench.experiments import runs
from workbench.experiments.digests import answer_digest, check_digests, connect
from workbench.experiments.report import Chart, text_table, timing_summary
from workbench.experiments.reruns import MEMORY, THREADS
from workbench.experiments.study import Findings, Study, StudyProgress, option
from workbench.options import Options
from workbench.session.session import Session

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SHARED, UNSHARED, AGAIN = "shared", "unshared", "DuckDB again"
_OPTIONS = {SHARED: Options(), UNSHARED: Options(sharing=False)}


@dataclass(frozen=True)
class Benchmark:
    """Questions, and the rows that they are asked of.

    Attributes:
        texts: the questions, in ``dialect``.
        duckdb: the same in DuckDB's words.
        dialect: how the texts are read.
        rows: gives all tables by name for a size, the largest stream with about that many rows.
        streams: the tables that arrive, each with the column of its event times.
        size: of the history, unless another one is given.
    """

    texts: Mapping[str, str]
    duckdb: Mapping[str, str]
    dialect: str
    rows: Callable[[int], Mapping[str, pa.Table]]
    streams: Mapping[str, str | None]
    size: int


@dataclass
class _Measured:
    """Seconds of every measured batch, by who; and the seconds of the registrations."""

    batches: dict[str, list[float]] = field(default_factory=dict)
    registered: dict[str, float] = field(default_factory=dict)
    checked: int = 0

    def ratio(self, who: str) -> float:
        """How often as long as the shared session another one takes for a batch."""
        return median(self.batches[who]) / median(self.batches[SHARED])


@dataclass(frozen=True)
class Questions(Study):
    """All questions of a benchmark together."""

    size: int | None = option(None, "orders or events of history; 15,000 or 100,000 unless given", of=int)
    share: float = option(0.01, "of the history in a batch")
    batches: int = option(5, "batches that are measured")
    queries: tuple[str, ...] = option((), "only these questions, as q01")
    alone: bool = option(False, f"leave out the {UNSHARED} session, which takes longest")

    @abstractmethod
    def benchmark(self) -> Benchmark:
        """The questions and the rows."""

    def run(self, progress: StudyProgress) -> Findings:
        """Run it."""
        benchmark = self.benchmark()
        size = self.size or benchmark.size
        names = [*(self.queries or benchmark.texts)]
        who = [SHARED] if self.alone else [*_OPTIONS]
        number = runs.WARM_UP + self.batches
        tables = benchmark.rows(round(size * (1 + number * self.share)) + 1)
        measured = _measured(benchmark, tables, names, who, number, self.share, progress)
        title = (
            f"{self.name}: {len(names)} queries, {size:,} of history, batches of {self.share:.2%}; "
            f"{measured.checked} answers compared with DuckDB's"
        )
        rows = [
            [each, measured.registered.get(each), median(seconds), min(seconds), max(seconds), measured.ratio(each)]
            for each, seconds in measured.batches.items()
        ]
        text = text_table(["", "s to register", "s a batch", "least", "most", f"× {SHARED}"], rows)
        figures = {
            "batch_seconds": {each: timing_summary(seconds) for each, seconds in measured.batches.items()},
            "register_seconds": measured.registered,
            "ratios": {each: measured.ratio(each) for each in measured.batches},
            "checked": measured.checked,
        }
        bars = {each: {"batch": median(seconds)} for each, seconds in measured.batches.items()}
        return f"{title}\n{text}", figures, (Chart(title, "", "seconds", bars, log_y=False),)


@dataclass(frozen=True)
class TpcH(Questions):
    """The questions of TPC-H, while orders arrive."""

    name = "tpch"
    summary = "a batch of TPC-H's 22 questions together, shared and not, compared with DuckDB again"

    def benchmark(self) -> Benchmark:
        """The questions and the rows."""
        texts, streams = tpch.load(), dict.fromkeys(("lineitem", "orders"))
        return Benchmark(texts, texts, "duckdb", tpch_rows, streams, 15_000)


@dataclass(frozen=True)
class Nexmark(Questions):
    """The questions of Nexmark, while persons, auctions and bids arrive."""

    name = "nexmark"
    summary = "a batch of Nexmark's 24 questions together, shared and not, compared with DuckDB again"

    def benchmark(self) -> Benchmark:
        """The questions and the rows."""
        times = dict.fromkeys(("bid", "auction", "person"), "dateTime")
        return Benchmark(nexmark.load(), nexmark.for_duckdb(), "spark", nexmark_rows, times, 100_000)


def _measured(
    benchmark: Benchmark,
    tables: Mapping[str, pa.Table],
    names: list[str],
    who: list[str],
    batches: int,
    share: float,
    progress: StudyProgress,
) -> _Measured:
    measured = _Measured()
    sizes = {}
    for name in benchmark.streams:
        history = round(tables[name].num_rows / (1 + batches * share))
        sizes[name] = history, max(1, (tables[name].num_rows - history) // batches)
    with ExitStack() as stack:
        database = stack.enter_context(_database(benchmark, tables, sizes))
        sessions: dict[str, Session] = {}
        for each in who:
            sessions[each] = stack.enter_context(_session(benchmark, tables, sizes, _OPTIONS[each]))
            started = time.perf_counter()
            sessions[each].register_many({name: benchmark.texts[name] for name in names}, benchmark.dialect)
            measured.registered[each] = time.perf_counter() - started
            progress(f"{each}: {len(names)} queries registered in {measured.registered[each]:.1f} s")
        for batch in range(batches):
            seconds = {each: session.run(1)[0].seconds for each, session in sessions.items()}
            _arrive(database, tables, sizes, batch)
            seconds[AGAIN] = _run_again(database, benchmark, names)
            progress(f"batch {batch + 1}: " + ", ".join(f"{each} {took:.2f} s" for each, took in seconds.items()))
            if batch >= runs.WARM_UP:
                for each, took in seconds.items():
                    measured.batches.setdefault(each, []).append(took)
        expected = {name: answer_digest(database, name) for name in names}
        for each, session in sessions.items():
            found = {name: runs.run_digest(session.query(name)) for name in names}
            measured.checked += check_digests(each, found, expected)
    return measured


Sizes = Mapping[str, tuple[int, int]]
"""Rows of history and of a batch, by stream."""


def _session(benchmark: Benchmark, tables: Mapping[str, pa.Table], sizes: Sizes, options: Options) -> Session:
    session = Session(options=options)
    session.add_function("count_char", nexmark.count_char, returns="bigint")
    for name, rows in tables.items():
        if name in sizes:
            history, batch = sizes[name]
            session.add_stream(name, rows, history=history, batch=batch, time=benchmark.streams[name])
        else:
            session.add_table(name, rows)
    return session


def _database(benchmark: Benchmark, tables: Mapping[str, pa.Table], sizes: Sizes) -> DuckDBPyConnection:
    database = connect()
    database.execute(f"SET threads = {THREADS}; SET memory_limit = '{MEMORY}'; SET TimeZone = 'UTC'")
    database.create_function("count_char", nexmark.count_char, ["VARCHAR", "VARCHAR"], "BIGINT")
    for name, rows in tables.items():
        database.register("arriving", rows.slice(0, sizes[name][0]) if name in sizes else rows)
        database.execute(f"CREATE TABLE {name} AS FROM arriving")
    return database


def _arrive(database: DuckDBPyConnection, tables: Mapping[str, pa.Table], sizes: Sizes, batch: int) -> None:
    for name, (history, rows) in sizes.items():
        database.register("arriving", tables[name].slice(history + batch * rows, rows))
        database.execute(f"INSERT INTO {name} FROM arriving")


def _run_again(database: DuckDBPyConnection, benchmark: Benchmark, names: list[str]) -> float:
    """Seconds of all questions; each answer is kept as a table of its name."""
    started = time.perf_counter()
    for name in names:
        text = benchmark.duckdb[name].rstrip().rstrip(";")
        columns = ", ".join(f"c{i}" for i in range(len(database.execute(f"DESCRIBE {text}").fetchall())))
        database.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT * FROM ({text}) AS t({columns})")
    return time.perf_counter() - started
