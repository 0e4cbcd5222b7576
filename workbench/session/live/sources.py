"""The live sources of a session: what they bring is logged before each batch, and what they say is remembered."""

from __future__ import annotations

import datetime as dt
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pyarrow as pa

from workbench.errors import StreamError, WorkbenchError
from workbench.errors.secrets import hide_secrets
from workbench.errors.unknown_attributes import TellsNames
from workbench.session.directory.gate import Gate
from workbench.session.events import log_problem
from workbench.session.failures.error_log import ErrorLog, ErrorPlace
from workbench.session.live.arrivals import Arrivals
from workbench.session.live.batch_size import BatchSize
from workbench.streams.addresses.address import shown_address
from workbench.streams.live.lookup import LOOKUP_SCHEMES, LookupReader
from workbench.streams.live.posted_rows import LISTEN_SCHEME
from workbench.streams.live.reader import Land, OffsetMark, Offsets, Reader, ReadInParts, mark_of
from workbench.streams.live.sources import open_live
from workbench.streams.live.take_in import log_fetched, of_source, take_in
from workbench.streams.log import StreamLog
from workbench.streams.stream import Stream
from workbench.streams.tail import Tail
from workbench.streams.whole_transactions import waiting_for

SOURCE, SCHEMA, SIGNATURE = (f"{OffsetMark.SETTING}{name}" for name in ("source", "schema", "signature"))
"""The offsets under which a tail has what to read, where that can be stored, what columns it has, and the signature of
who gave it (``gate``)."""
_FIRST_LOOK = 100
"""Rows that a source is asked for at first, when its rate is unknown."""
ROWS_OF_A_LOOK = 20
"""Quarantined rows of a look of which each is an error of its own, the last ones; all are in the quarantine."""
_DAY = 86_400.0
_UNATTACHED = "it waits for its source, which cannot be stored: session.attach({name!r}, source) goes on with it"


@dataclass(frozen=True)
class SourceStatus(TellsNames):
    """How a live source is.

    Attributes:
        source: what is read; "" when a stream whose source cannot be written down was opened again, and nothing was
            attached yet.
        offsets: where it resumes.
        waiting: rows that are in the log and have not arrived.
        rate: rows that were logged in a second, on average over the last ten seconds.
        lag: seconds that the first of the waiting rows has waited.
        problem: what of it could not be read the last time, what it waits for, or the error by which it has ended;
            "" when there is none.
        ended: whether it said that there are no more rows.
        ahead: seconds that the latest of its event times is ahead of this machine's clock, where it is more than a day,
            which no time zone explains; otherwise 0. Windows that end at ``now()`` have moved on to that time.
        earlier: the last problem that is over, and when it was; "" when there was none since ``forget_problems``.
        more: whether it gave as many rows the last time as it was asked for, so that it may have more.
    """

    source: str
    offsets: Mapping[str, str]
    waiting: int
    rate: float
    lag: float
    problem: str
    ended: bool
    ahead: float = 0.0
    earlier: str = ""
    more: bool = False


def ahead_of_now(clock: dt.datetime | None, now: dt.datetime) -> float:
    """Seconds that an event time is ahead; 0 for less than a day, as times have no zone.

    Example:
        >>> ahead_of_now(dt.datetime(2026, 1, 3), dt.datetime(2026, 1, 1))
        172800.0
        >>> ahead_of_now(dt.datetime(2026, 1, 1, 14), dt.datetime(2026, 1, 1))
        0.0
    """
    ahead = (clock - now).total_seconds() if clock is not None else 0.0
    return ahead if ahead > _DAY else 0.0


def perhaps_more(sources: Mapping[str, SourceStatus]) -> list[str]:
    """Lines on the live sources that may have more rows than batches have taken."""
    names = [name for name, source in sources.items() if source.more]
    how = "%argus run 100 takes up to a hundred batches, %argus play --live goes on as rows come"
    return [f"{', '.join(names)} may have more rows: {how}"] if names else []


def no_more_rows(sources: Mapping[str, SourceStatus]) -> str:
    """Why there is no next batch: streams have ended, or no rows have arrived at live ones."""
    live = [name for name, source in sources.items() if not source.ended]
    return f"nothing more has come to {', '.join(live)}" if live else "the streams have ended"


def begin_live(
    log: StreamLog, reader: Reader, source: object, history: int, durable: bool, gate: Gate | None = None
) -> StreamLog:
    """The log of a live stream that is added, with its history, and the source where it can be written down."""
    log = log.growing(durable)
    fit_reader(reader, log)
    keep_source(log, reader, source, gate or Gate())
    if reader.begins_whole:
        take_in(log, reader, history)
    while log.rows < history:
        before = log.rows
        try:
            ended = take_in(log, reader, history - before)
        except StreamError:
            ended = False  # the next look says it again
        if ended or log.rows == before:
            break
    return log


def fit_reader(reader: Reader, log: StreamLog) -> None:
    """Let a reader give the values that a stream has, and what says how its rows change."""
    reader.widen(log.source_columns)
    if log.corrections is not None:
        reader.declare(log.corrections.asked)


def keep_source(log: StreamLog, reader: Reader, source: object, gate: Gate) -> None:
    """Store the columns of a source and, where it can be stored, where it is, with this user's signature."""
    assert log.tail is not None
    offsets = {place: at for place, at in reader.remembered.items() if place not in log.tail.offsets}
    offsets |= {SCHEMA: b64encode(reader.schema.serialize().to_pybytes()).decode()}
    if isinstance(source, str | Path):
        offsets |= {SOURCE: str(source), SIGNATURE: gate.signed_source(log.name, str(source)) or ""}
    with log.tail.transaction():
        log.tail.append(log.schema.empty_table(), offsets=offsets)


def stored_schema(tail: Tail | None) -> pa.Schema | None:
    """The columns that the first rows of a source suggested: they stay so, also when it has other first rows by now."""
    schema = None if tail is None else tail.offsets.get(SCHEMA)
    return pa.ipc.read_schema(pa.py_buffer(b64decode(schema))) if schema else None


class LiveSources:
    """Reads the live sources of a session. Its methods are called one at a time.

    Args:
        gate: what a stored source passes before it is read.
        errors: keeps what sources say that cannot be read, and the rows that are quarantined.

    Attributes:
        log_now: calls ``take_in_sent`` for a stream, when nothing else is done in the session.
        landing: lets tasks read parts of the source of a stream, where they run elsewhere, and how many at once.
    """

    def __init__(self, gate: Gate | None = None, errors: ErrorLog | None = None) -> None:
        self._gate, self._errors = gate or Gate(), errors or ErrorLog()
        self.log_now: Callable[[str, int], tuple[Offsets, int]] = lambda name, waiting: ({}, 0)
        self.landing: Callable[[StreamLog], tuple[Land, int]] = lambda log: (lambda parts, read: (), 1)
        self._readers: dict[str, Reader] = {}
        self._problems: dict[str, str] = {}
        self._earlier: dict[str, str] = {}
        self._ended: set[str] = set()
        self._full: set[str] = set()  # gave all that they were asked for the last time
        self._arrivals: dict[str, Arrivals] = {}
        self._streams: Mapping[str, Stream] = {}
        self._looks: dict[str, BatchSize] = {}
        """How many rows each source is asked for."""

    def attach(self, name: str, reader: Reader) -> None:
        """Let a stream be read by a reader from now on."""
        self.detach(name)
        self._readers[name] = reader
        reader.begin(partial(self.log_now, name))

    def refit(self, log: StreamLog) -> None:
        """Let the source of a stream whose columns have other types now give their values."""
        if (reader := self._readers.get(log.name)) is not None:
            fit_reader(reader, log)

    def detach(self, name: str) -> None:
        """Read a stream no longer."""
        if (reader := self._readers.pop(name, None)) is not None:
            reader.close()
        self._problems.pop(name, None)
        self._earlier.pop(name, None)
        self._arrivals.pop(name, None)
        self._looks.pop(name, None)
        self._ended.discard(name)

    def forget(self, log: StreamLog) -> None:
        """Let the source of a dropped stream forget its state for the stream."""
        if log.tail is None or not (noted := of_source(log.tail.offsets)):
            return
        try:
            if (reader := self._reader(log)) is not None:
                reader.forget(noted)
        except Exception as problem:  # a source that cannot be reached does not hold a stream
            log_problem("source", stream=log.name, problem=f"it keeps what it remembers for the stream: {problem}")

    def take_in(self, streams: Mapping[str, Stream], seconds: float | None = None, ahead: int = 0) -> int:
        """Log the new rows of all sources.

        A source that cannot be read stops no other: it is tried again the next time, and ``status`` says what it said.

        Args:
            streams: of the session.
            seconds: about how long it may take. Each source is asked for as many rows as it gave in its part of that
                before, since of one each look is expensive, and of another each row. ``None``: for what its next batch
                lacks.
            ahead: with ``seconds``, the most rows that are to wait for a batch; more stay where they come from.

        Returns:
            How many rows were logged.
        """
        logged = 0
        self._streams = streams
        for name, stream in sorted(streams.items(), key=lambda item: self._asks_for_keys(item[1].log)):
            tail = stream.log.tail
            if stream.table or tail is None or not stream.log.is_live:
                continue
            look = None if seconds is None else self._look(name, seconds)
            most = stream.lacking if look is None else min(look.rows, ahead - stream.waiting)
            if most <= 0 or name in self._ended:
                continue
            before, begun = stream.rows, time.monotonic()
            while self._has_read(name, stream.log, most) and look is None and (most := stream.lacking) > 0:
                pass  # a transaction has more rows than the batch
            if look is not None:
                # Rows that were quarantined have been read, too: without them no look would be a full one.
                read = max(stream.rows - before, most if name in self._full else 0)
                self._looks[name] = look.after(read, time.monotonic() - begun)
            self._arrivals_of(name, before).logged(stream.rows)
            logged += stream.rows - before
        return logged

    def take_in_sent(self, stream: Stream, waiting: int) -> tuple[Offsets, int]:
        """Log the rows that were sent to a listening source.

        Args:
            stream: its stream.
            waiting: nothing is logged where more rows than these wait for a batch.

        Returns:
            The offsets of what is in the log, and how many rows wait.
        """
        tail, before = stream.log.tail, stream.rows
        assert tail is not None
        if stream.waiting < waiting:
            self._has_read(stream.name, stream.log, waiting)
            self._arrivals_of(stream.name, before).logged(stream.rows)
        return of_source(tail.offsets), stream.waiting

    def status(self, streams: Mapping[str, Stream]) -> dict[str, SourceStatus]:
        """How the live sources are, by the names of their streams."""
        waits = waiting_for(streams)
        return {
            name: SourceStatus(
                source=self._described(name, tail),
                offsets={place: at for place, at in tail.offsets.items() if mark_of(place) is None},
                waiting=stream.waiting,
                rate=self._arrivals_of(name, stream.rows).rate(),
                lag=self._arrivals_of(name, stream.rows).lag(stream.position),
                problem=self._problems.get(name) or self._missing(name, tail) or waits.get(name, ""),
                ended=name in self._ended,
                earlier=self._earlier.get(name, ""),
                more=name in self._full,
            )
            for name, stream in streams.items()
            if (tail := stream.log.tail) is not None and stream.log.is_live and not stream.table
        }

    def forget_problems(self, streams: Iterable[str]) -> None:
        """Say no longer what problems some streams had that are over."""
        for name in streams:
            self._earlier.pop(name, None)

    def retry(self, stream: Stream) -> str:
        """Read a source now; gives its problem, "" where it has none.

        Raises:
            StreamError: the stream is not live.
        """
        if stream.table or stream.log.tail is None or not stream.log.is_live:
            raise StreamError(f"{stream.name} is not live", hint="its rows are in the session already")
        self._has_read(stream.name, stream.log, stream.lacking)
        self._arrivals_of(stream.name, stream.rows).logged(stream.rows)
        return self._problems.get(stream.name, "")

    def _missing(self, name: str, tail: Tail) -> str:
        """The problem of a source that must be attached again; "" where it is there."""
        return "" if name in self._readers or SOURCE in tail.offsets else _UNATTACHED.format(name=name)

    def ended(self, streams: Mapping[str, Stream]) -> bool:
        """Whether no source will bring more rows; one that cannot be read now may."""
        live = [name for name, s in streams.items() if s.log.is_live and not s.table]
        return all(name in self._ended for name in live)

    def adopt(self, streams: Mapping[str, Stream]) -> None:
        """Look at the sources of a session that was opened, before they are read.

        A secret that an older version kept is taken out; it is asked for again. What the analyst trusts is this user's.
        """
        for name, stream in streams.items():
            if (tail := stream.log.tail) is None or not (source := tail.offsets.get(SOURCE)):
                continue
            signed, own = tail.offsets.get(SIGNATURE), self._gate.signed_source(name, source)
            if (shown := shown_address(source)) != source:
                tail.replace_offsets({SOURCE: shown, SIGNATURE: ""})
                why = f"its source {shown} had a secret, which was taken out of {tail.path}"
                self._failed(name, str(_not_followed(name, why)))
            elif why := self._gate.why_no_source(name, source, signed):
                self._failed(name, str(_not_followed(name, why)))
            else:
                if own is not None and own != signed:
                    tail.replace_offsets({SIGNATURE: own})
                if source.startswith(LISTEN_SCHEME):
                    self._has_read(name, stream.log, 0)

    def close(self) -> None:
        """Close all readers."""
        for name in [*self._readers]:
            self.detach(name)

    def _has_read(self, name: str, log: StreamLog, most: int) -> bool:
        """``_read``, with the problem of a source that cannot be read stored."""
        try:
            return self._read(name, log, most)
        except WorkbenchError as problem:
            self._failed(name, str(problem))
        except Exception as problem:  # a source may raise whatever it likes
            self._failed(name, hide_secrets(f"{type(problem).__name__}: {problem}"))
        return False

    def _read(self, name: str, log: StreamLog, most: int) -> bool:
        """Log the new rows of a source; whether it gave rows of transactions, to which more rows may belong."""
        assert log.tail is not None
        if (reader := self._reader(log)) is None:
            return False
        if isinstance(reader, LookupReader):
            named = {name.lower(): stream for name, stream in self._streams.items()}
            reader.follow(named.get(reader.follows.lower()))
        if isinstance(reader, ReadInParts):
            reader.let_land(*self.landing(log))
        before, misfits = log.rows, log.misfits
        fetched = log_fetched(log, reader, most)
        for entry in log.quarantined_later(misfits)[-ROWS_OF_A_LOOK:] if log.misfits > misfits else ():
            self._errors.add(ErrorPlace.SOURCE, name, entry.reason, entry.text)
        is_full = bool(fetched.landed) or 0 < most <= fetched.rows.num_rows + len(fetched.quarantined)
        self._full = {*self._full, name} if is_full and not fetched.ended else self._full - {name}
        if fetched.ended:
            self._ended.add(name)
        if fetched.problem:
            self._failed(name, fetched.problem)
        elif problem := self._problems.pop(name, ""):
            self._earlier[name] = f"until {dt.datetime.now():%H:%M:%S}: {problem}"
        return log.transactions is not None and log.rows > before

    def _asks_for_keys(self, log: StreamLog) -> bool:
        """Whether a source asks for keys that others bring, so that it comes after them."""
        given = "" if log.tail is None else log.tail.offsets.get(SOURCE, "")
        return given.startswith(LOOKUP_SCHEMES) or isinstance(self._readers.get(log.name), LookupReader)

    def _described(self, name: str, tail: Tail) -> str:
        reader = self._readers.get(name)
        return reader.description if reader is not None else shown_address(tail.offsets.get(SOURCE, ""))

    def _failed(self, name: str, problem: str) -> None:
        """Remember the problem of a source; it is logged once, however often it occurs."""
        if self._problems.get(name) != problem:
            log_problem("source", stream=name, problem=problem)
            self._errors.add(ErrorPlace.SOURCE, name, problem)
        self._problems[name] = problem

    def _look(self, name: str, seconds: float) -> BatchSize:
        """How many rows to ask a source for, where all of them together have some seconds."""
        part = seconds / max(1, len(self._readers))
        return replace(self._looks.get(name, BatchSize(_FIRST_LOOK, part, least=1)), latency=part)

    def _arrivals_of(self, name: str, rows: int) -> Arrivals:
        """When rows of a stream were logged; with the number in the log where nothing else is known."""
        if name not in self._arrivals:
            self._arrivals[name] = Arrivals(rows)
        return self._arrivals[name]

    def _reader(self, log: StreamLog) -> Reader | None:
        """The reader of a stream; after a session was opened, the one that its log names."""
        name, tail = log.name, log.tail
        assert tail is not None
        if name not in self._readers and (source := tail.offsets.get(SOURCE)):
            if why := self._gate.why_no_source(name, source, tail.offsets.get(SIGNATURE)):
                raise _not_followed(name, why)
            reader = open_live(source, stored_schema(tail))
            if reader is not None:
                fit_reader(reader, log)
                self._readers[name] = reader
                reader.begin(partial(self.log_now, name))
        return self._readers.get(name)


def _not_followed(name: str, why: str) -> StreamError:
    return StreamError(why, hint=f"attach({name!r}, …) gives it again, with $NAME where it has a secret")
