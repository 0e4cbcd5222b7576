"""Which queries change all of their rows in each batch."""

from __future__ import annotations

import pytest

from workbench.explain.describe import NetworkView
from workbench.explain.query_costs import shown_totals
from workbench.network.network import Network
from workbench.sharing.planner import Planner
from workbench.sql.algebra.types import INTEGER
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema

SCHEMA = Schema({"t": (("g", INTEGER), ("x", INTEGER))}, {})


@pytest.mark.parametrize(
    ("sql", "shows"),
    [
        ("SELECT g, x / (SELECT SUM(x) FROM t) AS share FROM t", True),
        ("SELECT g, x - s.total AS below FROM t, (SELECT MAX(x) AS total FROM t) s", True),
        ("SELECT g, x FROM t WHERE x > (SELECT AVG(x) FROM t)", False),
        ("SELECT g, x FROM t WHERE x NOT IN (SELECT x FROM t WHERE g > 3)", False),
        ("SELECT t.g, s.n FROM t, (SELECT g, COUNT(*) AS n FROM t GROUP BY g) s WHERE t.g = s.g", False),
        ("SELECT g, SUM(x) AS x FROM t GROUP BY g", False),
    ],
)
def test_a_total_in_every_row(sql: str, shows: bool) -> None:
    logical = bind(sql, "spark", SCHEMA).query
    assert logical is not None
    network = Planner().register(Network(), "q", logical).network
    assert bool(shown_totals(NetworkView(network), "q")) == shows
