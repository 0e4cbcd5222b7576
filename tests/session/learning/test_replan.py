"""A network that is planned anew does not depend on the order in which its queries were registered."""

from __future__ import annotations

import itertools

from sharing.small_streams import data, query, statistics

from workbench.explain.describe import NetworkView
from workbench.network.network import Network
from workbench.session.learning.replan import Asked, Replanned, replan
from workbench.sharing.planner import Planner

CHAIN = "SELECT a.id, c.id FROM F a, F b, F c WHERE a.code = 3 AND a.src = b.src AND b.day = c.day AND b.code < c.code"
TEXTS = {
    "chain": CHAIN,
    "pair": "SELECT b.id, c.id FROM F b, F c WHERE b.day = c.day AND b.code < c.code",
    "one": "SELECT id FROM F WHERE code = 3",
}


def registered(*names: str, **more: str) -> tuple[Planner, Network, dict[str, Asked]]:
    planner, network = Planner(streams=statistics(data(1))), Network()
    asked = {name: Asked(query({**TEXTS, **more}[name]), "", "", False) for name in names}
    for name, each in asked.items():
        network = planner.register(network, name, each.query).network
    return planner, network, asked


def anew(planner: Planner, network: Network, asked: dict[str, Asked], accept: bool = True) -> Replanned:
    return replan(planner, network, asked, lambda other: accept)


def test_the_order_of_registration_does_not_matter() -> None:
    networks = []
    for order in itertools.permutations(TEXTS):
        planner, network, asked = registered(*order)
        replanned = anew(planner, network, asked)
        assert replanned.accepted and list(replanned.network.queries) == list(order)
        assert planner.catalog.network() == replanned.network
        networks.append(replanned.network)
    assert all(dict(other.nodes) == dict(networks[0].nodes) for other in networks)


def test_a_query_that_came_late_becomes_the_beginning_of_others() -> None:
    planner, network, asked = registered("chain", "pair")
    replanned = anew(planner, network, asked)
    assert replanned.moved(network) == ("chain",)
    assert NetworkView(replanned.network).weighted_size() < NetworkView(network).weighted_size()


def test_what_is_not_accepted_changes_nothing() -> None:
    planner, network, asked = registered("chain", "pair")
    replanned = anew(planner, network, asked, accept=False)
    assert not replanned.accepted and replanned.moved(network) == ("chain",)
    assert planner.catalog.network() == network
    again = planner.register(network, "more", query(TEXTS["one"])).network
    assert again.queries.keys() == {"chain", "pair", "more"}


def test_a_query_whose_rows_may_be_taken_back_stays() -> None:
    grouped = CHAIN.replace("a.id, c.id", "a.src, COUNT(*)") + " GROUP BY a.src"
    planner, network, asked = registered("grouped", "pair", grouped=grouped)
    replanned = anew(planner, network, asked)
    assert replanned.stayed == {"grouped"}
    assert replanned.network.queries["grouped"].read == network.queries["grouped"].read


def test_a_network_that_is_as_it_should_be_stays() -> None:
    planner, network, asked = registered("one", "pair", "chain")
    replanned = anew(planner, network, asked)
    assert replanned.moved(network) == () and replanned.network == network
