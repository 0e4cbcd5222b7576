"""Rows that programs send, as a live source that listens (TelegraphCQ 4.2.3, push): ``listen://127.0.0.1:8080/trades``.

A request is a POST of JSON, lines of JSON or CSV. It is acknowledged when its rows are in the log of the stream, which
is on the disk. A program that had no answer sends the request again; where it names itself and numbers its requests, in
the headers ``Argus-Producer`` and ``Argus-Number``, rows that are in the log are not logged twice. The offset counts
records, that of a program is its last number.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa

from workbench.errors import StreamError
from workbench.errors.secrets import hide_secrets
from workbench.streams.addresses.address import Address, kept_address
from workbench.streams.files.csv_layout import CsvOptions
from workbench.streams.files.documents import Document, DocumentKind, read_document
from workbench.streams.files.json_records import rows_of
from workbench.streams.files.json_schema import FoundTimes
from workbench.streams.live.reader import Fetched, LogRows, NothingYet, Offsets, TypedReader
from workbench.web.listening import LOOPBACK, listen

LISTEN_SCHEME = "listen://"
FIRST_REQUEST = 10.0
"""Seconds in which a first request must come, which says what columns there are, where they are not declared."""
MOST_REQUESTS = 64
"""Requests that are answered at once; others are told to come again."""
_WHOLE = ""
_LIMITS = {"rate": 10_000, "largest": 16_000_000, "waiting": 1_000_000}
"""Rows a second, bytes of a request, and rows that wait for a batch, unless the address says other limits."""
_PRODUCER = re.compile(r"[A-Za-z0-9][\w.:-]{0,99}", re.ASCII)
_MOST_PRODUCERS = 1_000
_COMMA = CsvOptions(sep=",")


@dataclass(eq=False)
class _Request:
    """Records of a request.

    Attributes:
        document: that was sent.
        producer, number: of the program that sent it; "" and 0 where it does not name itself.
        last: the number of its last record, once it was given to the log.
        known: whether the log had them before.
        refused: why they are not logged.
    """

    document: Document
    producer: str
    number: int
    last: int | None = None
    known: bool = False
    refused: str = ""

    def is_logged(self, offsets: Offsets) -> bool:
        return self.last is not None and self.last <= int(offsets.get(_WHOLE, "0"))


@dataclass
class _Refusal(Exception):
    """An answer that is no success."""

    status: str
    why: str
    headers: tuple[tuple[str, str], ...] = ()


class PostedRows(TypedReader):
    """Listens for rows.

    Args:
        given: its address.
        schema: the columns, where the stream has been added before; ``None``: those of the first request.
        patience: seconds to wait for a first request.

    Raises:
        StreamError: the address is invalid.
        NothingYet: no request came.
        SessionError: nothing can listen there, or a token is missing.
    """

    def __init__(self, given: str, schema: pa.Schema | None = None, patience: float = FIRST_REQUEST) -> None:
        address = kept_address(given)
        self._limits = {name: _limit(address, name) for name in _LIMITS}
        self._rate = _Rate(self._limits["rate"])
        self._requests = list[_Request]()
        self._came, self._at_once = threading.Condition(), threading.Semaphore(MOST_REQUESTS)
        self._log: LogRows | None = None
        host, port = _place(address, given)
        token = address.with_environment().options.get("token")
        self._endpoint = listen(self._answer, address.path, port, host, token)
        first = FoundTimes(schema) if schema is not None else self._first_columns(patience)
        if first is None:
            self.close()
            raise NothingYet(f"no row was sent to {self._endpoint.url} within {patience:g} s")
        super().__init__(first.schema, f"rows that are sent to {self._endpoint.url}", first.seen, first.said)

    def _first_columns(self, patience: float) -> FoundTimes | None:
        """The columns of the first request that has rows; ``None``: there was none."""
        with self._came:
            self._came.wait_for(lambda: any(r.document.columns is not None for r in self._requests), patience)
            return next((found for r in self._requests if (found := r.document.columns) is not None), None)

    def begin(self, log: LogRows) -> None:
        """Let requests be logged as they come, in their threads."""
        with self._came:
            self._log = log
            self._came.notify_all()

    def fetch(self, offsets: Offsets, most: int) -> Fetched:
        """The records of the requests that wait, all of those of one in one step."""
        count = int(offsets.get(_WHOLE, "0"))
        numbered, after = list[tuple[int, object, Any]](), dict[str, str]()
        with self._came:
            waiting = [request for request in self._requests if not request.is_logged(offsets)]
        for request in waiting:
            request.last = None
        for request in waiting:
            if len(numbered) >= most:
                break
            if request.producer:
                last = int({**offsets, **after}.get(request.producer, "0"))
                if not last and len(offsets) + len(after) > _MOST_PRODUCERS:
                    request.refused = f"more than {_MOST_PRODUCERS:,} programs have sent rows"
                    continue
                request.known = request.number <= last
                after[request.producer] = str(max(request.number, last))
            if not request.known:
                records = request.document.fitting(self._schema)
                first = count + len(numbered) + 1
                numbered += [(place, text, record) for place, (text, record) in enumerate(records, first)]
            request.last = count + len(numbered)
        chunk = rows_of(numbered, self._schema)
        if numbered or after:
            after[_WHOLE] = str(count + len(numbered))
        return Fetched(chunk.rows, after, chunk.quarantined, found=chunk.found)

    def close(self) -> None:
        """Listen no more; requests that wait are refused."""
        self._endpoint.close()
        with self._came:
            self._requests.clear()
            self._log = None

    def _answer(self, request: Mapping[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        headers = [("Content-Type", "application/json")]
        try:
            status, told = "200 OK", self._take(request)
        except _Refusal as refusal:
            status, told = refusal.status, {"problem": refusal.why}
            headers += refusal.headers
        start(status, headers)
        return [json.dumps(told).encode() + b"\n"]

    def _take(self, request: Mapping[str, Any]) -> dict[str, object]:
        """Log the records of a request; gives the answer."""
        if request["REQUEST_METHOD"] != "POST":
            raise _Refusal("405 Method Not Allowed", "rows are sent by POST", (("Allow", "POST"),))
        if not self._at_once.acquire(blocking=False):
            raise _later("503 Service Unavailable", "too many requests at once", 1)
        try:
            sent = self._read(request)
            with self._came:
                self._requests.append(sent)
                self._came.notify_all()
            try:
                self._logged(sent)
            finally:
                with self._came:
                    self._requests = [one for one in self._requests if one is not sent]
        finally:
            self._at_once.release()
        return {"records": 0 if sent.known else len(sent.document.records), "known": sent.known}

    def _read(self, request: Mapping[str, Any]) -> _Request:
        """The body of a request.

        Raises:
            _Refusal: it is no document, or there are too many rows.
        """
        length = request.get("CONTENT_LENGTH") or ""
        if not length.isdecimal():
            raise _Refusal("411 Length Required", "Content-Length says how many bytes are sent")
        if int(length) > self._limits["largest"]:
            why = f"a request has at most {self._limits['largest']:,} bytes; send several"
            raise _Refusal("413 Content Too Large", why)
        if (kind := DocumentKind.named(request.get("CONTENT_TYPE", ""))) is None:
            why = "Content-Type is application/json, application/x-ndjson or text/csv"
            raise _Refusal("415 Unsupported Media Type", why)
        producer, number = request.get("HTTP_ARGUS_PRODUCER", ""), request.get("HTTP_ARGUS_NUMBER", "")
        if bool(producer) != bool(number) or (producer and not (_PRODUCER.fullmatch(producer) and number.isdecimal())):
            why = "Argus-Producer is a name of letters, digits and . _ : -, and Argus-Number a number that grows from 1"
            raise _Refusal("400 Bad Request", why)
        if wait := self._rate.wait():
            raise _later("429 Too Many Requests", f"at most {self._limits['rate']:,} rows a second are taken", wait)
        content = request["wsgi.input"].read(int(length))
        if len(content) < int(length):
            raise _Refusal("400 Bad Request", "the request broke off")
        try:
            document = read_document(content, kind, _COMMA)
        except StreamError as error:
            raise _Refusal("400 Bad Request", error.message) from None
        self._rate.took(len(document.records))
        return _Request(document, producer, int(number or 0))

    def _logged(self, sent: _Request) -> None:
        """Wait until the rows of a request are in the log.

        Raises:
            _Refusal: it is not, or that is not known.
        """
        with self._came:
            self._came.wait_for(lambda: self._log is not None, 2 * FIRST_REQUEST)
            log = self._log
        if log is None:
            raise _later("503 Service Unavailable", "the stream is not there yet", 1)
        try:
            offsets, waiting = log(self._limits["waiting"])
        except Exception as problem:  # of a session that was closed, of a full disk
            why = f"it could not be logged: {hide_secrets(str(problem))}"
            raise _later("503 Service Unavailable", why, 5) from None
        if sent.is_logged(offsets):
            return
        if waiting >= self._limits["waiting"]:
            raise _later("503 Service Unavailable", f"{waiting:,} rows wait for a batch", 5)
        if sent.refused:
            raise _Refusal("400 Bad Request", sent.refused)
        raise _later("503 Service Unavailable", "it could not be logged; the session says why", 5)


class _Rate:
    """How many rows a second are taken, those of a second at once at most."""

    def __init__(self, most: int) -> None:
        self._most, self._left, self._at = most, float(most), time.monotonic()
        self._lock = threading.Lock()

    def wait(self) -> float:
        """Seconds to wait until more are taken."""
        with self._lock:
            now = time.monotonic()
            self._left = min(float(self._most), self._left + (now - self._at) * self._most)
            self._at = now
            return max(0.0, (1 - self._left) / self._most)

    def took(self, rows: int) -> None:
        """Count rows against the rate."""
        with self._lock:
            self._left -= rows


def _later(status: str, why: str, seconds: float) -> _Refusal:
    return _Refusal(status, why, (("Retry-After", str(max(1, round(seconds)))),))


def _limit(address: Address, name: str) -> int:
    text = address.options.get(name, str(_LIMITS[name]))
    if not text.isdecimal() or not int(text):
        raise StreamError(f"{name}={text} is no limit", hint=f"a whole number, as in {name}={_LIMITS[name]}")
    return int(text)


def _place(address: Address, given: str) -> tuple[str, int]:
    """Host and port.

    Raises:
        StreamError: the address has no port, or no path.
    """
    parts = urlsplit(f"//{address.hosts}")
    if parts.port is None or not address.path.strip("/"):
        raise StreamError(f"{given} names no port and path", hint=f"it is like {LISTEN_SCHEME}{LOOPBACK}:8080/trades")
    return parts.hostname or LOOPBACK, parts.port
