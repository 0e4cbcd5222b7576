"""Sessions that are measured by the processor: counts and seconds of a processor are much the same on a busy machine.

A session runs without Spark where all its steps are Python's, which are then measured alone; another one is measured
with its JVM and its workers.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from benchmarks.processes import processor_seconds_of_all
from workbench.engine.spark.in_process import InProcess, NeedsSparkError
from workbench.errors import WorkbenchError
from workbench.experiments import runs
from workbench.experiments.digests import Digest, check_digests
from workbench.experiments.query_sets import GeneratedQuery
from workbench.experiments.reruns import Reruns, in_duckdb
from workbench.experiments.workload import Workload
from workbench.options import Options

UNMEASURED = 2
"""Batches before the measured ones: steps are planned in the first."""
ANEW_MEASURED = 3
"""Sessions of both kinds whose difference is a time; the least of each counts, so noise is less than what is small."""
AGAIN_PATIENCE = 60.0
"""Seconds of a clock for one query of DuckDB."""


@dataclass(frozen=True)
class KeptUp:
    """A session that kept answers up.

    Attributes:
        hydration: seconds of a processor to register the queries, over all rows so far.
        batches: seconds of a processor for each measured batch.
        rows: that all operators looked at in each of them.
        arrived: rows at the end.
        digests: of the answers then, of those that were asked for.
    """

    hydration: float
    batches: tuple[float, ...]
    rows: tuple[int, ...]
    arrived: int
    digests: Mapping[str, Digest]

    @property
    def batch(self) -> float:
        """Seconds of a processor for the typical batch."""
        return median(self.batches)


def kept_up(
    work: Workload, options: Options | None = None, *, batches: int = 3, checked: Collection[str] = ()
) -> KeptUp:
    """Register a workload's queries together and let batches arrive, with Spark only where it is needed.

    Args:
        work: rows for the batches, those of the warm-up among them, and queries.
        options: how to share.
        batches: how many are measured.
        checked: queries whose answers are wanted.
    """
    try:
        return _kept_up(work, options, batches, checked, InProcess())
    except NeedsSparkError:
        return _kept_up(work, options, batches, checked, None)
    except WorkbenchError as problem:
        if not isinstance(problem.__cause__, NeedsSparkError):
            raise
        return _kept_up(work, options, batches, checked, None)


def _kept_up(
    work: Workload, options: Options | None, batches: int, checked: Collection[str], runner: InProcess | None
) -> KeptUp:
    with runs.session_on(work, options, runner) as session:
        before = processor_seconds_of_all()
        runs.register_queries(session, work)
        hydration = processor_seconds_of_all() - before
        session.run(UNMEASURED)
        seconds, rows = [], []
        for _ in range(batches):
            before = processor_seconds_of_all()
            reports = session.run(1)
            seconds.append(processor_seconds_of_all() - before)
            rows.append(sum(operator.rows_in for report in reports for operator in report.operators))
        digests = {name: runs.run_digest(session.query(name)) for name in session.queries if name in checked}
        arrived = session.streams[work.stream].position
        return KeptUp(hydration, tuple(seconds), tuple(rows), arrived, digests)


def again(work: Workload, queries: Sequence[GeneratedQuery], rows: int) -> Reruns:
    """DuckDB runs queries over the first rows; its times are of a processor."""
    return in_duckdb(work, queries, rows, AGAIN_PATIENCE, clock=time.process_time)


def checked_alone(work: Workload, query: GeneratedQuery, configurations: Mapping[str, Options]) -> dict[str, KeptUp]:
    """One query in a session of its own under each configuration; all answers are compared with DuckDB's.

    Raises:
        WorkbenchError: an answer is another than DuckDB's.
    """
    one = work.of((query,))
    runs_ = {name: kept_up(one, options, batches=1, checked={query.name}) for name, options in configurations.items()}
    expected = again(one, [query], next(iter(runs_.values())).arrived).digests
    for name, run in runs_.items():
        check_digests(f"{query.name}, {name}", run.digests, expected)
    return runs_


def anew(work: Workload, query: GeneratedQuery) -> float:
    """Seconds of a processor in which this engine computes an answer over all rows, less what planning takes."""
    everything = replace(work, history=work.table.num_rows, queries=(query,))
    nothing = replace(everything, history=0)
    planning, all_of_it = zip(
        *(
            (kept_up(nothing, batches=0).hydration, kept_up(everything, batches=0).hydration)
            for _ in range(ANEW_MEASURED)
        ),
        strict=True,
    )
    return max(min(all_of_it) - min(planning), 0.0)
