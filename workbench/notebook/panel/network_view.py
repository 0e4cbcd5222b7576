"""The network view: a drawing to walk in, whose numbers follow the batches without a new layout."""

from __future__ import annotations

from typing import Any

from workbench.explain.describe import NetworkView
from workbench.explain.dot import rows_out, rows_through, to_live_dot
from workbench.explain.node_view import SYMBOLS, NodeView
from workbench.explain.visible import visible
from workbench.network.network import Network
from workbench.notebook.display import Shown
from workbench.notebook.drawing import picture, render_svg
from workbench.notebook.panel.view import View
from workbench.notebook.panel.widgets import NetworkWidget

BATCHES = 60
"""Batches in a node's charts."""


class PlanView(View):
    """The shared query network."""

    title = "Network"
    widget: NetworkWidget

    def build(self) -> NetworkWidget:
        """The widget, with handlers for what is chosen in it."""
        self._drawn: tuple[Network | None, str, tuple[str, ...]] = (None, "", ())
        widget = NetworkWidget()
        widget.observe(lambda change: self.refresh(), ["focus", "toggled"])
        widget.observe(lambda change: self._series(), ["selected"])
        return widget

    def refresh(self) -> None:
        """A new drawing when the network or what is to be seen of it has changed; the numbers in any case."""
        network, widget = self.session.network, self.widget
        if widget.focus not in network.results:
            widget.focus = ""
        version = (network.network, widget.focus, tuple(widget.toggled))
        with widget.hold_sync():
            if version != self._drawn:
                self._draw(network)
                self._drawn = version
            widget.numbers = numbers(network)
        self._series()

    def focus(self, query: str) -> None:
        """Show a query's nodes alone.

        Raises:
            QueryError: there is no such query.
        """
        self.widget.focus = self.session.query(query).name

    def twin(self) -> Shown:
        """The drawing as an analyst sees it, with the numbers of the last batch."""
        return picture(self.session.network, self.widget.focus or None)

    def _draw(self, network: NetworkView) -> None:
        widget, focus = self.widget, self.widget.focus or None
        shown = visible(network, focus, toggled=widget.toggled)
        boxes: dict[str, str] = {}
        for tree in shown.trees:
            boxes.update((node.id, node.id) for node in tree.shown)
            boxes.update((node.id, tree.root if tree.closed else f"rest {tree.root}") for node in tree.counted)
        widget.names = list(network.results)
        widget.nodes = details(network)
        widget.boxes = boxes
        widget.drawing = render_svg(to_live_dot(network, focus, widget.toggled))

    def _series(self) -> None:
        """The chosen node over the last batches."""
        chosen, reports = self.widget.selected, self.session.reports[-BATCHES:]
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


def details(network: NetworkView) -> dict[str, dict[str, Any]]:
    """What is known of each node, as plain data for the browser."""
    place = {name: i for i, name in enumerate(network.results)}
    sizes: dict[str, int] = {}
    for node in network.nodes:
        sizes[node.root] = sizes.get(node.root, 0) + 1
    return {node.id: _detail(network, node, place, sizes[node.root]) for node in network.nodes}


def _detail(network: NetworkView, node: NodeView, place: dict[str, int], tree: int) -> dict[str, Any]:
    return {
        "id": node.id,
        "kind": node.kind,
        "sign": SYMBOLS[node.operator],
        "sql": node.sql,
        "label": list(node.label),
        "parents": list(dict.fromkeys(node.parents)),
        "root": node.root,
        "tree": tree,
        "queries": [place[name] for name in node.queries],
        "columns": [f"{name} {type_}" for name, type_ in network.columns(node.id).items()],
    }


def numbers(network: NetworkView) -> dict[str, Any]:
    """Rows of each node and seconds of each tree in the last batch, and of each node alone if it was profiled."""
    report = network.last_report
    if report is None:
        return {}
    worked, out = {id_ for operator in report.operators for id_ in operator.nodes}, rows_out(report)
    return {
        "batch": report.batch,
        "rows": {node.id: list(rows_through(out, node)) for node in network.nodes if node.id in worked},
        "seconds": {id_: operator.seconds for operator in report.operators for id_ in operator.nodes},
        "alone": {id_: seconds for operator in report.operators for id_, seconds in operator.alone.items()},
    }
