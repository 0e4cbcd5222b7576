"""Since when changes are asked for, by a day or a time: which batch that is, and what is refused."""

from __future__ import annotations

import datetime as dt

import pandas as pd
import pytest

from workbench.engine.event_time import EventTimeClock
from workbench.errors import QueryError
from workbench.session.session import Session
from workbench.streams.since import batch_before

START = dt.datetime(2026, 1, 1, 12)
CLOCK = EventTimeClock(
    {"rides": "at", "days": "d", "never": "at"},
    tuple((b, {"rides": START + dt.timedelta(hours=5 * b), "days": dt.date(2026, 1, 1 + b)}) for b in range(8)),
)
"""Rides come until 23:00 of the second day, five hours a batch; days one a batch."""


def before(since: object, *streams: str) -> int | None:
    return batch_before(since, list(CLOCK.latest_by_batch(streams or ("Rides",))), "q")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("since", "batch"),
    [
        (3, 3),
        (" 3 ", 3),
        (100, 100),
        ("today", 2),  # batch 2 ends at 22:00, and batch 3 at 3:00 of the next day
        ("Yesterday", None),
        ("2026-01-02", 2),
        ("2026-01-02 03:00", 2),  # the row of 3:00 is among those asked for
        ("2026-01-02T03:00:01", 3),
        ("10:30", 4),
        ("23:00", 6),
        ("23:30", 2),  # not yet today
        (dt.date(2026, 1, 2), 2),
        (dt.datetime(2026, 1, 2, 9), 4),
        (pd.Timestamp("2026-01-02 09:00"), 4),
    ],
)
def test_a_batch_a_day_or_a_time(since: object, batch: int | None) -> None:
    assert before(since) == batch


def test_the_latest_of_the_streams_that_are_read_counts() -> None:
    assert before("2026-01-05", "days") == 3
    assert before("today", "rides", "days") == 6
    assert before("today", "rides", "never") == before("today", "rides")


@pytest.mark.parametrize(
    ("since", "streams", "message"),
    [
        ("tomorow", (), "neither a batch nor a time"),
        ("2026-13-01", (), "neither a batch nor a time"),
        ("25:00", (), "neither a batch nor a time"),
        ("-1", (), "neither a batch nor a time"),
        ("2026-01-02T10:00+02:00", (), "has a time zone"),
        ("10:00+02:00", (), "has a time zone"),
        (dt.datetime(2026, 1, 2, 9, tzinfo=dt.UTC), (), "has a time zone"),
        ("2026-02-01", (), "has not come yet"),
        ("yesterday", ("never",), "no stream of q has event times"),
        ("yesterday", ("other",), "no stream of q has event times"),
    ],
)
def test_what_is_no_time_or_has_none_is_refused(since: object, streams: tuple[str, ...], message: str) -> None:
    with pytest.raises(QueryError, match=message):
        before(since, *streams)


@pytest.mark.spark
def test_changes_since_a_day_are_those_of_the_batches_that_reach_it(spark) -> None:
    at = [dt.datetime(2026, 1, 1) + dt.timedelta(hours=6 * i) for i in range(12)]
    with Session(spark=spark) as session:
        session.add_stream("T", pd.DataFrame({"n": range(12), "at": at}), history=2, batch=2, time="at")
        query = session.register("SELECT n FROM T", name="all_rows")
        session.run(4)
        # The last event time is 6:00 of the third day; batch 1 ends at 18:00 of the first.
        changes = query.changes(since="yesterday")
        assert query.batch_before("yesterday") == 1
        assert sorted(changes["n"]) == [4, 5, 6, 7, 8, 9] and set(changes["weight"]) == {1}
        assert sorted(query.changes(since="2026-01-03 06:00")["n"]) == [8, 9]
        assert len(query.changes(since="2026-01-01")) == 10  # with the answer at registration
