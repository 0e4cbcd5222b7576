"""Kernels of functions of Spark that Python computes for each different row: texts, digests and bits.

A function whose number is an INT in Spark is NULL of one beyond 32 bits.
"""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.python_values import over_columns
from workbench.arrow.types import filled, to_arrow, to_shown
from workbench.engine.physical.stored.kernels.kernel import Kernel, constant_text
from workbench.engine.physical.stored.kernels.odd_texts import BYTES_OF_FORMATS, ODD_BYTES, ODD_TEXTS, masked
from workbench.sql.algebra.expressions import Call, Constant
from workbench.sql.algebra.time_patterns import date_of_days, days_since_1970
from workbench.sql.algebra.types import Kind
from workbench.sql.functions.calls_of_postgres import nth_part, padding
from workbench.sql.functions.distances import edit_distance
from workbench.sql.functions.size_limits import MOST_SIZES
from workbench.sql.functions.times.times import MOST_YEARS

_INT = range(-(2**31), 2**31)
_MASK = 2**64 - 1
_MOST = MOST_SIZES["repeat"]
"""Characters of a text that ``repeat`` and ``space`` make."""
_MOST_FACTORIAL = 20
_LINE = 76
_MICROS_OF_DAY = 86_400_000_000
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_KINDS = (Kind.STRING, Kind.INTEGER, Kind.DATE)


def _substr(text: str, start: int, length: int = 2**31 - 1) -> str | None:
    if start not in _INT or length not in _INT:
        return None
    begin = start - 1 if start > 0 else len(text) + start if start < 0 else 0
    return text[max(begin, 0) : max(begin + length, 0)]


def _split_part(text: str, separator: str, place: int) -> str | None:
    return nth_part(text, separator, place) if place in _INT else None


def _substring_index(text: str, separator: str, count: int) -> str | None:
    if count not in _INT:
        return None
    if not separator or not count:
        return ""
    parts = text.split(separator)
    return separator.join(parts[:count] if count > 0 else parts[count:])


def _padded(is_left: bool) -> Callable[[str, int, str], str | None]:
    pad = padding(is_left, _INT[-1])
    return lambda text, length, fill: pad(text, length, fill) if length in _INT else None


def _repeat(text: str, count: int) -> str | None:
    return None if count * len(text) > _MOST or count not in _INT else text * count


def _translate(text: str, letters: str, others: str) -> str:
    known = dict[int, str | None]()
    for at, letter in enumerate(letters):
        known.setdefault(ord(letter), others[at] if at < len(others) else None)
    return text.translate(known)


def _overlay(text: str, other: str, start: int, length: int) -> str | None:
    if start not in _INT or length not in _INT:
        return None
    length = length if length >= 0 else len(other)
    return f"{_substr(text, 1, start - 1)}{other}{_substr(text, start + length)}"


def _find_in_set(text: str, texts: str) -> int:
    parts = texts.split(",")
    return parts.index(text) + 1 if "," not in text and text in parts else 0


def _signed(bits: int) -> int:
    return bits - 2**64 if bits & 2**63 else bits


def _shifted(move: Callable[[int, int], int]) -> Callable[[int, int], int | None]:
    """A number whose bits are moved, by the last six bits of another."""
    return lambda number, by: None if by not in _INT else _signed(move(number, by % 64) & _MASK)


def _make_date(year: int, month: int, day: int) -> int | None:
    return days_since_1970(year, month, day) if abs(year) <= MOST_YEARS else None


def _factorial(n: int) -> int | None:
    product = 1
    for factor in range(2, n + 1 if 0 <= n <= _MOST_FACTORIAL else 0):
        product *= factor
    return product if 0 <= n <= _MOST_FACTORIAL else None


def _base64(data: bytes) -> str:
    """In lines, as of mails (RFC 2045)."""
    written = base64.b64encode(data).decode()
    return "\r\n".join(written[at : at + _LINE] for at in range(0, len(written), _LINE))


def _digest(name: str) -> Callable[[str | bytes], str]:
    def digest(value: str | bytes) -> str:
        data = value if isinstance(value, bytes) else value.encode()
        return hashlib.new(name, data, usedforsecurity=False).hexdigest()

    return digest


def _sha2(text: str | bytes, bits: int) -> str | None:
    return _digest(f"sha{bits or 256}")(text) if bits in (0, 224, 256, 384, 512) else None


_BY_ROW: dict[str, Callable[..., Any]] = {
    "substr": _substr,
    "split_part": _split_part,
    "substring_index": _substring_index,
    "instr": lambda text, part: text.find(part) + 1,
    "lpad": _padded(True),
    "rpad": _padded(False),
    "repeat": _repeat,
    "space": lambda count: None if count > _MOST or count not in _INT else " " * count,
    "translate": _translate,
    "overlay": _overlay,
    "find_in_set": _find_in_set,
    "levenshtein": edit_distance,
    "ascii": lambda text: ord(text[0]) if text else 0,
    "octet_length": lambda text: len(text.encode()),
    "bit_length": lambda text: 8 * len(text.encode()),
    "hex": lambda number: f"{number & _MASK:X}",
    "hex_of_text": lambda text: text.encode().hex().upper(),
    "bin": lambda number: f"{number & _MASK:b}",
    "base64": lambda text: _base64(text.encode()),
    "md5": _digest("md5"),
    "sha1": _digest("sha1"),
    "sha2": _sha2,
    "crc32": lambda text: zlib.crc32(text.encode()),
    "bit_and_of": lambda one, other: one & other,
    "bit_or_of": lambda one, other: one | other,
    "bit_xor_of": lambda one, other: one ^ other,
    "bit_not": lambda number: ~number,
    "bit_count": lambda number: (number & _MASK).bit_count(),
    "getbit": lambda number, at: number >> at & 1 if 0 <= at < 64 else None,
    "shiftleft": _shifted(lambda number, by: number << by),
    "shiftright": _shifted(lambda number, by: number >> by),
    "shiftrightunsigned": _shifted(lambda number, by: (number & _MASK) >> by),
    "factorial": _factorial,
    "make_date": _make_date,
    "dayname": lambda days: _DAYS[(days + 3) % 7],
    "monthname": lambda days: _MONTHS[date_of_days(days)[1] - 1],
}
"""The value of a row by the name of the function; each is NULL of a NULL."""
_OF_BYTES: dict[str, Callable[..., Any]] = {
    "hex_of_bytes": lambda data: data.hex().upper(),
    "length_of_bytes": len,
    "md5_of_bytes": _digest("md5"),
    "sha1_of_bytes": _digest("sha1"),
    "sha2_of_bytes": _sha2,
    "base64_of_bytes": _base64,
    "crc32_of_bytes": zlib.crc32,
}
"""The same of functions that take bytes, or give them."""


def _by_row(value: Callable[..., Any]) -> Kernel:
    def compute(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
        return over_columns(value, True, arguments, to_arrow(call.type))

    return Kernel(compute, lambda call: all(argument.type.kind in _KINDS for argument in call.arguments))


def _of_bytes(value: Callable[..., Any]) -> Kernel:
    def compute(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
        return over_columns(value, True, arguments, to_shown(call.type))

    return Kernel(compute, lambda call: True, nested=True)


def _mask(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    return over_columns(masked, False, arguments, pa.string())


def _elt(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """The text of a place from 1 on, NULL where there is none."""
    number, *texts = arguments
    found = pa.nulls(len(number), pa.string())
    for place, text in enumerate(texts, start=1):
        found = pc.if_else(filled(pc.equal(number, place), False), text, found)
    return found


def _micros_of_parts(year: int, month: int, day: int, hour: int, minute: int, seconds: Decimal) -> int | None:
    """Seconds up to 60, which are the first one of the next minute."""
    days = _make_date(year, month, day)
    if days is None or not (0 <= hour < 24 and 0 <= minute < 60 and 0 <= seconds <= 60):
        return None
    return days * _MICROS_OF_DAY + (hour * 60 + minute) * 60_000_000 + int(seconds * 1_000_000)


def _make_timestamp(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    return over_columns(_micros_of_parts, True, arguments, pa.int64()).cast(pa.timestamp("us"))


def _bytes_in_format(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    return over_columns(BYTES_OF_FORMATS[_format_of(call)], True, arguments[:1], pa.binary())


def _format_of(call: Call) -> str:
    return (constant_text(call, 1) or "").lower()


ROW_KERNELS = {name: _by_row(value) for name, value in (_BY_ROW | ODD_TEXTS).items()}
ROW_KERNELS |= {name: _of_bytes(value) for name, value in (_OF_BYTES | ODD_BYTES).items()}
ROW_KERNELS |= {
    "mask": Kernel(_mask, lambda call: all(isinstance(sign, Constant) for sign in call.arguments[1:])),
    "elt": Kernel(_elt, lambda call: call.arguments[0].type.kind is Kind.INTEGER),
    "try_to_binary": Kernel(_bytes_in_format, lambda call: _format_of(call) in BYTES_OF_FORMATS, nested=True),
    "make_timestamp": Kernel(_make_timestamp, lambda call: True),
}
"""By the name of the function."""
