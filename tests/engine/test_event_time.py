"""The clock: what time it is after every batch, from the rows that arrive and again from the rows that are kept."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pyarrow as pa

from workbench.engine.event_time import Brought, EventTimeClock, brought_by, recover_clock
from workbench.engine.storage.layout import BATCH, Layout
from workbench.engine.storage.relation import Relation
from workbench.engine.storage.segments import write_segments
from workbench.sql.algebra.types import DATE, INTEGER

DAY = dt.date(2002, 1, 1)
BATCHES = {0: [DAY, None], 1: [dt.date(2002, 1, 9), DAY], 2: [], 3: [None], 4: [dt.date(2002, 1, 5)]}
"""Times that go forward, come late, are missing, and a batch without rows."""
LATEST = {0: DAY, 1: dt.date(2002, 1, 9), 2: dt.date(2002, 1, 9), 3: dt.date(2002, 1, 9), 4: dt.date(2002, 1, 9)}
ROWS = {0: 2, 1: 4, 2: 4, 3: 5, 4: 6}


def brought(days: list[dt.date | None]) -> Brought:
    return brought_by(pa.table({"d": pa.array(days, pa.date32())}), ["d"])


def arrived() -> EventTimeClock:
    clock = EventTimeClock().with_stream("F", "D").with_rows(0, {"F": brought(BATCHES[0])})
    for batch in (1, 2, 3, 4):
        clock = clock.after(batch, {"F": brought(BATCHES[batch])})
    return clock


def test_time_passes_when_rows_arrive_and_never_goes_back() -> None:
    clock = arrived()
    assert {batch: moment["f"] for batch, moment in clock.vectors} == LATEST
    assert {batch: moment["f rows"] for batch, moment in clock.vectors} == ROWS
    assert clock.rows("F") == 6
    assert clock.after_batch(1)["f"] == LATEST[1]
    assert clock.after_batch(-1) == {}


def test_a_stream_without_rows_or_times_has_no_now() -> None:
    clock = EventTimeClock().with_stream("F", "d").after(1, {"F": brought([]), "G": Brought(2)})
    assert clock.now == {"f rows": 0, "g rows": 2}


def test_rows_that_are_kept_say_what_time_it_was(tmp_path: Path) -> None:
    rows = [(batch, day) for batch, days in BATCHES.items() for day in days]
    kept = pa.table(
        {"d": pa.array([d for _, d in rows], pa.date32()), BATCH: pa.array([b for b, _ in rows], pa.int32())}
    )
    layout = Layout({"d": DATE, "_row": INTEGER})
    runs = tuple(write_segments(part, tmp_path) for part in (kept.slice(0, 3), kept.slice(3)))
    relation = Relation(None, layout, tmp_path, runs)  # type: ignore[arg-type]
    assert recover_clock({"F": relation}, {"F": "d"}, [1, 2, 3, 4]) == arrived()
