"""Commands that show a session and change nothing: results, windows, queries, streams, the network, the catalog."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from workbench.engine.answers import whole_file
from workbench.engine.spark.failures import translate_errors
from workbench.errors import MagicError
from workbench.explain.explanation import is_shared
from workbench.explain.portable.dialects import PORTABLE
from workbench.explain.text import counted, listed, short
from workbench.notebook.chart import BARS, POINTS, ChartColumns, answer_chart, changes_chart
from workbench.notebook.chart_series import total_columns
from workbench.notebook.command_line import argument, command, condition, natural_number
from workbench.notebook.commands.define import LIMIT, OUTPUT, show_result
from workbench.notebook.context import NotebookContext
from workbench.notebook.display import (
    Shown,
    as_of,
    explained,
    plain,
    rows_table,
    show,
    sinks_table,
    sources_table,
    state_of,
    streams_table,
    table,
    together,
    with_as_of,
)
from workbench.notebook.drawing import picture, render_svg
from workbench.notebook.joint_chart import drawn_columns, joint
from workbench.sql.logical import identifying_columns

if TYPE_CHECKING:
    from workbench.explain.describe import NetworkView
    from workbench.explain.explanation import ExplanationView
    from workbench.session.query import Query

QUERY = argument("query", metavar="QUERY", completes="query", help="its name")
DRAWN: Mapping[str, Callable[[NetworkView, str | None, bool], str]] = {
    ".svg": lambda network, query, full: render_svg(network.to_dot(query=query, full=full)),
    ".dot": lambda network, query, full: network.to_dot(query=query, full=full),
    ".txt": lambda network, query, full: network.to_text(query),
}
"""What is written of a network, by the end of the file's name."""
ROWS = 10
"""Rows of a table that are shown where no number is given."""


@command(
    "results",
    argument("query", nargs="+", metavar="QUERY", completes="query", help="its name; several are drawn in one --chart"),
    argument("--changes", action="store_true", help="rows that each batch added (weight 1) and removed (-1)"),
    argument(
        "--since",
        metavar="WHEN",
        help="only changes after this batch, or since a date or time of the stream: yesterday",
    ),
    argument("--at", metavar="INSTANT", help="the rows of one instant of a windowed query"),
    argument("--batch", type=int, metavar="K", help="the answer after batch K; 0 is the history"),
    argument("--diff", type=int, nargs="+", metavar="K", help="rows added and removed between batch K and another"),
    argument("--sort", metavar="COLUMN", help="the column to sort by, instead of the query's ORDER BY"),
    argument("--desc", action="store_true", help="with --sort: the largest first"),
    argument("--where", nargs="+", metavar="CONDITION", help="only rows that satisfy it: amount > 500"),
    argument(
        "--chart",
        nargs="*",
        metavar="PART=COLUMN",
        help="draw rows: y= columns of numbers, x= the column of the axis, by= the column of the series, "
        "kind= bars, line, area or points",
    ),
    argument(
        "--limit",
        type=natural_number,
        metavar="N",
        help=f"rows to show (default: {ROWS}; with --chart {BARS} bars, or the newest {POINTS:,} points)",
    ),
    OUTPUT,
    examples=(
        "%argus results big_transfers --limit 20",
        "%argus results big_transfers --sort amount --desc",
        "%argus results big_transfers --where 'amount > 2000000'",
        "%argus results big_transfers --limit 20 --chart amount",
        "%argus results fees_by_day --chart x=day y=fees by=state kind=line",
        "%argus results fees_by_day --chart x=day y=fees,mean_fee",
        "%argus results fees_by_day costs_by_day --chart x=day kind=line",
        "%argus results big_transfers --changes --since 3",
        "%argus results big_transfers --since yesterday",
        "%argus results big_transfers --batch 3",
        "%argus results big_transfers --diff 3 5",
    ),
)
def results(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Show a query's answer over all data so far."""
    arguments.where = condition(arguments.where) if arguments.where else None
    asked = None if arguments.chart is None else chart_parts(arguments.chart)
    number = next((n for n in arguments.query[1:] if n.isdecimal() and n not in context.session.queries), None)
    if number is not None:
        raise MagicError(
            f"{number} is no query", hint=f"a number stands behind its option: --since {number}, --limit {number}"
        )
    if len(arguments.query) > 1 or len(asked or ()) > 1:
        show_joint_chart(context, arguments, asked)
        return
    query, last = context.session.query(arguments.query[0]), context.session.batch
    limit = max(0, ROWS if arguments.limit is None else arguments.limit)
    if arguments.desc and arguments.sort is None:
        raise MagicError("--desc needs a column", hint="--sort COLUMN --desc")
    refined = any(given is not None for given in (arguments.at, arguments.batch, arguments.sort, arguments.where))
    if arguments.since is not None:
        arguments.changes = True
    if (arguments.changes or arguments.diff) and refined:
        hint = "--changes shows all changes; with -o VAR they can be sorted and chosen in pandas"
        raise MagicError("--at, --batch, --sort and --where are of the answer, not of its changes", hint=hint)
    if arguments.diff and (arguments.changes or arguments.chart is not None or len(arguments.diff) > 2):
        raise MagicError("--diff takes one batch or two, and shows rows", hint="--diff 3 5")
    if arguments.changes and arguments.chart:
        raise MagicError("changes are drawn as rows by batch, without a column", hint="--changes --chart")
    drawn: ChartColumns | None = None
    if arguments.changes:
        batch = None if arguments.since is None else query.batch_before(arguments.since)
        rows = query.changes(since=batch)
        shown = latest_changes(rows, limit, identifying_columns(query.logical))
        title = f"latest changes of {query.name} since {_since(query, batch, arguments.since)}"
        total = len(rows)
    elif arguments.diff:
        rows = query.diff(*arguments.diff)
        first, then = arguments.diff[0], arguments.diff[1] if len(arguments.diff) > 1 else last
        shown, total = rows.head(limit), len(rows)
        title = f"what {query.name} has more (1) and less (-1) after batch {then} than after batch {first}"
    elif refined or (arguments.chart is not None and query.status == "active"):
        drawn = None if asked is None else ChartColumns.of(query.columns, asked[0], total_columns(query.logical))
        moments = {"at": arguments.at, "batch": arguments.batch}
        past = {name: given for name, given in moments.items() if given is not None}
        total = query.count(**past, where=arguments.where)
        most = limit if drawn is None or arguments.limit is not None else drawn.most
        # All rows are fetched only for a variable.
        first = total if arguments.output is not None else most
        by = {"sort": arguments.sort, "descending": arguments.desc, "where": arguments.where}
        if drawn is not None and drawn.over_time and total > most and arguments.sort is None:
            by |= {"sort": drawn.x, "descending": True}  # of many points the newest
        if drawn is not None and drawn.over_time and by["sort"] == drawn.x and by["descending"]:
            drawn = replace(drawn, latest=True)
        rows = query.head(first, **past, **by)
        shown, title = rows.head(most), _title(context, query, arguments)
    else:
        show_result(context, query, limit, arguments.output)
        return
    if arguments.output is not None:
        context.variables[arguments.output] = rows
    if drawn is not None:
        made = answer_chart(shown, drawn, total, title)
    elif arguments.chart is not None:
        made = changes_chart(rows, title.removeprefix("latest "))
    else:
        made = rows_table(shown, total, title)
    of_past = arguments.at is not None or arguments.batch is not None or arguments.diff
    show(made if of_past or query.status != "active" else with_as_of(made, context.session.as_of(query.name)))


def show_joint_chart(
    context: NotebookContext, arguments: argparse.Namespace, asked: Sequence[dict[str, str]] | None
) -> None:
    """Draw the answers of several queries, or several columns of numbers, in one chart.

    Raises:
        MagicError: what is asked for is of one answer alone.
    """
    queries = [context.session.query(name) for name in dict.fromkeys(arguments.query)]
    refused = [f"--{name}" for name in ("changes", "since", "at", "diff", "sort", "desc") if getattr(arguments, name)]
    if asked is None or refused or arguments.output is not None:
        what = listed(refused) or ("-o" if arguments.output is not None else "a table")
        hint = f"%argus results {' '.join(arguments.query)} --chart x=day y=price draws several"
        several = str(len(arguments.query)) if len(arguments.query) > 1 else "several columns in one chart"
        raise MagicError(f"{what} is of one answer, not of {several}", hint=hint)
    refined = {"where": arguments.where} | ({} if arguments.batch is None else {"batch": arguments.batch})
    drawn = [drawn_columns(query, asked, arguments.limit, **refined) for query in queries]
    made = drawn[0] if len(drawn) == 1 else joint(drawn)
    when = "" if arguments.batch is None else f" as they were after batch {arguments.batch}"
    title = f"{made.name}{when}" + (f", where {arguments.where}" if arguments.where is not None else "")
    shown = answer_chart(made.rows, made.columns, made.total, title)
    for query in queries if arguments.batch is None else ():
        shown = with_as_of(shown, context.session.as_of(query.name), query.name if len(queries) > 1 else "")
    show(shown)


@command(
    "diff",
    QUERY,
    argument("batches", type=int, nargs="+", metavar="K", help="from this batch, to another (default: the last)"),
    examples=("%argus diff big_transfers 3", "%argus diff big_transfers 3 5"),
)
def diff(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Show the rows that were added to an answer (weight 1) and removed (-1) between two batches."""
    results.run(context, results.parse(f"{arguments.query} --diff {' '.join(map(str, arguments.batches))}"))


def chart_parts(words: Sequence[str]) -> list[dict[str, str]]:
    """What ``--chart`` says, for each column of numbers: parts with their columns; a column alone has the numbers.

    Raises:
        MagicError: a part other than the numbers is given twice, or is none.

    Example:
        >>> chart_parts(["x=day", "fees"])
        [{'x': 'day', 'y': 'fees'}]
        >>> chart_parts(["x=day", "y=n", "y=mean,max"])
        [{'x': 'day', 'y': 'n'}, {'x': 'day', 'y': 'mean'}, {'x': 'day', 'y': 'max'}]
    """
    parts, numbers = dict[str, str](), list[str]()
    for word in words:
        name, is_part, column = word.partition("=")
        part = name.lower() if is_part else "y"
        if part not in ("x", "y", "by", "kind") or (is_part and not column):
            what = f"{name}= is no part of a chart" if column else f"nothing stands behind {name}="
            raise MagicError(what, hint="--chart x=day y=price by=symbol kind=line")
        if part == "y":
            numbers += re.split(r",(?![^(]*\))", column if is_part else name)  # and not within ROUND(x, 2)
            continue
        if part in parts:
            raise MagicError(f"a chart has one {part}=, not two", hint="--chart x=day y=price by=symbol kind=line")
        parts[part] = column
    return [parts | {"y": y} for y in dict.fromkeys(numbers)] or [parts]


def _title(context: NotebookContext, query: Query, arguments: argparse.Namespace) -> str:
    """The batch or instant of an answer, and the condition on its rows, for its title."""
    when = f"at {arguments.at}" if arguments.at is not None else as_of(query, context.session.batch)
    when = when if arguments.batch is None else f"as it was after batch {arguments.batch}"
    by = f", by {arguments.sort}" if arguments.sort is not None else ""
    return f"{query.name} {when}{by}" + (f", where {arguments.where}" if arguments.where is not None else "")


def _since(query: Query, batch: int | None, given: str | None) -> str:
    """Since when changes are shown: a batch, and what was given where that is a time."""
    from_start = batch is None or batch < query.registered
    since = f"its answer after batch {query.registered}" if from_start else f"batch {batch}"
    return since if given is None or given.strip().isdecimal() else f"{given}, that is since {since}"


def latest_changes(changes: pd.DataFrame, limit: int, groups: Sequence[int] | None = None) -> pd.DataFrame:
    """The last of a query's changes, with what was taken back before what took its place.

    Args:
        changes: of a query, as ``Query.changes`` gives them.
        limit: how many at most.
        groups: the places of the query's columns that tell its rows apart; ``None``: its first column, as a key mostly.

    Example:
        >>> changed = pd.DataFrame({"batch": [1, 2, 2, 2], "weight": [1, 1, 1, -1], "bank": ["x", "x", "y", "x"]})
        >>> latest_changes(changed, 3).to_string(index=False).splitlines()
        [' batch  weight bank', '     2      -1    x', '     2       1    x', '     2       1    y']
    """
    if changes.empty or limit < 1:
        return changes.head(0)
    since = changes["batch"].iloc[-min(limit, len(changes))]
    columns = list(changes.columns[2:])
    first = columns[:1] if groups is None else [columns[place] for place in groups]
    order = ["batch", *first, "weight", *(name for name in columns if name not in first)]
    return changes[changes["batch"] >= since].sort_values(order, kind="stable", key=_sortable).tail(limit)


def _sortable(column: pd.Series) -> pd.Series:
    """Values as they are, and those that have no order by their texts."""
    return column.map(str) if any(isinstance(value, list | dict) for value in column) else column


@command(
    "verify",
    argument("query", nargs="?", metavar="QUERY", completes="query", help="its name (default: all)"),
    argument("--sample", type=float, metavar="PART", help="compare only this share of its groups, such as 0.01"),
    OUTPUT,
    examples=("%argus verify big_transfers", "%argus verify", "%argus verify fees_by_state --sample 0.1"),
)
def verify(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Evaluate a query's text once by Spark SQL over all stored rows, and compare the result with the kept answer.

    Nothing of the engine takes part but the answer that it keeps. What Spark SQL cannot say is reported as not
    verifiable; rows that differ are shown.
    """
    session = context.session
    if arguments.query is not None:
        found = {arguments.query: session.verify(arguments.query, arguments.sample)}
    else:
        found = session.verify(sample=arguments.sample)
    if arguments.output is not None:
        differing = {one.query: one.differing for one in found.values()}
        context.variables[arguments.output] = differing if arguments.query is None else differing.popitem()[1]
    show("\n".join(map(str, found.values())) or "there is no query to verify")


@command("windows", QUERY, LIMIT, examples=("%argus windows last_week",))
def windows(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """List the instants of a windowed query, and the bounds of its windows."""
    query = context.session.query(arguments.query)
    rows = query.windows()
    show(rows_table(rows.tail(max(0, arguments.limit)), len(rows), f"latest windows of {query.name}"))


@command("queries", examples=("%argus queries",))
def queries(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """List the queries, and how much each shares."""
    session = context.session
    network = session.network
    rows = []
    for name, query in session.queries.items():
        nodes = [network.node(id_) for id_ in network.work(name)] if name in network.results else []
        shared = sum(node.is_shared for node in nodes)
        columns = ", ".join(column for column, _ in query.columns)
        rows.append([name, state_of(query), str(len(nodes)), str(shared), short(columns, 60)])
    show(table(["query", "status", "nodes", "shared", "columns"], rows) if rows else Shown("no queries yet"))


@command("streams", examples=("%argus streams",))
def streams(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """List the streams, how far each has been read, the state of live sources, and how far sinks are behind."""
    session = context.session
    show(streams_table(session))
    if session.sources:
        show(sources_table(session.sources))
        session.forget_problems()
    if session.sinks:
        show(sinks_table(session.sinks))


@command(
    "plan",
    argument("query", nargs="?", metavar="QUERY", completes="query", help="the query to highlight"),
    argument("--full", action="store_true", help="draw every node of a large network"),
    argument("--save", metavar="FILE", help="write to a file: .svg, .dot for Graphviz, .txt, or .sql with views"),
    argument("--dialect", choices=tuple(PORTABLE), help="the dialect of a .sql file (default: duckdb)"),
    examples=(
        "%argus plan",
        "%argus plan big_transfers",
        "%argus plan --save network.svg",
        "%argus plan --save network.sql --dialect postgres",
    ),
)
def plan(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Draw the query network; with a query, highlight the nodes that compute it."""
    session = context.session
    network, query = session.network, None if arguments.query is None else session.query(arguments.query).name
    if arguments.dialect and not str(arguments.save).endswith(".sql"):
        raise MagicError("--dialect is of a file of SQL", hint=f"--save network.sql --dialect {arguments.dialect}")
    if arguments.save is None:
        show(picture(network, query, arguments.full))
        return
    file = Path(arguments.save).expanduser()
    kind = file.suffix.lower()
    if kind not in (*DRAWN, ".sql"):
        hint = f"end its name with {', '.join([*DRAWN, '.sql'])}; %argus snapshot page.html draws it on a page"
        raise MagicError(f"{file} is no drawing that can be written", hint=hint)
    if kind == ".sql":
        dialect = arguments.dialect or "duckdb"
        text = network.to_sql(dialect, None if query is None else [query])
        about = f"as views for {dialect}" + (f", those of {query}" if query is not None else "")
    else:
        text = DRAWN[kind](network, query, arguments.full)
        about = f"with {query} stressed" if query is not None else ""
    with translate_errors(f"write {file}"), whole_file(file) as part:
        part.write_text(text, encoding="utf-8")
    show(f"{file} has the network" + (f", {about}" if about else ""))


@command("explain", QUERY, examples=("%argus explain big_transfers",))
def explain(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Show what a query shares with others and why, which nodes were new for it, and which queries share them today."""
    query = context.session.query(arguments.query)
    explanation = query.explain()
    today = shared_today(context.session.network, explanation)
    show(together(explained(explanation), plain(today)) if today else explained(explanation))


def shared_today(network: NetworkView, explanation: ExplanationView) -> str:
    """Which queries share the work of one today; empty where these are the ones of its explanation, which says only who
    did when it was registered.
    """
    query = explanation.query
    nodes = [network.node(id_) for id_ in network.work(query)] if query in network.results else []
    shared = [node for node in nodes if node.is_shared]
    others = dict.fromkeys(name for node in shared for name in node.queries if name != query)
    shared_before = {name for d in explanation.decisions if is_shared(d) for name in d.shared_with}
    if others.keys() == shared_before:
        return ""
    if not others:
        return "so it was at its registration; today it shares its nodes with no query"
    verb = "is" if len(shared) == 1 else "are"
    how_many = f"{len(shared)} of {counted(len(nodes), 'node')} {verb} shared"
    return f"so it was at its registration; today {how_many}, with {listed(tuple(others))}"


@command(
    "catalog",
    argument("sql", nargs="*", metavar="SQL", help="a SELECT, in double quotes"),
    argument("--limit", type=natural_number, default=20, metavar="N", help="rows to show (default: 20)"),
    OUTPUT,
    examples=(
        "%argus catalog",
        "%argus catalog \"SELECT id FROM nodes WHERE kind = 'join'\"",
        "%argus catalog nodes",
        '%argus catalog "SELECT node, count(*) AS queries FROM serves GROUP BY node" -o shared',
    ),
)
def catalog(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Query the system catalog, the relations that describe the network; without SQL, list them.

    Raises:
        MagicError: the query is not in quotes.
        CatalogError: it is no SELECT, or names what is not there.
    """
    match arguments.sql:
        case []:
            show(relations(context))
        case [sql]:
            rows = context.session.catalog(f"SELECT * FROM {sql}" if sql.isidentifier() else sql)
            if arguments.output is not None:
                context.variables[arguments.output] = rows
            show(rows_table(rows.head(max(0, arguments.limit)), len(rows)))
        case words:
            raise MagicError("the query must be in quotes", hint=f'%argus catalog "{" ".join(words)}"')


def relations(context: NotebookContext) -> Shown:
    """The relations of the catalog, each with how many rows it has and its columns."""
    rows = [[name, f"{count:,}", ", ".join(columns)] for name, columns, count in context.session.catalog_tables()]
    return table(["relation", "rows", "columns"], rows, "system catalog")
