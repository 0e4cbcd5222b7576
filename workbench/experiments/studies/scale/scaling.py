"""How time and memory grow: with queries, with batches, with history, and what one query alone costs."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median

from workbench.errors import WorkbenchError, nearest
from workbench.experiments import comparison, runs
from workbench.experiments.measure import resident_bytes
from workbench.experiments.peers import by_hand, reruns
from workbench.experiments.peers.digests import check
from workbench.experiments.query_sets import GeneratedQuery
from workbench.experiments.report import Chart, Report, Series, table, timing_summary
from workbench.experiments.runs import Progress
from workbench.experiments.studies import speed
from workbench.experiments.workload import FED, SETS, Workload, spread, workload

GiB = 2**30
QUERIES = (100, 250, 500, 1_000)
BATCHES = 100
HISTORIES = (300_000, 1_000_000, 3_000_000)
TENTH = 10
"""The first part of the batches is compared with the last."""

Part = tuple[str, dict[str, object], list[Chart]]
"""Text, figures and charts."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the experiment."""
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all unless given")
    parser.add_argument(
        "--set", choices=SETS, help="query set; fed-uniform for queries and fed-manual for the rest unless given"
    )
    parser.add_argument(
        "--queries", nargs="+", type=int, default=QUERIES, metavar="N", help="numbers of queries to compare"
    )
    parser.add_argument(
        "--many", type=int, default=BATCHES, metavar="N", help=f"batches of the long run (default: {BATCHES})"
    )
    parser.add_argument(
        "--histories", nargs="+", type=int, default=HISTORIES, metavar="ROWS", help="histories to compare"
    )
    parser.add_argument(
        "--history", type=int, default=FED.history, metavar="ROWS", help="where histories are not compared"
    )
    parser.add_argument(
        "--set-queries", type=int, metavar="N", help="queries of the set for batches and histories; all unless given"
    )
    parser.add_argument("--sample", type=int, default=16, metavar="N", help="queries DuckDB runs (default: 16)")
    parser.add_argument(
        "--slow", type=int, default=0, metavar="N", help="queries Spark runs, and we run unshared, over each history"
    )
    comparison.add_batch_arguments(parser)


def report(chosen: argparse.Namespace, progress: Progress = print) -> Report:
    """Run the parts that are asked for."""
    unknown = [part for part in chosen.parts if part not in PARTS]
    if unknown:
        hint = nearest(unknown[0], PARTS) or f"parts: {', '.join(PARTS)}"
        raise WorkbenchError(f"scaling has no part {unknown[0]}", hint=hint)
    measured = {part: PARTS[part](chosen, progress) for part in chosen.parts or PARTS}
    texts = "\n\n".join(text for text, _, _ in measured.values())
    figures = {part: each for part, (_, each, _) in measured.items()}
    return Report("scaling", texts, figures, [chart for _, _, charts in measured.values() for chart in charts])


def by_queries(chosen: argparse.Namespace, progress: Progress) -> Part:
    """Time of a batch by number of queries, in one network that grows."""
    steps = sorted(set(chosen.queries))
    needed = runs.batches_needed(steps, chosen.batches)
    name = chosen.set or "fed-uniform"
    work = workload(name, batches=needed, history=chosen.history, batch=chosen.batch, queries=steps[-1])
    sample = spread(work.queries, chosen.sample)
    run = runs.run(work, steps, chosen.batches, checked={q.name for q in sample}, progress=progress)
    rerun = reruns.in_duckdb(work, sample, run.rows, chosen.patience)
    checked = check("shared", run.digests, rerun.digests)
    seconds = {step.queries: step.seconds for step in run.steps}
    again = {number: rerun.whole(number) for number in seconds}
    rows = [
        [s.queries, s.seconds, again[s.queries], s.operators, s.weighted_size, s.register_seconds] for s in run.steps
    ]
    first, last = run.steps[0], run.steps[-1]
    ratio = last.seconds / first.seconds
    title = f"{name}: {first.queries} to {last.queries} queries, a batch takes {ratio:.2f} times as long"
    title += f"; {checked} answers compared with DuckDB's"
    columns = ["queries", "seconds", "DuckDB, scaled", "operators", "weighted size", "s to register"]
    figures = {
        "seconds": {n: timing_summary(s.batch_seconds) for n, s in zip(seconds, run.steps, strict=True)},
        "DuckDB": again,
    }
    return (
        f"{title}\n{table(columns, rows)}",
        figures,
        [_chart("queries", "queries", {"shared": seconds, "DuckDB": again})],
    )


def by_batches(chosen: argparse.Namespace, progress: Progress) -> Part:
    """Time of a batch and memory over many batches."""
    name = chosen.set or "fed-manual"
    needed = runs.WARM_UP + chosen.many
    work = workload(name, batches=needed, history=chosen.history, batch=chosen.batch, queries=chosen.set_queries)
    sample = spread(work.queries, chosen.sample)
    seconds, memory = [], []
    with runs.session_on(work) as session:
        session.register_many({query.name: query.sql for query in work.queries}, dialect="oracle")
        session.run(runs.WARM_UP)
        for number in range(1, chosen.many + 1):
            seconds.append(session.run(1)[0].seconds)
            memory.append(resident_bytes() / GiB)
            if number % TENTH == 0:
                progress(f"{name}: batch {number} of {chosen.many}, {seconds[-1]:.2f} s, {memory[-1]:.2f} GiB")
        digests = {query.name: runs.digest(session.query(query.name)) for query in sample}
    checked = check("shared", digests, reruns.in_duckdb(work, sample, work.rows_after(needed), chosen.patience).digests)
    part = max(1, min(TENTH, chosen.many // 2))
    first, last = median(seconds[:part]), median(seconds[-part:])
    title = f"{name}: {chosen.many} batches, the last {part} {last / first:.2f} times the first {part}"
    title += f"; {checked} answers compared with DuckDB's"
    rows = [["seconds", first, last, min(seconds), max(seconds)]]
    rows.append(["GiB", median(memory[:part]), median(memory[-part:]), min(memory), max(memory)])
    figures = {"seconds": seconds, "memory_gib": memory, "ratio": last / first}
    numbers = range(1, chosen.many + 1)
    charts = [
        _chart("batches", "batch", {"seconds": dict(zip(numbers, seconds, strict=True))}, log_y=False),
        Chart("memory", "batch", "GiB", {"all processes": dict(zip(numbers, memory, strict=True))}, log_y=False),
    ]
    return f"{title}\n{table(['', f'first {part}', f'last {part}', 'least', 'most'], rows)}", figures, charts


def by_history(chosen: argparse.Namespace, progress: Progress) -> Part:
    """Time of a batch by rows of history, beside the competitors."""
    texts: list[str] = []
    figures: dict[str, object] = {}
    by_who: dict[str, dict[float, float]] = {}
    for history in sorted(set(chosen.histories)):
        needed = runs.batches_needed([0], chosen.batches)
        name = chosen.set or "fed-manual"
        work = workload(name, batches=needed, history=history, batch=chosen.batch, queries=chosen.set_queries)
        measured = comparison.compare(work, chosen, speed.SHARED, progress=progress)
        texts.append(speed.lines(measured))
        figures[str(history)] = speed.as_json(measured)
        for who, seconds in speed.seconds_of(measured).items():
            by_who.setdefault(who, {})[history] = seconds
    ours_by = by_who["shared"]
    rows = [
        [int(history), *(steps.get(history) for steps in by_who.values()), ours_by[history] / min(ours_by.items())[1]]
        for history in ours_by
    ]
    texts.append(table(["rows of history", *by_who, "shared / first"], rows))
    return "\n\n".join(texts), figures, [_chart("history", "rows of history", by_who, log_x=True)]


def alone(chosen: argparse.Namespace, progress: Progress) -> Part:
    """One selection, and one join of two, beside a loop that is written for Spark by hand."""
    rows: list[list[object]] = []
    figures: dict[str, object] = {}
    needed = runs.WARM_UP + chosen.batches
    table_rows = FED.rows(chosen.history + needed * chosen.batch)
    for name, sql, hand in (
        ("selection", by_hand.SELECTION, by_hand.selection),
        ("join of two", by_hand.JOIN, by_hand.join),
    ):
        query = GeneratedQuery(name, sql, sql, name, {})
        work = Workload(name, FED.stream, table_rows, chosen.history, chosen.batch, (query,))
        expected = reruns.in_duckdb(work, [query], table_rows.num_rows).digests
        run = runs.run(work, [1], chosen.batches, checked={name}, progress=progress)
        check("ours", run.digests, expected)
        with tempfile.TemporaryDirectory(prefix="argus-by-hand-") as folder:
            seconds, digest = hand(work, Path(folder))
        check("by hand", {name: digest}, expected)
        measured = seconds[runs.WARM_UP :]
        rows.append([name, run.last.seconds, median(measured), run.last.seconds / median(measured)])
        figures[name] = {"ours": timing_summary(run.last.batch_seconds), "by hand": timing_summary(measured)}
    series = {who: {str(row[0]): float(str(row[i])) for row in rows} for i, who in ((1, "ours"), (2, "by hand"))}
    chart = Chart("one query alone", "query", "seconds of a batch", series, log_y=False)
    return table(["one query alone", "ours", "by hand", "ours / by hand"], rows), figures, [chart]


PARTS: dict[str, Callable[[argparse.Namespace, Progress], Part]] = {
    "queries": by_queries,
    "batches": by_batches,
    "history": by_history,
    "alone": alone,
}
"""What can grow; and what is there before anything does."""


def _chart(title: str, x: str, series: Mapping[str, Series], log_x: bool = False, log_y: bool = True) -> Chart:
    return Chart(title, x, "seconds of a batch", series, log_x=log_x, log_y=log_y)
