"""Where a replay stands on the clock of its streams: the latest event time among the rows that arrived last."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from workbench.streams.stream import Stream

LATEST_ROWS = 1_000
"""So many rows are looked at when nothing has arrived but history."""

EPOCH = dt.datetime(1970, 1, 1)
"""Where the clock begins for event times that are plain numbers of seconds."""


def clock(streams: Iterable[Stream]) -> dt.datetime | None:
    """The latest event time of the streams' last batches; ``None`` when no stream has a time column or any rows."""
    times = [latest for stream in streams if (latest := latest_time(stream)) is not None]
    return max(times, default=None)


def latest_time(stream: Stream) -> dt.datetime | None:
    """The latest event time among the last rows that have arrived of one stream."""
    if stream.time is None or stream.table:
        return None
    rows = max(LATEST_ROWS, stream.batch)
    values = stream.replay.log.read(max(0, stream.position - rows), stream.position).column(stream.time.lower())
    value = pc.max(values).as_py()
    if value is None:
        return None
    if pa.types.is_integer(values.type):
        return EPOCH + dt.timedelta(seconds=value)
    return value if isinstance(value, dt.datetime) else dt.datetime.combine(value, dt.time())
