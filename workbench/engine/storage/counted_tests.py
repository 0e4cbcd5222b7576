"""Counts of the tests that call functions of the analyst: what tasks answer, and what reports show."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from operator import add


@dataclass(frozen=True)
class CountedTest:
    """The result of a test that calls functions of the analyst, with the rows of each outcome.

    Attributes:
        asked: rows that it was made for.
        dropped: those from which it took nodes.
        calls: of functions; rows with the same arguments share one, and known values need none.
        seconds: how long these took.

    Example:
        >>> CountedTest(5, 2, 3, 0.5) + CountedTest(asked=1)
        CountedTest(asked=6, dropped=2, calls=3, seconds=0.5)
    """

    asked: int = 0
    dropped: int = 0
    calls: int = 0
    seconds: float = 0.0

    def __add__(self, other: CountedTest) -> CountedTest:
        return CountedTest(*map(add, astuple(self), astuple(other)))

    @property
    def tickets(self) -> int:
        """One for each row that it took in and did not give back, one at least (CACQ 4)."""
        return max(self.dropped, 1)
