"""The commands that show where the time of the last batches went, compare it with the plan, and plan again."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from workbench.engine.node_times import off_by
from workbench.engine.reports import BatchReport, operator_totals
from workbench.explain.critical_path import critical_path
from workbench.explain.describe import NetworkView
from workbench.explain.text import milliseconds, short
from workbench.notebook.command_line import argument, command, natural_number
from workbench.notebook.context import NotebookContext
from workbench.notebook.display import Shown, plain, show, table, together

if TYPE_CHECKING:
    from workbench.session.session import Session

SLOWEST = 10
"""Operators listed in the timings."""
GONE = "an operator that is gone"
"""The caption of a node without readers."""
_BAR = 20
"""Characters of a bar that stands for all of a batch's time."""


@command(
    "timings",
    argument("--batches", type=natural_number, default=10, metavar="N", help="the last N batches (default: 10)"),
    argument("--observed", action="store_true", help="compare the expected rows of each node with the observed ones"),
    examples=("%argus timings", "%argus timings --batches 1", "%argus timings --observed"),
)
def timings(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Show where the time of the last batches went."""
    if arguments.observed:
        show_observed(context.session)
    else:
        show_timings(context.session, arguments.batches)


@command(
    "reoptimize",
    argument("--dry-run", action="store_true", help="show the new plan; change nothing"),
    examples=("%argus reoptimize --dry-run", "%argus reoptimize"),
)
def reoptimize(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Plan all queries again with the sizes that batches have shown, and change the network if that is cheaper."""
    show(str(context.session.reoptimize(dry_run=arguments.dry_run)))


def show_timings(session: Session, batches: int) -> None:
    """Tables of the last batches, of their operators, and of the nodes where a batch was profiled."""
    reports = session.reports[-max(1, batches) :]
    if not reports:
        show("no batch was run yet; %argus run")
        return
    longest = plain(longest_chain(reports[-1], session.network))
    tables = [_by_batch(reports, session.network), longest, _by_operator(reports, session)]
    profile = next((report for report in reversed(reports) if any(o.alone for o in report.operators)), None)
    tables += _by_node(reports[-1], session.network)
    if profile is not None:
        tables += [nodes_table(profile, session.network), plain(_checked(profile))]
    show(together(*tables))


def show_observed(session: Session) -> None:
    """A table of the nodes whose rows were expected worst: from statistics, from what batches showed, and as it was."""
    observed = session.observed()
    if observed.empty:
        show("nothing was observed yet; %argus run")
        return
    worst = observed.sort_values(["q_learnt", "q_predicted"], ascending=False)[:SLOWEST]
    rows = [
        [
            _caption(node.node, session.network),
            *(f"{number:,.1f}" for number in (node.predicted, node.learnt)),
            f"{node.actual:,}",
            *(f"{number:,.1f}" for number in (node.q_predicted, node.q_learnt)),
            milliseconds(node.seconds),
        ]
        for node in worst.itertuples()
    ]
    medians = [f"{observed[name].median():,.2f}" for name in ("q_predicted", "q_learnt")]
    which = f"the {len(rows)} worst of {len(observed):,} nodes" if len(observed) > len(rows) else "nodes"
    title = f"{which} in batch {session.batch}; median q-error {medians[0]} from statistics, {medians[1]} learnt"
    show(table(["node", "predicted", "learnt", "rows", "q predicted", "q learnt", "its operator"], rows, title))


def _by_batch(reports: Sequence[BatchReport], network: NetworkView) -> Shown:
    longest = max(report.seconds for report in reports)
    rows = [
        [
            str(report.batch),
            f"{report.rows:,}",
            milliseconds(report.seconds),
            _bar(report.seconds, longest),
            _caption(max(report.operators, key=lambda o: o.seconds).root, network) if report.operators else "",
        ]
        for report in reports
    ]
    return table(["batch", "rows", "time", "", "slowest operator"], rows, "batches")


def longest_chain(report: BatchReport, network: NetworkView) -> str:
    """The critical path of a batch, and that the operators' times add up to more."""
    path = critical_path(report, network.nodes)
    if not path:
        return f"batch {report.batch} took {milliseconds(report.seconds)}; no operator had rows to read"
    chain = " → ".join(_caption(operator.root, network) for operator in path)
    work, waited = (milliseconds(sum(o.seconds for o in some)) for some in (report.operators, path))
    known = [operator.here for operator in report.operators if operator.here is not None]
    few = f"; few rows changed in {sum(known)} of {len(known)} operators, which needed no job of Spark" if known else ""
    return (
        f"batch {report.batch} took {milliseconds(report.seconds)}; its operators overlap, and took {work} in all, "
        f"{waited} of them one after the other: {chain}{few}"
    )


def _by_operator(reports: Sequence[BatchReport], session: Session) -> Shown:
    totals = operator_totals(reports)
    rows = [
        [
            _caption(total.last.root, session.network),
            str(len(total.last.nodes)),
            f"{total.rows_in:,}",
            f"{total.rows_out:,}",
            f"{session.kept(total.last.root)[0]:,}",
            milliseconds(total.seconds),
            _bar(total.share, 1),
        ]
        for total in totals[:SLOWEST]
    ]
    count = f"the {len(rows)} slowest of {len(totals)} operators" if len(totals) > len(rows) else "operators"
    over = f"batch {reports[0].batch}" if len(reports) == 1 else f"batches {reports[0].batch} to {reports[-1].batch}"
    return table(["operator", "nodes", "rows in", "rows out", "kept", "time", ""], rows, f"{count}, {over}")


def _by_node(report: BatchReport, network: NetworkView) -> list[Shown]:
    """The nodes of a batch that cost most, by the estimate that shares out what they cost together."""
    shared = [operator for operator in report.operators if len(operator.nodes) > 1 and operator.microseconds]
    nodes = [(report.node(id_), operator) for operator in shared for id_ in operator.nodes]
    slowest = sorted(nodes, key=lambda node: -(node[0].seconds or 0.0))[:SLOWEST]
    if not slowest:
        return []
    rows = [
        [
            _caption(node.id, network),
            f"{node.rows_out:,}",
            f"≈ {milliseconds(node.seconds or 0.0)}",
            f"{milliseconds(operator.seconds)} for {len(operator.nodes):,}",
        ]
        for node, operator in slowest
    ]
    which = f"the {len(rows)} dearest of {len(nodes):,} nodes" if len(nodes) > len(rows) else "nodes"
    title = (
        f"{which} that share an operator in batch {report.batch}: its time, shared out by the rows that each read, "
        "tested and kept (an estimate; %argus run --profile measures)"
    )
    return [table(["node", "rows out", "estimate", "its operator"], rows, title)]


def _checked(profile: BatchReport) -> str:
    """How far the estimates of a profiled batch are from what was measured of each node alone."""
    factors = [
        (off_by(operator.microseconds, operator.alone), len(operator.alone))
        for operator in profile.operators
        if len(operator.alone) > 1 and operator.microseconds
    ]
    if not factors:
        return f"no operator of batch {profile.batch} has several nodes whose estimates could be checked"
    nodes = sum(number for _, number in factors)
    mean = prod(factor ** (number / nodes) for factor, number in factors)
    return (
        f"the estimates of batch {profile.batch} are off what was measured by a factor of {mean:.1f} in the mean of "
        f"{nodes:,} nodes, {max(factors)[0]:.1f} in the worst operator"
    )


def nodes_table(report: BatchReport, network: NetworkView) -> Shown:
    """The nodes of a batch that was profiled, those first that cost most alone."""
    nodes = [(seconds, id_, operator) for operator in report.operators for id_, seconds in operator.alone.items()]
    slowest = sorted(nodes, key=lambda node: -node[0])[:SLOWEST]
    rows = [
        [
            _caption(id_, network),
            f"{operator.node_rows[id_]:,}",
            milliseconds(seconds),
            f"{milliseconds(operator.together)} for {len(operator.nodes):,}",
        ]
        for seconds, id_, operator in slowest
    ]
    alone, shared = sum(seconds for seconds, _, _ in nodes), sum(o.together for o in report.operators)
    which = f"the {len(rows)} slowest of {len(nodes):,} nodes" if len(nodes) > len(rows) else "nodes"
    title = (
        f"{which} in batch {report.batch}, each as if the others had no readers: "
        f"{milliseconds(alone)} one by one, {milliseconds(shared)} in shared operators, once planned"
    )
    return table(["node", "rows out", "alone", "its operator"], rows, title)


def _caption(node: str, network: NetworkView) -> str:
    """The caption of a node, or of the operator of which it is the root, unless it is gone."""
    known = {each.id: each for each in network.nodes}
    return short(" ".join(known[node].caption), 60) if node in known else GONE


def _bar(part: float, whole: float) -> str:
    return "█" * round(_BAR * part / whole) if whole else ""
