"""The command that lets a session be watched from outside the notebook."""

from __future__ import annotations

import argparse

from workbench.monitoring.metrics import serve_metrics
from workbench.notebook.command_line import argument, command
from workbench.notebook.context import NotebookContext
from workbench.notebook.display import show


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
