"""Sessions that a notebook left behind when its kernel ended, by a restart or otherwise: named, and in the end removed.

A session that was not saved is in a temporary folder. Where a notebook makes one, the folder says which notebook that
is. So when the extension is loaded again, it can say what is there and how to go on with it. Who writes to a session
has a lock on its folder, which the system takes back when the process ends: a folder without that lock is free.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.catalog.catalog import Catalog
from workbench.errors import WorkbenchError
from workbench.explain.text import counted
from workbench.files.mapped import remove_folder
from workbench.session.directory.directory import CATALOG, PREFIX, WRITER
from workbench.session.directory.identity import IDENTITY

MARK = "notebook.txt"
"""The file that names the notebook of a session."""
KEPT_FOR = 7 * 86_400
"""Seconds after which a session that was left in a temporary folder, and has not been opened, is removed."""
_DAYS = KEPT_FOR // 86_400
_MUCH = 1e9
"""Bytes that sessions of others may take before a notebook hears of them."""


@dataclass(frozen=True)
class LeftSession:
    """A session in a temporary folder that no process has open.

    Attributes:
        path: its folder.
        notebook: that made it; "" where none did.
        ended: when it was changed last, in seconds since 1970.
        opened: whether a user has gone on with it since, and so knows where it is.
    """

    path: Path
    notebook: str
    ended: float
    opened: bool

    def described(self) -> str:
        """Describe its contents: batch, streams, queries, size; "" where it has none, or is damaged."""
        try:
            with Catalog(self.path / CATALOG, copied=True) as catalog:
                numbers = [
                    int(catalog.query(f"SELECT {what}")[1][0][0])
                    for what in ("COALESCE(MAX(batch), 0) FROM batches", "COUNT(*) FROM streams",
                                 "COUNT(*) FROM registrations")
                ]  # fmt: skip
        except (WorkbenchError, OSError):
            return ""
        batch, streams, queries = numbers
        if not streams and not queries:
            return ""
        return (
            f"after batch {batch:,}, {counted(streams, 'stream or table', 'streams and tables')}, "
            f"{counted(queries, 'query', 'queries')}, {size_of(self.path) / 1e6:,.1f} MB"
        )


def notebook_of(variables: Mapping[str, Any]) -> str:
    """The path of the notebook that this kernel runs, as Jupyter or VS Code gives it; "" where neither does."""
    return os.environ.get("JPY_SESSION_NAME") or str(variables.get("__vsc_ipynb_file__", ""))


def mark(session: Path, notebook: str) -> None:
    """Let the folder of a session say which notebook made it."""
    (session / MARK).write_text(notebook, encoding="utf-8")


def left_sessions(folder: Path | None = None) -> list[LeftSession]:
    """The sessions that were left in a folder of temporary files, the newest first; other users' are not looked at."""
    root = Path(tempfile.gettempdir()) if folder is None else folder
    return sorted(_left(root), key=lambda left: -left.ended)


def _left(root: Path) -> Iterator[LeftSession]:
    for path in root.glob(f"{PREFIX}*"):
        try:
            if path.stat().st_uid == os.getuid() and (path / CATALOG).exists() and _is_free(path):
                notebook = path / MARK
                name = notebook.read_text(encoding="utf-8") if notebook.exists() else ""
                ended = max(file.stat().st_mtime for file in path.glob(f"{CATALOG}*"))
                yield LeftSession(path, name, ended, (path / IDENTITY).exists())
        except OSError:
            continue  # another process removes it now


def _is_free(session: Path) -> bool:
    """Whether no process writes to a session."""
    with (session / WRITER).open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def what_is_left(notebook: str, folder: Path | None = None) -> str:
    """Say which session this notebook left behind, and how to continue it; remove one that was left for too long.

    That are the sessions that were left for longer than ``KEPT_FOR``, those with nothing in them, and of this notebook
    all but the newest. The others, as of scripts that were killed, are named where they take more than ``_MUCH``.

    Args:
        notebook: its path; "" where it is not known.
        folder: of temporary files; the system's unless given.

    Returns:
        Up to four lines; "" where there is nothing to say.
    """
    left = left_sessions(folder)
    contents = {session.path: session.described() for session in left if notebook and session.notebook == notebook}
    own = [session for session in left if contents.get(session.path)]
    forgotten = [s for s in left if s.ended < time.time() - KEPT_FOR or contents.get(s.path) == "" or s in own[1:]]
    gone = [session for session in forgotten if not session.opened]
    lines = [_said(session, contents[session.path]) for session in own[:1] if session not in gone]
    others = [session for session in left if session not in own and session not in gone and not session.opened]
    return "\n".join([*lines, *_removed(gone), *_large(others)])


def _said(session: LeftSession, contents: str) -> str:
    """The lines that say that a session is still there, and how to open it."""
    kept = "" if session.opened else f", and %argus save FOLDER then keeps it; after {_DAYS} days it is removed"
    return f"this notebook's last session is still there: {contents}\n%argus open {session.path} goes on with it{kept}"


def _large(sessions: Sequence[LeftSession]) -> list[str]:
    """How much room sessions take, and the one that takes most; nothing where it is little."""
    sizes = {session.path: size_of(session.path) for session in sessions}
    if (total := sum(sizes.values())) < _MUCH:
        return []
    largest = max(sizes, key=sizes.__getitem__)
    what = counted(len(sizes), "session of another notebook or script that has ended takes",
                   "sessions of other notebooks and scripts that have ended take")  # fmt: skip
    most = f" (most of it: {largest})" if len(sizes) > 1 else f" ({largest})"
    advice = f"delete what you do not need, the rest goes after {_DAYS} days"
    return [f"{what} {total / 1e9:,.1f} GB of {largest.parent}{most}; {advice}"]


def _removed(sessions: Sequence[LeftSession]) -> list[str]:
    """Remove sessions; a line that says so, where there are any."""
    megabytes = sum(size_of(session.path) for session in sessions) / 1e6
    for session in sessions:
        remove_folder(session.path)
    what = counted(len(sessions), "session that was left", "sessions that were left")
    return [f"removed {what} in temporary folders and never opened again: {megabytes:,.1f} MB"] * bool(sessions)


def size_of(folder: Path) -> int:
    """Bytes of all files in a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
