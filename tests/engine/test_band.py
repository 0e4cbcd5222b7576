"""Joins of rows within some days of each other: what an index by key and day finds is what all pairs say."""

from __future__ import annotations

import datetime as dt
from math import inf
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from workbench.engine.physical.band import Band, band_of
from workbench.engine.storage.key_index import Key, KeyRanges, candidates, count_candidates, key_hashes
from workbench.engine.storage.segments import write_segments
from workbench.network.network import Network
from workbench.network.nodes import Join
from workbench.sharing.planner import Planner
from workbench.sql.algebra.types import DATE, INTEGER, STRING, TIMESTAMP
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema

SCHEMA = Schema(
    streams={"M": (("k", STRING), ("d", DATE), ("e", DATE), ("n", INTEGER), ("t", TIMESTAMP))}, functions={}
)

BANDS = {
    "b.d - a.d < 40": Band("d", "d", -inf, 39),
    "b.d < a.d + 40 AND b.d > a.d": Band("d", "d", 1, 39),
    "a.d >= b.d - 3 AND a.d <= b.d + 2": Band("d", "d", -2, 3),
    "b.d = a.d + 1": Band("d", "d", 1, 1),
    "b.d - a.d BETWEEN -5 AND 7": Band("d", "d", -5, 7),
    "b.e - a.d < 4 AND b.d - a.d < 9 AND b.d - a.d > 1": Band("d", "d", 2, 8),
    "b.d - a.d < 40 OR b.n = 3": None,
    "b.d <> a.d": None,
    "b.n - a.n < 40": None,
    "b.t < a.t": None,
    "b.d > a.e AND a.d > DATE '2001-01-01'": Band("e", "d", 1, inf),
}


@pytest.mark.parametrize("text", BANDS)
def test_the_band_of_a_join(text: str) -> None:
    logical = bind(f"SELECT a.n FROM M a, M b WHERE a.k = b.k AND ({text})", "spark", SCHEMA).query
    assert logical is not None
    network = Planner().register(Network(), "q", logical).network
    (join,) = (node for node in network.nodes.values() if isinstance(node, Join))
    found, wanted = band_of(join.tested), BANDS[text]
    if wanted is None or found is None:
        assert found is wanted
    else:
        # Which side is left is the network's choice.
        assert found in (wanted, Band(wanted.right, wanted.left, -wanted.high, -wanted.low))


DAYS = [None, -719162, -1, 0, 1, 5, 6, 7, 45, 46, 2932896]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("first, last", [(0, 40), (-3, 2), (1, 1), (-inf, 5), (6, inf), (-inf, inf), (3, -3)])
def test_pairs_within_days_are_those_of_all_pairs(tmp_path: Path, seed: int, first: float, last: float) -> None:
    random = Random(seed)
    rows = [(random.choice(["x", "y", None]), random.choice(DAYS)) for _ in range(80)]
    keys, days = (pa.array(column) for column in zip(*rows, strict=True))
    table = pa.table({"k": keys.cast(pa.string()), "d": days.cast(pa.int32()).cast(pa.date32())})
    (segment,) = write_segments(table, tmp_path)
    asking = [(random.choice(["x", "y", "z"]), random.choice(DAYS[1:])) for _ in range(30)]
    hashes, _ = key_hashes([pa.array([k for k, _ in asking])])
    wanted = KeyRanges.within_days(hashes, np.array([d for _, d in asking], dtype=np.int64), first, last)
    found = {
        (int(a), int(r))
        for asked, at in candidates(segment.path, Key(("k",), "d"), wanted, at_a_time=7)
        for a, r in zip(asked, at, strict=True)
    }
    right = {
        (a, r)
        for a, (key, day) in enumerate(asking)
        for r, (other, its) in enumerate(rows)
        if key == other and its is not None and first <= its - day <= last
    }
    assert found == right
    assert count_candidates(segment.path, Key(("k",), "d"), wanted) == len(right)
    assert dt.date(1970, 1, 1) + dt.timedelta(days=DAYS[1] or 0) == dt.date.min
