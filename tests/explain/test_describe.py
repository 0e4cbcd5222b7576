"""What a network says of itself: kinds, SQL, weights, listings."""

from __future__ import annotations

import itertools

import example_network
import pytest
from example_network import (
    BIG,
    BY_BANK,
    COUNT,
    DAILY,
    FED,
    HUGE,
    INSIDE,
    NAMES,
    ONLY_BIG,
    RICH_DAYS,
    SAME_BANK,
    SAME_DAY,
    join,
    network_of,
    over,
    selection,
)

from workbench.errors import QueryError
from workbench.explain.describe import NetworkView
from workbench.network.network import Network, QueryPlan
from workbench.network.nodes import Read
from workbench.network.sql_text import Words
from workbench.sql.algebra.expressions import Column, column_name
from workbench.sql.algebra.types import INTEGER
from workbench.sql.logical import Output
from workbench.sql.predicates.cnf import TRUE


@pytest.fixture
def view() -> NetworkView:
    return NetworkView(example_network.example())


def test_kinds_and_join_levels(view):
    found = {node.id: (node.kind, node.join_level) for node in view.nodes}
    assert found == {
        FED.id: ("source", 0),
        BIG.id: ("selection", 0),
        HUGE.id: ("selection", 0),
        INSIDE.id: ("selection", 0),
        SAME_BANK.id: ("join", 1),
        SAME_DAY.id: ("selection", 1),
        DAILY.id: ("aggregate", 0),
        RICH_DAYS.id: ("selection", 0),
        BY_BANK.id: ("aggregate", 0),
        NAMES.id: ("distinct", 0),
        ONLY_BIG.id: ("set operator", 1),
    }


def test_statistics_that_only_dropped_queries_read_are_not_shown() -> None:
    """The aggregate keeps them, since the next query may want them, and computes them no more."""
    counted = QueryPlan("n", Read(DAILY.id), (Output("n", Column(column_name(COUNT), INTEGER)),), (DAILY.id,))
    (shown,) = [n for n in NetworkView(network_of([FED, DAILY], counted)).nodes if n.id == DAILY.id]
    assert "COUNT(*)" in shown.sql and "SUM" not in shown.sql
    assert (shown.kind, shown.label) == ("aggregate", ("rbank_aba, tran_date", "COUNT(*)"))


def test_edges_name_both_sides_of_a_self_join():
    pairs = join(FED, FED, TRUE)
    view = NetworkView(network_of([FED, pairs]))
    assert view.edges == ((FED.id, pairs.id), (FED.id, pairs.id))
    assert pairs.sql(Words()) == f"SELECT * FROM {FED.id} l CROSS JOIN {FED.id} r"


def test_each_node_says_which_queries_it_serves(view):
    assert view.node(SAME_BANK.id).queries == ("passed_on", "passed_on_more")
    assert view.node(SAME_DAY.id).queries == ("passed_on_more",)
    assert view.node(INSIDE.id).queries == ("big_and_inside",), "also to a query that reads other nodes besides"
    assert view.node(DAILY.id).queries == ("rich_days", "by_bank"), "and to what reads it by coarser groups"


def test_statements(view):
    big, huge = "«selection amount > 500000»", "«selection amount > 1000000»"
    assert [view.node(node.id).sql for node in (BIG, HUGE, SAME_BANK, DAILY, BY_BANK, NAMES, ONLY_BIG)] == [
        "SELECT * FROM FedWireTrans WHERE amount > 500000",
        f"SELECT * FROM {big} WHERE amount > 1000000",
        f"SELECT * FROM {huge} l JOIN {big} r ON l.benef_account = r.orig_account "
        "AND l.rbank_aba = r.sbank_aba AND l.tran_date <= r.tran_date",
        "SELECT rbank_aba, tran_date, COUNT(*), SUM(amount) FROM FedWireTrans GROUP BY rbank_aba, tran_date",
        "SELECT rbank_aba, SUM(COUNT(*)) AS COUNT(*), SUM(SUM(amount)) AS SUM(amount) "
        "FROM «groups by rbank_aba, tran_date» GROUP BY rbank_aba",
        f"SELECT DISTINCT rbank_name FROM {huge}",
        f"SELECT sbank_aba FROM {big} EXCEPT SELECT sbank_aba FROM {huge}",
    ]


def test_weights_are_those_of_table_10_7(view):
    # σ at level 0: big, huge, inside and rich days; ⋈ at level 1; σ at level 1; nothing else weighs.
    assert view.weighted_size() == 4 * 5 + 16 + 4
    assert NetworkView(Network()).weighted_size() == 0


def test_weights_by_join_level():
    nodes: list = [FED]
    for level in range(1, 7):
        pairs = join(nodes[-1], FED, TRUE, left_leaves=level)
        nodes += [pairs, selection(pairs, over(level))]
    sizes = [NetworkView(network_of(nodes[:end])).weighted_size() for end in range(1, len(nodes) + 1)]
    steps = [after - before for before, after in itertools.pairwise(sizes)]
    assert steps == [16, 4, 8, 3, 4, 2, 2, 1, 2, 1, 2, 1]


def test_labels_spell_out_what_a_made_up_column_means(view):
    assert view.node(RICH_DAYS.id).label == ("SUM(amount) > 10000000",)


def test_the_listing_of_one_query(view):
    lines = view.to_text("passed_on").splitlines()
    assert lines[0] == "query passed_on: 3 nodes, 3 shared with other queries"
    assert [line.split()[0] for line in lines[1:]] == ["F", "σ", "σ", "⋈", "passed_on"]
    assert lines[3].endswith("SELECT * FROM «selection amount > 500000» WHERE amount > 1000000")
    assert lines[-1].startswith("  passed_on reads «join on l.benef_account = r.orig_account AND")
    assert repr(view) == view.to_text()


def test_the_listing_says_what_several_nodes_have_in_common(view):
    first, second = sorted([BIG.id, INSIDE.id])
    assert view.results["big_and_inside"] == (first, second)
    lines = view.to_text("big_and_inside").splitlines()
    assert lines[0] == "query big_and_inside: 2 nodes, 1 shared with other queries"
    first, second = (f"«{view.node(id_).name}»" for id_ in (first, second))
    assert lines[-1] == f"  big_and_inside reads {first} ∩ {second}"
    assert first + second in (f"«{a}»«{b}»" for a, b in itertools.permutations(
        ("selection amount > 500000", "selection rbank_aba = sbank_aba")))  # fmt: skip


def test_an_unknown_query_is_told_with_the_nearest(view):
    for ask in (view.to_dot, view.to_text, view.ancestors):
        with pytest.raises(QueryError) as caught:
            ask("pased_on")
        assert caught.value.hint == "did you mean passed_on?"
