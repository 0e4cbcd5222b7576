"""Logarithms, powers and their like with the bits of Java's StrictMath, which Spark calls: FDLIBM 5.3, over arrays.

The C library and NumPy round other digits. Each function takes the steps of FDLIBM in their order, for all numbers at
once, and where FDLIBM branches chooses among what the branches give.

FDLIBM is Copyright (C) 1993-2004 by Sun Microsystems, Inc. All rights reserved. Developed at SunSoft, a Sun
Microsystems, Inc. business. Permission to use, copy, modify, and distribute this software is freely granted, provided
that this notice is preserved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce, wraps

import numpy as np
import numpy.typing as npt

Float64s = npt.NDArray[np.float64]
HalvesOfBits = npt.NDArray[np.int64]
OfDoubles = Callable[..., Float64s]

_LN2_HIGH, _LN2_LOW, _BY_LN2 = 6.93147180369123816490e-01, 1.90821492927058770002e-10, 1.44269504088896338700e00
_LARGEST, _LEAST = 7.09782712893383973096e02, -7.45133219101941108420e02
"""Of the exponents of e that have a power other than 0 and infinity."""
_LOG_FACTORS = (
    6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
    1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01,
)  # fmt: skip
_EXP_FACTORS = (
    1.66666666666666019037e-01, -2.77777777770155933842e-03, 6.61375632143793436117e-05, -1.65339022054652515390e-06,
    4.13813679705723846039e-08,
)  # fmt: skip
_EXPM1_FACTORS = (
    1.0, -3.33333333333331316428e-02, 1.58730158725481460165e-03, -7.93650757867487942473e-05,
    4.00821782732936239552e-06, -2.01099218183624371326e-07,
)  # fmt: skip
_POWER_FACTORS = (
    5.99999999999994648725e-01, 4.28571428578550184252e-01, 3.33333329818377432918e-01, 2.72728123808534006489e-01,
    2.30660745775561754067e-01, 2.06975017800338417784e-01,
)  # fmt: skip


def upper_half(x: Float64s) -> HalvesOfBits:
    """The upper half of the bits, with the sign."""
    return x.view(np.int64) >> 32


def unsigned_half(x: Float64s) -> HalvesOfBits:
    """The upper half of the bits without the sign."""
    return upper_half(x) & 0x7FFFFFFF


def with_upper_half(x: Float64s, high: HalvesOfBits) -> Float64s:
    """Numbers with another upper half of the bits."""
    return ((x.view(np.int64) & 0xFFFFFFFF) | (high << 32)).view(np.float64)


def without_lower_half(x: Float64s) -> Float64s:
    """Without the lower half of the bits."""
    return (x.view(np.int64) & -0x100000000).view(np.float64)


def of_upper_half(high: HalvesOfBits) -> Float64s:
    """Numbers whose lower half of the bits is 0."""
    return (high << 32).view(np.float64)


def _shifted(x: Float64s, k: HalvesOfBits) -> Float64s:
    """Add ``k`` to the exponent in the bits of a DOUBLE."""
    return (x.view(np.int64) + (k << 52)).view(np.float64)


def polynomial_of(z: Float64s, factors: Sequence[float]) -> Float64s:
    """A sum of powers, the lowest factor first.

    Example:
        >>> polynomial_of(np.array([2.0]), (1.0, 0.0, 3.0)).tolist()
        [13.0]
    """
    return reduce(lambda total, factor: factor + z * total, reversed(factors[:-1]), np.full_like(z, factors[-1]))


def quiet(compute: OfDoubles) -> OfDoubles:
    """A function that warns of no number."""

    @wraps(compute)
    def computed(*numbers: Float64s) -> Float64s:
        with np.errstate(all="ignore"):
            return compute(*numbers)

    return computed


def _reduced(x: Float64s) -> tuple[HalvesOfBits, Float64s, Float64s]:
    """How often ln 2 is in numbers, and what is left of them in two parts."""
    size, below = unsigned_half(x), x < 0
    far = _BY_LN2 * x + np.where(below, -0.5, 0.5)
    k = np.where(size < 0x3FF0A2B2, np.where(below, -1, 1), far.astype(np.int64))
    k = np.where(size > 0x3FD62E42, k, 0)
    return k, x - k * _LN2_HIGH, k * _LN2_LOW


@quiet
def exp(x: Float64s) -> Float64s:
    """Powers of e.

    Example:
        >>> exp(np.array([0.0, 1.0, 710.0])).tolist()
        [1.0, 2.7182818284590455, inf]
    """
    inside = (x <= _LARGEST) & (x >= _LEAST)
    k, high, low = _reduced(np.where(inside, x, 0.0))
    r = high - low
    t = r * r
    c = r - t * polynomial_of(t, _EXP_FACTORS)
    whole = np.where(k == 0, 1.0 - ((r * c) / (c - 2.0) - r), 1.0 - ((low - (r * c) / (2.0 - c)) - high))
    found = np.where(k >= -1021, _shifted(whole, k), _shifted(whole, k + 1000) * 2.0**-1000)
    found = np.where(unsigned_half(x) < 0x3E300000, 1.0 + x, found)
    return np.where(inside, found, np.where(np.isnan(x), x, np.where(x > 0, np.inf, 0.0)))


@quiet
def expm1(x: Float64s) -> Float64s:
    """Powers of e, less 1.

    Example:
        >>> expm1(np.array([1e-20, 1.0])).tolist()
        [1e-20, 1.718281828459045]
    """
    size = unsigned_half(x)
    usual = (size >= 0x3C900000) & (x <= _LARGEST) & ~((size >= 0x4043687A) & (x < 0))
    k, high, low = _reduced(np.where(usual, x, 0.0))
    r = high - low
    c = (high - r) - low
    half = 0.5 * r
    square = r * half
    r1 = polynomial_of(square, _EXPM1_FACTORS)
    t = 3.0 - r1 * half
    e = square * ((r1 - t) / (6.0 - r * t))
    found = r - (r * e - square)
    e = (r * (e - c) - c) - square
    one = np.ones_like(x)
    small = _shifted(with_upper_half(one, 0x3FF00000 - (0x200000 >> np.clip(k, 0, 31))) - (e - r), k)
    large = _shifted((r - (e + of_upper_half((0x3FF - k) << 20))) + 1.0, k)
    last = 1.0 - (e - r)
    last = np.where(k == 1024, last * 2.0 * 2.0**1023, _shifted(last, k)) - 1.0
    found = np.where(k == 0, found, np.where((k <= -2) | (k > 56), last, np.where(k < 20, small, large)))
    found = np.where(k == 1, np.where(r < -0.25, -2.0 * (e - (r + 0.5)), 1.0 + 2.0 * (r - e)), found)
    found = np.where(k == -1, 0.5 * (r - e) - 0.5, found)
    beyond = np.where(np.isnan(x) | (size < 0x3C900000), x, np.where(x > 0, np.inf, -1.0))
    return np.where(usual, found, beyond)


def _fraction(x: Float64s) -> tuple[Float64s, HalvesOfBits, HalvesOfBits]:
    """x as 2^k * (1 + f), f near 0: f, k, and the upper bits of the fraction of x."""
    tiny = upper_half(x) < 0x00100000
    y = np.where(tiny, x * 2.0**54, x)
    high = upper_half(y)
    k = np.where(tiny, -54, 0) + (high >> 20) - 1023
    high &= 0x000FFFFF
    i = (high + 0x95F64) & 0x100000
    return with_upper_half(y, high | (i ^ 0x3FF00000)) - 1.0, k + (i >> 20), high


@quiet
def log(x: Float64s) -> Float64s:
    """Natural logarithms.

    Example:
        >>> log(np.array([1.0, 10.0, 0.0, -1.0])).tolist()
        [0.0, 2.302585092994046, -inf, nan]
    """
    usual = (x > 0) & (x < np.inf)
    f, k, high = _fraction(np.where(usual, x, 1.0))
    near = (0x000FFFFF & (2 + high)) < 3
    rest = f * f * (0.5 - 0.33333333333333333 * f)
    tiny = np.where(k == 0, f - rest, k * _LN2_HIGH - ((rest - k * _LN2_LOW) - f))
    tiny = np.where(f == 0, np.where(k == 0, 0.0, k * _LN2_HIGH + k * _LN2_LOW), tiny)
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    total = w * polynomial_of(w, _LOG_FACTORS[1::2]) + z * polynomial_of(w, _LOG_FACTORS[::2])
    half = 0.5 * f * f
    above = ((high - 0x6147A) | (0x6B851 - high)) > 0
    exact = np.where(above, f - (half - s * (half + total)), f - s * (f - total))
    shifted = np.where(above, half - (s * (half + total) + k * _LN2_LOW), s * (f - total) - k * _LN2_LOW)
    found = np.where(near, tiny, np.where(k == 0, exact, k * _LN2_HIGH - (shifted - f)))
    beyond = np.where(x == 0, -np.inf, np.where(x < 0, np.nan, x))
    return np.where(usual, found, beyond)


@quiet
def log10(x: Float64s) -> Float64s:
    """Logarithms to the base 10.

    Example:
        >>> log10(np.array([1000.0, 2.0])).tolist()
        [3.0, 0.3010299956639812]
    """
    usual = (x > 0) & (x < np.inf)
    y = np.where(usual, x, 1.0)
    tiny = upper_half(y) < 0x00100000
    y = np.where(tiny, y * 2.0**54, y)
    high = upper_half(y)
    k = np.where(tiny, -54, 0) + (high >> 20) - 1023
    below = (k < 0).astype(np.int64)
    whole = (k + below).astype(np.float64)
    rest = log(with_upper_half(y, (high & 0x000FFFFF) | ((0x3FF - below) << 20)))
    found = (
        whole * 3.69423907715893078616e-13 + 4.34294481903251816668e-01 * rest
    ) + whole * 3.01029995663611771306e-01
    return np.where(usual, found, log(x))


@quiet
def log1p(x: Float64s) -> Float64s:
    """Natural logarithms of 1 more.

    Example:
        >>> log1p(np.array([1e-20, 1.0, -1.0])).tolist()
        [1e-20, 0.6931471805599453, -inf]
    """
    usual = (x > -1) & (x < np.inf)
    y = np.where(usual, x, 0.0)
    high, size = upper_half(y), unsigned_half(y)
    near = (high < 0x3FDA827A) & ((high > 0) | (high <= 0xBFD2BEC3 - 2**32))
    small = high < 0x43400000
    u = np.where(small, 1.0 + y, y)
    k = (upper_half(u) >> 20) - 1023
    c = np.where(small, np.where(k > 0, 1.0 - (u - y), y - (u - 1.0)) / u, 0.0)
    upper = upper_half(u) & 0x000FFFFF
    low_half = upper < 0x6A09E
    f = with_upper_half(u, np.where(low_half, upper | 0x3FF00000, upper | 0x3FE00000)) - 1.0
    k = np.where(near, 0, np.where(low_half, k, k + 1))
    f, c = np.where(near, y, f), np.where(near, 0.0, c)
    upper = np.where(near, 1, np.where(low_half, upper, (0x00100000 - upper) >> 2))
    half = 0.5 * f * f
    rest = half * (1.0 - 0.66666666666666666 * f)
    by_two = k * _LN2_HIGH
    close = np.where(k == 0, f - rest, by_two - ((rest - (k * _LN2_LOW + c)) - f))
    close = np.where(f == 0, np.where(k == 0, 0.0, by_two + (c + k * _LN2_LOW)), close)
    s = f / (2.0 + f)
    z = s * s
    total = z * polynomial_of(z, _LOG_FACTORS)
    other = np.where(k == 0, f - (half - s * (half + total)),
                     by_two - ((half - (s * (half + total) + (k * _LN2_LOW + c))) - f))  # fmt: skip
    found = np.where(upper == 0, close, other)
    found = np.where(size < 0x3E200000, np.where(size < 0x3C900000, y, y - y * y * 0.5), found)
    return np.where(usual, found, np.where(x == -1, -np.inf, np.where(x < -1, np.nan, x)))


@quiet
def power(x: Float64s, y: Float64s) -> Float64s:
    """x to the power of y; NaN for 1 or -1 to an infinite power.

    Example:
        >>> power(np.array([2.0, -8.0, -2.0]), np.array([0.5, 1 / 3, 3.0])).tolist()
        [1.4142135623730951, nan, -8.0]
    """
    size = np.abs(x)
    whole = np.isinf(y) | (np.floor(y) == y)
    odd = whole & (np.abs(y) < 2.0**53) & (np.fmod(y, 2.0) != 0)
    sign = np.where((x < 0) & odd, -1.0, 1.0)
    plain = np.isfinite(x) & np.isfinite(y) & (x != 0) & (size != 1)
    found = sign * _positive_power(np.where(plain, size, 1.5), np.where(plain, y, 1.0))
    found = np.where((x < 0) & ~whole & np.isfinite(x), np.nan, found)
    edge = np.where(y < 0, 1.0 / size, size)
    edge = np.where(np.signbit(x), np.where((size == 1) & ~whole, np.nan, np.where(odd, -edge, edge)), edge)
    infinite = np.where(size == 1, np.nan, np.where((size > 1) == (y > 0), np.inf, 0.0))
    found = np.where(plain, found, np.where(np.isinf(y), infinite, edge))
    found = np.where((y == 0.5) & (x >= -np.finfo(np.float64).max), np.sqrt(x + 0.0), found)
    found = np.where(y == 1, x, np.where(y == -1, 1.0 / x, np.where(y == 2, x * x, found)))
    return np.where(y == 0, 1.0, np.where(np.isnan(x) | np.isnan(y), x + y, found))


def _positive_power(x: Float64s, y: Float64s) -> Float64s:
    """``x ** y`` of finite numbers above 0 other than 1."""
    high, low = _logarithm(x)
    near_high, near_low = _logarithm_near_one(x)
    large = unsigned_half(y) > 0x41E00000
    high, low = np.where(large, near_high, high), np.where(large, near_low, low)
    y1 = without_lower_half(y)
    p_low, p_high = (y - y1) * high + y * low, y1 * high
    z = p_low + p_high
    over = (z > 1024) | ((z == 1024) & (p_low + 8.0085662595372944372e-17 > z - p_high))
    under = (z < -1075) | ((z == -1075) & (p_low <= z - p_high))
    far = large & ((unsigned_half(x) < 0x3FEFFFFF) | (unsigned_half(x) > 0x3FF00000))
    grows = (x > 1) == (y > 0)
    found = _power_of_two(np.where(over | under | far, 0.0, p_high), np.where(over | under | far, 0.0, p_low))
    found = np.where(over, np.inf, np.where(under, 0.0, found))
    return np.where(far, np.where(grows, np.inf, 0.0), found)


def _logarithm_near_one(x: Float64s) -> tuple[Float64s, Float64s]:
    """Logarithms to the base 2 of numbers that are almost 1, in two parts."""
    t = x - 1.0
    w = (t * t) * (0.5 - t * (0.3333333333333333333333 - t * 0.25))
    u = 1.44269502162933349609e00 * t
    v = t * 1.92596299112661746887e-08 - w * _BY_LN2
    high = without_lower_half(u + v)
    return high, v - (high - u)


def _logarithm(x: Float64s) -> tuple[Float64s, Float64s]:
    """Logarithms to the base 2, in two parts."""
    tiny = upper_half(x) < 0x00100000
    y = np.where(tiny, x * 2.0**53, x)
    upper = upper_half(y)
    n = np.where(tiny, -53, 0) + (upper >> 20) - 0x3FF
    j = upper & 0x000FFFFF
    middle, last = (j > 0x3988E) & (j < 0xBB67A), j >= 0xBB67A
    n += last
    upper = np.where(last, (j | 0x3FF00000) - 0x00100000, j | 0x3FF00000)
    y = with_upper_half(y, upper)
    base = np.where(middle, 1.5, 1.0)
    u, v = y - base, 1.0 / (y + base)
    ss = u * v
    s_high = without_lower_half(ss)
    t_high = of_upper_half(((upper >> 1) | 0x20000000) + 0x00080000 + (middle.astype(np.int64) << 18))
    t_low = y - (t_high - base)
    s_low = v * ((u - s_high * t_high) - s_high * t_low)
    square = ss * ss
    r = square * square * polynomial_of(square, _POWER_FACTORS) + s_low * (s_high + ss)
    square = s_high * s_high
    t_high = without_lower_half(3.0 + square + r)
    t_low = r - ((t_high - 3.0) - square)
    u, v = s_high * t_high, s_low * t_high + t_low * ss
    p_high = without_lower_half(u + v)
    p_low = v - (p_high - u)
    z_high = 9.61796700954437255859e-01 * p_high
    z_low = (-7.02846165095275826516e-09 * p_high + p_low * 9.61796693925975554329e-01
             + np.where(middle, 1.35003920212974897128e-08, 0.0))  # fmt: skip
    d = np.where(middle, 5.84962487220764160156e-01, 0.0)
    high = without_lower_half(((z_high + z_low) + d) + n)
    return high, z_low - (((high - n) - d) - z_high)


def _power_of_two(p_high: Float64s, p_low: Float64s) -> Float64s:
    """2 to the power of a number in two parts, which has a value that is not infinite."""
    j = upper_half(p_low + p_high)
    size = j & 0x7FFFFFFF
    rounds = size > 0x3FE00000
    n = j + (0x00100000 >> np.clip((size >> 20) - 0x3FE, 0, 31))
    k = np.clip(((n & 0x7FFFFFFF) >> 20) - 0x3FF, 0, 20)
    t = np.where(rounds, of_upper_half(n & ~(0x000FFFFF >> k)), 0.0)
    n = ((n & 0x000FFFFF) | 0x00100000) >> (20 - k)
    n = np.where(rounds, np.where(j < 0, -n, n), 0)
    p_high = p_high - t
    t = without_lower_half(p_low + p_high)
    u = t * 6.93147182464599609375e-01
    v = (p_low - (t - p_high)) * 6.93147180559945286227e-01 + t * -1.90465429995776804525e-09
    z = u + v
    w = v - (z - u)
    t = z * z
    t1 = z - t * polynomial_of(t, _EXP_FACTORS)
    r = (z * t1) / (t1 - 2.0) - (w + z * w)
    z = 1.0 - (r - z)
    subnormal = (upper_half(z) + (n << 20)) >> 20 <= 0
    return np.where(subnormal, np.ldexp(z, np.where(subnormal, n, 0).astype(np.int32)), _shifted(z, n))
