"""Costs of queries: the command that compares them, and the forecast for a query that is not registered yet."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from workbench.explain.describe import NetworkView
from workbench.explain.kept_state import memory_text
from workbench.explain.query_costs import QueryCost, query_costs, shown_totals
from workbench.explain.text import counted, milliseconds
from workbench.network.network import Network
from workbench.notebook.command_line import argument, command, natural_number
from workbench.notebook.context import NotebookContext
from workbench.notebook.display import plain, show, table, together

if TYPE_CHECKING:
    from workbench.session.session import Session

_BAR = 20
"""Characters of a bar that stands for all of the operators' time."""


@command(
    "costs",
    argument("--batches", type=natural_number, default=10, metavar="N", help="the last N batches (default: 10)"),
    argument("--limit", type=natural_number, default=10, metavar="N", help="queries to show (default: 10)"),
    examples=("%argus costs", "%argus costs --batches 1 --limit 50"),
)
def costs(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Show which queries cost most, and how much dropping one would save."""
    session, network = context.session, context.session.network
    if not session.reports or not network.results:
        show("no batch was run yet; %argus run" if not session.reports else "no queries yet")
        return
    worked = [report for report in session.reports if any(operator.seconds for operator in report.operators)]
    reports = worked[-max(1, arguments.batches) :]
    if not reports:
        show("no batch has brought rows to a query yet; %argus run")
        return
    found = query_costs(reports, network)
    whole = sum(cost.seconds for cost in found) or 1.0
    rows = [
        [
            cost.query,
            milliseconds(cost.seconds),
            "█" * round(_BAR * cost.seconds / whole),
            f"{cost.nodes:,}",
            f"{len(cost.own_nodes):,}",
            f"{kept_rows(session, cost):,}",
            milliseconds(cost.saved),
        ]
        for cost in found[: max(1, arguments.limit)]
    ]
    which = f"the {len(rows)} costliest of {len(found):,} queries" if len(found) > len(rows) else "queries"
    first, last = reports[0].batch, reports[-1].batch
    over = f"batch {first}" if first == last else f"batches {first} to {last}"
    columns = ["query", "time", "", "nodes", "read by it alone", "rows these keep", "saved if dropped"]
    title = f"{which}, a batch, over {over}; the time of an operator is divided among the queries it works for"
    said = [changing(network, cost.query) for cost in found[: max(1, arguments.limit)]]
    show(together(table(columns, rows, title), plain("\n".join([dropping(session, found), *filter(None, said)]))))


@command("strategies", examples=("%argus strategies",))
def strategies(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Compare sharing-selection, match-plan and no sharing at all for the registered queries; nothing changes."""
    session = context.session
    if not session.queries:
        show("no queries yet")
        return
    plans = session.compare_strategies()
    alone = plans[-1].cost
    rows = [
        [
            plan.strategy,
            f"{plan.nodes:,}",
            f"{plan.joins:,}",
            f"{plan.weighted_size:,}",
            f"{plan.cost:,.0f}",
            f"{1 - plan.cost / alone:.0%}" if alone else "",
            milliseconds(plan.seconds),
        ]
        for plan in plans
    ]
    columns = ["strategy", "nodes", "joins", "weighted size", "rows a batch looks at", "less than unshared", "planning"]
    own = session.options.strategy
    how_many = counted(len(session.queries), "query", "queries")
    title = f"{how_many} planned anew in the order of registration, predicted; this session has {own}"
    show(
        together(table(columns, rows, title), plain("%argus experiment sharing measures the strategies on query sets"))
    )


def dropping(session: Session, found: list[QueryCost]) -> str:
    """Which query saves most when it is dropped, in a sentence."""
    most = max(found, key=lambda cost: cost.saved)
    if not most.saved and any(cost.own_nodes for cost in found):
        return "nothing that only one query needs took time in these batches"
    if not most.saved:
        return "every operator works for several queries: dropping one query saves next to nothing"
    return (
        f"dropping {most.query} saves most: {milliseconds(most.saved)} of "
        f"{milliseconds(sum(cost.seconds for cost in found))} of the operators, "
        f"{counted(len(most.own_nodes), 'node')} and {counted(kept_rows(session, most), 'row')} kept; "
        f"%argus drop {most.query}"
    )


def changing(network: NetworkView, query: str) -> str:
    """That each batch changes all rows of a query, in a sentence, where they show a total; else nothing."""
    joins = shown_totals(network, query)
    if not joins:
        return ""
    return (
        f"{query} shows a total in every row of {', '.join(joins)}: "
        "all these rows change in each batch that changes the total"
    )


def kept_rows(session: Session, cost: QueryCost) -> int:
    """Stored rows that only one query needs."""
    return sum(session.kept(root)[0] for root in cost.own_trees)


def what_if(session: Session, preview: NetworkView, name: str) -> str:
    """The predicted effect of a query: new nodes, the cost of a batch, the savings of sharing, and its memory.

    Args:
        session: as it is.
        preview: its network with the query.
        name: of the query.
    """
    after = preview.network
    own = preview.ancestors(name) if name in preview.results else frozenset()
    lines = [f"nodes: {len(session.network.work()):,} before, {len(preview.work()):,} after"]
    if own:
        alone = NetworkView(Network({id_: node for id_, node in after.nodes.items() if id_ in own}))
        networks = (_of_others(session.network, name), preview, alone)
        others, whole, costs = (session.batch_cost(network) for network in networks)
        # What the query adds may cost less than nothing: others may read what it has computed.
        more = min(costs, max(0.0, whole - others))
        part = f" ({(costs - more) / costs:.0%})" if costs else ""
        replaced = ", without the query that it replaces" if name in session.network.results else ""
        lines.append(
            f"a batch, predicted: {_time(session, more)} on top{replaced}; "
            f"alone the query would take {_time(session, costs)}, so sharing saves {_time(session, costs - more)}{part}"
        )
        lines += filter(None, [memory_text(session.memory(name, preview)), changing(preview, name)])
    return "\n".join(lines)


def _of_others(view: NetworkView, name: str) -> NetworkView:
    """A network without the nodes that only one query needs."""
    if name not in view.results:
        return view
    needed = frozenset(id_ for other in view.results if other != name for id_ in view.ancestors(other))
    return NetworkView(Network({id_: node for id_, node in view.network.nodes.items() if id_ in needed}))


def _time(session: Session, cost: float) -> str:
    """A predicted cost in time, at the rate of the last batch; in rows if no batch was run."""
    whole = session.batch_cost(session.network)
    if not session.reports or not whole:
        return f"{counted(round(cost), 'row')} to look at"
    return f"about {milliseconds(session.reports[-1].seconds * cost / whole)}"
