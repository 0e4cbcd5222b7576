"""Which way windows move: no row that was left behind is ever in the window again."""

from __future__ import annotations

import datetime as dt
import itertools
import random

import pytest

from workbench.sql.algebra.types import DATE, INTEGER, TIMESTAMP
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import Block
from workbench.sql.predicates.cnf import PredSet
from workbench.sql.schema import Schema
from workbench.sql.windows.bounds import intervals, time_and_end
from workbench.sql.windows.monotonicity import BACKWARD, FORWARD, STILL, intervals_from_now_on, monotonicity
from workbench.sql.windows.stream_time import as_number

MOMENT = {"f": dt.date(2002, 1, 20), "g": dt.datetime(2002, 1, 20, 12), "p": 50, "p rows": 9}
SCHEMA = Schema(
    streams={"F": (("d", DATE),), "G": (("ts", TIMESTAMP),), "P": (("t", INTEGER),)},
    times={"F": "d", "G": "ts", "P": "t"},
    event_times=MOMENT,
)
WAYS = {
    "F where d > now() - 3": FORWARD,
    "F where now() - d <= 3": FORWARD,
    "F where d between now() - 8 and now() - 4": FORWARD,
    "F where d = now()": FORWARD,
    "F where d >= date_trunc('MONTH', now())": FORWARD,
    "F where d > last_day(now())": FORWARD,
    "F where d > now() - interval '1' month": FORWARD,
    "F where d > add_months(now(), 2)": FORWARD,
    "G where ts > now() - interval '7' minute": FORWARD,
    "G where ts >= date_trunc('HOUR', now())": FORWARD,
    "G where ts > now() - interval '1' month": None,
    "P where t > now() - 4": FORWARD,
    "P where t > 3 * now() - 100": FORWARD,
    "P for (t = ST; t < ST + 50; t += 5) { WindowIs(P, t - 4, t); }": FORWARD,
    "P for (t = ST - 7; t < ST + 50; t += 7) { WindowIs(P, t - 1, t); }": FORWARD,
    "P for (t = ST; t > ST - 30; t -= 10) { WindowIs(P, t - 9, t); }": BACKWARD,
    "P for (t = ST; t < ST + 90; t = 2 * t) { WindowIs(P, t - 4, t); }": None,
    "F for (t = ST; ; t += interval '1' day) { WindowIs(F, t - 4, t); }": FORWARD,
    "F for (t = ST; ; t += interval '1' month) { WindowIs(F, t - 4, t); }": FORWARD,
}


def window_of(text: str) -> PredSet:
    query = bind(f"select * from {text}", "spark", SCHEMA).query
    assert isinstance(query, Block)
    return query.window


@pytest.mark.parametrize("text", WAYS)
def test_ways(text: str) -> None:
    ways = {monotonicity(time_and_end(end)[2]) for end in window_of(text)} - {STILL}
    assert ways == {WAYS[text]}


def later(chosen: random.Random) -> list[dict[str, object]]:
    """Moments as time passes, months included, and first one without any time."""
    found, moment = [{}, dict(MOMENT)], dict(MOMENT)
    for _ in range(12):
        moment["f"] += dt.timedelta(days=chosen.choice([0, 1, 2, 11, 40]))
        moment["g"] += dt.timedelta(seconds=chosen.choice([0, 1, 500, 90_000, 3_000_000]))
        moment["p"] += chosen.choice([0, 1, 2, 9])
        found.append(dict(moment))
    return found


@pytest.mark.parametrize("text", WAYS)
def test_what_is_left_behind_never_comes_back(text: str) -> None:
    window, chosen = window_of(text), random.Random(text)
    for early, late in itertools.combinations(later(chosen), 2):
        kept = intervals_from_now_on(window, early)
        for time, interval in intervals(window, late).items():
            for at in () if interval.empty else (interval.low, interval.high):
                assert kept[time].low <= at <= kept[time].high, (text, early, late)


def test_something_is_left_behind() -> None:
    (interval,) = intervals_from_now_on(window_of("F where d > now() - 3"), MOMENT).values()
    assert interval.low == as_number(dt.date(2002, 1, 18))
    (interval,) = intervals_from_now_on(
        window_of("P for (t = ST; t < ST + 50; t += 5) { WindowIs(P, t - 4, t); }"), MOMENT
    ).values()
    assert interval.low == 46
