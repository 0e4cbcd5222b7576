"""Time per batch of a whole query set, beside what a user would pick instead, scaled from samples to the whole set."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from workbench.experiments import comparison, runs
from workbench.experiments.comparison import Comparison, compare
from workbench.experiments.report import Chart, Report, table, timing_summary
from workbench.experiments.runs import Progress
from workbench.experiments.workload import SETS, workload
from workbench.options import Options

SHARED = {"shared": Options()}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the experiment."""
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"of {', '.join(SETS)}; fed-manual unless given")
    comparison.add_arguments(parser)


def report(chosen: argparse.Namespace, progress: Progress = print) -> Report:
    """Run the experiment on each query set."""
    sets = chosen.sets or ["fed-manual"]
    texts, figures, bars = [], {}, {}
    for name in sets:
        needed = runs.batches_needed([0], chosen.batches)
        work = workload(name, batches=needed, history=chosen.history, batch=chosen.batch, queries=chosen.queries)
        measured = compare(work, chosen, SHARED, progress=progress)
        texts.append(lines(measured))
        figures[name] = as_json(measured)
        bars[name] = seconds_of(measured)
    who = list(dict.fromkeys(each for seconds in bars.values() for each in seconds))
    series = {each: {name: seconds[each] for name, seconds in bars.items() if each in seconds} for each in who}
    chart = Chart("time of a batch, scaled to the whole set", "query set", "seconds", series)
    return Report(f"speed-{'-'.join(sets)}", "\n\n".join(texts), figures, (chart,))


def seconds_of(measured: Comparison) -> dict[str, float]:
    """Seconds of a batch for the whole set, by competitor, ourselves first."""
    return {who: seconds[len(measured.work.queries)] for who, seconds in measured.seconds.items()}


def lines(measured: Comparison) -> str:
    """The comparison as text."""
    work, run = measured.work, measured.runs["shared"]
    step, low, high = run.last, min(run.last.batch_seconds), max(run.last.batch_seconds)
    rows: list[list[object]] = []
    for who, seconds in seconds_of(measured).items():
        rows.append([who, seconds, seconds / step.seconds, measured.sampled.get(who, step.queries)])
    for rerun in measured.reruns:
        typical = rerun.typical(step.queries)
        rows.append([f"{rerun.who}, typical query", typical, typical / step.seconds, len(rerun.seconds)])
    stopped = [
        f"{rerun.who} was stopped in {', '.join(rerun.stopped)}: these count as the time they were given"
        for rerun in measured.reruns
        if rerun.stopped
    ]
    return "\n".join(
        [
            f"{work.name}: {step.queries} queries, {work.history:,} rows of history, batches of {work.batch:,}",
            f"registered in {step.register_seconds:.1f} s, weighted size {step.weighted_size:,}, "
            f"{step.operators} operators with work, peak {run.peak_gib:.1f} GiB, "
            f"a batch takes {low:.2f} to {high:.2f} s; {measured.checked['shared']} answers compared with DuckDB's",
            "",
            table(["seconds for a batch", "median", "× shared", "queries run"], rows),
            *stopped,
        ]
    )


def as_json(measured: Comparison) -> dict[str, object]:
    """The comparison as JSON holds it."""
    run, queries = measured.runs["shared"], len(measured.work.queries)
    return measured.as_json() | {
        "rows": run.rows,
        "checked": measured.checked["shared"],
        "peak_gib": run.peak_gib,
        "register_seconds": run.last.register_seconds,
        "weighted_size": run.last.weighted_size,
        "operators": run.last.operators,
        "batch_seconds": timing_summary(run.last.batch_seconds),
        "seconds": seconds_of(measured),
        "reruns": [asdict(rerun) | {"typical": rerun.typical(queries)} for rerun in measured.reruns],
    }
