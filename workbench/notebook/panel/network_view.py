"""The network view: a drawing to walk in, whose numbers follow the batches without a new layout."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.engine.reports import BatchReport
from workbench.explain.describe import NetworkView
from workbench.explain.dot import rows_out, rows_through, to_live_dot
from workbench.explain.edge_loads import edge_loads, row_bytes
from workbench.explain.node_view import SYMBOLS, NodeView
from workbench.explain.visible import is_crowded, visible
from workbench.network.network import Network
from workbench.notebook.display import Shown
from workbench.notebook.drawing import picture, render_svg
from workbench.notebook.panel.view import View
from workbench.notebook.panel.widgets import NetworkWidget

_BATCHES = 60
"""Batches in a node's charts."""


class PlanView(View):
    """The shared query network."""

    title = "Network"
    widget: NetworkWidget

    def build(self) -> NetworkWidget:
        """The widget, with handlers for what is chosen in it."""
        self._drawn: tuple[Network | None, tuple[str, ...], tuple[str, ...]] = (None, (), ())
        self._proposed: list[str] | None = []
        widget = NetworkWidget()
        widget.observe(lambda change: self._choose(change["new"]), ["focus"])
        widget.observe(lambda change: self.refresh(), ["toggled", "at"])
        widget.observe(lambda change: self._series(), ["selected"])
        return widget

    def refresh(self) -> None:
        """A new drawing when the network or what is to be seen of it has changed; the numbers in any case."""
        network, widget = self.session.network, self.widget
        left = [name for name in widget.focus if name in network.results]
        if self._proposed is not None or (widget.focus and not left):
            left = self._proposed = self._proposal(network)
        if left != widget.focus:
            widget.focus = left
        version = (network.network, tuple(widget.focus), tuple(widget.toggled))
        with widget.hold_sync():
            if version != self._drawn:
                self._draw(network)
                self._drawn = version
            widget.numbers = numbers(network, self._shown_report())
        self._series()

    def _shown_report(self) -> BatchReport | None:
        """That of the batch which the analyst looks at, else of the last; the session may have gone back behind it."""
        widget, reports = self.widget, {report.batch: report for report in self.session.reports}
        widget.batches = [min(reports, default=0), max(reports, default=0)]
        if widget.at not in reports:
            widget.at = 0
        return reports.get(widget.at or widget.batches[1])

    def focus(self, *queries: str) -> None:
        """Show the nodes of some queries alone; of all queries when none is named.

        Raises:
            QueryError: there is no such query.
        """
        self._draw_alone([self.session.query(query).name for query in queries])

    def static_view(self) -> Shown:
        """The drawing as an analyst sees it, with the numbers of the last batch."""
        network = self.session.network
        drawn = [name for name in self.widget.focus if name in network.results]
        return picture(network, focus=drawn or self._proposal(network) or None)

    def _choose(self, queries: list[str]) -> None:
        """The focus has changed, by hand unless it is what the view proposed."""
        if self._proposed != queries:
            self._draw_alone(queries)

    def _draw_alone(self, queries: list[str]) -> None:
        self._proposed = None
        self.widget.focus = queries
        self.refresh()

    def _proposal(self, network: NetworkView) -> list[str]:
        """All queries while their nodes are few, else the one that the other views look at, or the newest."""
        if not is_crowded(network):
            return []
        chosen = self.choice.query
        return [chosen if chosen in network.results else [*network.results][-1]]

    def _draw(self, network: NetworkView) -> None:
        widget = self.widget
        queries = self.session.queries
        registered = {name: queries[name].registered for name in network.results if name in queries}
        widget.names = list(network.results)
        widget.nodes = details(network, registered)
        widget.boxes = visible(network, widget.focus, toggled=widget.toggled).boxes
        widget.drawing = render_svg(to_live_dot(network, widget.focus, widget.toggled))

    def _series(self) -> None:
        """The chosen node over the last batches."""
        chosen, reports = self.widget.selected, self.session.reports[-_BATCHES:]
        if chosen not in self.widget.nodes:
            return
        root = self.widget.nodes[chosen]["root"]
        operators = [report.operator_of(chosen) for report in reports]
        self.widget.series = {
            "node": chosen,
            "batches": [report.batch for report in reports],
            "rows": [report.node(chosen).rows_out for report in reports],
            "seconds": [0.0 if operator is None else operator.seconds for operator in operators],
            "kept": self.session.kept(root),
        }


def details(network: NetworkView, registered: Mapping[str, int]) -> dict[str, dict[str, Any]]:
    """The details of each node, as plain data for the browser.

    Args:
        network: its nodes.
        registered: the batch after which each query was registered; a node is as old as the first of its queries.
    """
    place = {name: i for i, name in enumerate(network.results)}
    sizes: dict[str, int] = {}
    for node in network.nodes:
        sizes[node.root] = sizes.get(node.root, 0) + 1
    return {
        node.id: {
            **_detail(network, node, sizes[node.root]),
            "queries": [place[name] for name in node.queries],
            "since": min((registered[name] for name in node.queries if name in registered), default=0),
        }
        for node in network.nodes
    }


def _detail(network: NetworkView, node: NodeView, tree: int) -> dict[str, Any]:
    return {
        "id": node.id,
        "kind": node.kind,
        "name": node.name,
        "sign": SYMBOLS[node.operator],
        "sql": node.sql,
        "label": list(node.label),
        "parents": list(dict.fromkeys(node.parents)),
        "root": node.root,
        "tree": tree,
        "columns": [f"{name} {type_}" for name, type_ in network.columns(node.id).items()],
    }


def numbers(network: NetworkView, report: BatchReport | None) -> dict[str, Any]:
    """Rows of nodes and seconds of trees in a batch, seconds of nodes alone if it was profiled, and what passed along
    edges, by child and then by parent.
    """
    if report is None:
        return {}
    widths = {node.id: row_bytes(map(str, network.columns(node.id).values())) for node in network.nodes}
    edges: dict[str, dict[str, list[float]]] = {}
    for (parent, child), load in edge_loads(report, network.nodes, widths).items():
        edges.setdefault(child, {})[parent] = list(load)
    worked, out = {id_ for operator in report.operators for id_ in operator.nodes}, rows_out(report)
    return {
        "batch": report.batch,
        "rows": {node.id: list(rows_through(out, node)) for node in network.nodes if node.id in worked},
        "seconds": {id_: operator.seconds for operator in report.operators for id_ in operator.nodes},
        "alone": {id_: seconds for operator in report.operators for id_, seconds in operator.alone.items()},
        "edges": edges,
    }
