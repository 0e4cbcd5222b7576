"""Analytic functions: values of a row that depend on the rows around it in an order (SQL's window functions).

*Window* is a word for a range of time here; what SQL calls a window is ``Over``, and the rows of it that a value is
computed from are its ``Frame``.

Rows that are equal in what they are ordered by are *peers*. SQL leaves their order open. Here it is that of ``ties``,
by which functions that count rows tell peers apart; so every answer is a function of the rows. They are all
that is known of a row where functions are evaluated (``logical.analytic_steps``), so a logical query leaves them out.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from decimal import Decimal

from workbench.sql.algebra.expressions import Constant, Expression, digest, identity, text
from workbench.sql.algebra.ordering import SortKey, without_repetition
from workbench.sql.algebra.patterns import MATCH, MatchPattern, Navigation
from workbench.sql.algebra.types import INTEGER, MAX_PRECISION, DataType, Kind, decimal

ROW_NUMBER, RANK, DENSE_RANK = "row_number", "rank", "dense_rank"

RANKS = (ROW_NUMBER, RANK, DENSE_RANK)
"""Numbers of rows in their order: each is at least as large as those after it."""

SHARES = ("percent_rank", "cume_dist")
"""Shares of a partition; with a constant as argument the sign of what they are more than it (``compared_shares``)."""

DISTRIBUTIONS = ("ntile", *SHARES)
"""Numbers that depend on how many rows a partition has."""

NEIGHBOURS = ("lag", "lead")
POSITIONS = ("first_value", "last_value", "nth_value")
"""Values of another row: one so far before or after, or the first, last or n-th one of a frame."""

ANALYTIC_FUNCTIONS = frozenset({*RANKS, *DISTRIBUTIONS, *NEIGHBOURS, *POSITIONS, MATCH})
"""Functions that are only analytic; every basic statistic is one as well, of the rows of a frame."""

LONGEST_FRAME = 1_000
"""Rows, of a statistic of values: the values of each frame are looked at by themselves."""

ROW_ORDER = Constant(0, INTEGER)
"""The key by which a list over rows in an order has its values: it tells none apart, so they stand as their rows do."""

_ORDER_FREE = ("rank", "dense_rank", "percent_rank", "cume_dist", "count", "min", "max")
"""Functions that give peers the same values in any order, unless a frame counts rows."""


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
        exclude: which rows of it are left out: ``current row``, its whole ``group`` of peers, its ``ties``; or none.
    """

    unit: str
    start: FrameEnd | None
    end: FrameEnd | None
    exclude: str = ""

    @property
    def of_peers(self) -> Frame | None:
        """The rows of a frame of ``range`` or ``groups`` where all rows are peers: all of them, or none."""
        starts, ends = self.start is None or float(self.start.by) <= 0, self.end is None or float(self.end.by) >= 0
        if not (starts and ends):
            return NO_ROWS
        return Frame("rows", None, None, self.exclude) if self.exclude else None

    def distances(self, key: DataType) -> Distances | None:
        """How ends at a distance are computed from an exact number; ``None`` for ends, and for keys, of another kind.

        Example:
            >>> frame = Frame("range", FrameEnd("-0.005"), FrameEnd("9000000"))
            >>> distances = frame.distances(decimal(4, 2))
            >>> str(distances.key), distances.frame.text, distances.farthest
            ('decimal(6,3)', 'RANGE BETWEEN 0.005 PRECEDING AND 200 FOLLOWING', None)
            >>> frame.distances(decimal(38, 0)).farthest
            99999999999999999999999999990999999
        """
        ends = [Decimal(end.by) for end in (self.start, self.end) if end is not None]
        if self.unit != "range" or not any(ends) or key.kind not in (Kind.INTEGER, Kind.DECIMAL):
            return None
        precision, scale = (19, 0) if key.kind is Kind.INTEGER else (key.precision, key.scale)
        digits = max(scale, *(len(end.by.partition(".")[2]) for end in (self.start, self.end) if end is not None))
        whole = precision - scale
        near = [_near(end, 2 * 10**whole) for end in (self.start, self.end)]  # no two numbers are farther apart
        room, farthest = MAX_PRECISION - digits, None
        if room <= whole:
            largest = max(math.ceil(Decimal(end.by).copy_abs()) for end in near if end is not None)
            farthest = max(10 ** max(room, 0) - 1 - largest, 0)
        type_ = decimal(min(precision + digits - scale + 1, MAX_PRECISION), digits)
        return Distances(type_, Frame(self.unit, near[0], near[1], self.exclude), farthest)

    @property
    def is_short(self) -> bool:
        """Whether it has ``LONGEST_FRAME`` rows at most, whatever the rows are."""
        start, end = self.start, self.end
        return self.unit == "rows" and bool(start and end and float(end.by) - float(start.by) < LONGEST_FRAME)

    @property
    def text(self) -> str:
        """The frame as SQL writes it."""
        ends = f"BETWEEN {_end(self.start, 'PRECEDING')} AND {_end(self.end, 'FOLLOWING')}"
        return f"{self.unit.upper()} {ends}{f' EXCLUDE {self.exclude.upper()}' if self.exclude else ''}"


@dataclass(frozen=True, slots=True)
class Distances:
    """A frame of ``range`` around an exact number, so that its ends have room.

    Attributes:
        key: the type in which rows are ordered: it has the digits of the ends.
        frame: with distances that are not farther than two numbers can be apart.
        farthest: the largest number, of either sign, whose ends have room; ``None``: all have.
    """

    key: DataType
    frame: Frame
    farthest: int | None


def _near(end: FrameEnd | None, span: int) -> FrameEnd | None:
    if end is None or Decimal(end.by).copy_abs() <= span:
        return end
    return FrameEnd(f"{'-' if end.by.startswith('-') else ''}{span}")


NO_ROWS = Frame("rows", FrameEnd(str(2**31 - 2)), FrameEnd(str(2**31 - 1)))
"""A frame behind the last row of any partition."""


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
        """An order of rows without what tells none apart: repetitions, and columns that a partition has one value of.

        Example: PARTITION BY code ORDER BY code, amount is PARTITION BY code ORDER BY amount.
        """
        partition = tuple(dict.fromkeys(partition))
        order = without_repetition(key for key in keys if key.expression not in partition)
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
        """The same over other expressions, some of which may be equal now."""
        order = (key.map(change) for key in self.order)
        return Over.of(tuple(map(change, self.partition)), order, map(change, self.ties))

    @property
    def text(self) -> str:
        """The text in the parentheses of OVER, without the order of peers."""
        partition = f"PARTITION BY {', '.join(map(text, self.partition))}" if self.partition else ""
        order = f"ORDER BY {', '.join(key.text for key in self.order)}" if self.order else ""
        return " ".join(part for part in (partition, order) if part)


@dataclass(frozen=True)
class AnalyticCall:
    """A function of a row and of the rows around it.

    Attributes:
        distinct: of equal values in its frame one counts.
        pattern, value: of ``MATCH``, what matches, and what of it is the value.
    """

    function: str
    arguments: tuple[Expression, ...]
    type: DataType
    over: Over
    frame: Frame | None = None
    ignore_nulls: bool = False
    distinct: bool = False
    pattern: MatchPattern | None = None
    value: Navigation | None = None

    @property
    def identity(self) -> str:
        """The canonical form."""
        inner = "distinct " * self.distinct + ",".join(map(identity, self.arguments))
        frame = self.frame.text if self.frame is not None else ""
        nulls = "ignore nulls" if self.ignore_nulls else ""
        if self.pattern is not None and self.value is not None:
            nulls = f"{self.pattern.text}|{self.value.text}"
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
        inner = f"{'distinct ' * self.distinct}{inner}"
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

    @property
    def passes_over_nulls(self) -> bool:
        """Whether it is the first or last value that is not NULL of a frame from this row, or up to it, or of all."""
        frame = self.frame
        ends = () if frame is None else (frame.start, frame.end)
        plain = (frame is None or not frame.exclude) and all(end is None or float(end.by) == 0 for end in ends)
        return plain and self.ignore_nulls and self.function in ("first_value", "last_value")

    @property
    def tells_peers_apart(self) -> bool:
        """Whether its values depend on the order of peers."""
        if self.frame is not None and self.frame.unit == "rows":
            return True
        exact = self.function in ("sum", "total") and self.type.kind is not Kind.DOUBLE
        return not (exact or self.function in _ORDER_FREE)

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """All expressions over rows that it reads."""
        return (*self.arguments, *self.over.expressions)

    def map(self, change: Callable[[Expression], Expression]) -> AnalyticCall:
        """The call with changed expressions."""
        call = replace(self, arguments=tuple(map(change, self.arguments)))
        return call.over_rows(self.over.map(change))

    def over_rows(self, over: Over) -> AnalyticCall:
        """The same call over rows in an order that has what its own has, but for what is equal in a partition."""
        frame = self.frame
        if frame is not None and frame.unit != "rows" and not over.order:
            frame = frame.of_peers
        return replace(self, over=over, frame=frame)


def rank(function: str, over: Over) -> AnalyticCall:
    """A call of a function of ``RANKS``."""
    return AnalyticCall(function, (), INTEGER, over)


def _end(end: FrameEnd | None, outwards: str) -> str:
    if end is None:
        return f"UNBOUNDED {outwards}"
    amount = end.by.removeprefix("-")
    if float(amount) == 0:
        return "CURRENT ROW"
    side = "PRECEDING" if end.by.startswith("-") else "FOLLOWING"
    return f"INTERVAL '{amount}' {end.unit} {side}" if end.unit else f"{amount} {side}"
