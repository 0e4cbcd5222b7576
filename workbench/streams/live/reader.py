"""Readers of live sources: a fetch gives rows, and where the source resumes after them.

A new kind of source is a module with a ``Reader``, and a case in ``sources.open_live``. A reader has no memory that
counts: it is told where to resume, so after a crash it resumes where the stream's log ends. What a source repeats is
before that place, and is not read again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

import pyarrow as pa

from workbench.arrow.types import to_arrow
from workbench.errors import StreamError
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.types import DataType, Kind
from workbench.streams.convert import is_text
from workbench.streams.corrections.declared import Corrections
from workbench.streams.drift import Differences, Drift
from workbench.streams.files.json_values import ENVELOPE, as_texts, field_of, is_as_text, lacking_columns
from workbench.streams.guessing import Guess
from workbench.streams.source import QuarantinedRow
from workbench.streams.transactions import Transactions

Offsets = Mapping[str, str]
"""Where a source goes on, by the names of its partitions, files or topics; one without any is ``""``. Other entries
begin with an ``OffsetMark``."""


LogRows = Callable[[int], tuple[Offsets, int]]
"""Logs what a reader has, unless more rows wait for a batch than are given; returns its offsets, and how many wait."""


class OffsetMark(StrEnum):
    """The first character of an entry of offsets that is no partition's."""

    SETTING = "@"
    """What the session knows of the source."""
    LINES = "#"
    """The number of records so far, by which quarantined ones have lines."""
    NOTE = "/"
    """What the reader must remember of a partition."""


_MARKS = {mark.value: mark for mark in OffsetMark}


def mark_of(entry: str) -> OffsetMark | None:
    """The mark of an entry of offsets; ``None``: it is a partition's.

    Example:
        >>> mark_of("#"), mark_of("part-1.csv")
        (<OffsetMark.LINES: '#'>, None)
    """
    return _MARKS.get(entry[:1])


class NothingYet(StreamError):
    """Nothing of a live source is there yet that says what columns it has."""

    def __init__(self, message: str) -> None:
        said = "--type id=integer for each, columns={'id': 'integer', …} in Python"
        hint = f"add the stream when there is something, or say all its columns: {said}"
        super().__init__(message, hint=hint)


@dataclass(frozen=True)
class SourcePart:
    """A part of what a live source has now, which a task reads as a whole: an object, or messages of a partition.

    Attributes:
        place: what it is called in offsets.
        bytes: how many it has, about.
        told: what a task must know of it, in terms of JSON.
    """

    place: str
    bytes: int
    told: Any


LARGEST_PART = 128_000_000
"""Bytes of a part that a task reads as a whole: it has all of its rows in memory."""


@dataclass(frozen=True)
class Landed:
    """The rows of one part, which a task has written as a file of the log.

    Attributes:
        offsets: where the source resumes after it.
        file: its name, its rows and its checksum; ``None`` where no row fits.
        last: the number of its last record, from 1.
        of_reader: records that are no rows.
        quarantined: rows that do not fit; their lines are numbers of records of the part.
        drifts: what drifts in the rows, which are counted from 0.
        gone: the columns that they lack.
    """

    offsets: Offsets
    file: tuple[str, int, int] | None
    last: int
    of_reader: Sequence[QuarantinedRow]
    quarantined: Sequence[QuarantinedRow]
    drifts: Sequence[Drift]
    gone: Sequence[str]


@dataclass(frozen=True)
class Fetched:
    """Some rows of a live source.

    Attributes:
        rows: in order, with the columns of the reader's schema, and ``MORE`` where some have members that are none.
        offsets: where the partitions resume that have given rows.
        quarantined: records that are no rows; their lines are places among the source's records.
        ended: whether there will never be more.
        places: of a source with partitions, the partition and the offset that each row came from.
        problem: what of it cannot be read now, or why it has ended; the rest is read.
        found: what the rows have that are no columns, and which columns they lack.
        events: of each row the number of the record that it came from, counted from 1; ``None``: each is one.
        continues: whether the next fetch gives more of what belongs together, to be logged in one step with this.
        whole: whether the rows, with those that follow in this step, are all that there are.
        known_to: the id up to which all transactions have been read, of a source that knows it.
        forgotten: partitions of which nothing must be known any more.
        landed: rows that tasks have written already; then there are no others.
    """

    rows: pa.RecordBatch
    offsets: Offsets
    quarantined: tuple[QuarantinedRow, ...] = field(default=())
    ended: bool = False
    places: tuple[tuple[str, int], ...] = field(default=())
    problem: str = ""
    found: Differences = field(default_factory=Differences)
    events: Sequence[int] | None = None
    continues: bool = False
    whole: bool = False
    known_to: int | None = None
    forgotten: tuple[str, ...] = ()
    landed: tuple[Landed, ...] = ()


ReadPart = Callable[[SourcePart], Fetched | None]
"""Reads a part in a task, to which it is pickled; ``None``: it cannot be read as a whole."""
Land = Callable[[Sequence[SourcePart], ReadPart], Sequence[Landed]]
"""Lets tasks read the first of some parts, and says what they have written."""


class Reader(Protocol):
    """Reads a live source."""

    @property
    def schema(self) -> pa.Schema:
        """Its columns; known when the stream is added."""

    @property
    def inferred(self) -> Mapping[str, Guess]:
        """The types that the values of columns of text suggest."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What else was found out about how it is written."""

    @property
    def description(self) -> str:
        """The source in words, to show."""

    def widen(self, types: Iterable[tuple[str, DataType]]) -> None:
        """Read fractions and digits, too, where the columns of the stream have them (``widened``).

        Args:
            types: of the stream's columns, by their stored names.
        """

    def declare(self, types: Mapping[str, DataType]) -> None:
        """Read columns so that nothing is lost before their values are converted to the types that are declared.

        Args:
            types: of columns, by their stored names.
        """

    @property
    def begins_whole(self) -> bool:
        """Whether its first fetch gives all that there is at first, as a table does that is followed."""

    @property
    def remembered(self) -> Offsets:
        """The state that must be stored before the reader gives the first row."""

    @property
    def transactions(self) -> Transactions | None:
        """How the source marks transactions; ``None`` where it does not."""

    def corrections(self, key: Sequence[str]) -> Corrections | None:
        """How its rows change, where it says so by itself.

        Args:
            key: the columns that were declared to say which row is meant.

        Raises:
            StreamError: they do not.
        """

    def look(self, most: int) -> Fetched:
        """Some of its rows, to show; those of a source that can be asked twice are given again."""

    def forget(self, offsets: Offsets) -> None:
        """Let the source forget its state for a dropped stream."""

    def fetch(self, offsets: Offsets, most: int) -> Fetched:
        """Rows that are there by now, from the offsets on.

        A record that cannot be read is among the quarantined ones; a part that cannot be read is the ``problem``.

        Args:
            offsets: where to resume; a partition that is not among them begins at its beginning.
            most: the number of rows that is enough.

        Raises:
            Exception: nothing of it can be read now; it is tried again with the next batch.
        """

    def begin(self, log: LogRows) -> None:
        """Be able to log rows as they come, of a source that sends them by itself; ``log`` may be called in any thread.

        It is called when the stream is there, or is being added.
        """

    def close(self) -> None:
        """Close files and connections."""


class ReadInParts:
    """What readers have alike of whose sources tasks can read parts."""

    _land: Land | None = None
    _at_once = 1
    """How many parts are read at once."""

    def let_land(self, land: Land, at_once: int) -> None:
        """Be able to let tasks read, some parts at once."""
        self._land, self._at_once = land, at_once

    def _landed(self, parts: Sequence[SourcePart], read: ReadPart) -> tuple[Landed, ...]:
        """What tasks have written of the first of some parts that were not read before; of none, where none may."""
        return () if self._land is None else tuple(self._land(parts, read))


class BaseReader(ABC):
    """What most readers have alike: their sources remember nothing, and say nothing of changes and transactions."""

    begins_whole = False

    @property
    def remembered(self) -> Offsets:
        """Nothing."""
        return {}

    @property
    def transactions(self) -> Transactions | None:
        """None: the source marks no transactions."""
        return None

    def corrections(self, key: Sequence[str]) -> Corrections | None:
        """None: the source has no form of corrections."""
        return None

    def look(self, most: int) -> Fetched:
        """Its first rows."""
        return self.fetch({}, most)

    def forget(self, offsets: Offsets) -> None:  # noqa: B027 - a reader that remembers nothing needs none
        """Nothing is remembered."""

    def begin(self, log: LogRows) -> None:  # noqa: B027 - most are asked for rows
        """Nothing comes by itself."""

    @abstractmethod
    def fetch(self, offsets: Offsets, most: int) -> Fetched:
        """See ``Reader``."""


class TypedReader(BaseReader):
    """The base of readers whose columns are found out once, with the first rows.

    Args:
        schema: the columns.
        description: what it reads, to show.
        inferred: the types that the values of columns of text suggest.
        notes: what is said of how texts are read.
    """

    gives_records = True
    """Whether its rows are records, of which any value can be read as a text."""

    def __init__(
        self,
        schema: pa.Schema,
        description: str,
        inferred: Mapping[str, Guess] | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        self._schema, self._description = schema, description
        self.inferred: Mapping[str, Guess] = inferred or {}
        self.notes = (*notes,)

    @property
    def schema(self) -> pa.Schema:
        """Its columns."""
        return self._schema

    @property
    def description(self) -> str:
        """The source in words."""
        return self._description

    def declare(self, types: Mapping[str, DataType]) -> None:
        """Read values of JSON or of Python as texts, where their types are declared."""
        if self.gives_records:
            lacking = lacking_columns(self._schema, types)
            self.notes = tuple(f"{column.name}: no record has it so far" for column in lacking)
            self._schema = as_texts(pa.schema([*self._schema, *lacking], self._schema.metadata), types)

    def widen(self, types: Iterable[tuple[str, DataType]]) -> None:
        """Read fractions, too, where the stream has them."""
        self._schema = widened(self._schema, types)

    def close(self) -> None:
        """Nothing is open between two fetches."""


def widened(schema: pa.Schema, types: Iterable[tuple[str, DataType]]) -> pa.Schema:
    """A source's columns, where whole numbers may have fractions, and decimals more digits, as the stream says.

    The first records of a source may have whole numbers only by chance. What the stream was declared to have, or had
    before its source was attached again, counts more; otherwise a fraction would be no value of the column.

    Args:
        schema: as the first records suggest it.
        types: of the stream's columns, by their stored names.

    Example:
        >>> from workbench.sql.algebra.types import DOUBLE, decimal
        >>> widened(pa.schema([("Fee", pa.int64())]), [("fee", DOUBLE)]).field("Fee").type
        DataType(double)
        >>> widened(pa.schema([("fee", pa.decimal128(2, 1))]), [("fee", decimal(20, 6))]).field("fee").type
        Decimal128Type(decimal128(20, 6))
    """
    by_name = dict(types)
    return pa.schema([_widened(field, by_name) for field in schema], schema.metadata)


def _widened(field: pa.Field, types: Mapping[str, DataType]) -> pa.Field:
    is_ = pa.types
    if field.name in ENVELOPE and is_.is_struct(field.type):
        return field.with_type(pa.struct([_widened(inner, types) for inner in field.type]))
    type_, found = types.get(stored_name(field.name)), field.type
    if type_ is None or is_as_text(field) or is_text(found):
        return field
    is_number = is_.is_integer(found) or is_.is_decimal(found)
    takes_more = {
        Kind.DOUBLE: is_number,
        Kind.DECIMAL: is_.is_decimal(found) or (is_.is_integer(found) and bool(type_.scale)),
        Kind.TIMESTAMP: is_.is_date(found),
    }
    if type_.kind is Kind.STRING and not is_.is_nested(found):
        return field_of(field.name, pa.null())
    return field.with_type(to_arrow(type_)) if takes_more.get(type_.kind) else field
