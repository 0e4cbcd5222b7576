"""Streams of other trades: requests to a web shop, and readings of sensors in cold rooms.

In both of them something happens that an analyst has to find; the notebooks tell how. They are pandas DataFrames.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random

import pandas as pd

from workbench.errors import StreamError

OPENING = datetime(2026, 3, 2, 8)
"""When both streams begin."""

_NEW_CHECKOUT, _TAKEN_BACK, _CRAWL = (OPENING + timedelta(minutes=m) for m in (270, 325, 420))
DEPLOYMENTS = pd.DataFrame(
    [
        (OPENING - timedelta(days=3), "1.8.0", "spring prices"),
        (OPENING + timedelta(minutes=95), "1.8.1", "smaller pictures"),
        (_NEW_CHECKOUT, "1.9.0", "new checkout"),
        (_TAKEN_BACK, "1.9.1", "old checkout again"),
    ],
    columns=["since", "version", "what"],
)
"""What the shop ran from when on. The checkout of 1.9.0 fails for every second buyer."""

DEVICES = pd.DataFrame(
    [(f"t{n:02}", room, limit) for n, (room, limit) in enumerate((*[("dairy", 7)] * 4, *[("fish", 2)] * 4), start=1)],
    columns=["device", "room", "max_celsius"],
)
"""The sensors, where each hangs, and how warm it may be there."""

_STEPS = ("/", "/search", "/item", "/cart", "/checkout", "/thanks")
_GOES_ON = (0.8, 0.75, 0.45, 0.7, 0.9)
"""The share of visits that reach the next step."""
_BROWSERS = ("Firefox", "Chrome", "Safari")


def _check(minutes: int, what: str) -> None:
    if minutes < 1:
        raise StreamError(f"{minutes} minutes are too few for {what}", hint="ask for at least one")


def requests(minutes: int = 480, seed: int = 80) -> pd.DataFrame:
    """Requests to a web shop in order of time; the same arguments give the same requests.

    Some 1,200 come in an hour. The checkout fails for a while (``DEPLOYMENTS``), and after seven hours one visitor is a
    program that calls itself Chrome: it reads an item every two seconds, for ten minutes.

    Args:
        minutes: of how many.
        seed: of the random numbers.

    Returns:
        Columns ``at``, ``visitor``, ``agent``, ``path``, ``status`` and ``millis``, how long the answer took.

    Raises:
        StreamError: fewer than one minute.

    Example:
        >>> requests(minutes=3).columns.to_list()
        ['at', 'visitor', 'agent', 'path', 'status', 'millis']
    """
    _check(minutes, "requests")
    random, begins, ends = Random(seed), OPENING, OPENING + timedelta(minutes=minutes)
    made = [(_CRAWL + timedelta(seconds=2 * n), "v00000", "Chrome", f"/item/{n}", 200, 40 + n % 9) for n in range(300)]
    number = 0
    while (begins := begins + timedelta(seconds=round(random.expovariate(1 / 13), 3))) < ends:
        number += 1
        made += _visit(random, begins, f"v{number:05}")
    kept = sorted(request for request in made if request[0] < ends)
    return pd.DataFrame(kept, columns=["at", "visitor", "agent", "path", "status", "millis"])


def _visit(random: Random, at: datetime, visitor: str) -> list[tuple[datetime, str, str, str, int, int]]:
    """The requests of one visit: step by step, some of them several times, until the visitor has had enough."""
    agent, requests, step = random.choice(_BROWSERS), [], 0
    while True:
        path = f"/item/{int(random.paretovariate(0.7)) % 300}" if _STEPS[step] == "/item" else _STEPS[step]
        fails = path == "/checkout" and _NEW_CHECKOUT <= at < _TAKEN_BACK and random.random() < 0.5
        status = 500 if fails else 404 if random.random() < 0.01 else 200
        requests.append((at, visitor, agent, path, status, int(random.lognormvariate(4.2, 0.6))))
        at += timedelta(seconds=round(random.expovariate(1 / 25), 3))
        if random.random() < 0.3 or status != 200:
            if status == 500 and random.random() < 0.5:
                return requests
        elif step == len(_GOES_ON) or random.random() > _GOES_ON[step]:
            return requests
        else:
            step += 1


def readings(minutes: int = 600, seed: int = 4) -> pd.DataFrame:
    """Readings of the sensors of ``DEVICES``, one a minute each, in the order in which they arrive.

    The room of t02 stands open after five hours. Those of the room *fish* arrive an hour late once, t04 is silent for
    40 minutes, t03 tells a time of 1970 twice, and t07 reads three degrees too much for an hour, which is sent again.

    Args:
        minutes: of how many; what happens is between the hours two and eight.
        seed: of the random numbers.

    Returns:
        Columns ``device``, ``at`` and ``celsius``; a row is told apart by the first two.

    Raises:
        StreamError: fewer than one minute.

    Example:
        >>> len(readings(minutes=10))
        80
    """
    _check(minutes, "readings")
    random = Random(seed)
    made, again = list[tuple[int, str, datetime, float]](), list[tuple[int, str, datetime, float]]()
    for minute in range(minutes):
        at = OPENING + timedelta(minutes=minute)
        for device, room in zip(DEVICES["device"], DEVICES["room"], strict=True):
            celsius = (4.5 if room == "dairy" else 0.0) + 0.4 * random.gauss(0, 1)
            if device == "t04" and 200 <= minute < 240:
                continue
            if device == "t02" and 300 <= minute < 340:
                celsius += 0.3 * min(minute - 300, 340 - minute)
            late = 180 if room == "fish" and 120 <= minute < 180 else minute
            wrong_clock = device == "t03" and minute in {400, 401}
            moment = datetime(1970, 1, 1) + timedelta(minutes=minute) if wrong_clock else at
            if device == "t07" and 420 <= minute < 480:
                again.append((480, device, at, round(celsius, 1)))
                celsius += 3
            made.append((late, device, moment, round(celsius, 1)))
    arrived = sorted([*made, *(row for row in again if minutes > 480)], key=lambda row: row[0])
    return pd.DataFrame([row[1:] for row in arrived], columns=["device", "at", "celsius"])
