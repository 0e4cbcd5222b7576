"""Commands that keep the session in a folder, and that go on with one that is there."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.explain.text import counted
from workbench.notebook.arguments import Command, MagicError, argument
from workbench.notebook.desk import Desk
from workbench.notebook.display import show
from workbench.session.directory.directory import CATALOG

if TYPE_CHECKING:
    from workbench.session.session import Session


def save(desk: Desk, arguments: argparse.Namespace) -> None:
    """Copy the session to a folder; this notebook goes on with the one it has.

    Raises:
        MagicError: there is a session in the folder.
        SessionError: it cannot be written to.
    """
    folder, current = Path(arguments.path).expanduser().resolve(), desk.session
    if current.path == folder:
        show(f"{arguments.path} is the session of this notebook: every batch and query is kept there at once")
        return
    if (folder / CATALOG).exists():
        hint = f"save to another folder, or remove that one; %argus open {arguments.path} goes on with what is there"
        raise MagicError(f"there is a session in {arguments.path} already, and nothing is written over", hint=hint)
    current.save(arguments.path)
    desk.saved = contents(desk.session)
    show(f"saved to {arguments.path}: {described(desk.session)}\n%argus open {arguments.path} goes on from there")


def open_session(desk: Desk, arguments: argparse.Namespace) -> None:
    """Work with the session of a folder from now on, as it was committed last.

    Raises:
        MagicError: the notebook has it open already, or would leave a session that is nowhere saved.
        SessionError: there is no session in the folder.
    """
    here = Path(arguments.path).expanduser().resolve()
    current = desk.current
    if current is not None and current.path == here and not (current.closed or current.read_only):
        raise MagicError(f"this notebook has {arguments.path} open already", hint="%argus queries lists what it has")
    _check_saved(desk, arguments.leave, f"%argus open {arguments.path} --leave")
    session = desk.open(arguments.path, arguments.trust)
    lines = [f"{arguments.path}: {described(session)}"]
    lines += [f"{name} does not run: {q.status}" for name, q in session.queries.items() if q.status != "active"]
    if session.read_only:
        lines.append(f"read-only: {session.read_only}")
    show("\n".join(lines))


def check(desk: Desk, arguments: argparse.Namespace) -> None:
    """Read all files of the session, and say which are not what was written.

    Raises:
        SessionError: what was set aside is to be removed, and the session is read-only.
    """
    show(str(desk.session.check(arguments.empty)))


def close(desk: Desk, arguments: argparse.Namespace) -> None:
    """End the notebook's session, so that another process can go on with its folder.

    Raises:
        MagicError: it is nowhere saved.
    """
    if desk.current is None or desk.current.closed:
        show("there is no session to close")
        return
    _check_saved(desk, arguments.leave, "%argus close --leave")
    told = described(desk.current)
    desk.close()
    show(f"closed: {told}; the next command begins a new session, and %argus open PATH goes on with a saved one")


def _check_saved(desk: Desk, leave: bool, anyway: str) -> None:
    if desk.current is not None and not leave and would_lose(desk, desk.current):
        raise MagicError(
            f"the session of this notebook is not saved as it is: {described(desk.current)}",
            hint=f"%argus save FOLDER keeps it; {anyway} goes on without it",
        )


def would_lose(desk: Desk, session: Session) -> bool:
    """Whether a session is gone with the notebook, and has something that was not saved."""
    if session.closed or not session.temporary:
        return False
    return bool(session.streams or session.queries) and contents(session) != desk.saved


def contents(session: Session) -> object:
    """What differs when there is something to save."""
    queries = [(name, query.sql) for name, query in session.queries.items()]
    return session.path, session.batch, list(session.streams), queries


def described(session: Session) -> str:
    """What a session has, in a few words."""
    batch = "before the first batch" if not session.batch else f"after batch {session.batch:,}"
    tables = sum(stream.table for stream in session.streams.values())
    numbers = [
        (len(session.streams) - tables, "stream", "streams"),
        (tables, "table", "tables"),
        (len(session.queries), "query", "queries"),
    ]
    told = [counted(*number) for number in numbers if number[0]]
    return f"{batch}, {', '.join(told) or 'nothing in it yet'}"


LEAVE = argument("--leave", action="store_true", help="also when this notebook's session is not saved")
TRUST = argument("--trust", action="store_true", help="load functions that others added, which runs their code")
EMPTY = argument("--empty", action="store_true", help="remove what opening the session has set aside")
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
        "close",
        "End the session, so that its folder can be used by another process.",
        close,
        (LEAVE,),
        ("%argus close",),
    ),
    Command(
        "open",
        "Go on with the session of a folder from its last batch; read-only while it is open elsewhere.",
        open_session,
        (PATH, LEAVE, TRUST),
        ("%argus open ~/fraud", "%argus open ~/from_a_colleague --trust"),
    ),
    Command(
        "check",
        "Read all files of the session's folder, and compare each with the checksum it was written with.",
        check,
        (EMPTY,),
        ("%argus check",),
    ),
)
