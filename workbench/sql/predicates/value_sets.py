"""Sets of values of one expression: sorted intervals between *cuts*, and whether NULL is among them.

A cut lies between two neighbouring values of a type, so `> 5` and `>= 6` on INTEGER are the same cut, and no interval
needs to say whether its ends are open. Which cuts there are is for the type's *domain* to say: numbers in steps,
strings in the order of their code points, binary floats.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any, Protocol

from workbench.sql.algebra.arithmetic import BIGINT_MAX, BIGINT_MIN, number
from workbench.sql.algebra.expressions import Constant
from workbench.sql.algebra.types import BOOLEAN, DATE, DOUBLE, INTEGER, STRING, DataType, Kind

Cut = tuple[Any, ...]
"""A place between values: ``(0, …)`` just below a value (how depends on the type), or one of the two ends."""

BOTTOM: Cut = (-1,)
TOP: Cut = (1,)


@dataclass(frozen=True, slots=True)
class ValueSet:
    """A set of values of one expression: sorted intervals that do not touch, and whether NULL is among them.

    Which cuts there are depends on the expression's type; sets of one expression can be combined.

    Example:
        >>> (_, after_five), (before_six, _) = domain(INTEGER).around(5), domain(INTEGER).around(6)
        >>> above, from_six = ValueSet(((after_five, TOP),)), ValueSet(((before_six, TOP),))
        >>> above == from_six, above.contains(NULLS), NOT_NULL.contains(above)
        (True, False, True)
    """

    intervals: tuple[tuple[Cut, Cut], ...] = ()
    null: bool = False

    def __bool__(self) -> bool:
        """Whether some row can satisfy it."""
        return bool(self.intervals) or self.null

    @property
    def is_open_ended(self) -> bool:
        """Whether it has no lower or no upper bound."""
        return bool(self.intervals) and (self.intervals[0][0] == BOTTOM or self.intervals[-1][1] == TOP)

    def contains(self, other: ValueSet) -> bool:
        """Whether every value of ``other`` is in this set."""
        if other.null and not self.null:
            return False
        mine, position = self.intervals, 0
        for low, high in other.intervals:
            while position < len(mine) and mine[position][1] < high:
                position += 1
            if position == len(mine) or low < mine[position][0]:
                return False
        return True

    def intersect(self, other: ValueSet) -> ValueSet:
        """The values in both sets."""
        for all_values, some in ((self, other), (other, self)):
            if all_values.intervals == _EVERY_VALUE:
                return some if all_values.null or not some.null else ValueSet(some.intervals)
        out: list[tuple[Cut, Cut]] = []
        mine, others = iter(self.intervals), iter(other.intervals)
        a, b = next(mine, None), next(others, None)
        while a and b:
            low, high = max(a[0], b[0]), min(a[1], b[1])
            if low < high:
                out.append((low, high))
            if a[1] < b[1]:
                a = next(mine, None)
            else:
                b = next(others, None)
        return ValueSet(tuple(out), self.null and other.null)

    def union(self, other: ValueSet) -> ValueSet:
        """The values in either set."""
        out: list[tuple[Cut, Cut]] = []
        for low, high in sorted(self.intervals + other.intervals):
            if out and low <= out[-1][1]:
                out[-1] = (out[-1][0], max(high, out[-1][1]))
            else:
                out.append((low, high))
        return ValueSet(tuple(out), self.null or other.null)

    def hull(self) -> ValueSet:
        """The smallest set with one interval around this one."""
        return ValueSet(((self.intervals[0][0], self.intervals[-1][1]),) if self.intervals else (), self.null)

    def cover(self, type_: DataType, most: int) -> ValueSet:
        """A set around this one with at most ``most`` intervals: narrow gaps are closed, and those as narrow as these.

        Args:
            type_: the type of the expression.
            most: at least one.
        """
        if len(self.intervals) <= most:
            return self
        widths = [domain(type_).width(low, high) for low, high in self.gaps()]
        closed = sorted(widths, reverse=True)[most - 1]
        ends = [0, *(place for place, width in enumerate(widths, start=1) if width > closed), len(self.intervals)]
        parts = (self.intervals[start:end] for start, end in pairwise(ends))
        return ValueSet(tuple((part[0][0], part[-1][1]) for part in parts), self.null)

    def gaps(self) -> Iterator[tuple[Cut, Cut]]:
        """The intervals between the intervals."""
        for (_, low), (high, _) in zip(self.intervals, self.intervals[1:], strict=False):
            yield low, high

    def points(self, type_: DataType, limit: float = math.inf) -> list[Constant] | None:
        """The values other than NULL in ascending order, or ``None`` when they are not so few.

        Args:
            type_: the type of the expression.
            limit: how many are few.
        """
        out: list[Constant] = []
        for low, high in self.intervals:
            some = domain(type_).points(low, high, limit - len(out))
            if some is None:
                return None
            out += some
        return out


_EVERY_VALUE = ((BOTTOM, TOP),)
EMPTY = ValueSet()
NULLS = ValueSet(null=True)
NOT_NULL = ValueSet(_EVERY_VALUE)
EVERYTHING = ValueSet(_EVERY_VALUE, null=True)


class TypeDomain(Protocol):
    """The values of a type, as cuts."""

    def around(self, value: Any) -> tuple[Cut, Cut]:
        """The cuts just below and above what equals a value; the same cut when nothing does."""

    def borders(self, cut: Cut) -> Iterable[tuple[Constant, bool]]:
        """The values next to a cut, each with whether the cut is above it."""

    def points(self, low: Cut, high: Cut, limit: float) -> list[Constant] | None:
        """The values between two cuts, when they are no more than ``limit``."""

    def width(self, low: Cut, high: Cut) -> float:
        """How far two cuts are apart, neither being an end; only for telling wide gaps from narrow ones."""


@dataclass(frozen=True)
class _Grid:
    """Values that are whole numbers of steps: integers, decimals in units of their last digit, days, microseconds."""

    type: DataType
    low: float
    high: float

    def around(self, value: Any) -> tuple[Cut, Cut]:
        steps = _steps(value) * 10**self.type.scale
        above = math.floor(steps) + 1
        return self._below(above - (steps == above - 1)), self._below(above)

    def _below(self, step: int) -> Cut:
        return BOTTOM if step <= self.low else TOP if step > self.high else (0, step)

    def borders(self, cut: Cut) -> Iterable[tuple[Constant, bool]]:
        neighbours = ((self._constant(cut[1]), False), (self._constant(cut[1] - 1), True))
        return [(constant, above) for constant, above in neighbours if constant is not None]

    def points(self, low: Cut, high: Cut, limit: float) -> list[Constant] | None:
        first = self.low if low == BOTTOM else low[1]
        end = self.high + 1 if high == TOP else high[1]
        if end - first > limit or math.isinf(end - first):
            return None
        constants = [self._constant(step) for step in range(int(first), int(end))]
        return [c for c in constants if c is not None]

    def width(self, low: Cut, high: Cut) -> float:
        return float(high[1] - low[1])

    def _constant(self, step: int) -> Constant | None:
        """The value, unless it is a time that Python cannot write."""
        try:
            match self.type.kind:
                case Kind.BOOLEAN:
                    return Constant(bool(step), BOOLEAN)
                case Kind.DATE:
                    return Constant(dt.date.fromordinal(step), DATE)
                case Kind.TIMESTAMP:
                    return Constant(_EPOCH + dt.timedelta(microseconds=step), self.type)
        except (OverflowError, ValueError):
            return None
        digits = tuple(map(int, str(abs(step))))
        return number(Decimal((int(step < 0), digits, -self.type.scale)) if self.type.scale else step)


_EPOCH = dt.datetime(1970, 1, 1)


def _steps(value: Any) -> Fraction:
    match value:
        case dt.datetime():
            return Fraction((value - _EPOCH) // dt.timedelta(microseconds=1))
        case dt.date():
            return Fraction(value.toordinal())
    return Fraction(value)


@dataclass(frozen=True)
class _Strings:
    """Strings in the order of their code points; what follows a string directly is the string and a zero character."""

    def around(self, value: Any) -> tuple[Cut, Cut]:
        return (0, value) if value else BOTTOM, (0, value + "\0")

    def borders(self, cut: Cut) -> Iterable[tuple[Constant, bool]]:
        yield Constant(cut[1], STRING), False
        if cut[1].endswith("\0"):
            yield Constant(cut[1][:-1], STRING), True

    def points(self, low: Cut, high: Cut, limit: float) -> list[Constant] | None:
        first: str = "" if low == BOTTOM else low[1]
        if high == TOP or not high[1].startswith(first) or high[1][len(first) :].strip("\0"):
            return None
        count = len(high[1]) - len(first)
        return [Constant(first + "\0" * i, STRING) for i in range(count)] if count <= limit else None

    def width(self, low: Cut, high: Cut) -> float:
        return _as_fraction(high[1]) - _as_fraction(low[1])


def _as_fraction(value: str) -> float:
    """A string as a number below one, its characters being digits; the seventh changes nothing any more."""
    return float(int.from_bytes(bytes(min(ord(c), 255) for c in value[:7].ljust(7, "\0"))))


@dataclass(frozen=True)
class _Floats:
    """Binary floats as if between any two there were another; NaN is the greatest, and zero has no sign."""

    def around(self, value: Any) -> tuple[Cut, Cut]:
        value = float(value)
        if math.isnan(value):
            return (0, math.inf, 1), TOP
        return BOTTOM if value == -math.inf else (0, value + 0.0, 0), (0, value + 0.0, 1)

    def borders(self, cut: Cut) -> Iterable[tuple[Constant, bool]]:
        yield Constant(cut[1], DOUBLE), cut[2] == 1

    def points(self, low: Cut, high: Cut, limit: float) -> list[Constant] | None:
        candidates = [math.nan] if high == TOP else [high[1]]
        same = [Constant(v, DOUBLE) for v in candidates if self.around(v) == (low, high)]
        return same if same and limit >= 1 else None

    def width(self, low: Cut, high: Cut) -> float:
        return float(high[1] - low[1])


@cache
def domain(type_: DataType) -> TypeDomain:
    """The values of a type as cuts.

    Example:
        >>> domain(INTEGER).around(Decimal("2.5")), domain(STRING).around("")
        (((0, 3), (0, 3)), ((-1,), (0, '\\x00')))
    """
    match type_.kind:
        case Kind.STRING:
            return _Strings()
        case Kind.DOUBLE:
            return _Floats()
        case Kind.INTEGER:
            return _Grid(INTEGER, BIGINT_MIN, BIGINT_MAX)
        case Kind.DECIMAL:
            return _Grid(type_, 1 - 10**type_.precision, 10**type_.precision - 1)
        case Kind.BOOLEAN:
            return _Grid(type_, 0, 1)
        case _:
            return _Grid(type_, -math.inf, math.inf)


ORDER: TypeDomain = _Grid(INTEGER, -1, 1)
"""How two values compare: less, equal or greater, as -1, 0 and 1."""
