"""What a process keeps in its memory of each session's files, within a number of bytes."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from workbench.files.packs import session_folder
from workbench.limits import SESSION_LIMITS

T = TypeVar("T")

_NAMES = 200
"""Bytes of the names of a thing, about."""


class InMemory(Generic[T]):
    """The things that were asked for last, of each session as many bytes as its limits say.

    Args:
        size: the bytes of a thing.
    """

    def __init__(self, size: Callable[[T], int]) -> None:
        self._size = size
        self._bytes, self._lock = Counter[str](), threading.Lock()
        self._known: OrderedDict[tuple[str, str], T] = OrderedDict()

    def get(self, name: tuple[str, str]) -> T | None:
        """The thing of a file and a key; ``None`` where it is not there."""
        with self._lock:
            if (known := self._known.get(name)) is not None:
                self._known.move_to_end(name)
            return known

    def add(self, name: tuple[str, str], thing: T) -> T:
        """Keep an object; drops objects that were not used for the longest time."""
        session = session_folder(name[0])
        most_bytes = SESSION_LIMITS.of(session).bytes_indexed_in_process
        with self._lock:
            self._drop(name)
            self._known[name] = thing
            self._bytes[session] += _NAMES + self._size(thing)
            while self._bytes[session] > most_bytes:
                self._drop(next(own for own in self._known if session_folder(own[0]) == session))
        return thing

    def _drop(self, name: tuple[str, str]) -> None:
        if (known := self._known.pop(name, None)) is not None:
            self._bytes[session_folder(name[0])] -= _NAMES + self._size(known)

    def forget(self, session: str) -> None:
        """Forget the files in a session's folder."""
        with self._lock:
            for name in [name for name in self._known if session_folder(name[0]) == session]:
                del self._known[name]
            del self._bytes[session]
