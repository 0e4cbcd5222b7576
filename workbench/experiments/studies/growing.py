"""A set that grows: our engine with more and more queries, and competitors' time for as many, from a sample.

That is how T10.3 and T10.4 are measured. Competitors do not share, so so many queries take them the mean of those that
were run, times their number.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import mean

from workbench.experiments import ours
from workbench.experiments.ours import Progress, Run
from workbench.experiments.peers import reruns
from workbench.experiments.peers.digests import check
from workbench.experiments.peers.reruns import Reruns
from workbench.experiments.report import spread_of
from workbench.experiments.studies.speed import add_sizes
from workbench.experiments.workload import Workload, spread, workload
from workbench.options import Options


@dataclass(frozen=True)
class Grown:
    """Everybody's figures on one growing set.

    Attributes:
        work: rows and queries.
        runs: ours, by configuration.
        alone: seconds of a batch for one query, by competitor: mean over those that were run.
        reruns: of those who run queries again.
        checked: answers that were compared with DuckDB's.
    """

    work: Workload
    runs: Mapping[str, Run]
    alone: Mapping[str, float]
    reruns: tuple[Reruns, ...]
    checked: int

    @property
    def seconds(self) -> dict[str, dict[int, float]]:
        """Seconds of a batch by number of queries, for each configuration and each competitor."""
        found = {who: {step.queries: step.seconds for step in run.steps} for who, run in self.runs.items()}
        numbers = sorted({number for steps in found.values() for number in steps})
        return found | {who: {number: number * each for number in numbers} for who, each in self.alone.items()}

    def as_json(self) -> dict[str, object]:
        """What JSON holds."""
        runs = {
            name: [asdict(step) | {"batch_seconds": spread_of(step.batch_seconds)} for step in run.steps]
            for name, run in self.runs.items()
        }
        return {
            "queries": len(self.work.queries),
            "history": self.work.history,
            "batch": self.work.batch,
            "rows": {name: run.rows for name, run in self.runs.items()},
            "peak_gib": {name: run.peak_gib for name, run in self.runs.items()},
            "runs": runs,
            "one_query_alone": self.alone,
            "sampled": {rerun.who: len(rerun.seconds) for rerun in self.reruns},
            "stopped": {rerun.who: rerun.stopped for rerun in self.reruns},
            "checked": self.checked,
        }


def grow(
    name: str,
    configurations: Mapping[str, Options],
    unshared: Mapping[str, Options],
    step: int,
    chosen: argparse.Namespace,
    progress: Progress,
) -> Grown:
    """Grow a set under configurations, beside its competitors.

    Args:
        name: of the query set.
        configurations: the options to compare, by what to call them.
        unshared: options without sharing, run on a sample, by what to call them.
        step: queries that come at a time.
        chosen: the arguments of ``add_arguments``.
        progress: told how far it is.

    Raises:
        WorkbenchError: an answer is another than DuckDB's.
    """
    work = sized(name, step, chosen)
    steps = steps_of(work, step)
    some = spread(work.queries, chosen.sample)
    few = spread(some, chosen.slow)
    runs = {}
    for called, options in configurations.items():
        progress(f"{name}, {called}")
        runs[called] = ours.run(
            work, steps, chosen.batches, options=options, checked={q.name for q in some}, patience=chosen.longest,
            progress=progress,
        )  # fmt: skip
    again: dict[int, Reruns] = {}
    for rows in sorted({run.rows for run in runs.values()}):  # not all configurations went to the last step
        progress(f"DuckDB runs {len(some)} queries over {rows:,} rows")
        again[rows] = reruns.in_duckdb(work, some, rows, chosen.patience)
    checked = sum(check(called, run.digests, again[run.rows].digests) for called, run in runs.items())
    longest = max(again)
    found = [again[longest]]
    alone = {"DuckDB": mean(found[0].seconds.values())}
    if few:
        progress(f"{len(few)} queries in Spark, and unshared")
        found.append(reruns.in_spark(work, few, longest, chosen.patience))
        check("Spark", found[-1].digests, again[longest].digests)
        alone["Spark"] = mean(found[-1].seconds.values())
        for called, options in unshared.items():
            run = ours.run(
                work.of(few),
                [len(few)],
                chosen.batches,
                options=options,
                checked={q.name for q in few},
                progress=progress,
            )
            expected = reruns.in_duckdb(work, few, run.rows, chosen.patience).digests
            checked += check(called, run.digests, expected)
            alone[called] = run.last.seconds / len(few)
    return Grown(work, runs, alone, tuple(found), checked)


def sized(name: str, step: int, chosen: argparse.Namespace) -> Workload:
    """The set with rows enough for all its steps."""
    whole = workload(name, batches=0, history=300, queries=chosen.queries)
    needed = ours.batches_needed(steps_of(whole, step), chosen.batches)
    return workload(name, batches=needed, history=chosen.history, batch=chosen.batch, queries=chosen.queries)


def steps_of(work: Workload, step: int) -> Sequence[int]:
    """Numbers of queries: each ``step``, and all.

    Example:
        >>> steps_of(workload("fed-manual", batches=0, history=6, queries=130), 50)
        [50, 100, 130]
    """
    number = len(work.queries)
    return [*range(step, number, step), number]


def add_arguments(parser: argparse.ArgumentParser, sets: Sequence[str], step: int) -> None:
    """What such an experiment can be told."""
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"of {', '.join(sets)}; all of these unless given")
    parser.add_argument("--queries", type=int, metavar="N", help="the first so many queries of a set; all unless given")
    parser.add_argument(
        "--step", type=int, default=step, metavar="N", help=f"queries that come at a time (default: {step})"
    )
    parser.add_argument(
        "--longest", type=float, default=120.0, metavar="SECONDS",
        help="a configuration grows no more once a batch took longer (default: 120)",
    )  # fmt: skip
    add_sizes(parser)
