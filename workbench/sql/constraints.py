"""Constraints of streams: what an analyst declares of their rows, and plans rely on while no row breaks it (T11.1.1).

They are those of S. Babu, U. Srivastava, J. Widom, *Exploiting k-Constraints to Reduce Memory Overhead in Continuous
Queries over Data Streams*, TODS 2004: referential integrity, in which k counts rows of the stream that refers, and
ordered arrival, in which k is a distance of values, as in a lateness.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from workbench.sql.algebra.column_names import display_name


@dataclass(frozen=True)
class ForeignKey:
    """A referential integrity constraint of a many-one join.

    After every batch there is exactly one row of the target for each value of the columns, and at most one for each
    value of the key. A row with a NULL in the columns refers to none. With ``late`` rows the row of the target may come
    after the row that refers to it, at the latest in the batch in which ``late`` further rows of the stream have come.

    Attributes:
        stream, columns: which rows refer, by the stored names of these columns.
        target, key: the stream or table that they refer to, and its columns, in the same order.
        late: how many rows of the stream may come before the row of the target.

    Example:
        >>> str(ForeignKey("flights", ("tailnum",), "planes", ("tailnum",)))
        'flights.tailnum references planes.tailnum'
    """

    stream: str
    columns: tuple[str, ...]
    target: str
    key: tuple[str, ...]
    late: int = 0

    @property
    def declared(self) -> bool:
        """Whether it is declared as a constraint: it is."""
        return True

    def __str__(self) -> str:
        within = f" within {self.late} row{'s' * (self.late > 1)}" if self.late else ""
        return f"{_named(self.stream, self.columns)} references {_named(self.target, self.key)}{within}"


@dataclass(frozen=True)
class ArrivalOrder:
    """An ordered-arrival constraint: a row's value is at most so much less than the greatest before it in the stream.

    A row that is taken back counts as a row, too. A row without a value breaks nothing.

    Attributes:
        stream, column: whose values are ordered, by their stored name.
        allowed: in days for dates, in microseconds for timestamps, else in what the numbers count.
        shown: the same as an analyst writes it; "" where no value may be less.
        kept: whether the stream itself leaves out later rows, so that none can break it.

    Example:
        >>> str(ArrivalOrder("flights", "departed", 3_600_000_000, "1 hour"))
        'flights.departed is ordered, within 1 hour'
    """

    stream: str
    column: str
    allowed: int = 0
    shown: str = ""
    kept: bool = False

    @property
    def declared(self) -> bool:
        """Whether it is declared as a constraint, and does not follow from a lateness."""
        return not self.kept

    def __str__(self) -> str:
        within = f", within {self.shown}" if self.shown else ""
        return f"{self.stream}.{display_name(self.column)} is ordered{within}"


Constraint = ForeignKey | ArrivalOrder
StreamConstraints = Mapping[str, tuple[Constraint, ...]]
"""The constraints of the rows of each stream that has some, by its name."""


def largest_key(stream: str, column: str) -> str:
    """The key under which an event-time vector has the largest value of an ordered column."""
    return f"{stream.lower()} largest {column}"


def foreign_keys(constraints: Iterable[Constraint], streams: Iterable[str]) -> tuple[ForeignKey, ...]:
    """The foreign keys between some streams, also those whose target may come late."""
    known = {*streams}
    return tuple(c for c in constraints if isinstance(c, ForeignKey) and {c.stream, c.target} <= known)


def _named(stream: str, columns: tuple[str, ...]) -> str:
    names = ", ".join(map(display_name, columns))
    return f"{stream}.{names}" if len(columns) == 1 else f"{stream} ({names})"
