"""Values as they are shown, alike in every place: a cell's output and its text, the panel, charts, pages, alerts.

A value is written as it is typed in SQL and as databases' own shells write it: no signs between thousands, since a year
and an id are numbers too; a TIMESTAMP with its time of day, also at midnight, since it is no DATE. The values of a
column stand below each other and are written alike: with as many digits and as exact times as one of them needs.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from workbench.arrow.frames import is_null_number
from workbench.arrow.stored_values import json_text
from workbench.sql.algebra.counted import interval_text

WIDEST = 60
"""Characters of a value that are shown at once; the rest is under the mouse."""
_LONGEST_TITLE = 2_000
"""Characters that are shown under the mouse."""
_MARKS = ("NULL", "NAN", "<NA>", "NONE", "INF", "-INF", "INFINITY", "-INFINITY")
"""Texts that read like what is no text."""
_DIGITS = 6
"""The most that a double has after its point; ``rounded_text`` gives more to what is less than 1."""
_EXACT = 14
"""The most that a decimal has after its point; one with more is a quotient, and rounded as a double is."""
_LINE_ENDS = re.compile(r"[\n\r\t\v\f\x1c-\x1e\x85\u2028\u2029]+")
_UNITS = ("seconds", "milliseconds", "microseconds")


@dataclass(frozen=True)
class ValueForm:
    """How the values of a column are written.

    Attributes:
        is_number: whether all of them are numbers, so that they stand at the right.
        digits: of a double after its point, or of a decimal that is rounded, too; 0: a decimal is written as it is.
        time_unit: to which times are written.

    Example:
        >>> form = ValueForm.of([3.7, 3.63, None])
        >>> [form.text(value) for value in (3.7, 3.63, None)]
        ['3.70', '3.63', 'NULL']
    """

    is_number: bool = False
    digits: int = 0
    time_unit: str = _UNITS[0]

    @staticmethod
    def of(values: Sequence[Any]) -> ValueForm:
        """The form of values of one column.

        Example:
            >>> ValueForm.of([dt.datetime(2026, 1, 2), dt.datetime(2026, 1, 2, 3, 0, 0, 120_000), pd.NaT])
            ValueForm(is_number=False, digits=0, time_unit='milliseconds')
        """
        types = {*map(type, values)}
        if any(issubclass(one, float) for one in types):
            doubles = [rounded_text(value) for value in values if isinstance(value, float) and math.isfinite(value)]
            return ValueForm(has_numbers(values), _most_digits(doubles))
        if Decimal in types:
            decimals = [value for value in values if isinstance(value, Decimal) and value.is_finite()]
            exact = all(-int(value.as_tuple().exponent) <= _EXACT for value in decimals)
            return ValueForm(has_numbers(values), 0 if exact else _most_digits(list(map(rounded_text, decimals))))
        if any(issubclass(one, dt.datetime) for one in types):
            micros = {value.microsecond for value in values if isinstance(value, dt.datetime) and value is not pd.NaT}
            unit = 2 if any(number % 1000 for number in micros) else int(any(micros))
            return ValueForm(time_unit=_UNITS[unit])
        return ValueForm(has_numbers(values))

    def text(self, value: Any) -> str:
        """The whole text of a value."""
        match value:
            case str():
                return _quoted(value)
            case float():
                return _double_text(value, self.digits)
            case list() | dict():
                return _nested_text(value)
            case Decimal() if self.digits:
                return _padded(rounded_text(value), self.digits)
            case dt.datetime() if value is not pd.NaT:
                return value.isoformat(" ", self.time_unit)
        return _scalar_text(value)


def value_text(value: Any) -> str:
    """A value by itself.

    Example:
        >>> [value_text(value) for value in (7170, 2.5, dt.datetime(2026, 1, 2), dt.date(2026, 1, 2), "a", None)]
        ['7170', '2.5', '2026-01-02 00:00:00', '2026-01-02', 'a', 'NULL']
    """
    return ValueForm.of([value]).text(value)


def column_texts(values: Sequence[Any]) -> list[str]:
    """The texts of values of one column.

    Example:
        >>> column_texts([1069934.3, 287537.73])
        ['1069934.30', '287537.73']
    """
    types = {*map(type, values)}
    if types == {int}:
        return list(map(str, values))
    if types == {float} and all(map(math.isfinite, values)):  # each is rounded once
        texts = list(map(rounded_text, values))
        digits = _most_digits(texts)
        return [_padded(text, digits) for text in texts]
    return list(map(ValueForm.of(values).text, values))


def shown_text(text: str, limit: int = WIDEST) -> str:
    """The part of a text that is shown at first: one line, cut with an ellipsis.

    Example:
        >>> shown_text("one\\ntwo  three", 10)
        'one two  …'
    """
    line = _LINE_ENDS.sub(" ", text[: 2 * limit + 2])
    return line if len(line) <= limit and len(text) <= 2 * limit + 2 else line[: limit - 1] + "…"


def title_of(text: str) -> str:
    """The tooltip of a text: the whole text where it was cut, and of very long ones the beginning.

    Example:
        >>> title_of("short"), len(title_of("x" * 100))
        ('', 100)
    """
    if shown_text(text) == text:
        return ""
    return text if len(text) <= _LONGEST_TITLE else text[: _LONGEST_TITLE - 1] + "…"


@dataclass(frozen=True)
class FrameCells:
    """The whole texts of rows.

    Attributes:
        columns: the names of the columns.
        forms: how the values of each are written.
        rows: the texts of each row.
    """

    columns: tuple[str, ...]
    forms: tuple[ValueForm, ...]
    rows: tuple[tuple[str, ...], ...]

    @staticmethod
    def of(frame: pd.DataFrame, beside: Sequence[Sequence[Any]] = ()) -> FrameCells:
        """The texts of a frame's rows.

        Args:
            frame: the rows.
            beside: others that are to be written as they are.
        """
        columns = [list(column) for _, column in frame.items()]
        forms = [ValueForm.of([*column, *(row[i] for row in beside)]) for i, column in enumerate(columns)]
        texts = [map(form.text, column) for form, column in zip(forms, columns, strict=True)]
        return FrameCells(tuple(map(str, frame.columns)), tuple(forms), tuple(zip(*texts, strict=True)))

    @property
    def right(self) -> list[bool]:
        """Which columns are aligned to the right."""
        return [form.is_number for form in self.forms]


def frame_text(frame: pd.DataFrame) -> str:
    """Rows as plain text, without their index.

    Example:
        >>> print(frame_text(pd.DataFrame({"city": ["Ulm", None], "n": [12345, 7]})))
        city      n
        Ulm   12345
        NULL      7
    """
    cells = FrameCells.of(frame)
    return aligned_table(cells.columns, [list(map(shown_text, row)) for row in cells.rows], cells.right)


def aligned_table(columns: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool]) -> str:
    """A table as plain text.

    Args:
        columns: their names.
        rows: the texts of their cells.
        right: which columns stand at the right.

    Example:
        >>> print(aligned_table(["query", "rows"], [["big", "12"], ["rich_days", "1,234"]], [False, True]))
        query       rows
        big           12
        rich_days  1,234
    """
    widths = [max(map(len, cells)) for cells in zip(columns, *rows, strict=True)]
    lines = (
        "  ".join(
            cell.rjust(width) if at_right else cell.ljust(width)
            for cell, width, at_right in zip(row, widths, right, strict=True)
        )
        for row in [columns, *rows]
    )
    return "\n".join(map(str.rstrip, lines))


def is_number(value: object) -> bool:
    """Whether a value is a number; a BOOLEAN is none."""
    return isinstance(value, (Real, Decimal)) and not isinstance(value, bool)


def has_numbers(values: Sequence[Any]) -> bool:
    """Whether all values that are there are numbers, and some are."""
    types = {*map(type, values)} - {type(None), type(pd.NA)}
    return len(types) > 0 and bool not in types and all(issubclass(one, (Real, Decimal)) for one in types)


def rounded_text(value: float | Decimal) -> str:
    """A double, or a decimal of many digits: with six digits after the point, or of what is less than 1.

    Example:
        >>> [rounded_text(value) for value in (3.7784424083769634, 1234567.125, 0.1 + 0.2, 2.0, -1.2345678e-9, 1e22)]
        ['3.778442', '1234567.125', '0.3', '2.0', '-1.23457e-09', '1e+22']
    """
    if (-1 < value < 1 and value) or (isinstance(value, float) and not -1e15 < value < 1e15):
        return f"{value:.6g}"
    text = f"{value:.6f}".rstrip("0")
    return f"{text}0" if text[-1] == "." else text


def _digits(text: str) -> int:
    return 0 if "e" in text else len(text) - 1 - text.find(".")


def _most_digits(texts: Sequence[str]) -> int:
    return min(_DIGITS, max(map(_digits, texts), default=0))


def _double_text(value: float, digits: int) -> str:
    if not math.isfinite(value):
        return ("NULL" if is_null_number(value) else "NaN") if math.isnan(value) else str(value)
    return _padded(rounded_text(value), digits)


def _padded(text: str, digits: int) -> str:
    return text + "0" * (digits - _digits(text)) if "e" not in text else text


def _quoted(text: str) -> str:
    """A text, in quotes where a reader would take it for something else."""
    return f"'{text}'" if text != text.strip() or not text or text.upper() in _MARKS else text


def _nested_text(value: Any) -> str:
    """A list or struct as text: texts in quotes, other values as they are written alone."""
    match value:
        case str():
            return json.dumps(value, ensure_ascii=False)
        case list():
            return f"[{', '.join(map(_nested_text, value))}]"
        case dict():
            return f"{{{', '.join(f'{_nested_text(name)}: {_nested_text(each)}' for name, each in value.items())}}}"
    return value_text(value)


def _scalar_text(value: Any) -> str:
    match value:
        case bool() | np.bool_():
            return str(value).lower()
        case bytes():
            return _quoted(json_text(value))
        case Decimal():
            return format(value, "f")  # Python writes small ones with an exponent
        case dt.timedelta() | pa.MonthDayNano():
            return interval_text(value)
        case pd.DateOffset():
            return interval_text((value.kwds["months"], 0, 0))
    return "NULL" if value is None or value is pd.NA or value is pd.NaT else str(value)
