"""Tells when the analyst reads or types: work in the background waits for that, and takes nothing from her cells."""

from __future__ import annotations

import threading
from functools import partial

REFRESH_PAUSE = 0.5
"""Seconds without a cell after which she is taken to read or type: cells that are run together follow each other at
once."""


class IdleGate:
    """The times when no cell runs.

    Example:
        >>> idle = IdleGate(pause=0.0)
        >>> idle.wait()
        True
        >>> idle.close()
        >>> idle.wait()
        False
    """

    def __init__(self, pause: float = REFRESH_PAUSE) -> None:
        self._pause = pause
        self._changed = threading.Condition()
        self._running = self._closed = False
        self._changes = 0

    def begin(self) -> None:
        """A cell begins."""
        self._set(running=True)

    def end(self) -> None:
        """A cell has ended."""
        self._set(running=False)

    def close(self) -> None:
        """End the waiting: background work stops."""
        self._closed = True
        self._set(running=False)

    def wait(self) -> bool:
        """Wait until no cell has run for the pause; ``False`` when nothing is to be done any more."""
        with self._changed:
            while not self._closed:
                self._changed.wait_for(lambda: not self._running)
                if not self._changed.wait_for(partial(self._changed_since, self._changes), self._pause):
                    break
            return not self._closed

    def _set(self, running: bool) -> None:
        with self._changed:
            self._running = running
            self._changes += 1
            self._changed.notify_all()

    def _changed_since(self, changes: int) -> bool:
        return self._changes != changes
