"""Minimum projection (T8.2): which columns each node's rows must carry, derived from who reads them.

Nothing is stored and kept in step: the answer follows from the queries' outputs, walking from the last node to the
first. A query that needs more columns of an old node widens the answer for it and its ancestors (the chained
projection enrichment of T8.3), a dropped one narrows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from workbench.network.network import Network
from workbench.network.nodes import Columns, NodeId, Selection
from workbench.sql.algebra.expressions import Column
from workbench.sql.algebra.types import DataType
from workbench.sql.predicates.cnf import predicate_columns


def carried_columns(network: Network) -> Mapping[NodeId, Columns]:
    """The columns each local tree's relation must carry, by the tree's root; names in a stable order.

    A tree's own selections test the root's rows as they are computed, so their columns need not be carried.
    """
    carried: dict[NodeId, dict[str, DataType]] = {root: {} for root in network.trees}

    def demand(reader_of: NodeId, demanded: Iterable[Column]) -> None:
        for column in demanded:
            carried[network.roots[reader_of]][column.name] = column.type

    for plan in network.queries.values():
        demand(plan.read.root, plan.columns)
    for id_, node in network.nodes.items():
        demand(id_, node.retraction_columns)
    for root in reversed(list(network.trees)):
        for parent, column in network.nodes[root].read_columns(computed_columns(network, root, carried[root])):
            demand(parent, [column])
    return {root: dict(sorted(columns.items())) for root, columns in carried.items()}


def computed_columns(network: Network, root: NodeId, carried: Columns) -> Columns:
    """The columns a root's rows have when its selections test them: those carried and those tested."""
    tested = {
        column.name: column.type
        for id_ in network.trees[root]
        if isinstance(selection := network.nodes[id_], Selection)
        for column in predicate_columns(selection.predicates)
    }
    return dict(sorted({**carried, **tested}.items()))
