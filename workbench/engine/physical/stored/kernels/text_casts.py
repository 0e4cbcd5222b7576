"""Kernels of CAST between texts and other values, by Spark's rules.

Where all texts are written plainly Arrow reads them. Where not, each different text is read by itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.types import to_arrow
from workbench.engine.physical.stored.kernels.times import formatted
from workbench.engine.physical.stored.kernels.times_of_texts import BLANKS, PLAIN_TIMES, timestamp_of_text
from workbench.sql.algebra.expressions import Call
from workbench.sql.algebra.time_patterns import days_since_1970
from workbench.sql.algebra.types import DataType, Kind
from workbench.sql.functions.java_digits import DIGITS_JAVA_HAS, text_of_double

_Read = Callable[[str, DataType], Any]
_FALSE_AND_TRUE = dict.fromkeys(("f", "false", "n", "no", "0"), False) | dict.fromkeys(
    ("t", "true", "y", "yes", "1"), True
)
_SPECIAL = {
    **dict.fromkeys(("inf", "+inf", "infinity", "+infinity"), float("inf")),
    **{"-inf": float("-inf"), "-infinity": float("-inf"), "nan": float("nan")},
}
_INTEGER = re.compile(r"[+-]?[0-9]+")
_DOUBLE = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_HEX = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_DATE = re.compile(r"([+-]?)([0-9]{4,7})(?:-([0-9]{1,2})(?:-([0-9]{1,2})(?:[ T].*)?)?)?", re.DOTALL)
_EXACT = Context(prec=400)
_MOST_DIGITS = 38
_PLAIN = (1e-3, 1e7)
"""DOUBLEs from the one to the other are written without an exponent."""


def _integer(text: str, type_: DataType) -> int | None:
    text = text.strip(BLANKS)
    digits = text.lstrip("+-0")
    if _INTEGER.fullmatch(text) is None or len(digits) > _MOST_DIGITS:
        return None
    number, most = int(f"{'-' * text.startswith('-')}{digits or 0}"), 1 << (type_.bits - 1)
    return number if -most <= number < most else None


def _double(text: str, type_: DataType) -> float | None:
    text = text.strip(BLANKS[:-1])  # of numbers with a fraction the last one counts
    number = text[:-1] if text[-1:] in ("d", "D", "f", "F") else text
    if _DOUBLE.fullmatch(number):
        return float(number)
    if _HEX.fullmatch(number):
        try:
            return float.fromhex(number)
        except OverflowError:
            return float("-inf" if number.startswith("-") else "inf")
    if text in ("+NaN", "-NaN"):
        return float("nan")
    return _SPECIAL.get(text.lower())


def _decimal(text: str, type_: DataType) -> Decimal | None:
    text = text.strip(BLANKS[:-1])
    if _DECIMAL.fullmatch(text) is None or any(ord(sign) > 0xFFFF for sign in text):
        return None
    try:
        number = Decimal(text)
    except ArithmeticError:  # its exponent has too many digits
        return None
    if number and number.adjusted() >= _MOST_DIGITS:
        return None
    unit = Decimal(1).scaleb(-type_.scale)
    if not number or number.adjusted() < -type_.scale - 1:
        return Decimal(0).quantize(unit)
    rounded = number.quantize(unit, ROUND_HALF_UP, _EXACT)
    return rounded if rounded.adjusted() < type_.precision - type_.scale or not rounded else None


def _boolean(text: str, type_: DataType) -> bool | None:
    return _FALSE_AND_TRUE.get(text.strip(BLANKS).lower())


def _date(text: str, type_: DataType) -> int | None:
    """The days since 1970."""
    found = _DATE.fullmatch(text.strip(BLANKS))
    if found is None:
        return None
    year = int(found[2]) * (-1 if found[1] == "-" else 1)
    days = days_since_1970(year, int(found[3] or 1), int(found[4] or 1))
    return days if days is not None and -(1 << 31) <= days < 1 << 31 else None


_READERS: dict[Kind, tuple[_Read, str, pa.DataType | None]] = {
    Kind.INTEGER: (_integer, r"^-?(?:0|[1-9][0-9]{0,8})$", None),
    Kind.DOUBLE: (_double, r"^-?[0-9]{1,15}(?:\.[0-9]{1,15})?$", None),
    Kind.DECIMAL: (_decimal, "", None),
    Kind.BOOLEAN: (_boolean, r"^(?:true|false)$", None),
    Kind.TIMESTAMP: (lambda text, type_: timestamp_of_text(text), PLAIN_TIMES, pa.int64()),
    Kind.DATE: (_date, r"^[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}$", pa.int32()),
}
"""How a text is read, the pattern of those that Arrow reads alike, and as what a reader gives its values."""
FROM_TEXT = tuple(_READERS)
"""Kinds of values that texts are read as."""


def of_texts(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """Texts as values of another type, and NULL for texts that are none."""
    (texts,), type_ = arguments, call.type
    read, pattern, made = _READERS[type_.kind]
    wide_enough = type_.kind is not Kind.INTEGER or type_.bits >= 32
    if pattern and wide_enough and pc.all(pc.match_substring_regex(texts, pattern)).as_py():
        try:
            return texts.cast(to_arrow(type_))
        except pa.ArrowInvalid:  # 2005-02-30
            pass
    encoded = texts.dictionary_encode()
    values = [read(text, type_) for text in encoded.dictionary.to_pylist()]
    return pa.array(values, made or to_arrow(type_)).cast(to_arrow(type_)).take(encoded.indices)


def time_as_text(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """Dates, and timestamps without the zeros at the end of their fraction."""
    (times,) = arguments
    if call.arguments[0].type.kind is Kind.DATE:
        return formatted(times, "yyyy-MM-dd")
    return pc.replace_substring_regex(formatted(times, "yyyy-MM-dd HH:mm:ss.SSSSSS"), r"\.?0{1,6}$", "")


def texts_of_doubles(numbers: pa.Array) -> pa.Array:
    """The text of each number.

    Example:
        >>> texts_of_doubles(pa.array([0.1, 1e7, 2e23, -0.0, float("nan"), None])).to_pylist()
        ['0.1', '1.0E7', '1.9999999999999998E23', '-0.0', 'NaN', None]
    """
    encoded = numbers.view(pa.int64()).dictionary_encode()  # 0.0 and -0.0 are two
    values = encoded.dictionary.view(pa.float64())
    return _texts_of_numbers(values).take(encoded.indices)


def _texts_of_numbers(values: pa.Array) -> pa.Array:
    """Of numbers that are no NULL: by Arrow what it writes with few digits, and no exponent."""
    numbers = values.to_numpy()
    size = np.abs(numbers)
    written = values.cast(pa.string())
    plain = (size >= _PLAIN[0]) & (size < _PLAIN[1])
    short = np.asarray(pc.binary_length(written)) <= DIGITS_JAVA_HAS + 1
    texts = np.asarray(written.to_numpy(zero_copy_only=False), dtype=object)
    whole = ~np.asarray(pc.match_substring(written, "."))
    sure = plain & short & ~np.asarray(pc.match_substring(written, "e"))
    texts[sure & whole] += ".0"
    for at in np.flatnonzero(~sure):
        texts[at] = text_of_double(float(numbers[at]))
    return pa.array(texts, pa.string())
