"""Rows for the questions of Nexmark: persons, auctions and bids as streams, and a table of names beside them.

Columns are those of the benchmark (P. Tucker et al., *NEXMark: a benchmark for queries over data streams*, 2002), as
Apache Beam and Flink generate them: of 50 events one is a person, 3 are auctions and 46 are bids. Rows are drawn here,
with a seed, and words that the questions ask for more often than the benchmark draws them.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from random import Random
from typing import Any

import pyarrow as pa

PERSONS, AUCTIONS, EVENTS = 1, 3, 50
"""How many events of the last number are persons and auctions; the others are bids."""
START = dt.datetime(2026, 1, 31, 23, 58, 0)
_STEP = dt.timedelta(milliseconds=250)
"""Between two events."""
_FIRST = 1_100
"""The id of the first person, and of the first auction."""
CATEGORIES = (10, 10, 11, 12, 13, 14)
STATES = ("OR", "ID", "CA", "AZ", "WA", "WY")
CITIES = ("Phoenix", "Los Angeles", "Portland", "Boise", "Seattle", "Cheyenne")
CHANNELS = ("Google", "Facebook", "Baidu", "Apple", "channel-7", "channel-12")
KEYS = 10
"""Keys of the table."""

_Rows = list[dict[str, Any]]


def nexmark(events: int, seed: int = 0) -> Mapping[str, pa.Table]:
    """All tables by name, for a number of events; ``bid``, ``auction`` and ``person`` have their time in ``dateTime``.

    Example:
        >>> tables = nexmark(100)
        >>> tables["person"].num_rows, tables["auction"].num_rows, tables["bid"].num_rows
        (2, 6, 92)
    """
    random = Random(seed)
    persons: _Rows = []
    auctions: _Rows = []
    bids: _Rows = []
    for event in range(events):
        time, place = START + event * _STEP, event % EVENTS
        if place < PERSONS:
            persons.append(_person(random, _FIRST + len(persons), time))
        elif place < PERSONS + AUCTIONS:
            auctions.append(_auction(random, _FIRST + len(auctions), time, _recent(random, len(persons), 2)))
        else:
            bids.append(_bid(random, time, _recent(random, len(auctions), 8), _recent(random, len(persons), 6)))
    names = {"key": list(range(KEYS)), "value": [f"name {key}" for key in range(KEYS)]}
    tables = {"bid": bids, "auction": auctions, "person": persons}
    return {**{name: pa.Table.from_pylist(rows) for name, rows in tables.items()}, "side_input": pa.table(names)}


def _recent(random: Random, known: int, last: int) -> int:
    """An id among the last ones."""
    return _FIRST + random.randrange(max(0, known - last), max(1, known))


def _person(random: Random, person: int, time: dt.datetime) -> dict[str, Any]:
    place = random.randrange(len(STATES))
    return {
        "id": person,
        "name": f"person {person}",
        "emailAddress": f"{person}@example.org",
        "creditCard": f"{random.randrange(10**4):04}",
        "city": CITIES[place],
        "state": STATES[place],
        "dateTime": time,
        "extra": "x" * random.randrange(3),
    }


def _auction(random: Random, auction: int, time: dt.datetime, seller: int) -> dict[str, Any]:
    least = random.randrange(100, 10_000)
    return {
        "id": auction,
        "itemName": f"item {auction}",
        "description": random.choice(("old", "new", "as new")),
        "initialBid": least,
        "reserve": 2 * least,
        "dateTime": time,
        "expires": time + dt.timedelta(seconds=random.randint(5, 40)),
        "seller": seller,
        "category": random.choice(CATEGORIES),
        "extra": "x" * random.randrange(3),
    }


def _bid(random: Random, time: dt.datetime, auction: int, bidder: int) -> dict[str, Any]:
    channel = random.choice(CHANNELS)
    query = f"?q=1&channel_id={random.randrange(100)}" if channel.startswith("channel") else ""
    return {
        "auction": auction,
        "bidder": bidder,
        "price": int(10 ** random.uniform(2, 8)),
        "channel": channel,
        "url": f"https://www.example.org/{random.choice('abc')}/{random.choice('de')}/item.htm{query}",
        "dateTime": time,
        "extra": random.choice(("abc", "cc", "", "xyz")),
    }
