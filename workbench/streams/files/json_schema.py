"""The columns that records have, each with the type of most of its values, and none that loses digits."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

import pyarrow as pa

from workbench.arrow.compatible import widest_type
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.types import DATE, MAX_PRECISION, STRING, TIMESTAMP, DataType
from workbench.streams.declared_times import declaration
from workbench.streams.drift import shown_type
from workbench.streams.files.connect_schema import is_schema_part
from workbench.streams.files.envelopes import FLAT_MARKS
from workbench.streams.files.json_values import (
    ENVELOPE,
    JsonRecord,
    WrittenFloat,
    field_of,
    is_as_text,
    is_null_mark,
    text_of,
    time_field,
    with_schema_part,
)
from workbench.streams.files.undeclared import with_guesses
from workbench.streams.guessing import Guess, dates_of, few, guess, read

_NUMBERS = (int, float, WrittenFloat, Decimal)
_MISFITS = (pa.ArrowException, TypeError, ValueError, OverflowError)
"""Errors that a value of another type than its column's raises."""


def schema_of(records: Sequence[JsonRecord]) -> pa.Schema:
    """The columns of records, each of a type that most of its values have."""
    names = list(dict.fromkeys(name for record in records for name in record))
    values = {name: [record.get(name) for record in records] for name in names}
    if values.keys() >= {"before", "after"}:
        # An envelope's rows before and after a change have one type, also where the first ones have no row before.
        values["before"] = values["after"] = values["before"] + values["after"]
    parts = values.pop("schema") if "payload" in values and is_schema_part(values.get("schema", ())) else []
    schema = with_guesses(
        pa.schema([field_of(name, _envelope_type(name, column)) for name, column in values.items()]), values
    )
    said = [part for part in parts if isinstance(part, Mapping)]
    return with_schema_part(schema, said[-1]) if said else schema


def first_columns(records: Sequence[JsonRecord]) -> pa.Schema:
    """The columns, and the fields of structs, that the first of some records has, with the types that all have there.

    Example:
        >>> first_columns([{"a": None, "s": {"n": 1}}, {"a": 0.5, "s": {"n": 1.5, "k": 1}, "b": 1}])
        a: double
        s: struct<n: double>
          child 0, n: double
    """
    schema, first = schema_of(records), schema_of(records[:1])
    return pa.schema([_first_field(field, schema.field(field.name)) for field in first], metadata=schema.metadata)


def _first_field(first: pa.Field, field: pa.Field) -> pa.Field:
    if pa.types.is_struct(first.type) and pa.types.is_struct(field.type):
        return field.with_type(pa.struct([_first_field(inner, field.type.field(inner.name)) for inner in first.type]))
    if pa.types.is_list(first.type) and pa.types.is_list(field.type):
        return field.with_type(pa.list_(_first_field(first.type.value_field, field.type.value_field)))
    return field


def _envelope_type(name: str, values: Sequence[object]) -> pa.DataType:
    """The type of a column, which may be the one that converters put envelopes into."""
    inner = [value for value in values if isinstance(value, dict)] if name in ("payload", "data") else []
    if any("after" in value or "payload" in value for value in inner):
        return pa.struct(list(schema_of(inner)))
    return _type_of(values)


def texts_seen(records: Sequence[JsonRecord], schema: pa.Schema) -> dict[str, Guess]:
    """The apparent types of columns that are read as texts."""
    names = [field.name for field in schema if is_as_text(field)]
    return {name: guess(name, _texts([record.get(name) for record in records])) for name in names}


@dataclass(frozen=True)
class FoundTimes:
    """Where texts of JSON, which has no dates, are dates or times.

    Attributes:
        schema: of the columns; such texts within structs and arrays are dates and times in it.
        seen: how columns of such texts are read.
        said: of each of these texts, by its place.
    """

    schema: pa.Schema
    seen: Mapping[str, Guess] = field(default_factory=dict)
    said: Sequence[str] = ()


def find_times(records: Sequence[JsonRecord], schema: pa.Schema, declared: Container[str] = ()) -> FoundTimes:
    """Find the texts that are dates or times, those within structs and arrays where all that are seen are such.

    Args:
        records: the first ones.
        schema: of their columns. Rows of a change feed, whose source says what their values are, are left as they are.
        declared: stored names of the columns whose types are declared.
    """
    if not {*ENVELOPE, *FLAT_MARKS}.isdisjoint(schema.names):
        return FoundTimes(schema)
    fields, seen, said = list[pa.Field](), dict[str, Guess](), list[str]()
    for column in schema:
        values = [record.get(column.name) for record in records]
        if stored_name(column.name) in declared or is_as_text(column):
            fields.append(column)
        elif pa.types.is_nested(column.type):
            notes = list[tuple[str, bool]]()
            fields.append(_with_times(column, values, column.name, notes))
            kept = declaration(column.name, shown_type(column.type))
            said += [f"{note}; {kept} keeps them" if is_read else note for note, is_read in notes]
        else:
            fields.append(column)
            found = guess(column.name, _texts(values)) if column.type == pa.string() else None
            if found is not None and found.type in (DATE, TIMESTAMP):
                seen[column.name] = replace(found, first=())
                texts, instants = (declaration(column.name, type_) for type_ in ("string", "timestamptz"))
                is_zoned = ", in UTC" in found.why
                kept = f"{instants} keeps the instants, {texts} the texts" if is_zoned else f"{texts} keeps them"
                said.append(f"{column.name}: texts, read as {found.why}; {kept}")
            elif found is not None and ", of dates: " in found.why:
                said.append(f"{column.name}: {found.why}")
    return FoundTimes(pa.schema(fields, schema.metadata), seen, said)


def said_of_undeclared(notes: Iterable[str], declared: Container[str]) -> tuple[str, ...]:
    """What was said of texts (``find_times``), without those of columns that are declared, by their stored names."""
    columns = ((stored_name(note.partition(": ")[0]), note) for note in notes)
    return tuple(note for name, note in columns if name not in declared and name.partition(".")[0] not in declared)


def with_times_of(records: Sequence[JsonRecord], schema: pa.Schema, types: Mapping[str, DataType]) -> pa.Schema:
    """The columns of records, in which texts within structs and arrays are read as the times that a stream has there.

    Args:
        records: of the stream.
        schema: of their columns.
        types: of the stream's columns, by their stored names.
    """
    fields = []
    for column in schema:
        type_ = types.get(stored_name(column.name))
        is_nested = type_ is not None and pa.types.is_nested(column.type)
        values = [record.get(column.name) for record in records] if is_nested else []
        fields.append(_with_times(column, values, column.name, [], type_) if is_nested else column)
    return pa.schema(fields, schema.metadata)


def _with_times(
    column: pa.Field,
    values: Sequence[object],
    path: str,
    notes: list[tuple[str, bool]],
    wanted: DataType | None = None,
) -> pa.Field:
    """A field in which texts are dates and times where all of some values are such.

    Args:
        column: the field.
        values: of it.
        path: where it is.
        notes: gets what is said of texts that are dates or times, and whether they are read as such.
        wanted: the type that its values come to; ``None``: that is open.
    """
    is_, type_ = pa.types, column.type
    parts = {} if wanted is None else dict(wanted.fields)
    if is_.is_struct(type_):
        members = [value for value in values if isinstance(value, Mapping)]
        within = [
            _with_times(f, [m.get(f.name) for m in members], f"{path}.{f.name}", notes, parts.get(stored_name(f.name)))
            for f in type_
        ]
        return column.with_type(pa.struct(within))
    if is_.is_list(type_):
        elements = [one for value in values if isinstance(value, list) for one in value]
        element = None if wanted is None else wanted.element
        return column.with_type(pa.list_(_with_times(type_.value_field, elements, path, notes, element)))
    if not is_.is_string(type_) or is_as_text(column) or (wanted is not None and not wanted.temporal):
        return column
    texts = _texts(values)
    found = guess(path, texts)
    if found.type not in (DATE, TIMESTAMP) or read(texts, found)[1] is not None:
        if found.type == STRING and (ways := " or ".join(map(_reading, dates_of(texts)))):
            notes.append((f"{path}: texts, of dates: {ways} in a query reads them", False))
        return column
    notes.append((f"{path}: texts, read as {found.why}", True))
    return time_field(column, found.type, found.form)


def _reading(declared: str) -> str:
    """How a query of spark reads texts of a declared date or time (``dates_of``)."""
    type_, _, form = declared.partition(" ")
    return f"TO_{type_.upper()}(…, '{form}')"


def _texts(values: Sequence[object]) -> pa.Array:
    """Values as texts; what is none, as half a surrogate pair, is left to the reading of its row."""
    return pa.array([*map(_text_or_none, values)], pa.string())


def _text_or_none(value: object) -> str | None:
    try:
        text = text_of(value)
        return None if text is None or (not text.isascii() and text != text.encode(errors="ignore").decode()) else text
    except TypeError:
        return None


def _type_of(values: Sequence[object]) -> pa.DataType:
    """The type of a column; where values are of several, that of most, and the others are quarantined."""
    if any(type(value) in _NUMBERS for value in values):  # texts that say that there is no number hide none
        values = [value for value in values if not is_null_mark(value)]
    if _are_codes(values):
        return pa.null()
    if (exact := _exact(values)) is not None:
        return exact
    try:
        return _inferred(values)
    except _MISFITS:
        kinds = [_kind(value) for value in values if value is not None]
        most = max(dict.fromkeys(kinds), key=kinds.count)
        if most is int:  # some may have more than 64 bits
            return pa.int64()
        if most is Decimal:  # it has more than 38 digits
            return pa.float64()
        if most is list:
            elements = [one for value in values if isinstance(value, list) for one in value]
            return pa.list_(field_of("item", _type_of(elements)))
        if most is str:  # one may have half a surrogate pair
            return pa.string()
        if most is dict:
            return pa.struct(list(schema_of([value for value in values if isinstance(value, dict)])))
        return _inferred([value for value in values if _kind(value) is most])


def _are_codes(values: Sequence[object]) -> bool:
    """Whether values are texts beside numbers or truth values, as 205 and "E7": each is kept as it stands there.

    A few texts that are no codes are none of a column of numbers, as in CSV.
    """
    there = [value for value in values if value is not None]
    texts = sum(type(value) is str for value in there)
    if not 0 < texts < len(there) or not all(type(value) in (str, bool, *_NUMBERS) for value in there):
        return False
    return texts > few(len(there)) or guess("", _texts(there)).type == STRING


def _kind(value: object) -> type:
    return float if type(value) is WrittenFloat else type(value)


def _exact(values: Sequence[object]) -> pa.DataType | None:
    """The decimal that has all digits of some numbers, where a DOUBLE has not; no type where none has most."""
    there = [value for value in values if value is not None]
    kinds = {*map(_kind, there)}
    if kinds == {int}:
        beyond = sum(not -(1 << 63) <= value < 1 << 63 for value in there)  # type: ignore[operator]
        most = max(len(str(abs(value))) for value in there) if beyond else 0  # type: ignore[arg-type]
        if 2 * beyond <= len(there):
            return None
        return pa.decimal128(MAX_PRECISION, 0) if most <= MAX_PRECISION else pa.null()
    if len(kinds) < 2 or not kinds <= {int, float, Decimal} or not any(map(_is_lossy, there)):
        return None
    numbers = [Decimal(text_of(value) or "") for value in there]
    if not all(number.is_finite() for number in numbers):
        return None
    scale = max(max(0, -int(number.as_tuple().exponent)) for number in numbers)
    digits = max(number.adjusted() + 1 for number in numbers)
    if max(digits, 0) + scale <= MAX_PRECISION:
        return pa.decimal128(MAX_PRECISION, scale)
    return pa.null() if 2 * sum(map(_is_lossy, there)) > len(there) else pa.float64()


def _is_lossy(value: object) -> bool:
    return isinstance(value, Decimal) or (type(value) is int and abs(value) > 1 << 53 and int(float(value)) != value)


def _inferred(values: Sequence[object]) -> pa.DataType:
    return _known(pa.array(values).type)


def _known(type_: pa.DataType) -> pa.DataType:
    """A type whose parts have one, also where no value says which."""
    if pa.types.is_list(type_):
        return pa.list_(_known_field(type_.value_field.with_name("item")))
    return pa.struct([*map(_known_field, type_)]) if pa.types.is_struct(type_) else type_


def _known_field(field: pa.Field) -> pa.Field:
    return field if field.metadata else field_of(field.name, _known(field.type))


def widest_field(field: pa.Field) -> pa.Field:
    """A column of a table as the widest of the types that are one; where its type says nothing, of texts.

    Example:
        >>> [widest_field(pa.field("f", type_)).type for type_ in (pa.null(), pa.int8(), pa.list_(pa.null()))]
        [DataType(string), DataType(int64), ListType(list<item: string>)]
    """
    known = _known_field(field)
    return known.with_type(widest_type(known.type))


def suggested_times(records: Sequence[JsonRecord], schema: pa.Schema) -> Iterator[str]:
    """What declares the columns of texts that are dates or times, as databases have them that have no such types.

    Example:
        >>> [*suggested_times([{"id": 1, "day": "2026-01-31"}], pa.schema([("id", pa.int64()), ("day", pa.string())]))]
        ['day: texts, of dates: --type day=date reads them']
    """
    for column in schema:
        if column.type == pa.string() and not is_as_text(column):
            found = guess(column.name, _texts([record.get(column.name) for record in records]))
            if found.type in (DATE, TIMESTAMP):
                what = declaration(column.name, f"{found.type} {found.form}".strip())
                yield f"{column.name}: texts, of {'dates' if found.type == DATE else 'times'}: {what} reads them"
