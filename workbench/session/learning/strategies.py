"""Plans of the present queries under each strategy of sharing, for comparison; the network stays as it is.

Sharing-selection and match-plan are compared as in T10.4, but on the analyst's own queries, in the order in which they
were registered, with what is known of her streams; and with a network in which nothing is shared.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

from workbench.catalog.catalog import Catalog
from workbench.explain.describe import NetworkView
from workbench.network.network import Network
from workbench.network.nodes import Join, Source
from workbench.optimizer.network_cost import batch_cost
from workbench.options import STRATEGIES, Options
from workbench.session.learning.replan import Asked
from workbench.sharing.planner import Planner

_UNSHARED = "nothing shared"


@dataclass(frozen=True)
class StrategyPlan:
    """A network as a strategy plans it.

    Attributes:
        strategy: its name, or ``_UNSHARED``.
        nodes: of the network, without streams.
        joins: of these.
        weighted_size: see T10.4.4.
        cost: rows that a batch looks at, predicted.
        seconds: that planning took.
    """

    strategy: str
    nodes: int
    joins: int
    weighted_size: int
    cost: float
    seconds: float


def compare_strategies(planner: Planner, asked: Mapping[str, Asked]) -> list[StrategyPlan]:
    """The plans of all queries by each strategy, and without sharing.

    Args:
        planner: of the session, whose options stay but for the strategy.
        asked: the queries by name, in the order of registration.
    """
    options = {name: replace(planner.options, strategy=name) for name in STRATEGIES}
    options[_UNSHARED] = replace(planner.options, sharing=False)
    return [_planned(name, each, planner, asked) for name, each in options.items()]


def _planned(name: str, options: Options, known: Planner, asked: Mapping[str, Asked]) -> StrategyPlan:
    planner = Planner(options, Catalog(), known.streams)
    network, begun = Network(), time.perf_counter()
    for query, each in asked.items():
        network = planner.register(network, query, each.query, each.sql, each.dialect, each.eager).network
    seconds, cost = time.perf_counter() - begun, batch_cost(planner.estimates, network)
    planner.catalog.close()
    work = [node for node in network.nodes.values() if not isinstance(node, Source)]
    joins = sum(isinstance(node, Join) for node in work)
    return StrategyPlan(name, len(work), joins, NetworkView(network).weighted_size(), cost, seconds)
