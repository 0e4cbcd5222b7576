"""Commands that keep the session in a folder, and that go on with one that is there."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.notebook.arguments import Command, MagicError, argument
from workbench.notebook.desk import Desk
from workbench.notebook.display import show

if TYPE_CHECKING:
    from workbench.session import Session


def save(desk: Desk, arguments: argparse.Namespace) -> None:
    """Copy the session to a folder; this notebook goes on with the one it has.

    Raises:
        SessionError: there is a session in the folder, or it cannot be written to.
    """
    desk.session.save(arguments.path)
    show(f"saved to {arguments.path}: {described(desk.session)}\n%argus open {arguments.path} goes on from there")


def open_session(desk: Desk, arguments: argparse.Namespace) -> None:
    """Work with the session of a folder from now on, as it was committed last.

    Raises:
        MagicError: the notebook has it open already.
        SessionError: there is no session in the folder.
    """
    here = Path(arguments.path).expanduser().resolve()
    current = desk.current
    if current is not None and current.path == here and not (current.closed or current.read_only):
        raise MagicError(f"this notebook has {arguments.path} open already", hint="%argus queries lists what it has")
    session = desk.open(arguments.path)
    lines = [f"{arguments.path}: {described(session)}"]
    lines += [f"{name} does not run: {q.status}" for name, q in session.queries.items() if q.status != "active"]
    if session.read_only:
        lines.append(f"read-only: {session.read_only}")
    show("\n".join(lines))


def described(session: Session) -> str:
    """What a session has, in a few words."""
    batch = "before the first batch" if not session.batch else f"after batch {session.batch:,}"
    tables = sum(stream.table for stream in session.streams.values())
    numbers = {"stream": len(session.streams) - tables, "table": tables, "query": len(session.queries)}
    told = [f"{n:,} {what if n == 1 else _PLURALS[what]}" for what, n in numbers.items() if n]
    return f"{batch}, {', '.join(told) or 'nothing in it yet'}"


_PLURALS = {"stream": "streams", "table": "tables", "query": "queries"}

PATH = argument("path", metavar="PATH", completes="path", help="the session's folder")

COMMANDS = (
    Command(
        "save",
        "Copy the session as it is to a folder, to be opened there later.",
        save,
        (PATH,),
        ("%argus save ~/fraud",),
    ),
    Command(
        "open",
        "Go on with the session of a folder from its last batch; read-only while it is open elsewhere.",
        open_session,
        (PATH,),
        ("%argus open ~/fraud",),
    ),
)
