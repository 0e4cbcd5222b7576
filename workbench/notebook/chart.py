"""Charts of an answer and of its changes: a Vega-Lite specification, and the same as SVG, which a saved notebook keeps.

One specification serves both ways: ``vl_convert`` renders it here, without a browser and without the network, and the
panel's chart draws it in the page, where rows come and go without a new drawing (``panel/live_chart.py``). Its colours
are those of the text around it, so it follows the theme.
"""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
import vl_convert

from workbench.errors import MagicError, nearest
from workbench.explain.cells import column_texts, has_numbers, is_number, shown_text
from workbench.explain.text import counted, monospace
from workbench.notebook.chart_look import ADDED, CHART_LOOK, CLOCK, REMOVED, whole_ticks
from workbench.notebook.chart_series import SERIES, largest_series
from workbench.notebook.display import Shown, table
from workbench.sql.algebra.column_names import unique_names
from workbench.sql.algebra.types import DataType, Kind

WIDTH, HEIGHT, BAR_HEIGHT = 640, 220, 20
BARS, POINTS = 30, 1_000
"""Rows that are drawn where no number is given: as bars, and as points."""
LINE, AREA, DOTS, BARS_KIND = "line", "area", "points", "bars"
CHART_KINDS = (BARS_KIND, LINE, AREA, DOTS)
_MARKS = {BARS_KIND: "bar", LINE: "line", AREA: "area", DOTS: "point"}
_FEW = 60
"""Points of a line that are marked."""
_LONGEST = 32
"""Characters of a label in text."""
_NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE)
_TIMES = (Kind.DATE, Kind.TIMESTAMP)
_EPOCH = dt.date(1970, 1, 1).toordinal()


@dataclass(frozen=True)
class ChartColumns:
    """Which columns of an answer a chart draws, and how.

    Attributes:
        x: names the rows, at the left of bars or below points; ``None``: their numbers from 1.
        y: the numbers.
        by: the column whose values are series of colours of their own; ``None``: one series.
        kind: one of ``CHART_KINDS``; empty: bars, or over time a line, or points where a series has a time twice.
        x_kind: the type of ``x``.
        by_itself: whether these series were not asked for; of bars one is made, if they are too many or none repeats.
        of_each: how many numbers of each row are drawn, a series for each of their columns.
        latest: whether of many rows over time those are drawn that are the newest.
        others: where ``y`` was not asked for, the other columns of numbers, those first that suit best.
    """

    x: str | None
    y: str
    by: str | None = None
    kind: str = ""
    x_kind: Kind | None = None
    by_itself: bool = False
    of_each: int = 1
    latest: bool = field(default=False, repr=False)
    others: tuple[str, ...] = field(default=(), repr=False)

    @staticmethod
    def of(
        columns: Sequence[tuple[str, DataType]], asked: Mapping[str, str], totals: Collection[str] = ()
    ) -> ChartColumns:
        """The columns that are asked for, and else those that an answer suggests.

        Args:
            columns: names and types of the answer's columns.
            asked: of ``x``, ``y``, ``by`` and ``kind`` those that are given.
            totals: its counts and sums: the last of them is drawn before other numbers, and they may be stacked.

        Raises:
            MagicError: there is no such column or kind, or no numbers to draw.

        Example:
            >>> from workbench.sql.algebra.types import DATE, INTEGER, STRING
            >>> ChartColumns.of([("day", DATE), ("bank", STRING), ("n", INTEGER)], {})
            ChartColumns(x='day', y='n', by='bank', kind='', x_kind=<Kind.DATE: 'date'>, by_itself=True, of_each=1)
        """
        kinds = dict(
            zip(unique_names([name for name, _ in columns]), [type_.kind for _, type_ in columns], strict=True)
        )
        given = {part: _column(name, kinds) for part, name in asked.items() if part != "kind" and name}
        kind = asked.get("kind", "").lower()
        if kind and kind not in CHART_KINDS:
            raise MagicError(f"there is no kind of chart {kind}", hint=f"kinds are {', '.join(CHART_KINDS)}")
        numbers = [name for name, kind_ in kinds.items() if kind_ in _NUMBERS]
        offered = [name for name in numbers if name not in given.values()]
        y = given.get("y") or next(reversed([name for name in offered if name in totals] or offered), None)
        if y is None:
            raise MagicError(
                "the answer has no column of numbers",
                hint="a chart draws a column of numbers, such as COUNT(*) by group",
            )
        if y not in numbers:
            raise MagicError(f"{y} has no numbers to draw", hint=f"columns of numbers: {', '.join(numbers) or 'none'}")
        free = [name for name in kinds if name not in (y, given.get("by"))]
        named = [name for name in free if name not in numbers]
        times = [name for name in named if kinds[name] in _TIMES]
        if len(times) == 1 and len(named) == 2:  # a time and a name are read as series over the time, in either order
            named = sorted(named, key=lambda name: name not in times)
        x = given.get("x") or next(iter([*named, *free]), None)
        x_kind = None if x is None else kinds[x]
        texts = [name for name in named if name != x and kinds[name] is Kind.STRING]
        has_series = x_kind in _TIMES or (x_kind is Kind.STRING and y in totals and not kind)
        suits = texts[0] if has_series and len(texts) == 1 and "x" not in given else None
        others = [] if "y" in given else [name for name in reversed(offered) if name not in (x, y)]
        by_itself = suits is not None and "by" not in given
        return ChartColumns(x, y, given.get("by", suits), kind, x_kind, by_itself, others=tuple(others))

    @property
    def over_time(self) -> bool:
        """Whether the rows are drawn by their times, so that of many the newest ones are wanted."""
        return self.x_kind in _TIMES and self.kind != BARS_KIND

    @property
    def named(self) -> bool:
        """Whether rows are placed by name, and not by time or number."""
        return self.kind == BARS_KIND or not (self.over_time or self.x_kind in _NUMBERS)

    @property
    def most(self) -> int:
        """How many rows are drawn where no number is given."""
        return POINTS if self.over_time or self.kind not in ("", BARS_KIND) or self.x_kind in _NUMBERS else BARS

    def drawn_as(self, rows: pd.DataFrame) -> ChartColumns:
        """With the numbers, the kind and the series in which these rows are drawn, where none were asked for."""
        if self.others:
            there = {name: int(np.isfinite(_floats(rows[name])).sum()) for name in (self.y, *self.others)}
            y = self.y if 2 * there[self.y] >= len(rows) else max(there, key=lambda name: there[name])
            return replace(self, y=y, others=()).drawn_as(rows)
        # Stacks without some of their parts would be too low; over time the largest series are each what they are.
        if (
            self.by_itself
            and self.named
            and (rows[self.by].nunique(dropna=False) > SERIES or not rows[self.x].duplicated().any())
        ):
            return replace(self, by=None, by_itself=False).drawn_as(rows)
        if self.kind:
            return self
        if self.x_kind in _NUMBERS:
            return replace(self, kind=DOTS)
        if not self.over_time or len(rows) < 2:
            return replace(self, kind=BARS_KIND)
        twice = rows.duplicated([name for name in (self.x, self.by) if name is not None]).any()
        return replace(self, kind=DOTS if twice else LINE)

    def __str__(self) -> str:
        named = (self.x, self.by if self.of_each == 1 else None)
        by = "".join(f" by {name}" for name in named if name is not None)
        return f"{self.y}{by}"


_OTHER_KINDS = ("pie", "donut", "area", "scatter", "histogram", "hist", "box", "heatmap", "candlestick")
"""Kinds of charts of other tools."""


def _column(name: str, kinds: Mapping[str, Kind]) -> str:
    by_name = {known.lower(): known for known in kinds}
    if (found := by_name.get(name.lower())) is None:
        kinds_of_chart = [one for one in CHART_KINDS if name.lower() in (one, one.removesuffix("s"))]
        kind = f"kind={kinds_of_chart[0]} says how it is drawn" if kinds_of_chart else None
        several = f"write a blank before {name.partition(',')[2]}" if "," in name and "=" in name else None
        drawn = f"; it is drawn as kind={', '.join(CHART_KINDS)}" if name.lower() in _OTHER_KINDS else ""
        hint = kind or several or nearest(name, list(kinds)) or f"its columns are {', '.join(kinds)}{drawn}"
        raise MagicError(f"the answer has no column {name}", hint=hint)
    return found


def answer_chart(rows: pd.DataFrame, columns: ChartColumns, total: int, title: str, width: int = WIDTH) -> Shown:
    """Rows of an answer as a chart, and as text.

    Args:
        rows: what is drawn, bars in this order; rows without a number are left out, and the title says so.
        columns: which columns are drawn, and how.
        total: how many rows the answer has.
        title: what it is of.
        width: of what is drawn, in pixels; a smaller page makes all of it smaller, the letters too.

    Example:
        >>> rows = pd.DataFrame({"bank": ["x", "y"], "n": [1, 4]})
        >>> print(answer_chart(rows, ChartColumns("bank", "n"), 2, "big").text)
        big, n by bank: 2 rows
        bank  n
        x     1  ███
        y     4  ████████████
    """
    columns = columns.drawn_as(rows)
    values, heading = points_of(rows, columns), chart_heading(rows, columns, total, title)
    spec = answer_spec(rows, columns, heading)
    spec["data"]["values"], spec["width"] = values, width
    text = _text_bars(values)
    return _shown(heading, [columns.x or "row", columns.y, ""], text[:BARS], spec)


def chart_heading(rows: pd.DataFrame, columns: ChartColumns, total: int, title: str) -> str:
    """What a chart is of, which of its rows and series it draws, and what chooses others."""
    drawn = int(_placed(rows, columns).sum())
    shown = len(rows) // columns.of_each
    first = f"{'the latest ' * columns.latest}{shown:,} of {counted(total, 'row')}"
    count = counted(total, "row") if shown == total else first
    count += f", {len(rows) - drawn:,} without a value left out" * (drawn < len(rows))
    series = 0 if columns.by is None else largest_series(rows[columns.by], _floats(rows[columns.y]))[1]
    largest = f"; the {SERIES} of {series:,} series with the largest values, a condition (--where) chooses others"
    return f"{title}, {columns}: {count}{largest * (series > SERIES)}"


def points_of(rows: pd.DataFrame, columns: ChartColumns) -> list[dict[str, Any]]:
    """The points of a chart: ``x`` and ``y`` as they are drawn, ``label`` and ``value`` as they are read, and ``by``
    where there are series.

    A time is milliseconds since 1970, read as UTC, so that no browser moves it to its own zone.
    """
    there = _drawn(rows, columns)
    rows, numbers = rows[there], _floats(rows[columns.y])[there].tolist()
    texts = column_texts(list(rows[columns.y]))
    column = pd.Series(range(1, len(rows) + 1)) if columns.x is None else rows[columns.x]
    times = _clock(column)  # which are read all at once
    is_zoned = getattr(column.dtype, "tz", None) is not None
    names = list(column) if times is None or is_zoned else []
    labels = _labels(names) if times is None or is_zoned else _time_labels(times)
    if columns.named and columns.by is None:
        labels = _distinct_names(labels, rows, columns)
    points = [
        {"x": place, "label": label, "y": number, "value": text}
        for place, label, number, text in zip(
            _places(names, labels, columns, times), labels, numbers, texts, strict=True
        )
    ]
    if columns.by is not None:
        for point, text in zip(points, column_texts(list(rows[columns.by])), strict=True):
            point["by"] = text
    return points


def _clock(column: pd.Series) -> npt.NDArray[np.datetime64] | None:
    """Times as a clock of their zone shows them, where all values are times of pandas."""
    if column.dtype.kind != "M" or column.isna().any():
        return None
    return column.dt.tz_localize(None).to_numpy("datetime64[us]")


def _distinct_names(labels: list[str], rows: pd.DataFrame, columns: ChartColumns) -> list[str]:
    """The names of bars. Rows of equal names get their other names, or a number, since one bar would show them all."""
    if len({*labels}) == len(labels):
        return labels
    others = [name for name in rows.columns if name not in (columns.x, columns.y) and not has_numbers(list(rows[name]))]
    parts = zip(labels, *(_labels(list(rows[name])) for name in others), strict=True)
    longer, seen = [", ".join(part) for part in parts], Counter[str]()
    for place, label in enumerate(longer):
        seen[label] += 1
        longer[place] = label if seen[label] == 1 else f"{label} ({seen[label]})"
    return longer


def _drawn(rows: pd.DataFrame, columns: ChartColumns) -> npt.NDArray[np.bool_]:
    """Which rows have a point: those that have a place, and are of a series that is drawn."""
    placed = _placed(rows, columns)
    return placed if columns.by is None else placed & largest_series(rows[columns.by], _floats(rows[columns.y]))[0]


def _placed(rows: pd.DataFrame, columns: ChartColumns) -> npt.NDArray[np.bool_]:
    """Which rows have a number, and a place where places are times or numbers."""
    there = np.isfinite(_floats(rows[columns.y]))
    if columns.x is None or columns.named:
        return there
    if rows[columns.x].dtype.kind == "M" and columns.over_time:
        return there & rows[columns.x].notna().to_numpy()
    is_place = _is_time if columns.over_time else _is_finite
    return there & np.array([is_place(value) for value in rows[columns.x]], dtype=bool)


def _places(
    names: Sequence[Any], labels: list[str], columns: ChartColumns, times: npt.NDArray[np.datetime64] | None
) -> Sequence[float | str]:
    """The positions of points on the axis: by their times or numbers, or by their names."""
    if columns.over_time and times is not None:
        return list((times.astype(np.int64) / 1_000).tolist())
    if columns.over_time:
        return [_milliseconds(name) for name in names]
    return labels if columns.named else [float(name) for name in names]


def _milliseconds(time: dt.date) -> float:
    """From 1970 to a time as a clock shows it."""
    days = 86_400_000 * (time.toordinal() - _EPOCH)
    if not isinstance(time, dt.datetime):
        return float(days)
    return days + 1_000 * (3_600 * time.hour + 60 * time.minute + time.second) + time.microsecond / 1_000


def answer_spec(rows: pd.DataFrame, columns: ChartColumns, heading: str) -> dict[str, Any]:
    """The specification of an answer's chart without its points, which are the data set ``rows``.

    Args:
        rows: what is drawn at first; from them follow marks of points and the names of axes.
        columns: as ``drawn_as`` gives them.
        heading: what it is of, for who does not see it.
    """
    along: dict[str, Any] = {"field": "x", "title": columns.x or "row"}
    if columns.over_time:
        along |= {"type": "temporal", "scale": {"type": "utc"}, "axis": {"labelExpr": CLOCK}}
    elif columns.named:
        along |= {"type": "nominal", "sort": None, "axis": {"labelLimit": 200, "title": None}}
    else:
        along |= {"type": "quantitative", "scale": {"zero": False}}
    values: dict[str, Any] = {"field": "y", "type": "quantitative", "title": columns.y}
    if columns.kind not in (BARS_KIND, AREA):
        values["scale"] = {"zero": False}
    tooltip = [{"field": "label", "title": columns.x or "row"}, {"field": "value", "title": columns.y}]
    across = columns.kind == BARS_KIND
    if whole := whole_ticks(_floats(rows[columns.y]), "x" if across else "y"):
        values["axis"] = {"tickCount": whole}
    encoding: dict[str, Any] = {"y" if across else "x": along, "x" if across else "y": values}
    if columns.by is not None:
        # In an order of their own, so that a series keeps its colour whichever row comes first.
        encoding["color"] = {"field": "by", "type": "nominal", "title": columns.by, "sort": "ascending",
                             "legend": {"symbolLimit": SERIES, "labelLimit": 120}}  # fmt: skip
        tooltip.append({"field": "by", "title": columns.by})
    if columns.of_each > 1:  # several numbers of a row are no parts of a sum: beside each other, and not stacked
        values["stack"] = None
        encoding |= {"yOffset": {"field": "by", "type": "nominal", "sort": "ascending"}} if across else {}
    mark: dict[str, Any] = {"type": _MARKS[columns.kind]}
    if columns.kind == LINE:
        mark["point"] = len(rows) <= _FEW
    height: Any = {"step": BAR_HEIGHT} if across else HEIGHT
    return _spec(heading, mark, {**encoding, "tooltip": tooltip}, height)


def changes_chart(changes: pd.DataFrame, title: str) -> Shown:
    """How many rows each batch added to an answer (above the line) and took away (below it).

    Args:
        changes: as ``Query.changes`` gives them, ``batch`` and ``weight`` first.
        title: what it is of.

    Example:
        >>> changed = pd.DataFrame({"batch": [1, 3, 3], "weight": [2, 1, -1]})
        >>> print(changes_chart(changed, "changes of big").text)
        changes of big: 4 changed rows by batch
        batch  added  removed
        1          2        0
        2          0        0
        3          1        1
    """
    batches, weights = changes.iloc[:, 0], changes.iloc[:, 1]
    shown = range(int(batches.min()), int(batches.max()) + 1) if len(changes) else range(0)
    added = weights.clip(lower=0).groupby(batches).sum().reindex(shown, fill_value=0).tolist()
    removed = (-weights.clip(upper=0)).groupby(batches).sum().reindex(shown, fill_value=0).tolist()
    heading = f"{title}: {counted(sum(added) + sum(removed), 'changed row')} by batch"
    rows = [[str(batch), str(a), str(r)] for batch, a, r in zip(shown, added, removed, strict=True)]
    encoding = {
        "x": {"field": "batch", "type": "ordinal", "axis": {"labelAngle": 0, "labelOverlap": True},
              "scale": {"domain": list(shown)}},
        "y": {"field": "rows", "type": "quantitative"},
        "color": {"field": "were", "type": "nominal", "title": None,
                  "scale": {"domain": ["added", "removed"], "range": [ADDED, REMOVED]}},
        "tooltip": [{"field": "batch"}, {"field": "were"}, {"field": "rows"}],
    }  # fmt: skip
    spec = _spec(heading, {"type": "bar"}, encoding, HEIGHT)
    spec["data"]["values"] = [
        {"batch": batch, "rows": number, "were": were}
        for batch, a, r in zip(shown, added, removed, strict=True)
        for number, were in ((a, "added"), (-r, "removed"))
        if number
    ]
    return _shown(heading, ["batch", "added", "removed"], rows, spec)


def _spec(heading: str, mark: Mapping[str, Any], encoding: Mapping[str, Any], height: Any) -> dict[str, Any]:
    return {
        "description": heading, "width": WIDTH, "height": height, "config": CHART_LOOK,
        "data": {"name": "rows", "values": []}, "mark": mark, "encoding": encoding,
    }  # fmt: skip


def _shown(heading: str, columns: Sequence[str], rows: Sequence[Sequence[str]], spec: Mapping[str, Any]) -> Shown:
    text = table(columns, rows, heading).text if rows else heading
    return Shown(text, monospace(heading) + (drawn(spec) if spec["data"]["values"] else ""))


def drawn(spec: Mapping[str, Any]) -> str:
    """The SVG of a specification, as wide as there is room."""
    svg: str = vl_convert.vegalite_to_svg(dict(spec))
    described = escape(str(spec["description"]), quote=True)
    # The page's letters may be wider than those by which there is room, and are not cut off at the edge.
    svg = svg.replace("<svg ", '<svg style="max-width:100%; height:auto; overflow:visible" ', 1)
    return f'<div role="img" aria-label="{described}">{svg}</div>'


def _labels(names: Sequence[Any]) -> list[str]:
    """Names as texts."""
    return [shown_text(text, _LONGEST) for text in column_texts(names)]


def _time_labels(times: npt.NDArray[np.datetime64]) -> list[str]:
    """Times as ``_labels`` writes them."""
    micros = times.astype(np.int64)
    unit: Literal["s", "ms", "us"] = "us" if (micros % 1_000).any() else "ms" if (micros % 1_000_000).any() else "s"
    texts: list[str] = np.datetime_as_string(times, unit=unit).tolist()
    return [text.replace("T", " ") for text in texts]


def _is_time(value: object) -> bool:
    return isinstance(value, dt.date) and value is not pd.NaT


def _is_finite(value: object) -> bool:
    return is_number(value) and math.isfinite(value)  # type: ignore[arg-type]  # a Decimal is as good


def _floats(column: pd.Series) -> npt.NDArray[np.float64]:
    """Numbers as floats; NaN where there is none."""
    if column.dtype.kind in "iuf":
        return column.to_numpy(np.float64)
    return np.array([float(value) if _is_finite(value) else math.nan for value in column], np.float64)


def _text_bars(points: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    most = max((abs(point["y"]) for point in points), default=0) or 1
    names = [point["label"] + (f", {point['by']}" if "by" in point else "") for point in points]
    return [
        [name, point["value"], "█" * round(12 * abs(point["y"]) / most)]
        for name, point in zip(names, points, strict=True)
    ]
