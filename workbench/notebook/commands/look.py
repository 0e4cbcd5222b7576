"""Commands that show and change nothing: results, queries, streams, the network, timings."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from workbench.explain.describe import NetworkView
from workbench.explain.text import short
from workbench.notebook.arguments import Command, argument
from workbench.notebook.commands.define import show_result
from workbench.notebook.desk import Desk
from workbench.notebook.display import Shown, event_time, explained, milliseconds, rows_table, show, table, together
from workbench.notebook.drawing import picture

if TYPE_CHECKING:
    from workbench.engine.reports import BatchReport
    from workbench.session.session import Session

SLOWEST = 10
"""Operators listed in the timings."""
BAR = 20
"""Characters of a bar that stands for all of a batch's time."""


def results(desk: Desk, arguments: argparse.Namespace) -> None:
    """A query's answer, or how it came to be."""
    query = desk.session.query(arguments.query)
    if arguments.changes:
        changes = query.changes(since=arguments.since)
        if arguments.output is not None:
            desk.variables[arguments.output] = changes
        latest = latest_changes(changes, arguments.limit)
        answered = arguments.since is None or arguments.since < query.registered
        since = f"its answer after batch {query.registered}" if answered else f"batch {arguments.since}"
        show(rows_table(latest, len(changes), f"latest changes of {query.name} since {since}"))
    elif arguments.at is not None:
        rows = query.result(at=arguments.at)
        if arguments.output is not None:
            desk.variables[arguments.output] = rows
        show(rows_table(rows.head(max(0, arguments.limit)), len(rows), f"{query.name} at {arguments.at}"))
    else:
        show_result(desk, query, arguments.limit, arguments.output)


def latest_changes(changes: pd.DataFrame, limit: int) -> pd.DataFrame:
    """The last of a query's changes, with what was taken back beside what took its place.

    Example:
        >>> changed = pd.DataFrame({"batch": [1, 2, 2, 2], "weight": [1, 1, 1, -1], "bank": ["x", "x", "y", "x"]})
        >>> latest_changes(changed, 3).to_string(index=False).splitlines()
        [' batch  weight bank', '     2      -1    x', '     2       1    x', '     2       1    y']
    """
    if changes.empty or limit < 1:
        return changes.head(0)
    since = changes["batch"].iloc[-min(limit, len(changes))]
    columns = [name for name in changes.columns if name != "weight"]
    return changes[changes["batch"] >= since].sort_values([*columns, "weight"], kind="stable").tail(limit)


def windows(desk: Desk, arguments: argparse.Namespace) -> None:
    """The instants of a windowed query, and where its windows were."""
    query = desk.session.query(arguments.query)
    found = query.windows()
    show(rows_table(found.tail(max(0, arguments.limit)), len(found), f"latest windows of {query.name}"))


def queries(desk: Desk, arguments: argparse.Namespace) -> None:
    """All queries, with what each shares."""
    session = desk.session
    network = session.network
    rows = []
    for name, query in session.queries.items():
        nodes = [network.node(id_) for id_ in network.ancestors(name)] if name in network.results else []
        shared = sum(len(node.queries) > 1 for node in nodes)
        columns = ", ".join(column for column, _ in query.columns)
        rows.append([name, query.status, str(len(nodes)), str(shared), short(columns, 60)])
    show(table(["query", "status", "nodes", "shared", "columns"], rows) if rows else Shown("no queries yet"))


def streams(desk: Desk, arguments: argparse.Namespace) -> None:
    """All streams, with how far each has been read."""
    rows = [
        [s.name, f"{s.position:,}", f"{s.rows:,}", f"{s.batch:,}", event_time(s), f"{s.quarantined_rows:,}"]
        for s in desk.session.streams.values()
    ]
    columns = ["stream", "read", "of rows", "batch", "time", "quarantined"]
    show(table(columns, rows) if rows else Shown("no streams yet"))


def plan(desk: Desk, arguments: argparse.Namespace) -> None:
    """The query network as a drawing, with one query stressed when it is named."""
    session = desk.session
    query = None if arguments.query is None else session.query(arguments.query).name
    show(picture(session.network, query, arguments.full))


def explain(desk: Desk, arguments: argparse.Namespace) -> None:
    """What a query shares, and why."""
    show(explained(desk.session.query(arguments.query).explain()))


def timings(desk: Desk, arguments: argparse.Namespace) -> None:
    """Where the time of the last batches went."""
    session = desk.session
    reports = session.reports[-max(1, arguments.batches) :]
    if not reports:
        show("no batch was run yet; %argus run")
        return
    shown = together(_by_batch(reports, session.network), _by_operator(reports, session))
    profile = next((report for report in reversed(reports) if any(o.alone for o in report.operators)), None)
    show(shown if profile is None else together(shown, _by_node(profile, session.network)))


def _by_batch(reports: Sequence[BatchReport], network: NetworkView) -> Shown:
    longest = max(report.seconds for report in reports)
    rows = [
        [
            str(report.batch),
            f"{report.rows:,}",
            milliseconds(report.seconds),
            _bar(report.seconds, longest),
            _called(max(report.operators, key=lambda o: o.seconds).name, network) if report.operators else "",
        ]
        for report in reports
    ]
    return table(["batch", "rows", "time", "", "slowest operator"], rows, "batches")


def _by_operator(reports: Sequence[BatchReport], session: Session) -> Shown:
    network = session.network
    sums: dict[str, list[Any]] = {}
    for operator in (o for report in reports for o in report.operators):
        total = sums.setdefault(operator.name, [0, 0, 0, 0.0])
        total[0] = len(operator.nodes)
        total[1] += operator.rows_in
        total[2] += operator.rows_out
        total[3] += operator.seconds
    whole = sum(total[3] for total in sums.values())
    slowest = sorted(sums.items(), key=lambda item: -item[1][3])[:SLOWEST]
    rows = [
        [
            _called(name, network),
            str(nodes),
            f"{rows_in:,}",
            f"{rows_out:,}",
            f"{session.kept(name)[0]:,}",
            milliseconds(seconds),
            _bar(seconds, whole),
        ]
        for name, (nodes, rows_in, rows_out, seconds) in slowest
    ]
    count = f"the {len(slowest)} slowest of {len(sums)} operators" if len(sums) > len(slowest) else "operators"
    over = f"batch {reports[0].batch}" if len(reports) == 1 else f"batches {reports[0].batch} to {reports[-1].batch}"
    return table(["operator", "nodes", "rows in", "rows out", "kept", "time", ""], rows, f"{count}, {over}")


def _by_node(report: BatchReport, network: NetworkView) -> Shown:
    """The nodes of a batch that was profiled, those first that cost most alone."""
    nodes = [(seconds, id_, operator) for operator in report.operators for id_, seconds in operator.alone.items()]
    slowest = sorted(nodes, key=lambda node: -node[0])[:SLOWEST]
    rows = [
        [
            _called(id_, network),
            f"{operator.node_rows[id_]:,}",
            milliseconds(seconds),
            f"{milliseconds(operator.together)} for {len(operator.nodes):,}",
        ]
        for seconds, id_, operator in slowest
    ]
    alone, shared = sum(seconds for seconds, _, _ in nodes), sum(o.together for o in report.operators)
    which = f"the {len(rows)} slowest of {len(nodes):,} nodes" if len(nodes) > len(rows) else "nodes"
    said = (
        f"{which} in batch {report.batch}, each as if nobody wanted the others: "
        f"{milliseconds(alone)} one by one, {milliseconds(shared)} in shared operators, once planned"
    )
    return table(["node", "rows out", "alone", "its operator"], rows, said)


def _called(node: str, network: NetworkView) -> str:
    """What a node does, or the operator of which it is the root: its caption, or its id when it is gone."""
    known = {each.id: each for each in network.nodes}
    return short(" ".join(known[node].caption), 60) if node in known else node


def _bar(part: float, whole: float) -> str:
    return "█" * round(BAR * part / whole) if whole else ""


COMMANDS = (
    Command(
        "results",
        "Show a query's answer over all data so far.",
        results,
        (
            argument("query", metavar="QUERY", completes="query", help="its name"),
            argument("--changes", action="store_true", help="what each batch added (weight 1) and took away (-1)"),
            argument("--since", type=int, metavar="BATCH", help="with --changes: only after this batch"),
            argument("--at", metavar="INSTANT", help="the set of one instant of a windowed query"),
            argument("--limit", type=int, default=10, metavar="N", help="rows to show (default: 10)"),
            argument("-o", "--output", metavar="VAR", help="variable that gets all rows"),
        ),
        ("%argus results big_transfers --limit 20", "%argus results big_transfers --changes --since 3"),
    ),
    Command(
        "windows",
        "List the instants of a windowed query, and where its windows were.",
        windows,
        (
            argument("query", metavar="QUERY", completes="query", help="its name"),
            argument("--limit", type=int, default=10, metavar="N", help="rows to show (default: 10)"),
        ),
        ("%argus windows last_week",),
    ),
    Command("queries", "List the queries and how much each shares.", queries, (), ("%argus queries",)),
    Command("streams", "List the streams and how far each has been read.", streams, (), ("%argus streams",)),
    Command(
        "plan",
        "Draw the query network; with a query, stress what that query is computed by.",
        plan,
        (
            argument("query", nargs="?", metavar="QUERY", completes="query", help="the query to stress"),
            argument("--full", action="store_true", help="draw every node of a large network"),
        ),
        ("%argus plan", "%argus plan big_transfers"),
    ),
    Command(
        "explain",
        "Say what a query shares with which others, what is new, and why.",
        explain,
        (argument("query", metavar="QUERY", completes="query", help="its name"),),
        ("%argus explain big_transfers",),
    ),
    Command(
        "timings",
        "Show where the time of the last batches went.",
        timings,
        (argument("--batches", type=int, default=10, metavar="N", help="how many of the last (default: 10)"),),
        ("%argus timings", "%argus timings --batches 1"),
    ),
)
