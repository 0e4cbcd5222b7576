"""A session as one page: answers, charts, alerts, the network and of when each is, complete without a server.

It loads nothing, runs no script, and follows the reader's choice of light or dark. ``argus serve`` shows the same page
of a session that goes on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from workbench.errors import MagicError, WorkbenchError
from workbench.explain.text import counted
from workbench.notebook.chart import answer_chart
from workbench.notebook.dashboard_grid import DashboardGrid
from workbench.notebook.display import as_of_html, plain, sinks_table, streams_table
from workbench.notebook.drawing import picture
from workbench.notebook.joint_chart import DrawnRows, drawn_rows
from workbench.notebook.panel.answer_page import answer_table
from workbench.notebook.panel.widgets import STYLE
from workbench.session.directory.directory import PREFIX
from workbench.session.query import Query
from workbench.session.session import Session

SNAPSHOT_ROWS = 100
"""Rows of an answer that a page shows where no number is given."""
_CHART = 400
"""Pixels of a chart beside its labels: with them it fits a section, and its letters are not made smaller."""
SIDE_BY_SIDE = "repeat(auto-fill, minmax(min(460px, 100%), 1fr))"
"""The columns of sections where no grid is given: two in a cell of a notebook."""
DASHBOARD_STYLE = (
    f".argus-dashboard {{ display: grid; grid-template-columns: {SIDE_BY_SIDE}; gap: 16px; }}"
    """
.argus-dashboard { color: var(--jp-content-font-color1, inherit); font-size: 14px; }
.argus-dashboard h2 { font-size: 16px; margin: 8px 0; }
.argus-dashboard section { border: 1px solid var(--jp-border-color2); border-radius: 6px; min-width: 0;
  padding: 8px 16px 16px; }
.argus-dashboard section.wide { grid-column: 1 / -1; }
.argus-dashboard.argus-grid { grid-template-columns: var(--argus-columns); align-items: stretch; }
.argus-dashboard.argus-grid > section { grid-area: var(--argus-area); }
@media (max-width: 800px) { .argus-dashboard.argus-grid { display: block; } }
.argus-dashboard section > .rows { max-height: 420px; overflow: auto; }
"""
)
"""How sections stand side by side."""
_PAGE_STYLE = """
:root { color-scheme: light dark; --jp-layout-color0: light-dark(#fff, #111);
  --jp-layout-color1: light-dark(#fff, #161616);
  --jp-layout-color2: light-dark(#f1f4f7, #242424); --jp-layout-color3: light-dark(#dde2e7, #3a3a3a);
  --jp-ui-font-color0: light-dark(#111, #f4f4f4); --jp-ui-font-color1: light-dark(#222, #e8e8e8);
  --jp-ui-font-color2: light-dark(#4d4d4d, #bdbdbd); --jp-content-font-color1: light-dark(#222, #e8e8e8);
  --jp-border-color1: light-dark(#bbb, #555); --jp-border-color2: light-dark(#ccc, #444);
  --jp-success-color1: light-dark(#2e7d32, #81c784); --jp-warn-color1: light-dark(#a04000, #ffb74d);
  --jp-code-font-family: ui-monospace, monospace; }
body { margin: 0 auto; max-width: 1800px; padding: 16px 24px; background: var(--jp-layout-color0);
  color: var(--jp-ui-font-color1); font: 14px/1.45 system-ui, sans-serif; }
h1 { font-size: 22px; } .argus-as-of { margin: 8px 0; }
table { border-collapse: collapse; }
th, td { padding: 2px 10px; text-align: left; border-bottom: 1px solid var(--jp-border-color2); }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
pre { white-space: pre-wrap; } a { color: inherit; }
"""


def snapshot_page(
    session: Session,
    names: Sequence[str] = (),
    rows: int = SNAPSHOT_ROWS,
    head: str = "",
    grid: DashboardGrid | None = None,
) -> str:
    """One HTML page of a session as it is now.

    Args:
        session: of which.
        names: the queries to show; none: all.
        rows: how many rows of an answer at most.
        head: what is put into the head of the page.
        grid: where their sections stand; with one, it has all that is shown.

    Raises:
        QueryError: there is no such query.
    """
    queries = [session.query(name) for name in (names if grid is None else grid.names)] or [*session.queries.values()]
    title = (
        f"{Path(session.place).name}, after batch {session.batch}"
        if not session.temporary and not Path(session.place).name.startswith(PREFIX)  # a made-up name
        else f"Answers after batch {session.batch}"
    )
    csp = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'unsafe-inline'; connect-src 'self'"
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{csp}">
<title>{escape(title)}</title><style>{STYLE}{_PAGE_STYLE}{DASHBOARD_STYLE}</style>{head}</head>
<body class="argus"><header><h1>{escape(title)}</h1></header>
{_main(session, queries, rows, grid)}</body></html>
"""


def _main(session: Session, queries: Sequence[Query], rows: int, grid: DashboardGrid | None) -> str:
    if grid is None:
        return f'<main class="argus-dashboard">{"".join(_sections(session, queries, rows))}</main>'
    sections = "".join(answer_section(session, query, rows, grid) for query in queries)
    return f'<main class="argus-dashboard argus-grid" style="--argus-columns: {grid.columns}">{sections}</main>'


def _sections(session: Session, queries: Sequence[Query], rows: int) -> Iterator[str]:
    for query in queries:
        yield answer_section(session, query, rows)
    yield _section("Network", picture(session.network).html or "", wide=True)
    yield _section("Streams", streams_table(session).html or "", wide=True)
    if session.sinks:
        yield _section("Sinks", sinks_table(session.sinks).html or "", wide=True)


def answer_section(session: Session, query: Query, rows: int, grid: DashboardGrid | None = None) -> str:
    """The section of a query in a cell of the grid: its line *as of*, its chart, its first rows and its text."""
    width, area = (_CHART, "") if grid is None else (grid.chart_width(query.name), grid.area(query.name))
    parts = answer_parts(session, query, rows)
    drawn = parts.drawn
    chart = answer_chart(drawn.rows, drawn.columns, drawn.total, drawn.name, width).html or "" if drawn else ""
    return _section(query.name, parts.as_of + chart + parts.rows, area=area)


def _section(title: str, html: str, wide: bool = False, area: str = "") -> str:
    kind = ' class="wide"' if wide else f' style="--argus-area: {area}"' if area else ""
    return f'<section{kind} aria-label="{escape(title, quote=True)}"><h2>{escape(title)}</h2>{html}</section>'


@dataclass(frozen=True)
class AnswerParts:
    """The parts of an answer that are shown: its line *as of*, its chart, and its first rows with its text."""

    as_of: str
    drawn: DrawnRows | None
    rows: str


def answer_parts(session: Session, query: Query, rows: int) -> AnswerParts:
    """The parts of a query's section; what cannot be read says why in its place."""
    as_of, drawn = as_of_html(session.as_of(query.name)), None
    try:
        total = query.count()
        shown = query.head(rows)
        drawn = _drawn(query) if total > 1 else None
        heading = counted(total, "row") if len(shown) == total else f"{len(shown):,} of {counted(total, 'row')}"
        table = answer_table(shown, total, query.name).html or ""
        name = escape(query.name, quote=True)
        html = (
            f'{escape(heading)}<div class="rows" tabindex="0" role="region" aria-label="rows of {name}">{table}</div>'
        )
    except WorkbenchError as problem:
        html = plain(str(problem)).html or ""
    text = f"<details><summary>SQL</summary><pre>{escape(query.sql.strip())}</pre></details>"
    return AnswerParts(as_of, drawn, html + text)


def _drawn(query: Query) -> DrawnRows | None:
    """What the chart draws that an answer suggests; ``None`` where it has no numbers."""
    try:
        return drawn_rows(query, {})
    except MagicError:
        return None
