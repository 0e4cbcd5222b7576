"""An analyst's day: 25 mixed queries over flights, one registered after the other, then batch after batch."""

from __future__ import annotations

import argparse
import time
from collections.abc import Collection, Mapping, Sequence
from statistics import median

from workbench.engine.reports import BatchReport, operator_totals
from workbench.experiments import runs
from workbench.experiments.measure import spark_jobs
from workbench.experiments.peers import reruns
from workbench.experiments.peers.digests import check
from workbench.experiments.query_sets import flights as queries
from workbench.experiments.report import Chart, Report, table, timing_summary
from workbench.experiments.runs import Progress
from workbench.experiments.sample_streams import flights as rows
from workbench.experiments.workload import Workload

HISTORY = 100_000
BATCH = 5_000
AGAIN = 3
"""Times that DuckDB runs all queries again: the first is slower."""
SLOWEST = 8
"""Operators that are shown."""
SHOWN = 3
"""Queries that are named beside an operator."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the experiment."""
    parser.add_argument(
        "--history", type=int, default=HISTORY, metavar="ROWS", help=f"flights of history (default: {HISTORY})"
    )
    parser.add_argument("--batch", type=int, default=BATCH, metavar="ROWS", help=f"flights of a batch ({BATCH})")
    parser.add_argument("--batches", type=int, default=10, metavar="N", help="batches that are measured (default: 10)")
    parser.add_argument("--folder", default=rows.FOLDER, metavar="PATH", help="where the flights are, or are installed")


def workload(history: int, batch: int, batches: int, folder: str = rows.FOLDER) -> Workload:
    """The flights and the questions of the day."""
    number = history + batches * batch
    tables = {"weather": rows.weather(number, folder), "planes": rows.planes(folder)}
    flights = rows.flights(number, folder)
    return Workload("day", "flights", flights, history, batch, queries.day(), "scheduled", tables)


def report(chosen: argparse.Namespace, progress: Progress = print) -> Report:
    """Run the experiment."""
    work = workload(chosen.history, chosen.batch, runs.WARM_UP + chosen.batches, chosen.folder)
    registered: dict[str, float] = {}
    jobs: list[int] = []
    reports: list[BatchReport] = []
    read: list[float] = []
    with runs.session_on(work) as session:
        for query in work.queries:
            started = time.perf_counter()
            session.register(query.sql, name=query.name, dialect=query.dialect)
            registered[query.name] = time.perf_counter() - started
        progress(f"{len(registered)} queries registered in {sum(registered.values()):.1f} s")
        for _ in range(runs.WARM_UP + chosen.batches):
            before = spark_jobs()
            reports += session.run(1)
            jobs.append(spark_jobs() - before)
            progress(f"batch {reports[-1].batch}: {reports[-1].seconds:.2f} s, {jobs[-1]} jobs")
        for query in work.queries:
            started = time.perf_counter()
            session.query(query.name).result()
            read.append(time.perf_counter() - started)
        digests = {query.name: runs.digest(session.query(query.name)) for query in work.queries}
        readers = {node.id: node.queries for node in session.network.nodes}
    progress("DuckDB runs the queries again")
    again = [reruns.in_duckdb(work, work.queries, work.table.num_rows) for _ in range(AGAIN)]
    checked = check("the workbench", digests, again[0].digests)
    measured = reports[runs.WARM_UP :]
    seconds = [each.seconds for each in measured]
    duckdb = median(sum(rerun.seconds.values()) for rerun in again)
    most = max(registered, key=lambda name: registered[name])
    lines = [
        f"{len(work.queries)} queries over {work.history:,} flights, batches of {work.batch:,}; "
        f"{checked} answers compared with DuckDB's",
        f"registered in {sum(registered.values()):.1f} s, {registered[most]:.2f} s of it {most}; "
        f"the first batch took {reports[0].seconds:.2f} s",
        "",
        table(
            ["", "median", "least", "most"],
            [
                ["seconds a batch", median(seconds), min(seconds), max(seconds)],
                ["DuckDB, all queries again", duckdb, *_ends([sum(each.seconds.values()) for each in again])],
                ["jobs a batch", int(median(jobs[runs.WARM_UP :])), *_ends(jobs[runs.WARM_UP :])],
                ["seconds of a registration", median(registered.values()), *_ends(list(registered.values()))],
                ["seconds to read an answer", median(read), *_ends(read)],
            ],
        ),
        "",
        operators(measured, readers),
    ]
    figures = {
        "history": work.history,
        "batch": work.batch,
        "batch_seconds": timing_summary(seconds),
        "jobs": jobs[runs.WARM_UP :],
        "register_seconds": registered,
        "read_seconds": timing_summary(read),
        "duckdb_seconds": duckdb,
        "checked": checked,
    }
    bars = {"workbench": {"batch": median(seconds)}, "DuckDB again": {"batch": duckdb}}
    chart = Chart(f"the day after {work.history:,} flights", "", "seconds", bars, log_y=False)
    return Report("day", "\n".join(lines), figures, (chart,))


def operators(reports: Sequence[BatchReport], readers: Mapping[str, Collection[str]]) -> str:
    """The slowest operators: seconds and rows of a batch, in the mean.

    Args:
        reports: of the batches.
        readers: the queries that a node serves, by the node.
    """
    totals, number = operator_totals(reports), len(reports)
    rows: list[list[object]] = []
    for total in totals[:SLOWEST]:
        served = sorted({query for node in total.last.nodes for query in readers.get(node, ())})
        named = ", ".join(served[:SHOWN]) + (f" and {len(served) - SHOWN} more" if len(served) > SHOWN else "")
        rows.append([named, total.seconds / number, total.share, total.rows_in // number])
    rows.append(
        [f"{len(totals[SLOWEST:])} others", sum(each.seconds for each in totals[SLOWEST:]) / number, None, None]
    )
    return table(["operator of", "s a batch", "share", "rows in"], rows)


def _ends(values: Sequence[float]) -> tuple[float, float]:
    return min(values), max(values)
