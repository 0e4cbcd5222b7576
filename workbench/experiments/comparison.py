"""A workload measured in our engine, and for its competitors from a sample, on the same rows in the same run.

Competitors: DuckDB and Spark, which run every query again over all rows so far, and our engine without sharing. They
share nothing, so n queries take them n times the mean of the sampled ones. The answer of every query that is sampled is
compared with DuckDB's before any time is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from workbench.experiments import reruns, runs
from workbench.experiments.digests import check_digests
from workbench.experiments.reruns import Reruns
from workbench.experiments.runs import ExperimentRun
from workbench.experiments.study import Study, StudyProgress, at_least_one, option
from workbench.experiments.workload import BATCH_ROWS, SETS, Workload, spread, workload
from workbench.options import Options

_UNSHARED = "unshared"


@dataclass(frozen=True)
class EngineComparison:
    """The measures of all on one workload.

    Attributes:
        work: rows and queries.
        runs: ours, by configuration.
        unshared: ours without sharing, on the smaller sample, by configuration.
        reruns: of those who run queries again.
        checked: how many answers were compared with DuckDB's, by whose they are.
    """

    work: Workload
    runs: Mapping[str, ExperimentRun]
    unshared: Mapping[str, ExperimentRun]
    reruns: tuple[Reruns, ...]
    checked: Mapping[str, int]

    @property
    def alone(self) -> dict[str, float]:
        """Seconds of a batch for one query, by competitor: the mean over the sample."""
        ours = {name: run.last.seconds / run.last.queries for name, run in self.unshared.items()}
        return ours | {rerun.who: rerun.whole(1) for rerun in self.reruns}

    @property
    def seconds(self) -> dict[str, dict[int, float]]:
        """Seconds of a batch by number of queries, for each configuration and each competitor."""
        ours = {name: {step.queries: step.seconds for step in run.steps} for name, run in self.runs.items()}
        numbers = sorted({number for steps in ours.values() for number in steps})
        return ours | {who: {number: number * each for number in numbers} for who, each in self.alone.items()}

    @property
    def sampled(self) -> dict[str, int]:
        """The number of queries that each competitor ran."""
        ours = {name: run.last.queries for name, run in self.unshared.items()}
        return ours | {rerun.who: len(rerun.seconds) for rerun in self.reruns}

    def title(self) -> str:
        """A line on the rows and on what was compared."""
        return (
            f"{self.work.name}: seconds of a batch of {self.work.batch:,} rows after {self.work.history:,}; "
            f"{sum(self.checked.values())} answers compared with DuckDB's"
        )


@dataclass(frozen=True)
class OnQuerySets(Study):
    """Runs query sets on their streams, and some of their queries in DuckDB too."""

    sets: tuple[str, ...] = option((), f"query sets: {', '.join(SETS)}", positional=True)
    queries: int | None = option(None, "how many queries of a set, from the first; all unless given", of=int)
    history: int | None = option(None, "rows of history; the thesis's number unless given", of=int)
    sample: int = option(48, "queries that DuckDB runs", of=at_least_one)
    batch: int = option(BATCH_ROWS, "rows of a batch")
    batches: int = option(10, "batches that are measured")
    patience: float = option(reruns.RERUN_PATIENCE, "seconds for one query of DuckDB or Spark")

    def workload(self, name: str, batches: int) -> Workload:
        """A query set with rows for some batches."""
        return workload(name, batches=batches, history=self.history, batch=self.batch, queries=self.queries)


@dataclass(frozen=True)
class Compared(OnQuerySets):
    """Compares ourselves with competitors, each on a sample of the queries."""

    slow: int = option(12, "queries that Spark runs, and we run unshared")

    def compare(
        self,
        work: Workload,
        configurations: Mapping[str, Options],
        progress: StudyProgress,
        *,
        steps: Sequence[int] | None = None,
        longest: float = float("inf"),
    ) -> EngineComparison:
        """Measure a workload under configurations, and its competitors.

        Args:
            work: rows and queries.
            configurations: options to compare on all queries, by name.
            progress: told how far it is.
            steps: numbers of queries, growing; all queries at once unless given.
            longest: a configuration grows no more once a batch took more seconds.

        Raises:
            WorkbenchError: an answer is another than DuckDB's; there are no figures then.
        """
        sample = spread(work.queries, self.sample)
        small = spread(sample, self.slow)
        steps = steps or [len(work.queries)]
        ours: dict[str, ExperimentRun] = {}
        for name, options in configurations.items():
            progress(f"{work.name}, {name}")
            ours[name] = runs.run_batches(
                work,
                steps,
                self.batches,
                options=options,
                checked={q.name for q in sample},
                patience=longest,
                progress=progress,
            )
        by_rows: dict[int, Reruns] = {}
        for rows in sorted({run.rows for run in ours.values()}):  # not all configurations went to the last step
            progress(f"DuckDB runs {len(sample)} queries over {rows:,} rows")
            by_rows[rows] = reruns.in_duckdb(work, sample, rows, self.patience)
        checked = {name: check_digests(name, run.digests, by_rows[run.rows].digests) for name, run in ours.items()}
        most = max(by_rows)
        again, alone = [by_rows[most]], dict[str, ExperimentRun]()
        if small:
            progress(f"{len(small)} queries unshared, and in Spark")
            run = runs.run_batches(
                work.of(small),
                [len(small)],
                self.batches,
                options=Options(sharing=False),
                checked={q.name for q in small},
                progress=runs.silent,
            )
            known = by_rows.get(run.rows) or reruns.in_duckdb(work, small, run.rows, self.patience)
            checked[_UNSHARED] = check_digests(_UNSHARED, run.digests, known.digests)
            alone[_UNSHARED] = run
            again.append(reruns.in_spark(work, small, most, self.patience))
            checked["Spark"] = check_digests("Spark", again[-1].digests, by_rows[most].digests)
        return EngineComparison(work, ours, alone, tuple(again), checked)


@dataclass(frozen=True)
class Growing(Compared):
    """Compares while a query set grows, step by step."""

    step: int = option(100, "queries that come at a time")
    longest: float = option(120.0, "a configuration grows no more once a batch took more seconds")

    def grow(self, name: str, configurations: Mapping[str, Options], progress: StudyProgress) -> EngineComparison:
        """Compare a query set, with rows enough for all steps of its growth."""
        number = len(workload(name, batches=0, history=300, queries=self.queries).queries)
        steps = [*range(self.step, number, self.step), number]
        work = self.workload(name, len(steps) * (runs.WARM_UP + self.batches))
        return self.compare(work, configurations, progress, steps=steps, longest=self.longest)


def as_json(measured: EngineComparison) -> dict[str, object]:
    """The figures of a set that was compared at once, or while it grew."""
    work = measured.work
    return {
        "queries": len(work.queries),
        "history": work.history,
        "sampled": measured.sampled,
        "seconds": measured.seconds,
        "runs": {name: asdict(run) for name, run in measured.runs.items()},
        "one_query_alone": measured.alone,
        "reruns": [asdict(rerun) for rerun in measured.reruns],
        "checked": sum(measured.checked.values()),
    }
