"""Files of JSON as chunks of rows: one object a line, an array of objects, or objects over several lines.

The columns and their types are those of the first lines, in the order in which they first come. A line that is no row
is quarantined (``json_records``).
"""

from __future__ import annotations

import json
import re
import zlib
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from io import BufferedIOBase
from itertools import chain, islice
from pathlib import Path

import pyarrow as pa

from workbench.errors import StreamError
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.types import DataType
from workbench.streams.files.encodings import UTF_8, lines_of, utf_16_of
from workbench.streams.files.formats import without_compression
from workbench.streams.files.json_records import as_record, rows_of
from workbench.streams.files.json_schema import find_times, schema_of, texts_seen
from workbench.streams.files.json_values import JsonRecord, as_texts, lacking_columns
from workbench.streams.files.opening import SourceFile
from workbench.streams.files.urls import UrlFile
from workbench.streams.log import CHUNK_ROWS
from workbench.streams.source import Chunk, OpenedSource

_OF_LINES = (".jsonl", ".ndjson")
SAMPLE_LINES = 10_000
"""Lines that columns and types are inferred from."""

LONGEST_JSON_LINE = 1 << 24
"""Bytes of a line; a longer one is quarantined, and not all of it is ever in memory."""
_MARKS = (BOM_UTF16_LE, BOM_UTF16_BE)
_FIRST = (b"{", b"[", b" ", b"\n", b"\r", b"\t")
_BETWEEN = re.compile(r"[\s,]*")


def open_json_lines(
    path: Path | UrlFile,
    stack: ExitStack,
    schema: pa.Schema | None = None,
    declared: Mapping[str, DataType] | None = None,
    passed: int = 0,
) -> OpenedSource:
    """Opens a file of JSON lines, of an array of objects, or of objects over several lines.

    It is in UTF-8 or UTF-16, and may be compressed.

    Args:
        path: of the file.
        stack: closes it.
        schema: the columns, where files before have told them; ``None``: those of the first lines.
        declared: types of columns, by their stored names.
        passed: lines, or objects, at the beginning that are not read where the columns are known.

    Raises:
        StreamError: the columns are not known, and none of the first lines is an object.
    """
    file = stack.enter_context(SourceFile(path))
    encoding = _encoding(file.peek(1))
    lines = _elements(file, encoding) if _is_whole(path) else lines_of(file, encoding, LONGEST_JSON_LINE)
    numbered = ((number, line) for number, line in enumerate(lines, 1) if line.strip())
    if schema is not None:
        return OpenedSource(schema, _chunks(islice(numbered, passed, None), schema))
    sample = [*islice(numbered, SAMPLE_LINES)]
    records = [record for _, line in sample for record in [line_record(line)] if not isinstance(record, str)]
    if not records:
        number, reason = next(((number, line_record(line)) for number, line in sample), (1, "it is empty"))
        message = f"{path} has no line that is a JSON object; line {number}: {reason}"
        raise StreamError(message, hint='a line is like {"id": 1, "amount": 2.5}')
    times = find_times(records, schema_of(records), {*map(stored_name, declared or {})})
    found, after = times.schema, next(numbered, None)
    # What the first lines lack, later ones may have.
    lacking = lacking_columns(found, declared or {}) if after is not None else []
    schema = as_texts(pa.schema([*found, *lacking], found.metadata), declared or {})
    if not schema.names:
        raise StreamError(f"the objects of {path} have no members", hint='a line is like {"id": 1, "amount": 2.5}')
    seen = {**texts_seen(records, schema), **times.seen}
    every = chain(sample, [] if after is None else [after], numbered)
    notes = [f"{column.name}: none of the first {SAMPLE_LINES:,} records has it" for column in lacking]
    notes += times.said
    if len(records) == len(sample) == 1 and after is None:
        notes += _of_one_record(records[0], path.name)
    return OpenedSource(schema, _chunks(every, schema), seen, tuple(notes), lambda: file.share)


def _of_one_record(record: JsonRecord, name: str) -> list[str]:
    """What to do with a file of one record whose rows are within it: an array of them, or columns with their values."""
    arrays = [member for member, value in record.items() if isinstance(value, list) and len(value) > 1]
    of_rows = [member for member in arrays if all(isinstance(one, dict) for one in record[member])]
    if len(of_rows) == 1:
        way = f"SELECT r.* FROM NAME, UNNEST(NAME.{of_rows[0]}) AS u(r)"
        return [f"it is one row; {of_rows[0]} has {len(record[of_rows[0]]):,} objects, which are rows in {way}"]
    sizes = {len(value) if isinstance(value, list | dict) else 0 for value in record.values()}
    if len(record) > 1 and len(sizes) == 1 and max(sizes) > 1:
        way = f"frame = pandas.read_json({name!r}), and frame is the source"
        return [f"it is one row of {len(record)} columns of {max(sizes):,} values each; if these are rows: {way}"]
    return []


def line_record(line: bytes) -> JsonRecord | str:
    """The object of a line of a file or socket, or why it has none; a line that is too long is cut here."""
    return as_record(line) if len(line) < LONGEST_JSON_LINE else f"its line has more than {LONGEST_JSON_LINE:,} bytes"


def _is_whole(path: Path | UrlFile) -> bool:
    """Whether a file is an array, or objects over several lines each, unless its name says that it has lines."""
    with SourceFile(path) as file:
        if without_compression(file.inner_name).endswith(_OF_LINES):
            return False
        first = file.read(1_000)
    text = first.decode(_encoding(first), errors="replace").lstrip("\ufeff").lstrip()
    return text.startswith("[") or re.match(r"\{[ \t]*\r?\n", text) is not None


def _encoding(data: bytes) -> str:
    """The encoding of JSON, whose first characters are ASCII."""
    is_utf_16 = data[:2] in _MARKS or (len(data) > 3 and data[:2].strip(b"\0") in _FIRST)
    return (utf_16_of(data) if is_utf_16 else "") or UTF_8


def _elements(file: BufferedIOBase, encoding: str) -> Iterator[bytes]:
    """The objects of an array, or of a file that has them one after the other, as lines; it reads the whole file."""
    try:
        text = file.read().decode("utf-8-sig" if encoding == UTF_8 else encoding)
    except (UnicodeDecodeError, EOFError, OSError, zlib.error) as error:
        raise StreamError(f"the array cannot be read: {error}", hint="copy or write the file again") from error
    decoder, at = json.JSONDecoder(), len(text) - len(text.lstrip())
    at += text[at] == "["
    while between := _BETWEEN.match(text, at):
        at = between.end()
        if at == len(text) or (text[at] == "]" and not text[at + 1 :].strip()):
            return
        try:
            _, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = len(text)  # what is wrong is said of it
        yield text[at:end].encode()
        at = end


def _chunks(lines: Iterator[tuple[int, bytes]], schema: pa.Schema) -> Iterator[Chunk]:
    while some := [*islice(lines, CHUNK_ROWS)]:
        yield rows_of([(number, line, line_record(line)) for number, line in some], schema)
