"""A workload measured in our engine, and for its competitors from a sample, on the same rows in the same run.

Competitors: DuckDB and Spark, which run every query again over all rows so far, and our engine without sharing. They
share nothing, so n queries take them n times the mean of the sampled ones. The answer of every query that is sampled is
compared with DuckDB's before any time is given.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from workbench.experiments import reruns, runs
from workbench.experiments.digests import check
from workbench.experiments.query_sets import GeneratedQuery
from workbench.experiments.report import timing_summary
from workbench.experiments.reruns import Reruns
from workbench.experiments.runs import Progress, Run
from workbench.experiments.workload import BATCH, Workload, spread, workload
from workbench.options import Options

UNSHARED: Mapping[str, Options] = {"unshared": Options(sharing=False)}


@dataclass(frozen=True)
class Comparison:
    """The measures of all on one workload.

    Attributes:
        work: rows and queries.
        runs: ours, by configuration.
        unshared: ours without sharing, on the smaller sample, by configuration.
        reruns: of those who run queries again.
        checked: how many answers were compared with DuckDB's, by whose they are.
    """

    work: Workload
    runs: Mapping[str, Run]
    unshared: Mapping[str, Run]
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
        """How many queries each competitor ran."""
        ours = {name: run.last.queries for name, run in self.unshared.items()}
        return ours | {rerun.who: len(rerun.seconds) for rerun in self.reruns}

    def title(self) -> str:
        """A line on the rows and on what was compared."""
        return (
            f"{self.work.name}: seconds of a batch of {self.work.batch:,} rows after {self.work.history:,}; "
            f"{sum(self.checked.values())} answers compared with DuckDB's"
        )

    def as_json(self) -> dict[str, object]:
        """The figures that are the same for every comparison."""
        work = self.work
        return {"queries": len(work.queries), "history": work.history, "batch": work.batch, "sampled": self.sampled}


def compare(
    work: Workload,
    chosen: argparse.Namespace,
    configurations: Mapping[str, Options],
    unshared: Mapping[str, Options] = UNSHARED,
    steps: Sequence[int] | None = None,
    progress: Progress = print,
) -> Comparison:
    """Measure a workload under configurations, and its competitors.

    Args:
        work: rows and queries.
        chosen: the options of ``add_arguments``; ``longest``, where it is there, ends the growth of a configuration.
        configurations: options to compare on all queries, by name.
        unshared: options without sharing, for the smaller sample, by name.
        steps: numbers of queries, growing; all queries at once unless given.
        progress: told how far it is.

    Raises:
        WorkbenchError: an answer is another than DuckDB's; there are no figures then.
    """
    sample = spread(work.queries, chosen.sample)
    small = spread(sample, chosen.slow)
    steps = steps or [len(work.queries)]
    longest = getattr(chosen, "longest", float("inf"))
    ours: dict[str, Run] = {}
    for name, options in configurations.items():
        progress(f"{work.name}, {name}")
        ours[name] = runs.run(
            work, steps, chosen.batches, options=options, checked=_names(sample), patience=longest, progress=progress
        )
    by_rows: dict[int, Reruns] = {}
    for rows in sorted({run.rows for run in ours.values()}):  # not all configurations went to the last step
        progress(f"DuckDB runs {len(sample)} queries over {rows:,} rows")
        by_rows[rows] = reruns.in_duckdb(work, sample, rows, chosen.patience)
    checked = {name: check(name, run.digests, by_rows[run.rows].digests) for name, run in ours.items()}
    most = max(by_rows)
    again, alone = [by_rows[most]], dict[str, Run]()
    if small:
        progress(f"{len(small)} queries unshared, and in Spark")
        for name, options in unshared.items():
            few = work.of(small)
            run = runs.run(
                few, [len(small)], chosen.batches, options=options, checked=_names(small), progress=runs.silent
            )
            known = by_rows.get(run.rows) or reruns.in_duckdb(work, small, run.rows, chosen.patience)
            checked[name] = check(name, run.digests, known.digests)
            alone[name] = run
        again.append(reruns.in_spark(work, small, most, chosen.patience))
        checked["Spark"] = check("Spark", again[-1].digests, by_rows[most].digests)
    return Comparison(work, ours, alone, tuple(again), checked)


def growth_as_json(measured: Comparison) -> dict[str, object]:
    """The figures of a set that grew."""
    return measured.as_json() | {
        "rows": {name: run.rows for name, run in measured.runs.items()},
        "peak_gib": {name: run.peak_gib for name, run in measured.runs.items()},
        "runs": {
            name: [asdict(step) | {"batch_seconds": timing_summary(step.batch_seconds)} for step in run.steps]
            for name, run in measured.runs.items()
        },
        "one_query_alone": measured.alone,
        "stopped": {rerun.who: rerun.stopped for rerun in measured.reruns},
        "checked": sum(measured.checked.values()),
    }


def growing(name: str, step: int, chosen: argparse.Namespace) -> tuple[Workload, Sequence[int]]:
    """A query set with rows enough for all steps of its growth, and these steps."""
    whole = workload(name, batches=0, history=300, queries=chosen.queries)
    steps = steps_of(len(whole.queries), step)
    batches = runs.batches_needed(steps, chosen.batches)
    return workload(name, batches=batches, history=chosen.history, batch=chosen.batch, queries=chosen.queries), steps


def steps_of(queries: int, step: int) -> Sequence[int]:
    """Numbers of queries: each ``step``, and all.

    Example:
        >>> steps_of(130, 50)
        [50, 100, 130]
    """
    return [*range(step, queries, step), queries]


def add_growth_arguments(parser: argparse.ArgumentParser, sets: Sequence[str], step: int) -> None:
    """The options of an experiment on growing query sets."""
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"of {', '.join(sets)}; all of these unless given")
    parser.add_argument(
        "--step", type=int, default=step, metavar="N", help=f"queries that come at a time (default: {step})"
    )
    parser.add_argument(
        "--longest", type=float, default=120.0, metavar="SECONDS",
        help="a configuration grows no more once a batch took longer (default: 120)",
    )  # fmt: skip
    add_arguments(parser)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Sizes, and how much competitors run: the same for several experiments."""
    add_set_arguments(parser, sample=48)
    parser.add_argument("--slow", type=int, default=12, metavar="N", help="queries Spark runs, and we run unshared")


def add_set_arguments(parser: argparse.ArgumentParser, sample: int) -> None:
    """How much of a query set is run, over how many rows, and how many of its queries DuckDB runs too."""
    parser.add_argument("--queries", type=int, metavar="N", help="the first so many queries of a set; all unless given")
    parser.add_argument("--history", type=int, metavar="ROWS", help="rows of history; the thesis's number unless given")
    parser.add_argument(
        "--sample", type=_at_least_one, default=sample, metavar="N", help=f"queries of DuckDB (default: {sample})"
    )
    add_batch_arguments(parser)


def add_batch_arguments(parser: argparse.ArgumentParser) -> None:
    """Sizes of batches, and the patience with a competitor."""
    parser.add_argument("--batch", type=int, default=BATCH, metavar="ROWS", help=f"rows of a batch (default: {BATCH})")
    parser.add_argument("--batches", type=int, default=10, metavar="N", help="batches that are measured (default: 10)")
    add_patience(parser)


def add_patience(parser: argparse.ArgumentParser) -> None:
    """How long a competitor may take for one query."""
    parser.add_argument(
        "--patience", type=float, default=reruns.PATIENCE, metavar="SECONDS", help="for one query of DuckDB or Spark"
    )


def _at_least_one(text: str) -> int:
    """A number of queries of which one at least is needed: without DuckDB's answers no time is given."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1: answers are compared before times are given")
    return number


def _names(queries: Sequence[GeneratedQuery]) -> set[str]:
    return {query.name for query in queries}
