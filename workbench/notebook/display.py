"""Outputs of cells: always plain text, and HTML where there is more to see.

The plain text is complete, as a terminal, a diff of a saved notebook and a screen reader show nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import pandas as pd
from IPython.display import display

from workbench.explain.cells import FrameCells, aligned_table, frame_text, shown_text, title_of
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

_WELL = ("●", "var(--jp-success-color1, #388e3c)")
_ONE_LINE = "; white-space:nowrap"
_NOT_WELL = ("▲", "var(--jp-warn-color1, #b35900)")
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
    text = "\n".join([*filter(None, [title]), aligned_table(columns, rows, right)])
    return Shown(text, _titled(title, _html_table(columns, [list(map(escape, row)) for row in rows], right)))


def _html_table(columns: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool], style: str = "") -> str:
    """A table whose cells are HTML already."""
    head, *body = (
        "".join(
            f'<{tag} style="{part}">{cell}</{tag}>'
            for part, cell in zip(_styles(cells, right, style), cells, strict=True)
        )
        for tag, cells in [("th", list(map(escape, columns))), *(("td", row) for row in rows)]
    )
    return f'<table class="dataframe">{"".join(f"<tr>{cells}</tr>" for cells in (head, *body))}</table>'


def _styles(cells: Sequence[str], right: Sequence[bool], style: str) -> list[str]:
    return [
        f"text-align:{'right' if r else 'left'}{style}" + ("; color:#d98b46" if cell.startswith("█") else "")
        for cell, r in zip(cells, right, strict=True)
    ]


def _titled(title: str, html_table: str) -> str:
    heading = monospace(title) if title else ""
    return f'{heading}<div style="overflow-x:auto">{html_table}</div>'


def frame_table(frame: pd.DataFrame, title: str = "") -> Shown:
    """A DataFrame without its index under a title; each row is a line; what is cut of a value is under the mouse."""
    cells = FrameCells.of(frame)
    html = _html_table(cells.columns, [list(map(cell_html, row)) for row in cells.rows], cells.right, _ONE_LINE)
    return Shown("\n".join(filter(None, [title, frame_text(frame)])), _titled(title, html))


def cell_html(text: str) -> str:
    """The shown part of a value's text, with the rest as a tooltip.

    Example:
        >>> cell_html("a < b"), cell_html("x\\ny")
        ('a &lt; b', '<span title="x\\ny">x y</span>')
    """
    title, shown = title_of(text), escape(shown_text(text))
    return f'<span title="{escape(title, quote=True)}">{shown}</span>' if title else shown


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
         clock_text(s.as_event_time(clocks[s.name], session.timezone)), kind(s), f"{s.quarantined_rows:,}",
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
    """The batch of an answer, and its missing rows where rows were left out, as a part of a title.

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
        as_of: its line *as of*.
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
