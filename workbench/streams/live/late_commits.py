"""Which rows of a polled query were read: those that were committed late stand before others that are known already.

Numbers and times are given to rows before their transactions commit. So a poll begins some way before the largest value
that was seen, and leaves out the rows that were read. That way, the *window*, is as long as a transaction may take that
has not committed yet: a time, and of PostgreSQL until those have ended that were open (``pg_snapshot_xmin``).
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

DEFAULT_LAG = 10.0
"""Seconds for which a row may be late where nothing is said of it, and as long as there are not more than:"""
MOST_REMEMBERED = 1_000

QueryPosition: TypeAlias = "list[Any]"
"""The values of the columns that a query is polled by."""


@dataclass
class ReadRows:
    """The rows that were read.

    Attributes:
        start: the position after which the next poll begins; ``None``: at the beginning.
        largest: the largest position that was read.
        marks: moments, what the largest position was then, and the first transaction that had not begun yet, where
            that is known.
        rows: what tells the rows after ``start`` that were read from each other, and when they were.
    """

    start: QueryPosition | None = None
    largest: QueryPosition | None = None
    marks: list[tuple[float, QueryPosition, int | None]] = field(default_factory=list)
    rows: list[tuple[str, float]] = field(default_factory=list)

    @staticmethod
    def stored(text: str | None, largest: str | None) -> ReadRows:
        """The inverse of ``text``; an earlier version has stored the largest value alone."""
        if text is not None:
            start, largest_, marks, rows = json.loads(text)
            return ReadRows(start, largest_, [*map(tuple, marks)], [*map(tuple, rows)])
        known = None if largest is None else json.loads(largest)
        position = known if known is None or isinstance(known, list) else [known]
        return ReadRows(position, position)

    @property
    def text(self) -> str:
        """To store."""
        return json.dumps([self.start, self.largest, self.marks, self.rows])

    def are_new(self, names: Iterable[str]) -> list[bool]:
        """Which of the rows of a poll were not read before; of equal ones as many as are more than there were."""
        left, new = Counter(name for name, _ in self.rows), list[bool]()
        for name in names:
            new.append(left[name] <= 0)
            left[name] -= 1
        return new

    def add(self, names: Iterable[str], largest: QueryPosition | None, open_from: int | None) -> None:
        """Rows were read.

        Args:
            names: what tells them from each other.
            largest: the largest position now.
            open_from: the first transaction that has not begun yet.
        """
        now = time.time()
        self.rows += [(name, now) for name in names]
        self.largest = largest
        if largest is not None and largest != (self.marks[-1][1] if self.marks else self.start):
            self.marks.append((now, largest, open_from))

    def forget(self, polled: float, lag: float | None, committed_before: int | None, has_more: bool) -> None:
        """Let the window begin later, after rows before which no other can come any more.

        Args:
            polled: when the last poll began.
            lag: seconds for which a row may be late; ``None``: nothing is said of it.
            committed_before: the transactions before this one had ended then, where that is known.
            has_more: whether there are larger positions than those that were read: transactions work on the largest.
        """
        while self.marks:
            moment, position, open_from = self.marks[0]
            is_many = (lag is None or has_more) and len(self.rows) > MOST_REMEMBERED
            if moment > polled or not (is_many or moment + (DEFAULT_LAG if lag is None else lag) <= polled):
                break
            if open_from is not None and (committed_before is None or committed_before < open_from):
                break
            self.marks.pop(0)
            self.start = position
            self.rows = [(name, read) for name, read in self.rows if read > moment]
        if self.start == self.largest:
            self.rows = []
