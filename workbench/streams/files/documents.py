"""Documents that a program sends or a server gives, in JSON or CSV, as records: small, and read as a whole.

The rows of CSV have texts; where they come to a column of numbers or truth values they are read as JSON is.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

import pyarrow as pa

from workbench.errors import StreamError
from workbench.streams.files.csv_layout import CsvOptions
from workbench.streams.files.csv_source import open_csv
from workbench.streams.files.json_lines import line_record
from workbench.streams.files.json_records import json_document, json_record
from workbench.streams.files.json_schema import FoundTimes, find_times, schema_of
from workbench.streams.files.json_values import JsonRecord, field_of, number_of, text_of_json
from workbench.streams.guessing import Guess

SentRecord = tuple[str, JsonRecord | str]
"""A record as it was sent, and its members, or why it is no row."""
_WORDS = {"true": True, "false": False}


class DocumentKind(Enum):
    """How a document is written; the value is part of its type of media, or the end of its name."""

    JSON = "json"
    LINES = "ndjson jsonl x-ndjson json-lines"
    CSV = "csv"

    @classmethod
    def named(cls, text: str) -> DocumentKind | None:
        """The kind that a media type or the end of a file's name says.

        Example:
            >>> DocumentKind.named("application/json; charset=utf-8"), DocumentKind.named("text/html")
            (<DocumentKind.JSON: 'json'>, None)
        """
        word = text.partition(";")[0].strip().lower().rpartition("/")[2].rpartition("+")[2].rpartition(".")[2]
        return next((kind for kind in cls if word in kind.value.split() or word == f"geo{kind.value}"), None)


@dataclass(frozen=True)
class Document:
    """The records of a document.

    Attributes:
        records: in order.
        guesses: what the columns of texts seem to be, of CSV.
        kind: how it was written.
    """

    records: Sequence[SentRecord]
    kind: DocumentKind
    guesses: Mapping[str, Guess] = field(default_factory=dict)

    @property
    def columns(self) -> FoundTimes | None:
        """The columns that it suggests, and how texts are read; ``None``: none of its records is a row."""
        good = [record for _, record in self.records if not isinstance(record, str)]
        if self.kind is DocumentKind.CSV and good:
            return FoundTimes(pa.schema([field_of(name, pa.null()) for name in good[0]]), self.guesses)
        return find_times(good, schema_of(good)) if good else None

    def fitting(self, schema: pa.Schema) -> list[SentRecord]:
        """The records with values as a schema's columns have them."""
        if self.kind is not DocumentKind.CSV:
            return [*self.records]
        is_ = pa.types
        typed = {
            f.name
            for f in schema
            if any(test(f.type) for test in (is_.is_integer, is_.is_floating, is_.is_decimal, is_.is_boolean))
        }
        return [
            (
                text,
                record if isinstance(record, str) else {n: _typed(v) if n in typed else v for n, v in record.items()},
            )
            for text, record in self.records
        ]


def _typed(text: str | None) -> object:
    if text is None or text in _WORDS:
        return text if text is None else _WORDS[text]
    try:
        return int(text) if text.strip().lstrip("+-").isdecimal() else number_of(text.strip())
    except ValueError:
        return text  # it is said of the row that this is no number


def read_document(content: bytes, kind: DocumentKind, options: CsvOptions | None = None, within: str = "") -> Document:
    """Read a document.

    Args:
        content: of it.
        kind: how it is written.
        options: what is known of how CSV is written.
        within: the member of a JSON object that has the rows; ``"data.items"`` is one within another.

    Raises:
        StreamError: it cannot be read as a whole.
    """
    if kind is DocumentKind.CSV:
        return _read_csv(content, options or CsvOptions())
    if kind is DocumentKind.LINES:
        lines = [line for line in content.split(b"\n") if line.strip()]
        return Document([(line.decode(errors="replace"), line_record(line)) for line in lines], kind)
    try:
        value = json_document(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise StreamError(f"it is no JSON: {error}", hint="an array of objects, or lines of objects") from None
    for name in filter(None, within.split(".")):
        if not isinstance(value, dict) or name not in value:
            raise StreamError(f"the document has no member {name}", hint="rows=… names where its rows are")
        value = value[name]
    rows = value if isinstance(value, list) else [value]
    return Document([(text_of_json(row), json_record(row)) for row in rows], kind)


def _read_csv(content: bytes, options: CsvOptions) -> Document:
    if not content.strip():
        raise StreamError("it is empty", hint="the first line names the columns")
    with tempfile.TemporaryDirectory(prefix="argus-document-") as folder, ExitStack() as stack:
        path = Path(folder) / "sent.csv"
        path.write_bytes(content)
        try:
            opened = open_csv(path, stack, options)
            found = list[tuple[int, SentRecord]]()
            for chunk in opened.chunks:
                rows = chunk.rows.to_pylist()
                numbered = zip(chunk.lines.tolist(), rows, strict=True)
                found += [(line, (json.dumps([*row.values()]), row)) for line, row in numbered]
                found += [(one.line, (one.text, one.reason)) for one in chunk.quarantined]
        except StreamError as error:
            raise StreamError(error.message.replace(str(path), "it"), hint=error.hint) from None
    records = [record for _, record in sorted(found, key=lambda one: one[0])]
    return Document(records, DocumentKind.CSV, opened.inferred)
