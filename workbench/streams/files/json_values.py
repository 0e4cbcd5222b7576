"""Values of JSON, or of Python's, as columns: none of them is changed, and one that is declared is a text.

A number that a float does not keep is a Decimal from the beginning. A column whose type is declared is read as the
texts that stand in the source, and is converted to its type later, as a column of CSV is.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import islice
from numbers import Real
from types import NoneType
from typing import Any

import numpy as np
import pyarrow as pa

from workbench.arrow.types import to_arrow, to_data_type
from workbench.errors import with_article
from workbench.sql.algebra.column_names import display_name, stored_name
from workbench.sql.algebra.types import DataType, Kind
from workbench.streams.convert import NAN_MARKS, NULL_MARKS
from workbench.streams.files.connect_schema import SCHEMA_PART, ConnectType, connect_types
from workbench.streams.files.envelopes import ENVELOPES, MEMBERS, are_envelopes, debezium_schema
from workbench.streams.guessing import Guess, read
from workbench.streams.number_forms import loses_digits

JsonRecord = Mapping[str, Any]

MORE = "_more_members"
"""A column of the members of a row that no column has, as the text of an object; NULL where a row has none."""
MORE_FIELD = pa.field(MORE, pa.string())

_AS_TEXT = {b"as": b"text"}
_AS_DECIMAL = {b"as": b"decimal"}
"""Of a text that may be a decimal in Base64: a number is written with a fraction, which Base64 has not."""
_FORM = b"form"
"""Names how the dates or times of a field are written in the source."""
_WHOLE_DIGITS = 10**15
"""Says of a field that its values are read as the texts that stand in the source."""
ENVELOPE = ("before", "after", "payload")
"""Members of an envelope that have rows."""
_LONGEST_NUMBER = 1_000
"""Digits of a number that is written without an exponent."""


def as_texts(schema: pa.Schema, declared: Mapping[str, DataType]) -> pa.Schema:
    """The columns of records, where those that are declared are read as the texts that stand in the source.

    So nothing of a value is lost before it is converted to the type that is declared, and what the first records have
    there decides nothing.

    Args:
        schema: as the first records suggest it.
        declared: types of columns, by their stored names. Lists, structs and bytes are read as what they are; where the
            first records have none, and maps, as texts of JSON. ``MEMBERS`` among them asks for that column, and
            ``ENVELOPES`` for the columns of envelopes; where records are none, the rows of flattened ones have
            tombstones, too.

    Example:
        >>> from workbench.sql.algebra.types import DOUBLE
        >>> as_texts(pa.schema([("Fee", pa.int64()), ("n", pa.int64())]), {"fee": DOUBLE}).types
        [DataType(string), DataType(int64)]
    """
    is_asked = not {MEMBERS, ENVELOPES}.isdisjoint(declared)
    schema = debezium_schema(schema, ENVELOPES in declared) if is_asked else schema
    counted = MEMBERS in schema.names or (is_asked and not are_envelopes(schema))
    fields = [_as_text(field, declared) for field in schema if field.name != MEMBERS]
    return pa.schema([*fields, *[pa.field(MEMBERS, pa.int64())] * counted], metadata=schema.metadata)


def lacking_columns(schema: pa.Schema, declared: Mapping[str, DataType]) -> list[pa.Field]:
    """The columns that are declared and that no record has so far; those of envelopes are within their rows.

    Example:
        >>> from workbench.sql.algebra.types import DOUBLE
        >>> [field.name for field in lacking_columns(pa.schema([("id", pa.int64())]), {"fee": DOUBLE, "id": DOUBLE})]
        ['fee']
    """
    known = {stored_name(field.name) for field in schema} | {MEMBERS, ENVELOPES}
    if not {"before", "after", "payload"}.isdisjoint(known):
        return []
    return [pa.field(display_name(name), pa.string()) for name in declared if name not in known]


def with_schema_part(schema: pa.Schema, part: JsonRecord) -> pa.Schema:
    """The columns of envelopes with a schema part: it is a text, and says what the values of their rows are.

    Args:
        schema: as the first records suggest it.
        part: of one of them.
    """
    types = connect_types(part)
    metadata = {**_AS_TEXT, SCHEMA_PART: json.dumps(part).encode()}
    own = [_said(field, types) if field.name == "payload" else field for field in schema if field.name != "schema"]
    return pa.schema([pa.field("schema", pa.string(), metadata=metadata), *own])


def _said(field: pa.Field, types: Mapping[str, ConnectType]) -> pa.Field:
    if field.name in ENVELOPE and pa.types.is_struct(field.type):
        return field.with_type(pa.struct([_said(inner, types) for inner in field.type]))
    raw = types[field.name].raw if field.name in types else None
    if raw is None:
        return field
    return pa.field(field.name, raw, metadata=_AS_TEXT if pa.types.is_string(raw) else None)


def _as_text(field: pa.Field, declared: Mapping[str, DataType], within: bool = False) -> pa.Field:
    if field.name in ENVELOPE and pa.types.is_struct(field.type):
        return field.with_type(pa.struct([_as_text(inner, declared, True) for inner in field.type]))
    type_ = declared.get(stored_name(field.name))
    is_read = type_ is not None and type_.kind is not Kind.MAP and type_.is_text_when_stored
    if type_ is None or type_.kind is Kind.BINARY or (is_read and not pa.types.is_string(field.type)):
        return field if type_ is None else _as_written(field)
    metadata = _AS_DECIMAL if within and type_.kind is Kind.DECIMAL else _AS_TEXT
    return pa.field(field.name, pa.string(), metadata=metadata)


def field_of(name: str, type_: pa.DataType) -> pa.Field:
    """A field of a type; where nothing says which, values are kept as the texts that stand in the source.

    So it is of what is NULL at first, and of objects that never have a member.

    Example:
        >>> [field_of("f", type_).type for type_ in (pa.struct([]), pa.null(), pa.int64())]
        [DataType(string), DataType(string), DataType(int64)]
    """
    is_unknown = pa.types.is_null(type_) or (pa.types.is_struct(type_) and not type_.num_fields)
    return pa.field(name, pa.string(), metadata=_AS_TEXT) if is_unknown else pa.field(name, type_)


def time_field(field: pa.Field, type_: DataType, form: str) -> pa.Field:
    """A field of texts within others that are read as dates or times, which JSON has not.

    Args:
        field: of the texts.
        type_: DATE or TIMESTAMP.
        form: how they are written (``guessing``).
    """
    return pa.field(field.name, to_arrow(type_), metadata={_FORM: form.encode()})


def _as_written(field: pa.Field) -> pa.Field:
    """A field in which dates and times are the texts that stand in the source."""
    if _FORM in (field.metadata or {}):
        return pa.field(field.name, pa.string())
    if pa.types.is_struct(field.type):
        return field.with_type(pa.struct([*map(_as_written, field.type)]))
    return field.with_type(pa.list_(_as_written(field.type.value_field))) if pa.types.is_list(field.type) else field


def has_texts(schema: Iterable[pa.Field]) -> bool:
    """Whether there is a field, also within others, whose values are read as texts."""
    return any(
        is_as_text(field)
        or (pa.types.is_struct(field.type) and has_texts(field.type))
        or (pa.types.is_list(field.type) and has_texts([field.type.value_field]))
        for field in schema
    )


def is_as_text(field: pa.Field) -> bool:
    """Whether the values of a column are read as the texts in the source."""
    return (field.metadata or {}).keys() >= _AS_TEXT.keys()


def text_of(value: object) -> str | None:
    """A value as its source writes it, or would write it.

    Example:
        >>> text_of(number_of("1.50")), text_of(True), text_of({"a": [1]}), text_of(None)
        ('1.50', 'true', '{"a": [1]}', None)
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    if isinstance(value, WrittenFloat):
        return value.text
    if isinstance(value, Decimal):
        return f"{value:f}" if value.is_finite() and abs(value.adjusted()) < _LONGEST_NUMBER else str(value)
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, Mapping | list):
        return text_of_json(value)
    if isinstance(value, Real):
        return str(value)
    raise TypeError(f"{with_article(type(value).__name__)} is no text")


def text_of_json(value: Any) -> str:
    """A value as JSON, in which numbers have the digits that they have in the source.

    Example:
        >>> text_of_json({"a": number_of("1.50"), "b": ["x", None]})
        '{"a": 1.50, "b": ["x", null]}'
    """
    match value:
        case Mapping():
            members = (
                f"{json.dumps(str(name), ensure_ascii=False)}: {text_of_json(one)}" for name, one in value.items()
            )
            return "{" + ", ".join(members) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(text_of_json, value)) + "]"
        case WrittenFloat() | Decimal():
            return text_of(value) or ""
        case None | str() | bool() | int() | float():
            return json.dumps(value, ensure_ascii=False)
        case bytes():
            return json.dumps(b64encode(value).decode())
    try:
        return json.dumps(text_of(value), ensure_ascii=False)
    except TypeError:
        return json.dumps(str(value), ensure_ascii=False)


class WrittenFloat(float):
    """A number that a source writes otherwise than Python does, as 1.50; ``text`` is what it writes."""

    text: str


PLAIN_VALUES = frozenset({str, int, float, bool, type(None), Decimal, WrittenFloat})
"""Types of values that have no parts; most values are of one, and a look at the type is fast."""


def number_of(text: str) -> float | Decimal:
    """A number of JSON; a Decimal where a float has not all of its digits.

    Example:
        >>> number_of("0.1"), number_of("12345678901234567.89"), number_of("1e400")
        (0.1, Decimal('12345678901234567.89'), Decimal('1E+400'))
    """
    value = float(text)
    if repr(value) == text:
        return value
    if loses_digits(text):
        return Decimal(text)
    written = WrittenFloat(value)
    written.text = text
    return written


def column_of(values: Sequence[object], field: pa.Field) -> pa.Array:
    """Python's values as a column, none of them changed.

    Raises:
        ValueError, pa.ArrowException: a value is of another type; also 2.5 for a whole number, which Arrow cuts to 2,
            a time for a date, and true for a number, which it makes 1.

    Example:
        >>> column_of([1, 2.0, None], pa.field("n", pa.int64())).to_pylist()
        [1, 2, None]
    """
    values, type_ = _prepared(values, field), field.type
    _check_values(values, type_)
    return pa.array(values, type_)


def _prepared(values: Sequence[Any], field: pa.Field) -> Sequence[Any]:
    """Values as Arrow takes them for a field: texts, floats for decimals that are such, and decimals for numbers."""
    is_, type_ = pa.types, field.type
    if (is_.is_integer(type_) or is_.is_floating(type_)) and any(type(value) is str for value in values):
        values = [_without_mark(value, type_) if type(value) is str else value for value in values]
    if is_as_text(field):
        with_fraction = field.metadata[b"as"] == b"decimal"
        return [f"{v}.0" if with_fraction and _is_short_number(v) else text_of(v) for v in values]
    if is_.is_floating(type_) and any(isinstance(value, Decimal) for value in values):
        return [_float(value) if isinstance(value, Decimal) else value for value in values]
    if is_.is_decimal(type_):
        return [_decimal(value) if type(value) in _PLAIN_NUMBERS else value for value in values]
    if _FORM in (field.metadata or {}):
        return _times(values, type_, field.metadata[_FORM].decode())
    if is_.is_struct(type_) and any(map(_needs_more, type_)):
        return _prepared_structs(values, type_)
    if is_.is_list(type_) and _needs_more(type_.value_field):
        inner = [one for value in values if isinstance(value, list) for one in value]
        elements = iter(_prepared(inner, type_.value_field))
        return [[*islice(elements, len(value))] if isinstance(value, list) else value for value in values]
    return values


def is_null_mark(value: object) -> bool:
    """Whether a value is a text, such as N/A, for a missing number.

    Example:
        >>> [is_null_mark(value) for value in ("N/A", "NaN", "-", "x", None, 0)]
        [True, True, True, False, False, False]
    """
    return isinstance(value, str) and _NO_NUMBER.fullmatch(value) is not None


_NO_NUMBER = re.compile(f"{NULL_MARKS}|{NAN_MARKS}")


def _without_mark(value: str, type_: pa.DataType) -> object:
    """Nothing, or NaN of a DOUBLE, in the place of a text that says so; another text stays, and does not fit."""
    if not is_null_mark(value):
        return value
    return float("nan") if pa.types.is_floating(type_) and re.match(NAN_MARKS, value) else None


def _is_short_number(value: object) -> bool:
    return type(value) is int and abs(value) < _WHOLE_DIGITS


_PLAIN_NUMBERS = (int, float, WrittenFloat)


def _needs_more(field: pa.Field) -> bool:
    is_, type_ = pa.types, field.type
    return is_.is_primitive(type_) or is_.is_decimal(type_) or is_.is_nested(type_) or bool(field.metadata)


def _prepared_structs(values: Sequence[Any], type_: pa.StructType) -> Sequence[Any]:
    members = [value for value in values if isinstance(value, Mapping)]
    columns = [_prepared([member.get(inner.name) for member in members], inner) for inner in type_]
    names = [inner.name for inner in type_]
    prepared = iter([dict(m) | dict(zip(names, own, strict=True)) for m, *own in zip(members, *columns, strict=True)])
    return [next(prepared) if isinstance(value, Mapping) else value for value in values]


def _times(values: Sequence[object], type_: pa.DataType, form: str) -> Sequence[object]:
    """Texts as the dates or times that they are."""
    texts = pa.array([*map(text_of, values)], pa.string())
    times, misfit = read(texts, Guess("", to_data_type(type_), "", form=form))
    if misfit is not None:
        raise ValueError(f"{texts[int(misfit.argmax())]} is no date or time")
    found: list[object] = times.to_pylist()
    return found


def _float(value: Decimal) -> float:
    if value.is_finite() and loses_digits(str(value)):
        raise ValueError(f"a double does not keep the digits of {value}")
    return float(value)


def _decimal(value: float) -> Decimal:
    return Decimal(text_of(value) or "")


def _check_values(values: Sequence[object], type_: pa.DataType) -> None:
    if pa.types.is_integer(type_) and not {type(value) for value in values} <= {int, NoneType}:
        for value in values:
            if not _is_whole(value):
                raise ValueError(f"{value} is no whole number")
    elif pa.types.is_date(type_):
        if late := next(
            (value for value in values if isinstance(value, dt.datetime) and value.time() != dt.time()), None
        ):
            raise ValueError(f"{late} is no date")  # Arrow would leave out the time of day
    elif pa.types.is_floating(type_):
        if any(isinstance(value, bool | np.bool_) for value in values):
            raise ValueError("true and false are no numbers")
    elif pa.types.is_struct(type_):
        inner = [value for value in values if isinstance(value, Mapping)]
        for field in type_:
            _check_values([value.get(field.name) for value in inner], field.type)
    elif pa.types.is_list(type_):
        if text := next((value for value in values if isinstance(value, str | bytes)), None):
            raise ValueError(f"{text!r} is no list")  # Arrow would take its characters for the elements
        _check_values([one for value in values if isinstance(value, list) for one in value], type_.value_type)


def _is_whole(value: object) -> bool:
    """Of a number; of other texts Arrow says that they are no numbers."""
    if isinstance(value, Decimal):
        return value.is_finite() and value == value.to_integral_value()
    return not isinstance(value, Real) or value == value // 1
