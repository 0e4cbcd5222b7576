"""Errors of the environment: a disk is full, a file is gone, a folder may not be written.

Python's and SQLite's exceptions for these name no remedy, and are no defect of a program.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from urllib.error import URLError

from workbench.errors import EnvironmentProblem

_ROOM = "make room there and do it again; what was not done as a whole was undone"
_RIGHTS = "change who may write there, or use another folder"
_AGAIN = "when it is put right, do it again"
_HINTS = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), _ROOM),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), _RIGHTS),
    **dict.fromkeys((errno.EMFILE, errno.ENFILE), "raise the limit of open files (ulimit -n), or close sessions"),
}
_SQLITE = {
    sqlite3.SQLITE_FULL: (os.strerror(errno.ENOSPC), _ROOM),
    sqlite3.SQLITE_IOERR: ("the disk cannot be read or written", _ROOM),
    sqlite3.SQLITE_READONLY: ("it may not be written", _RIGHTS),
    sqlite3.SQLITE_CANTOPEN: ("a file cannot be opened", _AGAIN),
    sqlite3.SQLITE_BUSY: ("another process has a file of it locked", _AGAIN),
}
"""By the primary codes; those of SQLite have more in their higher bytes."""


def surroundings_problem(problem: BaseException, folder: object = None) -> EnvironmentProblem | None:
    """The error for an exception that came from the surroundings; ``None`` for another one.

    Args:
        problem: that was raised.
        folder: where it was, as far as that is known; an exception of Python's often knows the file.

    Example:
        >>> print(surroundings_problem(OSError(errno.ENOSPC, "No space left on device"), "/data/s"))
        No space left on device: /data/s
        hint: make room there and do it again; what was not done as a whole was undone
        >>> surroundings_problem(KeyError("x")) is None
        True
    """
    for cause in _causes(problem):
        match cause:
            case OSError(errno=int(number)):
                what, hint = os.strerror(number), _HINTS.get(number, _AGAIN)
                where = cause.filename or folder
            case sqlite3.Error() if (found := _SQLITE.get(getattr(cause, "sqlite_errorcode", 0) & 0xFF)) is not None:
                (what, hint), where = found, folder
            case _:
                continue
        return EnvironmentProblem(what if where is None else f"{what}: {where}", hint=hint)
    return None


def reason(problem: BaseException) -> str:
    """The message of an exception, without the system's number of the error.

    Example:
        >>> reason(ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"))
        'Connection refused'
        >>> reason(FileNotFoundError(errno.ENOENT, "No such file or directory", "/data/rows.csv"))
        'No such file or directory: /data/rows.csv'
        >>> reason(ValueError("a comma is missing"))
        'a comma is missing'
    """
    match problem:
        case OSError(errno=int(number)) if number in errno.errorcode:
            return os.strerror(number) + (f": {problem.filename}" if problem.filename else "")
        case URLError(reason=BaseException() as cause):
            return reason(cause)
    return str(problem)


def _causes(problem: BaseException | None) -> Iterator[BaseException]:
    while problem is not None:
        yield problem
        problem = problem.__cause__
