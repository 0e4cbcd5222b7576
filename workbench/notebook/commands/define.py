"""Commands that register queries, and drop what there is."""

from __future__ import annotations

import argparse
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from IPython.display import display

from workbench.errors import MagicError, SqlError, SqlWarning, WorkbenchError, nearest
from workbench.explain.describe import NetworkView
from workbench.explain.text import counted, listed
from workbench.notebook.command_line import argument, command, natural_number, new_variable
from workbench.notebook.commands.costs import what_if
from workbench.notebook.commands.watch import alert_of, condition_of, drop_query
from workbench.notebook.context import NotebookContext
from workbench.notebook.display import as_of, counts, explained, plain, rows_table, show, together, with_as_of
from workbench.notebook.drawing import picture
from workbench.notebook.parameters import fill_placeholders, placeholders
from workbench.session.state import ACTIVE, LAZY, RESULTS
from workbench.sql.by_name import hint_of
from workbench.sql.syntax.dialects import EXAMINED

if TYPE_CHECKING:
    from workbench.explain.explanation import ExplanationView
    from workbench.session.query import Query
    from workbench.session.session import Session

LIMIT = argument("--limit", type=natural_number, default=10, metavar="N", help="rows to show (default: 10)")
OUTPUT = argument("-o", "--output", type=new_variable, metavar="VAR", help="variable that gets all rows")


@command(
    "%%argus",
    argument("name", metavar="NAME", completes="query", help="the name of the query"),
    argument(
        "--dialect",
        default="spark",
        metavar="D",
        completes="dialect",
        help=f"the dialect of the SQL: {', '.join(sorted(EXAMINED))} (default: spark)",
    ),
    argument(
        "--results",
        choices=RESULTS,
        default=LAZY,
        help="when a window is applied: as the answer is read (lazy), or in each batch (eager); off keeps no answer",
    ),
    argument("--dry-run", action="store_true", help="show what the query would share and cost; register nothing"),
    argument(
        "--slider",
        action="append",
        metavar="NAME=FIRST:LAST[:STEP]|VALUE,…",
        help="show a slider for :NAME, which updates the answer; Keep registers the query",
    ),
    argument("--force", action="store_true", help="register also a query that joins too many rows, which takes long"),
    argument(
        "--compare",
        action="store_true",
        help="first show how the answer would change if this query replaced the one of its name, and ask",
    ),
    argument(
        "--request", action="store_true", help="ask the process that writes this session to register it, and wait"
    ),
    argument("--move", action="store_true", help="let queries, alerts and sinks of the old query read the new one"),
    LIMIT,
    OUTPUT,
    examples=(
        "%%argus big_transfers --dialect oracle -o big\n  SELECT tranid FROM FedWireTrans WHERE amount > 1000000",
        "%%argus by_size --slider least=0:1000000:50000\n  SELECT tranid FROM FedWireTrans WHERE amount > :least",
    ),
)
def cell_magic(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Register the SQL of the cell as a continuous query, or replace the query of this name. {{name}} inserts the text
    of a variable, and :name its value.
    """
    if arguments.slider:
        show_sliders(context, arguments)
        return
    sql = fill_placeholders(arguments.cell, context.variables, arguments.dialect)
    if not sql.strip():
        raise MagicError("the cell has no SQL", hint=in_words(context, arguments.name))
    session = context.session
    if arguments.dry_run:
        preview, explanation, change = preview_query(session, sql, arguments.name, arguments.dialect)
        headline = plain(f"dry run, nothing was changed: {change}")
        forecast = plain(what_if(session, preview, arguments.name))
        show(together(headline, forecast, explained(explanation), picture(preview, arguments.name)))
        return
    if arguments.compare:
        show_replacement(session, sql, arguments)
        return
    if arguments.request:
        with doubts() as found:
            query = session.request(sql, arguments.name, arguments.dialect, arguments.results)
        show("\n".join([f"{query.name} is registered by the process that writes", *found]))
        show_result(context, query, arguments.limit, arguments.output)
        return
    try:
        query, change = register_and_describe(
            session, sql, arguments.name, arguments.dialect, arguments.results, arguments.force, arguments.move
        )
    except SqlError as error:
        name = error.message.removeprefix("unknown stream ")
        if hasattr(context.variables.get(name), "columns"):
            error.hint = f"{name} is a variable of the notebook: %argus stream {name} {name} adds its rows"
        raise
    show(change)
    show_result(context, query, arguments.limit, arguments.output)


def show_sliders(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Show sliders for parameters of the cell's SQL, and its answer at their values."""
    from workbench.notebook.panel.parameter_sliders import ParameterSliders
    from workbench.notebook.slider_ranges import SliderRange

    if arguments.dry_run or arguments.output:
        raise MagicError("a cell with sliders registers nothing", hint="leave out --dry-run and -o; Keep registers it")
    ranges, used = [SliderRange.parsed(text) for text in arguments.slider], placeholders(arguments.cell)
    if unused := [each.name for each in ranges if each.name not in used]:
        raise MagicError(
            f"the cell has no parameter {unused[0]}", hint=nearest(unused[0], used) or f"write :{unused[0]} in the SQL"
        )
    session, dialect = context.session, arguments.dialect

    def text_at(values: Mapping[str, Any]) -> str:
        return fill_placeholders(arguments.cell, {**context.variables, **values}, dialect)

    def keep(sql: str) -> str:
        return register_and_describe(session, sql, arguments.name, dialect, arguments.results, arguments.force)[1]

    sliders = ParameterSliders(session, ranges, text_at, dialect, keep, context.variables, arguments.limit)
    session.preview(text_at(sliders.values), arguments.name, dialect)  # a mistake is the cell's, with its place
    follows = f"its answer follows {counted(len(ranges), 'slider')}, and Keep registers it"
    show(f"{arguments.name} is not registered: {follows}")
    context.sliders[arguments.name] = sliders
    display(sliders.widget)
    sliders.refresh()


def show_replacement(session: Session, sql: str, arguments: argparse.Namespace) -> None:
    """Show how an answer would change if a text replaced a query, and let the analyst choose."""
    from workbench.notebook.panel.replacement_view import ReplacementChoice  # its widgets take a second to import

    name = session.query(arguments.name).name
    with doubts() as found:
        replacement = session.compare(sql, name, arguments.dialect)

    def register(under: str, moves: bool) -> str:
        options = arguments.dialect, arguments.results, arguments.force, moves
        return register_and_describe(session, sql, under, *options)[1]

    show("\n".join([f"{name}, if it were replaced; nothing was changed:", str(replacement), *found]))
    display(ReplacementChoice(session, name, register).widget)


def in_words(context: NotebookContext, name: str) -> str:
    """How a cell looks that registers a query, with a stream that there is."""
    current = context.current
    streams = [] if current is None or current.closed else list(current.streams)
    if not streams:
        return f"%argus stream NAME FILE adds a stream; then write SELECT * FROM NAME in the lines below %%argus {name}"
    return f"write the query in the lines below %%argus {name}, as in: SELECT * FROM {streams[0]}"


def register_and_describe(
    session: Session,
    sql: str,
    name: str | None,
    dialect: str,
    results: str = LAZY,
    force: bool = False,
    move: bool = False,
) -> tuple[Query, str]:
    """Register or replace a query; gives it with a sentence on what that did to the network."""
    replaced = name is not None and name.lower() in {other.lower() for other in session.queries}
    before, old = session.network, session.query(name) if replaced and name else None
    # What reads a query goes on where its cell is run again.
    move = move or (old is not None and (old.sql, old.dialect, old.status) == (sql, dialect, ACTIVE))
    with doubts() as found:
        query = session.register(sql, name=name, dialect=dialect, results=results, force=force, move=move)
    change = describe_change(query.name, before, session.network)
    sentence = f"{query.name} {'replaced' if replaced else 'registered'}: {change}"
    if replaced and not move:
        found += _left_behind(session, query.name)
    return query, "\n".join([sentence, *found])


def _left_behind(session: Session, name: str) -> Iterator[str]:
    """What was not taken over to the text that has replaced a query: its alert, its readers and its sinks."""
    word, alert = re.compile(rf"\b{re.escape(name)}\b", re.IGNORECASE), alert_of(session, name)
    for each in alert:
        again = f"%argus notify {name} {condition_of(session, each)}"
        yield f"its alert still watches the earlier {name}; {again}  watches this one"
    readers = [q for q, query in session.queries.items() if q not in (name, *alert) and word.search(query.sql)]
    sinks = [sink for sink, status in session.sinks.items() if status.query == name]
    if readers:
        read = f"{listed(readers, 5)} still {'reads' if len(readers) == 1 else 'read'}"
        again = "its cell" if len(readers) == 1 else "their cells"
        yield f"{read} the earlier {name}; run again, {again} read{'s' * (len(readers) == 1)} this one"
    if sinks:
        which = "it" if len(sinks) == 1 else "them"
        yield f"{counted(len(sinks), 'sink')} of it gets no more: {listed(sinks, 5)}; add {which} again"
    if alert or readers or sinks:
        yield f"%%argus {name} --move  takes all of this along, the next time"


def preview_query(session: Session, sql: str, name: str, dialect: str) -> tuple[NetworkView, ExplanationView, str]:
    """The network with a query that is not registered, its sharing, and a sentence on the change."""
    with doubts() as found:
        preview, explanation = session.preview(sql, name=name, dialect=dialect)
    return preview, explanation, "\n".join([describe_change(name, session.network, preview), *found])


@contextmanager
def doubts() -> Iterator[list[str]]:
    """The warnings under which a query is accepted within the context; other warnings go where warnings go.

    An error that refuses the query has them as notes: what is hardly meant is often why it is refused.
    """
    found: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SqlWarning)
        try:
            yield found
        except WorkbenchError as error:
            for warning in caught:
                if issubclass(warning.category, SqlWarning):
                    error.add_note(f"warning: {warning.message}")
            raise
    for warning in caught:
        if issubclass(warning.category, SqlWarning):
            found.append(f"warning: {warning.message}")
        else:
            warnings.showwarning(warning.message, warning.category, warning.filename, warning.lineno)


def describe_change(name: str, before: NetworkView, after: NetworkView) -> str:
    """The effect of a registration on the network, in a few words."""
    old, new = before.work(), after.work()
    if name not in after.results:
        return f"it is computed when it is asked; the network has {counted(len(new), 'node')}"
    of_query = after.work(name)
    added = len(new - old)
    changes = {
        "node new" if added == 1 else "nodes new": added,
        "shared": len(of_query & old),
        "removed" if name in before.results else "no longer needed": len(old - new),
    }
    return f"{counts(changes) or 'no node of its own'}; the network has {counted(len(new), 'node')}"


def show_result(context: NotebookContext, query: Query, limit: int, output: str | None) -> None:
    """The first rows of a query's result; all of them into a variable when one is named."""
    if query.status != "active":
        show(f"{query.name} is disabled: {query.status}")
        return
    if output is not None:
        result = context.variables[output] = query.result()
        first, rows = result.head(max(0, limit)), len(result)
    else:
        first = query.head(max(0, limit))
        rows = len(first) if len(first) < limit else query.count()
    shown = rows_table(first, rows, f"{query.name} {as_of(query, context.session.batch)}")
    show(with_as_of(shown, context.session.as_of(query.name)))


@command(
    "drop",
    argument("names", nargs="+", metavar="NAME", completes="query or stream", help="of queries, streams or tables"),
    examples=("%argus drop big_transfers", "%argus drop big_transfers FedWireTrans"),
)
def drop(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Drop a query and the nodes only it needed, or a stream or table that no query reads, with its rows; or several.

    The sinks of a query and its alert end with it; queries that read it go on with what it was.
    Nothing is dropped where one of the names is of nothing; queries go before the streams that they read.

    Raises:
        MagicError: there is no query, stream or table of a name.
        StreamError: another query reads a stream.
    """
    session, names = context.session, dict.fromkeys(name.rstrip(",") for name in arguments.names)
    queries = {query.lower() for query in session.queries}
    streams = {stream.lower(): stream for stream in session.streams}
    if unknown := [name for name in names if name.lower() not in queries | streams.keys()]:
        known = [name for name in names if name not in unknown]
        is_all = unknown[0].lower() == "all" and session.queries
        every = f"%argus drop {' '.join(session.queries)} drops all"
        hint = every if is_all else hint_of(unknown[0], "one of", [*session.queries, *session.streams])
        hint = f"%argus drop {' '.join(known)} drops what there is" if known else hint
        raise MagicError(f"there is no query, stream or table {unknown[0]}", hint=hint)
    for name in sorted(names, key=lambda name: name.lower() not in queries):
        if name.lower() in queries:
            if name.lower() in {query.lower() for query in session.queries}:  # an alert ends with its query
                show(drop_query(session, name))
            continue
        stream = session.streams[streams[name.lower()]]
        rows = counted(stream.rows, "row")  # those of a live stream cannot be counted when it is gone
        session.drop_stream(stream.name)
        show(f"{'table' if stream.table else 'stream'} {stream.name} dropped, with its {rows}")
