"""Kernels of CAST."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.types import filled, to_arrow
from workbench.engine.physical.stored.decimals import rescaled
from workbench.engine.physical.stored.kernels.kernel import Kernel
from workbench.engine.physical.stored.kernels.numbers import within_bits
from workbench.engine.physical.stored.kernels.quotients import to_double, to_integer
from workbench.engine.physical.stored.kernels.times import to_date, to_timestamp
from workbench.sql.algebra.expressions import Call
from workbench.sql.algebra.types import BOOLEAN, DOUBLE, JSON, STRING, Kind


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


def _whole(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    return within_bits(call, [to_integer(call, arguments)])


def _is_no_zero(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    (numbers,) = arguments
    return pc.not_equal(numbers, pa.scalar(0, numbers.type))


def _as_decimal(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    return rescaled(arguments[0], call.type)


def _with_zone_or_without(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    return arguments[0].cast(to_arrow(call.type))


_CASTS = {
    (Kind.DECIMAL, Kind.DECIMAL): _as_decimal,
    (Kind.INTEGER, Kind.DECIMAL): _as_decimal,
    (Kind.TIMESTAMP, Kind.DATE): to_date,
    (Kind.TIMESTAMP, Kind.TIMESTAMP): _with_zone_or_without,
    (Kind.DATE, Kind.TIMESTAMP): to_timestamp,
    (Kind.INTEGER, Kind.STRING): _integer_as_text,
    (Kind.BOOLEAN, Kind.STRING): _truth_as_text,
    (Kind.BOOLEAN, Kind.INTEGER): _truth_as_integer,
    (Kind.DECIMAL, Kind.INTEGER): _whole,
    (Kind.DOUBLE, Kind.INTEGER): _without_fraction,
    (Kind.INTEGER, Kind.INTEGER): within_bits,
    **{(kind, Kind.BOOLEAN): _is_no_zero for kind in (Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE)},
    (Kind.STRING, Kind.STRING): lambda call, arguments: arguments[0],
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
    is_integer = call.type.kind is Kind.INTEGER
    plain = is_integer or call.type in (BOOLEAN, DOUBLE, STRING, JSON) or (call.type.temporal and not call.type.zoned)
    whole = not is_integer or value.kind is not Kind.DECIMAL or not value.scale
    return plain and whole and not value.zoned and _kinds(call) in _CASTS


CAST = Kernel(lambda call, arguments: _CASTS[_kinds(call)](call, arguments), _accepts)
"""Casts that are exact, of kinds that have one form as a text, and of numbers to the nearest DECIMAL or DOUBLE."""
