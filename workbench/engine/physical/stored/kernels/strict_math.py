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
_Ints = npt.NDArray[np.int64]
_Function = Callable[..., Float64s]

_LN2_HIGH, _LN2_LOW, _BY_LN2 = 6.93147180369123816490e-01, 1.90821492927058770002e-10, 1.44269504088896338700e00
_LARGEST, _LEAST = 7.09782712893383973096e02, -7.45133219101941108420e02
"""Of the exponents of e that have a power other than 0 and infinity."""
_HALF_PI, _HALF_PI_LOW, _QUARTER_PI = 1.57079632679489655800e00, 6.12323399573676603587e-17, 7.85398163397448278999e-01
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
_ATAN_FACTORS = (
    3.33333333333329318027e-01, -1.99999999998764832476e-01, 1.42857142725034663711e-01, -1.11111104054623557880e-01,
    9.09088713343650656196e-02, -7.69187620504482999495e-02, 6.66107313738753120669e-02, -5.83357013379057348645e-02,
    4.97687799461593236017e-02, -3.65315727442169155270e-02, 1.62858201153657823623e-02,
)  # fmt: skip
_ATAN_ENDS = (
    (4.63647609000806093515e-01, _QUARTER_PI, 9.82793723247329054082e-01, _HALF_PI),
    (2.26987774529616870924e-17, 3.06161699786838301793e-17, 1.39033110312309984516e-17, _HALF_PI_LOW),
)
_ASIN_FACTORS = (
    1.66666666666666657415e-01, -3.25565818622400915405e-01, 2.01212532134862925881e-01, -4.00555345006794114027e-02,
    7.91534994289814532176e-04, 3.47933107596021167570e-05,
)  # fmt: skip
_ASIN_DIVISORS = (
    1.0, -2.40339491173441421878e00, 2.02094576023350569471e00, -6.88283971605453293030e-01, 7.70381505559019352791e-02
)  # fmt: skip


def _high(x: Float64s) -> _Ints:
    """The upper half of the bits, with the sign."""
    return x.view(np.int64) >> 32


def _size(x: Float64s) -> _Ints:
    """The upper half of the bits without the sign."""
    return _high(x) & 0x7FFFFFFF


def _with_high(x: Float64s, high: _Ints) -> Float64s:
    return ((x.view(np.int64) & 0xFFFFFFFF) | (high << 32)).view(np.float64)


def _upper(x: Float64s) -> Float64s:
    """Without the lower half of the bits."""
    return (x.view(np.int64) & -0x100000000).view(np.float64)


def _of_high(high: _Ints) -> Float64s:
    return (high << 32).view(np.float64)


def _shifted(x: Float64s, k: _Ints) -> Float64s:
    """With ``k`` added to the exponent as it stands in the bits."""
    return (x.view(np.int64) + (k << 52)).view(np.float64)


def _polynomial(z: Float64s, factors: Sequence[float]) -> Float64s:
    return reduce(lambda total, factor: factor + z * total, reversed(factors[:-1]), np.full_like(z, factors[-1]))


def _quiet(compute: _Function) -> _Function:
    @wraps(compute)
    def computed(*numbers: Float64s) -> Float64s:
        with np.errstate(all="ignore"):
            return compute(*numbers)

    return computed


def _reduced(x: Float64s) -> tuple[_Ints, Float64s, Float64s]:
    """How often ln 2 is in numbers, and what is left of them in two parts."""
    size, below = _size(x), x < 0
    far = _BY_LN2 * x + np.where(below, -0.5, 0.5)
    k = np.where(size < 0x3FF0A2B2, np.where(below, -1, 1), far.astype(np.int64))
    k = np.where(size > 0x3FD62E42, k, 0)
    return k, x - k * _LN2_HIGH, k * _LN2_LOW


@_quiet
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
    c = r - t * _polynomial(t, _EXP_FACTORS)
    whole = np.where(k == 0, 1.0 - ((r * c) / (c - 2.0) - r), 1.0 - ((low - (r * c) / (2.0 - c)) - high))
    found = np.where(k >= -1021, _shifted(whole, k), _shifted(whole, k + 1000) * 2.0**-1000)
    found = np.where(_size(x) < 0x3E300000, 1.0 + x, found)
    return np.where(inside, found, np.where(np.isnan(x), x, np.where(x > 0, np.inf, 0.0)))


@_quiet
def expm1(x: Float64s) -> Float64s:
    """Powers of e, less 1.

    Example:
        >>> expm1(np.array([1e-20, 1.0])).tolist()
        [1e-20, 1.718281828459045]
    """
    size = _size(x)
    usual = (size >= 0x3C900000) & (x <= _LARGEST) & ~((size >= 0x4043687A) & (x < 0))
    k, high, low = _reduced(np.where(usual, x, 0.0))
    r = high - low
    c = (high - r) - low
    half = 0.5 * r
    square = r * half
    r1 = _polynomial(square, _EXPM1_FACTORS)
    t = 3.0 - r1 * half
    e = square * ((r1 - t) / (6.0 - r * t))
    found = r - (r * e - square)
    e = (r * (e - c) - c) - square
    one = np.ones_like(x)
    small = _shifted(_with_high(one, 0x3FF00000 - (0x200000 >> np.clip(k, 0, 31))) - (e - r), k)
    large = _shifted((r - (e + _of_high((0x3FF - k) << 20))) + 1.0, k)
    last = 1.0 - (e - r)
    last = np.where(k == 1024, last * 2.0 * 2.0**1023, _shifted(last, k)) - 1.0
    found = np.where(k == 0, found, np.where((k <= -2) | (k > 56), last, np.where(k < 20, small, large)))
    found = np.where(k == 1, np.where(r < -0.25, -2.0 * (e - (r + 0.5)), 1.0 + 2.0 * (r - e)), found)
    found = np.where(k == -1, 0.5 * (r - e) - 0.5, found)
    beyond = np.where(np.isnan(x) | (size < 0x3C900000), x, np.where(x > 0, np.inf, -1.0))
    return np.where(usual, found, beyond)


def _fraction(x: Float64s) -> tuple[Float64s, _Ints, _Ints]:
    """x as 2^k * (1 + f), f near 0: f, k, and the upper bits of the fraction of x."""
    tiny = _high(x) < 0x00100000
    y = np.where(tiny, x * 2.0**54, x)
    high = _high(y)
    k = np.where(tiny, -54, 0) + (high >> 20) - 1023
    high &= 0x000FFFFF
    i = (high + 0x95F64) & 0x100000
    return _with_high(y, high | (i ^ 0x3FF00000)) - 1.0, k + (i >> 20), high


@_quiet
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
    total = w * _polynomial(w, _LOG_FACTORS[1::2]) + z * _polynomial(w, _LOG_FACTORS[::2])
    half = 0.5 * f * f
    above = ((high - 0x6147A) | (0x6B851 - high)) > 0
    exact = np.where(above, f - (half - s * (half + total)), f - s * (f - total))
    shifted = np.where(above, half - (s * (half + total) + k * _LN2_LOW), s * (f - total) - k * _LN2_LOW)
    found = np.where(near, tiny, np.where(k == 0, exact, k * _LN2_HIGH - (shifted - f)))
    beyond = np.where(x == 0, -np.inf, np.where(x < 0, np.nan, x))
    return np.where(usual, found, beyond)


@_quiet
def log10(x: Float64s) -> Float64s:
    """Logarithms to the base 10.

    Example:
        >>> log10(np.array([1000.0, 2.0])).tolist()
        [3.0, 0.3010299956639812]
    """
    usual = (x > 0) & (x < np.inf)
    y = np.where(usual, x, 1.0)
    tiny = _high(y) < 0x00100000
    y = np.where(tiny, y * 2.0**54, y)
    high = _high(y)
    k = np.where(tiny, -54, 0) + (high >> 20) - 1023
    below = (k < 0).astype(np.int64)
    whole = (k + below).astype(np.float64)
    rest = log(_with_high(y, (high & 0x000FFFFF) | ((0x3FF - below) << 20)))
    found = (
        whole * 3.69423907715893078616e-13 + 4.34294481903251816668e-01 * rest
    ) + whole * 3.01029995663611771306e-01
    return np.where(usual, found, log(x))


@_quiet
def log1p(x: Float64s) -> Float64s:
    """Natural logarithms of 1 more.

    Example:
        >>> log1p(np.array([1e-20, 1.0, -1.0])).tolist()
        [1e-20, 0.6931471805599453, -inf]
    """
    usual = (x > -1) & (x < np.inf)
    y = np.where(usual, x, 0.0)
    high, size = _high(y), _size(y)
    near = (high < 0x3FDA827A) & ((high > 0) | (high <= 0xBFD2BEC3 - 2**32))
    small = high < 0x43400000
    u = np.where(small, 1.0 + y, y)
    k = (_high(u) >> 20) - 1023
    c = np.where(small, np.where(k > 0, 1.0 - (u - y), y - (u - 1.0)) / u, 0.0)
    upper = _high(u) & 0x000FFFFF
    low_half = upper < 0x6A09E
    f = _with_high(u, np.where(low_half, upper | 0x3FF00000, upper | 0x3FE00000)) - 1.0
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
    total = z * _polynomial(z, _LOG_FACTORS)
    other = np.where(k == 0, f - (half - s * (half + total)),
                     by_two - ((half - (s * (half + total) + (k * _LN2_LOW + c))) - f))  # fmt: skip
    found = np.where(upper == 0, close, other)
    found = np.where(size < 0x3E200000, np.where(size < 0x3C900000, y, y - y * y * 0.5), found)
    return np.where(usual, found, np.where(x == -1, -np.inf, np.where(x < -1, np.nan, x)))


@_quiet
def sinh(x: Float64s) -> Float64s:
    """Hyperbolic sines.

    Example:
        >>> sinh(np.array([1.0, -800.0])).tolist()
        [1.1752011936438014, -inf]
    """
    size, h, y = _size(x), np.where(x < 0, -0.5, 0.5), np.abs(x)
    t = expm1(np.minimum(y, 22.0))
    found = np.where(size < 0x3FF00000, h * (2.0 * t - t * t / (t + 1.0)), h * (t + t / (t + 1.0)))
    root = exp(0.5 * y)
    found = np.where(size < 0x40360000, found, np.where(size < 0x40862E42, h * exp(y), h * root * root))
    return np.where((size < 0x3E300000) | ~np.isfinite(x), x, found)


@_quiet
def cosh(x: Float64s) -> Float64s:
    """Hyperbolic cosines.

    Example:
        >>> cosh(np.array([0.0, 1.0])).tolist()
        [1.0, 1.543080634815244]
    """
    size, y = _size(x), np.abs(x)
    t = expm1(np.minimum(y, 1.0))
    w = 1.0 + t
    near = np.where(size < 0x3C800000, w, 1.0 + (t * t) / (w + w))
    power, root = exp(y), exp(0.5 * y)
    far = np.where(size < 0x40360000, 0.5 * power + 0.5 / power,
                   np.where(size < 0x40862E42, 0.5 * power, 0.5 * root * root))  # fmt: skip
    return np.where(np.isfinite(x), np.where(size < 0x3FD62E43, near, far), y)


@_quiet
def tanh(x: Float64s) -> Float64s:
    """Hyperbolic tangents.

    Example:
        >>> tanh(np.array([1.0, -30.0])).tolist()
        [0.7615941559557649, -1.0]
    """
    size, y = _size(x), np.minimum(np.abs(x), 22.0)
    t = expm1(np.where(size >= 0x3FF00000, 2.0 * y, -2.0 * y))
    found = np.where(size >= 0x3FF00000, 1.0 - 2.0 / (t + 2.0), -t / (t + 2.0))
    found = np.copysign(np.where(size < 0x40360000, found, 1.0), x)
    return np.where(np.isnan(x), x, np.where(size < 0x3C800000, x * (1.0 + x), found))


@_quiet
def cbrt(x: Float64s) -> Float64s:
    """Cube roots.

    Example:
        >>> cbrt(np.array([27.0, -8.0])).tolist()
        [3.0, -2.0]
    """
    y, size = np.abs(x), _size(x)
    scaled = y * 2.0**54
    t = np.where(size < 0x00100000, _with_high(scaled, _high(scaled) // 3 + 696219795), _of_high(size // 3 + 715094163))
    r = t * t / y
    s = 5.42857142857142815906e-01 + r * t
    t = t * (3.57142857142857150787e-01 + 1.60714285714285720630e00 / (
        s + 1.41428571428571436819e00 + -7.05306122448979611050e-01 / s))  # fmt: skip
    t = _of_high(_high(t) + 1)
    r = y / (t * t)
    r = (r - t) / ((t + t) + r)
    return np.where(np.isfinite(x) & (x != 0), np.copysign(t + t * r, x), x)


@_quiet
def atan(x: Float64s) -> Float64s:
    """Arcs of tangents.

    Example:
        >>> atan(np.array([1.0, -np.inf])).tolist()
        [0.7853981633974483, -1.5707963267948966]
    """
    size, y = _size(x), np.abs(x)
    part = np.searchsorted([0x3FDC0000, 0x3FE60000, 0x3FF30000, 0x40038000], size, side="right") - 1
    z = np.choose(part + 1, [
        x, (2.0 * y - 1.0) / (2.0 + y), (y - 1.0) / (y + 1.0), (y - 1.5) / (1.0 + 1.5 * y), -1.0 / y])  # fmt: skip
    square = z * z
    w = square * square
    total = square * _polynomial(w, _ATAN_FACTORS[::2]) + w * _polynomial(w, _ATAN_FACTORS[1::2])
    high = np.choose(
        np.maximum(part, 0), [4.63647609000806093515e-01, _QUARTER_PI, 9.82793723247329054082e-01, _HALF_PI]
    )
    low = np.choose(np.maximum(part, 0), [
        2.26987774529616870924e-17, 3.06161699786838301793e-17, 1.39033110312309984516e-17, _HALF_PI_LOW])  # fmt: skip
    far = np.copysign(high - ((z * total - low) - z), x)
    found = np.where(part < 0, z - z * total, far)
    found = np.where(size >= 0x44100000, np.copysign(_HALF_PI + _HALF_PI_LOW, x), found)
    return np.where(np.isnan(x) | (size < 0x3E200000), x, found)


@_quiet
def atan2(y: Float64s, x: Float64s) -> Float64s:
    """Angles of points.

    Example:
        >>> atan2(np.array([1.0, -0.0]), np.array([1.0, -1.0])).tolist()
        [0.7853981633974483, -3.141592653589793]
    """
    k = (_size(y) - _size(x)) >> 20
    low = 1.2246467991473531772e-16
    angle = np.where(k > 60, _HALF_PI + 0.5 * low, np.where((x < 0) & (k < -60), 0.0, atan(np.abs(y / x))))
    back = np.where(np.signbit(y), (angle - low) - np.pi, np.pi - (angle - low))
    found = np.where(np.signbit(x), back, np.where(np.signbit(y), -angle, angle))
    ends = np.where(np.isinf(y), np.where(x > 0, _QUARTER_PI, 3.0 * _QUARTER_PI), np.where(x > 0, 0.0, np.pi))
    found = np.where(np.isinf(x), np.copysign(ends, y), np.where(np.isinf(y), np.copysign(_HALF_PI, y), found))
    found = np.where(x == 0, np.copysign(_HALF_PI, y), found)
    found = np.where(y == 0, np.where(np.signbit(x), np.copysign(np.pi, y), y), found)
    return np.where(np.isnan(x) | np.isnan(y), x + y, np.where(x == 1, atan(y), found))


def _asin_rest(t: Float64s) -> Float64s:
    return t * _polynomial(t, _ASIN_FACTORS) / _polynomial(t, _ASIN_DIVISORS)


@_quiet
def asin(x: Float64s) -> Float64s:
    """Arcs of sines.

    Example:
        >>> asin(np.array([1.0, 0.5, 2.0])).tolist()
        [1.5707963267948966, 0.5235987755982989, nan]
    """
    size = _size(x)
    near = x + x * _asin_rest(x * x)
    t = (1.0 - np.abs(x)) * 0.5
    r, s = _asin_rest(t), np.sqrt(t)
    w = _upper(s)
    c = (t - w * w) / (s + w)
    far = _QUARTER_PI - ((2.0 * s * r - (_HALF_PI_LOW - 2.0 * c)) - (_QUARTER_PI - 2.0 * w))
    far = np.where(size >= 0x3FEF3333, _HALF_PI - (2.0 * (s + s * r) - _HALF_PI_LOW), far)
    found = np.where(size < 0x3FE00000, np.where(size < 0x3E400000, x, near), np.copysign(far, x))
    found = np.where(np.abs(x) == 1, x * _HALF_PI + x * _HALF_PI_LOW, found)
    return np.where(np.abs(x) <= 1, found, np.nan)


@_quiet
def acos(x: Float64s) -> Float64s:
    """Arcs of cosines.

    Example:
        >>> acos(np.array([1.0, 0.0])).tolist()
        [0.0, 1.5707963267948966]
    """
    size = _size(x)
    near = _HALF_PI - (x - (_HALF_PI_LOW - x * _asin_rest(x * x)))
    z = (1.0 - np.abs(x)) * 0.5
    r, s = _asin_rest(z), np.sqrt(z)
    below = np.pi - 2.0 * (s + (r * s - _HALF_PI_LOW))
    df = _upper(s)
    above = 2.0 * (df + (r * s + (z - df * df) / (s + df)))
    found = np.where(size < 0x3FE00000, np.where(size <= 0x3C600000, _HALF_PI + _HALF_PI_LOW, near),
                     np.where(x < 0, below, above))  # fmt: skip
    found = np.where(x == 1, 0.0, np.where(x == -1, np.pi + 2.0 * _HALF_PI_LOW, found))
    return np.where(np.abs(x) <= 1, found, np.nan)


@_quiet
def hypot(x: Float64s, y: Float64s) -> Float64s:
    """Roots of the sum of two squares.

    Example:
        >>> hypot(np.array([3.0, np.inf]), np.array([-4.0, np.nan])).tolist()
        [5.0, inf]
    """
    a, b = np.maximum(np.abs(x), np.abs(y)), np.minimum(np.abs(x), np.abs(y))
    large, small = _size(a) > 0x5F300000, (_size(b) < 0x20B00000) & (b != 0)
    subnormal = small & (_size(b) < 0x00100000)
    up = np.where(subnormal, 2.0**1022, np.where(small, 2.0**600, 1.0)) * np.where(large, 2.0**-600, 1.0)
    c, d = a * up, b * up
    w = c - d
    t1 = _of_high(_high(c))
    near = np.sqrt(t1 * t1 - (d * (-d) - (c - t1) * (c + t1)))
    twice = c + c
    y1, t2 = _of_high(_high(d)), _of_high(_high(c) + 0x00100000)
    far = np.sqrt(t2 * y1 - (w * (-w) - (t2 * (d - y1) + (twice - t2) * d)))
    found = np.where(w > d, near, far) / up
    found = np.where((b == 0) | (_size(a) - _size(b) > 0x3C00000), a + b, found)
    return np.where(np.isinf(x) | np.isinf(y), np.inf, np.where(np.isnan(x) | np.isnan(y), x + y, found))


@_quiet
def power(x: Float64s, y: Float64s) -> Float64s:
    """x to the power of y; NaN of 1 and of -1 to what is infinite.

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
    """Of finite numbers above 0 but 1."""
    high, low = _logarithm(x)
    near_high, near_low = _logarithm_near_one(x)
    large = _size(y) > 0x41E00000
    high, low = np.where(large, near_high, high), np.where(large, near_low, low)
    y1 = _upper(y)
    p_low, p_high = (y - y1) * high + y * low, y1 * high
    z = p_low + p_high
    over = (z > 1024) | ((z == 1024) & (p_low + 8.0085662595372944372e-17 > z - p_high))
    under = (z < -1075) | ((z == -1075) & (p_low <= z - p_high))
    far = large & ((_size(x) < 0x3FEFFFFF) | (_size(x) > 0x3FF00000))
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
    high = _upper(u + v)
    return high, v - (high - u)


def _logarithm(x: Float64s) -> tuple[Float64s, Float64s]:
    """Logarithms to the base 2, in two parts."""
    tiny = _high(x) < 0x00100000
    y = np.where(tiny, x * 2.0**53, x)
    upper = _high(y)
    n = np.where(tiny, -53, 0) + (upper >> 20) - 0x3FF
    j = upper & 0x000FFFFF
    middle, last = (j > 0x3988E) & (j < 0xBB67A), j >= 0xBB67A
    n += last
    upper = np.where(last, (j | 0x3FF00000) - 0x00100000, j | 0x3FF00000)
    y = _with_high(y, upper)
    base = np.where(middle, 1.5, 1.0)
    u, v = y - base, 1.0 / (y + base)
    ss = u * v
    s_high = _upper(ss)
    t_high = _of_high(((upper >> 1) | 0x20000000) + 0x00080000 + (middle.astype(np.int64) << 18))
    t_low = y - (t_high - base)
    s_low = v * ((u - s_high * t_high) - s_high * t_low)
    square = ss * ss
    r = square * square * _polynomial(square, _POWER_FACTORS) + s_low * (s_high + ss)
    square = s_high * s_high
    t_high = _upper(3.0 + square + r)
    t_low = r - ((t_high - 3.0) - square)
    u, v = s_high * t_high, s_low * t_high + t_low * ss
    p_high = _upper(u + v)
    p_low = v - (p_high - u)
    z_high = 9.61796700954437255859e-01 * p_high
    z_low = (-7.02846165095275826516e-09 * p_high + p_low * 9.61796693925975554329e-01
             + np.where(middle, 1.35003920212974897128e-08, 0.0))  # fmt: skip
    d = np.where(middle, 5.84962487220764160156e-01, 0.0)
    high = _upper(((z_high + z_low) + d) + n)
    return high, z_low - (((high - n) - d) - z_high)


def _power_of_two(p_high: Float64s, p_low: Float64s) -> Float64s:
    """2 to the power of a number in two parts, which has a value that is not infinite."""
    j = _high(p_low + p_high)
    size = j & 0x7FFFFFFF
    rounds = size > 0x3FE00000
    n = j + (0x00100000 >> np.clip((size >> 20) - 0x3FE, 0, 31))
    k = np.clip(((n & 0x7FFFFFFF) >> 20) - 0x3FF, 0, 20)
    t = np.where(rounds, _of_high(n & ~(0x000FFFFF >> k)), 0.0)
    n = ((n & 0x000FFFFF) | 0x00100000) >> (20 - k)
    n = np.where(rounds, np.where(j < 0, -n, n), 0)
    p_high = p_high - t
    t = _upper(p_low + p_high)
    u = t * 6.93147182464599609375e-01
    v = (p_low - (t - p_high)) * 6.93147180559945286227e-01 + t * -1.90465429995776804525e-09
    z = u + v
    w = v - (z - u)
    t = z * z
    t1 = z - t * _polynomial(t, _EXP_FACTORS)
    r = (z * t1) / (t1 - 2.0) - (w + z * w)
    z = 1.0 - (r - z)
    subnormal = (_high(z) + (n << 20)) >> 20 <= 0
    return np.where(subnormal, np.ldexp(z, np.where(subnormal, n, 0).astype(np.int32)), _shifted(z, n))
