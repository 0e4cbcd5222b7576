"""FORMAT_STRING and FORMAT_NUMBER of texts and exact numbers, as Java writes them.

How Java writes a DOUBLE depends on its version, so formats of these are left to Spark.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any

import pyarrow as pa

from workbench.arrow.python_values import over_columns
from workbench.engine.physical.stored.kernels.kernel import Kernel, constant_integer, constant_text
from workbench.sql.algebra.expressions import Call
from workbench.sql.algebra.types import Kind
from workbench.sql.functions.formatted import PART_OF_FORMAT

_MOST_DIGITS = 100
_KINDS = {"s": (Kind.STRING, Kind.INTEGER, Kind.BOOLEAN), "d": (Kind.INTEGER,)}
"""Letter -> the kinds of values that it writes here."""


def _filled(text: str, flags: str, width: int) -> str:
    """With blanks up to a width, of which signs beyond 16 bits take two."""
    missing = " " * (width - len(text) - sum(sign > "\uffff" for sign in text))
    return text + missing if "-" in flags else missing + text


def _as_text(value: Any, cut: int | None) -> str:
    text = "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    return text if cut is None else text[:cut]


def _as_number(value: int | None, flags: str, width: int) -> str:
    if value is None:
        return "null"
    digits = f"{abs(value):,}" if "," in flags else str(abs(value))
    before = "+" if "+" in flags else " " if " " in flags else ""
    after = ")" if value < 0 and "(" in flags else ""
    before = "(" if after else "-" if value < 0 else before
    return before + (digits.rjust(width - len(before) - len(after), "0") if "0" in flags else digits) + after


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


def _formatted(pattern: str, values: Sequence[Any]) -> str:
    texts = list[str]()
    for before, at, flags, width, precision, letter in _parts(pattern):
        texts.append(before)
        if letter in "%n":
            texts.append("\n" if letter == "n" else letter)
        else:
            value = values[at]
            written = _as_number(value, flags, width) if letter == "d" else _as_text(value, precision)
            texts.append(_filled(written, flags, width))
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
    return over_columns(lambda number: f"{Decimal(number):,.{digits}f}", True, arguments[:1], pa.string())


def _is_exact(call: Call) -> bool:
    digits = constant_integer(call, 1)
    kinds = (Kind.INTEGER, Kind.DECIMAL)
    return digits is not None and 0 <= digits <= _MOST_DIGITS and call.arguments[0].type.kind in kinds


FORMAT_KERNELS = {
    "format_string": Kernel(_format_string, _formats_as_java),
    "format_number": Kernel(_format_number, _is_exact),
}
"""By the name of the function."""
