"""A stream or table of a session: its log, and how far the log has been replayed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from workbench.errors import StreamError, nearest
from workbench.errors.unknown_attributes import TellsNames
from workbench.optimizer.statistics import SAMPLE_ROWS, StreamStatistics, collect
from workbench.sql.algebra.column_names import display_name, stored_name
from workbench.sql.algebra.types import DataType, Kind
from workbench.sql.by_name import NamedTypes
from workbench.sql.constraints import ArrivalOrder, Constraint
from workbench.streams.arriving import ArrivingRows
from workbench.streams.batch_spans import boundary_after, first_from, span_of, span_text
from workbench.streams.corrections.declared import WEIGHT, Corrections
from workbench.streams.cut import SHEDDING, BatchCut, Gap, sampled_by
from workbench.streams.declared_constraints import DeclaredConstraint
from workbench.streams.drift import Drift
from workbench.streams.guessing import Guess
from workbench.streams.lateness import Lateness
from workbench.streams.log import CHUNK_ROWS, StreamLog
from workbench.streams.source import QuarantinedRow

DEFAULT_BATCH = 1_000
MOST_CHUNKS = 20
"""Chunks of the log whose rows statistics are of: a row is read with its whole chunk."""


@dataclass(frozen=True, repr=False)
class Stream(TellsNames):
    """A stream or table and the state of its replay; immutable, so a batch that failed can be taken again.

    The rows ``[0, history)`` are batch 0.

    Attributes:
        log: all rows, in arrival order.
        history: rows that were there from the start.
        batch: rows that arrive with each batch, or the length of event time that it covers (``batch_spans``).
        position: rows that have arrived, history included; the position of the next row to arrive.
        time: the column with event times.
        table: whether it is a static table.
        shed: how rows may be left out that come faster than they can be answered (``SHEDDING``); ``None``: not at all.
        gaps: rows that were left out and not caught up, in the order of the log.
        constraints: what is declared of its rows.
    """

    log: StreamLog
    history: int
    batch: int | timedelta
    position: int
    time: str | None = None
    table: bool = False
    shed: str | None = None
    gaps: tuple[Gap, ...] = ()
    constraints: tuple[DeclaredConstraint, ...] = ()

    def __repr__(self) -> str:
        arrived = "" if self.table else f", {self.position:,} of them arrived"
        time = f", time={self.time!r}" if self.time else ""
        count = self.current_rows if self.table else self.rows
        rows = f"{count:,} row{'s' * (count != 1)}"
        quarantined = f", {count:,} quarantined" if (count := self.quarantined_rows) else ""
        return f"{'Table' if self.table else 'Stream'}({self.name!r}, {rows}{arrived}{quarantined}{time})"

    @property
    def name(self) -> str:
        """The name that queries use."""
        return self.log.name

    @property
    def columns(self) -> NamedTypes:
        """Names and types; by a name, its type."""
        return NamedTypes((display_name(name), type_) for name, type_ in self.stored_columns)

    @property
    def spelled(self) -> dict[str, str]:
        """The columns with capital letters, as the source spelled them, by their names."""
        added = {column.name: column.column for column in self.log.added if column.column != column.column.lower()}
        return {display_name(stored): name for stored, name in {**self.log.spelled, **added}.items()}

    @property
    def guesses(self) -> dict[str, Guess]:
        """What the columns of texts seem to be that were not declared, and why, by their names."""
        return {display_name(stored): guess for stored, guess in self.log.guesses.items()}

    @property
    def notes(self) -> tuple[str, ...]:
        """What else was found out about how its source is written, and what of its schema drifts."""
        return (*self.log.notes, *(drift.text(f"row {drift.first + 1:,}") for drift in self.drifts))

    @property
    def drifts(self) -> tuple[Drift, ...]:
        """The members that are new in its rows, and the columns that are gone from them or have NaN."""
        return self.log.drifts

    @property
    def stored_columns(self) -> tuple[tuple[str, DataType], ...]:
        """Stored names and types, as its rows have them."""
        return self.log.columns

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.log.rows

    @property
    def current_rows(self) -> int:
        """How many of its rows are neither replaced nor deleted by a later one."""
        if self.append_only:
            return self.rows
        return int(pc.sum(self.log.read(0, self.rows, [WEIGHT]).column(0)).as_py() or 0)

    @property
    def batch_text(self) -> str:
        """The size of a batch, as a number of rows or a length of event time; "" for a table."""
        if self.table:
            return ""
        return f"{self.batch:,}" if isinstance(self.batch, int) else span_text(self.batch)

    @property
    def corrections(self) -> Corrections | None:
        """How its rows are changed or taken back; ``None``: it is append-only."""
        return self.log.corrections

    @property
    def key(self) -> tuple[str, ...]:
        """Stored names of the columns of which no two rows have the same values; none: there are no such."""
        return () if self.corrections is None else self.corrections.key

    @property
    def append_only(self) -> bool:
        """Whether no row is ever taken back."""
        return self.corrections is None

    @property
    def waiting(self) -> int:
        """Rows that are in the log and have not arrived."""
        return self.log.rows - self.position

    @property
    def left_out(self) -> int:
        """Rows that batches have passed over, and that were not caught up."""
        return sum(gap.rows for gap in self.gaps)

    @property
    def lateness(self) -> Lateness | None:
        """How late rows may be; ``None``: there is no limit."""
        return self.log.lateness

    def as_event_time(self, clock: datetime | None, zone: str) -> datetime | int | None:
        """What its clock says as its rows do: a number where event times are numbers, which count seconds from 1970,
        and of instants the time in a zone.
        """
        if clock is None or self.time is None:
            return clock
        type_ = dict(self.stored_columns)[stored_name(self.time)]
        if type_.kind is Kind.INTEGER:
            return int(clock.replace(tzinfo=UTC).timestamp())
        if not type_.zoned:
            return clock
        try:
            return clock.replace(tzinfo=UTC).astimezone(ZoneInfo(zone))
        except OverflowError:  # of the years 1 and 9999, which stand for no time mostly
            return clock.replace(tzinfo=UTC)

    @property
    def holding(self) -> tuple[Constraint, ...]:
        """The constraints that no row has broken."""
        return tuple(declared.constraint for declared in self.constraints if not declared.broken)

    @property
    def ordered(self) -> tuple[str, ...]:
        """The columns whose order is declared, by their stored names."""
        orders = (declared.constraint for declared in self.constraints)
        return tuple(dict.fromkeys(order.column for order in orders if isinstance(order, ArrivalOrder)))

    def with_broken(self, broken: Mapping[Constraint, str]) -> Stream:
        """The stream some of whose constraints do not hold, each with the reason."""
        declared = (d if d.broken else replace(d, broken=broken.get(d.constraint, "")) for d in self.constraints)
        return replace(self, constraints=tuple(declared))

    @property
    def late_rows(self) -> int:
        """How many rows were quarantined so far because they came later than ``lateness`` allows."""
        return len(self.log.late_between(0, self.position))

    @property
    def quarantined_rows(self) -> int:
        """How many rows were quarantined: rows of the source that do not fit its columns, and late rows."""
        return self.log.misfits + self.late_rows

    @property
    def quarantined(self) -> tuple[QuarantinedRow, ...]:
        """The first of the quarantined rows, each with its line, its text and the reason."""
        return tuple(entry for entry in self.log.quarantined if entry.row is None or entry.row < self.position)

    @property
    def quarantine_mark(self) -> tuple[int, int]:
        """The present mark, for a later ``quarantined_since``."""
        return self.log.misfits, self.position

    def quarantined_since(self, mark: tuple[int, int]) -> tuple[int, tuple[QuarantinedRow, ...]]:
        """How many rows were quarantined since then, and the first of them: misfits of a live source, and late rows."""
        misfits, position = mark
        late = len(self.log.late_between(position, self.position))
        late_rows = (row for row in self.quarantined if row.row is not None and position <= row.row)
        return self.log.misfits - misfits + late, (*self.log.quarantined_later(misfits), *late_rows)

    def next(self, size: int | BatchCut | None = None) -> tuple[Stream, pa.Table]:
        """The stream after the next batch, and the rows of the batch; see ``take``."""
        after, rows = self.take(size)
        return after, rows.table()

    def take(self, size: int | BatchCut | None = None) -> tuple[Stream, ArrivingRows]:
        """The stream after the next batch, and the batch: fewer rows at the end, none after it.

        Late rows are not in the batch, though they count as rows taken. What a line of the source changes is never
        parted: a batch may have a few rows more than asked for.

        Args:
            size: rows to take, instead of those that are due when the stream is alone; 0 takes none. A cut also says
                which rows are passed over, and which that were are taken now.

        Raises:
            StreamError: ``size`` is no whole number or negative, or the log cannot be read.
        """
        if isinstance(size, BatchCut):
            return self._cut(size)
        size = self.due(self.boundary()) if size is None else _checked_count(self.log, "batch", size, least=0)
        stop = self.log.end_of_event(min(self.log.rows, self.position + size)) if size else self.position
        return replace(self, position=stop), ArrivingRows(self.log, (range(self.position, stop),))

    def boundary(self) -> int | None:
        """Where a batch by event time would end for this stream: microseconds since 1970; ``None`` where rows count."""
        if self.time is None or not isinstance(self.batch, timedelta):
            return None
        return boundary_after(self.log, self.position, self.time, self.batch)

    @property
    def lacking(self) -> int:
        """How many rows of whole transactions the log lacks for the next batch of a number of rows."""
        return self.due(None) - (self.log.whole - self.position)

    def due(self, end: int | None) -> int:
        """The number of rows that the next batch takes.

        Args:
            end: of that batch in event time, where streams are cut so.
        """
        if isinstance(self.batch, int):
            return self.batch
        if self.time is None or end is None:
            return self.waiting
        return first_from(self.log, self.position, self.time, end) - self.position

    def _cut(self, cut: BatchCut) -> tuple[Stream, ArrivingRows]:
        """The stream after a batch that passes over rows or takes such rows."""
        pieces, left, gaps = list[pa.Table](), cut.caught_up, [*self.gaps]
        while left > 0 and gaps:
            gap = gaps.pop(0)
            stop = min(gap.stop, gap.start + left)
            rows, left_out = self._sampled(Gap(gap.start, stop, gap.kept))
            pieces.append(rows.filter(pa.array(left_out)))
            left -= stop - gap.start
            if stop < gap.stop:
                counted = None if gap.counted is None else gap.counted - int(left_out.sum())
                gaps.insert(0, Gap(stop, gap.stop, gap.kept, counted))
        passed = min(self.waiting, cut.passed)
        if passed:
            gap = Gap(self.position, self.position + passed, cut.kept)
            rows, left_out = self._sampled(gap)
            by_key = cut.kept and sampled_by(self.shed) is not None
            gaps.append(replace(gap, counted=int(left_out.sum())) if by_key else gap)
            pieces.append(rows.filter(pa.array(~left_out)))
        after, rows = replace(self, position=self.position + passed, gaps=tuple(gaps)).take(cut.taken)
        return after, replace(rows, parts=(*pieces, *rows.parts))

    def _sampled(self, gap: Gap) -> tuple[pa.Table, NDArray[np.bool_]]:
        """The rows of a gap, and which of them are left out."""
        rows, key = self.log.read(gap.start, gap.stop), sampled_by(self.shed)
        return rows, gap.left_out(None if key is None else rows.column(stored_name(key)))

    @property
    def counted_rows(self) -> int:
        """How many of its rows statistics are of: its history, and anew each time it has half as many more.

        It follows from the numbers of rows alone, so that a session that is opened again has the same statistics.
        """
        rows = max(1, self.history)
        while (more := rows + (rows + 1) // 2) <= self.position:
            rows = more
        return min(rows, self.position)

    def rewound(self) -> Stream:
        """The stream before its first batch."""
        return replace(self, position=self.history, gaps=())

    def in_batches_of(self, batch: object) -> Stream:
        """The stream with other rows, or another event time, in every batch to come.

        Raises:
            StreamError: it is no whole number of at least 1 and no length of time, or the stream has no event times.
        """
        return replace(self, batch=_checked_batch(self.log, batch, self.time))

    @property
    def history_rows(self) -> ArrivingRows:
        """The history in order."""
        return ArrivingRows(self.log, (range(self.history),))

    def arrivals(self, batches: Mapping[int, int | BatchCut]) -> Iterator[tuple[int, ArrivingRows]]:
        """All rows that have arrived, each with its batch.

        Args:
            batches: how many rows each batch after the history took, or which.
        """
        yield 0, self.history_rows
        stream = self.rewound()
        for batch, cut in batches.items():
            stream, rows = stream.take(cut)
            yield batch, rows

    def statistics(self) -> StreamStatistics:
        """Statistics of its ``counted_rows``, from a sample spread over them.

        Rows that follow each other are alike: a thousand of one minute have few dates and few orders. So rows are taken
        from afar, of all chunks of the log or, where they are many, of some.
        """
        arrived = self.counted_rows
        chunks = -(-arrived // CHUNK_ROWS)
        read = sorted({chunks * i // MOST_CHUNKS for i in range(MOST_CHUNKS)})
        ends = {start: min(start + CHUNK_ROWS, arrived) for start in (chunk * CHUNK_ROWS for chunk in read)}
        share = min(1.0, SAMPLE_ROWS / max(1, sum(end - start for start, end in ends.items())))
        return collect(pa.concat_tables(self._spread(start, end, share) for start, end in ends.items()), arrived)

    def _spread(self, start: int, end: int, share: float) -> pa.Table:
        """A share of some rows, spread over them."""
        rows = self._values(start, end)
        taken = round(share * rows.num_rows)
        return rows.take(pa.array(np.arange(taken) * rows.num_rows // max(1, taken)))

    def _values(self, start: int, stop: int) -> pa.Table:
        """Rows of the log without their marks."""
        return self.log.on_time(start, stop).select([name for name, _ in self.stored_columns])


def replayed(
    log: StreamLog, history: int | None = None, batch: object = None, time: str | None = None, shed: str | None = None
) -> Stream:
    """A stream before its first batch.

    Args:
        log: the stream's rows.
        history: how many rows have arrived already, 0 if ``None``; all of them if the log has fewer, as a session may
            be tried on a small sample.
        batch: rows of a batch, 1,000 if ``None``; or the event time that it covers: ``"1h"``, a ``timedelta``.
        time: the column with event times.
        shed: how rows may be left out (``SHEDDING``).

    Raises:
        StreamError: a number is negative, no whole number, or ``batch`` is 0; it is a length of time, and the log is of
            a live source or has no event times.
    """
    history = min(0 if history is None else _checked_count(log, "history", history, least=0), log.rows)
    history = log.end_of_transaction(history)
    batch = _checked_batch(log, DEFAULT_BATCH if batch is None else batch, time)
    return Stream(log, history, batch, history, time, shed=_checked_shedding(log, shed, time))


def static_table(log: StreamLog) -> Stream:
    """A table: all rows are history; more arrive when it is updated."""
    return replace(replayed(log, history=log.rows), table=True)


def _checked_shedding(log: StreamLog, shed: str | None, time: str | None) -> str | None:
    """How rows may be left out, where later ones do not depend on them."""
    if shed is None:
        return None
    if (key := sampled_by(shed)) is not None:
        names = {display_name(name).lower(): display_name(name) for name, _ in log.columns}
        if key.lower() not in names:
            hint = nearest(key, names.values()) or f"its columns are {', '.join(names.values())}"
            raise StreamError(f"stream {log.name}: there is no column {key} to sample by", hint=hint)
        shed = f"sample by {names[key.lower()]}"
    elif shed not in SHEDDING or shed == SHEDDING[-1]:
        raise StreamError(f"stream {log.name}: shed is {shed!r}", hint=f"there are {', '.join(SHEDDING)}")
    if time is None:
        hint = (
            "windows count the rows of such a stream, and rows that are caught up have later numbers; say time=COLUMN"
        )
        raise StreamError(f"stream {log.name} has no event times, and cannot leave rows out", hint=hint)
    if log.corrections is not None:
        hint = "a row that is left out could not be taken back; leave shed out"
        raise StreamError(f"stream {log.name} is corrected, and cannot leave rows out", hint=hint)
    if log.transactions is not None:
        hint = "transactions would be parted; leave one of both out"
        raise StreamError(f"stream {log.name} has transactions, and cannot leave rows out", hint=hint)
    if log.lateness is not None:
        hint = "rows that are caught up would count as late; leave one of both out"
        raise StreamError(f"stream {log.name} has a lateness, and cannot leave rows out", hint=hint)
    return shed


def _checked_batch(log: StreamLog, given: object, time: str | None) -> int | timedelta:
    if not isinstance(given, str | timedelta):
        return _checked_count(log, "batch", given, least=1)
    if log.is_live:
        hint = "rows of a live source come in batches of as many as there are, or run_live(latency=...)"
        raise StreamError(f"stream {log.name}: batch is {given!r}, and its source is live", hint=hint)
    return span_of(given, log.name, time, dict(log.columns))


def _checked_count(log: StreamLog, what: str, value: object, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise StreamError(f"stream {log.name}: {what} is {value!r}", hint=f"a whole number of rows, at least {least}")
    return value
