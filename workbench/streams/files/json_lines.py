"""JSON lines as chunks of rows: one object a line, its members the columns, in the order in which they first come.

The columns and their types are those of the first lines. A line that is no object, or has a value of another type, is
quarantined and never stops the others. A member that the first lines do not have is quarantined with its line, since
leaving it out would lose it without a word.
"""

from __future__ import annotations

import json
import re
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from decimal import Decimal
from io import BufferedIOBase
from itertools import chain, islice
from pathlib import Path

import numpy as np
import pyarrow as pa

from workbench.arrow.types import to_data_type
from workbench.errors import StreamError, shown, with_article
from workbench.sql.algebra.types import MAX_PRECISION, DataType
from workbench.streams.files.connect_schema import is_schema_part
from workbench.streams.files.envelopes import MEMBERS, member_of
from workbench.streams.files.json_values import (
    JsonRecord,
    WrittenFloat,
    as_texts,
    column_of,
    field_of,
    is_as_text,
    number_of,
    text_of,
    with_schema_part,
)
from workbench.streams.files.opening import SourceFile
from workbench.streams.files.undeclared import with_guesses
from workbench.streams.files.urls import UrlFile
from workbench.streams.guessing import Guess, guess
from workbench.streams.log import CHUNK_ROWS
from workbench.streams.source import Chunk, OpenedSource, QuarantinedRow

_MAYBE_ARRAYS = (".json", ".json.gz")
ENDINGS = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz", *_MAYBE_ARRAYS)
SAMPLE_LINES = 10_000
"""Lines that columns and types are inferred from."""

LONGEST_JSON_LINE = 1 << 24
"""Bytes of a line; a longer one is quarantined, and not all of it is ever in memory."""
MOST_DEEP = 100
"""Levels of lists and objects in a record; Arrow ends the process where there are some ten thousand."""
_MOST_PARTS = 10_000_000
"""Lists and objects on one level of a record: one that holds itself twice has twice as many on each level."""

_NESTED = (Mapping, list, tuple, set, frozenset)
_MISFITS = (pa.ArrowException, TypeError, ValueError, OverflowError)
"""Errors that a value of another type than its column's raises."""


def open_json_lines(
    path: Path | UrlFile,
    stack: ExitStack,
    schema: pa.Schema | None = None,
    declared: Mapping[str, DataType] | None = None,
) -> OpenedSource:
    """Opens a file of JSON lines, of an array of objects, or of objects over several lines, in UTF-8, maybe gzipped.

    Args:
        path: of the file.
        stack: closes it.
        schema: the columns, where files before have told them; ``None``: those of the first lines.
        declared: types of columns, by their stored names.

    Raises:
        StreamError: the columns are not known, and none of the first lines is an object.
    """
    file = stack.enter_context(SourceFile(path))
    lines = _elements(file) if _is_whole(path) else _lines(file)
    numbered = ((number, line) for number, line in enumerate(lines, 1) if line.strip())
    if schema is not None:
        return OpenedSource(schema, _chunks(numbered, schema))
    sample = [*islice(numbered, SAMPLE_LINES)]
    records = [record for _, line in sample for record in [line_record(line)] if not isinstance(record, str)]
    if not records:
        number, reason = next(((number, line_record(line)) for number, line in sample), (1, "it is empty"))
        message = f"{path} has no line that is a JSON object; line {number}: {reason}"
        raise StreamError(message, hint='a line is like {"id": 1, "amount": 2.5}')
    schema = as_texts(schema_of(records), declared or {})
    if not schema.names:
        raise StreamError(f"the objects of {path} have no members", hint='a line is like {"id": 1, "amount": 2.5}')
    seen = texts_seen(records, schema)
    return OpenedSource(schema, _chunks(chain(sample, numbered), schema), seen, share=lambda: file.share)


def texts_seen(records: Sequence[JsonRecord], schema: pa.Schema) -> dict[str, Guess]:
    """What the columns seem to be that are read as texts."""
    names = [field.name for field in schema if is_as_text(field)]
    return {name: guess(name, _texts([record.get(name) for record in records])) for name in names}


def _texts(values: Sequence[object]) -> pa.Array:
    """Values as texts; what is none, as half a surrogate pair, is left to the reading of its row."""
    return pa.array([*map(_text_or_none, values)], pa.string())


def _text_or_none(value: object) -> str | None:
    try:
        text = text_of(value)
        return None if text is None or (not text.isascii() and text != text.encode(errors="ignore").decode()) else text
    except TypeError:
        return None


def as_record(line: bytes) -> JsonRecord | str:
    """The object of a line, or why it has no object."""
    try:
        record = _DECODER.decode(line.decode("utf-8-sig"))
    except _Twice as error:
        return f"it has a member twice: {error}"
    except UnicodeDecodeError as error:
        return f"it is no text in UTF-8: byte {error.object[error.start]:#04x} at {error.start}"
    except ValueError as error:
        return f"it is no JSON: {error}"
    except RecursionError:
        return _TOO_DEEP
    if not isinstance(record, dict):
        return f"it is no JSON object, but {with_article(type(record).__name__)}"
    return within_depth(record)


class _Twice(ValueError):
    """An object has two members of one name, of which only one could be kept."""


def _object(members: list[tuple[str, object]]) -> JsonRecord:
    found = dict(members)
    if len(found) < len(members):
        names = [name for name, _ in members]
        raise _Twice(next(name for name in names if names.count(name) > 1))
    return found


_BETWEEN = re.compile(r"[\s,]*")
_DECODER = json.JSONDecoder(parse_float=number_of, object_pairs_hook=_object)
_TOO_DEEP = f"its lists and objects are nested more than {MOST_DEEP} deep"


def line_record(line: bytes) -> JsonRecord | str:
    """The object of a line of a file or socket, or why it has none; a line that is too long is cut here."""
    return as_record(line) if len(line) < LONGEST_JSON_LINE else f"its line has more than {LONGEST_JSON_LINE:,} bytes"


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
        level = [part for whole in level for part in _parts(whole) if isinstance(part, _NESTED)]
        if not level:
            return record
        if len(level) > _MOST_PARTS:
            break
    return _TOO_DEEP


def _parts(whole: object) -> Iterable[object]:
    return whole.values() if isinstance(whole, Mapping) else whole if isinstance(whole, Iterable) else ()


def _is_whole(path: Path | UrlFile) -> bool:
    """Whether a file is an array, or objects over several lines each; where its name leaves that open."""
    if not path.name.lower().endswith(_MAYBE_ARRAYS):
        return False
    with SourceFile(path) as file:
        first = file.read(1_000).removeprefix(BOM_UTF8).lstrip()
    return first.startswith(b"[") or re.match(rb"\{[ \t]*\r?\n", first) is not None


def _elements(file: BufferedIOBase) -> Iterator[bytes]:
    """The objects of an array, or those of a file one after the other, as lines; the file is in memory."""
    try:
        text = file.read().decode("utf-8-sig")
    except (UnicodeDecodeError, EOFError, OSError, zlib.error) as error:
        raise StreamError(f"the array cannot be read: {error}", hint="copy or write the file again") from error
    decoder, at = json.JSONDecoder(), len(text) - len(text.lstrip())
    at += text[at] == "["
    while (at := _BETWEEN.match(text, at).end()) < len(text):  # type: ignore[union-attr]
        if text[at] == "]" and not text[at + 1 :].strip():
            return
        try:
            _, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = len(text)  # what is wrong is said of it
        yield text[at:end].encode()
        at = end


def _lines(file: BufferedIOBase) -> Iterator[bytes]:
    """The lines of a file; of one that is too long its beginning."""
    while line := file.readline(LONGEST_JSON_LINE):
        yield line
        while len(line) == LONGEST_JSON_LINE and not line.endswith(b"\n"):
            line = file.readline(LONGEST_JSON_LINE)


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


def _envelope_type(name: str, values: Sequence[object]) -> pa.DataType:
    """The type of a column, which may be the one that converters put envelopes into."""
    inner = [value for value in values if isinstance(value, dict)] if name in ("payload", "data") else []
    if any("after" in value or "payload" in value for value in inner):
        return pa.struct(list(schema_of(inner)))
    return _type_of(values)


def batch_of(
    lines: Sequence[tuple[int, bytes]], schema: pa.Schema
) -> tuple[pa.RecordBatch, list[int], list[QuarantinedRow]]:
    """The rows of numbered lines, the number of each, and the lines that are no rows."""
    return rows_of([(number, line, line_record(line)) for number, line in lines], schema)


def rows_of(
    records: Sequence[tuple[int, object, JsonRecord | str]], schema: pa.Schema
) -> tuple[pa.RecordBatch, list[int], list[QuarantinedRow]]:
    """Records as rows of a schema.

    Args:
        records: the number of each, what it was read from, and the record, or why it is rejected.
        schema: the columns; another member of a record would be lost, so the record is quarantined.

    Returns:
        The rows, the number of each, and the records that do not fit.
    """
    good, quarantined = list[tuple[int, object, JsonRecord]](), list[QuarantinedRow]()
    for number, source, record in records:
        record = record if isinstance(record, str) else member_of(record, schema)
        if not isinstance(record, str) and (more := _unknown(record, schema)):
            record = f"it has a member that no record had before: {', '.join(more)}"
        if isinstance(record, str):
            quarantined.append(QuarantinedRow(number, _text(source), record))
        else:
            good.append((number, source, record))
    try:
        return _rows([record for *_, record in good], schema), [number for number, *_ in good], quarantined
    except Exception:  # as below
        return _row_by_row(good, schema, quarantined)


def _row_by_row(
    good: Sequence[tuple[int, object, JsonRecord]], schema: pa.Schema, quarantined: list[QuarantinedRow]
) -> tuple[pa.RecordBatch, list[int], list[QuarantinedRow]]:
    """The same where some values are not of their column's type."""
    fitting, numbers = list[JsonRecord](), list[int]()
    for number, source, record in good:
        try:
            _rows([record], schema)
        except Exception:  # an object of the analyst's may raise whatever it likes
            quarantined.append(QuarantinedRow(number, _text(source), _misfit(record, schema)))
        else:
            fitting.append(record)
            numbers.append(number)
    return _rows(fitting, schema), numbers, sorted(quarantined, key=lambda entry: entry.line)


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


def _unknown(record: JsonRecord, schema: pa.Schema) -> list[str]:
    """Members that are no columns, also within structs; Arrow would leave those out."""
    unknown = sorted(str(name) for name in record if name not in schema.names)
    for name in record.keys() & set(schema.names):
        unknown += [f"{name}.{member}" for member in _unknown_within(record[name], schema.field(name).type)]
    return unknown


def _unknown_within(value: object, type_: pa.DataType) -> list[str]:
    if isinstance(value, Mapping) and pa.types.is_struct(type_):
        return _unknown(value, pa.schema(list(type_)))
    if isinstance(value, list) and pa.types.is_list(type_) and pa.types.is_nested(type_.value_type):
        return sorted({member for one in value for member in _unknown_within(one, type_.value_type)})
    return []


def _text(source: object) -> str:
    if isinstance(source, bytes):
        return source[:1_000].decode(errors="replace").strip()
    try:
        return str(source)
    except Exception:  # an object of the analyst's may not even have a text
        return shown(source)


def _rows(records: Sequence[JsonRecord], schema: pa.Schema) -> pa.RecordBatch:
    columns = [column_of([_member(record, field.name) for record in records], field) for field in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _member(record: JsonRecord, name: str) -> object:
    return record.get(name, len(record)) if name == MEMBERS else record.get(name)


def _chunks(lines: Iterator[tuple[int, bytes]], schema: pa.Schema) -> Iterator[Chunk]:
    while some := [*islice(lines, CHUNK_ROWS)]:
        rows, numbers, quarantined = batch_of(some, schema)
        yield Chunk(rows, np.array(numbers, dtype=np.int64), tuple(quarantined))


def _type_of(values: Sequence[object]) -> pa.DataType:
    """The type of a column; where values are of several, that of most, and the others are quarantined."""
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


def _kind(value: object) -> type:
    return float if type(value) is WrittenFloat else type(value)


def _exact(values: Sequence[object]) -> pa.DataType | None:
    """The decimal that has all digits of some numbers, where a DOUBLE has not and there is one."""
    there = [value for value in values if value is not None]
    kinds = {*map(_kind, there)}
    if kinds == {int}:
        beyond = sum(not -(1 << 63) <= value < 1 << 63 for value in there)  # type: ignore[operator]
        most = max(len(str(abs(value))) for value in there) if beyond else 0  # type: ignore[arg-type]
        return pa.decimal128(MAX_PRECISION, 0) if 2 * beyond > len(there) and most <= MAX_PRECISION else None
    if len(kinds) < 2 or not kinds <= {int, float, Decimal} or not any(map(_is_lossy, there)):
        return None
    numbers = [Decimal(text_of(value) or "") for value in there]
    if not all(number.is_finite() for number in numbers):
        return None
    scale = max(max(0, -int(number.as_tuple().exponent)) for number in numbers)
    digits = max(number.adjusted() + 1 for number in numbers)
    return pa.decimal128(MAX_PRECISION, scale) if max(digits, 0) + scale <= MAX_PRECISION else None


def _is_lossy(value: object) -> bool:
    return isinstance(value, Decimal) or (type(value) is int and abs(value) > 1 << 53 and int(float(value)) != value)


def _inferred(values: Sequence[object]) -> pa.DataType:
    return _known(pa.array(values).type)


def _known(type_: pa.DataType) -> pa.DataType:
    """A type of which no value says what it is, or no element of a list, is that of a text."""
    if pa.types.is_list(type_):
        return pa.list_(field_of("item", _known(type_.value_type)))
    if pa.types.is_struct(type_):
        return pa.struct([field_of(field.name, _known(field.type)) for field in type_])
    return pa.string() if pa.types.is_null(type_) else type_
