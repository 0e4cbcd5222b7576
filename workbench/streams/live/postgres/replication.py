"""A connection of PostgreSQL that sends what was committed, by libpq's functions for replication.

It does what a subscription of PostgreSQL does. A *slot* of the server remembers from which place (LSN) on changes may
still be asked for; it is moved on when they have been logged here. A slot is made together with a snapshot that has
exactly what was committed before that place, so table and changes fit together whatever is written meanwhile.
Sources: PostgreSQL documentation, "Streaming Replication Protocol" and "Logical Streaming Replication Protocol".
"""

from __future__ import annotations

import select
import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from workbench.errors import StreamError
from workbench.streams.live.postgres.address import TableAddress, message_of, postgres_client

_DATA, _ALIVE, _STATUS = b"w", b"k", b"r"
_HEADER = 25
_INTERNAL = b"XX000"
"""The code of an internal error (PostgreSQL documentation, appendix A)."""
_PAUSE = 0.01
_SILENCE = 1.0
"""Seconds without a message after which what was committed last is left for the next look."""
_PATIENCE = 5.0
"""Seconds for which a slot may still be in use, by a process that has just ended."""
_ATTEMPTS = 10
"""How often a table is copied anew that was truncated meanwhile."""
COPIED = 65_536
"""Rows of a snapshot that are read at a time."""


class UndecodableError(StreamError):
    """The server cannot read its own log for a slot: after a TRUNCATE beside the slot's making, it knows no table."""


class Replication:
    """A connection for replication.

    Args:
        address: of the table.
        slot: the name of the slot.

    Raises:
        StreamError: there is no connection, or the user may not replicate.
    """

    def __init__(self, address: TableAddress, slot: str) -> None:
        self._address, self._slot = address, slot
        self._connection = address.connected(replication=True)
        self._confirmed = 0
        self.at_end = False

    def snapshot(self, query: str, table: str) -> Iterator[tuple[int, list[tuple[str | None, ...]]]]:
        """Create the slot again, and read the rows at its position, each batch with that position.

        There is one part at least, which may have no rows.

        Args:
            query: of the rows.
            table: that it reads.

        Raises:
            StreamError: the server refuses it, or the table is emptied again and again.
        """
        psycopg = postgres_client()
        try:
            for _ in range(_ATTEMPTS):
                place = self._make_slot()
                if self.locked_as_it_was(table):
                    break
                self._connection.execute("ROLLBACK")
            else:
                hint = "it is tried again with the next look"
                raise StreamError(f"{self._address.where} was truncated or rewritten while it was copied", hint=hint)
            with self._connection.cursor().copy(f"COPY ({query}) TO STDOUT") as copied:
                some = list[tuple[str | None, ...]]()
                for row in copied.rows():
                    some.append(row)
                    if len(some) == COPIED:
                        yield place, some
                        some = []
            self._connection.execute("COMMIT")
            yield place, some
        except psycopg.Error as error:
            raise self._refused(error) from error

    def _make_slot(self) -> int:
        """Create the slot again, in a transaction that sees the commits before its position."""
        self.drop_slot()
        self._connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        made = self._connection.execute(f"CREATE_REPLICATION_SLOT \"{self._slot}\" LOGICAL pgoutput (SNAPSHOT 'use')")
        return lsn_of(made.fetchone()[1])

    def locked_as_it_was(self, table: str) -> bool:
        """Lock a table against being truncated, and say whether it was not since the snapshot of the transaction.

        A snapshot does not have the rows that a later TRUNCATE has removed (PostgreSQL documentation, "Caveats" of
        MVCC), and the table cannot be locked before there is one. Its file of then and that of now tell.
        """
        self._connection.execute(f"LOCK TABLE {table} IN ACCESS SHARE MODE")
        name = table.replace("'", "''")
        files = (
            "SELECT bool_and(relfilenode = coalesce(pg_relation_filenode(oid), 0)) FROM pg_class "
            f"WHERE oid = '{name}'::regclass OR oid IN (SELECT relid FROM pg_partition_tree('{name}'))"
        )
        return bool(self._connection.execute(files).fetchone()[0])

    def start(self, place: int) -> None:
        """Request the commits after a position."""
        text = (
            f'START_REPLICATION SLOT "{self._slot}" LOGICAL {lsn_text(place)} '
            f"(proto_version '1', publication_names '{_quoted(self._address.publication)}')"
        )
        until = time.monotonic() + _PATIENCE
        while True:
            result = self._connection.pgconn.exec_(text.encode())
            if result.status == postgres_client().pq.ExecStatus.COPY_BOTH:
                break
            message = result.error_message.decode(errors="replace")
            if "is active for PID" not in message or time.monotonic() > until:
                raise self._refused(RuntimeError(message))
            time.sleep(_PAUSE)
        self._confirmed = place

    def confirm(self, place: int) -> None:
        """Let the server forget the commits before a position."""
        self._confirmed = place
        self._send_status(ask=False)

    def messages(self, until: int) -> Iterator[bytes]:
        """The messages up to a position in its log, or more; ``at_end`` says whether the position is reached."""
        connection = self._connection.pgconn
        self.at_end, heard, asked = False, time.monotonic(), 0.0
        while True:
            length, data = connection.get_copy_data(1)
            if length > 0:
                heard, sign = time.monotonic(), bytes(data[:1])
                if sign == _DATA:
                    yield bytes(data[_HEADER:])
                elif sign == _ALIVE:
                    end, _, answer = struct.unpack(">QqB", data[1:18])
                    if answer:
                        self._send_status(ask=False)
                    if end >= until:
                        self.at_end = True
                        return
            elif length < 0:
                raise self._ended(connection.get_result())
            elif (now := time.monotonic()) > heard + _SILENCE:
                return
            else:
                if now > asked + _PAUSE:
                    self._send_status(ask=True)
                    asked = now
                select.select([connection.socket], [], [], _PAUSE)
                connection.consume_input()

    def drop_slot(self) -> None:
        """Drop the slot on the server, if it exists."""
        with suppress(postgres_client().errors.UndefinedObject):
            self._connection.execute(f'DROP_REPLICATION_SLOT "{self._slot}" WAIT')

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _send_status(self, ask: bool) -> None:
        connection, at = self._connection.pgconn, self._confirmed
        connection.put_copy_data(_STATUS + struct.pack(">QQQqB", at, at, at, 0, ask))
        connection.flush()

    def _ended(self, result: Any) -> StreamError:
        error = RuntimeError(result.error_message.decode(errors="replace"))
        if result.error_field(postgres_client().pq.DiagnosticField.SQLSTATE) == _INTERNAL:
            return UndecodableError(f"the server cannot read its own log: {message_of(error)}")
        return self._refused(error)

    def _refused(self, error: BaseException) -> StreamError:
        message, hint = message_of(error), None
        if "wal_level" in message:
            hint = "ALTER SYSTEM SET wal_level = logical, and start the server again"
        elif "permission denied" in message:
            hint = "ALTER ROLE … REPLICATION lets a user follow tables, GRANT SELECT lets it read them"
        elif "all replication slots are in use" in message:
            hint = "pg_replication_slots lists them; drop those that nothing reads, or raise max_replication_slots"
        return StreamError(f"{self._address.where} cannot be followed: {message}", hint=hint)


def lsn_of(text: str) -> int:
    """A place in the log of a server.

    Example:
        >>> lsn_of("1/10"), lsn_text(lsn_of("1/10"))
        (4294967312, '1/10')
    """
    high, _, low = text.partition("/")
    return int(high, 16) << 32 | int(low, 16)


def lsn_text(place: int) -> str:
    """The inverse of ``lsn_of``."""
    return f"{place >> 32:X}/{place & 0xFFFFFFFF:X}"


def _quoted(name: str) -> str:
    return ('"' + name.replace('"', '""') + '"').replace("'", "''")
