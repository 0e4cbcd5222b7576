"""A document at a URL that is polled, as a live source (TelegraphCQ 4.2.3, pull): ``poll+https://host/trades.json``.

A server that knows the version it gave (ETag, Last-Modified) is asked for another one alone. Where the stream has a
key, a document has all rows that there are: they replace those of their keys, and others go. Otherwise rows are only
added: those that stand more often in a document than in the one before, so a file that grows and a list of the latest
rows are both read right. A row is known by its text, of which a checksum is remembered.
"""

from __future__ import annotations

import threading
import time
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import PurePosixPath
from urllib.error import HTTPError

import pyarrow as pa

from workbench.errors import StreamError, WorkbenchError
from workbench.errors.surroundings import reason
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.windows.stream_time import short_duration
from workbench.streams.addresses.address import kept_address
from workbench.streams.addresses.requests import send
from workbench.streams.corrections.declared import Changes, Corrections
from workbench.streams.files.csv_layout import CsvOptions
from workbench.streams.files.csv_source import options_of, stored_options
from workbench.streams.files.documents import Document, DocumentKind, read_document
from workbench.streams.files.json_records import rows_of
from workbench.streams.files.json_schema import FoundTimes
from workbench.streams.live.reader import Fetched, NothingYet, OffsetMark, Offsets, TypedReader

POLL_SCHEMES = ("poll+http://", "poll+https://")
EVERY = "60s"
"""How often it is asked, unless the address says it."""
_OWN = ("every", "rows")
"""Options of the address that are none of the server's."""
_ANSWER, _FIRST, _PATIENCE = 30.0, 35.0, 2.0
"""Seconds that a server has, that the first answer is waited for, and others, while batches wait."""
_LARGEST = 64_000_000
"""Bytes of a document."""
_COUNT = ""
_ETAG, _MODIFIED, _ROWS, _WHOLE = (f"{OffsetMark.NOTE}{name}" for name in ("etag", "modified", "rows", "whole"))
_CHECKSUM = 8
"""Bytes that a row is known by."""

_Answer = tuple[dict[str, str], str, bytes]
"""What the server says of the version, of the kind, and the document."""


class DocumentReader(TypedReader):
    """Polls a document.

    Args:
        given: its address.
        schema: the columns, where the stream has been added before; ``None``: those of the first document.
        options: what is declared of how CSV is written, where the stream has not been added before.

    Raises:
        StreamError: the address is invalid, or the document cannot be read.
        NothingYet: it has no row yet.
    """

    def __init__(self, given: str, schema: pa.Schema | None = None, options: CsvOptions | None = None) -> None:
        self._address = kept_address(given)
        every = self._address.options.get("every", EVERY)
        if not (seconds := short_duration(every)) or seconds < 0:
            raise StreamError(f"every={every} is no length of time", hint="as in every=30s")
        self._every, self._due = seconds, 0.0
        self._options = options_of(schema) if schema is not None else options or CsvOptions()
        self._asked: _Asked | None = None
        self._is_whole, self._problem = False, ""
        found = None if schema is None else FoundTimes(schema)
        if found is None:
            asked = self._ask({})
            if not asked.done.wait(_FIRST) or asked.answer is None:
                raise asked.problem or StreamError(f"{given} did not answer within {_FIRST:g} s")
            document = self._read(asked.answer)
            if (columns := document.columns) is None:
                raise NothingYet(f"{given} has no row yet")
            found = replace(columns, schema=columns.schema.with_metadata(stored_options(self._options)))
        super().__init__(found.schema, f"{given} (polled every {every})", found.seen, found.said)

    @property
    def remembered(self) -> Offsets:
        """Whether the document has all rows that there are."""
        return {_WHOLE: "1"} if self._is_whole else {}

    def corrections(self, key: Sequence[str]) -> Corrections | None:
        """Upserts, where there is a key."""
        self._is_whole = bool(key)
        return Corrections(Changes.UPSERT, tuple(map(stored_name, key))) if key else None

    def fetch(self, offsets: Offsets, most: int) -> Fetched:
        """The rows of the document that are new, or all of them, when another version was given."""
        nothing = Fetched(pa.RecordBatch.from_pylist([], schema=self._schema), {})
        if self._asked is None and time.monotonic() >= self._due:
            self._ask(offsets)
        if self._asked is not None and self._asked.done.wait(_PATIENCE):
            asked, self._asked = self._asked, None
            self._problem = "" if asked.problem is None else str(asked.problem)
            if asked.answer is not None:
                try:
                    return self._new(asked.answer, offsets) or nothing
                except WorkbenchError as problem:
                    self._problem = str(problem)
        return Fetched(nothing.rows, {}, problem=self._problem)

    def _ask(self, offsets: Offsets) -> _Asked:
        """Ask for another version than the one that was read, in the background."""
        asked = self._asked = _Asked()
        self._due = time.monotonic() + self._every
        known = {"If-None-Match": offsets.get(_ETAG), "If-Modified-Since": offsets.get(_MODIFIED)}
        headers = {name: value for name, value in known.items() if value}

        def get() -> None:
            try:
                asked.answer = self._get(headers)
            except WorkbenchError as problem:
                asked.problem = problem
            except Exception as problem:  # of a server, or of the way to it
                why = f"{self._address.text()} cannot be read: {reason(problem)}"
                asked.problem = StreamError(why, hint="it is asked again")
            asked.done.set()

        threading.Thread(target=get, name="argus-poll", daemon=True).start()
        return asked

    def _get(self, headers: dict[str, str]) -> _Answer | None:
        """The server's document; ``None``: there is no newer version."""
        try:
            with send(self._address, *_OWN, headers=headers, timeout=_ANSWER) as answer:
                content = answer.read(_LARGEST + 1)
        except HTTPError as refusal:
            with refusal:
                if refusal.code == 304:
                    return None
            raise
        if len(content) > _LARGEST:
            raise StreamError(f"the document has more than {_LARGEST:,} bytes", hint="ask the server for a part of it")
        version = {_ETAG: answer.headers.get("ETag", ""), _MODIFIED: answer.headers.get("Last-Modified", "")}
        return version, answer.headers.get("Content-Type", ""), content

    def _read(self, answer: _Answer) -> Document:
        _, media, content = answer
        kind = DocumentKind.named(media) or DocumentKind.named(PurePosixPath(self._address.path).suffix)
        if kind is None and "html" not in media:
            kind = DocumentKind.JSON if content.lstrip()[:1] in (b"[", b"{") else DocumentKind.CSV
        if kind is None:
            raise StreamError(f"the server gives {media}", hint="JSON, lines of JSON and CSV are read")
        return read_document(content, kind, self._options, self._address.options.get("rows", ""))

    def _new(self, answer: _Answer, offsets: Offsets) -> Fetched | None:
        """The rows that are to be logged; ``None``: the document has none that is new."""
        document = self._read(answer)
        names = [blake2b(text.encode(errors="replace"), digest_size=_CHECKSUM).digest() for text, _ in document.records]
        all_names, known = b"".join(names), b64decode(offsets.get(_ROWS, ""))
        if all_names == known and _ROWS in offsets:
            return None
        left = Counter(known[at : at + _CHECKSUM] for at in range(0, len(known), _CHECKSUM))
        records, count = document.fitting(self._schema), int(offsets.get(_COUNT, "0"))
        if _WHOLE not in offsets:
            records = [record for record, name in zip(records, names, strict=True) if not _takes_one(left, name)]
        chunk = rows_of([(n, text, record) for n, (text, record) in enumerate(records, count + 1)], self._schema)
        after = {**answer[0], _ROWS: b64encode(all_names).decode(), _COUNT: str(count + len(records))}
        return Fetched(chunk.rows, after, chunk.quarantined, found=chunk.found, whole=_WHOLE in offsets)


class _Asked:
    """A question to the server; ``done`` when it was answered, or could not be."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.answer: _Answer | None = None
        self.problem: WorkbenchError | None = None


def _takes_one(left: Counter[bytes], name: bytes) -> bool:
    """Whether there is one more of a row in what is left; it is taken from there."""
    if not left[name]:
        return False
    left[name] -= 1
    return True
