"""Folding by structural identity: what is one node, what must not be, and the laws of registering and dropping."""

from __future__ import annotations

import itertools

import pytest

from workbench.network.network import Network
from workbench.network.nodes import Aggregate, Join, Selection
from workbench.network.projection import carried_columns
from workbench.sharing.decisions import decisions
from workbench.sharing.fold import fold
from workbench.sql.bind import bind
from workbench.sql.schema import Schema
from workbench.sql.types import DATE, DOUBLE, INTEGER, STRING, decimal

SCHEMA = Schema(
    streams={
        "F": (
            ("id", INTEGER),
            ("code", INTEGER),
            ("amount", decimal(15, 2)),
            ("day", DATE),
            ("src", STRING),
            ("dst", STRING),
        ),
        "G": (("id", INTEGER), ("rate", DOUBLE), ("name", STRING)),
    }
)

PATH = "SELECT a.id, b.id FROM F a, F b WHERE a.dst = b.src AND a.amount > 100"

ONE_NODE = [
    (
        "swapped conjuncts",
        "SELECT id FROM F WHERE code = 1 AND amount > 5",
        "SELECT day FROM F WHERE amount > 5 AND code = 1",
    ),
    ("flipped comparison", "SELECT id FROM F WHERE amount > 5", "SELECT id FROM F WHERE 5 < amount"),
    ("double negation", "SELECT id FROM F WHERE NOT (amount <= 5)", "SELECT id FROM F WHERE amount > 5"),
    ("between", "SELECT id FROM F WHERE code BETWEEN 1 AND 3", "SELECT id FROM F WHERE code <= 3 AND code >= 1"),
    ("in and or", "SELECT id FROM F WHERE code IN (2, 1)", "SELECT id FROM F WHERE code = 1 OR code = 2"),
    ("other columns asked", "SELECT id FROM F WHERE code = 1", "SELECT src, dst FROM F WHERE code = 1"),
    ("aliases swapped", PATH, "SELECT b.id, a.id FROM F b, F a WHERE b.dst = a.src AND b.amount > 100"),
    ("join written otherwise", PATH, "SELECT y.day FROM F x JOIN F y ON y.src = x.dst WHERE 100 < x.amount"),
    ("inputs in other order", PATH, "SELECT b.id FROM F b, F a WHERE a.dst = b.src AND a.amount > 100"),
    (
        "sub-query inlined",
        "SELECT id FROM (SELECT id, amount FROM F WHERE code = 1) x WHERE amount > 5",
        "SELECT id FROM F WHERE amount > 5 AND code = 1",
    ),
    (
        "with clause",
        "WITH big AS (SELECT * FROM F WHERE amount > 5) SELECT id FROM big",
        "SELECT id FROM F WHERE amount > 5",
    ),
    (
        "groups in other order",
        "SELECT src, dst, COUNT(*) FROM F GROUP BY src, dst",
        "SELECT dst, src, SUM(amount) FROM F GROUP BY dst, src",
    ),
    ("distinct and group by", "SELECT DISTINCT src FROM F", "SELECT src FROM F GROUP BY src"),
    ("union in other order", "SELECT src FROM F UNION SELECT dst FROM F", "SELECT dst FROM F UNION SELECT src FROM F"),
]

TWO_NODES = [
    ("another constant", "SELECT id FROM F WHERE amount > 5", "SELECT id FROM F WHERE amount > 6"),
    ("number and text", "SELECT id FROM F WHERE src = '1'", "SELECT id FROM F WHERE id = 1"),
    ("strict and not", "SELECT id FROM F WHERE amount > 5", "SELECT id FROM F WHERE amount >= 5"),
    (
        "condition inside OR",
        "SELECT id FROM F WHERE code = 1 OR amount > 5",
        "SELECT id FROM F WHERE code = 1 AND amount > 5",
    ),
    ("join sides that differ", PATH, "SELECT a.id FROM F a, F b WHERE a.dst = b.src AND b.amount > 100"),
    (
        "except is not commutative",
        "SELECT src FROM F EXCEPT SELECT dst FROM F",
        "SELECT dst FROM F EXCEPT SELECT src FROM F",
    ),
    (
        "union and union all",
        "SELECT src FROM F UNION SELECT dst FROM F",
        "SELECT src FROM F UNION ALL SELECT dst FROM F",
    ),
    ("null test", "SELECT id FROM F WHERE src IS NULL", "SELECT id FROM F WHERE src IS NOT NULL"),
    (
        "columns of a set operator swapped",
        "SELECT src, dst FROM F INTERSECT SELECT dst, src FROM F",
        "SELECT src, dst FROM F INTERSECT SELECT src, dst FROM F",
    ),
    (
        "before and after grouping",
        "SELECT src, COUNT(*) FROM F WHERE code = 1 GROUP BY src",
        "SELECT src, COUNT(*) FROM F GROUP BY src",
    ),
]


def registered(*texts: str) -> Network:
    network = Network()
    for number, text in enumerate(texts, start=1):
        query = bind(text, "spark", SCHEMA).query
        assert query is not None
        network = fold(network, f"q{number}", query)
    return network


def last_nodes(*texts: str) -> set[str]:
    return {plan.node for plan in registered(*texts).queries.values()}


@pytest.mark.parametrize(("first", "second"), [c[1:] for c in ONE_NODE], ids=[c[0] for c in ONE_NODE])
def test_equal_computations_are_one_node(first: str, second: str) -> None:
    assert len(last_nodes(first, second)) == 1


@pytest.mark.parametrize(("first", "second"), [c[1:] for c in TWO_NODES], ids=[c[0] for c in TWO_NODES])
def test_different_computations_are_two_nodes(first: str, second: str) -> None:
    assert len(last_nodes(first, second)) == 2


def test_registering_twice_creates_no_node() -> None:
    for _, first, second in ONE_NODE + TWO_NODES:
        assert registered(first, second).nodes == registered(first, second, first, second).nodes


def test_dropping_restores_the_network() -> None:
    texts = [first for _, first, _ in ONE_NODE + TWO_NODES]
    before = registered(*texts)
    query = bind("SELECT MAX(a.amount) FROM F a, G b WHERE a.id = b.id AND b.rate > 2", "spark", SCHEMA).query
    assert query is not None
    after = fold(before, "late", query)
    assert len(after.nodes) > len(before.nodes)
    assert after.without_query("late").nodes == before.nodes


def test_the_order_of_registration_does_not_change_the_nodes() -> None:
    texts = [PATH, "SELECT src, SUM(amount) FROM F GROUP BY src", "SELECT src, COUNT(*) FROM F GROUP BY src"]
    all_nodes = [registered(*order).nodes for order in itertools.permutations(texts)]
    assert all(set(nodes) == set(all_nodes[0]) for nodes in all_nodes)


def test_an_aggregate_grows_by_what_a_later_query_asks() -> None:
    network = registered("SELECT src, SUM(amount) FROM F GROUP BY src", "SELECT src, COUNT(*) FROM F GROUP BY src")
    (aggregate,) = (node for node in network.nodes.values() if isinstance(node, Aggregate))
    assert {statistic.function for statistic in aggregate.statistics} == {"sum", "count"}


def test_selections_go_below_a_join_and_the_join_keeps_what_reads_both_sides() -> None:
    network = registered(
        "SELECT a.id FROM F a, G b WHERE a.id = b.id AND a.code = 1 AND b.rate > a.amount AND b.name = 'x'"
    )
    (join,) = (node for node in network.nodes.values() if isinstance(node, Join))
    assert len(join.predicates.or_preds) == 2
    assert {type(network.nodes[parent]) for parent in join.parents} == {Selection}


def test_a_join_of_three_names_columns_by_leaf() -> None:
    network = registered("SELECT c.id FROM F a, F b, F c WHERE a.dst = b.src AND b.dst = c.src AND c.amount = a.amount")
    (query,) = network.queries.values()
    carried = carried_columns(network)[query.node]
    assert set(carried) == {query.outputs[0].expression.name}
    assert [network.join_levels[node] for node in network.nodes if isinstance(network.nodes[node], Join)] == [1, 2]


def test_a_node_carries_only_what_somebody_reads() -> None:
    first = registered("SELECT id FROM F WHERE amount > 5")
    both = registered("SELECT id FROM F WHERE amount > 5", "SELECT src FROM F WHERE amount > 5")
    (source,) = (root for root in first.trees)
    assert set(carried_columns(first)[source]) == {"id"}
    assert set(carried_columns(both)[source]) == {"id", "src"}
    assert set(carried_columns(both.without_query("q2"))[source]) == {"id"}


def test_an_explanation_tells_what_was_shared_with_whom() -> None:
    before = registered(PATH)
    query = bind("SELECT a.day FROM F a WHERE a.amount > 100", "spark", SCHEMA).query
    assert query is not None
    told = decisions(before, fold(before, "late", query), "late")
    assert [(d.created, d.shared_with) for d in told.decisions] == [(False, ("q1",)), (False, ("q1",))]
    assert "2 shared, 0 new" in str(told)
