"""Commands that let other programs read a session, and that show the changes of a query below a cell."""

from __future__ import annotations

import argparse
import json
import os
from typing import TYPE_CHECKING
from urllib.parse import quote

from sqlglot import exp

from workbench.errors import MagicError, WorkbenchError
from workbench.explain.text import counted, listed
from workbench.monitoring.metrics import serve_metrics
from workbench.notebook.command_line import argument, command, condition, natural_number, port_number
from workbench.notebook.context import NotebookContext
from workbench.notebook.display import show
from workbench.notebook.notification import Notification, least_of, noticed
from workbench.session.state import EAGER
from workbench.sql.algebra.column_names import unique_names
from workbench.sql.answer_condition import bind_condition
from workbench.sql.logical import identifying_columns
from workbench.web.listening import LOOPBACK

if TYPE_CHECKING:
    from workbench.session.query import Query
    from workbench.session.session import Session

_NOTIFY, _ALERT = "notify", "alert"
"""The first words in names of sinks that show changes below a cell; the query's name follows."""


_WITH_TOKEN = ", for requests with the token"
_LISTENING = (
    argument("--port", type=port_number, default=0, metavar="N", help="the port to listen at (default: a free one)"),
    argument("--host", default=LOOPBACK, metavar="ADDRESS", help="the interface (default: this machine alone)"),
    argument("--token-from", metavar="NAME", help="the environment variable with the token that requests need"),
)


@command(
    "metrics",
    *_LISTENING,
    examples=(
        "%argus metrics",
        "%argus metrics --port 9095",
        "%argus metrics --host 0.0.0.0 --token-from METRICS_TOKEN",
    ),
)
def metrics(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Let Prometheus read metrics of the session's batches, streams, sources and sinks. Only this machine can, unless
    --host names another interface, where a request needs a token.

    It ends with the kernel; a second call listens at another port.

    Raises:
        MagicError: the environment has no such variable.
        SessionError: there is no token for an interface that others reach.
    """
    token = _token_from(arguments.token_from)
    endpoint = serve_metrics(context.session, arguments.port, arguments.host, token)
    show(f"metrics at {endpoint.url}" + _WITH_TOKEN * (token is not None))


@command(
    "subscribe",
    argument("query", nargs="?", metavar="QUERY", completes="query", help="its name (default: all)"),
    *_LISTENING,
    argument("--flight", type=port_number, metavar="N", help="also a port for Arrow Flight; 0 takes a free one"),
    argument("--stop", action="store_true", help="end it"),
    examples=(
        "%argus subscribe big_transfers",
        "%argus subscribe big_transfers --port 8090 --flight 8091",
        "%argus subscribe --host 0.0.0.0 --token-from ANSWERS_TOKEN",
        "%argus subscribe --stop",
    ),
)
def subscribe(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Let other programs follow an answer: they get it, and then its changes in each batch, as server-sent events or
    over Arrow Flight. Only this machine can, unless --host names another interface, where a request needs a token.

    Nothing can be changed there. It ends with the kernel, or with --stop; a second call says where it is.

    Raises:
        MagicError: the environment has no such variable, or nothing is served that could be stopped.
        QueryError: there is no such query.
        SessionError: there is no token for an interface that others reach, or the port is taken.
    """
    session = context.session
    served = session.served
    if arguments.stop:
        if not served:
            raise MagicError("nothing is served", hint="%argus subscribe QUERY serves answers")
        for port in served:
            port.close()
        show("answers are served no more")
        return
    name = "QUERY" if arguments.query is None else session.query(arguments.query).name
    token = _token_from(arguments.token_from)
    if not served or arguments.port or arguments.flight is not None or token is not None:
        served = (session.serve(arguments.port, arguments.host, token, arguments.flight),)
    for port in served:
        show(f"answers at {port.url}" + _WITH_TOKEN * (token is not None))
        show(f"  as they change: curl -N '{port.url}/{quote(name)}/changes'")
        if port.flight_url is not None:
            ticket = json.dumps({"query": name, "follow": True})
            show(f"  in Arrow: pyarrow.flight.connect('{port.flight_url}').do_get(pyarrow.flight.Ticket('{ticket}'))")


@command(
    "agents",
    *_LISTENING,
    argument("--may-register", type=natural_number, metavar="N", help="let agents register N queries (default: none)"),
    argument(
        "--rows-per-batch",
        type=natural_number,
        metavar="N",
        help="the number of rows that each of these queries may read in a batch",
    ),
    argument("--stop", action="store_true", help="end it"),
    examples=(
        "%argus agents",
        "%argus agents --port 8092 --token-from AGENTS_TOKEN",
        "%argus agents --may-register 3 --rows-per-batch 10000",
        "%argus agents --stop",
    ),
)
def agents(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Let agents ask the session over the Model Context Protocol: list, schema, ask, changes_since, explain, why,
    why_not and preview. A request needs a token; only this machine can ask, unless --host names another interface.

    They change nothing, unless --may-register allows as many queries, each within the cost that you give. It ends with
    the kernel, or with --stop. "argus agents FOLDER" serves a kept session over stdio.

    Raises:
        MagicError: one of the two limits is missing, the environment has no such variable, or nothing is served.
        SessionError: nothing can listen there, or it needs a token that you choose.
        StreamError: the package mcp is not installed.
    """
    from workbench.agents.server import ServedAgents, serve_agents  # mcp is an extra, and takes a second to import
    from workbench.agents.verbs import Allowance

    session = context.session
    if arguments.stop:
        served = [port for port in session.ports if isinstance(port, ServedAgents)]
        if not served:
            raise MagicError("no agents are served", hint="%argus agents serves them")
        for port in served:
            port.close()
        show("agents are served no more")
        return
    queries, rows = arguments.may_register, arguments.rows_per_batch
    if (queries is None) != (rows is None):
        raise MagicError("registering needs both limits", hint="--may-register 3 --rows-per-batch 10000")
    allowance = None if queries is None else Allowance(queries, rows)
    chosen = _token_from(arguments.token_from)
    made = serve_agents(session, arguments.port, arguments.host, chosen, allowance)
    show(f"agents may ask at {made.url}, with Authorization: Bearer {'TOKEN' if chosen else made.token}")
    show("they read only" if allowance is None else f"and register {queries} queries of at most {rows:,} rows a batch")


def _token_from(name: str | None) -> str | None:
    """The token that a variable of the environment has.

    Raises:
        MagicError: there is no such variable.
    """
    if name is not None and name not in os.environ:
        raise MagicError(
            f"the environment has no variable {name}", hint="a token in the cell would stay in the notebook"
        )
    return None if name is None else os.environ[name]


@command(
    "notify",
    argument("query", metavar="QUERY", completes="query", help="its name"),
    argument("condition", nargs="*", metavar="CONDITION", help="only rows that newly satisfy it: n > 500"),
    argument("--least", type=natural_number, default=0, metavar="N", help="only batches with at least N new rows"),
    argument("--stop", action="store_true", help="end it"),
    examples=(
        "%argus notify big_transfers",
        "%argus notify big_transfers amount > 5000000 --least 3",
        "%argus notify big_transfers --stop",
    ),
)
def notify(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Show below this cell, and in the panel, how each batch changes an answer, while the kernel runs. %argus open
    resumes this below its own cell, after the last batch that was shown.

    It is a sink, which %argus streams lists. A second call moves it to the cell of that call. With a condition it is an
    alert: a query over the answer, called QUERY_alert, whose new rows are shown.
    """
    session, query = context.session, context.session.query(arguments.query)
    if arguments.stop:
        _stop(session, query)
    elif not arguments.condition:
        sink = f"{_NOTIFY} {query.name}"
        if sink in session.sinks:
            session.drop_sink(sink)
        notification = Notification(query.name, session.batch, noticed(session.player), arguments.least)
        session.add_sink(query.name, notification, name=sink)
    else:
        _alert(session, query, condition(arguments.condition), arguments.least)


def _alert(session: Session, query: Query, when: str, least: int) -> None:
    """Register a query for the condition, and show the rows that newly satisfy it."""
    names = unique_names([name.lower() for name, _ in query.columns])
    columns = tuple(zip(names, (type_ for _, type_ in query.columns), strict=True))
    bind_condition(when, query.dialect, columns, query.timezone)
    name, sink = f"{query.name}_alert", f"{_ALERT} {query.name}"
    if name in session.queries and sink not in session.sinks:
        raise MagicError(f"there is a query {name}, as an alert would be called", hint=f"%argus drop {name}")
    if sink in session.sinks:
        session.drop_sink(sink)
    table = exp.to_identifier(query.name).sql(query.dialect)
    end = "\n)" if "--" in when else ")"  # a comment would hide it
    text = f"SELECT {_columns_as_named(query)} FROM {table} WHERE ({when}{end}"
    # Eager: only then are the rows that leave a windowed answer kept, so that they can be shown.
    known = session.register(text, name, query.dialect, results=EAGER).registered
    title, rows_are = f"{query.name} where {when}", identifying_columns(query.logical)
    notification = Notification(title, known, noticed(session.player), max(1, least), alert=True, identity=rows_are)
    try:
        session.add_sink(name, notification, name=sink)
    except WorkbenchError:  # without its sink the query has no reader
        session.drop(name)
        raise


def _columns_as_named(query: Query) -> str:
    """The columns of an answer for a SELECT: by name where ``*`` would have other names, in lower case."""
    names = [name for name, _ in query.columns]
    if all(name == name.lower() for name in names) or len({name.lower() for name in names}) < len(names):
        return "*"
    return ", ".join(exp.to_identifier(name, quoted=True).sql(query.dialect) for name in names)


def is_watching(sink: str) -> bool:
    """Whether a sink of this name shows changes below a cell."""
    return sink.partition(" ")[0] in (_NOTIFY, _ALERT) and " " in sink


def drop_query(session: Session, name: str) -> str:
    """Drop a query, its sinks and its alert; says how many nodes that removed, and what ended with it."""
    query, alert = session.query(name).name, alert_of(session, name)
    before, sinks = len(session.network.work()), [*session.sinks]
    for each in (*alert, query):
        session.drop(each)
    after = len(session.network.work())
    ended = [*(f"query {each}" for each in alert), *(f"sink {each}" for each in sinks if each not in session.sinks)]
    told = f"; with it ended {listed(ended, 20)}" if ended else ""
    return f"{query} dropped: {counted(before - after, 'node')} removed, {after:,} left{told}"


def alert_of(session: Session, name: str) -> list[str]:
    """The name of the query of an alert on a query, if it has one."""
    query = session.query(name).name
    there = f"{_ALERT} {query}" in session.sinks and f"{query}_alert" in session.queries
    return [f"{query}_alert"] if there else []


def condition_of(session: Session, alert: str) -> str:
    """The condition of an alert, as it was typed, from the name of its query."""
    return session.query(alert).sql.partition(" WHERE (")[2].rstrip("\n)")


def watch_again(session: Session) -> dict[str, str]:
    """Show below the running cell the changes that cells of an ended kernel showed.

    Each goes on after the last batch that it showed. If the query of an alert was dropped and its own query was not, as
    from Python, rows that satisfied the condition before are shown again when they change.

    Returns:
        The problems of those that cannot go on, by sink.
    """
    problems = {}
    for sink, status in dict(session.sinks).items():
        kind, _, name = sink.partition(" ")
        if not is_watching(sink) or not status.problem:
            continue
        try:
            title, rows_are = name, None
            if kind == _ALERT:
                title = f"{name} where {condition_of(session, status.query)}"
                rows_are = identifying_columns(session.query(name).logical) if name in session.queries else None
            known, panel, least = max(0, status.batch), noticed(session.player), least_of(status.target)
            notification = Notification(title, known, panel, least, kind == _ALERT, rows_are)
            session.add_sink(status.query, notification, name=sink)
        except WorkbenchError as error:
            problems[sink] = error.message
    return problems


def _stop(session: Session, query: Query) -> None:
    """Drop the sinks that show a query's changes below a cell, and the query of its alert."""
    sinks = [name for name in (f"{_NOTIFY} {query.name}", f"{_ALERT} {query.name}") if name in session.sinks]
    if not sinks:
        raise MagicError(f"nothing is said of {query.name}", hint=f"%argus notify {query.name}")
    for alert in alert_of(session, query.name):
        session.drop(alert)
    for sink in filter(session.sinks.__contains__, sinks):
        session.drop_sink(sink)
