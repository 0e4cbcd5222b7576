"""Many views that differ in a threshold, with small and with large batches, compared with DuckDB and one Spark job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import pyarrow as pa

from benchmarks.peers import by_hand
from benchmarks.query_sets.views import STREAM, views
from benchmarks.sample_streams.payments import payments
from workbench.experiments import reruns, runs
from workbench.experiments.digests import check_digests
from workbench.experiments.report import Chart, text_table, timing_summary
from workbench.experiments.runs import Step
from workbench.experiments.study import Findings, Study, StudyProgress, option
from workbench.experiments.workload import Workload, spread

_HISTORY = 4_000
_NUMBERS = (1, 10, 100, 768)
SMALL, LARGE = 4_000, 1_000_000
AMOUNT = pa.decimal128(15, 2)
CENTS = 100
"""In the unit of the amounts."""
BY_HAND = 10
"""Views of the job by hand, at most."""
_SAMPLE = 32
"""Views that DuckDB runs; its time is scaled to all."""


@dataclass(frozen=True)
class _Measured:
    """One number of views with one size of a batch."""

    batch: int
    step: Step
    peak_gib: float
    duckdb: float
    by_hand: float | None
    checked: int


@dataclass(frozen=True)
class ManyViews(Study):
    """Views by threshold."""

    name = "views"
    summary = "1 to 768 views by threshold, small and large batches, compared with DuckDB again and one Spark job"

    views: tuple[int, ...] = option(_NUMBERS, "numbers of views")
    batch_sizes: tuple[int, ...] = option((SMALL, LARGE), "batches to compare")
    history: int = option(_HISTORY, "rows of history")
    batches: int = option(10, "batches that are measured")
    large_batches: int = option(3, f"where they have more than {SMALL} rows")
    longest: float = option(60.0, "no more views once a batch took more seconds")

    def run(self, progress: StudyProgress) -> Findings:
        """Run it."""
        measured: list[_Measured] = []
        for batch in self.batch_sizes:
            batches = self.batches if batch <= SMALL else self.large_batches
            rows = payments(self.history + (runs.WARM_UP + batches) * batch, AMOUNT)
            for number in sorted(set(self.views)):
                work = workload(rows, number, self.history, batch)
                measured.append(_measure(work, batches, progress))
                if measured[-1].step.seconds > self.longest:
                    progress(f"more than {self.longest:g} s a batch of {batch:,}: no more views")
                    break
        checked = sum(each.checked for each in measured)
        title = f"views over payments after {self.history:,} rows; {checked} answers compared with DuckDB's"
        figures = {
            f"{each.batch} x {each.step.queries}": {
                "register_seconds": each.step.register_seconds,
                "batch_seconds": timing_summary(each.step.batch_seconds),
                "peak_gib": each.peak_gib,
                "duckdb_seconds": each.duckdb,
                "by_hand_seconds": each.by_hand,
            }
            for each in measured
        }
        return f"{title}\n{_table(measured)}", figures, _charts(measured)


def workload(rows: pa.Table, number: int, history: int, batch: int) -> Workload:
    """A number of views over payments of decimals."""
    return Workload("views", STREAM, rows, history, batch, views(number, CENTS))


def _measure(work: Workload, batches: int, progress: StudyProgress) -> _Measured:
    number, large = len(work.queries), work.batch > SMALL
    sample = spread(work.queries, _SAMPLE)
    names = {query.name for query in sample}
    run = runs.run_batches(work, [number], batches, checked=names, progress=progress)
    again = reruns.in_duckdb(work, sample, run.rows)
    checked = check_digests("the workbench", run.digests, again.digests)
    seconds = None
    if large:
        few = work.of(work.queries[:BY_HAND])
        progress(f"{len(few.queries)} of {number} views as one Spark job by hand")
        taken, digests = by_hand.views_by_hand(few)
        checked += check_digests("by hand", digests, reruns.in_duckdb(few, few.queries, run.rows).digests)
        seconds = median(taken[runs.WARM_UP :])
    return _Measured(work.batch, run.last, run.peak_gib, again.whole(number), seconds, checked)


def _table(measured: Sequence[_Measured]) -> str:
    rows = []
    for each in measured:
        ours = [each.batch, each.step.queries, each.step.register_seconds, each.step.seconds, each.peak_gib]
        rows.append([*ours, each.duckdb, each.by_hand, each.by_hand and each.step.seconds / each.by_hand])
    by_hand_ = f"by hand, at most {BY_HAND}"
    columns = ["batch", "views", "s to register", "s a batch", "peak GiB", "DuckDB again", by_hand_, "× by hand"]
    return text_table(columns, rows)


def _charts(measured: Sequence[_Measured]) -> list[Chart]:
    charts = []
    for batch in dict.fromkeys(each.batch for each in measured):
        own = [each for each in measured if each.batch == batch]
        series = {
            "workbench": {each.step.queries: each.step.seconds for each in own},
            "DuckDB again": {each.step.queries: each.duckdb for each in own},
        }
        charts.append(Chart(f"batches of {batch:,}", "views", "seconds a batch", series, log_x=True))
    return charts
