"""A socket that sends lines of JSON, as a live source: ``socket://host:port``.

Nothing can be asked of a socket twice. What was received and is not in the log when the process is killed is lost, and
so is what is sent without a connection. A source that must lose nothing is a topic or a folder. The offset counts
lines.
"""

from __future__ import annotations

import select
import socket
import time
from urllib.parse import urlsplit

import pyarrow as pa

from workbench.errors import StreamError
from workbench.errors.surroundings import reason
from workbench.streams.addresses.address import kept_address
from workbench.streams.files.json_lines import LONGEST_JSON_LINE, line_record
from workbench.streams.files.json_records import rows_of
from workbench.streams.files.json_schema import FoundTimes, find_times, schema_of
from workbench.streams.live.reader import Fetched, NothingYet, Offsets, TypedReader

SOCKET_SCHEME = "socket://"
_WHOLE = ""
_ANSWER = 3.0
"""Seconds in which a connection must be made."""
_FIRST = 10.0
"""Seconds in which a first line must come, which says what columns there are."""
_PAUSE = 1.0
"""Seconds after which a connection that could not be made is tried again."""
_SAID = 1 << 20
"""Bytes of a line of which it is said that its end has not come."""


class SocketReader(TypedReader):
    """Reads lines from a socket.

    Args:
        given: its address.
        schema: the columns, where the stream has been added before; ``None``: those of the first lines.

    Raises:
        StreamError: the address is invalid, it cannot be reached, or no line comes that is a JSON object.
    """

    def __init__(self, given: str, schema: pa.Schema | None = None) -> None:
        address = kept_address(given)
        parts = urlsplit(f"//{address.hosts}")
        if not parts.hostname or not parts.port or address.path.strip("/"):
            raise StreamError(f"{given} names no host and port", hint="it is like socket://localhost:9999")
        self._address = (parts.hostname, parts.port)
        self._given, self._socket, self._received, self._again = given, None, bytearray(), 0.0
        self._passing = False
        """Whether the rest of a line is passed over that is too long."""
        found = self._first_columns() if schema is None else FoundTimes(schema)
        super().__init__(found.schema, given, found.seen, found.said)

    def fetch(self, offsets: Offsets, most: int) -> Fetched:
        """The lines that have come by now."""
        self._receive(0.0)
        lines, start = self._lines(most), int(offsets.get(_WHOLE, "0"))
        numbered = [(number, line, line_record(line)) for number, line in enumerate(lines, start + 1)]
        chunk = rows_of(numbered, self._schema)
        problem = ""
        if self._passing or (len(self._received) >= _SAID and b"\n" not in self._received):
            problem = f"{self._given} sends a line whose end has not come"
        after = {_WHOLE: str(start + len(lines))} if lines else {}
        return Fetched(chunk.rows, after, chunk.quarantined, problem=problem, found=chunk.found)

    def close(self) -> None:
        """Close the connection."""
        if self._socket is not None:
            self._socket.close()
        self._socket = None

    _socket: socket.socket | None

    def _first_columns(self) -> FoundTimes:
        until = time.monotonic() + _FIRST
        while (left := until - time.monotonic()) > 0:
            self._receive(min(left, 0.2))
            whole = bytes(self._received).split(b"\n")[:-1]
            records = [record for line in whole if line.strip() and not isinstance(record := line_record(line), str)]
            if records:
                return find_times(records, schema_of(records))
        self.close()
        raise NothingYet(f"{self._given} sent no line that is a JSON object within {_FIRST:g} s")

    def _lines(self, most: int) -> list[bytes]:
        """Whole lines, which are received no more then; of one that is too long the beginning, as soon as that is."""
        *lines, rest = self._received.split(b"\n", most)
        if lines and self._passing:
            del lines[0]
            self._passing = False
        if len(lines) < most and len(rest) >= LONGEST_JSON_LINE and b"\n" not in rest:
            lines += [] if self._passing else [rest]
            rest, self._passing = bytearray(), True
        self._received = rest
        return [bytes(line) for line in lines if line.strip()]

    def _receive(self, patience: float) -> None:
        """Receive the next bytes; text before the end of a connection is a line, too."""
        if self._socket is None:
            self._connect()
        while self._socket is not None and len(self._received) < LONGEST_JSON_LINE:
            if not select.select([self._socket], [], [], patience)[0]:
                return
            patience = 0.0
            try:
                some = self._socket.recv(1 << 16)
            except OSError:
                some = b""
            self._received += some
            if not some:
                self.close()
                if self._passing or (self._received and not self._received.endswith(b"\n")):
                    self._received += b"\n"

    def _connect(self) -> None:
        if self._received or time.monotonic() < self._again:
            return  # the rest of what came is taken first
        try:
            self._socket = socket.create_connection(self._address, timeout=_ANSWER)
        except OSError as error:
            self._again = time.monotonic() + _PAUSE
            hint = "a stream that was added asks again; what is sent meanwhile is not seen"
            raise StreamError(f"{self._given} cannot be reached: {reason(error)}", hint=hint) from error
