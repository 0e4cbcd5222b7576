"""Outputs of cells: always plain text, and HTML where there is more to see.

The plain text is complete, as a terminal, a diff of a saved notebook and a screen reader show nothing else.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from html import escape
from itertools import cycle
from typing import TYPE_CHECKING, Any

import pandas as pd
from IPython.display import display

from workbench.arrow.frames import is_null_number
from workbench.arrow.stored_values import json_text, json_value
from workbench.explain.text import clock_text, counted, monospace
from workbench.notebook.drift_lines import drift_lines
from workbench.sql.algebra.column_names import display_name

if TYPE_CHECKING:
    from IPython.core.display_functions import DisplayHandle

    from workbench.explain.explanation import ExplanationView
    from workbench.session.as_of import AsOf
    from workbench.session.failures.error_log import KeptError
    from workbench.session.live.sources import SourceStatus
    from workbench.session.query import Query
    from workbench.session.session import Session
    from workbench.session.sinks.sink import SinkStatus
    from workbench.streams.stream import Stream

WIDEST = 60
"""Characters of a value shown in a table."""
_WELL = ("●", "var(--jp-success-color1, #388e3c)")
_NOT_WELL = ("▲", "var(--jp-warn-color1, #b35900)")
_MARKS = ("NULL", "NAN", "<NA>", "NONE", "INF", "-INF", "INFINITY", "-INFINITY")
"""Texts that read like what is no text."""
_STYLES = {"string": ' style="text-align:left"', **dict.fromkeys(("date", "datetime64"), ' style="white-space:nowrap"')}
"""Of the cells of a column, by what pandas takes its values for; others are aligned as pandas and Jupyter do."""
_PLACES = 4
"""Places of a source that are listed."""


@dataclass(frozen=True)
class Shown:
    """An output in up to three forms; a front end takes the richest it can.

    Attributes:
        text: complete in itself.
        html: the same, formatted; ``None`` when the text is all there is.
        svg: a drawing for where HTML is not shown.
    """

    text: str
    html: str | None = None
    svg: str | None = None

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str | None:
        return self.html

    def _repr_svg_(self) -> str | None:
        return self.svg


def plain(text: str) -> Shown:
    """An output of plain text; as HTML it is the same text in a monospaced font."""
    return Shown(text, monospace(text) if text else "")


def show(output: Shown | str) -> None:
    """Display an output of the running cell."""
    display(plain(output) if isinstance(output, str) else output)


def explained(explanation: ExplanationView) -> Shown:
    """The sharing of a query, with its reasons."""
    return Shown(str(explanation), explanation._repr_html_())


class ProgressLine:
    """One line of text, or another output, that is replaced in place."""

    def __init__(self, text: str) -> None:
        self._handle: DisplayHandle = display(Shown(text), display_id=True)

    def update(self, output: Shown | str) -> None:
        """Replace it, from any thread and any later cell."""
        self._handle.update(Shown(output) if isinstance(output, str) else output)


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> Shown:
    """A small table of texts; columns of numbers are aligned to the right.

    Example:
        >>> table(["query", "rows"], [["big", "12"], ["rich_days", "1,234"]], "results")
        results
        query       rows
        big           12
        rich_days  1,234
    """
    right = [all(row[i][:1].isdigit() for row in rows) for i in range(len(columns))]
    widths = [max(len(row[i]) for row in [columns, *rows]) for i in range(len(columns))]
    lines = [
        "  ".join(
            cell.rjust(width) if r else cell.ljust(width) for cell, width, r in zip(row, widths, right, strict=True)
        )
        for row in [columns, *rows]
    ]
    html_rows = "".join([_html_row("th", columns, right), *(_html_row("td", row, right) for row in rows)])
    return Shown(
        "\n".join([*filter(None, [title]), *map(str.rstrip, lines)]),
        _titled(title, f'<table class="dataframe">{html_rows}</table>'),
    )


def _html_row(tag: str, cells: Sequence[str], right: Sequence[bool]) -> str:
    styles = (
        f"text-align:{'right' if r else 'left'}" + ("; color:#d98b46" if cell.startswith("█") else "")
        for cell, r in zip(cells, right, strict=True)
    )
    html = (f'<{tag} style="{style}">{escape(cell)}</{tag}>' for style, cell in zip(styles, cells, strict=True))
    return f"<tr>{''.join(html)}</tr>"


def _titled(title: str, html_table: str) -> str:
    heading = monospace(title) if title else ""
    return f'{heading}<div style="overflow-x:auto">{html_table}</div>'


def frame_table(frame: pd.DataFrame, title: str = "") -> Shown:
    """A DataFrame without its index under a title; NULL, NaN, blank texts and a text that says NULL look different."""
    styles = [_STYLES.get(pd.api.types.infer_dtype(column), "") for _, column in frame.items()]
    frame = frame.apply(_as_cells) if len(frame) else frame
    with pd.option_context("display.max_colwidth", WIDEST):
        text = frame.to_string(index=False) if len(frame) else "  ".join(map(str, frame.columns))
        html = _with_styles(frame.to_html(index=False, border=0), styles)
    return Shown("\n".join(filter(None, [title, text])), _titled(title, html))


def _with_styles(html: str, styles: Sequence[str]) -> str:
    """A table of pandas, whose cells are all alike, with the style of each column."""
    cells = re.compile("<(t[hd])>")
    each = cycle(styles)
    return cells.sub(lambda cell: f"<{cell[1]}{next(each)}>", html)


def _as_cells(column: pd.Series) -> pd.Series:
    """pandas writes a missing value in four ways, SQL in one; and blanks as nothing."""
    if column.dtype != object and not column.isna().any():
        return column
    if column.dtype.kind == "f":
        return _aligned(column)
    return pd.Series([marked_cell(value) for value in column], index=column.index, name=column.name, dtype=object)


def _aligned(column: pd.Series) -> pd.Series:
    """Doubles some of which are missing, the others with as many digits as pandas gives to a column of them.

    Example:
        >>> _aligned(pd.Series([1.5, float("nan"), 12.25])).to_list()
        ['1.50', 'NaN', '12.25']
    """
    cells = column.map(marked_cell).astype(object)
    present = column.dropna()
    if len(present):
        cells[column.notna()] = [line.strip() for line in present.to_string(index=False, header=False).split("\n")]
    return cells


def marked_cell(value: Any) -> Any:
    """A value, or a text for it where a reader would take it for something else.

    Example:
        >>> [marked_cell(value) for value in (None, "NULL", " ", "a b", 1.5, float("nan"), ["NULL", None])]
        ['NULL', "'NULL'", "' '", 'a b', 1.5, 'NaN', '["NULL", NULL]']
        >>> marked_cell(Decimal("0E-14")), marked_cell(Decimal("0.00"))
        ('0.00000000000000', Decimal('0.00'))
    """
    if isinstance(value, str):
        looks_alike = value != value.strip() or not value or value.upper() in _MARKS
        return f"'{value}'" if looks_alike else value
    if isinstance(value, bytes):
        return json_text(value)
    if isinstance(value, list | dict):
        return _nested_text(value)
    if isinstance(value, Decimal) and "E" in str(value):  # Python writes small ones so
        return format(value, "f")
    if not pd.api.types.is_scalar(value) or not pd.isna(value):
        return value
    return "NaN" if isinstance(value, float) and not is_null_number(value) else "NULL"


def rounded_text(value: float) -> str:
    """A double as a page shows it: with six digits after the point, or of what is less than 1.

    Example:
        >>> [rounded_text(value) for value in (3.7784424083769634, 1234567.125, 0.1 + 0.2, 2.0, -1.2345678e-9, 1e22)]
        ['3.778442', '1,234,567.125', '0.3', '2.0', '-1.23457e-09', '1e+22']
    """
    if 0 < abs(value) < 1 or abs(value) >= 1e15:
        return f"{value:.6g}"
    text = f"{value:,.6f}".rstrip("0")
    return f"{text}0" if text.endswith(".") else text


def _nested_text(value: Any) -> str:
    """A list or struct as a reader takes it: texts in quotes; NULL, NaN, infinities and numbers without."""
    if isinstance(value, list):
        return f"[{', '.join(map(_nested_text, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_nested_text(name)}: {_nested_text(each)}' for name, each in value.items())}}}"
    if value is None:
        return "NULL"
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else str(value)
    return format(value, "f") if isinstance(value, Decimal) else json.dumps(json_value(value), ensure_ascii=False)


def rows_table(shown: pd.DataFrame, rows: int, title: str = "") -> Shown:
    """Some rows of an answer, and how many there are in all.

    Example:
        >>> rows_table(pd.DataFrame({"tranid": [1000]}), 2000)
        1 of 2,000 rows
         tranid
           1000
    """
    total = counted(rows, "row")
    count = total if len(shown) == rows else f"{len(shown):,} of {total}"
    return frame_table(shown, f"{title}: {count}" if title else count)


def together(*parts: Shown) -> Shown:
    """Several outputs as one, below each other."""
    html = "".join(part.html if part.html is not None else monospace(part.text) for part in parts)
    return Shown("\n\n".join(part.text for part in parts), html)


def counts(numbers: Mapping[str, int]) -> str:
    """Numbers with what they count, the zeros left out.

    Example:
        >>> counts({"new": 2, "shared": 0, "removed": 1})
        '2 new, 1 removed'
    """
    return ", ".join(f"{number:,} {what}" for what, number in numbers.items() if number)


def streams_table(session: Session) -> Shown:
    """How far each stream has been read and its clock has come, and what of it was quarantined."""
    last, clocks = arrived_last(session), session.clocks
    rows = [
        [s.name, f"{s.position:,}", f"{s.rows:,}", s.batch_text, last[s.name], event_time(s),
         clock_text(s.as_event_time(clocks[s.name])), kind(s), f"{s.quarantined_rows:,}",
         f"{s.left_out:,}" if s.shed else ""]
        for s in session.streams.values()
    ]  # fmt: skip
    columns = ["stream", "read", "of rows", "batch", "last batch", "time", "clock", "rows are", "quarantined"]
    if any(s.shed for s in session.streams.values()):
        columns.append("left out")
    rows = [row[: len(columns)] for row in rows]
    if not rows:
        return Shown("no streams yet")
    lines = [
        *drift_lines(session),
        *(str(c) for s in session.streams.values() for c in s.constraints if c.constraint.declared),
    ]
    return together(table(columns, rows), plain("\n".join(lines))) if lines else table(columns, rows)


def as_of(query: Query, batch: int) -> str:
    """Of which batch an answer is, and what it lacks because rows were left out, to be put behind its title.

    Args:
        query: the query.
        batch: the last one.
    """
    if query.suspended is not None:
        return f"after batch {query.batch}, suspended: %argus resume {query.name}"
    lacking = " and ".join(f"{counted(rows, 'row')} of {stream}" for stream, rows in query.left_out.items())
    return f"after batch {batch}" + (f", without {lacking} that were left out: %argus catch-up" if lacking else "")


def as_of_html(as_of: AsOf, query: str = "") -> str:
    """The line on when an answer is of, green where all is well; elsewhere its sign is another one, too."""
    sign, colour = _WELL if as_of.is_well else _NOT_WELL
    mark = f'<span style="color:{colour}" aria-hidden="true">{sign}</span>'
    return f'<div class="argus-as-of">{mark} {escape(_of(query, as_of))}</div>'


def with_as_of(shown: Shown, as_of: AsOf, query: str = "") -> Shown:
    """An answer, chart or sink with the line on when it is of, the same in both forms.

    Args:
        shown: the answer.
        as_of: of when it is.
        query: its name, where answers of several are shown.
    """
    html = shown.html if shown.html is not None else monospace(shown.text)
    return Shown(f"{shown.text}\n{_of(query, as_of)}", html + as_of_html(as_of, query), shown.svg)


def _of(query: str, as_of: AsOf) -> str:
    return f"{query} {as_of}".lstrip()


def state_of(query: Query) -> str:
    """``"active"``, since when it is suspended, or why it no longer runs."""
    return query.status if query.suspended is None else f"suspended after batch {query.suspended}"


def arrived_last(session: Session) -> dict[str, str]:
    """How many rows the last batch brought of each stream; nothing of tables, of which rows do not come."""
    arrived = session.reports[-1].arrived if session.reports else {}
    return {name: "" if stream.table else f"{arrived.get(name, 0):,}" for name, stream in session.streams.items()}


def rows_to_come(stream: Stream) -> str:
    """How many rows of a stream are there from the start, and how many come."""
    history, later = min(stream.history, stream.rows), max(0, stream.rows - stream.history)
    come = "rows come" if stream.log.is_live and not later else f"then {counted(later, 'row')}"
    return f"{stream.name}: {counted(history, 'row')} of history, {come}"


SOURCE_COLUMNS = ("live stream", "source", "goes on at", "rows/s", "waiting", "for", "problem")
"""Of the table of live sources."""


def source_rows(sources: Mapping[str, SourceStatus]) -> list[list[str]]:
    """The rates, offsets and problems of live sources: a row for each, with ``SOURCE_COLUMNS``."""
    return [
        [name, s.source or "attach it again", goes_on_at(s.offsets),
         f"{s.rate:,.0f}", f"{s.waiting:,}{' and more' * s.more}", f"{s.lag:.1f} s", source_problem(s)]
        for name, s in sources.items()
    ]  # fmt: skip


def sources_table(sources: Mapping[str, SourceStatus]) -> Shown:
    """The live sources of a session."""
    return table(SOURCE_COLUMNS, source_rows(sources))


def goes_on_at(offsets: Mapping[str, str]) -> str:
    """Where a source goes on: each of its places, or of more than four the last ones, since a folder has many files.

    Example:
        >>> goes_on_at({"0": "17", "1": "12"})
        '0 17, 1 12'
        >>> goes_on_at({f"{number}.csv": "all" for number in range(40)})
        '38.csv all, 39.csv all and 38 more'
    """
    places = [f"{place} {at}".strip() for place, at in offsets.items()]
    if len(places) <= _PLACES:
        return ", ".join(places)
    return f"{', '.join(places[-2:])} and {len(places) - 2:,} more"


def source_problem(source: SourceStatus) -> str:
    """The problem of a live source, and the last one before that is over and was not read."""
    ahead = (
        f"its event times are {source.ahead / 86_400:,.0f} days ahead of this machine's clock" if source.ahead else ""
    )
    ended = "it has ended" if source.ended and not source.problem else ""
    return "; ".join(filter(None, (source.problem, source.earlier, ahead, ended)))


def sinks_table(sinks: Mapping[str, SinkStatus]) -> Shown:
    """Where changes go, and how far behind that is."""
    rows = [[name, s.query, s.target, f"{s.behind:,}", s.problem] for name, s in sinks.items()]
    return table(["sink", "query", "target", "batches behind", "problem"], rows)


ERROR_COLUMNS = ("when", "of", "name", "error", "row")
"""Of the table of errors."""


def error_rows(errors: Iterable[KeptError]) -> list[list[str]]:
    """Errors of sources and sinks, the latest first: a row for each, with ``ERROR_COLUMNS``."""
    rows = [[error.at, error.place.value, error.name, error.message, error.row] for error in errors]
    return rows[::-1]


def errors_table(errors: Iterable[KeptError]) -> Shown:
    """The errors that are kept of sources and sinks."""
    rows = error_rows(errors)
    return table(ERROR_COLUMNS, rows) if rows else Shown("no errors of sources or sinks")


def kind(stream: Stream) -> str:
    """Whether rows are only added to a stream, or else how it says that they change."""
    if stream.corrections is None:
        return "append-only"
    by = ", ".join(map(display_name, stream.corrections.key))
    return f"corrected ({stream.corrections.changes}{f' by {by}' if by else ''})"


def event_time(stream: Stream) -> str:
    """The column with a stream's event times, and how late its rows may be."""
    if stream.lateness is None:
        return stream.time or ""
    return f"{stream.time}, at most {stream.lateness} late"
