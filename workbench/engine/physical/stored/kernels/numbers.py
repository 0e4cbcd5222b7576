"""Kernels of numbers: NULL where whole numbers leave 64 bits, and the DOUBLE that Spark's decimals come to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.types import Mask, filled
from workbench.engine.physical.stored.decimals import fitting, from_integers, widest
from workbench.engine.physical.stored.kernels.kernel import Kernel, constant_integer, of_kinds
from workbench.engine.physical.stored.unscaled import large_integers
from workbench.sql.algebra.expressions import Call
from workbench.sql.algebra.types import INTEGER, MAX_PRECISION, Kind, as_decimal

_MOST = 2**63 - 1
_WHOLE = 2.0**52
"""From here on a DOUBLE has no fraction."""
_DIGITS = 15
"""Digits behind the point up to which a DOUBLE is rounded here."""

_DIGITS_KEPT = Context(prec=60)
_LARGEST_POWER = 22
"""Of ten that a DOUBLE is."""

Int64s = npt.NDArray[np.int64]
_Doubles = npt.NDArray[np.float64]


def _is_integer(call: Call) -> bool:
    return all(argument.type.kind is Kind.INTEGER for argument in call.arguments) and call.type == INTEGER


def _is_double(call: Call) -> bool:
    return of_kinds(Kind.DOUBLE)(call)


def _values(numbers: pa.Array) -> npt.NDArray[Any]:
    return filled(numbers, 0).to_numpy(zero_copy_only=False)


def _missing(arguments: Sequence[pa.Array]) -> Mask:
    none = np.zeros(len(arguments[0]), dtype=bool)
    return np.logical_or.reduce([none, *(np.asarray(each.is_null()) for each in arguments if each.null_count)])


def _exact(compute: Callable[[Int64s, Int64s], tuple[Int64s, Mask]]) -> Kernel:
    """Compute integer arithmetic, and say where the result does not fit 64 bits."""

    def values(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
        left, right = map(_values, arguments)
        with np.errstate(all="ignore"):
            found, lost = compute(left, right)
        return pa.array(found, mask=lost | _missing(arguments))

    return Kernel(values, _is_integer)


def sums(left: Int64s, right: Int64s) -> tuple[Int64s, Mask]:
    """Sums modulo 2^64, and a mask of those that overflowed."""
    found = left + right
    return found, ((left ^ found) & (right ^ found)) < 0


def differences(left: Int64s, right: Int64s) -> tuple[Int64s, Mask]:
    """Differences modulo 2^64, and which of them are others."""
    found = left - right
    return found, ((left ^ right) & (left ^ found)) < 0


def products(left: Int64s, right: Int64s) -> tuple[Int64s, Mask]:
    """Products modulo 2^64, and which of them are others."""
    found = left * right
    far = np.abs(left.astype(np.float64) * right.astype(np.float64)) >= 2.0**62
    lost = np.zeros(len(found), dtype=bool)
    for at in np.flatnonzero(far):
        lost[at] = not -_MOST - 1 <= int(left[at]) * int(right[at]) <= _MOST
    return found, lost


def _quotient(left: Int64s, right: Int64s) -> tuple[Int64s, Mask]:
    """Toward zero."""
    lost = (right == 0) | ((left == -_MOST - 1) & (right == -1))
    divisor = np.where(lost, 1, right)
    found = left // divisor
    return found + ((left % divisor != 0) & ((left < 0) != (divisor < 0))), lost


def _remainder(left: Int64s, right: Int64s) -> tuple[Int64s, Mask]:
    """With the sign of the number."""
    return np.fmod(left, np.where((right == 0) | (right == -1), 1, right)), right == 0


def _modulus(left: Int64s, right: Int64s) -> tuple[Int64s, Mask]:
    """Not below zero, but where the divisor is: as Java computes it."""
    found, lost = _remainder(left, right)
    divisor = np.where((right == 0) | (right == -1), 1, right)
    return np.where(found < 0, np.fmod(found + right, divisor), found), lost


def _by_kind(integers: Callable[[Int64s], tuple[Int64s, Mask]], others: Callable[[pa.Array], pa.Array]) -> Kernel:
    """A function of one number."""

    def values(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
        (numbers,) = arguments
        if not pa.types.is_integer(numbers.type):
            return others(numbers)
        found, lost = integers(_values(numbers))
        return pa.array(found, mask=lost | np.asarray(numbers.is_null()))

    return Kernel(
        values,
        lambda call: call.type == call.arguments[0].type and of_kinds(Kind.INTEGER, Kind.DOUBLE, Kind.DECIMAL)(call),
    )


def _negative(numbers: Int64s) -> tuple[Int64s, Mask]:
    return differences(np.zeros_like(numbers), numbers)


def _absolute(numbers: Int64s) -> tuple[Int64s, Mask]:
    with np.errstate(all="ignore"):
        return np.abs(numbers), numbers == -_MOST - 1


def _whole_number(function: Callable[[_Doubles], _Doubles], of_decimals: Callable[[pa.Array], pa.Array]) -> Kernel:
    """FLOOR and CEIL: of a DOUBLE the largest or least whole number of 64 bits beyond them, and 0 of NaN."""

    def values(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
        if pa.types.is_decimal(arguments[0].type):
            return fitting(of_decimals(widest(arguments[0], arguments[0].type.scale)), call.type)
        numbers = _values(arguments[0])
        inside = np.abs(numbers) < 2.0**63
        found = function(np.where(inside, numbers, 0.0)).astype(np.int64)
        found = np.where(inside, found, np.where(numbers > 0, _MOST, np.where(numbers < 0, -_MOST - 1, 0)))
        return pa.array(found, mask=np.asarray(arguments[0].is_null()))

    def accepts(call: Call) -> bool:
        return (call.type == INTEGER and _is_double(call)) or of_kinds(Kind.DECIMAL)(call)

    return Kernel(values, accepts)


def _floor_of_double(function: Callable[[_Doubles], _Doubles]) -> Kernel:
    """FLOOR and CEIL of a DOUBLE that stay one: a zero has no sign, and from ``_WHOLE`` on all are whole."""

    def values(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
        numbers = _values(arguments[0])
        with np.errstate(invalid="ignore"):
            found = np.where(np.abs(numbers) < _WHOLE, function(numbers) + 0.0, numbers)
        return pa.array(found, mask=np.asarray(arguments[0].is_null()))

    return Kernel(values, _is_double)


def _round_scaled(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """ROUND of a DOUBLE as C++ computes it: round(x * 100) / 100, half away from zero."""
    numbers, scale = _values(arguments[0]), float(f"1e{constant_integer(call, 1)}")
    with np.errstate(all="ignore"):
        scaled = numbers * scale
        size = np.abs(scaled)
        whole = np.floor(size)
        rounded = np.copysign(whole + (size - whole >= 0.5), scaled)
        found = np.where(np.isinf(scaled), numbers, np.where(size < _WHOLE, rounded, scaled) / scale)
    return pa.array(found, mask=np.asarray(arguments[0].is_null()))


def _remainder_of_double(numbers: _Doubles, divisors: _Doubles) -> tuple[_Doubles, Mask]:
    return np.fmod(numbers, divisors), divisors == 0


def _rounding(mode: str, of_double: str) -> Kernel:
    """ROUND, BROUND and TRUNC to digits behind the point, or before it where they are below 0.

    Args:
        mode: of exact numbers, as Arrow calls it.
        of_double: the same as Python's decimals call it; empty where Spark computes DOUBLEs in another way.
    """

    def values(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
        (numbers, *_), digits = arguments, constant_integer(call, 1, 0) or 0
        if pa.types.is_floating(numbers.type):
            return pa.array(_rounded(_values(numbers), digits, of_double), mask=np.asarray(numbers.is_null()))
        if pa.types.is_integer(numbers.type) and digits >= 0:
            return numbers
        scale = getattr(numbers.type, "scale", 0)
        wide = pc.round(widest(numbers, scale), min(digits, scale), round_mode=mode)
        if call.type.kind is Kind.DECIMAL:
            return fitting(wide.cast(pa.decimal256(wide.type.precision, call.type.scale)), call.type)
        most = [pa.scalar(Decimal(end), wide.type) for end in (-_MOST - 1, _MOST)]
        inside = pc.and_(pc.greater_equal(wide, most[0]), pc.less_equal(wide, most[1]))
        return pc.if_else(inside, wide, None).cast(pa.int64())

    def accepts(call: Call) -> bool:
        digits, kind = constant_integer(call, 1, 0), call.arguments[0].type.kind
        if digits is None or call.type.kind is not kind:
            return False
        if kind is Kind.DOUBLE:
            return bool(of_double) and -_LARGEST_POWER <= digits <= _DIGITS
        return kind in (Kind.INTEGER, Kind.DECIMAL) and abs(digits) <= MAX_PRECISION

    return Kernel(values, accepts)


def _rounded(numbers: _Doubles, digits: int, mode: str) -> _Doubles:
    """Doubles rounded by the digits with which they are written."""
    power = 10.0 ** abs(digits)
    with np.errstate(all="ignore"):
        scaled = np.abs(numbers) * power if digits >= 0 else np.abs(numbers) / power
        inside = (scaled < _WHOLE) & (np.abs(numbers) < _WHOLE)
        whole = np.floor(np.where(inside, scaled, 0.0))
        fraction = scaled - whole
        near = np.abs(fraction - 0.5) <= scaled * 2.0**-50 + 1e-300
        beyond = (np.abs(numbers) < _WHOLE) | ((digits < 0) & np.isfinite(numbers))
        unsure = np.flatnonzero(np.where(inside, near, beyond))
        above = whole + (fraction > 0.5)
        found = np.copysign(above / power if digits >= 0 else above * power, numbers)
        found = np.where(inside, found, numbers)
    unit = Decimal(1).scaleb(-digits)
    for at in unsure:
        written = Decimal(repr(float(numbers[at])))
        has_more = written.as_tuple().exponent < -digits  # type: ignore[operator]  # a text for NaN and infinity alone
        found[at] = float(written.quantize(unit, mode, _DIGITS_KEPT)) if has_more else numbers[at]
    with np.errstate(invalid="ignore"):  # a NaN may have bits of any kind
        return np.asarray(found + 0.0)  # a zero has no sign


def _is_scaled(call: Call) -> bool:
    digits = constant_integer(call, 1, 0)
    return call.arguments[0].type.kind is Kind.DOUBLE and digits is not None and 0 <= digits <= _DIGITS


def _remainder_kernel() -> Kernel:
    integers = _exact(_remainder)

    def values(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
        if call.type.kind is Kind.DECIMAL:
            return _remainder_of_decimals(call, arguments)
        if pa.types.is_integer(arguments[0].type):
            return integers.compute(call, arguments)
        with np.errstate(all="ignore"):
            found, lost = _remainder_of_double(*map(_values, arguments))
        return pa.array(found, mask=lost | _missing(arguments))

    return Kernel(values, lambda call: _is_integer(call) or _is_double(call) or _has_decimal_remainder(call))


def _has_decimal_remainder(call: Call) -> bool:
    """Whether it is of decimals, whose quotient has no more digits than Spark computes with."""
    if call.type.kind is not Kind.DECIMAL or not of_kinds(Kind.INTEGER, Kind.DECIMAL)(call):
        return False
    left, right = (as_decimal(argument.type) for argument in call.arguments)
    few = left.precision - left.scale + right.scale <= MAX_PRECISION
    return few and call.type.scale == max(left.scale, right.scale)


def _remainder_of_decimals(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """With the sign of the number; NULL by zero."""
    powers = [10 ** (call.type.scale - as_decimal(argument.type).scale) for argument in call.arguments]
    left, right = (large_integers(each) * power for each, power in zip(arguments, powers, strict=True))
    sizes = zip(left.tolist(), right.tolist(), _missing(arguments).tolist(), strict=True)
    found = (None if lost or not b else (-1 if a < 0 else 1) * (abs(a) % abs(b)) for a, b, lost in sizes)
    return from_integers(found, call.type)


def _sqrt(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    with np.errstate(all="ignore"):
        return pa.array(np.sqrt(_values(arguments[0])), mask=np.asarray(arguments[0].is_null()))


def within_bits(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """Integers, NULL beyond the bits of the type."""
    most = 2 ** (call.type.bits - 1)
    values = _values(arguments[0])
    return pa.array(values, mask=(values < -most) | (values >= most) | _missing(arguments))


NUMBER_KERNELS = {
    "+": _exact(sums),
    "-": _exact(differences),
    "*": _exact(products),
    "div": _exact(_quotient),
    "%": _remainder_kernel(),
    "pmod": _exact(_modulus),
    "within": Kernel(within_bits, of_kinds(Kind.INTEGER)),
    "neg": _by_kind(_negative, pc.negate),
    "abs": _by_kind(_absolute, pc.abs),
    "floor": _whole_number(np.floor, pc.floor),
    "ceil": _whole_number(np.ceil, pc.ceil),
    "floor_of_double": _floor_of_double(np.floor),
    "ceil_of_double": _floor_of_double(np.ceil),
    "rint": Kernel(lambda call, arguments: pc.round(arguments[0], round_mode="half_to_even"), _is_double),
    "round": _rounding("half_towards_infinity", ROUND_HALF_UP),
    "bround": _rounding("half_to_even", ROUND_HALF_EVEN),
    "truncate": _rounding("towards_zero", ""),
    "round_scaled": Kernel(_round_scaled, _is_scaled),
    "sqrt": Kernel(_sqrt, _is_double),
    "isnan": Kernel(lambda call, arguments: pc.is_nan(arguments[0].fill_null(0.0)), _is_double),
    "is_nan_in_duckdb": Kernel(lambda call, arguments: pc.is_nan(arguments[0]), _is_double),
    "is_infinite": Kernel(lambda call, arguments: pc.is_inf(arguments[0]), _is_double),
    "isfinite": Kernel(lambda call, arguments: pc.is_finite(arguments[0]), _is_double),
}
"""By the name of the function."""
