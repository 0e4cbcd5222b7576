"""How many pairs a new join looks at, by what it finds them."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest
from sharing.small_streams import query

from workbench.network.network import Network
from workbench.optimizer.join_cost import JoinCost, costliest_new_join
from workbench.optimizer.statistics import collect
from workbench.sharing.planner import Planner

ROWS = 300_000
MANY = 100_000_000


def planner() -> Planner:
    days = [dt.date(2020, 1, 1) + dt.timedelta(days=i % 365) for i in range(2_000)]
    columns = {"code": [i % 1000 for i in range(2_000)], "day": days, "src": [str(i % 50) for i in range(2_000)]}
    return Planner(streams={"f": collect(pa.table(columns), ROWS)})


def cost(condition: str) -> JoinCost:
    own = planner()
    after = own.register(Network(), "q", query(f"SELECT a.code FROM F a, F b WHERE {condition}")).network
    found = costliest_new_join(own.estimates, Network(), after)
    assert found is not None
    return found


@pytest.mark.parametrize("condition", ["1 = 1", "a.code < b.code", "a.code <> b.code", "a.code = 1 OR b.code = 2"])
def test_without_a_key_all_pairs_are_looked_at(condition: str) -> None:
    found = cost(condition)
    assert found.sides == (("F",), ("F",))
    assert MANY < found.pairs <= ROWS**2


def test_equal_keys_and_near_days_find_few() -> None:
    by_key = cost("a.code = b.code")
    assert by_key.pairs == pytest.approx(ROWS**2 / 1000, rel=0.5)
    assert cost("a.code = b.code AND a.src = b.src").pairs < by_key.pairs
    assert cost("b.day >= a.day AND b.day <= a.day + 3").pairs < ROWS**2 / 2


def test_groups_find_each_other_by_the_values_of_their_columns() -> None:
    own = planner()
    text = "WITH g AS (SELECT code, src, COUNT(*) AS n FROM F GROUP BY code, src) SELECT a.n FROM g a, g b"
    found = costliest_new_join(
        own.estimates, Network(), own.register(Network(), "q", query(f"{text} WHERE a.code = b.code")).network
    )
    assert found is not None and found.pairs == pytest.approx(50_000**2 / 1000, rel=0.5)


def test_what_one_side_tests_counts() -> None:
    assert cost("a.code = 7 AND b.code = 8").pairs < MANY


def test_joins_that_run_already_cost_nothing_more() -> None:
    own, text = planner(), query("SELECT a.code FROM F a, F b WHERE a.code < b.code")
    before = own.register(Network(), "q", text).network
    after = own.register(before, "r", text).network
    assert costliest_new_join(own.estimates, before, after) is None


def test_of_streams_nothing_is_known_of_nothing_is_said() -> None:
    own = Planner()
    after = own.register(Network(), "q", query("SELECT a.code FROM F a, F b WHERE a.code < b.code")).network
    assert costliest_new_join(own.estimates, Network(), after) is None
