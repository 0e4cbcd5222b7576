"""The clock: how late it is on every stream, after every batch (design 3.6).

Time passes only when rows arrive: the time of a stream is the largest event time it has brought.
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
from workbench.sql.windows.stream_time import EventTimeVector, as_number, rows_of

if TYPE_CHECKING:
    from workbench.engine.storage.relation import Relation


EPOCH = dt.datetime(1970, 1, 1)
"""When event times that are plain numbers of seconds begin."""
LARGEST = int((dt.datetime.max - EPOCH).total_seconds()) // 2
"""Numbers beyond it are no seconds from then."""


@dataclass(frozen=True)
class Clock:
    """The moments after all batches so far. Immutable: a batch makes a later clock, and counts when it has succeeded.

    Attributes:
        times: for a stream that has event times their column; names in lower case.
        moments: one for each batch, and first that after the history.
    """

    times: Mapping[str, str] = field(default_factory=dict)
    moments: tuple[tuple[int, EventTimeVector], ...] = ((0, {}),)

    @property
    def now(self) -> EventTimeVector:
        """What time it is."""
        return self.moments[-1][1]

    @property
    def latest(self) -> dt.datetime | None:
        """The latest event time that any stream has brought; plain numbers count seconds from ``EPOCH``."""
        times = (_as_datetime(self.now.get(stream)) for stream in self.times)
        return max((time for time in times if time is not None), default=None)

    def rows(self, stream: str) -> int:
        """How many rows a stream has brought."""
        rows = self.now.get(rows_of(stream))
        return rows if isinstance(rows, int) else 0

    def standing(self, moment: EventTimeVector) -> Clock:
        """A clock that stands at a moment."""
        return replace(self, moments=((self.moments[-1][0], moment),))

    def after_batch(self, batch: int) -> EventTimeVector:
        """What time it was after a batch."""
        return next((moment for number, moment in reversed(self.moments) if number <= batch), {})

    def with_stream(self, name: str, time: str) -> Clock:
        """The clock with another stream, of which nothing has arrived yet."""
        return replace(self, times={**self.times, name.lower(): stored_name(time)})

    def with_rows(self, batch: int, brought: Mapping[str, pa.Table]) -> Clock:
        """The clock with rows of an earlier batch."""
        later = ((b, self._later(moment, brought) if b >= batch else moment) for b, moment in self.moments)
        return replace(self, moments=tuple(later))

    def after(self, batch: int, arriving: Mapping[str, pa.Table]) -> Clock:
        """The clock after a batch."""
        return replace(self, moments=(*self.moments, (batch, self._later(self.now, arriving))))

    def _later(self, moment: EventTimeVector, arriving: Mapping[str, pa.Table]) -> EventTimeVector:
        """A moment after rows have arrived; those without an event time count as rows only."""
        later = dict(moment)
        for name, table in arriving.items():
            time = self.times.get(name.lower())
            _advance(later, name, None if time is None else pc.max(table.column(time)).as_py(), table.num_rows)
        return later


def clock_of(arrived: Mapping[str, Relation], times: Mapping[str, str | None], batches: Iterable[int]) -> Clock:
    """The clock that streams came to, by the rows they have brought, each with its batch.

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
    moment: dict[str, Value] = {}
    moments = []
    for batch in (0, *batches):
        for about in brought.get(batch, ()):
            _advance(moment, *about)
        moments.append((batch, dict(moment)))
    return Clock(known, tuple(moments))


def _by_batch(segment: Segment, time: str | None) -> Iterator[tuple[int, Value, int]]:
    """For each batch that brought rows of a segment their latest time and their number."""
    wanted = [BATCH] if time is None else [BATCH, time]
    rows = pa.Table.from_batches([open_segment(segment.path).select(wanted)])
    asked: list[tuple[Any, str]] = [([], "count_all")] if time is None else [([], "count_all"), (time, "max")]
    for found in rows.group_by(BATCH).aggregate(asked).to_pylist():
        yield found[BATCH], found.get(f"{time}_max"), found["count_all"]


def _advance(moment: dict[str, Value], name: str, latest: Value, rows: int) -> None:
    """Make a moment later by rows of a stream."""
    key, counted = name.lower(), rows_of(name)
    before = moment.get(counted)
    moment[counted] = rows + (before if isinstance(before, int) else 0)
    if latest is not None:
        moment[key] = max((time for time in (moment.get(key), latest) if time is not None), key=_order)


def _as_datetime(time: Value) -> dt.datetime | None:
    match time:
        case dt.datetime():
            return time
        case dt.date():
            return dt.datetime.combine(time, dt.time())
        case int() if abs(time) <= LARGEST:
            return EPOCH + dt.timedelta(seconds=time)
    return None


def _order(time: Value) -> int:
    number = as_number(time)
    assert number is not None
    return number
