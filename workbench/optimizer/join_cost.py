"""How many pairs a new join has to look at, before it is computed over all rows so far.

A join finds pairs by equal keys, and by what bounds how far two values are apart in their order. Without either it
looks at every pair of rows. Two streams of 300,000 rows have 90,000 million, which takes hours. An analyst who left out
a condition wants to hear that before, and not to wait.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from workbench.network.network import Network, roots_read
from workbench.network.nodes import Join, NodeId, Source
from workbench.optimizer.band_selectivity import within_bands
from workbench.optimizer.cardinality import Estimates, is_key, is_of_places
from workbench.sql.predicates.cnf import ORPred, pred_set, predicate_sources


@dataclass(frozen=True)
class JoinCost:
    """The cost of a join.

    Attributes:
        sides: for each side the streams and tables that its rows come from.
        pairs: it has to look at, estimated.
    """

    sides: tuple[tuple[str, ...], tuple[str, ...]]
    pairs: float


def costliest_new_join(estimates: Estimates, before: Network, after: Network) -> JoinCost | None:
    """Of the joins that a change of the network adds the one with most pairs; ``None`` where none is new.

    Example:
        >>> costliest_new_join(Estimates({}), Network(), Network()) is None
        True
    """
    own = estimates.over(after.nodes)
    new = [node for id_, node in after.nodes.items() if isinstance(node, Join) and id_ not in before.nodes]
    costs = [JoinCost(_sides(after, join), _pairs(own, join)) for join in new if own.known(join.id)]
    return max(costs, key=lambda cost: cost.pairs, default=None)


def _pairs(estimates: Estimates, join: Join) -> float:
    """The pairs that its access path finds: with equal keys, within bounds of an order, of rows and places, or all."""
    predicates = join.predicates
    sampled = partial(estimates.sampled_pairs, join.roots)
    between = within_bands(predicates, estimates.of_inputs(join.roots), sampled)
    if any(is_key(predicate) for predicate in predicates):
        return estimates.examined(join.roots, predicates) * between
    others = pred_set(p for p in predicates if len(predicate_sources(p)) < 2 or is_of_places(p) or _is_either_key(p))
    return estimates.joined(join.roots, others) * between


def _is_either_key(predicate: ORPred) -> bool:
    """Whether either of several keys is required to be equal: each is looked up."""
    return all(is_key(ORPred((literal,))) for literal in predicate.literals)


def _sides(network: Network, join: Join) -> tuple[tuple[str, ...], tuple[str, ...]]:
    left, right = (_streams(network, root) for root in join.roots)
    return left, right


def _streams(network: Network, root: NodeId) -> tuple[str, ...]:
    below = map(network.nodes.__getitem__, roots_read(network.nodes, [root]))
    return tuple(sorted({node.stream for node in below if isinstance(node, Source)}))
