"""TPC-H and Nexmark as continuous queries: a batch of all questions together, shared and not, beside DuckDB.

Orders and lines, or persons, auctions and bids, arrive in batches of a share of the history. The sessions, and DuckDB
running all questions again over all rows so far, take turns batch by batch: ratios are of one machine at one time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from statistics import median

import duckdb
import pyarrow as pa

from benchmarks.query_sets import nexmark, tpch
from benchmarks.sample_streams.nexmark import nexmark as nexmark_rows
from benchmarks.sample_streams.tpch import tpch as tpch_rows
from workbench.experiments import runs
from workbench.experiments.digests import check, digest
from workbench.experiments.report import Chart, Report, table, timing_summary
from workbench.experiments.reruns import MEMORY, THREADS
from workbench.experiments.runs import Progress
from workbench.options import Options
from workbench.session.session import Session

SHARED, UNSHARED, AGAIN = "shared", "unshared", "DuckDB again"
OPTIONS = {SHARED: Options(), UNSHARED: Options(sharing=False)}


@dataclass(frozen=True)
class Benchmark:
    """Questions, and the rows that they are asked of.

    Attributes:
        name: of the benchmark.
        texts: the questions, in ``dialect``.
        duckdb: the same in DuckDB's words.
        dialect: how the texts are read.
        rows: gives all tables by name for a size, the largest stream with so many rows, more or less.
        streams: the tables that arrive, each with the column of its event times.
        size: of the history, unless another one is given.
    """

    name: str
    texts: Mapping[str, str]
    duckdb: Mapping[str, str]
    dialect: str
    rows: Callable[[int], Mapping[str, pa.Table]]
    streams: Mapping[str, str | None]
    size: int


def _tpch() -> Benchmark:
    texts = tpch.load()
    return Benchmark("tpch", texts, texts, "duckdb", tpch_rows, dict.fromkeys(("lineitem", "orders")), 15_000)


def _nexmark() -> Benchmark:
    times = dict.fromkeys(("bid", "auction", "person"), "dateTime")
    return Benchmark("nexmark", nexmark.load(), nexmark.for_duckdb(), "spark", nexmark_rows, times, 100_000)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the experiments."""
    parser.add_argument("--size", type=int, metavar="N", help="orders or events of history (15,000 or 100,000)")
    parser.add_argument("--share", type=float, default=0.01, metavar="P", help="of the history in a batch (0.01)")
    parser.add_argument("--batches", type=int, default=5, metavar="N", help="batches that are measured (default: 5)")
    parser.add_argument("--queries", nargs="+", metavar="NAME", help="only these questions, as q01")
    parser.add_argument("--alone", action="store_true", help=f"leave out the {UNSHARED} session, which takes longest")


@dataclass
class Measured:
    """Seconds of every measured batch, by who; and the seconds of the registrations."""

    batches: dict[str, list[float]] = field(default_factory=dict)
    registered: dict[str, float] = field(default_factory=dict)
    checked: int = 0

    def ratio(self, who: str) -> float:
        """How often as long as the shared session another one takes for a batch."""
        return median(self.batches[who]) / median(self.batches[SHARED])


def report_tpch(chosen: argparse.Namespace, progress: Progress = print) -> Report:
    """Run TPC-H."""
    return _report(_tpch(), chosen, progress)


def report_nexmark(chosen: argparse.Namespace, progress: Progress = print) -> Report:
    """Run Nexmark."""
    return _report(_nexmark(), chosen, progress)


def _report(benchmark: Benchmark, chosen: argparse.Namespace, progress: Progress) -> Report:
    size = chosen.size or benchmark.size
    names = chosen.queries or [*benchmark.texts]
    who = [SHARED] if chosen.alone else [*OPTIONS]
    number = runs.WARM_UP + chosen.batches
    tables = benchmark.rows(round(size * (1 + number * chosen.share)) + 1)
    measured = _measured(benchmark, tables, names, who, number, chosen.share, progress)
    title = (
        f"{benchmark.name}: {len(names)} queries, {size:,} of history, batches of {chosen.share:.2%}; "
        f"{measured.checked} answers compared with DuckDB's"
    )
    rows = [
        [each, measured.registered.get(each), median(seconds), min(seconds), max(seconds), measured.ratio(each)]
        for each, seconds in measured.batches.items()
    ]
    text = table(["", "s to register", "s a batch", "least", "most", f"× {SHARED}"], rows)
    figures = {
        "size": size,
        "batch_seconds": {each: timing_summary(seconds) for each, seconds in measured.batches.items()},
        "register_seconds": measured.registered,
        "ratios": {each: measured.ratio(each) for each in measured.batches},
        "checked": measured.checked,
    }
    bars = {each: {"batch": median(seconds)} for each, seconds in measured.batches.items()}
    return Report(benchmark.name, f"{title}\n{text}", figures, (Chart(title, "", "seconds", bars, log_y=False),))


def _measured(
    benchmark: Benchmark,
    tables: Mapping[str, pa.Table],
    names: list[str],
    who: list[str],
    batches: int,
    share: float,
    progress: Progress,
) -> Measured:
    measured = Measured()
    sizes = {}
    for name in benchmark.streams:
        history = round(tables[name].num_rows / (1 + batches * share))
        sizes[name] = history, max(1, (tables[name].num_rows - history) // batches)
    with ExitStack() as stack:
        database = stack.enter_context(_database(benchmark, tables, sizes))
        sessions: dict[str, Session] = {}
        for each in who:
            sessions[each] = stack.enter_context(_session(benchmark, tables, sizes, OPTIONS[each]))
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
        expected = {name: digest(database, name) for name in names}
        for each, session in sessions.items():
            found = {name: runs.digest(session.query(name)) for name in names}
            measured.checked += check(each, found, expected)
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


def _database(benchmark: Benchmark, tables: Mapping[str, pa.Table], sizes: Sizes) -> duckdb.DuckDBPyConnection:
    database = duckdb.connect()
    database.execute(f"SET threads = {THREADS}; SET memory_limit = '{MEMORY}'; SET TimeZone = 'UTC'")
    database.create_function("count_char", nexmark.count_char, ["VARCHAR", "VARCHAR"], "BIGINT")
    for name, rows in tables.items():
        database.register("arriving", rows.slice(0, sizes[name][0]) if name in sizes else rows)
        database.execute(f"CREATE TABLE {name} AS FROM arriving")
    return database


def _arrive(database: duckdb.DuckDBPyConnection, tables: Mapping[str, pa.Table], sizes: Sizes, batch: int) -> None:
    for name, (history, rows) in sizes.items():
        database.register("arriving", tables[name].slice(history + batch * rows, rows))
        database.execute(f"INSERT INTO {name} FROM arriving")


def _run_again(database: duckdb.DuckDBPyConnection, benchmark: Benchmark, names: list[str]) -> float:
    """Seconds of all questions; each answer is kept as a table of its name."""
    started = time.perf_counter()
    for name in names:
        text = benchmark.duckdb[name].rstrip().rstrip(";")
        columns = ", ".join(f"c{i}" for i in range(len(database.execute(f"DESCRIBE {text}").fetchall())))
        database.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS SELECT * FROM ({text}) AS t({columns})")
    return time.perf_counter() - started
