"""Sums and products of decimals as 64-bit integers, where these are exact.

A selection tests `amount1 - 2 * amount2` of every row. Where the digits say that no value is beyond 64 bits, the
expression is computed from the columns' unscaled integers, which stored columns have. It is also computed so where the
values of a batch fit (``decimals``).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from math import prod

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from workbench.arrow.types import filled, unscaled_integers
from workbench.sql.algebra.expressions import Call, Column, Constant, Expression
from workbench.sql.algebra.types import Kind

UNSCALED_LIMIT = 2**62
"""No value, also of a part, is so far from 0."""
_INTEGER = 2**63
"""How far an INTEGER is from 0 at most."""


@dataclass(frozen=True)
class Polynomial:
    """A sum of products of columns' unscaled integers.

    Attributes:
        terms: products of columns with their factors; a column stands in a product as often as it is multiplied.
    """

    terms: tuple[tuple[tuple[str, ...], int], ...]

    @staticmethod
    def of(terms: Counter[tuple[str, ...]]) -> Polynomial:
        """The sum of some terms."""
        return Polynomial(tuple(sorted((names, factor) for names, factor in terms.items())))

    def __add__(self, other: Polynomial) -> Polynomial:
        terms = Counter(dict(self.terms))
        terms.update(dict(other.terms))
        return Polynomial.of(terms)

    def __mul__(self, other: Polynomial) -> Polynomial:
        terms = Counter[tuple[str, ...]]()
        for (names, factor), (others, by) in product(self.terms, other.terms):
            terms[tuple(sorted((*names, *others)))] += factor * by
        return Polynomial.of(terms)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return tuple(sorted({name for names, _ in self.terms for name in names}))

    def fits(self, rows: pa.RecordBatch) -> bool:
        """Whether the integers of these rows, and all that they are made of, are 64-bit integers."""
        most: dict[str, int] = {}
        for name in self.columns:
            column = _known(rows.column(name))
            if pa.types.is_decimal(column.type) and not fits_64_bits(column):
                return False
            numbers = unscaled_integers(column)
            most[name] = max(int(numbers.max()), -int(numbers.min())) if len(numbers) else 0
        return sum(abs(factor) * prod(most[name] for name in names) for names, factor in self.terms) < UNSCALED_LIMIT

    def exact(self, rows: pa.RecordBatch) -> list[int | None]:
        """The integer of each row, however large, NULL where one of its columns is NULL."""
        columns = {name: rows.column(name) for name in self.columns}
        numbers = {name: large_integers(column) for name, column in columns.items()}
        total = np.zeros(rows.num_rows, dtype=object)
        for names, factor in self.terms:
            total += prod((numbers[name] for name in names), start=factor)
        missing = np.zeros(rows.num_rows, dtype=bool)
        for column in columns.values():
            missing |= np.asarray(column.is_null())
        return [None if lost else int(number) for lost, number in zip(missing, total, strict=True)]

    def values(self, rows: pa.RecordBatch) -> pa.Array:
        """The integer of each row, NULL where one of its columns is NULL.

        Args:
            rows: with the columns, as decimals that fit 64 bits, as the result does. An intermediate value may
                overflow: 64-bit integers are added and multiplied modulo 2^64, so the result is right.

        Example:
            >>> rows = pa.RecordBatch.from_pydict({"a": [Decimal("1.50"), None], "b": [Decimal("0.50")] * 2})
            >>> Polynomial(((("a",), 2), (("b",), -1))).values(rows).to_pylist()
            [250, None]
        """
        columns = {name: rows.column(name) for name in self.columns}
        numbers = {name: unscaled_integers(column) for name, column in columns.items()}
        total = np.zeros(rows.num_rows, dtype=np.int64)
        for names, factor in self.terms:
            term = np.full(rows.num_rows, factor, dtype=np.int64)
            for name in names:
                term *= numbers[name]
            total += term
        missing = np.zeros(rows.num_rows, dtype=bool)
        for column in columns.values():
            if column.null_count:
                missing |= np.asarray(column.is_null())
        return pa.array(total, mask=missing if missing.any() else None)


def _known(numbers: pa.Array) -> pa.Array:
    """Numbers, or times as their microseconds, with 0 in the place of NULL."""
    return filled(numbers.cast(pa.int64()) if pa.types.is_timestamp(numbers.type) else numbers, 0)


def fits_64_bits(decimals: pa.Array) -> bool:
    """Whether the unscaled integers of some decimals are 64-bit integers."""
    known = _known(decimals)
    return bool((unscaled_integers(known, 1) == unscaled_integers(known) >> 63).all())


def large_integers(numbers: pa.Array) -> npt.NDArray[np.object_]:
    """Integers, or the unscaled integers of decimals, as Python's integers; 0 in the place of NULL."""
    known = _known(numbers)
    high = unscaled_integers(known, 1).astype(object) << 64 if pa.types.is_decimal(known.type) else 0
    low = unscaled_integers(known).view(np.uint64) if pa.types.is_decimal(known.type) else unscaled_integers(known)
    return np.asarray(high + low.astype(object))


@dataclass(frozen=True)
class Unscaled:
    """A value times 10 to the power of ``scale``, whose absolute value is at most ``most``.

    Attributes:
        number: the value, of stored columns.
        scale: how many digits it has behind the point.
        most: how far it is from 0 at most, and every part of it.
    """

    number: Polynomial
    scale: int
    most: int

    def at(self, scale: int) -> Unscaled:
        """The same with more digits behind the point."""
        factor = 10 ** (scale - self.scale)
        return self if factor == 1 else Unscaled(self.number * _constant(factor), scale, self.most * factor)


def _constant(number: int) -> Polynomial:
    return Polynomial((((), number),))


def _column(column: Column) -> Polynomial:
    return Polynomial((((column.name,), 1),))


def unscaled(expression: Expression, limit: int = UNSCALED_LIMIT) -> Unscaled | None:
    """An expression of decimals as an integer; ``None`` where it has other parts, or might not fit.

    Args:
        expression: sums, differences and products of decimal columns and numbers.
        limit: no value, also of a part, is so far from 0.

    Example:
        >>> from workbench.sql.algebra.types import decimal
        >>> money = decimal(15, 2)
        >>> double = Call("*", (Column("a", money), Constant(2, decimal(1, 0))), decimal(17, 2))
        >>> unscaled(double).number
        Polynomial(terms=((('a',), 2),))
    """
    result = _unscaled(expression, limit)
    return result if result is not None and result.most < limit else None


def unscaled_or_beyond(expression: Expression, limit: int) -> Unscaled | None:
    """``unscaled`` where the result may be beyond the limit, but no part of it: there Spark has NULL."""
    match expression:
        case Call(function="+" | "-" | "*" as operator, arguments=(left, right)):
            ends = unscaled(left, limit), unscaled(right, limit)
            result = None if ends[0] is None or ends[1] is None else _combined(operator, ends[0], ends[1])
            # Of more digits than there are Spark cuts some behind the point.
            kept = result is not None and result.scale <= expression.type.scale
            return result.at(expression.type.scale) if result is not None and kept else None
    return unscaled(expression, limit)


def _unscaled(expression: Expression, limit: int) -> Unscaled | None:
    match expression:
        case Call(function=function, type=type_) if type_.kind is not Kind.DECIMAL and function != "unix_micros":
            return None
        case Column(type=type_) if type_.kind is Kind.INTEGER and limit > _INTEGER:
            return Unscaled(_column(expression), 0, _INTEGER)
        case Column(type=type_) if type_.kind is Kind.DECIMAL and 10**type_.precision < limit:
            return Unscaled(_column(expression), type_.scale, 10**type_.precision)
        case Constant(value=value) if isinstance(value, int | Decimal) and not isinstance(value, bool):
            scale = max(0, -int(Decimal(value).as_tuple().exponent))
            number = int(Decimal(value).scaleb(scale))
            return Unscaled(_constant(number), scale, abs(number))
        case Call(function="+" | "-" | "*", arguments=(_, _)):
            result = unscaled_or_beyond(expression, limit)
            return result if result is not None and result.most < limit else None
        case Call(function="unix_micros", arguments=(Column() as time,)) if limit > _INTEGER:
            # A timestamp is stored as the number of its microseconds.
            return Unscaled(_column(time), 0, _INTEGER)
        case Call(function="cast", arguments=(Column() | Call("unix_micros") as number,)) if (
            number.type.kind is Kind.INTEGER
        ):
            integer, most = _unscaled(number, limit), 10 ** (expression.type.precision - expression.type.scale)
            return integer.at(expression.type.scale) if integer is not None and integer.most < most else None
        case _:
            return None


def _combined(operator: str, left: Unscaled, right: Unscaled) -> Unscaled:
    if operator == "*":
        return Unscaled(left.number * right.number, left.scale + right.scale, left.most * right.most)
    scale = max(left.scale, right.scale)
    left, right = left.at(scale), right.at(scale)
    number = left.number + right.number * _constant(1 if operator == "+" else -1)
    return Unscaled(number, scale, left.most + right.most)
