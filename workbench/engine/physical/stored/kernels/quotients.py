"""Kernels of quotients: averages, ratios and arithmetic of DOUBLE, which answers keep with their rows.

The same bits as Spark's: a decimal becomes the DOUBLE that is nearest to it, and numbers of that kind are divided as
the processor does.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.types import filled, unscaled_integers
from workbench.engine.physical.stored.decimals import fitting, from_64_bits, from_integers
from workbench.engine.physical.stored.kernels.kernel import Kernel
from workbench.engine.physical.stored.unscaled import fits_64_bits, large_integers
from workbench.sql.algebra.expressions import Call
from workbench.sql.algebra.types import DOUBLE, MAX_PRECISION, DataType, Kind, as_decimal
from workbench.sql.functions.numbers import NUMERIC_QUOTIENT
from workbench.sql.functions.numeric_quotients import quotient_digits

_EXACT_INTEGER, _EXACT_POWER = 2**53, 22
"""Up to these DOUBLE has every whole number, and every power of ten: a quotient of both is rounded once."""
_BEYOND = 2**63
_LARGEST_NUMERIC = 1e18
"""What DOUBLEs that are rounded as NUMERIC are less than (``functions/numeric_casts``)."""
_DIGITS_OF_QUOTIENT = 32
"""Digits before the point of a quotient of whole numbers in Spark."""
_WIDE = 76
"""Digits of Arrow's largest decimals, one of which a sum or product has more than its operands."""


def _of_doubles(call: Call) -> bool:
    return all(argument.type == DOUBLE for argument in call.arguments) and call.type == DOUBLE


def _arithmetic(function: Any) -> Kernel:
    """The sum, difference or product of two numbers of DOUBLE."""

    def compute(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
        (left, missing), (right, unknown) = map(_with_missing, arguments)
        with np.errstate(all="ignore"):
            return pa.array(function(left, right), mask=missing | unknown)

    return Kernel(compute, _of_doubles)


def _exact(compute: Callable[[pa.Array, pa.Array], pa.Array], scale: Callable[[int, int], int]) -> Kernel:
    """Add, subtract or multiply decimals with all digits after the point; NULL where the result does not fit."""

    def values(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
        wide = [pa.decimal256(type_.precision, type_.scale) for type_ in _decimals(call)]
        return fitting(compute(*(a.cast(type_) for a, type_ in zip(arguments, wide, strict=True))), call.type)

    def accepts(call: Call) -> bool:
        if not _of_decimals(call):
            return False
        left, right = _decimals(call)
        return left.precision + right.precision < _WIDE and call.type.scale == scale(left.scale, right.scale)

    return Kernel(values, accepts)


def _of_decimals(call: Call) -> bool:
    return call.type.kind is Kind.DECIMAL and {a.type.kind for a in call.arguments} <= {Kind.INTEGER, Kind.DECIMAL}


def _decimals(call: Call) -> list[DataType]:
    return [as_decimal(argument.type) for argument in call.arguments]


def _divided(number: pa.Array, divisor: pa.Array, ieee: bool = False) -> pa.Array:
    """A DOUBLE divided by another; by zero NULL, or what IEEE 754 says."""
    (above, missing), (below, unknown) = map(_with_missing, (number, divisor))
    with np.errstate(all="ignore"):
        return pa.array(above / below, mask=missing | unknown | ((below == 0) & (not ieee)))


def _average(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """Divide a sum by a count: as DOUBLE, or as decimal rounded once, half away from zero, and NULL where it does not
    fit.
    """
    totals, counts = arguments
    if call.type == DOUBLE:
        return _divided(as_doubles(totals), as_doubles(counts))
    return _rounded_quotients(totals, counts, call.type.scale - call.arguments[0].type.scale, call.type)


def _decimal_quotient(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """Divide decimals, rounded once, half away from zero; NULL for a division by zero, and where the result does not
    fit.
    """
    number, divisor = arguments
    left, right = (argument.scale for argument in _decimals(call))
    return _rounded_quotients(number, divisor, call.type.scale - left + right, call.type)


def _rounded_quotients(numbers: pa.Array, divisors: pa.Array, shift: int, type_: DataType) -> pa.Array:
    """Quotients of unscaled integers times a power of ten, half away from zero; NULL by zero, and without room.

    Args:
        numbers, divisors: decimals or integers.
        shift: the power of ten.
        type_: of the quotients.
    """
    up, down = 10 ** max(shift, 0), 10 ** max(-shift, 0)
    room = 10**type_.precision
    if all(pa.types.is_integer(each.type) or fits_64_bits(each) for each in (numbers, divisors)):
        number, divisor = (unscaled_integers(filled(each, 0)) for each in (numbers, divisors))
        if 2 * up * max(_furthest(number), 1) + 2 * down * max(_furthest(divisor), 1) < _BEYOND:
            size = down * np.abs(divisor)
            away = (2 * up * np.abs(number) + size) // np.maximum(2 * size, 1)
            missing = np.asarray(numbers.is_null()) | (divisor == 0) | (away >= min(room, _BEYOND - 1))
            return from_64_bits(pa.array(np.where((number < 0) != (divisor < 0), -away, away), mask=missing), type_)
    known = np.asarray(numbers.is_valid()) & np.asarray(divisors.is_valid())
    pairs = zip(large_integers(numbers).tolist(), large_integers(divisors).tolist(), known.tolist(), strict=True)
    found = (quotient_half_away(a * up, b * down) if valid and b else None for a, b, valid in pairs)
    return from_integers((a if a is not None and abs(a) < room else None for a in found), type_)


def _is_average(call: Call) -> bool:
    total, count = (argument.type for argument in call.arguments)
    if call.type == DOUBLE:
        return total.numeric and count.numeric
    return (total.kind, count.kind) == (Kind.DECIMAL, Kind.INTEGER) and call.type.scale >= total.scale


def _numeric_quotient(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """A quotient with the digits of PostgreSQL, as ``functions/numeric_quotients`` finds them; NULL beyond its room."""
    types, kept = _decimals(call), call.type.scale
    scale = max(type_.scale for type_ in types)
    most = [10 ** (MAX_PRECISION - _digits_of_product(type_, scale)) for type_ in types]

    def divided(above: int, below: int) -> int | None:
        a, b = (abs(n) * 10 ** (scale - type_.scale) for n, type_ in zip((above, below), types, strict=True))
        if not b or a >= most[0] or b >= most[1]:
            return None
        if not a:
            return 0
        digits = quotient_digits(a * 10 ** (-scale % 4), b * 10 ** (-scale % 4))
        if not scale <= digits <= kept:
            return None
        whole, rest = divmod(a, b)
        part = rest * 10**digits
        if part >= 10**MAX_PRECISION or max(whole, part // b) >= 10**_DIGITS_OF_QUOTIENT:
            return None
        away = whole * 10**kept + quotient_half_away(part, b) * 10 ** (kept - digits)
        return None if away >= 10**call.type.precision else -away if (above < 0) != (below < 0) else away

    first, at = _distinct_pairs(arguments[0], arguments[1])
    arguments = [each.take(pa.array(first)) for each in arguments]
    missing = np.asarray(arguments[0].is_null()) | np.asarray(arguments[1].is_null())
    pairs = zip(*(large_integers(each).tolist() for each in arguments), missing.tolist(), strict=True)
    found = from_integers((None if lost else divided(above, below) for above, below, lost in pairs), call.type)
    return found.take(pa.array(at))


def _distinct_pairs(left: pa.Array, right: pa.Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Where each pair of values stands first, and which of them every row has: rows of a join have few totals."""
    codes = [each.dictionary_encode("encode").indices.to_numpy().astype(np.int64) for each in (left, right)]
    _, first, at = np.unique(codes[0] << 32 | codes[1], return_index=True, return_inverse=True)
    return first, at


def _digits_of_product(type_: DataType, scale: int) -> int:
    """How many digits behind the point Spark keeps of a number times ten to the power of a scale."""
    precision = type_.precision + scale + 2
    return (
        max(MAX_PRECISION - (precision - type_.scale), min(type_.scale, 6))
        if precision > MAX_PRECISION
        else type_.scale
    )


def _rounded_numeric(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """DOUBLEs of 15 significant digits, rounded to fewer behind the point, half away from zero."""
    power = Decimal(1).scaleb(-call.type.scale)

    def rounded(number: float) -> int | None:
        if not abs(number) < _LARGEST_NUMERIC:  # NaN, too
            return None
        return int(Decimal(f"{number:.15g}").quantize(power, ROUND_HALF_UP).scaleb(call.type.scale))

    return from_integers((None if x is None else rounded(x) for x in arguments[0].to_pylist()), call.type)


def to_double(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """Numbers as DOUBLE."""
    return as_doubles(arguments[0])


def to_integer(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """Decimals of whole numbers as INTEGER; NULL beyond 64 bits."""
    (decimals,) = arguments
    if fits_64_bits(decimals):
        missing = np.asarray(decimals.is_null()) if decimals.null_count else None
        return pa.array(unscaled_integers(filled(decimals, 0)), mask=missing)
    found = zip(large_integers(decimals).tolist(), decimals.is_valid().to_pylist(), strict=True)
    return pa.array([number if known and -_BEYOND <= number < _BEYOND else None for number, known in found], pa.int64())


def as_doubles(numbers: pa.Array) -> pa.Array:
    """Convert numbers to the nearest DOUBLE; NULL stays NULL."""
    if pa.types.is_floating(numbers.type):
        return numbers
    missing = np.asarray(numbers.is_null()) if numbers.null_count else None
    known = filled(numbers, 0)
    if pa.types.is_integer(numbers.type):
        return pa.array(known.to_numpy().astype(np.float64), mask=missing)
    scale = numbers.type.scale
    if scale <= _EXACT_POWER and fits_64_bits(known):
        whole = unscaled_integers(known)
        if _furthest(whole) <= _EXACT_INTEGER:
            return pa.array(whole / float(10**scale), mask=missing)
    return pa.array([float(number) for number in known.to_pylist()], pa.float64(), mask=missing)


def _with_missing(numbers: pa.Array) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    return filled(numbers, 0.0).to_numpy(zero_copy_only=False), np.asarray(numbers.is_null())


def _furthest(numbers: npt.NDArray[np.int64]) -> int:
    """The largest absolute value of the numbers."""
    return max(int(numbers.max(initial=0)), -int(numbers.min(initial=0)))


def quotient_half_away(number: int, divisor: int) -> int:
    """A quotient of whole numbers, half away from zero."""
    away = (2 * abs(number) + abs(divisor)) // (2 * abs(divisor))
    return away if (number < 0) == (divisor < 0) else -away


QUOTIENT_KERNELS = {
    "+": _arithmetic(np.add),
    "-": _arithmetic(np.subtract),
    "*": _arithmetic(np.multiply),
    "/": Kernel(lambda call, arguments: _divided(arguments[0], arguments[1]), _of_doubles),
    "/_ieee": Kernel(lambda call, arguments: _divided(arguments[0], arguments[1], ieee=True), _of_doubles),
    "average": Kernel(_average, _is_average),
    NUMERIC_QUOTIENT: Kernel(_numeric_quotient, _of_decimals),
    "rounded_numeric": Kernel(_rounded_numeric, lambda call: True),
}
"""By the name of the function."""

EXACT_KERNELS = {
    "+": _exact(pc.add, max),
    "-": _exact(pc.subtract, max),
    "*": _exact(pc.multiply, operator.add),
    "/": Kernel(_decimal_quotient, _of_decimals),
}
"""Arithmetic of decimals that is not evaluated as a whole, by the name of the function."""
