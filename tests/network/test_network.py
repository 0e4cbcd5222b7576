"""The network as a value: its order, its local trees, and what it refuses."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from example_network import (
    BIG,
    BY_BANK,
    DAILY,
    FED,
    HUGE,
    INSIDE,
    NAMES,
    NODES,
    ONLY_BIG,
    SAME_BANK,
    network_of,
    plan,
    without,
)

from workbench.network.network import Network, depths
from workbench.network.nodes import NodeId


def parents_come_first(network: Network) -> bool:
    seen: set[NodeId] = set()
    for id_, node in network.nodes.items():
        if not seen.issuperset(node.parents):
            return False
        seen.add(id_)
    return True


@pytest.mark.parametrize("order", [NODES, NODES[::-1], *itertools.permutations([FED, BIG, HUGE, SAME_BANK])])
def test_parents_come_first_in_whatever_order_nodes_are_given(order):
    network = network_of(order)
    assert parents_come_first(network) and set(network.nodes) == {node.id for node in order}


def test_an_order_that_is_right_is_kept():
    assert [*network_of([FED, INSIDE, BIG]).nodes] == [FED.id, INSIDE.id, BIG.id]
    assert [*network_of([FED, BIG, INSIDE]).nodes] == [FED.id, BIG.id, INSIDE.id]


def test_only_nodes_that_come_before_a_parent_change_their_places():
    assert [*network_of([FED, HUGE, INSIDE, BIG]).nodes] == [FED.id, BIG.id, HUGE.id, INSIDE.id]


def test_a_node_that_is_computed_from_itself_is_refused():
    circle = [replace(BIG, parent=HUGE.id), replace(HUGE, parent=BIG.id)]
    with pytest.raises(ValueError, match="is computed from itself"):
        network_of([FED, *circle])


def test_what_reads_a_node_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="is read and does not exist"):
        network_of([FED, HUGE])
    with pytest.raises(ValueError, match=f"query q reads node {INSIDE.id}, which does not exist"):
        network_of([FED, BIG], plan("q", BIG, INSIDE))


def test_local_trees_have_the_root_first():
    network = network_of([FED, BIG, HUGE, INSIDE, NAMES, DAILY, BY_BANK])
    assert network.trees == {
        FED.id: (FED.id, BIG.id, HUGE.id, INSIDE.id),
        NAMES.id: (NAMES.id,),
        DAILY.id: (DAILY.id,),
        BY_BANK.id: (BY_BANK.id,),
    }


def test_a_query_is_served_by_all_its_nodes_and_what_they_are_computed_from():
    network = network_of([FED, BIG, INSIDE, DAILY, BY_BANK], plan("both", BIG, INSIDE), plan("banks", BY_BANK))
    assert network.served == {
        FED.id: ("both", "banks"),
        BIG.id: ("both",),
        INSIDE.id: ("both",),
        DAILY.id: ("banks",),
        BY_BANK.id: ("banks",),
    }
    assert [*without(network, "both").nodes] == [FED.id, DAILY.id, BY_BANK.id]


def test_rows_are_retracted_below_aggregates_and_differences():
    network = network_of([FED, BIG, HUGE, SAME_BANK, DAILY, BY_BANK, ONLY_BIG])
    assert network.monotone == {
        FED.id: True,
        SAME_BANK.id: True,
        DAILY.id: False,
        BY_BANK.id: False,
        ONLY_BIG.id: False,
    }


def test_rows_of_a_stream_that_is_corrected_are_retracted_everywhere_above_it():
    corrected = [replace(FED, append_only=False) if node == FED else node for node in NODES]
    assert {node.id for node in corrected} == {node.id for node in NODES}  # a fact of the stream, not what is computed
    network = network_of(corrected)
    assert not any(network.monotone.values())
    assert network_of(NODES).monotone[FED.id]


def test_depths_count_roots_and_not_nodes():
    network = network_of([FED, BIG, HUGE, SAME_BANK, DAILY, BY_BANK, ONLY_BIG])
    assert depths(network.nodes, [SAME_BANK.id]) == {FED.id: 0, SAME_BANK.id: 1}
    assert depths(network.nodes, [BY_BANK.id, ONLY_BIG.id]) == {FED.id: 0, BY_BANK.id: 1, ONLY_BIG.id: 1}
