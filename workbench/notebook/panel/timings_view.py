"""Timings: where the time of the last batches went, operator by operator."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import ipywidgets

from workbench.explain.describe import NetworkView
from workbench.explain.text import short
from workbench.notebook.display import Shown, milliseconds, table
from workbench.notebook.panel.markup import grid, sparkline
from workbench.notebook.panel.view import View
from workbench.notebook.panel.widgets import html_box
from workbench.notebook.replay_status import running_batch

if TYPE_CHECKING:
    from workbench.engine.reports import BatchReport

BATCHES = 30
"""Batches in the chart."""
SHOWN = 6
"""Operators with a colour of their own; the others are one."""
COLOURS = ("#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#edc948", "#76b7b2", "#9aa3ab")
"""Told apart by their letters too."""
WIDTH, HEIGHT = 720, 180


class TimingsView(View):
    """Time and rows by batch, and the slowest operators."""

    title = "Timings"

    def build(self) -> ipywidgets.Widget:
        """One piece of HTML that keeps its height."""
        return html_box()

    def refresh(self) -> None:
        """The charts anew."""
        self.widget.value = f'<div class="fixed">{self._running()}{self._html()}</div>'

    def twin(self) -> Shown:
        """The charts, and the operators as text."""
        reports = self.session.reports[-BATCHES:]
        if not reports:
            return Shown("no batch was run yet", "<p>no batch was run yet</p>")
        names = _names(self.session.network)
        rows = [
            [names.get(name, name), f"{self.session.kept(name)[0]:,}", milliseconds(seconds), f"{share:.0%}"]
            for name, seconds, share in _slowest(reports)
        ]
        return Shown(table(["operator", "kept", "time", "share"], rows).text, self._html())

    def _running(self) -> str:
        running = escape(running_batch(self.player.position)) or "no batch is running"
        return f'<p class="argus-faint" role="status">{running}</p>'

    def _html(self) -> str:
        reports = self.session.reports[-BATCHES:]
        if not reports:
            return "<p>No batch was run yet.</p>"
        names, slowest = _names(self.session.network), _slowest(reports)
        operators = [name for name, _, _ in slowest[:SHOWN]]
        rows = [
            [
                f'<svg width="22" height="14"><rect width="22" height="14" fill="{_colour(operators, name)}"/>'
                f'<text x="11" y="11" text-anchor="middle">{_letter(operators, name)}</text></svg>',
                escape(names.get(name, name)),
                str(next(len(o.nodes) for r in reversed(reports) for o in r.operators if o.name == name)),
                f"{self.session.kept(name)[0]:,}",
                milliseconds(seconds),
                f"{share:.0%}",
                sparkline([_seconds(report, name) * 1000 for report in reports], "ms"),
            ]
            for name, seconds, share in slowest[:12]
        ]
        arrived = sparkline([report.rows for report in reports], "rows by batch", 160)
        return (
            f"<h4>Time of each batch, by operator</h4>{_stacked(reports, operators)}"
            f"<p>Rows that arrived: {arrived} last {reports[-1].rows:,}</p>"
            f"<h4>Slowest operators of batches {reports[0].batch} to {reports[-1].batch}</h4>"
            + grid(["", "operator", "nodes", "rows kept", "time", "share", "by batch"], rows, numbers=(2, 3, 4, 5))
        )


def _stacked(reports: Sequence[BatchReport], operators: Sequence[str]) -> str:
    """Bars of stacked operators; trees overlap, so a bar may be longer than its batch took, which the line tells."""
    sums = [sum(o.seconds for o in report.operators) for report in reports]
    most = max([*sums, *(report.seconds for report in reports)]) or 1
    each = WIDTH / BATCHES
    marks = []
    for i, report in enumerate(reports):
        at = float(HEIGHT)
        for name in [*operators, None]:
            seconds = (
                _seconds(report, name)
                if name is not None
                else sum(o.seconds for o in report.operators if o.name not in operators)
            )
            high = HEIGHT * seconds / most
            at -= high
            if high < 0.5:
                continue
            title = f"batch {report.batch}: {milliseconds(seconds)}, {_letter(operators, name)}"
            marks.append(
                f'<rect x="{i * each:.1f}" y="{at:.1f}" width="{each - 2:.1f}" height="{high:.1f}" '
                f'fill="{_colour(operators, name)}"><title>{title}</title></rect>'
            )
            if high > 13 and each > 14:
                marks.append(
                    f'<text x="{(i + 0.5) * each - 1:.1f}" y="{at + high / 2 + 4:.1f}" text-anchor="middle">'
                    f"{_letter(operators, name)}</text>"
                )
        wall = HEIGHT - HEIGHT * report.seconds / most
        marks.append(
            f'<path d="M{i * each:.1f} {wall:.1f}h{each - 2:.1f}" stroke="currentColor" stroke-width="2">'
            f"<title>batch {report.batch} took {milliseconds(report.seconds)}</title></path>"
        )
        if i % max(1, len(reports) // 10) == 0:
            marks.append(f'<text x="{i * each:.1f}" y="{HEIGHT + 14}">{report.batch}</text>')
    legend = f"up to {milliseconds(most)}; the line is what the batch took, operators overlap"
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT + 18}" style="max-width:{WIDTH}px; width:100%" role="img" '
        f'aria-label="time of each batch, stacked by operator">{"".join(marks)}'
        f'<path class="axis" d="M0 {HEIGHT}h{WIDTH}"/></svg><p class="argus-faint">{legend}</p>'
    )


def _seconds(report: BatchReport, name: str) -> float:
    return sum(operator.seconds for operator in report.operators if operator.name == name)


def _slowest(reports: Sequence[BatchReport]) -> list[tuple[str, float, float]]:
    """Operators with their time in all batches and their share of it, the slowest first."""
    sums: dict[str, float] = {}
    for operator in (o for report in reports for o in report.operators):
        sums[operator.name] = sums.get(operator.name, 0.0) + operator.seconds
    whole = sum(sums.values()) or 1
    return [(name, seconds, seconds / whole) for name, seconds in sorted(sums.items(), key=lambda item: -item[1])]


def _letter(operators: Sequence[str], name: str | None) -> str:
    return "ABCDEF"[operators.index(name)] if name in operators else "…"


def _colour(operators: Sequence[str], name: str | None) -> str:
    return COLOURS[operators.index(name)] if name in operators else COLOURS[-1]


def _names(network: NetworkView) -> dict[str, str]:
    """What operators are called: the captions of their trees' roots."""
    return {node.id: short(" ".join(node.caption), 70) for node in network.nodes if node.id == node.root}
