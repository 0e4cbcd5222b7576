"""A log with a line of JSON for each batch, and for each problem of a source or sink.

It is Python's own logging: the session gives records to the logger ``workbench``, with what they are about as the
attribute ``about``, and any handler can have them. Here is the one for files.
"""

from __future__ import annotations

import datetime as dt
import json
import logging
from logging.handlers import RotatingFileHandler
from pathlib import Path

from workbench.errors import SessionError
from workbench.errors.surroundings import reason
from workbench.session.events import LOGGER

LARGEST_FILE, OLD_FILES = 10_000_000, 5
"""Bytes of a file before another is begun, and how many older ones are kept."""


class JsonLines(logging.Formatter):
    """A record as a line of JSON: ``time`` (UTC), ``level``, ``event``, and the fields of ``about``.

    Example:
        >>> record = logging.makeLogRecord({"msg": "batch", "levelname": "INFO", "created": 0.5, "about": {"batch": 3}})
        >>> print(JsonLines().format(record))
        {"time": "1970-01-01T00:00:00.500000+00:00", "level": "INFO", "event": "batch", "batch": 3}
    """

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its end."""
        at = dt.datetime.fromtimestamp(record.created, dt.UTC).isoformat(timespec="microseconds")
        line = {"time": at, "level": record.levelname, "event": record.getMessage()}
        return json.dumps(line | getattr(record, "about", {}), default=str)


class BatchLogFile(RotatingFileHandler):
    """The file that lines are added to, until it is closed."""

    def close(self) -> None:
        """End logging into the file; the logger's level is what it was before its first file."""
        super().close()
        LOGGER.removeHandler(self)
        if not any(isinstance(handler, BatchLogFile) for handler in LOGGER.handlers):
            LOGGER.setLevel(logging.NOTSET)


def log_to(path: str | Path) -> BatchLogFile:
    """Write what happens in the sessions of this process into a file, as lines of JSON.

    A file of 10 MB is followed by another; five older ones are kept, as ``PATH.1`` to ``PATH.5``.

    Returns:
        The handler; its ``close()`` ends logging.

    Raises:
        SessionError: the file cannot be written.

    Example:
        >>> handler = log_to("argus.jsonl")  # doctest: +SKIP
    """
    try:
        handler = BatchLogFile(path, maxBytes=LARGEST_FILE, backupCount=OLD_FILES, encoding="utf-8")
    except OSError as error:
        raise SessionError(
            f"{path} cannot be written: {reason(error)}", hint="a file in a folder that is there"
        ) from error
    handler.setFormatter(JsonLines())
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.INFO)
    return handler
