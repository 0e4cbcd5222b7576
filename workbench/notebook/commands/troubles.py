"""Commands for when something is wrong."""

from __future__ import annotations

import argparse
import sys
import traceback

from workbench.notebook.arguments import Command
from workbench.notebook.desk import Desk
from workbench.notebook.display import show


def doctor(desk: Desk, arguments: argparse.Namespace) -> None:
    """Check the installation."""
    from workbench.engine.spark.doctor import report  # looks at programs and folders, which takes a second

    show(report())


def last_error(desk: Desk, arguments: argparse.Namespace) -> None:
    """All there is to the last error of a cell, or else of the session."""
    # IPython leaves the last exception of a cell where Python's own prompt does.
    error = getattr(sys, "last_value", None) or getattr(desk.current, "last_error", None)
    show("".join(traceback.format_exception(error)) if error is not None else "no error so far")


COMMANDS = (
    Command("doctor", "Check that everything the workbench needs is there.", doctor, (), ("%argus doctor",)),
    Command("last-error", "Show the last error with all its details.", last_error, (), ("%argus last-error",)),
)
