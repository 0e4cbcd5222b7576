"""Joins of rows within some days of each other: what an index by key and day finds is what all pairs say."""

from __future__ import annotations

from math import inf

import pytest

from workbench.engine.physical.band import Band, band_of
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
