"""Sharing decisions of one query, step by step: shared nodes and their queries, candidates, and savings."""

from __future__ import annotations

from html import escape

import ipywidgets

from workbench.explain.explanation import ExplanationView, headline, is_shared, node_title, rule_text, sign, status, why
from workbench.explain.text import counted, listed, milliseconds
from workbench.notebook.display import Shown, explained
from workbench.notebook.panel.markup import grid, marked, tag
from workbench.notebook.panel.view import View
from workbench.notebook.panel.widgets import ListWidget, QueryChooser, html_box
from workbench.session.query import Query
from workbench.sharing.decisions import NEAR_MISS, Decision


class SharingView(View):
    """The decisions for the chosen query."""

    title = "Sharing decisions"

    def build(self) -> ipywidgets.Widget:
        """The query, its steps at the left, the chosen step at the right."""
        self.chooser = QueryChooser(self.session, self.choice, self._chosen)
        self.step_list = ListWidget(columns=["", "step", "node", "", "with"], label="steps", height="300px")
        self._head, self._step = html_box(), html_box()
        self.step_list.observe(lambda change: self._show(), "selected")
        layout = {"grid_template_columns": "minmax(0, 2fr) minmax(0, 3fr)", "grid_gap": "12px"}
        return ipywidgets.VBox(
            [self.chooser.widget, self._head, ipywidgets.GridBox([self.step_list, self._step], layout=layout)]
        )

    def refresh(self) -> None:
        """The queries to choose from, and the measured rows and time of the step."""
        self.chooser.refresh()
        self._steps()

    def static_view(self) -> Shown:
        """The explanation of the chosen query, or of the last one."""
        query = self.chooser.query or next(reversed(list(self.session.queries.values())), None)
        if query is None:
            return Shown("no queries yet", "<p>no queries yet</p>")
        return explained(self._explanation(query))

    def _explanation(self, query: Query) -> ExplanationView:
        """The decisions of a query; of the queries that it shares with, only those that are still registered."""
        return query.explain().among(self.session.queries)

    def _chosen(self) -> None:
        self.step_list.selected = ""
        self._steps()

    def _steps(self) -> None:
        query = self.chooser.query
        if query is None:
            return
        explanation = self._explanation(query)
        decisions = explanation.decisions
        self.step_list.rows = [
            {
                "key": decision.node,
                "cells": [
                    sign(decision.node, decision.operator),
                    str(i),
                    f'<span style="white-space:normal">{escape(node_title(decision))}</span>',
                    tag(status(decision), "good" if is_shared(decision) else ""),
                    escape(listed(decision.shared_with)) if is_shared(decision) else "",
                ],
            }
            for i, decision in enumerate(decisions, start=1)
        ]
        notes = "".join(f"<li>{escape(note)}</li>" for note in explanation.notes)
        self._head.value = f"<p>{escape(headline(explanation))}. {self._saved(query)}</p>" + (
            f"<ul>{notes}</ul>" if notes else ""
        )
        if self.step_list.selected not in {decision.node for decision in decisions} and decisions:
            shared = [decision.node for decision in decisions if is_shared(decision)]
            self.step_list.selected = shared[-1] if shared else decisions[0].node
        self._show()

    def _show(self) -> None:
        query = self.chooser.query
        decisions = self._explanation(query).decisions if query is not None else ()
        chosen = next((d for d in decisions if d.node == self.step_list.selected), None)
        self._step.value = f'<div class="fixed">{self._details(query, chosen)}</div>' if query and chosen else ""

    def _details(self, query: Query, decision: Decision) -> str:
        by = f", {why(decision)}" if why(decision) else ""
        head = f"<h3>{sign(decision.node, decision.operator)} {escape(node_title(decision) + by)}</h3>"
        reason = f"<p>{escape(decision.reason)}</p>" if decision.reason else ""
        return head + reason + self._texts(query, decision) + _candidates(decision) + self._measured(decision)

    def _texts(self, query: Query, decision: Decision) -> str:
        """The text of the query next to the text of the first query that shares the node; the part that the node
        computes is marked.
        """
        computes = f"<h4>The node computes</h4><pre>{escape(decision.operator)}</pre>"
        partner = next((self.session.queries[n] for n in decision.shared_with if n in self.session.queries), None)
        if partner is None or not is_shared(decision):
            return computes
        left, right = (marked(text.strip(), decision.operator) for text in (query.sql, partner.sql))
        titled = ((query.name, left), (partner.name, right))
        sides = "".join(f"<div><h4>{escape(name)}</h4><pre>{text}</pre></div>" for name, text in titled)
        return f'{computes}<div class="sides">{sides}</div>'

    def _saved(self, query: Query) -> str:
        """What sharing saved in the last batch, as measured: trees that ran once for several queries."""
        report, network = self.session.network.last_report, self.session.network
        if report is None:
            return ""
        shared = {d.node for d in query.explain().decisions if is_shared(d)}
        trees = [o for o in report.operators if shared & set(o.nodes)]
        if not trees:
            return ""
        rows = sum(report.node(id_).rows_out for id_ in shared)
        serve = max(len(network.node(id_).queries) for o in trees for id_ in shared & set(o.nodes))
        return (
            f"In batch {report.batch} its shared nodes kept {counted(rows, 'row')}, in trees that took "
            f"{milliseconds(sum(o.seconds for o in trees))} once for up to {serve} queries"
        )

    def _measured(self, decision: Decision) -> str:
        """Rows and time of the node in the last batch."""
        report, network = self.session.network.last_report, self.session.network
        known = {node.id: node for node in network.nodes}
        if report is None or decision.node not in known:
            return ""
        node, measured = known[decision.node], report.node(decision.node)
        operator = report.operator_of(decision.node)
        seconds = 0.0 if operator is None else operator.seconds
        served = counted(len(node.queries), "query", "queries")
        return (
            f"<h4>Measured in batch {report.batch}</h4>"
            f"<p>{counted(measured.rows_out, 'row')}, {milliseconds(seconds)} for its tree, once for {served}</p>"
        )


def _candidates(decision: Decision) -> str:
    """The other candidates for the node, and why they lost."""
    rows = [
        [
            tag("chosen", "good") if c.chosen else tag("near miss" if c.rule == NEAR_MISS else "lost"),
            f'<span style="white-space:normal">{escape(node_title(c))}</span>',
            escape(rule_text(c.rule)),
            "" if c.cost is None else f"{c.cost:,.0f}",
            f'<span style="white-space:normal">{escape(c.reason)}</span>',
        ]
        for c in dict.fromkeys(decision.candidates)
    ]
    columns = ["", "candidate", "rule", "rows to test", "why"]
    return f'<h4>Considered</h4><div class="scroll">{grid(columns, rows, numbers=(3,))}</div>' if rows else ""
