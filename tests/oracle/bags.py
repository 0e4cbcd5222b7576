"""Bags of rows, compared: exactly where both sides are exact, within a tolerance where one of them is binary.

A row is a tuple of plain Python values; ``None`` is NULL, and NaN is the one object ``NAN``, so that it equals itself.
In a column of floats of an answer, NULL is a NaN with bits of its own (``nulls_of``).
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from decimal import Decimal
from typing import TypeGuard

import pandas as pd

from workbench.arrow.frames import is_null_number

Row = tuple[object, ...]
RELATIVE = 1e-9
NAN = math.nan
compared: Counter[str] = Counter()
"""How many answers and rows were compared in this process, for the page on trust."""


def plain(value: object) -> object:
    """A value as plain Python, the same for what pandas and DuckDB make of it."""
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, float) and math.isnan(value):
        return None if is_null_number(value) else NAN
    if isinstance(value, list):
        return tuple(map(plain, value))
    if isinstance(value, dict):  # a map, or a struct, of which names of fields are of any case in DuckDB
        return tuple((name.lower() if isinstance(name, str) else name, plain(each)) for name, each in value.items())
    if is_beyond_python(value):
        return value.replace("T", " ")
    return _python_time(value) if isinstance(value, pd.Timestamp) else value


def is_beyond_python(value: object) -> TypeGuard[str]:
    """Whether it is a day or a time after the year 9999 as answers show it, which is ISO's text."""
    return isinstance(value, str) and re.match(r"\d{5,}-\d\d-\d\d(T|$)", value) is not None


def _python_time(value: pd.Timestamp) -> object:
    """A time as Python's, or beyond the year 9999, which Python does not have, as DuckDB gives it: a text."""
    try:
        return value.to_pydatetime()
    except ValueError:
        return str(value)


def rows(values: Iterable[Iterable[object]]) -> list[Row]:
    """Rows with plain values."""
    return [tuple(map(plain, row)) for row in values]


def frame_rows(frame: pd.DataFrame) -> list[Row]:
    """The rows of a pandas frame; columns are taken by position, since names may repeat."""
    columns = [frame.iloc[:, i].tolist() for i in range(frame.shape[1])]
    return rows(zip(*columns, strict=True))


def difference(found: Iterable[Row], expected: Iterable[Row], zero: float = 0.0) -> tuple[list[Row], list[Row]]:
    """Rows that are missing and rows that are too many; both empty when the bags are equal.

    Args:
        found: rows.
        expected: rows.
        zero: binary numbers that are not farther apart are equal.
    """
    left, right = Counter(found), Counter(expected)
    compared.update(answers=1, rows=right.total())
    too_many, missing = list((left - right).elements()), list((right - left).elements())
    inexact = {i for row in (*too_many, *missing) for i, value in enumerate(row) if _is_inexact(value)}
    if not inexact or not too_many or not missing:
        return missing, too_many
    return _paired(missing, too_many, inexact, zero)


def _paired(missing: list[Row], too_many: list[Row], inexact: set[int], zero: float) -> tuple[list[Row], list[Row]]:
    """What is left when rows that are equal but for rounding are paired off."""
    candidates: dict[Row, list[Row]] = defaultdict(list)
    for row in too_many:
        candidates[_exact_part(row, inexact)].append(row)
    unpaired = []
    for row in missing:
        near = candidates[_exact_part(row, inexact)]
        match = next((other for other in near if all(_close(row[i], other[i], zero) for i in inexact)), None)
        if match is None:
            unpaired.append(row)
        else:
            near.remove(match)
    return unpaired, [row for rows_ in candidates.values() for row in rows_]


def _exact_part(row: Row, inexact: set[int]) -> Row:
    return tuple(value for i, value in enumerate(row) if i not in inexact)


def _is_inexact(value: object) -> bool:
    """Whether it is a binary number, or an array or a struct with one in it."""
    return isinstance(value, float) or (isinstance(value, tuple) and any(map(_is_inexact, value)))


def _close(a: object, b: object, zero: float) -> bool:
    if a is None or b is None or a is NAN or b is NAN:
        return a is b
    if a == b:
        return True
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(_close(one, other, zero) for one, other in zip(a, b, strict=True))
    if not (isinstance(a, int | float | Decimal) and isinstance(b, int | float | Decimal)):
        return False
    return math.isclose(float(a), float(b), rel_tol=RELATIVE, abs_tol=max(zero, _half_unit(a), _half_unit(b)))


def _half_unit(value: int | float | Decimal) -> float:
    """Half a unit in the last digit of a decimal: an exact type rounds there, where DOUBLE does not."""
    if not isinstance(value, Decimal):
        return 0.0
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    return 0.5000001 * 10.0**exponent
