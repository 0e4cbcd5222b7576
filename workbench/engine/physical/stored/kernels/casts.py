"""Kernels of CAST."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.types import filled, to_arrow
from workbench.engine.physical.stored.decimals import from_64_bits, from_integers, rescaled, widest
from workbench.engine.physical.stored.kernels.kernel import Kernel
from workbench.engine.physical.stored.kernels.numbers import within_bits
from workbench.engine.physical.stored.kernels.quotients import to_double, to_integer
from workbench.engine.physical.stored.kernels.text_casts import (
    FROM_TEXT,
    of_texts,
    texts_of_doubles,
    time_as_text,
)
from workbench.engine.physical.stored.kernels.times import to_date, to_timestamp
from workbench.sql.algebra.expressions import Call
from workbench.sql.algebra.types import BOOLEAN, DOUBLE, INTEGER, JSON, STRING, Kind
from workbench.sql.functions.java_digits import text_of_double

_SURE = 2.0**51
"""Below it a DOUBLE has a digit behind the point, so that it is known where its half is."""
_WIDE = Context(prec=400)
"""Has all digits of every DOUBLE."""


def _integer_as_text(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    return arguments[0].cast(pa.string())


def _truth_as_text(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    return pc.if_else(arguments[0], "true", "false")


def _truth_as_integer(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    return arguments[0].cast(pa.int64())


def _without_fraction(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """A DOUBLE without its fraction; NULL of NaN and beyond the bits of the type."""
    (numbers,) = arguments
    whole, most = np.trunc(filled(numbers, math.nan).to_numpy(zero_copy_only=False)), 2.0 ** (call.type.bits - 1)
    inside = (whole >= -most) & (whole < most)
    return pa.array(np.where(inside, whole, 0.0).astype(np.int64), mask=~inside)


def _decimal_as_integer(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """The whole part of decimals; NULL where it does not fit."""
    (numbers,) = arguments
    digits, scale = numbers.type.precision, numbers.type.scale
    if scale:
        # Arrow cuts off no fraction where there is no digit before it.
        numbers = pc.trunc(widest(numbers, scale) if digits == scale else numbers)
        numbers = numbers.cast(pa.decimal128(max(1, digits - scale), 0))
    return within_bits(call, [to_integer(call, [numbers])])


def _is_no_zero(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    (numbers,) = arguments
    return pc.not_equal(numbers, pa.scalar(0, numbers.type))


def _as_java_writes(number: float) -> Decimal:
    """A DOUBLE by the digits that Java writes."""
    return Decimal(text_of_double(number))


def _double_as_decimal(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """DOUBLEs with the digits that they are written with, half away from zero; NULL where there is no room."""
    (numbers,), scale = arguments, call.type.scale
    known = filled(numbers, 0.0).to_numpy(zero_copy_only=False)
    with np.errstate(all="ignore"):
        scaled = np.abs(known) * 10.0**scale
        inside = scaled < _SURE
        whole = np.floor(np.where(inside, scaled, 0.0))
        fraction = scaled - whole
        unsure = np.isfinite(known) & ~(inside & (np.abs(fraction - 0.5) > scaled * 2.0**-50 + 1e-300))
        found = np.where(inside, np.copysign(whole + (fraction > 0.5), known), 0.0).astype(np.int64)
    missing = np.asarray(numbers.is_null()) | ~np.isfinite(known)
    most = 10**call.type.precision
    if not unsure.any():
        return from_64_bits(pa.array(found, mask=missing | (np.abs(found) >= min(most, 1 << 62))), call.type)
    exact: list[int | None] = found.tolist()
    for at in np.flatnonzero(unsure):
        exact[at] = int(_as_java_writes(float(known[at])).scaleb(scale, _WIDE).to_integral_value(ROUND_HALF_UP))
    fitting = zip(exact, missing.tolist(), strict=True)
    return from_integers(
        (n if n is not None and not lost and abs(n) < most else None for n, lost in fitting), call.type
    )


def _as_decimal(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    return rescaled(arguments[0], call.type)


def _with_zone_or_without(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    return arguments[0].cast(to_arrow(call.type))


def _decimal_as_text(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    texts = [None if number is None else f"{number:f}" for number in arguments[0].to_pylist()]
    return pa.array(texts, pa.string())


_CASTS = {
    (Kind.DECIMAL, Kind.DECIMAL): _as_decimal,
    (Kind.INTEGER, Kind.DECIMAL): _as_decimal,
    (Kind.TIMESTAMP, Kind.DATE): to_date,
    (Kind.TIMESTAMP, Kind.TIMESTAMP): _with_zone_or_without,
    (Kind.DATE, Kind.TIMESTAMP): to_timestamp,
    (Kind.INTEGER, Kind.STRING): _integer_as_text,
    (Kind.BOOLEAN, Kind.STRING): _truth_as_text,
    (Kind.BOOLEAN, Kind.INTEGER): _truth_as_integer,
    (Kind.INTEGER, Kind.INTEGER): within_bits,
    (Kind.DECIMAL, Kind.INTEGER): _decimal_as_integer,
    (Kind.DOUBLE, Kind.INTEGER): _without_fraction,
    (Kind.DOUBLE, Kind.DECIMAL): _double_as_decimal,
    (Kind.DOUBLE, Kind.STRING): lambda call, arguments: texts_of_doubles(arguments[0]),
    (Kind.STRING, Kind.STRING): lambda call, arguments: arguments[0],
    (Kind.DECIMAL, Kind.STRING): _decimal_as_text,
    (Kind.DATE, Kind.STRING): time_as_text,
    (Kind.TIMESTAMP, Kind.STRING): time_as_text,
    (Kind.BOOLEAN, Kind.DOUBLE): lambda call, arguments: arguments[0].cast(pa.int8()).cast(pa.float64()),
    (Kind.BOOLEAN, Kind.DECIMAL): lambda call, arguments: rescaled(arguments[0].cast(pa.int64()), call.type),
    **{(Kind.STRING, kind): of_texts for kind in FROM_TEXT},
    **{(kind, Kind.BOOLEAN): _is_no_zero for kind in (Kind.INTEGER, Kind.DOUBLE, Kind.DECIMAL)},
    **{(kind, Kind.DOUBLE): to_double for kind in (Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE)},
}
"""By the kinds of the value and of the result."""


def _kinds(call: Call) -> tuple[Kind, Kind]:
    return call.arguments[0].type.kind, call.type.kind


def _accepts(call: Call) -> bool:
    if call.type.kind is Kind.DECIMAL:
        return _kinds(call) in _CASTS
    value = call.arguments[0].type
    if value.kind is call.type.kind is Kind.TIMESTAMP:
        return True
    of_numbers = call.type.kind is Kind.INTEGER or call.type == DOUBLE
    plain = of_numbers or call.type in (STRING, JSON, BOOLEAN) or (call.type.temporal and not call.type.zoned)
    # Of more digits with a fraction Spark takes the DOUBLE that is next.
    exact = call.type.bits == INTEGER.bits or value.kind is not Kind.DECIMAL or not value.scale or value.precision <= 18
    return plain and exact and not value.zoned and _kinds(call) in _CASTS


CAST = Kernel(lambda call, arguments: _CASTS[_kinds(call)](call, arguments), _accepts)
"""Casts that are exact, of kinds that have one form as a text, and of numbers to the nearest DECIMAL or DOUBLE."""
