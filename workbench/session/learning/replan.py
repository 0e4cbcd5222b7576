"""Plans a whole network again, as if all of its queries were registered now, in a good order.

Queries come one at a time, and each finds what those before it left. A query of few inputs that comes late has its own
joins beside those of more inputs, and could have been the beginning of theirs. So queries of few inputs are planned
first here, and equal ones in the order of their text: the network does not depend on the order of registration.

A query whose rows may be retracted must go on to read the rows that it has read, since its changelog is theirs. Where
it would come to read others it stays where it is, and the rest is planned around it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from workbench.network.network import Network, QueryPlan
from workbench.network.nodes import NodeId
from workbench.sharing.decisions import Explanation
from workbench.sharing.planner import Planner
from workbench.sql.logical import LogicalQuery, StreamInput, listing, parts_of


@dataclass(frozen=True)
class Asked:
    """A query as it was registered: bound, its text, and whether its window is to become a node."""

    query: LogicalQuery
    sql: str
    dialect: str
    eager: bool


@dataclass(frozen=True)
class Replanned:
    """The result of planning a network again.

    Attributes:
        network: all queries, in the order in which they were.
        explanations: of the queries that were planned anew.
        stayed: the queries that had to stay where they are.
        accepted: whether the catalog has this network now; otherwise it has the one before.
    """

    network: Network
    explanations: Mapping[str, Explanation]
    stayed: frozenset[str]
    accepted: bool

    def moved(self, before: Network) -> tuple[str, ...]:
        """The queries that read other roots than in the network before."""
        return tuple(
            name
            for name, plan in self.network.queries.items()
            if _roots(self.network, plan) != _roots(before, before.queries[name])
        )


def replan(
    planner: Planner, network: Network, asked: Mapping[str, Asked], accept: Callable[[Network], bool]
) -> Replanned:
    """Plan all queries of a network again.

    Args:
        planner: whose catalog has the network.
        network: before.
        asked: its queries.
        accept: whether the new network is to be kept; where not, nothing has changed.
    """
    stayed: frozenset[str] = frozenset()
    while True:
        try:
            with planner.catalog.transaction():
                replanned, torn = _planned(planner, network, asked, stayed)
                if torn or not accept(replanned.network):
                    raise _Undone
                return replanned
        except _Undone:
            if not torn:
                return Replanned(replanned.network, replanned.explanations, stayed, accepted=False)
            # Each round more of them stay; when all do, none is torn.
            stayed |= torn


class _Undone(Exception):
    """Raised to undo a plan that is not to be kept."""


def _planned(
    planner: Planner, before: Network, asked: Mapping[str, Asked], stayed: frozenset[str]
) -> tuple[Replanned, frozenset[str]]:
    """The network after all queries but ``stayed`` were planned again, and the queries that cannot take their new
    plans.
    """
    anew = sorted(asked.keys() - stayed, key=lambda name: _place(asked[name].query, name))
    network = planner.without(before, anew)
    explanations = {}
    for name in anew:
        query = asked[name]
        planned = planner.register(network, name, query.query, query.sql, query.dialect, query.eager)
        network, explanations[name] = planned.network, planned.explanation
    planner.catalog.put_query_order(before.queries)
    network = Network(network.nodes, {name: network.queries[name] for name in before.queries})
    torn = (n for n, plan in before.queries.items() if not _same_rows(before, plan, network.queries[n]))
    return Replanned(network, explanations, stayed, accepted=True), frozenset(torn)


def _place(query: LogicalQuery, name: str) -> tuple[int, str, str]:
    """The position of a query in the order of planning."""
    return sum(isinstance(part, StreamInput) for part in parts_of(query)), listing(query), name


def _same_rows(before: Network, old: QueryPlan, new: QueryPlan) -> bool:
    """Whether a query may go over to another plan: rows that are never retracted tell their batch themselves."""
    same = (old.read, old.outputs, old.window, old.order) == (new.read, new.outputs, new.window, new.order)
    return same or before.monotone[old.read.root]


def _roots(network: Network, plan: QueryPlan) -> frozenset[NodeId]:
    """The roots that a query is computed from."""
    return frozenset(network.roots[id_] for id_ in network.ancestors(plan.nodes))
