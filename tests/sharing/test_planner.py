"""The planner on networks larger than a test would register query by query."""

from __future__ import annotations

import pytest

from workbench.catalog.catalog import Catalog
from workbench.engine.physical.planner import plan_trees
from workbench.network.network import Network, QueryPlan, ancestors
from workbench.network.nodes import Node, Read, Selection, Source
from workbench.optimizer.cardinality import Estimates
from workbench.options import Options
from workbench.sharing.draft import Draft
from workbench.sharing.planner import Planner
from workbench.sql.algebra import planning_cache
from workbench.sql.algebra.expressions import Column, Constant
from workbench.sql.algebra.planning_cache import PlanningCache
from workbench.sql.algebra.types import INTEGER
from workbench.sql.binder.pipeline import bind
from workbench.sql.predicates.cnf import Literal, Operator, PredSet, or_pred, pred_set
from workbench.sql.schema import Schema

DEEP = 3_000
"""More selections one below the other than Python lets a function call itself."""


def chain() -> Network:
    """Selections each of which tightens the bound of the one before, and a query on the last."""
    source = Source("f")
    nodes: dict[str, Node] = {source.id: source}
    parent = source.id
    for bound in range(DEEP):
        selection = Selection(Read(source.id, above(bound)), parent, above(bound))
        nodes[selection.id] = selection
        parent = selection.id
    return Network(nodes, {"q": QueryPlan("q", Read(source.id, above(DEEP - 1)), (), (parent,))})


def above(bound: int) -> PredSet:
    return pred_set([or_pred([Literal(Column("a", INTEGER), Operator.GT, Constant(bound, INTEGER))])])


def test_selections_may_hang_in_chains_of_any_length():
    network = chain()
    draft = Draft.of(network, Catalog(), Options(), Estimates({}))
    assert ancestors(draft.nodes, draft.queries["q"].nodes) == list(network.nodes)
    assert network.served[next(iter(network.nodes))] == ("q",)


@pytest.mark.slow
def test_the_filter_of_a_chain_tests_each_node_once():
    network = chain()
    (plan,) = plan_trees(network, {}).values()
    (table,) = plan.filter.filter.tables
    assert DEEP / 2 < len(table.points) <= DEEP
    last = plan.bits[network.queries["q"].nodes[0]]
    allowed = (table.bits[:-1, last // 64] >> (last % 64)) & 1
    assert allowed[-1] == 1 and not allowed[:-2].any()


def test_what_planning_remembers_does_not_grow_with_the_queries_that_were_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    live, few = 4, 6
    monkeypatch.setattr(planning_cache, "FEW", few)
    cache, planner, network, most = PlanningCache(), Planner(), Network(), []
    schema = Schema({"f": (("a", INTEGER), ("b", INTEGER))})
    with cache.active():
        for number in range(60):
            if number >= live:
                network = planner.drop(network, [f"q{number - live}"])
            query = bind(f"SELECT a FROM f WHERE a > {number} AND b < {number}", "spark", schema).query
            assert query is not None
            network = planner.register(network, f"q{number}", query).network
            most.append(sum(each.cache_info().currsize for each in cache.caches.values()))  # type: ignore[attr-defined]
    assert max(most[20:]) <= 1.1 * max(most[: live + few + 2])
