"""A run of a workload in a session: queries come some at a time, and batches are timed at each number (T10.1.4)."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median

import pyarrow as pa

from workbench.engine.fetching import fetch_results
from workbench.engine.spark.in_process import InProcess
from workbench.experiments.digests import Digest, digest_of
from workbench.experiments.measure import PeakMemory
from workbench.experiments.sample_streams.zipcodes import zipdistance
from workbench.experiments.study import StudyProgress
from workbench.experiments.workload import Workload
from workbench.options import Options
from workbench.session.query import Query
from workbench.session.session import Session

WARM_UP = 3
"""Batches before the measured ones: in the first ones plans are made and code is compiled."""


@dataclass(frozen=True)
class Step:
    """The measures at one number of queries.

    Attributes:
        queries: how many are registered.
        register_seconds: to register those that came, answering over all rows so far.
        batch_seconds: of each measured batch.
        operators: shared operators that had work, in a typical batch.
        weighted_size: of the network (T Table 10.7).
    """

    queries: int
    register_seconds: float
    batch_seconds: tuple[float, ...]
    operators: int
    weighted_size: int

    @property
    def seconds(self) -> float:
        """Median time of a batch."""
        return median(self.batch_seconds)


@dataclass(frozen=True)
class ExperimentRun:
    """The measures of one session.

    Attributes:
        steps: one for each number of queries that was measured.
        rows: that had arrived at the end.
        digests: of the answers then, by query, of those that were asked for.
        peak_gib: most memory this process and all below it had, where it was watched.
    """

    steps: tuple[Step, ...]
    rows: int
    digests: Mapping[str, Digest]
    peak_gib: float

    @property
    def last(self) -> Step:
        """The step with most queries."""
        return self.steps[-1]


def run_batches(
    work: Workload,
    steps: Sequence[int],
    batches: int,
    *,
    options: Options | None = None,
    checked: Collection[str] = (),
    patience: float = float("inf"),
    progress: StudyProgress = print,
) -> ExperimentRun:
    """Register a workload's queries in steps and let batches arrive at each.

    Args:
        work: rows for the batches of each step, those of the warm-up among them, and queries.
        steps: numbers of queries, growing.
        batches: how many are measured at each.
        options: how to share.
        checked: queries whose answers are wanted.
        patience: no further step is taken once a batch took more seconds than this.
        progress: told of each step.
    """
    taken: list[Step] = []
    registered = 0
    with PeakMemory() as peak, session_on(work, options) as session:
        for number in steps:
            took = register_queries(session, work.of(work.queries[registered:number]))
            registered = number
            reports = session.run(WARM_UP + batches)[WARM_UP:]
            seconds = tuple(report.seconds for report in reports)
            operators = round(median(len(report.operators) for report in reports))
            step = Step(number, took, seconds, operators, session.network.weighted_size())
            taken.append(step)
            progress(f"{work.name}: {number} queries registered in {took:.1f} s, {step.seconds:.2f} s a batch")
            if step.seconds > patience:
                break
        rows = session.streams[work.stream].position
        digests = {name: run_digest(session.query(name)) for name in session.queries if name in checked}
    return ExperimentRun(tuple(taken), rows, digests, peak.bytes / 2**30)


@contextmanager
def session_on(work: Workload, options: Options | None = None, jobs: InProcess | None = None) -> Iterator[Session]:
    """A session with the stream, the tables and the function of a workload, without queries; on Spark unless told."""
    with Session(jobs, options=options) as session:
        session.add_function("zipdistance", zipdistance, returns="double")
        session.add_stream(work.stream, work.table, history=work.history, batch=work.batch, time=work.time)
        for name, table in work.tables.items():
            session.add_table(name, table)
        yield session


def register_queries(session: Session, work: Workload) -> float:
    """Register the queries of a workload together; gives the seconds that it took."""
    started = time.perf_counter()
    session.register_many({query.name: query.sql for query in work.queries}, dialect=work.queries[0].dialect)
    return time.perf_counter() - started


def silent(line: str) -> None:
    """A :data:`StudyProgress` that shows nothing."""


def run_digest(query: Query) -> Digest:
    """The digest of a query's answer."""
    return digest_of(run_answer(query))


def run_answer(query: Query) -> pa.Table:
    """A query's answer, fetched as Arrow: pandas would change its types."""
    with query.answers() as answers:
        return fetch_results([answers])[0]
