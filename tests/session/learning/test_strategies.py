"""What the strategies make of the same queries."""

from __future__ import annotations

from sharing.small_streams import data, query, statistics

from workbench.explain.describe import NetworkView
from workbench.network.network import Network
from workbench.optimizer.network_cost import batch_cost
from workbench.session.learning.replan import Asked
from workbench.session.learning.strategies import compare_strategies
from workbench.sharing.planner import Planner

CHAIN = "FROM F a, F b, F c WHERE a.code = 3 AND a.src = b.src AND b.day = c.day AND b.code < c.code"
TEXTS = {
    "pair": "SELECT b.id, c.id FROM F b, F c WHERE b.day = c.day AND b.code < c.code",
    "chain": f"SELECT a.id, c.id {CHAIN}",
    "again": f"SELECT a.day {CHAIN}",
}


def test_each_plans_the_same_queries_and_changes_nothing() -> None:
    planner, network = Planner(streams=statistics(data(1))), Network()
    asked = {name: Asked(query(text), text, "spark", False) for name, text in TEXTS.items()}
    for name, each in asked.items():
        network = planner.register(network, name, each.query).network
    selection, match_plan, unshared = compare_strategies(planner, asked)
    assert [plan.strategy for plan in (selection, match_plan, unshared)] == [
        "sharing-selection", "match-plan", "nothing shared"
    ]  # fmt: skip
    assert selection.weighted_size == NetworkView(network).weighted_size()
    assert selection.cost == batch_cost(planner.estimates, network) < unshared.cost
    assert selection.nodes <= match_plan.nodes < unshared.nodes
    assert selection.joins <= match_plan.joins < unshared.joins == 5
    assert planner.catalog.network() == network


def test_without_queries_all_are_empty() -> None:
    assert [(plan.nodes, plan.cost) for plan in compare_strategies(Planner(), {})] == [(0, 0.0)] * 3
