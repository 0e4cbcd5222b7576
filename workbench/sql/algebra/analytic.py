"""Analytic functions: values of a row that depend on the rows around it in an order (SQL's window functions).

*Window* is a word for a stretch of time here; what SQL calls a window is ``Over``, and the rows of it that a value is
computed of are its ``Frame``.

Rows that are equal in what they are ordered by are *peers*. SQL leaves their order open. Here it is that of ``ties``,
by which functions that count rows tell peers apart; so every answer is a function of the rows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from workbench.sql.algebra.aggregates import STATISTICS
from workbench.sql.algebra.expressions import Expression, digest, identity, text
from workbench.sql.algebra.ordering import SortKey
from workbench.sql.algebra.types import INTEGER, DataType

ROW_NUMBER, RANK, DENSE_RANK = "row_number", "rank", "dense_rank"

RANKS = (ROW_NUMBER, RANK, DENSE_RANK)
"""Numbers of rows in their order: each is at least as large as those after it."""

DISTRIBUTIONS = ("ntile", "percent_rank", "cume_dist")
"""Numbers that depend on how many rows a partition has."""

NEIGHBOURS = ("lag", "lead")
POSITIONS = ("first_value", "last_value", "nth_value")
"""Values of another row: one so far before or after, or the first, last or n-th one of a frame."""

FUNCTIONS = frozenset({*RANKS, *DISTRIBUTIONS, *NEIGHBOURS, *POSITIONS, *STATISTICS})
"""All analytic functions: every basic statistic is one, of the rows of a frame."""

ANALYTIC = -2
"""Source of columns that have the values of analytic functions, in a block that calls these."""


@dataclass(frozen=True, slots=True)
class FrameEnd:
    """An end of a frame: ``by``, a number, before (negative) or after the current row; in days or seconds of a time."""

    by: str
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Frame:
    """The rows of a partition that a value is computed of.

    Attributes:
        unit: what the ends count: ``rows``, ``groups`` of peers, or ``range``, values of what rows are ordered by.
        start, end: ``None`` is the first, or the last row of the partition.
    """

    unit: str
    start: FrameEnd | None
    end: FrameEnd | None

    @property
    def text(self) -> str:
        """The frame as SQL writes it."""
        return f"{self.unit.upper()} BETWEEN {_end(self.start, 'PRECEDING')} AND {_end(self.end, 'FOLLOWING')}"


@dataclass(frozen=True)
class Over:
    """Which rows belong together, and their order.

    Attributes:
        partition: rows that are equal in these belong together.
        order: of the rows of a partition.
        ties: the order of peers, ascending.
    """

    partition: tuple[Expression, ...]
    order: tuple[SortKey, ...]
    ties: tuple[Expression, ...] = ()

    @property
    def identity(self) -> str:
        """The canonical form."""
        partition, ties = (",".join(map(identity, some)) for some in (self.partition, self.ties))
        return f"[{partition}|{','.join(key.identity for key in self.order)}|{ties}]"

    @staticmethod
    def of(partition: tuple[Expression, ...], keys: Iterable[SortKey], ties: Iterable[Expression] = ()) -> Over:
        """Without what is the same for all rows of a partition in the order, and for all peers in their order.

        Example: of PARTITION BY code ORDER BY code, amount the second says no more than ORDER BY amount.
        """
        order = tuple(key for key in keys if key.expression not in partition)
        known = {*partition, *(key.expression for key in order)}
        return Over(partition, order, tuple(tie for tie in dict.fromkeys(ties) if tie not in known))

    def serves(self, other: Over) -> bool:
        """Whether rows in this order are in the other order as well: it tells more peers apart, or as many."""
        first = self.ties[: len(other.ties)]
        return (self.partition, self.order, first) == (other.partition, other.order, other.ties)

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """All that rows are partitioned and ordered by."""
        return (*self.partition, *(key.expression for key in self.order), *self.ties)

    def map(self, change: Callable[[Expression], Expression]) -> Over:
        """The same over other expressions."""
        order = tuple(key.map(change) for key in self.order)
        return Over(tuple(map(change, self.partition)), order, tuple(map(change, self.ties)))

    @property
    def text(self) -> str:
        """What stands in the parentheses of OVER, without the order of peers."""
        partition = f"PARTITION BY {', '.join(map(text, self.partition))}" if self.partition else ""
        order = f"ORDER BY {', '.join(key.text for key in self.order)}" if self.order else ""
        return " ".join(part for part in (partition, order) if part)


@dataclass(frozen=True)
class AnalyticCall:
    """A function of a row and of the rows around it."""

    function: str
    arguments: tuple[Expression, ...]
    type: DataType
    over: Over
    frame: Frame | None = None
    ignore_nulls: bool = False

    @property
    def identity(self) -> str:
        """The canonical form."""
        inner = ",".join(map(identity, self.arguments))
        frame = self.frame.text if self.frame is not None else ""
        nulls = "ignore nulls" if self.ignore_nulls else ""
        return f"{json.dumps(self.function)}<{inner}|{frame}|{nulls}>{self.over.identity}:{self.type}"

    @property
    def text(self) -> str:
        """The call as people read it.

        Example:
            >>> from workbench.sql.algebra.expressions import Column
            >>> over = Over((Column("bank", INTEGER),), (SortKey(Column("amount", INTEGER)),))
            >>> rank(RANK, over).text
            'rank() OVER (PARTITION BY bank ORDER BY amount ASC NULLS FIRST)'
        """
        inner = ", ".join(map(text, self.arguments)) or ("*" if self.function == "count" else "")
        nulls = " IGNORE NULLS" if self.ignore_nulls else ""
        parts = (self.over.text, self.frame.text if self.frame is not None else "")
        return f"{self.function}({inner}){nulls} OVER ({' '.join(part for part in parts if part)})"

    @property
    def name(self) -> str:
        """The column that has its values."""
        return f"{self.function}_{digest(self.identity)}"

    @property
    def is_range(self) -> bool:
        """Whether its frame ends at values of what rows are ordered by."""
        frame = self.frame
        ends = () if frame is None or frame.unit != "range" else (frame.start, frame.end)
        return any(end is not None and float(end.by) != 0 for end in ends)

    def map(self, change: Callable[[Expression], Expression]) -> AnalyticCall:
        """The same call over other expressions."""
        return replace(self, arguments=tuple(map(change, self.arguments)), over=self.over.map(change))


def rank(function: str, over: Over) -> AnalyticCall:
    """One of ``RANKS``."""
    return AnalyticCall(function, (), INTEGER, over)


def _end(end: FrameEnd | None, outwards: str) -> str:
    if end is None:
        return f"UNBOUNDED {outwards}"
    amount = end.by.removeprefix("-")
    if float(amount) == 0:
        return "CURRENT ROW"
    side = "PRECEDING" if end.by.startswith("-") else "FOLLOWING"
    return f"INTERVAL '{amount}' {end.unit} {side}" if end.unit else f"{amount} {side}"
