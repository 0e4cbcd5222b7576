"""The laws of registering and dropping: what a network must not depend on, and what must come back."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import cache

import pytest
from long import one_in
from sharing.evaluation import Evaluation
from sharing.pairs.every import PAIRS, read
from sharing.pairs.pair import Pair
from sharing.random_queries import Writer
from sharing.small_streams import data, query
from sharing.soundness import check

from workbench.catalog.catalog import Catalog
from workbench.network.network import Network
from workbench.network.nodes import Aggregate, Analytic, Join, Node, NodeId
from workbench.options import Options
from workbench.sharing.planner import Planner
from workbench.sql.logical import LogicalQuery

EVALUATION = Evaluation(data(2))
EVALUATED = [pair for pair in PAIRS if pair.evaluated]

NEVER_TRUE = "SELECT a.id FROM F a, F c, H b WHERE a.code = b.code AND c.amount < 4 AND c.amount > 5 AND c.code = b.id"
"""No row satisfies it, and it joins two streams all the same."""


def title(pair: Pair) -> str:
    return pair.title


@cache
def parsed(text: str) -> LogicalQuery:
    return read(text)


def registered(planner: Planner, texts: Sequence[str], network: Network | None = None) -> Network:
    """A network of some texts, named by their position."""
    network = network or Network()
    for number, text in enumerate(texts, start=len(network.queries)):
        network = planner.register(network, f"q{number}", parsed(text)).network
    return network


def without_statistics(network: Network) -> Mapping[NodeId, Node]:
    """The nodes, without what aggregates compute of their groups and analytic nodes of their rows."""

    def bare(node: Node) -> Node:
        match node:
            case Aggregate():
                return replace(node, statistics=frozenset())
            case Analytic():
                return replace(node, functions=frozenset())
            case _:
                return node

    return {id_: bare(node) for id_, node in network.nodes.items()}


@pytest.mark.parametrize("pair", one_in(6, PAIRS), ids=title)
def test_registering_twice_creates_no_node(pair: Pair) -> None:
    planner = Planner()
    once = registered(planner, [pair.first, pair.second])
    assert registered(planner, [pair.first, pair.second], once).nodes == once.nodes


@pytest.mark.parametrize("pair", one_in(4, PAIRS), ids=title)
def test_dropping_restores_network_and_catalog(pair: Pair) -> None:
    # An aggregate may stay wider: a statistic that is there costs little, and the next query may want it again.
    planner = Planner()
    before = registered(planner, [pair.first])
    both = registered(planner, [pair.second], before)
    assert planner.catalog.network() == both
    after = planner.drop(both, ["q1"])
    assert without_statistics(after) == without_statistics(before)
    assert after.queries == before.queries
    assert planner.catalog.network() == after
    assert not planner.drop(after, ["q0"]).nodes
    assert planner.catalog.network() == Network()


def test_dropping_the_loosest_of_three_joins_restores_the_tests_of_the_others() -> None:
    join = "SELECT a.id FROM F a, F b WHERE a.dst = b.src AND a.code > 1"
    planner = Planner()
    before = registered(planner, [f"{join} AND a.amount > b.amount", f"{join} AND a.day <= b.day"])
    both = registered(planner, [join.removesuffix(" AND a.code > 1")], before)
    assert both.nodes != before.nodes
    after = planner.drop(both, ["q2"])
    assert after.nodes == before.nodes
    assert after.queries == before.queries


@pytest.mark.parametrize("seed", range(12))
def test_dropping_the_last_of_many_restores_the_network(seed: int) -> None:
    planner, network = Planner(), Network()
    for number, text in enumerate(Writer(100_000 + seed).texts(6)):
        both = planner.register(network, "late", query(text)).network
        after = planner.drop(both, ["late"])
        assert without_statistics(after) == without_statistics(network), text
        assert after.queries == network.queries
        network = planner.register(after, f"q{number}", query(text)).network


def test_dropping_restores_the_join_of_a_query_that_is_never_true() -> None:
    planner = Planner()
    before = registered(planner, [NEVER_TRUE])
    both = registered(planner, ["SELECT a.id FROM F a, F b WHERE a.code + b.code > 3"], before)
    after = planner.drop(both, ["q1"])
    assert after.nodes == before.nodes
    assert all(node.predicates for node in after.nodes.values() if isinstance(node, Join)), "a join that tests nothing"


@pytest.mark.parametrize("pair", one_in(6, EVALUATED), ids=title)
def test_dropping_the_first_leaves_what_the_second_makes_alone(pair: Pair) -> None:
    planner = Planner()
    both = registered(planner, [pair.first, pair.second])
    left = planner.drop(both, ["q0"])
    assert planner.catalog.network() == left
    check(left, EVALUATION, {"q1": parsed(pair.second)})
    alone = registered(Planner(), [pair.second])
    assert len(left.nodes) == len(alone.nodes)


@pytest.mark.slow
def test_the_order_of_registration_changes_no_answer() -> None:
    for start in range(0, len(EVALUATED), 4):
        texts = [text for pair in EVALUATED[start : start + 4] for text in (pair.first, pair.second)]
        order = random.Random(start).sample(texts, len(texts))
        queries = {f"q{number}": parsed(text) for number, text in enumerate(order)}
        check(registered(Planner(), order), EVALUATION, queries)


def test_equal_texts_in_any_order_make_the_same_nodes() -> None:
    path = "SELECT a.id FROM F a, F b WHERE a.dst = b.src AND a.amount > 5"
    texts = [path, "SELECT src, SUM(amount) FROM F GROUP BY src", "SELECT src, COUNT(*) FROM F GROUP BY src"]
    made = [registered(Planner(), order).nodes for order in itertools.permutations(texts)]
    assert all(dict(nodes) == dict(made[0]) for nodes in made)


@pytest.mark.parametrize("name", [f.name for f in fields(Options)])
@pytest.mark.parametrize("pair", one_in(80, EVALUATED), ids=title)
def test_every_switch_both_ways(name: str, pair: Pair) -> None:
    settings: tuple[object, ...] = (True, False)
    if name == "strategy":
        settings = ("sharing-selection", "match-plan")
    elif name == "materialize_below":
        settings = (0, 0.5, 1)
    queries = {f"q{i}": parsed(text) for i, text in enumerate((pair.first, pair.second))}
    for setting in settings:
        planner = Planner(replace(Options(), **{name: setting}))  # type: ignore[arg-type]
        network = registered(planner, [pair.first, pair.second])
        check(network, EVALUATION, queries)
        assert planner.catalog.network() == network


@pytest.mark.parametrize("pair", one_in(12, PAIRS), ids=title)
def test_without_sharing_no_node_serves_two_queries(pair: Pair) -> None:
    network = registered(Planner(Options(sharing=False)), [pair.first, pair.second])
    assert all(len(names) == 1 for names in network.served.values())


@pytest.mark.parametrize("pair", one_in(12, PAIRS), ids=title)
def test_without_join_sharing_no_join_serves_two_queries(pair: Pair) -> None:
    network = registered(Planner(Options(join_sharing=False)), [pair.first, pair.second])
    assert all(len(network.served[id_]) == 1 for id_, node in network.nodes.items() if isinstance(node, Join))


def test_a_registration_that_fails_leaves_everything_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    planner = Planner()
    before = registered(planner, [PAIRS[0].first])

    def fail(*_: object) -> None:
        raise RuntimeError("the disk is full")

    with monkeypatch.context() as patched, pytest.raises(RuntimeError, match="the disk is full"):
        patched.setattr(Catalog, "put_decisions", fail)
        registered(planner, ["SELECT src FROM F WHERE code = 3"], before)
    assert planner.catalog.network() == before


def test_a_rehearsal_changes_nothing() -> None:
    planner = Planner()
    before = registered(planner, [PAIRS[0].first])
    with planner.catalog.rehearsal():
        assert len(registered(planner, ["SELECT src FROM F WHERE code = 3"], before).queries) == 2
    assert planner.catalog.network() == before
