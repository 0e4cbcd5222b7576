"""Commands for queries that need not be answered in every batch."""

from __future__ import annotations

import argparse

from workbench.notebook.command_line import argument, command
from workbench.notebook.commands.show import QUERY
from workbench.notebook.context import NotebookContext
from workbench.notebook.display import as_of, show


@command("suspend", QUERY, examples=("%argus suspend weekly_report",), has_own_line=True)
def suspend(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Suspend a query: batches skip the nodes that only it needs, and its answer no longer changes."""
    context.session.suspend(arguments.query)
    query = context.session.query(arguments.query)
    show(f"{query.name} is suspended after batch {query.suspended}: %argus resume {query.name} lets it go on")


@command(
    "resume",
    argument("query", nargs="?", metavar="QUERY", completes="query", help="its name (default: all)"),
    examples=("%argus resume weekly_report", "%argus resume"),
    has_own_line=True,
)
def resume(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Resume suspended queries: their answers then cover all rows so far; this costs as much as a registration."""
    session = context.session
    names = [session.query(arguments.query).name] if arguments.query is not None else [*session.queries]
    going = [name for name in names if session.query(name).suspended is not None]
    session.resume(arguments.query)
    lines = [f"{name} goes on: its answer is {as_of(session.query(name), session.batch)}" for name in going]
    show("\n".join(lines) or "no query was suspended")


@command(
    "priority",
    QUERY,
    argument("priority", type=int, metavar="N", help="below 0: it may be suspended, the lowest first (default: 0)"),
    examples=("%argus priority weekly_report 1", "%argus priority weekly_report -1"),
    has_own_line=True,
)
def priority(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Set the priority of a query. When rows keep coming too fast, live play suspends queries below 0, the lowest
    first, and resumes them when it has time again.
    """
    context.session.prioritize(arguments.query, arguments.priority)
    query = context.session.query(arguments.query)
    may = "it may be suspended when rows come too fast" if query.priority < 0 else "it is never suspended by itself"
    show(f"{query.name} has priority {query.priority}: {may}")
