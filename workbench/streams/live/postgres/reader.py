"""A table of PostgreSQL as a live source: its rows as they were in a snapshot, and then what each transaction changes.

The offset is the place in the server's log after the last transaction that was logged here, so each is logged exactly
once. The server may forget what was committed before it only when it has been logged: it is told with the next fetch.
Where changes do not tell all, since the slot is gone, was moved on by another reader, or the table was written anew,
the table is read again in a new snapshot and compared with the current rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from re import sub
from threading import RLock, Timer
from typing import Any
from uuid import uuid4

import pyarrow as pa

from workbench.errors import StreamError
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.types import DataType
from workbench.streams.corrections.declared import TRANSACTION, Changes, Corrections
from workbench.streams.live.postgres.address import parse_table, postgres_client
from workbench.streams.live.postgres.changed_rows import CONTROL, ChangedRows
from workbench.streams.live.postgres.pgoutput import Begin, Commit, RelationMessage, RowChange, Truncate, decoded
from workbench.streams.live.postgres.replication import COPIED, Replication, UndecodableError, lsn_of, lsn_text
from workbench.streams.live.postgres.table import described_table, table_now
from workbench.streams.live.reader import Fetched, OffsetMark, Offsets, TypedReader
from workbench.streams.transactions import Transactions

_PLACE = ""
"""The offset: the place in the log up to which all is logged here; "" where the table is to be read (again)."""
_SLOT, _TABLE, _PART = (f"{OffsetMark.NOTE}{name}" for name in ("slot", "table", "part"))
"""What is remembered: the slot's name, what the table was, and of a set that is logged in parts how many there were."""
LONGEST_IDLE = 2.0
"""Seconds without a fetch after which it hangs up: a server that is to end waits for who follows it, up to a minute."""
_SLOT_NOW = "SELECT confirmed_flush_lsn::text, wal_status FROM pg_replication_slots WHERE slot_name = %s"


class TableReader(TypedReader):
    """Reads a table.

    Args:
        given: its address.
        schema: the columns, where the stream has been added before; ``None``: those that the table has.

    Raises:
        StreamError: psycopg is not installed, the server cannot be reached, or the table is not to be followed.
    """

    gives_records = False
    begins_whole = True

    def __init__(self, given: str, schema: pa.Schema | None = None) -> None:
        self._address = parse_table(given)
        made_up = f"argus_{sub('[^a-z0-9_]', '_', self._address.table.lower())[:40]}_{uuid4().hex[:8]}"
        self._slot = self._address.slot or made_up
        self._questions = self._address.connected()
        try:
            self._table = described_table(self._questions, self._address)
        except BaseException:
            self._questions.close()
            raise
        super().__init__(schema or pa.schema([*self._table.schema, *CONTROL]), given)
        self.notes = self._table.notes
        self._replication: Replication | None = None
        self._parts: Iterator[tuple[int, list[Any]]] = iter(())
        self._rows = self._no_rows()
        self._places: Mapping[str, int] = {}
        self._signature, self._lock, self._timer = "", RLock(), Timer(0, self._let_go)
        self._next = ("", "")

    @property
    def remembered(self) -> Mapping[str, str]:
        """The slot's name, before there is one on the server."""
        return {_SLOT: self._slot}

    @property
    def transactions(self) -> Transactions:
        """Transactions of one database are in the order of their commits, whatever table they change."""
        return Transactions(stored_name(TRANSACTION), self._table.database)

    def corrections(self, key: Sequence[str]) -> Corrections:
        """How its rows change.

        Args:
            key: what was declared; none: what the table's changes are identified by.

        Raises:
            StreamError: changes do not have what was declared.
        """
        return Corrections(Changes.REPLICATION, tuple(map(stored_name, self._table.key_of(key))))

    def widen(self, types: Iterable[tuple[str, DataType]]) -> None:
        """Nothing: the table says its types, and what is declared otherwise is converted."""

    def look(self, most: int) -> Fetched:
        """Some of its rows, of which nothing is remembered."""
        looked, query = self._no_rows(), f"{self._table.select} LIMIT {most}"
        with self._questions.cursor().copy(f"COPY ({query}) TO STDOUT") as copied:
            for row in copied.rows():
                looked.put(row)
        batch, _, quarantined = looked.taken(len(looked))
        return Fetched(batch.drop_columns([known.name for known in CONTROL]), {}, tuple(quarantined))

    def fetch(self, offsets: Offsets, most: int) -> Fetched:
        """The changes committed by now, transaction by transaction."""
        with self._lock:
            self._timer.cancel()
            fetched = self._fetch(offsets, most)
            self._timer = Timer(LONGEST_IDLE, self._let_go)
            self._timer.daemon = True
            self._timer.start()
        return fetched

    def _fetch(self, offsets: Offsets, most: int) -> Fetched:
        place, part = offsets.get(_PLACE, ""), offsets.get(_PART, "")
        goes_on = self._replication is not None and self._next == (place, part)
        if not goes_on:
            self._hang_up()
        try:
            fetched = self._fetched(offsets, most)
        except (StreamError, postgres_client().Error, OSError) as error:
            self._hang_up()
            self._questions.close()
            # A server ends a connection that is idle for long, and all of them when it starts again.
            if part or (isinstance(error, StreamError) and not goes_on):
                raise
            fetched = self._fetched(offsets, most)
        self._next = fetched.offsets.get(_PLACE, place), fetched.offsets.get(_PART, part)
        return fetched

    def forget(self, offsets: Offsets) -> None:
        """Take the slot from the server, which would keep its log for it."""
        self._hang_up()
        replication = Replication(self._address, offsets.get(_SLOT, self._slot))
        try:
            replication.drop_slot()
        finally:
            replication.close()

    def close(self) -> None:
        """Close the connections; the slot stays."""
        self._hang_up()
        self._questions.close()

    def _let_go(self) -> None:
        """Hang up; called by the timer."""
        with self._lock:
            self._hang_up()

    def _hang_up(self) -> None:
        self._timer.cancel()
        if self._replication is not None:
            with suppress(postgres_client().Error, OSError):
                self._replication.close()
        self._replication, self._parts, self._rows = None, iter(()), self._no_rows()

    def _no_rows(self) -> ChangedRows:
        """For rows with the columns that the table has now, of which some may be none of the stream."""
        own = self._schema.names
        columns = [self._schema.field(known.name) if known.name in own else known for known in self._table.schema]
        return ChangedRows(pa.schema(columns), self._table.identity, own)

    def _fetched(self, offsets: Offsets, most: int) -> Fetched:
        if self._questions.closed:
            self._questions = self._address.connected()
        self._slot = offsets.get(_SLOT, self._slot)
        place, part = offsets.get(_PLACE, ""), offsets.get(_PART, "")
        if not place:
            return self._copied(part)
        log, number, signature = table_now(self._questions, self._table)
        known, _, _ = offsets[_TABLE].partition(" ")
        if not part and (why := self._why_anew(lsn_of(place), number == int(known), offsets[_TABLE] == signature)):
            return self._read_anew(lsn_of(place), why)
        if self._replication is None:
            self._replication = Replication(self._address, self._slot)
            self._replication.start(lsn_of(place))
        try:
            return self._changes(self._replication, int(known), lsn_of(place), log, int(part or 0), most)
        except UndecodableError as error:
            if part:
                raise
            self._hang_up()
            return self._read_anew(lsn_of(place), error.message)

    def _read_anew(self, place: int, why: str) -> Fetched:
        """Nothing now; the next look takes a snapshot."""
        problem = f"{self._address.where}: {why}; the next look compares all of it, and changes till then are one"
        return Fetched(self._rows.taken(0)[0], {_PLACE: ""}, problem=problem, known_to=place)

    def _why_anew(self, place: int, is_same: bool, is_unaltered: bool) -> str:
        """Why changes from a place on do not tell all; "": they do."""
        if not is_same:
            return "it was made anew"
        if not is_unaltered:
            return "its columns were altered"
        if self._replication is not None:
            return ""
        slot = self._questions.execute(_SLOT_NOW, [self._slot]).fetchone()
        if slot is None:
            return f"its slot {self._slot} is gone"
        if slot[1] == "lost":
            return f"the server has removed what its slot {self._slot} had not read (max_slot_wal_keep_size)"
        moved = slot[0] is not None and lsn_of(slot[0]) > place
        return f"another reader has moved its slot {self._slot} on" if moved else ""

    def _copied(self, part: str) -> Fetched:
        """A part of a new snapshot."""
        if not part:
            self._table = described_table(self._questions, self._address)
            self._hang_up()
            self._replication = Replication(self._address, self._slot)
            self._parts = self._replication.snapshot(self._table.select, self._table.name)
            self._signature = table_now(self._questions, self._table)[2]
        place, copied = next(self._parts)
        self._rows.begin(place)
        for row in copied:
            self._rows.put(row)
        is_last, after = len(copied) < COPIED, {_PART: str(int(part or 0) + 1)}
        if is_last:
            after = {_PLACE: lsn_text(place), _TABLE: self._signature, _PART: ""}
        rows, events, quarantined = self._rows.taken(len(copied))
        if is_last:
            self._hang_up()  # its statements have ended; changes are followed by another connection
        return Fetched(
            rows, after, tuple(quarantined), events=events, continues=not is_last, whole=True, known_to=place
        )

    def _changes(self, replication: Replication, table: int, place: int, log: int, part: int, most: int) -> Fetched:
        """Transactions after a place; one that is large in parts."""
        rows, continues, begin = self._rows, part > 0, place
        if not part:
            replication.confirm(place)
        for data in replication.messages(log):
            match decoded(data):
                case Begin(commit):
                    rows.begin(commit)
                case RelationMessage() as relation if relation.id == table:
                    self._places = {name: at for at, (name, *_) in enumerate(relation.columns)}
                case RowChange() as change if change.table == table:
                    rows.apply(change, self._places)
                case Truncate(tables) if table in tables:
                    rows.empty()
                case Commit(end):
                    rows.end()
                    place, continues = max(place, end), False
                    if len(rows) >= most:
                        break
            if len(rows) - rows.done >= COPIED:
                continues = True
                break
        else:
            if replication.at_end and rows.done == len(rows) and not continues:
                place = max(place, log)
        batch, events, quarantined = rows.taken(len(rows) if continues else rows.done)
        after = {_PLACE: lsn_text(place), _PART: str(part + 1) if continues else ""}
        if place == begin and not part and not continues:
            after = {}
        return Fetched(batch, after, tuple(quarantined), events=events, continues=continues, known_to=place)
