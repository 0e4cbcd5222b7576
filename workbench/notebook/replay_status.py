"""The status of a replay as a line of text, and the speeds of a replay as an analyst writes them."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from workbench.errors import MagicError
from workbench.explain.text import clock_text, milliseconds
from workbench.session.live.batch_size import seconds_of
from workbench.session.live.sources import no_more_rows
from workbench.session.player import PlayerState, Position

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workbench.session.live.sources import SourceStatus
    from workbench.session.session import Session

LATENCY = "1s"
"""The latency of batches of rows as they come."""
FULL_SPEED = "max"
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3_600, "d": 86_400}
SPEEDS = ("1s", "1m", "1h", "1d", "7d")
"""Speeds that are offered: so much stream time in a second."""


def parse_speed(text: str) -> float | None:
    """A speed as the player wants it: stream seconds a second, ``None`` for as fast as it goes.

    Raises:
        MagicError: it is neither a number, nor one with a unit, nor ``max``.

    Example:
        >>> parse_speed("max"), parse_speed("90"), parse_speed("1d")
        (None, 90.0, 86400.0)
    """
    if text == FULL_SPEED:
        return None
    if (match := re.fullmatch(r"(\d+(?:\.\d+)?)x?([smhd]?)", text)) is None:
        raise MagicError(f"{text} is no speed", hint=f"{', '.join(SPEEDS)} of stream time in a second, or {FULL_SPEED}")
    return float(match[1]) * _UNITS[match[2]]


def status_line(session: Session, position: Position) -> str:
    """The state of the player and the positions of the streams, in one line."""
    return " · ".join(
        filter(None, [activity(session, position), *progress_parts(session, position), running_batch(position)])
    )


def latency_of_play(session: Session) -> float | None:
    """The seconds that a batch may take where what is played are live streams, which have no end.

    ``None``: rows are replayed, at a speed or in batches that were chosen.
    """
    streams = session.streams.values()
    is_replayed = any(stream.waiting and not stream.table and stream.name not in session.sources for stream in streams)
    if is_replayed or session.player.speed is not None or not _may_bring_more(session):
        return None
    return seconds_of(LATENCY, "latency")


def _may_bring_more(session: Session) -> bool:
    return any(not source.ended for source in session.sources.values())


def activity(session: Session, position: Position) -> str:
    """The state of the player, in a few words."""
    if position.state is PlayerState.ENDED and _may_bring_more(session):
        return f"{no_more_rows(session.sources)}; %argus play goes on as rows come"
    if position.problem is not None:
        return f"stopped: {str(position.problem).splitlines()[0]}"
    if position.state is PlayerState.PLAYING and position.latency is not None:
        return "live" if position.since is not None else "live, waiting for rows"
    if position.state is PlayerState.PLAYING and position.left is not None:
        return f"playing, {position.left} to go"
    if position.state is PlayerState.PAUSED and position.since is not None:
        return "pausing after this batch"
    if position.due is not None and (seconds := position.due - time.monotonic()) > 1:
        return f"playing, next batch in {_duration(seconds)}"
    return str(position.state)


def progress_parts(session: Session, position: Position) -> list[str]:
    """How far the streams are: batch, event time, rows, how long the last batch took."""
    streams = [stream for stream in session.streams.values() if not stream.table]
    read, rows = sum(stream.position for stream in streams), sum(stream.rows for stream in streams)
    last = session.reports[-1] if session.reports else None
    return [
        f"batch {position.batch}",
        latest_event_time(session),
        f"{read:,} of {rows:,} rows",
        milliseconds(last.seconds) if last is not None else "",
        backlog(session.sources),
    ]


def latest_event_time(session: Session) -> str:
    """How far the stream has come that has come furthest, as its rows say it; empty while none has event times."""
    come = {name: clock for name, clock in session.clocks.items() if clock is not None}
    if not come:
        return ""
    furthest = max(come, key=come.__getitem__)
    return clock_text(session.streams[furthest].as_event_time(come[furthest], session.timezone))


def backlog(sources: Mapping[str, SourceStatus]) -> str:
    """How fast rows come from live sources, and how many wait for how long; empty without such sources."""
    if not sources:
        return ""
    came = f"{sum(source.rate for source in sources.values()):,.0f} rows/s come"
    if not (waiting := sum(source.waiting for source in sources.values())):
        return came
    return f"{came}, {waiting:,} wait for up to {max(source.lag for source in sources.values()):.1f} s"


def running_batch(position: Position) -> str:
    """How far the batch is that runs now, and for how long it has run; empty when none runs."""
    if position.since is None:
        return ""
    for_so_long = f"{time.monotonic() - position.since:.1f} s"
    if (progress := position.progress) is None:
        return f"beginning or committing a batch, {for_so_long}"
    what = f"batch {progress.batch}" if progress.batch else "history"
    return f"{what}: {progress.done} of {progress.total} operators, {for_so_long}"


def _duration(seconds: float) -> str:
    """About how long, in the largest unit of which there are two."""
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
