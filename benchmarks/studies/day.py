"""An analyst's day: 25 mixed queries over flights, one registered after the other, then batch after batch."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from benchmarks.processes import spark_jobs
from benchmarks.query_sets import flights as queries
from benchmarks.sample_streams import flights as rows
from workbench.engine.reports import BatchReport, operator_totals
from workbench.experiments import reruns, runs
from workbench.experiments.digests import check_digests
from workbench.experiments.report import Chart, text_table, timing_summary
from workbench.experiments.study import Findings, Study, StudyProgress, option
from workbench.experiments.workload import Workload

_HISTORY = 100_000
_BATCH = 5_000
_AGAIN = 3
"""Times that DuckDB runs all queries again: the first is slower."""
SLOWEST_LISTED = 8
"""Operators that are shown."""
_SHOWN = 3
"""Queries that are named beside an operator."""


def workload(history: int, batch: int, batches: int, folder: str = rows.FLIGHTS_FOLDER) -> Workload:
    """The flights and the questions of the day."""
    number = history + batches * batch
    tables = {"weather": rows.weather(number, folder), "planes": rows.planes(folder)}
    flights = rows.flights(number, folder)
    return Workload("day", "flights", flights, history, batch, queries.day(), "scheduled", tables)


@dataclass
class Day:
    """What was measured.

    Attributes:
        registered: seconds of each registration, by query.
        reports, jobs: of all batches, those of the warm-up too.
        read: seconds to read each answer.
        readers: the queries that a node serves, by the node.
        duckdb: seconds of DuckDB for all queries, each time it ran them.
        checked: how many answers were compared.
    """

    registered: dict[str, float] = field(default_factory=dict)
    reports: list[BatchReport] = field(default_factory=list)
    jobs: list[int] = field(default_factory=list)
    read: list[float] = field(default_factory=list)
    readers: dict[str, Collection[str]] = field(default_factory=dict)
    duckdb: list[float] = field(default_factory=list)
    checked: int = 0

    @property
    def seconds(self) -> list[float]:
        """Of the measured batches."""
        return [report.seconds for report in self.reports[runs.WARM_UP :]]


@dataclass(frozen=True)
class AnalystsDay(Study):
    """The questions of a day."""

    name = "day"
    summary = "25 mixed queries over flights from New York: batches, jobs, registrations, operators, DuckDB again"

    history: int = option(_HISTORY, "flights of history")
    batch: int = option(_BATCH, "flights of a batch")
    batches: int = option(10, "batches that are measured")
    folder: str = option(rows.FLIGHTS_FOLDER, "where the flights are, or are installed")

    def run(self, progress: StudyProgress) -> Findings:
        """Run it."""
        work = workload(self.history, self.batch, runs.WARM_UP + self.batches, self.folder)
        day = _lived(work, runs.WARM_UP + self.batches, progress)
        figures = {
            "batch_seconds": timing_summary(day.seconds),
            "jobs": day.jobs[runs.WARM_UP :],
            "register_seconds": day.registered,
            "read_seconds": timing_summary(day.read),
            "duckdb_seconds": timing_summary(day.duckdb),
            "checked": day.checked,
        }
        bars = {"workbench": {"batch": median(day.seconds)}, "DuckDB again": {"batch": median(day.duckdb)}}
        chart = Chart(f"the day after {work.history:,} flights", "", "seconds", bars, log_y=False)
        return _text(work, day), figures, (chart,)


def _lived(work: Workload, batches: int, progress: StudyProgress) -> Day:
    """Register the queries, let batches arrive, read the answers, and compare them with DuckDB's."""
    day = Day()
    with runs.session_on(work) as session:
        for query in work.queries:
            started = time.perf_counter()
            session.register(query.sql, name=query.name, dialect=query.dialect)
            day.registered[query.name] = time.perf_counter() - started
        progress(f"{len(work.queries)} queries registered in {sum(day.registered.values()):.1f} s")
        for _ in range(batches):
            before = spark_jobs()
            day.reports += session.run(1)
            day.jobs.append(spark_jobs() - before)
            progress(f"batch {day.reports[-1].batch}: {day.reports[-1].seconds:.2f} s, {day.jobs[-1]} jobs")
        for query in work.queries:
            started = time.perf_counter()
            session.query(query.name).result()
            day.read.append(time.perf_counter() - started)
        digests = {query.name: runs.run_digest(session.query(query.name)) for query in work.queries}
        day.readers.update({node.id: node.queries for node in session.network.nodes})
    progress("DuckDB runs the queries again")
    again = [reruns.in_duckdb(work, work.queries, work.table.num_rows) for _ in range(_AGAIN)]
    day.checked = check_digests("the workbench", digests, again[0].digests)
    day.duckdb += [sum(each.seconds.values()) for each in again]
    return day


def _text(work: Workload, day: Day) -> str:
    """Tables of what was measured."""
    jobs, registered = day.jobs[runs.WARM_UP :], list(day.registered.values())
    slowest = max(day.registered, key=lambda name: day.registered[name])
    rows: list[list[object]] = [
        ["seconds a batch", median(day.seconds), min(day.seconds), max(day.seconds)],
        ["DuckDB, all queries again", median(day.duckdb), min(day.duckdb), max(day.duckdb)],
        ["jobs a batch", int(median(jobs)), min(jobs), max(jobs)],
        ["seconds of a registration", median(registered), min(registered), max(registered)],
        ["seconds to read an answer", median(day.read), min(day.read), max(day.read)],
    ]
    return "\n".join(
        [
            f"{len(work.queries)} queries over {work.history:,} flights, batches of {work.batch:,}; "
            f"{day.checked} answers compared with DuckDB's",
            f"registered in {sum(registered):.1f} s, {day.registered[slowest]:.2f} s of it {slowest}; "
            f"the first batch took {day.reports[0].seconds:.2f} s",
            "",
            text_table(["", "median", "least", "most"], rows),
            "",
            operators(day.reports[runs.WARM_UP :], day.readers),
        ]
    )


def operators(reports: Sequence[BatchReport], readers: Mapping[str, Collection[str]]) -> str:
    """The slowest operators: seconds and rows of a batch, in the mean.

    Args:
        reports: of the batches.
        readers: the queries that a node serves, by the node.
    """
    totals, number = operator_totals(reports), len(reports)
    rows: list[list[object]] = []
    for total in totals[:SLOWEST_LISTED]:
        served = sorted({query for node in total.last.nodes for query in readers.get(node, ())})
        named = ", ".join(served[:_SHOWN]) + (f" and {len(served) - _SHOWN} more" if len(served) > _SHOWN else "")
        rows.append([named, total.seconds / number, total.share, total.rows_in // number])
    others = totals[SLOWEST_LISTED:]
    rows.append([f"{len(others)} others", sum(each.seconds for each in others) / number, None, None])
    return text_table(["operator of", "s a batch", "share", "rows in"], rows)
