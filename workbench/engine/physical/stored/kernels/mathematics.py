"""Kernels of functions of DOUBLE: logarithms, powers, arcs, signs and buckets, with the bits of Java's."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.types import Mask, filled
from workbench.engine.physical.stored.kernels import strict_arcs, strict_math
from workbench.engine.physical.stored.kernels.kernel import Kernel, of_kinds
from workbench.engine.physical.stored.kernels.strict_math import Float64s
from workbench.sql.algebra.expressions import Call
from workbench.sql.algebra.types import Kind

_MOST = 2**63 - 1
_LN2 = 6.93147180559945286227e-01


def _numbers(values: pa.Array) -> Float64s:
    """Numbers as DOUBLE, and NULL as 0."""
    return filled(values.cast(pa.float64(), safe=False), 0.0).to_numpy(zero_copy_only=False)


def _missing(arguments: Sequence[pa.Array]) -> Mask:
    return np.logical_or.reduce([np.asarray(argument.is_null()) for argument in arguments])


def _of(function: Callable[..., Float64s], above: float = -np.inf, *kinds: Kind) -> Kernel:
    """A function of DOUBLEs, NULL of numbers that are not above another."""

    def compute(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
        numbers = [*map(_numbers, arguments)]
        with np.errstate(all="ignore"):
            found, below = function(*numbers), (numbers[0] <= above) & (above > -np.inf)
        return pa.array(found, mask=below | _missing(arguments))

    return Kernel(compute, of_kinds(*(kinds or (Kind.DOUBLE,))))


def _sign(x: Float64s) -> Float64s:
    return np.where((x == 0) | np.isnan(x), x, np.copysign(1.0, x))


def _power_of_ieee(x: Float64s, y: Float64s) -> Float64s:
    return np.where((x == 1) | ((x == -1) & np.isinf(y)), 1.0, strict_math.power(x, y))


def _acosh(x: Float64s) -> Float64s:
    t = x - 1.0
    near = strict_math.log1p(t + np.sqrt(2.0 * t + t * t))
    found = np.where(x > 2, strict_math.log(2.0 * x - 1.0 / (x + np.sqrt(x * x - 1.0))), near)
    return np.where(x < 1, np.nan, np.where(x >= 2.0**28, strict_math.log(x) + _LN2, found))


def _asinh(x: Float64s) -> Float64s:
    size, square = np.abs(x), x * x
    near = strict_math.log1p(size + square / (1.0 + np.sqrt(1.0 + square)))
    found = np.where(size > 2, strict_math.log(2.0 * size + 1.0 / (np.sqrt(square + 1.0) + size)), near)
    found = np.where(size > 2.0**28, strict_math.log(size) + _LN2, found)
    return np.where(size < 2.0**-28, x, np.copysign(found, x))


def _angle(y: Float64s, x: Float64s) -> Float64s:
    """ATAN2, with zeros without a sign."""
    return strict_arcs.atan2(y + 0.0, x + 0.0)


def _atanh(x: Float64s) -> Float64s:
    return 0.5 * (strict_math.log1p(x) - strict_math.log1p(-x))


def _nanvl(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """The second number where the first is NaN."""
    return pc.if_else(filled(pc.is_nan(arguments[0]), False), arguments[1], arguments[0])


def _width_bucket(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """The bucket of equal width that a number is in, 0 before the first, one more behind the last."""
    value, start, end = map(_numbers, arguments[:3])
    count = filled(arguments[3], 0).to_numpy(zero_copy_only=False)
    lost = (count <= 0) | (count == _MOST) | np.isnan(value) | ~np.isfinite(start) | ~np.isfinite(end) | (start == end)
    with np.errstate(all="ignore"):
        within = count.astype(np.float64) * np.abs(value - start) / np.abs(end - start)
        inside = within < 2.0**63
        bucket = np.where(inside, np.where(inside, within, 0.0).astype(np.int64), _MOST) + 1
    up = start < end
    before, behind = np.where(up, value < start, value > start), np.where(up, value >= end, value <= end)
    found = np.where(before, 0, np.where(behind, count + 1, bucket))
    return pa.array(found, mask=lost | _missing(arguments))


def _is_bucket(call: Call) -> bool:
    return [argument.type.kind for argument in call.arguments] == [*[Kind.DOUBLE] * 3, Kind.INTEGER]


MATHEMATICS_KERNELS = {
    **{name: _of(getattr(strict_math, name)) for name in ("exp", "expm1", "power")},
    **{name: _of(getattr(strict_arcs, name))
       for name in ("sinh", "cosh", "tanh", "cbrt", "atan", "asin", "acos", "hypot")},
    "atan2": _of(_angle),
    "ln": _of(strict_math.log, 0.0),
    "log10": _of(strict_math.log10, 0.0),
    "log1p": _of(strict_math.log1p, -1.0),
    "ln_ieee": _of(strict_math.log),
    "log10_ieee": _of(strict_math.log10),
    "power_ieee": _of(_power_of_ieee),
    "acosh": _of(_acosh),
    "asinh": _of(_asinh),
    "atanh": _of(_atanh),
    "degrees": _of(lambda x: x * 57.29577951308232),
    "radians": _of(lambda x: x * 0.017453292519943295),
    "%_ieee": _of(np.fmod),
    "sign": _of(_sign, -np.inf, Kind.DOUBLE, Kind.INTEGER, Kind.DECIMAL),
    "nanvl": Kernel(_nanvl, of_kinds(Kind.DOUBLE)),
    "width_bucket": Kernel(_width_bucket, _is_bucket),
}  # fmt: skip
"""By the name of the function."""
