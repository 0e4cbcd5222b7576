"""Records, as JSON or Python has them, as rows of a stream; and why one is no row.

A record that is no object, or has a value of another type than its column, is quarantined and never stops the others.
Members that are no columns are kept with the row (``drift``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from workbench.arrow.types import to_data_type
from workbench.errors import StreamError, shown, with_article
from workbench.sql.algebra.column_names import stored_name
from workbench.streams.drift import (
    Differences,
    UnreadableMember,
    absent,
    cached_name,
    members_of_columns,
    more_members,
    more_text,
    named_members,
    record_text,
    shown_type,
)
from workbench.streams.files.envelopes import MEMBERS, member_of
from workbench.streams.files.json_schema import schema_of
from workbench.streams.files.json_values import MORE_FIELD, PLAIN_VALUES, JsonRecord, column_of, number_of
from workbench.streams.source import Chunk, QuarantinedRow

MOST_DEEP = 100
"""Levels of lists and objects in a record; Arrow ends the process where there are some ten thousand."""
_MOST_PARTS = 10_000_000
"""Lists and objects on one level of a record: one that holds itself twice has twice as many on each level."""

_NESTED = (dict, list, tuple, set, frozenset, Mapping)


def as_record(line: bytes) -> JsonRecord | str:
    """The object of a line, or why it has no object."""
    try:
        value = _DECODER.decode(line.decode("utf-8-sig"))
    except _Twice as error:
        return f"it has a member twice: {error}"
    except UnicodeDecodeError as error:
        return f"it is no text in UTF-8: byte {error.object[error.start]:#04x} at {error.start}"
    except json.JSONDecodeError as error:
        place = min(error.pos, len(error.doc.rstrip())) + 1
        return f"it is no JSON: {error.msg.removesuffix(' at')} at its character {place}"
    except ValueError as error:
        return f"it is no JSON: {error}"
    except RecursionError:
        return _TOO_DEEP
    is_shallow = line.count(b"{") + line.count(b"[") <= MOST_DEEP  # most are, and counting is fast
    return value if is_shallow and isinstance(value, dict) else json_record(value)


def json_record(value: object) -> JsonRecord | str:
    """A value that was read as a record, or why it is none."""
    if not isinstance(value, dict):
        return f"it is no JSON object, but {with_article(type(value).__name__)}"
    return within_depth(value)


def json_document(text: str) -> Any:
    """The value of a whole document, in which numbers keep their digits.

    Raises:
        ValueError: it is no JSON, or an object has a member twice.
        RecursionError: it is nested too deep.
    """
    return _DECODER.decode(text)


class _Twice(ValueError):
    """An object has two members of one name, of which only one could be kept."""


def _object(members: list[tuple[str, object]]) -> JsonRecord:
    found = dict(members)
    if len(found) < len(members):
        names = [name for name, _ in members]
        raise _Twice(next(name for name in names if names.count(name) > 1))
    return found


_DECODER = json.JSONDecoder(parse_float=number_of, object_pairs_hook=_object)
_TOO_DEEP = f"its lists and objects are nested more than {MOST_DEEP} deep"


def within_depth(record: JsonRecord) -> JsonRecord | str:
    """A record, or why it is rejected: its values are nested too deep, as those of one that holds itself are.

    Example:
        >>> loop: dict[str, object] = {"id": 1}
        >>> loop["self"] = loop
        >>> within_depth({"id": [1, [2]]}), within_depth(loop)
        ({'id': [1, [2]]}, 'its lists and objects are nested more than 100 deep')
    """
    level: list[object] = [record]
    for _ in range(MOST_DEEP):
        level = [
            part
            for whole in level
            for part in _parts(whole)
            if type(part) not in PLAIN_VALUES and isinstance(part, _NESTED)
        ]
        if not level:
            return record
        if len(level) > _MOST_PARTS:
            break
    return _TOO_DEEP


def _parts(whole: object) -> Iterable[object]:
    if type(whole) is dict or isinstance(whole, Mapping):  # a look at the type is fast
        return whole.values()
    return whole if type(whole) is list or isinstance(whole, Iterable) else ()


_Numbered = tuple[int, object, JsonRecord, str | None]
"""The number of a record, what it was read from, the record, and the text of its members that are no columns."""


def rows_of(records: Sequence[tuple[int, object, JsonRecord | str]], schema: pa.Schema) -> Chunk:
    """Records as rows of a schema; their members that are no columns are in the column ``MORE``.

    Args:
        records: the number of each, what it was read from, and the record, or why it is rejected.
        schema: the columns.

    Example:
        >>> records = [(1, "", {"id": "x"}), (2, "", {"id": 2, "a": 5})]
        >>> chunk = rows_of(records, pa.schema([("id", pa.int64())]))
        >>> chunk.rows.to_pylist(), chunk.quarantined[0].reason, dict(chunk.found.new)
        ([{'id': 2, '_more_members': '{"a": 5}'}], "id: 'x' is no integer", {'a': 'integer'})
    """
    good, quarantined, new = list[_Numbered](), list[QuarantinedRow](), list[Mapping[str, Any]]()
    types, known = {field.name: field.type for field in schema}, members_of_columns(schema)
    columns = {stored_name(name): name for name in schema.names}
    for number, source, given in records:
        record = given if isinstance(given, str) else member_of(given, schema)
        if isinstance(record, str):
            quarantined.append(QuarantinedRow(number, _text(source), record))
            continue
        try:
            more = more_members(record, known)
            if more and any(cached_name(name) in columns for name in more):
                record = _renamed(record, types)
                more = more_members(record, known)
            good.append((number, source, record, more_text(more)))
        except Exception as problem:  # an object of the analyst's may raise whatever it likes
            said = str(problem) if isinstance(problem, UnreadableMember) else "its members cannot be read"
            quarantined.append(QuarantinedRow(number, _text(source), said))
        else:
            new += [named_members(more, columns)] if more else []
    try:
        rows = _rows(good, schema)
    except Exception:  # as below
        good = _fitting(good, schema, quarantined)
        rows = _rows(good, schema)
    there = [record for _, _, record, _ in good]
    gone = dict.fromkeys(absent(there, schema) - {MEMBERS}, len(there)) if there else {}
    found = Differences({field.name: shown_type(field.type) for field in schema_of(new)} if new else {}, gone)
    numbers = np.array([number for number, *_ in good], dtype=np.int64)
    return Chunk(rows, numbers, tuple(sorted(quarantined, key=lambda entry: entry.line)), found)


def _renamed(record: JsonRecord, types: Mapping[str, pa.DataType]) -> JsonRecord:
    """A record whose members have the names of the columns that they are in other letters."""
    columns, found = {stored_name(name): name for name in types}, dict[str, Any]()
    for name, value in record.items():
        known = columns.get(stored_name(name), name)
        known = name if name in types or known in record else known
        if isinstance(value, Mapping) and known in types and pa.types.is_struct(types[known]):
            value = _renamed(value, {inner.name: inner.type for inner in types[known]})
        found[known] = value
    return found


def _fitting(good: Sequence[_Numbered], schema: pa.Schema, quarantined: list[QuarantinedRow]) -> list[_Numbered]:
    """The records whose values are of their columns' types; the others are quarantined.

    They are looked for by halves: one among thousands costs a few conversions, and not one of each record.
    """
    fitting, parts = list[_Numbered](), [good]
    while parts:
        part = parts.pop()
        try:
            _rows(part, schema)
        except Exception:  # an object of the analyst's may raise whatever it likes
            if len(part) > 1:
                middle = len(part) // 2
                parts += [part[middle:], part[:middle]]  # the first half is taken next
                continue
            [(number, source, record, _)] = part
            reason, text, before = _misfit(record, schema), _text(source), len(fitting)
            quarantined.append(QuarantinedRow(number, text, reason, record=record_text(record), number=before))
        else:
            fitting += part
    return fitting


def _misfit(record: JsonRecord, schema: pa.Schema, within: str = "") -> str:
    """Why a record does not fit: the first value that is not of its column's type."""
    for field in schema:
        value = record.get(field.name)
        try:
            column_of([value], field)
        except Exception:
            if pa.types.is_struct(field.type) and isinstance(value, Mapping):
                return _misfit(value, pa.schema(list(field.type)), f"{within}{field.name}.")
            if type(value) is int and pa.types.is_integer(field.type):
                return f"{within}{field.name}: {shown(value)} is beyond the 64 bits of an integer"
            return f"{within}{field.name}: {shown(value)} is no {_type_text(field.type)}"
    return "it does not fit the columns"


def _type_text(type_: pa.DataType) -> str:
    try:
        return str(to_data_type(type_))
    except StreamError:  # the rows within an envelope, which are no values
        return str(type_)


def _text(source: object) -> str:
    if isinstance(source, bytes):
        return source[:1_000].decode(errors="replace").strip()
    try:
        return str(source)
    except Exception:  # an object of the analyst's may not even have a text
        return shown(source)


def _rows(records: Sequence[_Numbered], schema: pa.Schema) -> pa.RecordBatch:
    columns = [column_of(_members([record for _, _, record, _ in records], field.name), field) for field in schema]
    more = [more for *_, more in records]
    if not any(more):
        return pa.RecordBatch.from_arrays(columns, schema=schema)
    return pa.RecordBatch.from_arrays([*columns, pa.array(more, pa.string())], schema=schema.append(MORE_FIELD))


def _members(records: Sequence[JsonRecord], name: str) -> list[object]:
    if name == MEMBERS:
        return [record.get(name, len(record)) for record in records]
    return [record.get(name) for record in records]
