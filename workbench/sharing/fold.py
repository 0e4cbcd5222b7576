"""Fold a logical query into the network: which nodes compute it, creating only those that do not exist.

Sharing here is by structural identity (T9.2): a node's id is a digest of what it computes, so whatever the query has
in common with the network, operator by operator, is found by construction. Selections go below joins, joins follow the
order of FROM as far as predicates connect the inputs, and the two ways to write a join or a commutative set operator
are brought to one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from workbench.network.network import Network, QueryPlan
from workbench.network.nodes import (
    Aggregate,
    Join,
    NodeId,
    Selection,
    SetOperation,
    SetOperator,
    Source,
)
from workbench.sql import logical
from workbench.sql.expressions import AggregateCall, Call, Column, Expression, column_name, map_columns, text
from workbench.sql.logical import Block, Grouping, LogicalQuery, Output, StreamInput
from workbench.sql.predicates import (
    Operator,
    ORPred,
    PredSet,
    map_predicates,
    pred_set,
    predicate_sources,
)


@dataclass(frozen=True)
class Folded:
    """A query in a network: its last node, and its outputs over that node's columns."""

    network: Network
    node: NodeId
    outputs: tuple[Output, ...]

    @property
    def values(self) -> Mapping[str, Expression]:
        """The outputs by their folded name, as a query around this one refers to them."""
        return {output.name.lower(): output.expression for output in self.outputs}


def fold(network: Network, name: str, query: LogicalQuery) -> Network:
    """The network with the query in it under ``name``.

    Example:
        ``fold(Network(), "big", bind("SELECT tranid FROM F WHERE amount > 5", "spark", schema).query)``
    """
    folded = _fold(network, query)
    return folded.network.with_query(QueryPlan(name, folded.node, folded.outputs))


def _fold(network: Network, query: LogicalQuery) -> Folded:
    match query:
        case Block():
            return _fold_block(network, query)
        case logical.SetOperation():
            return _fold_set_operation(network, query)


def _fold_block(network: Network, block: Block) -> Folded:
    network, joined = _fold_inputs(network, block)
    network, joined = _place_selections(network, joined, block.where)
    network, node, values = _join_all(network, joined, block.where)
    outputs = block.outputs
    if block.grouping is not None:
        network, node, values = _group(network, node, values, block.grouping)
    if block.having:
        network, node = _select(network, node, map_predicates(block.having, values.__getitem__))
    outputs = tuple(replace(o, expression=map_columns(o.expression, values.__getitem__)) for o in outputs)
    if block.distinct:
        network, node, outputs = _distinct(network, node, outputs)
    return Folded(network, node, outputs)


@dataclass(frozen=True)
class _Input:
    """One input on its way into the join: its node, and its columns as expressions over that node (source 0)."""

    node: NodeId
    values: Mapping[str, Expression] | None
    """``None`` for a stream, whose columns keep their names."""

    def value(self, column: Column) -> Expression:
        return replace(column, source=0) if self.values is None else self.values[column.name]


class _Values(dict[Column, Expression]):
    """Columns of a block's inputs as expressions over the current node, worked out when first asked for."""

    def __init__(self, inputs: Mapping[int, _Input], rename: Mapping[int, tuple[tuple[Join, int], ...]]) -> None:
        super().__init__()
        self._inputs, self._rename = inputs, rename

    def __missing__(self, column: Column) -> Expression:
        value = self._inputs[column.source].value(column)
        for join, side in self._rename[column.source]:
            value = _through(join, side, value)
        self[column] = value
        return value


def _through(join: Join, side: int, value: Expression) -> Expression:
    """An expression over a join's parent, as an expression over the join."""
    return map_columns(value, lambda c: Column(join.output_name(side, c.name), c.type))


def _fold_inputs(network: Network, block: Block) -> tuple[Network, dict[int, _Input]]:
    inputs: dict[int, _Input] = {}
    for position, item in enumerate(block.inputs):
        if isinstance(item, StreamInput):
            source = Source(item.stream)
            network = network.with_nodes([source])
            inputs[position] = _Input(source.id, None)
        else:
            folded = _fold(network, item)
            network = folded.network
            inputs[position] = _Input(folded.node, folded.values)
    return network, inputs


def _place_selections(network: Network, inputs: dict[int, _Input], where: PredSet) -> tuple[Network, dict[int, _Input]]:
    """Put every ORPred that reads one input on that input; one that reads none (WHERE 1 = 0) on the first."""
    placed = dict(inputs)
    for position, item in inputs.items():
        own = pred_set(p for p in where if _home(p) == position)
        network, node = _select(network, item.node, map_predicates(own, item.value))
        placed[position] = replace(item, node=node)
    return network, placed


def _home(predicate: ORPred) -> int | None:
    """The one input a selection predicate belongs to; ``None`` for a join predicate."""
    read = predicate_sources(predicate)
    return None if len(read) > 1 else next(iter(read), 0)


def _select(network: Network, node: NodeId, predicates: PredSet) -> tuple[Network, NodeId]:
    """A selection on the node; chained selections become one, so that equal conditions meet whatever their nesting."""
    if not predicates:
        return network, node
    below = network.nodes[node]
    if isinstance(below, Selection):
        selection = Selection(below.parent, pred_set((*below.predicates, *predicates)))
    else:
        selection = Selection(node, predicates)
    return network.with_nodes([selection]), selection.id


def _join_all(
    network: Network, inputs: Mapping[int, _Input], where: PredSet
) -> tuple[Network, NodeId, Mapping[Column, Expression]]:
    """Join the inputs one after the other; gives the last node and the inputs' columns over it."""
    waiting = [p for p in where if _home(p) is None]
    remaining = list(inputs)
    first = remaining.pop(0)
    node = inputs[first].node
    rename: dict[int, tuple[tuple[Join, int], ...]] = {first: ()}
    while remaining:
        position = min(remaining, key=lambda p: (-_connection(set(rename), p, waiting), p))
        remaining.remove(position)
        ready = [p for p in waiting if predicate_sources(p) <= {*rename, position}]
        waiting = [p for p in waiting if p not in ready]
        values = _Values(inputs, {**rename, position: ()})
        join, left_side = _oriented_join(network, node, inputs[position].node, position, ready, values)
        network = network.with_nodes([join])
        rename = {p: (*steps, (join, left_side)) for p, steps in rename.items()}
        rename[position] = ((join, 1 - left_side),)
        node = join.id
    return network, node, _Values(inputs, rename)


def _connection(placed: set[int], position: int, predicates: list[ORPred]) -> int:
    """How well an input is tied to those already joined: 2 by an equality, 1 by another predicate, 0 not at all."""
    ties = [p for p in predicates if position in predicate_sources(p) and predicate_sources(p) <= {*placed, position}]
    if any(len(p.literals) == 1 and p.literals[0].operator is Operator.EQ for p in ties):
        return 2
    return 1 if ties else 0


def _oriented_join(
    network: Network, left: NodeId, right: NodeId, position: int, predicates: list[ORPred], values: _Values
) -> tuple[Join, int]:
    """The join of two nodes, oriented to have the smaller of its two signatures, and ``left``'s side in it."""

    def made(left_side: int) -> Join:
        def side(column: Column) -> Expression:
            s = 1 - left_side if column.source == position else left_side
            return map_columns(values[column], lambda c: replace(c, source=s))

        mapped = map_predicates(pred_set(predicates), side)
        ends = (left, right) if left_side == 0 else (right, left)
        return Join(*ends, mapped, network.leaves[ends[0]], network.leaves[ends[1]])

    straight, swapped = made(0), made(1)
    return (straight, 0) if straight.signature <= swapped.signature else (swapped, 1)


def _group(
    network: Network, node: NodeId, values: Mapping[Column, Expression], grouping: Grouping
) -> tuple[Network, NodeId, Mapping[Column, Expression]]:
    """An aggregate node; what the query calls its columns is mapped to what the node calls them."""

    def over_node(statistic: AggregateCall) -> AggregateCall:
        arguments = tuple(map_columns(a, values.__getitem__) for a in statistic.arguments)
        return replace(statistic, arguments=arguments)

    groups = {g: map_columns(g, values.__getitem__) for g in grouping.groups}
    statistics = {s: over_node(s) for s in grouping.statistics}
    aggregate = Aggregate(node, _ordered(groups.values()), frozenset(statistics.values()))
    named: dict[Column, Expression] = {}
    for asked, made in (*groups.items(), *statistics.items()):
        named[Column(column_name(asked), asked.type)] = Column(column_name(made), made.type)
    return network.with_nodes([aggregate]), aggregate.id, named


def _ordered(expressions: object) -> tuple[Expression, ...]:
    """Distinct expressions in the order of their text: GROUP BY a, b and b, a are one node."""
    return tuple(sorted(set(expressions), key=text))  # type: ignore[call-overload]


def _distinct(
    network: Network, node: NodeId, outputs: tuple[Output, ...]
) -> tuple[Network, NodeId, tuple[Output, ...]]:
    """DISTINCT is grouping by the outputs, without statistics."""
    aggregate = Aggregate(node, _ordered(o.expression for o in outputs))
    columns = tuple(replace(o, expression=Column(column_name(o.expression), o.type)) for o in outputs)
    return network.with_nodes([aggregate]), aggregate.id, columns


_COMMUTATIVE = {SetOperator.UNION, SetOperator.UNION_ALL, SetOperator.INTERSECT, SetOperator.INTERSECT_ALL}


def _fold_set_operation(network: Network, query: logical.SetOperation) -> Folded:
    branches: list[tuple[NodeId, tuple[Expression, ...]]] = []
    for branch in query.branches:
        folded = _fold(network, branch)
        network = folded.network
        values = (o.expression for o in folded.outputs)
        cast = (v if v.type == t else Call("cast", (v,), t) for v, t in zip(values, query.types, strict=True))
        branches.append((folded.node, tuple(cast)))
    operator = SetOperator(f"{query.operator} all" if query.all else query.operator)
    if operator in _COMMUTATIVE:
        branches.sort(key=lambda branch: (branch[0], *map(text, branch[1])))
    node = SetOperation(operator, tuple(branches))
    named = zip(query.names, query.types, strict=True)
    outputs = tuple(Output(name, Column(f"c{i}", type_)) for i, (name, type_) in enumerate(named, start=1))
    return Folded(network.with_nodes([node]), node.id, outputs)
