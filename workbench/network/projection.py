"""Minimum projection (T8.2): which columns each node's rows must carry, derived from who reads them.

Nothing is stored and kept in step: the answer follows from the queries' outputs, walking from the last node to the
first. A query that needs more columns of an old node widens the answer for it and its ancestors (the chained
projection enrichment of T8.3), a dropped one narrows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from workbench.network.network import Network
from workbench.network.nodes import (
    Aggregate,
    Analytic,
    Join,
    Node,
    NodeId,
    Selection,
    SetOperation,
    SetOperator,
    Source,
    Window,
)
from workbench.network.roll_up import column_of
from workbench.sql.algebra.expressions import Column, Expression, column_name, columns
from workbench.sql.algebra.types import DataType
from workbench.sql.predicates.cnf import predicate_columns

Columns = Mapping[str, DataType]


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
        demand(id_, identifying_columns(node))
    for id_ in reversed(tuple(network.nodes)):
        node = network.nodes[id_]
        match node:
            case Source() | Selection():
                pass
            case Join():
                needed = computed_columns(network, id_, carried[id_])
                for name, type_ in needed.items():
                    side, inner = node.names.input_name(name)
                    demand(node.parents[side], [Column(inner, type_)])
                for column in predicate_columns(node.tested):
                    demand(node.parents[column.source], [column])
            case Aggregate():
                demand(node.parents[0], read_by_aggregate(node, computed_columns(network, id_, carried[id_])))
            case Window():
                demand(node.parent, (Column(*item) for item in computed_columns(network, id_, carried[id_]).items()))
                demand(node.parent, predicate_columns(node.within))
            case Analytic():
                demand(node.parent, read_by_analytic(node, computed_columns(network, id_, carried[id_])))
            case SetOperation():
                computed = computed_columns(network, id_, carried[id_])
                for parent, values in node.direct:
                    demand(parent, read_by_branch(node, values, computed))
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


def identifying_columns(node: Node) -> tuple[Column, ...]:
    """The columns without which a changed row of the node could not be found again to retract it."""
    match node:
        case Aggregate():
            return tuple(map(column_of, node.groups))
        case SetOperation() if node.operator is not SetOperator.UNION_ALL:
            return node.columns
        case Analytic() if node.bound:
            # What a row is compared by with those that come into the first ones.
            return tuple(columns_of(node.over.expressions))
        case _:
            return ()


def read_by_analytic(node: Analytic, computed: Columns) -> Iterable[Column]:
    """The columns of its parent that an analytic node reads to make those columns."""
    yield from (Column(name, type_) for name, type_ in computed.items() if name not in node.types)
    yield from columns_of(node.over.expressions)
    yield from columns_of(a for f in node.functions if f.name in computed for a in f.arguments)


def read_by_aggregate(node: Aggregate, computed: Columns) -> Iterable[Column]:
    """The columns of its parent that an aggregate reads to make those columns."""
    yield from columns_of(map(node.direct_group, node.groups))
    for statistic in node.statistics:
        if column_name(statistic) in computed:
            yield from columns_of(node.direct_statistic(statistic).arguments)


def read_by_branch(node: SetOperation, values: Iterable[Expression], computed: Columns) -> Iterable[Column]:
    """The columns of its parent that a branch, which computes ``values``, reads to make those columns."""
    return columns_of(value for column, value in zip(node.columns, values, strict=True) if column.name in computed)


def columns_of(expressions: Iterable[Expression]) -> Iterable[Column]:
    """The columns that stand in expressions."""
    for expression in expressions:
        yield from columns(expression)
