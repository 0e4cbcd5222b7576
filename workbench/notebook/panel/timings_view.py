"""Timings: where the time of the last batches went, operator by operator."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import ipywidgets

from workbench.engine.reports import BatchReport, OperatorTotals, operator_totals, ticket_shares
from workbench.explain.text import milliseconds, short
from workbench.notebook.commands.timings import GONE, longest_chain
from workbench.notebook.display import Shown, table
from workbench.notebook.panel.markup import grid, scrolled, sparkline
from workbench.notebook.panel.view import View
from workbench.notebook.panel.widgets import html_box
from workbench.notebook.replay_status import running_batch

_LISTED = 12
"""Operators in the table."""
_BATCHES = 30
"""Batches in the chart."""
_SHOWN = 6
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
        """Draw the present charts."""
        self.widget.value = f'<div class="fixed">{self._running()}{self._html()}</div>'

    def static_view(self) -> Shown:
        """The charts, and the operators as text."""
        reports = self.session.reports[-_BATCHES:]
        if not reports:
            return Shown("no batch was run yet", "<p>no batch was run yet</p>")
        rows = [
            [name, f"{self.session.kept(total.last.root)[0]:,}", milliseconds(total.seconds), f"{total.share:.0%}"]
            for total, name in self._named(operator_totals(reports))
        ]
        return Shown(table(["operator", "kept", "time", "share"], rows).text, self._html())

    def _named(self, totals: Sequence[OperatorTotals]) -> list[tuple[OperatorTotals, str]]:
        """Operators with the captions of their roots, where a root is still there."""
        captions = {node.id: short(" ".join(node.caption), 70) for node in self.session.network.nodes}
        return [(total, captions.get(total.last.root, GONE)) for total in totals]

    def _running(self) -> str:
        running = escape(running_batch(self.player.position)) or "no batch is running"
        return f'<p class="argus-faint" role="status">{running}</p>'

    def _html(self) -> str:
        reports = self.session.reports[-_BATCHES:]
        if not reports:
            return "<p>No batch was run yet.</p>"
        totals = operator_totals(reports)
        rows = [
            [
                f'<svg width="22" height="14"><rect width="22" height="14" fill="{_colour(place)}"/>'
                f'<text x="11" y="11" text-anchor="middle">{_letter(place)}</text></svg>',
                escape(name),
                str(len(total.last.nodes)),
                f"{self.session.kept(total.last.root)[0]:,}",
                milliseconds(total.seconds),
                f"{total.share:.0%}",
                sparkline([seconds * 1000 for seconds in total.series], "ms"),
            ]
            for place, (total, name) in enumerate(self._named(totals[:_LISTED]))
        ]
        headings = ["", "operator", "nodes", "rows kept", "time", "share", "by batch"]
        arrived = sparkline([report.rows for report in reports], "rows by batch", 160)
        return (
            f"<h4>Time of each batch, by operator</h4>{_stacked(reports, totals)}"
            f"<p>{escape(longest_chain(reports[-1], self.session.network))}</p>"
            f"<p>Rows that arrived: {arrived} last {reports[-1].rows:,}</p>"
            f"<h4>Slowest operators of batches {reports[0].batch} to {reports[-1].batch}</h4>"
            + scrolled("slowest operators", grid(headings, rows, numbers=(2, 3, 4, 5)))
            + _tickets(reports)
        )


def _tickets(reports: Sequence[BatchReport]) -> str:
    """How the tests that call functions share their tickets, over the batches (CACQ Figure 9); nothing without any."""
    shares = ticket_shares(reports)
    if not shares:
        return ""
    rows = []
    for test, series in shares.items():
        made = [operator.tests[test] for report in reports for operator in report.operators if test in operator.tests]
        calls, asked = sum(one.calls for one in made), sum(one.asked for one in made)
        dropped = sum(one.dropped for one in made) / max(asked, 1)
        each = milliseconds(sum(one.seconds for one in made) / calls) if calls else ""
        by_batch = sparkline([share * 100 for share in series], "% of the tickets")
        rows.append([escape(test), f"{calls:,}", each, f"{dropped:.0%}", f"{series[-1]:.0%}", by_batch])
    headings = ["test", "calls", "a call", "drops", "tickets", "by batch"]
    title = "<h4>Functions: a test that drops more rows for less has more tickets, and is made earlier</h4>"
    return title + scrolled("tests that call functions", grid(headings, rows, numbers=(1, 2, 3, 4)))


def _stacked(reports: Sequence[BatchReport], totals: Sequence[OperatorTotals]) -> str:
    """Bars of stacked operators; trees overlap, so a bar may be longer than its batch took, which the line tells."""
    # The operators after those with a colour of their own are one part of a bar.
    rest = [sum(others) for others in zip(*(total.series for total in totals[_SHOWN:]), strict=True)]
    parts = [*(total.series for total in totals[:_SHOWN]), rest or [0.0] * len(reports)]
    most = max([*map(sum, zip(*parts, strict=True)), *(report.seconds for report in reports)]) or 1
    each = WIDTH / _BATCHES
    marks = []
    for i, report in enumerate(reports):
        at = float(HEIGHT)
        for place, series in zip([*range(len(parts) - 1), _SHOWN], parts, strict=True):
            seconds = series[i]
            high = HEIGHT * seconds / most
            at -= high
            if high < 0.5:
                continue
            title = f"batch {report.batch}: {milliseconds(seconds)}, {_letter(place)}"
            marks.append(
                f'<rect x="{i * each:.1f}" y="{at:.1f}" width="{each - 2:.1f}" height="{high:.1f}" '
                f'fill="{_colour(place)}"><title>{title}</title></rect>'
            )
            if high > 13 and each > 14:
                marks.append(
                    f'<text x="{(i + 0.5) * each - 1:.1f}" y="{at + high / 2 + 4:.1f}" text-anchor="middle">'
                    f"{_letter(place)}</text>"
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
        f'<svg viewBox="0 -2 {WIDTH} {HEIGHT + 20}" style="max-width:{WIDTH}px; width:100%" role="img" '
        f'aria-label="time of each batch, stacked by operator">{"".join(marks)}'
        f'<path class="axis" d="M0 {HEIGHT}h{WIDTH}"/></svg><p class="argus-faint">{legend}</p>'
    )


def _letter(place: int) -> str:
    return "ABCDEF…"[min(place, _SHOWN)]


def _colour(place: int) -> str:
    return COLOURS[min(place, _SHOWN)]
