"""Charts as drawings by matplotlib: panels side by side, lines by number or bars by name."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workbench.experiments.report import Chart

WIDTH, HEIGHT = 5.2, 4.0
"""Inches of one panel."""

# Told apart without colour too: each series has a mark and a line of its own.
_STYLES = (("#1f5fa8", "o", "-"), ("#c4551d", "s", "--"), ("#2a7f3f", "^", "-."), ("#7a4fa3", "D", ":"))
_MORE = (("#555555", "v", "-"), ("#b08900", "P", "--"))


def draw(charts: Sequence[Chart]) -> Figure:
    """A drawing of the charts, without a window."""
    figure = Figure(figsize=(WIDTH * len(charts), HEIGHT), layout="constrained", dpi=110)
    panels = figure.subplots(1, len(charts), squeeze=False)[0]
    for chart, panel in zip(charts, panels, strict=True):
        _panel(chart, panel)
    return figure


def _panel(chart: Chart, panel: Axes) -> None:
    named = [x for series in chart.series.values() for x in series if isinstance(x, str)]
    if named:
        _bars(chart, panel, list(dict.fromkeys(named)))
    else:
        for (name, series), (colour, mark, line) in zip(chart.series.items(), cycle(_STYLES + _MORE), strict=False):
            panel.plot(
                list(series), list(series.values()), mark, label=name, color=colour, linestyle=line, markersize=5
            )
    if chart.log_x and not named:
        panel.set_xscale("log")
    if chart.log_y:
        panel.set_yscale("log")
    else:
        panel.set_ylim(bottom=0)
    panel.set_title(chart.title, fontsize=10)
    panel.set_xlabel(chart.x)
    panel.set_ylabel(chart.y)
    panel.grid(True, axis="y", alpha=0.3)
    panel.legend(fontsize=8)


def _bars(chart: Chart, panel: Axes, names: Sequence[str]) -> None:
    width = 0.8 / len(chart.series)
    for i, ((label, series), (colour, *_)) in enumerate(
        zip(chart.series.items(), cycle(_STYLES + _MORE), strict=False)
    ):
        places = [x + (i - (len(chart.series) - 1) / 2) * width for x in range(len(names))]
        heights = [series.get(name, 0.0) for name in names]
        hatch = ("", "//", "..", "xx", "\\\\", "++")[i % 6]
        panel.bar(places, heights, width, label=label, color=colour, hatch=hatch, edgecolor="white")
    panel.set_xticks(range(len(names)), names)
