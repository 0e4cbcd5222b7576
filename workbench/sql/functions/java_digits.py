"""How Java 17 writes a DOUBLE, which is how Spark does: as text, and in formats.

    0.1, 1e7, 2e23    are 0.1, 1.0E7, 1.9999999999999998E23

Java up to 18 produces digit after digit until the rest is below half a unit of the last place, on either side. At such
a half it goes on, so that it writes 2e23 with 17 digits, where one would do, as Java 19, Python and Arrow know. Numbers
that 15 digits tell from all others, below 2^53, are at no half: of these the digits are the fewest, and Arrow has
them. All others are computed by integers.
"""

from __future__ import annotations

import math
import re
import struct
from functools import lru_cache

_FRACTION_BITS, _BIAS, _LEAST_EXPONENT = 52, 1023, -1022
DIGITS_JAVA_HAS = 15
"""Digits that tell a number below 2^53 from all others, and which Java then has."""
_DIGITS = re.compile(r"-?(\d+)\.?(\d*)(?:[eE]([+-]?\d+))?")
_INT, _LONG = 32, 64
_NAMES = {math.inf: "Infinity", -math.inf: "-Infinity"}


def text_of_double(number: float) -> str:
    """The text of a number.

    Example:
        >>> text_of_double(5e-324), text_of_double(1234567.0), text_of_double(0.00012)
        ('4.9E-324', '1234567.0', '1.2E-4')
    """
    if not math.isfinite(number):
        return _NAMES.get(number, "NaN")
    sign = "-" if math.copysign(1.0, number) < 0 else ""
    if not number:
        return f"{sign}0.0"
    digits, point = java_digits(abs(number))
    if 0 < point < 8:
        return f"{sign}{digits[:point].ljust(point, '0')}.{digits[point:] or '0'}"
    if -3 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{point - 1}"


@lru_cache(maxsize=65_536)
def java_digits(number: float) -> tuple[str, int]:
    """The digits of a number above 0, without zeros at the end, and how many of them stand before the point.

    Example:
        >>> java_digits(123.5), java_digits(2e23)
        (('1235', 3), ('19999999999999998', 24))
    """
    if number < 2.0**53 and number >= 2.0**_LEAST_EXPONENT:
        digits, point = _fewest_digits(number)
        if len(digits) <= DIGITS_JAVA_HAS and math.frexp(number)[0] != 0.5:
            return digits, point
    mantissa, exponent, bits = _parts(number)
    if 0 <= exponent <= 62 and mantissa.bit_length() - 1 - exponent <= _trailing_zeros(mantissa):
        return _digits_of_whole(int(number), exponent, bits)
    return _digits_by_integers(mantissa, exponent, bits)


def _fewest_digits(number: float) -> tuple[str, int]:
    found = _DIGITS.fullmatch(repr(number))
    assert found is not None
    whole, fraction, exponent = found[1], found[2], int(found[3] or 0)
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + exponent - (len(whole + fraction) - len(digits))
    return digits.rstrip("0"), point


def _parts(number: float) -> tuple[int, int, int]:
    """The significant bits of a number as a whole one, its exponent of 2, and how many bits count."""
    (stored,) = struct.unpack("<q", struct.pack("<d", number))
    fraction, exponent = stored & ((1 << _FRACTION_BITS) - 1), stored >> _FRACTION_BITS
    if exponent:
        return fraction | 1 << _FRACTION_BITS, exponent - _BIAS, _FRACTION_BITS + 1
    bits = fraction.bit_length()
    return fraction, _LEAST_EXPONENT - (_FRACTION_BITS + 1 - bits), bits


def _trailing_zeros(number: int) -> int:
    return (number & -number).bit_length() - 1


def _digits_of_whole(number: int, exponent: int, bits: int) -> tuple[str, int]:
    """The digits of a whole number below 2^63, without those below the last bit of its DOUBLE."""
    unsaid = int((exponent - bits - 1) * math.log10(2)) if exponent - bits > 2 else 0
    number, rest = divmod(number, 10**unsaid)
    number += bool(unsaid) and 2 * rest >= 10**unsaid
    text = str(number)
    return text.rstrip("0"), len(text) + unsaid


def _digits_by_integers(mantissa: int, exponent: int, bits: int) -> tuple[str, int]:
    """Digit after digit of the quotient b / s, until the rest is below m, half a unit of the last place.

    Java takes numbers of 32 or 64 bits where they suffice, which sums with m may pass. Only beyond 64 bits is a rest
    of just half a unit near enough. A number with an exponent has two digits at least.
    """
    place = _estimated_place(mantissa, exponent)
    zeros = _trailing_zeros(mantissa)
    mantissa >>= zeros
    significant = mantissa.bit_length()
    tiny = max(0, significant - exponent - 1)
    fives_b, fives_s = max(0, -place), max(0, place)
    twos_b, twos_s = fives_b + tiny + exponent, fives_s + tiny
    twos_m = twos_b - bits
    twos_b -= significant - 1
    common = min(twos_b, twos_s)
    twos_b, twos_s, twos_m = twos_b - common, twos_s - common, twos_m - common
    twos_m -= significant == 1
    if twos_m < 0:
        twos_b, twos_s, twos_m = twos_b - twos_m, twos_s - twos_m, 0
    b, s, m = mantissa * 5**fives_b << twos_b, 5**fives_s << twos_s, 5**fives_b << twos_m
    size = max(significant + twos_b + _bits_of_five(fives_b), twos_s + 1 + _bits_of_five(fives_s + 1))
    width = _INT if size < _INT else _LONG if size < _LONG else 0
    digits, is_first = list[int](), True
    while True:
        q, b = divmod(b, s)
        b, m = 10 * b, _within(10 * m, width)
        low, high = b < m, _within(b + m, width) > 10 * s if width else b + m >= 10 * s
        if width and m <= 0:
            low = high = True
        if is_first and not q and not high:
            place -= 1
        else:
            digits.append(q)
        if (low or high) and not (is_first and not -3 <= place < 8):
            break
        is_first = False
    if high and (not low or 2 * b > 10 * s or (2 * b == 10 * s and digits[-1] % 2)):
        return _rounded_up(digits, place + 1)
    text = "".join(map(str, digits))
    return text.rstrip("0"), place + 1


def _estimated_place(mantissa: int, exponent: int) -> int:
    """Of the first digit, by one too high at times."""
    one_to_two = mantissa / (1 << (mantissa.bit_length() - 1))
    return math.floor((one_to_two - 1.5) * 0.289529654 + 0.176091259 + exponent * 0.301029995663981)


def _bits_of_five(power: int) -> int:
    """As Java counts them: three for each beyond its table."""
    return (5**power).bit_length() if power < 27 else 3 * power


def _within(number: int, width: int) -> int:
    """A number as bits of a width hold it; 0 are as many as it needs."""
    if not width:
        return number
    half = 1 << (width - 1)
    return (number + half) % (2 * half) - half


def _rounded_up(digits: list[int], point: int) -> tuple[str, int]:
    """The digits with one more at the last place."""
    text = "".join(map(str, digits))
    found = str(int(text) + 1).rjust(len(text), "0")
    return found.rstrip("0"), point + len(found) - len(text)
