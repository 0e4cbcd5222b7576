"""Of when an answer is: the batch, how far the streams have come that it reads, and what it lacks of what was sent."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from workbench.explain.text import clock_text, counted
from workbench.session.live.sources import SourceStatus
from workbench.session.state import ACTIVE, QueryRecord, State
from workbench.sql.logical import streams_of
from workbench.streams.stream import Stream


@dataclass(frozen=True)
class StreamAsOf:
    """How far a stream has come, and how many of its rows are in no answer.

    Attributes:
        name: of the stream.
        clock: the latest event time that it has brought, a number where event times are; ``None`` where it has none.
        waiting: rows of a live source that are there, and that no batch has taken.
        lag: seconds for which the first of these has waited.
        late, quarantined, left_out: rows that came too late, that do not fit, and that were shed.
        problem: why its source cannot be read; "" where it can.
        more: whether its source may have more rows, for which it was not asked.
    """

    name: str
    clock: dt.datetime | int | None = None
    waiting: int = 0
    lag: float = 0.0
    late: int = 0
    quarantined: int = 0
    left_out: int = 0
    problem: str = ""
    more: bool = False

    def lacks(self) -> Iterator[str]:
        """What the stream lacks or has lost, in a few words each."""
        if self.waiting:
            yield f"{self.waiting:,} waiting for {self.lag:.1f} s"
        if self.more:
            yield "more may be there"
        for rows, what in ((self.late, "late"), (self.quarantined, "quarantined"), (self.left_out, "left out")):
            if rows:
                yield f"{rows:,} {what}"
        if self.problem:
            yield self.problem.splitlines()[0]

    def __str__(self) -> str:
        reached = f"{self.name} {clock_text(self.clock)}".rstrip()
        return ": ".join(filter(None, [reached, ", ".join(self.lacks())]))


@dataclass(frozen=True)
class AsOf:
    """How current an answer is: its batch, and the state of its streams.

    Attributes:
        batch: the batch that it is after.
        behind: batches that were run since then, as of a query that is suspended.
        why: why it does not go on; "" where it does.
        streams: those that it reads.

    Example:
        >>> print(AsOf(5, streams=(StreamAsOf("Fed", dt.datetime(2002, 11, 20)),)))
        as of batch 5 · Fed 2002-11-20 · all is well
        >>> print(AsOf(5, 2, "suspended", (StreamAsOf("Trades", waiting=1200, lag=3.04, late=4),)))
        as of batch 5, 2 batches behind: suspended · Trades: 1,200 waiting for 3.0 s, 4 late
    """

    batch: int
    behind: int = 0
    why: str = ""
    streams: tuple[StreamAsOf, ...] = field(default=())

    @property
    def is_well(self) -> bool:
        """Whether the answer is up to date: its query runs, no rows wait, and none that were sent are left out."""
        return not self.behind and not self.why and not any(any(stream.lacks()) for stream in self.streams)

    def __str__(self) -> str:
        late = f", {counted(self.behind, 'batch', 'batches')} behind" if self.behind else ""
        first = f"as of batch {self.batch}{late}" + (f": {self.why}" if self.why else "")
        told = [str(stream) for stream in self.streams if stream.clock is not None or any(stream.lacks())]
        return " · ".join([first, *told, *["all is well"] * self.is_well])


def answer_as_of(state: State, query: QueryRecord, sources: Mapping[str, SourceStatus]) -> AsOf:
    """How current a query's answer is."""
    batch, status = state.answered_at(query), state.status(query)
    why = "" if status == ACTIVE else status
    why = why if query.suspended is None else "suspended"
    read = {name.lower() for name in streams_of(query.logical)}
    streams = (stream for name, stream in state.streams.items() if name.lower() in read)
    clock = state.engine.clock.latest_of
    found = tuple(
        _stream_as_of(stream, clock(stream.name), query.timezone, sources.get(stream.name)) for stream in streams
    )
    return AsOf(batch, state.batch - batch, why, found)


def _stream_as_of(stream: Stream, clock: dt.datetime | None, zone: str, source: SourceStatus | None) -> StreamAsOf:
    of_rows = StreamAsOf(
        stream.name,
        stream.as_event_time(clock, zone),
        late=stream.late_rows,
        quarantined=stream.log.misfits,
        left_out=stream.left_out,
    )
    if source is None:
        return of_rows
    return replace(of_rows, waiting=source.waiting, lag=source.lag, problem=source.problem, more=source.more)
