"""The event-time clock: the event-time vector after every batch.

A vector has one time for each stream: the largest event time that it has brought. So time passes only when rows arrive,
and a replay gives the same times. A vector is not a watermark: a watermark promises that no earlier row will come, and
later rows are dropped. Here rows that come late are evaluated like all others, unless the stream limits lateness.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from workbench.engine.storage.layout import BATCH
from workbench.engine.storage.segments import Segment, open_segment
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import Value
from workbench.sql.constraints import largest_key
from workbench.sql.windows.stream_time import EventTimeVector, as_number, row_number_key

if TYPE_CHECKING:
    from workbench.engine.storage.relation import Relation


_EPOCH = dt.datetime(1970, 1, 1)
"""When event times that are plain numbers of seconds begin."""
LARGEST = int((dt.datetime.max - _EPOCH).total_seconds()) // 2
"""Numbers beyond it are no seconds from then."""


EventTimeVectors = tuple[tuple[int, EventTimeVector], ...]
"""The vectors after the history, which is batch 0, and after batches, each with its batch."""


@dataclass(frozen=True)
class Brought:
    """What rows of a stream that arrive tell the clock: how many they are, and the largest values of columns."""

    rows: int = 0
    largest: Mapping[str, Value] = field(default_factory=dict)

    def and_then(self, later: Brought) -> Brought:
        """The rows and largest times of both."""
        largest = dict(self.largest)
        for column, value in later.largest.items():
            _reach(largest, column, value)
        return Brought(self.rows + later.rows, largest)


def brought_by(rows: pa.Table, columns: Iterable[str]) -> Brought:
    """What rows tell the clock of some columns."""
    return Brought(rows.num_rows, {column: pc.max(rows.column(column)).as_py() for column in columns})


@dataclass(frozen=True)
class EventTimeClock:
    """The event-time vectors after all batches so far. Immutable: a batch that fails has advanced nothing.

    Attributes:
        times: the column with event times of each stream that has some; names in lower case.
        vectors: one for each batch, after the one for the history.
        ordered: the columns of each stream whose largest values vectors have, too, under ``largest_key``.
    """

    times: Mapping[str, str] = field(default_factory=dict)
    vectors: EventTimeVectors = ((0, {}),)
    ordered: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @staticmethod
    def of(
        times: Mapping[str, str | None], ordered: Mapping[str, Sequence[str]], vectors: EventTimeVectors
    ) -> EventTimeClock:
        """A clock.

        Args:
            times: the column with event times of every stream, if it has one.
            ordered: the columns of streams whose largest values are known, too.
            vectors: see the attributes.
        """
        known = {name.lower(): stored_name(time) for name, time in times.items() if time is not None}
        return EventTimeClock(known, vectors, {name.lower(): columns for name, columns in ordered.items() if columns})

    @property
    def now(self) -> EventTimeVector:
        """The latest vector."""
        return self.vectors[-1][1]

    @property
    def latest(self) -> dt.datetime | None:
        """The latest event time that any stream has brought; plain numbers count seconds from ``_EPOCH``."""
        times = map(self.latest_of, self.times)
        return max((time for time in times if time is not None), default=None)

    def latest_of(self, stream: str) -> dt.datetime | None:
        """The latest event time that a stream has brought."""
        return _as_datetime(self.now.get(stream.lower())) if stream.lower() in self.times else None

    def latest_by_batch(self, streams: Iterable[str]) -> Iterator[tuple[int, dt.datetime | None]]:
        """For the history and each batch the latest event time that any of some streams had brought until then."""
        timed = [name for name in map(str.lower, streams) if name in self.times]
        for batch, vector in self.vectors:
            times = (_as_datetime(vector.get(name)) for name in timed)
            yield batch, max((time for time in times if time is not None), default=None)

    def rows(self, stream: str) -> int:
        """The number of rows of a stream so far."""
        rows = self.now.get(row_number_key(stream))
        return rows if isinstance(rows, int) else 0

    def held_at(self, vector: EventTimeVector) -> EventTimeClock:
        """The clock of a single vector."""
        return replace(self, vectors=((self.vectors[-1][0], vector),))

    def until(self, batch: int) -> EventTimeClock:
        """The clock as it was after a batch."""
        return replace(self, vectors=tuple(known for known in self.vectors if known[0] <= batch) or self.vectors[:1])

    def after_batch(self, batch: int) -> EventTimeVector:
        """The vector after a batch; empty before the history."""
        return next((vector for number, vector in reversed(self.vectors) if number <= batch), {})

    def with_stream(self, name: str, time: str | None, ordered: Sequence[str] = ()) -> EventTimeClock:
        """The clock with another stream, of which nothing has arrived yet."""
        times = {} if time is None else {name.lower(): stored_name(time)}
        largest = {name.lower(): ordered} if ordered else {}
        return replace(self, times={**self.times, **times}, ordered={**self.ordered, **largest})

    def without_stream(self, name: str) -> EventTimeClock:
        """The clock without a stream."""
        ordered = (largest_key(name, column) for column in self.ordered.get(name.lower(), ()))
        gone = {name.lower(), row_number_key(name), *ordered}
        vectors = tuple((b, {key: at for key, at in vector.items() if key not in gone}) for b, vector in self.vectors)
        times = {key: time for key, time in self.times.items() if key not in gone}
        others = {key: columns for key, columns in self.ordered.items() if key not in gone}
        return EventTimeClock(times, vectors, others)

    def columns_of(self, stream: str) -> tuple[str, ...]:
        """The columns of a stream whose largest values are known."""
        time = self.times.get(stream.lower())
        return tuple(dict.fromkeys([*([] if time is None else [time]), *self.ordered.get(stream.lower(), ())]))

    def with_rows(self, batch: int, brought: Mapping[str, Brought]) -> EventTimeClock:
        """The clock with rows of an earlier batch."""
        later = ((b, self._later(vector, brought) if b >= batch else vector) for b, vector in self.vectors)
        return replace(self, vectors=tuple(later))

    def after(self, batch: int, brought: Mapping[str, Brought]) -> EventTimeClock:
        """The clock after a batch."""
        return replace(self, vectors=(*self.vectors, (batch, self._later(self.now, brought))))

    def _later(self, vector: EventTimeVector, brought: Mapping[str, Brought]) -> EventTimeVector:
        """A vector after rows have arrived; those without an event time count as rows only."""
        later = dict(vector)
        for name, rows in brought.items():
            time = self.times.get(name.lower())
            _advance(later, name, None if time is None else rows.largest.get(time), rows.rows)
            for column in self.ordered.get(name.lower(), ()):
                _reach(later, largest_key(name, column), rows.largest.get(column))
        return later


def recover_clock(
    arrived: Mapping[str, Relation],
    times: Mapping[str, str | None],
    batches: Iterable[int],
    ordered: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> EventTimeClock:
    """The clock computed again from the rows that streams have brought, each with its batch.

    Args:
        arrived: the rows of every stream.
        times: the column with event times of every stream, if it has one.
        batches: all batches that were run.
        ordered: the columns of streams whose largest values are known, too.
    """
    clock = EventTimeClock.of(times, ordered, ())
    brought: dict[int, list[tuple[str, Value, int, Mapping[str, Value]]]] = {}
    for name, relation in arrived.items():
        time, columns = clock.times.get(name.lower()), clock.ordered.get(name.lower(), ())
        for segment in relation.segments:
            for batch, totals in _by_batch(segment, [*([] if time is None else [time]), *columns]):
                of_columns = {largest_key(name, column): totals[f"{column}_max"] for column in columns}
                latest = None if time is None else totals[f"{time}_max"]
                brought.setdefault(batch, []).append((name, latest, totals["count_all"], of_columns))
    vector: dict[str, Value] = {}
    vectors = []
    for batch in (0, *batches):
        for name, latest, rows, reached in brought.get(batch, ()):
            _advance(vector, name, latest, rows)
            for key, value in reached.items():
                _reach(vector, key, value)
        vectors.append((batch, dict(vector)))
    return replace(clock, vectors=tuple(vectors))


def _by_batch(segment: Segment, columns: Sequence[str]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """For each batch that brought rows of a segment the largest values of some columns, and the number of rows."""
    distinct = [*dict.fromkeys(columns)]
    rows = pa.Table.from_batches([open_segment(segment.path).select([BATCH, *distinct])])
    aggregates: list[tuple[Any, str]] = [([], "count_all"), *((column, "max") for column in distinct)]
    for totals in rows.group_by(BATCH).aggregate(aggregates).to_pylist():
        yield totals[BATCH], totals


def _advance(vector: dict[str, Value], name: str, latest: Value, rows: int) -> None:
    """Advance a vector by rows of a stream."""
    counted = row_number_key(name)
    before = vector.get(counted)
    vector[counted] = rows + (before if isinstance(before, int) else 0)
    _reach(vector, name.lower(), latest)


def _reach(vector: dict[str, Value], key: str, latest: Value) -> None:
    """Let a vector have a value that is not less than before."""
    if latest is not None:
        vector[key] = max((time for time in (vector.get(key), latest) if time is not None), key=_order)


def _as_datetime(time: Value) -> dt.datetime | None:
    match time:
        case dt.datetime():
            return time
        case dt.date():
            return dt.datetime.combine(time, dt.time())
        case int() if abs(time) <= LARGEST:
            return _EPOCH + dt.timedelta(seconds=time)
    return None


def _order(time: Value) -> int:
    number = as_number(time)
    assert number is not None
    return number
