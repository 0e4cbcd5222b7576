"""Arrow's types and the kinds of the workbench, both ways; times of Arrow columns as whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from workbench.errors import SqlError, StreamError
from workbench.sql.algebra.types import (
    BINARY,
    BOOLEAN,
    COUNTED,
    DATE,
    DOUBLE,
    INSTANT,
    INTEGER,
    INTERVAL,
    MAX_PRECISION,
    MONTHS,
    STRING,
    TIME,
    TIMESTAMP,
    DataType,
    Kind,
    array_of,
    decimal,
    map_of,
    parse_expression_type,
    refuse_number,
    struct_of,
)
from workbench.sql.algebra.zones import UTC

Times = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

_TYPE = b"argus.type"
"""Metadata of a field: the type of a column that stores something else."""
_FIXED: dict[Kind, Any] = {
    Kind.BOOLEAN: pa.bool_(),
    Kind.INTEGER: pa.int64(),
    Kind.DOUBLE: pa.float64(),
    Kind.STRING: pa.string(),
    Kind.DATE: pa.date32(),
    Kind.TIMESTAMP: pa.timestamp("us"),
    **dict.fromkeys(COUNTED, pa.int64()),
    **dict.fromkeys((Kind.BINARY, Kind.ARRAY, Kind.STRUCT, Kind.MAP), pa.string()),
}
_SHOWN: dict[Kind, Any] = {
    Kind.INTERVAL: pa.duration("us"),
    Kind.MONTHS: pa.month_day_nano_interval(),
    Kind.TIME: pa.time64("us"),
}


def filled(values: pa.Array, nothing: object) -> pa.Array:
    """Replace NULLs by ``nothing``. Most columns have none, and asking Arrow takes longer than looking.

    Example:
        >>> filled(pa.array([1, None]), 0).to_pylist()
        [1, 0]
    """
    return values.fill_null(nothing) if values.null_count else values


def unscaled_integers(numbers: pa.Array, word: int = 0) -> npt.NDArray[np.int64]:
    """Integers, or a word of the unscaled integers of decimals, of 64 bits; anything in place of NULL."""
    words, width = np.frombuffer(numbers.buffers()[1], dtype=np.int64), 1 + pa.types.is_decimal(numbers.type)
    return words[width * numbers.offset + word : width * (numbers.offset + len(numbers)) : width]


def to_data_type(arrow: pa.DataType) -> DataType:
    """The workbench's type for values of an Arrow type.

    Every integer becomes INTEGER (unsigned 64 bit decimal(20,0), so that nothing overflows), every binary float
    DOUBLE, a dictionary what its values are, a column of only NULLs STRING.

    Raises:
        StreamError: no kind of the workbench holds the type; the hint says what to try.

    Example:
        >>> str(to_data_type(pa.decimal128(15, 2))), str(to_data_type(pa.int16()))
        ('decimal(15,2)', 'integer')
    """
    is_ = pa.types
    if is_.is_dictionary(arrow):
        return to_data_type(arrow.value_type)
    if is_.is_list(arrow) or is_.is_large_list(arrow) or is_.is_fixed_size_list(arrow):
        return array_of(to_data_type(arrow.value_type))
    if is_.is_struct(arrow) or is_.is_map(arrow):
        return _type_with_parts(arrow)
    if is_.is_uint64(arrow):
        return decimal(20, 0)
    if is_.is_decimal(arrow):
        return _decimal_type(arrow)
    for test, type_ in (
        (is_.is_boolean, BOOLEAN),
        (is_.is_integer, INTEGER),
        (is_.is_floating, DOUBLE),
        (is_.is_string, STRING),
        (is_.is_large_string, STRING),
        (is_.is_string_view, STRING),
        (is_.is_null, STRING),
        (is_.is_binary, BINARY),
        (is_.is_large_binary, BINARY),
        (is_.is_fixed_size_binary, BINARY),
        (is_.is_binary_view, BINARY),
        (is_.is_date, DATE),
        (lambda arrow: is_.is_timestamp(arrow) and arrow.tz is not None, INSTANT),
        (is_.is_timestamp, TIMESTAMP),
        (is_.is_time, TIME),
        (is_.is_duration, INTERVAL),
    ):
        if test(arrow):
            return type_
    raise StreamError(f"values of type {arrow} cannot be used in queries", hint=_what_to_try(arrow))


def to_column_type(text: str) -> DataType:
    """The type of a stream's column by its name.

    Raises:
        SqlError: there is no such type, or no stream has it.

    Example:
        >>> str(to_column_type("array<varchar>"))
        'array<string>'
    """
    refuse_number(text)
    type_ = parse_expression_type(text)
    if has_months(type_):
        raise SqlError(
            "no stream has a column of years and months", hint="have the number of months, m * INTERVAL '1' MONTH"
        )
    return type_


def has_months(type_: DataType) -> bool:
    """Whether values of a type are intervals of years and months, or have such in them."""
    return MONTHS in type_.walk()


def to_field(name: str, type_: DataType) -> pa.Field:
    """A stored column; the field of values that are stored as those of another type says of which type they are."""
    says = type_.is_text_when_stored or type_ == INSTANT or type_.counted
    return pa.field(name, to_arrow(type_), metadata={_TYPE: str(type_)} if says else None)


def type_of_field(field: pa.Field) -> DataType:
    """The type of a stored column.

    Example:
        >>> str(type_of_field(to_field("tags", array_of(STRING))))
        'array<string>'
    """
    text = (field.metadata or {}).get(_TYPE)
    return to_data_type(field.type) if text is None else parse_expression_type(text.decode())


def to_arrow(type_: DataType) -> pa.DataType:
    """The Arrow type that holds values of a workbench type.

    Example:
        >>> to_arrow(TIMESTAMP)
        TimestampType(timestamp[us])
    """
    if type_.kind is Kind.DECIMAL:
        return pa.decimal128(type_.precision, type_.scale)
    return _FIXED[type_.kind]


def to_shown(type_: DataType, of_entries: bool = False) -> pa.DataType:
    """The Arrow type in which answers give values: of an INTERVAL, which is stored as its microseconds, a duration, of
    one of months, an interval, of a TIME, a time of the day, of an instant, which is stored as the time of UTC, one
    with a zone, of an ARRAY, STRUCT, MAP or BINARY, which are stored as texts, a list, a struct, a map or bytes.

    With ``of_entries`` maps are lists of structs, which Arrow casts and of which a map is a view.

    Example:
        >>> to_shown(INTERVAL)
        DurationType(duration[us])
    """
    if type_.kind is Kind.MAP and not of_entries:
        return pa.map_(*map(to_shown, type_.key_and_value))
    if type_.element is not None:
        return pa.list_(to_shown(type_.element, of_entries))
    if type_.fields:
        return pa.struct([(name, to_shown(field, of_entries)) for name, field in type_.fields])
    if type_ == BINARY:
        return pa.binary()
    if type_ == INSTANT:
        return pa.timestamp("us", UTC)
    return _SHOWN.get(type_.kind) or to_arrow(type_)


def times_of(column: pa.Array) -> tuple[Times, Mask]:
    """The times of rows as whole numbers (``workbench.sql.windows.stream_time.as_number``), and which rows have one."""
    known = np.asarray(column.is_valid())
    if pa.types.is_date(column.type):
        column = column.cast(pa.int32())
    numbers = filled(column.cast(pa.int64()), 0).to_numpy(zero_copy_only=False)
    return numbers, known


def _type_with_parts(arrow: pa.DataType) -> DataType:
    try:
        if pa.types.is_map(arrow):
            return map_of(to_data_type(arrow.key_type), to_data_type(arrow.item_type))
        return struct_of([(field.name, to_data_type(field.type)) for field in arrow])
    except (SqlError, StreamError) as error:
        raise StreamError(f"values of type {arrow}: {error.message}", hint=error.hint) from error


def _decimal_type(arrow: pa.DataType) -> DataType:
    """Negative scales become trailing zeros, scales beyond the precision leading ones; Spark knows neither."""
    precision = max(arrow.precision - min(arrow.scale, 0), arrow.scale)
    if precision > MAX_PRECISION:
        raise StreamError(f"values of type {arrow} have more than {MAX_PRECISION} digits", hint=_what_to_try(arrow))
    return DataType(Kind.DECIMAL, precision, max(arrow.scale, 0))


def _what_to_try(arrow: pa.DataType) -> str:
    if pa.types.is_nested(arrow):
        return "flatten it into plain columns, or leave it out"
    if pa.types.is_decimal(arrow):
        return f"cast it to a decimal of at most {MAX_PRECISION} digits, to double or to string"
    return "cast it to string, or leave it out"
