"""Which rows of a tree somebody will still look at; ``needs`` says how that follows from the queries."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.sql.windows.bounds import Interval


@dataclass(frozen=True)
class Need:
    """Rows of a tree that somebody will look at: those that have all of some bits, with times in their intervals.

    ``times`` has the stored columns in order, each with its interval; where there are none all rows are meant.
    """

    bits: frozenset[int]
    times: tuple[tuple[str, Interval], ...] = ()

    def covers(self, other: Need) -> bool:
        """Whether all rows that the other needs are among those that this one needs."""
        theirs = dict(other.times)
        return self.bits <= other.bits and all(
            column in theirs and interval.intersected(theirs[column]) == theirs[column]
            for column, interval in self.times
        )
