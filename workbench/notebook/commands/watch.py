"""Commands that let a session be watched: from outside the notebook, and a query below its cell."""

from __future__ import annotations

import argparse

from workbench.monitoring.metrics import serve_metrics
from workbench.notebook.command_line import MagicError, argument, command
from workbench.notebook.context import NotebookContext
from workbench.notebook.display import show
from workbench.notebook.notification import Notification


@command(
    "metrics",
    argument("--port", type=int, default=0, metavar="N", help="where to listen (default: at a port that is free)"),
    examples=("%argus metrics", "%argus metrics --port 9095"),
)
def metrics(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Let Prometheus read how the session is: batches, streams, sources, sinks. Only this machine can.

    It ends with the kernel; a second call listens at another port.
    """
    show(f"metrics at {serve_metrics(context.session, arguments.port).url}")


@command(
    "notify",
    argument("query", metavar="QUERY", completes="query", help="its name"),
    argument("--stop", action="store_true", help="say no more"),
    examples=("%argus notify big_transfers", "%argus notify big_transfers --stop"),
)
def notify(context: NotebookContext, arguments: argparse.Namespace) -> None:
    """Say below this cell what each batch changes in an answer, for as long as the kernel runs.

    It is a sink, and so is listed by %argus streams. A second call goes on in its own cell.
    """
    session, name = context.session, f"notify {arguments.query}"
    query = session.query(arguments.query)
    if name in session.sinks:
        session.drop_sink(name)
    elif arguments.stop:
        raise MagicError(f"nothing is said of {query.name}", hint=f"%argus notify {query.name}")
    if not arguments.stop:
        session.add_sink(query.name, Notification(query.name, session.batch), name=name)
