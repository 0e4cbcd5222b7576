"""The report of an experiment: tables as text, figures as JSON, and charts, the thesis's next to ours."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle, zip_longest
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from workbench.experiments.measure import machine
from workbench.explain.cells import aligned_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SeriesValues = Mapping[Any, float]
PrintedValues = Mapping[int, Sequence[float]]
"""Values by number, drawn as a line, or by name, drawn as bars."""

PANEL_INCHES = (5.2, 4.0)

# Told apart without colour too: each series has a mark and a line of its own.
_STYLES = (
    *(("#1f5fa8", "o", "-"), ("#c4551d", "s", "--"), ("#2a7f3f", "^", "-.")),
    *(("#7a4fa3", "D", ":"), ("#555555", "v", "-"), ("#b08900", "P", "--")),
)


@dataclass(frozen=True)
class Chart:
    """One panel of a drawing.

    Attributes:
        title: says whose figures these are.
        x, y: what is on the axes, with the unit.
        series: by what to call them.
        log_x, log_y: whether equal distances are equal ratios.
    """

    title: str
    x: str
    y: str
    series: Mapping[str, SeriesValues]
    log_x: bool = False
    log_y: bool = True


@dataclass(frozen=True)
class Report:
    """The outcome of an experiment.

    Attributes:
        name: of its files.
        text: tables and remarks.
        figures: what JSON can hold; ``machine`` is added.
        charts: panels, side by side.
    """

    name: str
    text: str
    figures: Mapping[str, object]
    charts: Sequence[Chart] = field(default=())

    def figure(self) -> Figure:
        """The drawing."""
        return draw(self.charts)

    def write(self, folder: Path) -> list[Path]:
        """Write ``NAME.json`` and, where there is something to draw, ``NAME.png`` and ``NAME.svg``."""
        folder.mkdir(parents=True, exist_ok=True)
        files = [folder / f"{self.name}.json"]
        files[0].write_text(json.dumps({"machine": machine(), **self.figures}, indent=2, default=str))
        if self.charts:
            figure = self.figure()
            for ending in ("png", "svg"):
                files.append(folder / f"{self.name}.{ending}")
                figure.savefig(files[-1])
        return files


def text_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table of texts and numbers; ``None`` is a dash, numbers have the digits that mean something.

    Example:
        >>> print(text_table(["queries", "shared", "thesis"], [[50, 1.234, 15.93], [768, 123.4, None]]))
        queries  shared  thesis
             50    1.23    15.9
            768     123       –
    """
    cells = [[number_text(cell) for cell in row] for row in rows]
    right = [not all(isinstance(row[i], str) for row in rows) for i in range(len(columns))]
    return aligned_table(columns, cells, right)


def number_text(value: object) -> str:
    """A value to read: three digits of a float, thousands of an integer set apart.

    Example:
        >>> number_text(0.01234), number_text(12.345), number_text(1234.5), number_text(1234), number_text(None)
        ('0.0123', '12.3', '1,234', '1,234', '–')
    """
    match value:
        case None:
            return "–"
        case bool() | str():
            return str(value)
        case int():
            return f"{value:,}"
        case float():
            digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 0.1 else 4
            return f"{value:,.{digits}f}"
        case _:
            return str(value)


def timing_summary(seconds: Sequence[float]) -> dict[str, object]:
    """Median, least and greatest of some times, and all of them, for JSON."""
    return {"median": median(seconds), "least": min(seconds), "greatest": max(seconds), "all": list(seconds)}


def comparison_charts(
    name: str, x: str, y: str, ours: Mapping[str, SeriesValues], columns: Sequence[str], thesis: PrintedValues
) -> list[Chart]:
    """A chart of our figures, and one of the thesis's, by number in the order of ``columns``, where it has any."""
    charts = [Chart(f"{name}: ours", x, y, ours)]
    if thesis:
        series = {column: {n: values[i] for n, values in thesis.items()} for i, column in enumerate(columns)}
        charts.append(Chart(f"{name}: thesis", x, y, series))
    return charts


def draw(charts: Sequence[Chart], columns: int | None = None) -> Figure:
    """A matplotlib drawing of charts: lines by number or bars by name.

    Args:
        charts: one at least.
        columns: how many are side by side at most; all unless given.
    """
    from matplotlib.figure import Figure  # takes a second to import

    across = min(columns or len(charts), len(charts))
    down = -(-len(charts) // across)
    figure = Figure(figsize=(PANEL_INCHES[0] * across, PANEL_INCHES[1] * down), layout="constrained", dpi=110)
    panels = figure.subplots(down, across, squeeze=False).flat
    for chart, panel in zip_longest(charts, panels):
        if chart is None:
            panel.axis("off")
        else:
            _panel(chart, panel)
    return figure


def _panel(chart: Chart, panel: Axes) -> None:
    named = [x for series in chart.series.values() for x in series if isinstance(x, str)]
    if named:
        _bars(chart, panel, list(dict.fromkeys(named)))
    else:
        for (name, series), (colour, mark, line) in zip(chart.series.items(), cycle(_STYLES), strict=False):
            panel.plot(
                list(series), list(series.values()), mark, label=name, color=colour, linestyle=line, markersize=5
            )
    if chart.log_x and not named:
        panel.set_xscale("log")
    if chart.log_y:
        panel.set_yscale("log")
    else:
        panel.set_ylim(bottom=0)
    if not chart.log_x and all(isinstance(x, int) for series in chart.series.values() for x in series):
        panel.locator_params(axis="x", integer=True)  # batches have no halves
    panel.set_title(chart.title, fontsize=10)
    panel.set_xlabel(chart.x)
    panel.set_ylabel(chart.y)
    panel.grid(True, axis="y", alpha=0.3)
    panel.legend(fontsize=8)


def _bars(chart: Chart, panel: Axes, names: Sequence[str]) -> None:
    width = 0.8 / len(chart.series)
    for i, ((label, series), (colour, *_)) in enumerate(zip(chart.series.items(), cycle(_STYLES), strict=False)):
        places = [x + (i - (len(chart.series) - 1) / 2) * width for x in range(len(names))]
        heights = [series.get(name, 0.0) for name in names]
        hatch = ("", "//", "..", "xx", "\\\\", "++")[i % 6]
        panel.bar(places, heights, width, label=label, color=colour, hatch=hatch, edgecolor="white")
    panel.set_xticks(range(len(names)), names)
