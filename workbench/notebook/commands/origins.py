"""Commands that say why rows are in an answer, and why others are not."""

from __future__ import annotations

import argparse

from workbench.notebook.command_line import argument, command, condition, natural_number
from workbench.notebook.commands.define import OUTPUT
from workbench.notebook.commands.show import QUERY
from workbench.notebook.context import NotebookContext
from workbench.notebook.display import Shown, frame_table, rows_table, show, together

_ROWS = 10
"""Rows of an answer that are shown of those that are explained."""
_LIMIT = argument(
    "--limit", type=natural_number, default=20, metavar="N", help="rows of each stream to show (default: 20)"
)


@command(
    "why",
    QUERY,
    argument(
        "where", nargs="*", metavar="CONDITION", help="only rows of the answer that satisfy it: WHERE amount > 500"
    ),
    argument("--batch", type=int, metavar="K", help="only rows that arrived in batch K, which may have changed it"),
    _LIMIT,
    OUTPUT,
    examples=("%argus why fees_by_state WHERE state = 'TX'", "%argus why fees_by_state state = 'TX' --batch 3"),
)
def why(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Show the input rows from which rows of an answer are computed, and the batch of each.

    For MIN and MAX alone, also with OVER, these are the rows with that value; for other aggregates they are the whole
    group, and for other functions with OVER the whole partition.
    """
    where = condition(arguments.where) if arguments.where else None
    query = context.session.query(arguments.query)
    if arguments.batch is not None:
        query.batch_before(arguments.batch)  # there may be no such batch
    found = query.why(where)
    if arguments.output is not None:
        context.variables[arguments.output] = found.streams
    if not found.total:
        keeps = "" if where is None else f"; %argus why-not {found.query} {where}  says what keeps it out"
        show(found.title + keeps)
        return
    parts = [frame_table(found.rows.head(_ROWS), found.title)]
    for stream, rows in found.streams.items():
        of = rows if arguments.batch is None else rows[rows["batch"] == arguments.batch]
        title = stream if arguments.batch is None else f"{stream}, what batch {arguments.batch} brought of them"
        parts.append(rows_table(of.head(max(0, arguments.limit)), len(of), title))
    show(together(*parts))


@command(
    "why-not",
    QUERY,
    argument("where", nargs="+", metavar="CONDITION", help="the rows that you expected: WHERE state = 'TX'"),
    _LIMIT,
    OUTPUT,
    examples=("%argus why-not fees_by_state WHERE state = 'TX'",),
)
def why_not(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Show which conditions keep rows out of an answer, and the stored rows that would be in it without them.

    Each condition of the query is removed alone: in WHERE, HAVING and QUALIFY, a window, a partner in a join,
    EXCEPT and NOT IN, LIMIT. If removing one is never enough, a set is shown all of which must be removed.
    """
    found = context.session.query(arguments.query).why_not(condition(arguments.where))
    if arguments.output is not None:
        context.variables[arguments.output] = found
    parts = [Shown(found.title)]
    for cause in found.causes:
        parts.append(frame_table(cause.rows, _first_of(cause.title, len(cause.rows), cause.total)))
        for stream, rows in cause.streams.items():
            parts.append(rows_table(rows.head(max(0, arguments.limit)), len(rows), stream))
    show(together(*parts))


def _first_of(title: str, shown: int, total: int) -> str:
    """A title that says how many rows there are, and that not all are shown."""
    return title if shown == total else f"{title}, the first {shown}"
