"""The event-time clock: the event-time vector after every batch.

A vector has one time for each stream: the largest event time that it has brought. So time passes only when rows arrive,
and a replay gives the same times. A vector is not a watermark: a watermark promises that no earlier row will come, and
later rows are dropped. Here rows that come late are evaluated like all others, unless the stream limits lateness.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from workbench.engine.storage.layout import BATCH
from workbench.engine.storage.segments import Segment, open_segment
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import Value
from workbench.sql.windows.stream_time import EventTimeVector, as_number, row_number_key

if TYPE_CHECKING:
    from workbench.engine.storage.relation import Relation


_EPOCH = dt.datetime(1970, 1, 1)
"""When event times that are plain numbers of seconds begin."""
LARGEST = int((dt.datetime.max - _EPOCH).total_seconds()) // 2
"""Numbers beyond it are no seconds from then."""


@dataclass(frozen=True)
class EventTimeClock:
    """The event-time vectors after all batches so far. Immutable: a batch that fails has advanced nothing.

    Attributes:
        times: the column with event times of each stream that has some; names in lower case.
        vectors: one for each batch, after the one for the history.
    """

    times: Mapping[str, str] = field(default_factory=dict)
    vectors: tuple[tuple[int, EventTimeVector], ...] = ((0, {}),)

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
        """How many rows a stream has brought."""
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

    def with_stream(self, name: str, time: str) -> EventTimeClock:
        """The clock with another stream, of which nothing has arrived yet."""
        return replace(self, times={**self.times, name.lower(): stored_name(time)})

    def without_stream(self, name: str) -> EventTimeClock:
        """The clock without a stream."""
        gone = {name.lower(), row_number_key(name)}
        vectors = tuple((b, {key: at for key, at in vector.items() if key not in gone}) for b, vector in self.vectors)
        return EventTimeClock({key: time for key, time in self.times.items() if key not in gone}, vectors)

    def with_rows(self, batch: int, brought: Mapping[str, pa.Table]) -> EventTimeClock:
        """The clock with rows of an earlier batch."""
        later = ((b, self._later(vector, brought) if b >= batch else vector) for b, vector in self.vectors)
        return replace(self, vectors=tuple(later))

    def after(self, batch: int, arriving: Mapping[str, pa.Table]) -> EventTimeClock:
        """The clock after a batch."""
        return replace(self, vectors=(*self.vectors, (batch, self._later(self.now, arriving))))

    def _later(self, vector: EventTimeVector, arriving: Mapping[str, pa.Table]) -> EventTimeVector:
        """A vector after rows have arrived; those without an event time count as rows only."""
        later = dict(vector)
        for name, table in arriving.items():
            time = self.times.get(name.lower())
            _advance(later, name, None if time is None else pc.max(table.column(time)).as_py(), table.num_rows)
        return later


def recover_clock(
    arrived: Mapping[str, Relation], times: Mapping[str, str | None], batches: Iterable[int]
) -> EventTimeClock:
    """The clock computed again from the rows that streams have brought, each with its batch.

    Args:
        arrived: the rows of every stream.
        times: the column with event times of every stream, if it has one.
        batches: all batches that were run.
    """
    known = {name.lower(): stored_name(time) for name, time in times.items() if time is not None}
    brought: dict[int, list[tuple[str, Value, int]]] = {}
    for name, relation in arrived.items():
        time = known.get(name.lower())
        for segment in relation.segments:
            for batch, latest, rows in _by_batch(segment, time):
                brought.setdefault(batch, []).append((name, latest, rows))
    vector: dict[str, Value] = {}
    vectors = []
    for batch in (0, *batches):
        for name, latest, rows in brought.get(batch, ()):
            _advance(vector, name, latest, rows)
        vectors.append((batch, dict(vector)))
    return EventTimeClock(known, tuple(vectors))


def _by_batch(segment: Segment, time: str | None) -> Iterator[tuple[int, Value, int]]:
    """For each batch that brought rows of a segment their latest time and their number."""
    columns = [BATCH] if time is None else [BATCH, time]
    rows = pa.Table.from_batches([open_segment(segment.path).select(columns)])
    aggregates: list[tuple[Any, str]] = [([], "count_all")] if time is None else [([], "count_all"), (time, "max")]
    for totals in rows.group_by(BATCH).aggregate(aggregates).to_pylist():
        yield totals[BATCH], totals.get(f"{time}_max"), totals["count_all"]


def _advance(vector: dict[str, Value], name: str, latest: Value, rows: int) -> None:
    """Advance a vector by rows of a stream."""
    key, counted = name.lower(), row_number_key(name)
    before = vector.get(counted)
    vector[counted] = rows + (before if isinstance(before, int) else 0)
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
