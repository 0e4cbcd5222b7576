"""Suspended queries: their operators are passed over by batches, and computed anew when the queries go on.

An operator stands still when every query that reads it, itself or through others, is suspended. Its rows stay those of
the batch before. When one of them goes on, the operator is hydrated from all data so far, as at a registration, and so
is everything that it reads and that stands still: an operator never sees parents of different batches.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from workbench.engine.physical.plans import TreePlan
from workbench.network.network import Network


def passed_over(network: Network, plans: Mapping[str, TreePlan], suspended: Collection[str]) -> frozenset[str]:
    """The operators that only suspended queries read.

    Args:
        network: what runs.
        plans: of all its operators, by their names.
        suspended: names of queries.
    """
    if not suspended:
        return frozenset()
    operators = {root: name for name, plan in plans.items() for root in plan.roots}
    reads = (query.read.root for name, query in network.queries.items() if name not in suspended)
    return frozenset(plans) - with_parents(plans, {operators[root] for root in reads})


def with_parents(plans: Mapping[str, TreePlan], names: Iterable[str]) -> frozenset[str]:
    """Some operators with all that they read, themselves or through others."""
    found, found_last = set[str](), set(names)
    while found_last:
        found |= found_last
        found_last = {read for name in found_last for read, _ in plans[name].inputs} - found
    return frozenset(found)
