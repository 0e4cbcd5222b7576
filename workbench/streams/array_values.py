"""Arrays as they are stored, which is a text of JSON for each (``sql/render/stored_arrays``), and as lists of Arrow.

Both ways are exact. A list has the same text here as Spark gives its array, by which they are equal.
"""

from __future__ import annotations

import datetime as dt
import json
import math
from decimal import Decimal
from typing import Any

import pyarrow as pa

from workbench.sql.algebra.interval_values import interval_text
from workbench.sql.algebra.types import DataType, Kind
from workbench.streams.arrow_types import to_shown

_IN_JSON = {Kind.DATE: pa.int32(), Kind.TIMESTAMP: pa.int64(), Kind.INTERVAL: pa.int64()}

_ESCAPES = {
    **{code: f"\\u{code:04X}" for code in range(32)},
    **{ord(char): f"\\{short}" for char, short in zip('"\\\b\t\n\f\r', '"\\btnfr', strict=True)},
}


def to_lists(texts: pa.Array, type_: DataType) -> pa.Array:
    """The lists of stored arrays, NULL for NULL.

    Example:
        >>> from workbench.sql.algebra.types import DATE, array_of
        >>> to_lists(pa.array(["[0,null]", None]), array_of(DATE)).to_pylist()
        [[datetime.date(1970, 1, 1), None], None]
    """
    innermost = _innermost(type_)
    read = json.JSONDecoder(parse_float=Decimal if innermost.kind is Kind.DECIMAL else None).decode
    change = float if innermost.kind is Kind.DOUBLE else Decimal if innermost.kind is Kind.DECIMAL else None
    lists = [None if text is None else _with_values(read(text), change) for text in texts.to_pylist()]
    return pa.array(lists, _arrow_in_json(type_)).cast(to_shown(type_))


def to_texts(lists: pa.Array, type_: DataType) -> pa.Array:
    """The stored texts of arrays; ``lists`` are of the type that ``to_shown`` says.

    Example:
        >>> import datetime as dt
        >>> from workbench.sql.algebra.types import DATE, array_of
        >>> to_texts(pa.array([[dt.date(1970, 1, 1), None], None]), array_of(DATE)).to_pylist()
        ['[0,null]', None]
    """
    plain_lists = lists.cast(_arrow_in_json(type_)).to_pylist()
    return pa.array([None if values is None else _stored(values) for values in plain_lists], pa.string())


def _stored(value: object) -> str:
    """JSON as Spark writes it, with no blanks and as few escapes as there must be."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return f'"{value.translate(_ESCAPES)}"'
        case list():
            return f"[{','.join(map(_stored, value))}]"
        case _:  # a whole number or a Decimal
            return str(value)


def as_shown(column: pa.Array | pa.ChunkedArray, type_: DataType) -> pa.Array | pa.ChunkedArray:
    """A column as answers show it; see ``to_shown``."""
    if type_.kind is Kind.ARRAY:
        return to_lists(column, type_)
    return column.cast(to_shown(type_)) if type_.kind is Kind.INTERVAL else column


def json_text(values: list[Any]) -> str:
    """A list as JSON, for people and files of texts; decimals are texts, which lose no digit, and times ISO 8601's.

    Example:
        >>> import datetime as dt
        >>> json_text([dt.date(2020, 1, 2), None]), json_text([Decimal("1.50")])
        ('["2020-01-02", null]', '["1.50"]')
    """
    return json.dumps(plain(values), ensure_ascii=False)


def plain(value: object) -> object:
    """A value of an answer as JSON has it; decimals are texts, which lose no digit.

    Example:
        >>> plain([Decimal("1.50"), None]), plain(float("nan"))
        (['1.50', None], 'nan')
    """
    match value:
        case list():
            return [plain(each) for each in value]
        case Decimal():
            return str(value)
        case dt.datetime() | dt.date():
            return value.isoformat()
        case dt.timedelta():
            return interval_text(value)
        case float() if not math.isfinite(value):
            return str(value)
    return value


def _with_values(values: list[Any], change: Any) -> list[Any]:
    """A list of JSON with its values as Python has them: NaN and infinities are texts, and a DECIMAL may be whole."""
    if change is None:
        return values
    return [
        _with_values(value, change) if isinstance(value, list) else None if value is None else change(value)
        for value in values
    ]


def _innermost(type_: DataType) -> DataType:
    return type_ if type_.element is None else _innermost(type_.element)


def _arrow_in_json(type_: DataType) -> pa.DataType:
    if type_.element is not None:
        return pa.list_(_arrow_in_json(type_.element))
    return _IN_JSON.get(type_.kind, to_shown(type_))
