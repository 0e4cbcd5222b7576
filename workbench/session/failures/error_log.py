"""The last hundred errors of sources and sinks, kept in the session's folder until they are dismissed."""

from __future__ import annotations

import datetime as dt
import json
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from workbench.catalog.codec import decode
from workbench.errors.secrets import hide_secrets
from workbench.errors.surroundings import reason
from workbench.files.writing import replacing
from workbench.session.events import log_problem

KEPT = 100
"""Errors that are kept; an older one goes when there is another."""
_ROW = 500
"""Characters of a row that are kept."""
ERRORS = "errors.jsonl"
"""The file in a session's folder."""


class ErrorPlace(StrEnum):
    """The side on which an error occurred."""

    SOURCE = "source"
    SINK = "sink"


@dataclass(frozen=True)
class KeptError:
    """An error of a source or a sink.

    Attributes:
        at: when, by this machine's clock, as text.
        place: of which.
        name: of the stream or the sink.
        message: what it said.
        row: the row that was refused, or the first of those that were; "" where it is of none.
    """

    at: str
    place: ErrorPlace
    name: str
    message: str
    row: str = ""


class ErrorLog:
    """The errors of a session's sources and sinks, from any thread.

    Args:
        folder: of the session; ``None`` keeps them in memory alone, as of one that may not be written.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._path = None if folder is None else folder / ERRORS
        self._lock = threading.Lock()
        self._errors = self._stored()

    @property
    def errors(self) -> tuple[KeptError, ...]:
        """The last ones, the latest last."""
        return tuple(self._errors)

    def add(self, place: ErrorPlace, name: str, message: str, row: str = "") -> None:
        """Keep an error."""
        at = dt.datetime.now().isoformat(" ", "seconds")
        error = KeptError(at, place, name, hide_secrets(message), row[:_ROW])
        with self._lock:
            self._write([*self._errors, error][-KEPT:])

    def dismiss(self, name: str | None = None) -> int:
        """Forget the errors of a source or sink, or all; how many there were."""
        with self._lock:
            left = [error for error in self._errors if name is not None and error.name.lower() != name.lower()]
            gone = len(self._errors) - len(left)
            if gone:
                self._write(left)
        return gone

    def _write(self, errors: Sequence[KeptError]) -> None:
        self._errors = [*errors]
        if self._path is None:
            return
        try:
            with replacing(self._path) as file:
                file.write("".join(f"{json.dumps(asdict(error), ensure_ascii=False)}\n" for error in errors).encode())
        except OSError as problem:  # a full disk stops no batch for it
            log_problem("errors", problem=f"{self._path} cannot be written: {reason(problem)}")

    def _stored(self) -> list[KeptError]:
        if self._path is None or not self._path.exists():
            return []
        try:
            lines = self._path.read_text(encoding="utf-8").splitlines()
            return [decode(line, KeptError) for line in lines][-KEPT:]
        except Exception as problem:  # what bytes that are not those that were written make of any of this
            log_problem("errors", problem=f"{self._path} is damaged: {problem}")
            return []
