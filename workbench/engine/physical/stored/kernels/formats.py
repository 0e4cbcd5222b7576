"""FORMAT_STRING and FORMAT_NUMBER, as Java 17 writes them: DOUBLEs by the digits that it knows of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from functools import lru_cache
from typing import Any

import pyarrow as pa

from workbench.arrow.python_values import over_columns
from workbench.engine.physical.stored.kernels.kernel import Kernel, constant_integer, constant_text
from workbench.engine.physical.stored.kernels.odd_signs import in_capitals, units_of_16_bits
from workbench.sql.algebra.expressions import Call
from workbench.sql.algebra.types import Kind
from workbench.sql.functions.formatted import PART_OF_FORMAT
from workbench.sql.functions.java_digits import java_digits, text_of_double

_MOST_DIGITS = 100
_TEXTS = (Kind.STRING, Kind.INTEGER, Kind.BOOLEAN, Kind.DOUBLE, Kind.DECIMAL)
_KINDS = {
    **dict.fromkeys("sS", _TEXTS),
    **dict.fromkeys("dxXo", (Kind.INTEGER,)),
    **dict.fromkeys("fegEG", (Kind.DOUBLE,)),
}
"""Letter -> the kinds of values that it writes here."""
_ALL_DIGITS = Context(prec=2_000)
_FEWEST_PLAIN = -4
"""The least power of ten of a number that ``%g`` writes without an exponent."""
_FIRST_AS_POWER = 3
"""Places of which half a unit is written with an exponent, and so with two digits."""
_BITS_OF_INTEGER = (1 << 64) - 1


def _filled(text: str, flags: str, width: int) -> str:
    """With blanks up to a width, of which signs beyond 16 bits take two."""
    missing = " " * (width - len(text) - sum(sign > "\uffff" for sign in text))
    return text + missing if "-" in flags else missing + text


def _as_text(value: Any, cut: int | None) -> str:
    if isinstance(value, float):
        text = text_of_double(value)
    else:
        text = "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    return text if cut is None else _cut(text, cut)


def _cut(text: str, length: int) -> str:
    """A text up to a number of units of 16 bits; half a sign is written as a question mark."""
    units = units_of_16_bits(text)[:length]
    data = b"".join(unit.to_bytes(2, "little") for unit in units)
    return data.decode("utf-16-le", "surrogatepass").encode(errors="replace").decode()


def _as_number(digits: str, below: bool, flags: str, width: int, after: str = "") -> str:
    """Digits with their sign, up to a width by zeros; ``after`` stands behind them."""
    before = "+" if "+" in flags else " " if " " in flags else ""
    behind = ")" if below and "(" in flags else ""
    before = "(" if behind else "-" if below else before
    room = width - len(before) - len(after) - len(behind)
    return before + (digits.rjust(room, "0") if "0" in flags else digits) + after + behind


def _as_whole(value: int, flags: str, width: int, letter: str) -> str:
    if letter == "d":
        return _as_number(f"{abs(value):,}" if "," in flags else str(abs(value)), value < 0, flags, width)
    return _as_number(f"{value & _BITS_OF_INTEGER:{letter}}", False, flags, width)


def _as_double(value: float, flags: str, width: int, precision: int | None, letter: str) -> str:
    """By the digits of Java, half away from zero."""
    below, size = math.copysign(1.0, value) < 0, abs(value)
    if not math.isfinite(value):
        flags = flags.replace("0", "")
        name = "Infinity" if size == math.inf else "NaN"
        name = name.upper() if letter.isupper() else name
        return name if size != math.inf else _as_number(name, below, flags, width)
    number, places = _decimal(size), 6 if precision is None else precision
    if letter == "f":
        return _as_number(f"{_to_places(number, places):{',' * (',' in flags)}f}", below, flags, width)
    if letter in "gG":
        places = max(places, 1)
        rounded = _to_digits(number, places)
        if not number or _FEWEST_PLAIN <= rounded.adjusted() < places:
            return _as_number(f"{_to_places(rounded, places - 1 - rounded.adjusted()):f}", below, flags, width)
        places -= 1
    rounded = _to_digits(number, places + 1)
    power = rounded.adjusted() if number else 0
    mantissa = f"{_to_places(rounded.scaleb(-power, _ALL_DIGITS), places):f}"
    sign = "E" if letter.isupper() else "e"
    return _as_number(mantissa, below, flags, width, f"{sign}{'-' if power < 0 else '+'}{abs(power):02d}")


def _decimal(size: float) -> Decimal:
    """The digits that Java has of a number, which is not below 0."""
    if not size:
        return Decimal(0)
    digits, point = java_digits(size)
    return Decimal(int(digits)).scaleb(point - len(digits), _ALL_DIGITS)


def _to_places(number: Decimal, places: int, rounding: str = ROUND_HALF_UP) -> Decimal:
    return number.quantize(Decimal(1).scaleb(-places, _ALL_DIGITS), rounding, _ALL_DIGITS)


def _to_digits(number: Decimal, count: int) -> Decimal:
    return _to_places(number, count - 1 - number.adjusted()) if number else number


@lru_cache(maxsize=256)
def _parts(pattern: str) -> tuple[tuple[str, int, str, int, int | None, str], ...]:
    """The text before each part of a format, the place of its value, its flags, width and precision, and its letter."""
    found, begin, place = list[tuple[str, int, str, int, int | None, str]](), 0, 0
    for part in PART_OF_FORMAT.finditer(pattern):
        number, flags, width, precision, letter = part.groups()
        at = int(number) - 1 if number else place
        place += letter not in "%n" and not number
        before, begin = pattern[begin : part.start()], part.end()
        found.append((before, at, flags, int(width or 0), int(precision) if precision else None, letter))
    return (*found, (pattern[begin:], 0, "", 0, None, ""))


def _converted(value: Any, flags: str, width: int, precision: int | None, letter: str) -> str:
    if letter in "sS" or value is None:
        text = _as_text(value, precision)
        return in_capitals(text) if letter.isupper() else text
    if isinstance(value, float):
        return _as_double(value, flags, width, precision, letter)
    return _as_whole(value, flags, width, letter)


def _formatted(pattern: str, values: Sequence[Any]) -> str:
    texts = list[str]()
    for before, at, flags, width, precision, letter in _parts(pattern):
        texts.append(before)
        if letter in "%n":
            texts.append("\n" if letter == "n" else letter)
        else:
            texts.append(_filled(_converted(values[at], flags, width, precision, letter), flags, width))
    return "".join(texts)


def _format_string(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    pattern = constant_text(call, 0) or ""
    if len(arguments) == 1:
        return pa.repeat(pa.scalar(_formatted(pattern, ()), pa.string()), len(arguments[0]))
    return over_columns(lambda *values: _formatted(pattern, values), False, arguments[1:], pa.string())


def _formats_as_java(call: Call) -> bool:
    pattern = constant_text(call, 0)
    kinds = [argument.type.kind for argument in call.arguments[1:]]
    return pattern is not None and all(
        letter in "%n" or kinds[at] in _KINDS.get(letter, ()) for _, at, *_, letter in _parts(pattern)
    )


def _format_number(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """Half to even, with commas between thousands."""
    digits = constant_integer(call, 1) or 0
    of_double = call.arguments[0].type.kind is Kind.DOUBLE
    write: Callable[[Any], str] = (
        (lambda number: _grouped(number, digits)) if of_double else lambda number: f"{Decimal(number):,.{digits}f}"
    )
    return over_columns(write, True, arguments[:1], pa.string())


def _grouped(number: float, places: int) -> str:
    """A DOUBLE by Java's digits; where these are just between two numbers, by what the DOUBLE is.

    Java takes half a unit of the third place or one behind it, which it knows with a zero behind the five, for 0.
    """
    sign = "-" if math.copysign(1.0, number) < 0 and number == number else ""
    if not math.isfinite(number):
        return f"{sign}∞" if number == number else "NaN"
    written, exact = _decimal(abs(number)), Decimal(abs(number))
    is_half_unit = places >= _FIRST_AS_POWER and written == Decimal(5).scaleb(-places - 1, _ALL_DIGITS)
    rounding = (
        ROUND_HALF_UP
        if exact > written and not is_half_unit
        else ROUND_HALF_DOWN
        if exact < written
        else ROUND_HALF_EVEN
    )
    return f"{sign}{_to_places(written, places, rounding):,f}"


def _has_digits(call: Call) -> bool:
    digits = constant_integer(call, 1)
    kinds = (Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE)
    return digits is not None and 0 <= digits <= _MOST_DIGITS and call.arguments[0].type.kind in kinds


FORMAT_KERNELS = {
    "format_string": Kernel(_format_string, _formats_as_java),
    "format_number": Kernel(_format_number, _has_digits),
}
"""By the name of the function."""
