"""Guesses the types of Debezium's values without a schema part; a guess is shown and changes no value.

Debezium writes days and times as numbers since 1970, and decimals as the Base64 of their digits, unless its connector
says ``decimal.handling.mode`` or Kafka Connect's converter writes schemas. Of other records it is said which columns
have no type so far.
"""

from __future__ import annotations

import re
from base64 import b64encode
from binascii import Error, a2b_base64
from collections.abc import Iterable, Iterator, Mapping, Sequence

import pyarrow as pa

from workbench.sql.algebra.column_names import stored_name
from workbench.streams.files.envelopes import FLAT_MARKS
from workbench.streams.files.json_values import is_as_text

_SEEMS = b"seems"
_ROWS = ("before", "after")
_DAY_NAMES = re.compile(r"(^|_)(day|date|dob|birthday|birthdate|on|due|since|until|from|to)(_|$)|date$|day$")
_TIME_NAMES = re.compile(r"(^|_)(at|ts|time|timestamp|when|date|created|updated|modified|since|until)(_|$)|time$|date$")
_MOST_DAYS = 60_000
"""The year 2134; a number of days since 1970 is hardly ever more."""
_UNITS = (("ms", 10**11, 10**13), ("us", 10**14, 10**16), ("ns", 10**17, 10**19))
"""What times between 1973 and 2286 are in a unit."""
_MOST_DIGITS = 16
"""Bytes that a decimal of 38 digits has."""
_NO_NAME = re.compile(r"[a-z].*[A-Z]|[0-9+/]")


def with_guesses(schema: pa.Schema, values: Mapping[str, Sequence[object]]) -> pa.Schema:
    """The columns of records, those of Debezium with what their values seem to stand for.

    Args:
        schema: of the records.
        values: of each column.
    """
    names = {*values}
    if "op" in names and names & {*_ROWS}:
        return pa.schema([_guessed_within(f, values[f.name]) if f.name in _ROWS else f for f in schema])
    if names.isdisjoint(FLAT_MARKS):
        return schema
    return pa.schema([_guessed(field, values[field.name]) for field in schema])


def _guessed_within(rows: pa.Field, values: Sequence[object]) -> pa.Field:
    if not pa.types.is_struct(rows.type):
        return rows
    there = [row for row in values if isinstance(row, dict)]
    return rows.with_type(pa.struct([_guessed(field, [row.get(field.name) for row in there]) for field in rows.type]))


def _guessed(field: pa.Field, values: Sequence[object]) -> pa.Field:
    seems = seeming_type(field.name, values) if not field.metadata else ""
    return field.with_metadata({_SEEMS: seems.encode()}) if seems else field


def seeming_type(name: str, values: Sequence[object]) -> str:
    """The type that declares a column to be what its values seem to stand for; ``""``: what they are.

    Example:
        >>> seeming_type("ship_date", [19000, None]), seeming_type("n", [19000]), seeming_type("fee", ["BAg="])
        ('date', '', 'decimal(38,2)')
    """
    there = [value for value in values if value is not None]
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    if there and all(type(value) is int for value in there):
        numbers = [value for value in there if isinstance(value, int)]
        if _DAY_NAMES.search(words) and all(0 <= value <= _MOST_DAYS for value in numbers) and max(numbers) > 366:
            return "date"
        units = [unit for unit, low, high in _UNITS if all(low <= value < high for value in numbers)]
        return f"timestamp {units[0]}" if units and _TIME_NAMES.search(words) else ""
    if there and all(map(_is_variable, there)):
        return f"decimal(38,{max(value['scale'] for value in there if isinstance(value, dict))})"
    return "decimal(38,2)" if there and all(map(_is_base64, there)) and any(map(_is_no_text, there)) else ""


def _is_variable(value: object) -> bool:
    """Whether it is a decimal with a scale of its own, as Oracle's NUMBER."""
    return (
        isinstance(value, dict)
        and value.keys() == {"scale", "value"}
        and _is_base64(value["value"])
        and (type(value["scale"]) is int and 0 <= value["scale"] <= 2 * _MOST_DIGITS)
    )


def _is_base64(value: object) -> bool:
    try:
        return (
            isinstance(value, str)
            and 0 < len(a2b_base64(value, strict_mode=True)) <= _MOST_DIGITS
            and (b64encode(a2b_base64(value)).decode() == value)
        )
    except (Error, ValueError):
        return False


def _is_no_text(value: object) -> bool:
    return str(value).endswith("=") or _NO_NAME.search(str(value)) is not None


def notes_of(fields: Iterable[pa.Field]) -> Iterator[str]:
    """The lines about columns whose values look like other types, which must be declared."""
    for field in fields:
        if seems := (field.metadata or {}).get(_SEEMS, b"").decode():
            what = "Base64, as decimals are" if seems.startswith("decimal") else f"numbers since 1970, as a {seems} is"
            scale = ", with the scale that it has" if seems.startswith("decimal") else ""
            yield (
                f"{field.name}: its values look like {what} without a schema part; "
                f"--type {field.name}='{seems}' declares it{scale}, and nothing is changed until then"
            )


def notes_of_untyped(schema: pa.Schema, given: Mapping[str, str]) -> Iterator[str]:
    """What is said of columns of records whose first values say no type, or several, and that are not declared."""
    declared_ = {*map(stored_name, given)}
    for field in schema:
        if is_as_text(field) and stored_name(field.name) not in declared_:
            yield (
                f"{field.name}: its first values are NULL or of several types, and kept as the texts that stand there; "
                f"--type {field.name}=… declares it"
            )
