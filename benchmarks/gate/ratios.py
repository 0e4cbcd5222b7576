"""Measures the ratios of the gate in about three minutes: small workloads, in sessions that take turns.

Sessions that are compared run their batches in turn, and what is compared between them are seconds of the processor, so
that other work on the machine changes little; what DuckDB or Spark by hand takes is compared by the clock. Answers are
compared with DuckDB's before any ratio is given.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from statistics import median

from benchmarks.gate.baseline import Ratio
from benchmarks.peers import by_hand
from benchmarks.processes import processor_seconds_of_all, spark_jobs
from benchmarks.query_sets.views import STREAM, views
from benchmarks.sample_streams.payments import AMOUNT, CENTS, payments
from workbench.experiments import reruns, runs
from workbench.experiments.digests import check_digests
from workbench.experiments.study import StudyProgress
from workbench.experiments.workload import BATCH_ROWS, Workload, spread, workload
from workbench.options import Options
from workbench.session.session import Session

_WARM_UP = 2
MEASURED = 5
QUERIES, HISTORY = 12, 20_000
FEW, MANY = 10, 768
_SAMPLE = 12
"""Views that DuckDB answers."""
_AGAIN = 3
"""Times that DuckDB runs them."""
_ROUNDS = 8
"""Times that all answers are read."""
_LARGE = 100_000
"""Rows of a large batch."""


@dataclass
class _Runner:
    """A session with the queries of a workload, and what its batches took.

    Attributes:
        work: rows and queries.
        session: where they run.
        register_seconds: of the processor, for all queries together.
        seconds, processor, jobs, rows: of each measured batch: by the clock, and of the processor in all processes;
            rows are those that operators produced, for each that arrived.
    """

    work: Workload
    session: Session
    register_seconds: float
    seconds: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    jobs: list[int] = field(default_factory=list)
    rows: list[float] = field(default_factory=list)

    def batch(self, counts: bool = True) -> None:
        """Let a batch arrive."""
        before, used = spark_jobs(), processor_seconds_of_all()
        report = self.session.run(1)[0]
        if counts:
            self.seconds.append(report.seconds)
            self.processor.append(processor_seconds_of_all() - used)
            self.jobs.append(spark_jobs() - before)
            self.rows.append(sum(operator.rows_in for operator in report.operators) / report.rows)

    def compared(self, number: int = _SAMPLE) -> float:
        """Compare answers with DuckDB's; gives its seconds, scaled to all queries."""
        sample = spread(self.work.queries, number)
        position = self.session.streams[self.work.stream].position
        again = [reruns.in_duckdb(self.work, sample, position) for _ in range(_AGAIN)]
        check_digests(
            self.work.name, {q.name: runs.run_digest(self.session.query(q.name)) for q in sample}, again[0].digests
        )
        return median(each.whole(len(self.work.queries)) for each in again)


def measure(progress: StudyProgress) -> list[Ratio]:
    """All ratios.

    Raises:
        WorkbenchError: an answer is another than DuckDB's.
    """
    return [*_thesis(progress), *_views(progress), *_large(progress)]


def _thesis(progress: StudyProgress) -> list[Ratio]:
    """Queries of the thesis: shared, not shared, and after ten times the history."""
    batches = _WARM_UP + MEASURED
    near = workload("fed-manual", batches=batches, history=HISTORY, queries=QUERIES)
    far = workload("fed-manual", batches=batches, history=10 * HISTORY, queries=QUERIES)
    with ExitStack() as stack:
        progress(f"{QUERIES} queries of the thesis: shared, unshared, and over {10 * HISTORY:,} rows")
        shared, old = _runner(stack, near), _runner(stack, far)
        unshared = _runner(stack, near, Options(sharing=False))
        _in_turn([shared, old, unshared])
        shared.compared()
        duckdb = old.compared()
    return [
        Ratio("thesis: unshared / shared", _quotient(unshared, shared), True),
        Ratio("thesis: 10 times the history / history", _quotient(old, shared)),
        Ratio("thesis: DuckDB again / ours", duckdb / median(old.seconds), True),
        Ratio("thesis: jobs a batch", median(shared.jobs)),
        Ratio("thesis: rows of operators for each that arrives", median(shared.rows)),
    ]


def _views(progress: StudyProgress) -> list[Ratio]:
    """Views by threshold: one, some, many; and an answer that is read."""
    with ExitStack() as stack:
        runners = []
        for number in (1, FEW, MANY):
            progress(f"{number} views")
            runners.append(_runner(stack, _payments(number, BATCH_ROWS, _WARM_UP + MEASURED)))
        one, few, many = runners
        _in_turn(runners)
        read, jobs = _reading(few)
        few.compared()
        duckdb = many.compared()
    return [
        Ratio(f"views: batch of {MANY} / of 1", _quotient(many, one)),
        Ratio(f"views: registering {MANY} / {FEW}", many.register_seconds / few.register_seconds),
        Ratio(f"views: DuckDB again / {MANY} of ours", duckdb / median(many.seconds), True),
        Ratio(f"views: jobs a batch of {MANY}", median(many.jobs)),
        Ratio(f"views: rows of operators for each that arrives, of {MANY}", median(many.rows)),
        Ratio("views: reading an answer / DuckDB computing it", read),
        Ratio("views: jobs to read an answer", jobs),
    ]


def _reading(runner: _Runner) -> tuple[float, float]:
    """How much of the processor reading all answers takes beside DuckDB computing them, and the jobs of each.

    Both take milliseconds, so the least of several rounds counts.
    """
    work, jobs = runner.work, spark_jobs()
    position = runner.session.streams[work.stream].position
    read, computed = [], []
    for _ in range(_ROUNDS):
        started = time.process_time()
        for query in work.queries:
            runner.session.query(query.name).result()
        read.append(time.process_time() - started)
        again = reruns.in_duckdb(work, work.queries, position, clock=time.process_time)
        computed.append(again.whole(len(work.queries)))
    return min(read) / min(computed), (spark_jobs() - jobs) / (_ROUNDS * len(work.queries))


def _large(progress: StudyProgress) -> list[Ratio]:
    """Large batches, beside small ones and beside one Spark job by hand."""
    progress(f"{FEW} views, batches of {_LARGE:,}")
    with ExitStack() as stack:
        small = _runner(stack, _payments(FEW, BATCH_ROWS, _WARM_UP + MEASURED))
        large = _runner(stack, _payments(FEW, _LARGE, _WARM_UP + MEASURED))
        _in_turn([small, large])
        large.compared()
        seconds, _ = by_hand.views_by_hand(large.work)
    return [
        Ratio(f"views: batch of {_LARGE:,} / of {BATCH_ROWS:,}", _quotient(large, small)),
        Ratio(f"views: batch of {_LARGE:,} / by hand", median(large.seconds) / median(seconds[_WARM_UP:])),
    ]


def _runner(stack: ExitStack, work: Workload, options: Options | None = None) -> _Runner:
    """A session with all queries, until the stack is left."""
    session = stack.enter_context(runs.session_on(work, options))
    used = processor_seconds_of_all()
    runs.register_queries(session, work)
    return _Runner(work, session, processor_seconds_of_all() - used)


def _in_turn(runners: Sequence[_Runner]) -> None:
    """Let batches arrive in one session after the other, again and again."""
    for number in range(_WARM_UP + MEASURED):
        for runner in runners:
            runner.batch(counts=number >= _WARM_UP)


def _quotient(one: _Runner, other: _Runner) -> float:
    """How many times as much of the processor the batches of one take as those of the other."""
    return median(one.processor) / median(other.processor)


def _payments(number: int, batch: int, batches: int) -> Workload:
    """A number of views; the history is one batch, however large the later ones are."""
    return Workload(
        "views", STREAM, payments(BATCH_ROWS + batches * batch, AMOUNT), BATCH_ROWS, batch, views(number, CENTS)
    )
