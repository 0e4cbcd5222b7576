"""Time per batch of a whole query set, beside what a user would pick instead, on the same rows in the same run.

Competitors: DuckDB and Spark re-running every query over all rows so far, and our own engine sharing nothing. Each runs
a sample of the set, whose time is scaled to the whole. Before a time is printed, the size and a digest of every answer
that was computed are compared with DuckDB's.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict, dataclass

from workbench.experiments import ours
from workbench.experiments.ours import Progress, Run
from workbench.experiments.peers import flink, reruns
from workbench.experiments.peers.digests import check
from workbench.experiments.peers.reruns import Reruns
from workbench.experiments.report import Chart, Report, spread_of, table
from workbench.experiments.workload import BATCH, SETS, Workload, spread, workload
from workbench.options import Options


@dataclass(frozen=True)
class Comparison:
    """Everybody's figures on one workload; ``checked`` answers of ours were compared with DuckDB's."""

    work: Workload
    run: Run
    unshared: Run | None
    reruns: tuple[Reruns, ...]
    checked: int

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds of a batch for the whole set, by competitor, ourselves first."""
        number = len(self.work.queries)
        found = {"shared": self.run.last.seconds}
        if self.unshared is not None:
            found["unshared"] = self.unshared.last.seconds * number / self.unshared.last.queries
        return found | {rerun.who: rerun.whole(number) for rerun in self.reruns}

    @property
    def sampled(self) -> dict[str, int]:
        """How many queries each competitor ran."""
        found = {} if self.unshared is None else {"unshared": self.unshared.last.queries}
        return found | {rerun.who: len(rerun.seconds) for rerun in self.reruns}


def compare(
    work: Workload, *, batches: int, sample: int, slow: int, patience: float, progress: Progress = print
) -> Comparison:
    """Measure ourselves and all competitors on a workload.

    Args:
        work: rows and queries.
        batches: how many are measured.
        sample: how many queries DuckDB runs.
        slow: how many queries Spark runs, and our engine unshared; none with 0.
        patience: seconds for one query of DuckDB or Spark.
        progress: told how far it is.

    Raises:
        WorkbenchError: an answer is another than DuckDB's; there are no figures then.
    """
    some = spread(work.queries, sample)
    few = spread(some, slow)
    run = ours.run(work, [len(work.queries)], batches, checked={q.name for q in some}, progress=progress)
    progress(f"DuckDB runs {len(some)} queries")
    found = [reruns.in_duckdb(work, some, run.rows, patience)]
    expected = found[0].digests
    checked = check("shared", run.digests, expected)
    unshared = None
    if few:
        progress(f"{len(few)} queries unshared, and in Spark")
        unshared = ours.run(
            work.of(few),
            [len(few)],
            batches,
            options=Options(sharing=False),
            checked={q.name for q in few},
            progress=lambda line: None,
        )
        check("unshared", unshared.digests, expected)
        found.append(reruns.in_spark(work, few, run.rows, patience))
        check("Spark", found[1].digests, expected)
    return Comparison(work, run, unshared, tuple(found), checked)


def lines(comparison: Comparison) -> str:
    """The comparison as text."""
    work, run, step = comparison.work, comparison.run, comparison.run.last
    low, high = min(step.batch_seconds), max(step.batch_seconds)
    rows: list[list[object]] = []
    for who, seconds in comparison.seconds.items():
        rows.append([who, seconds, seconds / step.seconds, comparison.sampled.get(who, step.queries)])
    for rerun in comparison.reruns:
        typical = rerun.typical(step.queries)
        rows.append([f"{rerun.who}, typical query", typical, typical / step.seconds, len(rerun.seconds)])
    said = [
        f"{work.name}: {step.queries} queries, {work.history:,} rows of history, batches of {work.batch:,}",
        f"registered in {step.register_seconds:.1f} s, weighted size {step.weighted_size:,}, "
        f"{step.operators} operators with work, peak {run.peak_gib:.1f} GiB, "
        f"a batch takes {low:.2f} to {high:.2f} s; {comparison.checked} answers compared with DuckDB's",
        "",
        table(["seconds for a batch", "median", "× shared", "queries run"], rows),
    ]
    for rerun in comparison.reruns:
        if rerun.stopped:
            said.append(
                f"{rerun.who} was stopped in {', '.join(rerun.stopped)}: these count as the time they were given"
            )
    return "\n".join(said)


def as_json(comparison: Comparison) -> dict[str, object]:
    """The comparison as JSON holds it."""
    work = comparison.work
    return {
        "queries": len(work.queries),
        "history": work.history,
        "batch": work.batch,
        "rows": comparison.run.rows,
        "checked": comparison.checked,
        "peak_gib": comparison.run.peak_gib,
        "register_seconds": comparison.run.last.register_seconds,
        "weighted_size": comparison.run.last.weighted_size,
        "operators": comparison.run.last.operators,
        "batch_seconds": spread_of(comparison.run.last.batch_seconds),
        "seconds": comparison.seconds,
        "sampled": comparison.sampled,
        "reruns": [asdict(rerun) | {"typical": rerun.typical(len(work.queries))} for rerun in comparison.reruns],
    }


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the experiment can be told."""
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"of {', '.join(SETS)}; fed-manual unless given")
    parser.add_argument("--queries", type=int, metavar="N", help="the first so many queries of a set; all unless given")
    add_sizes(parser)
    parser.add_argument("--flink", type=int, default=0, metavar="N", help="run the first N as one Flink job too")
    parser.add_argument("--flink-folder", default=flink.FOLDER, metavar="PATH", help="where Flink is, or is installed")


def at_least_one(text: str) -> int:
    """A number of queries of which one at least is needed: without DuckDB's answers no time is given."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1: answers are compared before times are given")
    return number


def add_sizes(parser: argparse.ArgumentParser) -> None:
    """Sizes, and how much competitors run: the same for several experiments."""
    parser.add_argument("--history", type=int, metavar="ROWS", help="rows of history; the thesis's number unless given")
    parser.add_argument("--batch", type=int, default=BATCH, metavar="ROWS", help=f"rows of a batch (default: {BATCH})")
    parser.add_argument("--batches", type=int, default=10, metavar="N", help="batches that are measured (default: 10)")
    parser.add_argument("--sample", type=at_least_one, default=48, metavar="N", help="queries of DuckDB (default: 48)")
    parser.add_argument("--slow", type=int, default=12, metavar="N", help="queries Spark runs, and we run unshared")
    parser.add_argument(
        "--patience", type=float, default=reruns.PATIENCE, metavar="SECONDS", help="for one query of DuckDB or Spark"
    )


def report(chosen: argparse.Namespace, progress: Progress = print) -> Report:
    """Run the experiment on each query set."""
    sets = chosen.sets or ["fed-manual"]
    texts, figures, bars = [], {}, {}
    for name in sets:
        needed = ours.batches_needed([0], chosen.batches)
        work = workload(name, batches=needed, history=chosen.history, batch=chosen.batch, queries=chosen.queries)
        against = None
        if chosen.flink:  # first, while this process is small: memory is compared too
            few = work.of(work.queries[: chosen.flink])
            against = flink.compare(few, chosen.batches, flink.Flink(chosen.flink_folder), progress)
        comparison = compare(
            work,
            batches=chosen.batches,
            sample=chosen.sample,
            slow=chosen.slow,
            patience=chosen.patience,
            progress=progress,
        )
        texts.append(lines(comparison))
        figures[name] = as_json(comparison)
        bars[name] = comparison.seconds
        if against is not None:
            texts.append(against.text)
            figures[name]["flink"] = against.figures
    who = list(dict.fromkeys(each for found in bars.values() for each in found))
    series = {each: {name: found[each] for name, found in bars.items() if each in found} for each in who}
    chart = Chart("time of a batch, scaled to the whole set", "query set", "seconds", series)
    return Report(f"speed-{'-'.join(sets)}", "\n\n".join(texts), figures, (chart,))
