"""Who may read and write a session's folder: its owner alone, or a group besides (workers of a cluster)."""

from __future__ import annotations

import grp
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from workbench.errors import SessionError
from workbench.files.writing import FOR_GROUP, FOR_OWNER, is_for_group


def set_permissions(folder: Path, group: str | int | None, parts: Iterable[Path], keep: bool = False) -> None:
    """Let a folder, and all of a session in it, be for its owner alone or for a group.

    A folder that has other files too, such as a project's or a home, stays for whom it was unless a group is named: it
    is not the session's to close. The session's own files are private where they are written.

    Args:
        folder: of the session.
        group: its name or number; ``None`` for the owner alone.
        parts: what of the folder belongs to the session.
        keep: whether a group that has it keeps it where none is named.

    Raises:
        SessionError: there is no such group, or the folder cannot be given to it.
    """
    status = folder.stat()
    number = status.st_gid if group is None else _group_number(group)
    mode = FOR_GROUP if group is not None or (keep and is_for_group(folder)) else FOR_OWNER
    if status.st_gid == number and stat.S_IMODE(status.st_mode) == mode:
        return
    parts = list(parts)
    if mode == FOR_OWNER and not set(folder.iterdir()) <= set(parts):
        return
    if status.st_uid != os.geteuid():
        if group is not None:
            raise SessionError(f"{folder} cannot be given to the group {group}", hint="its owner can do that")
        return
    try:
        for path in (folder, *parts):
            if path.stat().st_uid == status.st_uid and not path.is_symlink():
                os.chown(path, -1, number if mode == FOR_GROUP else -1)
                os.chmod(path, mode if path.is_dir() else mode & 0o660)
    except OSError as problem:
        hint = "its owner can do that, who must be in the group; `groups` lists yours"
        raise SessionError(f"{folder} cannot be given to the group {group}: {problem.strerror}", hint=hint) from problem


def _group_number(group: str | int) -> int:
    try:
        return grp.getgrnam(group).gr_gid if isinstance(group, str) else grp.getgrgid(group).gr_gid
    except (KeyError, TypeError, OverflowError, ValueError) as problem:
        raise SessionError(f"there is no group {group!r} on this machine", hint="`groups` lists yours") from problem
