"""How far the work of an engine is: how many operators have done their part, of those that may have one."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Progress:
    """How far a batch is.

    Attributes:
        batch: its number; 0 is the history.
        done: operators that have done their part; nodes, while it is profiled.
        total: operators that may have one: rows arrive where they, or those before them, read.
    """

    batch: int
    done: int
    total: int


class Meter:
    """Counts operators while they work. Any thread may read ``now``, and waits for nobody.

    Example:
        >>> meter = Meter()
        >>> with meter.counting(3, ["F1", "J2"]):
        ...     meter.count("F1")
        ...     meter.now
        Progress(batch=3, done=1, total=2)
        >>> meter.now is None
        True
    """

    def __init__(self) -> None:
        self.now: Progress | None = None
        """How far it is; ``None`` when nothing is being computed."""
        self._counted: frozenset[str] = frozenset()
        self._lock = threading.Lock()

    @contextmanager
    def counting(self, batch: int, trees: Collection[str]) -> Iterator[None]:
        """Work on these trees, for a batch, is done inside."""
        self._counted = frozenset(trees)
        self.now = Progress(batch, 0, len(self._counted))
        try:
            yield
        finally:
            self.now = None

    def count(self, tree: str) -> None:
        """A tree's operator has done its part."""
        with self._lock:
            if self.now is not None and tree in self._counted:
                self.now = replace(self.now, done=self.now.done + 1)


def reached(parents: Mapping[str, Sequence[str]], first: Collection[str]) -> frozenset[str]:
    """The trees that something may come to.

    Args:
        parents: for every tree those it reads, parents before children.
        first: where it arrives.

    Example:
        >>> sorted(reached({"F": [], "M": [], "J": ["F", "F"], "U": ["J", "M"], "G": ["M"]}, ["F"]))
        ['F', 'J', 'U']
    """
    found: set[str] = set()
    for name, read in parents.items():
        if name in first or not found.isdisjoint(read):
            found.add(name)
    return frozenset(found)
