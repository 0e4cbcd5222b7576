"""Arrays, structs, maps and bytes as they are stored, which is a text for each (``sql/functions/stored_values``), and
as Arrow and Python have them.

Both ways are exact. A value has the same text here as Spark gives it, by which they are equal.
"""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.nested import arrow_in_json, intervals_of, read_stored, write_stored
from workbench.arrow.types import to_shown
from workbench.sql.algebra.counted import interval_text
from workbench.sql.algebra.types import DataType, Kind

_FIRST_DAY, _LAST_DAY = ((day - dt.date(1970, 1, 1)).days for day in (dt.date.min, dt.date.max))
_MICROS_OF_DAY = 86_400_000_000


def to_values(texts: pa.Array, type_: DataType) -> pa.Array:
    """The values of stored texts, NULL for NULL.

    Example:
        >>> from workbench.sql.algebra.types import DATE, array_of
        >>> to_values(pa.array(["[0,null]", None]), array_of(DATE)).to_pylist()
        [[datetime.date(1970, 1, 1), None], None]
    """
    chunks = texts.chunks if isinstance(texts, pa.ChunkedArray) else [texts]
    read = pa.chunked_array([read_stored(chunk, type_) for chunk in chunks], arrow_in_json(type_)).combine_chunks()
    return _viewed(read.cast(to_shown(type_, of_entries=True)), to_shown(type_))


def to_texts(values: pa.Array, type_: DataType) -> pa.Array:
    """The stored texts of values, which are of the type that ``to_shown`` says.

    Raises:
        ArrowInvalid: a map has a key twice, or NULL as a key.

    Example:
        >>> import datetime as dt
        >>> from workbench.sql.algebra.types import DATE, array_of
        >>> to_texts(pa.array([[dt.date(1970, 1, 1), None], None]), array_of(DATE)).to_pylist()
        ['[0,null]', None]
    """
    return write_stored(_viewed(values, to_shown(type_, of_entries=True)).cast(arrow_in_json(type_)), type_)


def _viewed(values: pa.Array, arrow: pa.DataType) -> pa.Array:
    """Maps as lists of structs, or back."""
    return values if values.type == arrow else values.view(arrow)


def _hexadecimal(value: bytes) -> str:
    return value.hex().upper()


def as_shown(column: pa.Array | pa.ChunkedArray, type_: DataType) -> pa.Array | pa.ChunkedArray:
    """A column as answers show it; see ``to_shown``."""
    if type_.is_text_when_stored:
        return to_values(column, type_)
    if type_.kind is Kind.MONTHS:
        chunks = [intervals_of(chunk) for chunk in getattr(column, "chunks", [column])]
        return pa.chunked_array(chunks, to_shown(type_)) if isinstance(column, pa.ChunkedArray) else chunks[0]
    return column.cast(to_shown(type_))


def with_plain_months(table: pa.Table) -> pa.Table:
    """A table for files, which have no intervals of years and months: these are the number of their months.

    Example:
        >>> with_plain_months(pa.table({"m": [pa.MonthDayNano([14, 0, 0]), None]})).to_pydict()
        {'m': [14, None]}
    """
    for place, field in enumerate(table.schema):
        plain = _plain_type(field.type)
        if plain != field.type:
            values = [_plain_value(value, field.type) for value in table.column(place).to_pylist()]
            table = table.set_column(place, field.name, pa.array(values, plain))
    return table


def _plain_type(type_: pa.DataType) -> pa.DataType:
    return pa.int64() if type_ == pa.month_day_nano_interval() else with_inner_types(type_, _plain_type)


def with_inner_types(type_: pa.DataType, change: Callable[[pa.DataType], pa.DataType]) -> pa.DataType:
    """A map, list or struct with changed types of what is in it; any other type as it is."""
    if pa.types.is_map(type_):
        return pa.map_(change(type_.key_type), change(type_.item_type))
    if pa.types.is_list(type_):
        return pa.list_(change(type_.value_type))
    return pa.struct([(field.name, change(field.type)) for field in type_]) if pa.types.is_struct(type_) else type_


def _plain_value(value: Any, type_: pa.DataType) -> Any:
    if value is None or _plain_type(type_) == type_:
        return value
    if type_ == pa.month_day_nano_interval():
        return value.months
    if pa.types.is_map(type_):
        return [(key, _plain_value(each, type_.item_type)) for key, each in value]
    if pa.types.is_list(type_):
        return [_plain_value(each, type_.value_type) for each in value]
    return {field.name: _plain_value(value[field.name], field.type) for field in type_}


def json_text(value: object) -> str:
    """A list, struct or map as JSON, for people and files of texts, bytes as hexadecimal digits; see ``json_value``.

    Example:
        >>> import datetime as dt
        >>> json_text([dt.date(2020, 1, 2), None]), json_text([Decimal("1.50")]), json_text(b"a")
        ('["2020-01-02", null]', '["1.50"]', '61')
    """
    found = json_value(value)
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)


def json_value(value: object) -> object:
    """Convert a value of an answer to JSON: decimals become texts, which lose no digit, and times ISO 8601 texts.

    Example:
        >>> json_value([Decimal("1.50"), None]), json_value(float("nan")), json_value({"a": b"a"})
        (['1.50', None], 'nan', {'a': '61'})
    """
    match value:
        case list():
            return [json_value(each) for each in value]
        case dict():
            return {json_text(name): json_value(each) for name, each in value.items()}
        case bytes():
            return _hexadecimal(value)
        case Decimal():
            return format(value, "f")  # without an exponent
        case dt.datetime() | dt.date() | dt.time():
            return value.isoformat()
        case dt.timedelta() | pa.MonthDayNano():
            return interval_text(value)
        case float() if not math.isfinite(value):
            return str(value)
    return value


def as_python(column: pa.Array | pa.ChunkedArray) -> list[Any]:
    """The values of a column as Python has them; maps are dicts, also within lists and structs.

    Python has the years 1 to 9999. A date or time before or after them is its text.

    Example:
        >>> as_python(pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64())))
        [{'a': 1}, None]
        >>> as_python(pa.array([0, 2932897], pa.int32()).cast(pa.date32()))
        [datetime.date(1970, 1, 1), '10000-01-01']
    """
    try:
        values: list[Any] = column.to_pylist(maps_as_pydicts="strict")
    except (ValueError, OverflowError):
        return [_as_python(value) for value in column]
    return values


def as_rows(table: pa.Table) -> list[dict[str, Any]]:
    """The rows of a table, each with its values by the names of the columns, as ``as_python``.

    Example:
        >>> as_rows(pa.table({"a": [1, 2], "b": ["x", None]}))
        [{'a': 1, 'b': 'x'}, {'a': 2, 'b': None}]
    """
    columns = [as_python(column) for column in table.columns]
    return [dict(zip(table.column_names, row, strict=True)) for row in zip(*columns, strict=True)]


def has_in_python(column: pa.Array | pa.ChunkedArray) -> bool:
    """Whether Python has all dates or times of a column.

    Example:
        >>> has_in_python(pa.array([0, 2932897], pa.int32()).cast(pa.date32()))
        False
    """
    unit = 1 if pa.types.is_date(column.type) else _MICROS_OF_DAY
    ends = pc.min_max(column.cast(pa.int32() if unit == 1 else pa.int64()))
    least, most = ends["min"].as_py(), ends["max"].as_py()
    return least is None or (_FIRST_DAY * unit <= least and most < (_LAST_DAY + 1) * unit)


def _as_python(value: pa.Scalar) -> Any:
    match value:
        case pa.MapScalar() if value.is_valid:
            entries = value.values
            return {_as_python(entry["key"]): _as_python(entry["value"]) for entry in entries}
        case pa.ListScalar() if value.is_valid:
            return [_as_python(element) for element in value.values]
        case pa.StructScalar() if value.is_valid:
            return {name: _as_python(value[name]) for name in value}
        case pa.Date32Scalar() | pa.TimestampScalar() if value.is_valid and not has_in_python(pa.array([value])):
            return str(np.datetime64(value.value, "D" if pa.types.is_date(value.type) else "us"))
    return value.as_py()
