"""Hyperbolic functions, arcs and roots with the bits of Java's StrictMath: FDLIBM, as in ``strict_math``.

FDLIBM is Copyright (C) 1993-2004 by Sun Microsystems, Inc. All rights reserved. Developed at SunSoft, a Sun
Microsystems, Inc. business. Permission to use, copy, modify, and distribute this software is freely granted, provided
that this notice is preserved.
"""

from __future__ import annotations

import numpy as np

from workbench.engine.physical.stored.kernels.strict_math import (
    Float64s,
    exp,
    expm1,
    of_upper_half,
    polynomial_of,
    quiet,
    unsigned_half,
    upper_half,
    with_upper_half,
    without_lower_half,
)

_HALF_PI, _HALF_PI_LOW, _QUARTER_PI = 1.57079632679489655800e00, 6.12323399573676603587e-17, 7.85398163397448278999e-01
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


@quiet
def sinh(x: Float64s) -> Float64s:
    """Hyperbolic sines.

    Example:
        >>> sinh(np.array([1.0, -800.0])).tolist()
        [1.1752011936438014, -inf]
    """
    size, h, y = unsigned_half(x), np.where(x < 0, -0.5, 0.5), np.abs(x)
    t = expm1(np.minimum(y, 22.0))
    found = np.where(size < 0x3FF00000, h * (2.0 * t - t * t / (t + 1.0)), h * (t + t / (t + 1.0)))
    root = exp(0.5 * y)
    found = np.where(size < 0x40360000, found, np.where(size < 0x40862E42, h * exp(y), h * root * root))
    return np.where((size < 0x3E300000) | ~np.isfinite(x), x, found)


@quiet
def cosh(x: Float64s) -> Float64s:
    """Hyperbolic cosines.

    Example:
        >>> cosh(np.array([0.0, 1.0])).tolist()
        [1.0, 1.543080634815244]
    """
    size, y = unsigned_half(x), np.abs(x)
    t = expm1(np.minimum(y, 1.0))
    w = 1.0 + t
    near = np.where(size < 0x3C800000, w, 1.0 + (t * t) / (w + w))
    power, root = exp(y), exp(0.5 * y)
    far = np.where(size < 0x40360000, 0.5 * power + 0.5 / power,
                   np.where(size < 0x40862E42, 0.5 * power, 0.5 * root * root))  # fmt: skip
    return np.where(np.isfinite(x), np.where(size < 0x3FD62E43, near, far), y)


@quiet
def tanh(x: Float64s) -> Float64s:
    """Hyperbolic tangents.

    Example:
        >>> tanh(np.array([1.0, -30.0])).tolist()
        [0.7615941559557649, -1.0]
    """
    size, y = unsigned_half(x), np.minimum(np.abs(x), 22.0)
    t = expm1(np.where(size >= 0x3FF00000, 2.0 * y, -2.0 * y))
    found = np.where(size >= 0x3FF00000, 1.0 - 2.0 / (t + 2.0), -t / (t + 2.0))
    found = np.copysign(np.where(size < 0x40360000, found, 1.0), x)
    return np.where(np.isnan(x), x, np.where(size < 0x3C800000, x * (1.0 + x), found))


@quiet
def cbrt(x: Float64s) -> Float64s:
    """Cube roots.

    Example:
        >>> cbrt(np.array([27.0, -8.0])).tolist()
        [3.0, -2.0]
    """
    y, size = np.abs(x), unsigned_half(x)
    scaled = y * 2.0**54
    t = np.where(
        size < 0x00100000,
        with_upper_half(scaled, upper_half(scaled) // 3 + 696219795),
        of_upper_half(size // 3 + 715094163),
    )
    r = t * t / y
    s = 5.42857142857142815906e-01 + r * t
    t = t * (3.57142857142857150787e-01 + 1.60714285714285720630e00 / (
        s + 1.41428571428571436819e00 + -7.05306122448979611050e-01 / s))  # fmt: skip
    t = of_upper_half(upper_half(t) + 1)
    r = y / (t * t)
    r = (r - t) / ((t + t) + r)
    return np.where(np.isfinite(x) & (x != 0), np.copysign(t + t * r, x), x)


@quiet
def atan(x: Float64s) -> Float64s:
    """Arcs of tangents.

    Example:
        >>> atan(np.array([1.0, -np.inf])).tolist()
        [0.7853981633974483, -1.5707963267948966]
    """
    size, y = unsigned_half(x), np.abs(x)
    part = np.searchsorted([0x3FDC0000, 0x3FE60000, 0x3FF30000, 0x40038000], size, side="right") - 1
    z = np.choose(part + 1, [
        x, (2.0 * y - 1.0) / (2.0 + y), (y - 1.0) / (y + 1.0), (y - 1.5) / (1.0 + 1.5 * y), -1.0 / y])  # fmt: skip
    square = z * z
    w = square * square
    total = square * polynomial_of(w, _ATAN_FACTORS[::2]) + w * polynomial_of(w, _ATAN_FACTORS[1::2])
    high = np.choose(
        np.maximum(part, 0), [4.63647609000806093515e-01, _QUARTER_PI, 9.82793723247329054082e-01, _HALF_PI]
    )
    low = np.choose(np.maximum(part, 0), [
        2.26987774529616870924e-17, 3.06161699786838301793e-17, 1.39033110312309984516e-17, _HALF_PI_LOW])  # fmt: skip
    far = np.copysign(high - ((z * total - low) - z), x)
    found = np.where(part < 0, z - z * total, far)
    found = np.where(size >= 0x44100000, np.copysign(_HALF_PI + _HALF_PI_LOW, x), found)
    return np.where(np.isnan(x) | (size < 0x3E200000), x, found)


@quiet
def atan2(y: Float64s, x: Float64s) -> Float64s:
    """Angles of points.

    Example:
        >>> atan2(np.array([1.0, -0.0]), np.array([1.0, -1.0])).tolist()
        [0.7853981633974483, -3.141592653589793]
    """
    k = (unsigned_half(y) - unsigned_half(x)) >> 20
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
    return t * polynomial_of(t, _ASIN_FACTORS) / polynomial_of(t, _ASIN_DIVISORS)


@quiet
def asin(x: Float64s) -> Float64s:
    """Arcs of sines.

    Example:
        >>> asin(np.array([1.0, 0.5, 2.0])).tolist()
        [1.5707963267948966, 0.5235987755982989, nan]
    """
    size = unsigned_half(x)
    near = x + x * _asin_rest(x * x)
    t = (1.0 - np.abs(x)) * 0.5
    r, s = _asin_rest(t), np.sqrt(t)
    w = without_lower_half(s)
    c = (t - w * w) / (s + w)
    far = _QUARTER_PI - ((2.0 * s * r - (_HALF_PI_LOW - 2.0 * c)) - (_QUARTER_PI - 2.0 * w))
    far = np.where(size >= 0x3FEF3333, _HALF_PI - (2.0 * (s + s * r) - _HALF_PI_LOW), far)
    found = np.where(size < 0x3FE00000, np.where(size < 0x3E400000, x, near), np.copysign(far, x))
    found = np.where(np.abs(x) == 1, x * _HALF_PI + x * _HALF_PI_LOW, found)
    return np.where(np.abs(x) <= 1, found, np.nan)


@quiet
def acos(x: Float64s) -> Float64s:
    """Arcs of cosines.

    Example:
        >>> acos(np.array([1.0, 0.0])).tolist()
        [0.0, 1.5707963267948966]
    """
    size = unsigned_half(x)
    near = _HALF_PI - (x - (_HALF_PI_LOW - x * _asin_rest(x * x)))
    z = (1.0 - np.abs(x)) * 0.5
    r, s = _asin_rest(z), np.sqrt(z)
    below = np.pi - 2.0 * (s + (r * s - _HALF_PI_LOW))
    df = without_lower_half(s)
    above = 2.0 * (df + (r * s + (z - df * df) / (s + df)))
    found = np.where(size < 0x3FE00000, np.where(size <= 0x3C600000, _HALF_PI + _HALF_PI_LOW, near),
                     np.where(x < 0, below, above))  # fmt: skip
    found = np.where(x == 1, 0.0, np.where(x == -1, np.pi + 2.0 * _HALF_PI_LOW, found))
    return np.where(np.abs(x) <= 1, found, np.nan)


@quiet
def hypot(x: Float64s, y: Float64s) -> Float64s:
    """Roots of the sum of two squares.

    Example:
        >>> hypot(np.array([3.0, np.inf]), np.array([-4.0, np.nan])).tolist()
        [5.0, inf]
    """
    a, b = np.maximum(np.abs(x), np.abs(y)), np.minimum(np.abs(x), np.abs(y))
    large, small = unsigned_half(a) > 0x5F300000, (unsigned_half(b) < 0x20B00000) & (b != 0)
    subnormal = small & (unsigned_half(b) < 0x00100000)
    up = np.where(subnormal, 2.0**1022, np.where(small, 2.0**600, 1.0)) * np.where(large, 2.0**-600, 1.0)
    c, d = a * up, b * up
    w = c - d
    t1 = of_upper_half(upper_half(c))
    near = np.sqrt(t1 * t1 - (d * (-d) - (c - t1) * (c + t1)))
    twice = c + c
    y1, t2 = of_upper_half(upper_half(d)), of_upper_half(upper_half(c) + 0x00100000)
    far = np.sqrt(t2 * y1 - (w * (-w) - (t2 * (d - y1) + (twice - t2) * d)))
    found = np.where(w > d, near, far) / up
    found = np.where((b == 0) | (unsigned_half(a) - unsigned_half(b) > 0x3C00000), a + b, found)
    return np.where(np.isinf(x) | np.isinf(y), np.inf, np.where(np.isnan(x) | np.isnan(y), x + y, found))
