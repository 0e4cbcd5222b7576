"""Stored numbers in another type, and quotients of them: averages and ratios, which answers keep with their rows.

The same bits as Spark's: a decimal becomes the DOUBLE that is nearest to it, and numbers of that kind are divided as
the processor does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from workbench.engine.physical.stored.calls import RowValue
from workbench.engine.physical.stored.conditions import ValueReader
from workbench.engine.physical.stored.decimals import from_64_bits, from_integers
from workbench.engine.physical.stored.unscaled import fits_64_bits, large_integers, unscaled_integers
from workbench.sql.algebra.expressions import Call, Expression
from workbench.sql.algebra.types import DOUBLE, INTEGER, DataType, Kind

_EXACT_INTEGER, _EXACT_POWER = 2**53, 22
"""Up to these DOUBLE has every whole number, and every power of ten: a quotient of both is rounded once."""
_BEYOND = 2**63
_ARITHMETIC = {"+": np.add, "-": np.subtract, "*": np.multiply}


@dataclass(frozen=True)
class AsDouble:
    """A number as DOUBLE."""

    number: RowValue

    def values(self, rows: pa.RecordBatch) -> pa.Array:
        """A DOUBLE or NULL for each row."""
        return as_doubles(self.number.values(rows))


@dataclass(frozen=True)
class _Quotient:
    """A DOUBLE divided by another; by zero NULL, or what IEEE 754 says."""

    number: RowValue
    divisor: RowValue
    ieee: bool = False

    def values(self, rows: pa.RecordBatch) -> pa.Array:
        """A DOUBLE or NULL for each row.

        Example:
            >>> from workbench.engine.physical.stored.values import StoredColumn
            >>> rows = pa.RecordBatch.from_pydict({"a": [1.0, 1.0, None], "b": [4.0, 0.0, 1.0]})
            >>> _Quotient(StoredColumn("a"), StoredColumn("b")).values(rows).to_pylist()
            [0.25, None, None]
        """
        (number, missing), (divisor, unknown) = map(
            _with_missing, (self.number.values(rows), self.divisor.values(rows))
        )
        with np.errstate(all="ignore"):
            return pa.array(number / divisor, mask=missing | unknown | ((divisor == 0) & (not self.ieee)))


@dataclass(frozen=True)
class DoubleArithmetic:
    """The sum, difference or product of two numbers of DOUBLE."""

    operator: str
    left: RowValue
    right: RowValue

    def values(self, rows: pa.RecordBatch) -> pa.Array:
        """A DOUBLE or NULL for each row."""
        (left, missing), (right, unknown) = (_with_missing(part.values(rows)) for part in (self.left, self.right))
        with np.errstate(all="ignore"):
            return pa.array(_ARITHMETIC[self.operator](left, right), mask=missing | unknown)


@dataclass(frozen=True)
class DecimalAverage:
    """A sum of decimals divided by their count, rounded half away from zero.

    Attributes:
        total, count: of the values.
        scale: digits behind the point of the sum; the average has at least as many.
        type: of the average.
    """

    total: RowValue
    count: RowValue
    scale: int
    type: DataType

    def values(self, rows: pa.RecordBatch) -> pa.Array:
        """A decimal for each row; NULL of no values, and where the type has no room for it."""
        totals, counts = self.total.values(rows), self.count.values(rows)
        factor, most = 10 ** (self.type.scale - self.scale), 10**self.type.precision
        if fits_64_bits(totals):
            number, count = unscaled_integers(totals.fill_null(0)), unscaled_integers(counts.fill_null(0))
            if 2 * factor * _furthest(number) + _furthest(count) < _BEYOND:
                away = (2 * factor * np.abs(number) + count) // np.maximum(2 * count, 1)
                missing = np.asarray(totals.is_null()) | (count == 0) | (away >= min(most, _BEYOND - 1))
                return from_64_bits(pa.array(np.where(number < 0, -away, away), mask=missing), self.type)
        pairs = zip(large_integers(totals).tolist(), counts.to_pylist(), totals.is_valid().to_pylist(), strict=True)
        averages = (_rounded(total * factor, count) if known and count else None for total, count, known in pairs)
        return from_integers((a if a is not None and abs(a) < most else None for a in averages), self.type)


@dataclass(frozen=True)
class AsInteger:
    """A decimal of whole numbers as INTEGER."""

    number: RowValue

    def values(self, rows: pa.RecordBatch) -> pa.Array:
        """A whole number for each row; NULL beyond 64 bits."""
        decimals = self.number.values(rows)
        if fits_64_bits(decimals):
            missing = np.asarray(decimals.is_null()) if decimals.null_count else None
            return pa.array(unscaled_integers(decimals.fill_null(0)), mask=missing)
        found = zip(large_integers(decimals).tolist(), decimals.is_valid().to_pylist(), strict=True)
        return pa.array(
            [number if known and -_BEYOND <= number < _BEYOND else None for number, known in found], pa.int64()
        )


StoredNumber = AsDouble | AsInteger | DecimalAverage | DoubleArithmetic | _Quotient


def stored_number(expression: Expression, part: ValueReader) -> StoredNumber | None:
    """An expression as a number in another type, or as a quotient, if it is that."""
    match expression:
        case Call("cast", (number,), type) if type == DOUBLE:
            return _as_double(number, part)
        case Call("cast", (number,), type) if type == INTEGER and number.type.kind is Kind.DECIMAL:
            value = part(number) if not number.type.scale else None
            return None if value is None else AsInteger(value)
        case Call("/" | "/_ieee" as name, (number, divisor), type) if type == number.type == divisor.type == DOUBLE:
            return _quotient(part(number), part(divisor), name != "/")
        case Call(function, (left, right), type) if (
            function in _ARITHMETIC and type == left.type == right.type == DOUBLE
        ):
            ends = part(left), part(right)
            return None if ends[0] is None or ends[1] is None else DoubleArithmetic(function, ends[0], ends[1])
        case Call("average", (total, count), type) if type == DOUBLE:
            return _quotient(_as_double(total, part), _as_double(count, part))
        case Call("average", (total, count), type) if type.scale >= total.type.scale:
            return _average(total, count, type, part)
    return None


def _average(total: Expression, count: Expression, type_: DataType, part: ValueReader) -> DecimalAverage | None:
    values = part(total), part(count)
    kinds = total.type.kind, count.type.kind
    if values[0] is None or values[1] is None or kinds != (Kind.DECIMAL, Kind.INTEGER):
        return None
    return DecimalAverage(values[0], values[1], total.type.scale, type_)


def as_doubles(numbers: pa.Array) -> pa.Array:
    """Numbers as those of DOUBLE that are nearest to them, NULL as NULL."""
    if pa.types.is_floating(numbers.type):
        return numbers
    missing = np.asarray(numbers.is_null()) if numbers.null_count else None
    known = numbers.fill_null(0)
    if pa.types.is_integer(numbers.type):
        return pa.array(known.to_numpy().astype(np.float64), mask=missing)
    scale = numbers.type.scale
    if scale <= _EXACT_POWER and fits_64_bits(known):
        whole = unscaled_integers(known)
        if _furthest(whole) <= _EXACT_INTEGER:
            return pa.array(whole / float(10**scale), mask=missing)
    return pa.array([float(number) for number in known.to_pylist()], pa.float64(), mask=missing)


def _as_double(number: Expression, part: ValueReader) -> AsDouble | None:
    value = part(number) if number.type.kind in (Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE) else None
    return None if value is None else AsDouble(value)


def _quotient(number: RowValue | None, divisor: RowValue | None, ieee: bool = False) -> _Quotient | None:
    return None if number is None or divisor is None else _Quotient(number, divisor, ieee)


def _with_missing(numbers: pa.Array) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    return numbers.fill_null(0.0).to_numpy(zero_copy_only=False), np.asarray(numbers.is_null())


def _furthest(numbers: npt.NDArray[np.int64]) -> int:
    """How far the numbers are from 0 at most."""
    return max(int(numbers.max(initial=0)), -int(numbers.min(initial=0)))


def _rounded(number: int, divisor: int) -> int:
    """A quotient of whole numbers, half away from zero; the divisor is above 0."""
    away = (2 * abs(number) + divisor) // (2 * divisor)
    return away if number >= 0 else -away
