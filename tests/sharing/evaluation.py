"""Logical queries and network nodes row by row in plain Python: slow, and too simple to be wrong in the same way.

A query is evaluated as SQL defines it, a node as the engine evaluates it, from its direct parents. Rows are
dictionaries; a selection keeps the very rows of its root, so that rows are the same when they are the same object.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import product
from typing import Any

from sharing import scalars
from sharing.aggregate_values import grouped
from sharing.analytic_values import analytic_values, numbered
from sharing.expression_values import Sides, compiled, satisfies
from sharing.scalars import plain
from sharing.small_streams import Data, Row

from workbench.network.network import Network, QueryPlan
from workbench.network.nodes import (
    Aggregate,
    Analytic,
    Join,
    Node,
    NodeId,
    Read,
    Recursion,
    Selection,
    SetOperation,
    SetOperator,
    Source,
    Window,
)
from workbench.sql import logical
from workbench.sql.algebra.analytic import Over
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import AggregateCall, Column, Expression, Origin, Value, column_name
from workbench.sql.algebra.types import DataType
from workbench.sql.logical import Block, LogicalQuery, StreamInput
from workbench.sql.predicates.canonical import without_overflow
from workbench.sql.predicates.cnf import PredSet, conjunction, predicate_sources

Bag = Counter[tuple[Value, ...]]

MOST_PAIRS = 20_000
"""Pairs of rows that one join may look at."""


class TooLarge(Exception):
    """A join of too many rows to be evaluated row by row."""


def _pairs(left: Sequence[Any], right: Sequence[Any]) -> Iterable[tuple[Any, Any]]:
    """All pairs of rows.

    Raises:
        TooLarge: they are too many.
    """
    if len(left) * len(right) > MOST_PAIRS:
        raise TooLarge
    return product(left, right)


# -- operators -----------------------------------------------------------------------------------------------------


def combined(operator: SetOperator, branches: Sequence[Bag]) -> Bag:
    """A set operator of bags."""
    first, *others = branches
    match operator:
        case SetOperator.UNION | SetOperator.UNION_ALL:
            made = sum(branches, Bag())
        case SetOperator.INTERSECT | SetOperator.INTERSECT_ALL:
            made = reduce(lambda a, b: a & b, branches)
        case SetOperator.EXCEPT:
            made = Bag({row: n for row, n in first.items() if not any(row in o for o in others)})
        case SetOperator.EXCEPT_ALL:
            made = reduce(lambda a, b: a - b, branches)
        case SetOperator.SEMIJOIN | SetOperator.ANTIJOIN:
            found = operator is SetOperator.SEMIJOIN
            return Bag({row: n for row, n in first.items() if any(row in o for o in others) == found})
    return made if operator.endswith("all") else Bag(made.keys())


def by_rules(operator: SetOperator, rules: Sequence[logical.RecursionRule], branches: Sequence[Bag]) -> Bag:
    """A recursion of bags, step by step."""
    if operator in (SetOperator.RECURSION_LEAST, SetOperator.RECURSION_GREATEST):
        return _best_by_rules(operator is SetOperator.RECURSION_GREATEST, rules, branches)
    step, found, distinct = branches[0], Bag(), operator is SetOperator.RECURSION
    while step:
        step = Bag(row for row in step if row not in found) if distinct else step
        found += step
        step = sum((_next_step(rule, step, branches) for rule in rules), Bag())
    return found


def _best_by_rules(greatest: bool, rules: Sequence[logical.RecursionRule], branches: Sequence[Bag]) -> Bag:
    """The best rows of each key among the first ones and all that follow from the best rows, until they stay."""
    found, before = Bag(), None
    while found != before:
        before, best = found, dict[Row, Row]()
        for row in branches[0] + sum((_next_step(rule, found, branches) for rule in rules), Bag()):
            *key, value = row
            known = best.setdefault(tuple(key), row)[-1]
            if value is not None and (known is None or (value > known if greatest else value < known)):
                best[tuple(key)] = row
        found = Bag(best.values())
    return found


def _next_step(rule: logical.RecursionRule, step: Bag, branches: Sequence[Bag]) -> Bag:
    rows: list[Sides] = [()]
    for branch in rule.inputs:
        of_input = (step if not branch else branches[branch]).elements()
        more = [{f"c{i}": value for i, value in enumerate(row, start=1)} for row in of_input]
        rows = [(*row, other) for row, other in _pairs(rows, more)]
    kept = (row for row in rows if satisfies(row, without_overflow(rule.where)))
    return Bag(tuple(plain(compiled(value)(row)) for value in rule.values) for row in kept)


# -- queries -------------------------------------------------------------------------------------------------------


def answer(query: LogicalQuery, data: Data) -> Bag:
    """A query's answer, as SQL defines it."""
    match query:
        case Block():
            return _block(query, data)
        case logical.Ordered():
            return _ordered(query, data)
        case logical.SetQuery():
            operator = SetOperator(f"{query.operator} all" if query.all else query.operator)
            if query.rules:
                first, *others = query.branches
                bags = [_typed(answer(first, data), first, query.types), *(answer(b, data) for b in others)]
                return by_rules(operator, query.rules, bags)
            return combined(operator, [_typed(answer(b, data), b, query.types) for b in query.branches])


def _ordered(query: logical.Ordered, data: Data) -> Bag:
    """ORDER BY gives no other rows; LIMIT keeps the first ones, peers being in the order of what is shown."""
    columns = [Column(stored_name(name), type_) for name, type_ in logical.output_columns(query.query)]
    rows = _input(query.query, data)
    ties = tuple(columns[: query.columns])
    ranks = numbered([(row,) for row in rows], Over(query.on, query.keys, ties))
    last = "rank" if query.with_ties else "row_number"
    kept = [
        row for row, rank in zip(rows, ranks, strict=True)
        if rank["row_number"] > query.offset and (query.limit is None or rank[last] <= query.offset + query.limit)
    ]  # fmt: skip
    return Bag(tuple(row[c.name] for c in ties) for row in kept)


def _typed(bag: Bag, branch: LogicalQuery, types: Sequence[DataType]) -> Bag:
    """A branch's rows in the common types."""
    own = [type_ for _, type_ in logical.output_columns(branch)]
    made = Bag()
    for row, number in bag.items():
        triples = zip(row, own, types, strict=True)
        made[tuple(v if v is None or t == c else plain(scalars.cast(v, t, c)) for v, t, c in triples)] += number
    return made


def _block(block: Block, data: Data) -> Bag:
    rows: list[Sides] = [()]
    where = conjunction(without_overflow(block.where), block.window)  # comparisons do not overflow
    for position, item in enumerate(block.inputs):
        own = [p for p in where if max(predicate_sources(p), default=0) == position]
        more = _input(item, data)
        rows = [made for row, other in _pairs(rows, more) if satisfies(made := (*row, other), own)]
    if block.grouping is not None:
        groups, statistics = block.grouping.groups, block.grouping.statistics
        names = [column_name(e) for e in (*groups, *statistics)]
        rows = [(dict(zip(names, values, strict=True)),) for values in grouped(rows, groups, statistics)]
    having = conjunction(without_overflow(block.having), block.having_window)
    rows = [row for row in rows if satisfies(row, having)]
    if block.analytics:
        rows = [row for row in _analyzed(block, rows) if satisfies(row, block.qualify)]
    values = [tuple(plain(compiled(o.expression)(row)) for o in block.outputs) for row in rows]
    return Bag(set(values)) if block.distinct else Bag(values)


def _analyzed(block: Block, rows: Sequence[Sides]) -> list[Sides]:
    """Rows with the values of the analytic functions, which are columns of source -2, the last but one."""
    made: list[Sides] = [(*row, {}, {}) for row in rows]
    known: list[Expression] = [*logical.analyzed_values(block)]
    for step in logical.analytic_steps(block):
        tied = tuple(known) if any(a.call.tells_peers_apart for a in step) else ()
        calls = {a.name: replace(a.call, over=replace(a.call.over, ties=tied)) for a in step}
        values = {name: analytic_values(call, made) for name, call in calls.items()}
        made = [(*row[:-2], {**row[-2], **{n: v[at] for n, v in values.items()}}, {}) for at, row in enumerate(made)]
        known += [Column(name, call.type, Origin.ANALYTIC) for name, call in calls.items()]
    return made


def _input(item: logical.Input, data: Data) -> Sequence[Row]:
    if isinstance(item, StreamInput):
        return data[item.stream.lower()]
    names = [stored_name(name) for name, _ in logical.output_columns(item)]
    return [dict(zip(names, values, strict=True)) for values in answer(item, data).elements()]


# -- nodes ---------------------------------------------------------------------------------------------------------


@dataclass
class Evaluation:
    """Evaluates networks over the same data, one after the other, what has not changed only once."""

    data: Data
    _known: dict[tuple[object, ...], tuple[list[Row], list[list[Row]]]] = field(default_factory=dict)
    _original: dict[tuple[object, ...], Bag] = field(default_factory=dict)
    _answers: dict[LogicalQuery, Bag] = field(default_factory=dict)

    def answer(self, query: LogicalQuery) -> Bag:
        """A query's answer, as SQL defines it."""
        if query not in self._answers:
            self._answers[query] = answer(query, self.data)
        return self._answers[query]

    def original(self, node: Node, rows: dict[NodeId, list[Row]]) -> Bag:
        """What a node is to compute, by its very original form over its roots' rows."""
        key = (node, *(id(rows[root]) for root in _roots(node)))
        if key not in self._original:
            self._original[key] = bag(original(node, rows))
        return self._original[key]

    def nodes(self, network: Network) -> dict[NodeId, list[Row]]:
        """Every node's rows, each computed from the rows of its direct parents."""
        rows: dict[NodeId, list[Row]] = {}
        for id_, node in network.nodes.items():
            parents = [rows[parent] for parent in node.parents]
            # The parents' rows are kept, so that no other list can have the same address.
            key = (node, *map(id, parents))
            if key not in self._known:
                inputs = [common([rows[parent] for parent in read]) for read in node.inputs]
                self._known[key] = (self.direct(node, inputs), parents)
            rows[id_] = self._known[key][0]
        return rows

    def direct(self, node: Node, inputs: list[list[Row]]) -> list[Row]:
        """A node's rows, computed from those of its inputs."""
        match node:
            case Source():
                return list(self.data[node.stream.lower()])
            case Selection():
                return [row for row in inputs[0] if satisfies((row,), node.predicates)]
            case Window():
                return [row for row in inputs[0] if satisfies((row,), node.within)]
            case Analytic():
                return analyzed(node, inputs[0])
            case Join():
                return joined(node, inputs[0], inputs[-1], node.tested)
            case Aggregate():
                groups = [node.direct_group(g) for g in node.groups]
                return aggregated(node, inputs[0], groups, [node.direct_statistic(s) for s in _in_order(node)])
            case SetOperation():
                values = [values for _, values in node.direct]
                return put_together(node, inputs, values)


def _roots(node: Node) -> list[NodeId]:
    """The roots that a node's very original form is over."""
    match node:
        case Source():
            return [node.id]
        case Join():
            return list(node.roots)
        case SetOperation():
            return [branch.read.root for branch in node.branches]
        case _:
            return [node.read.root]


def original(node: Node, rows: dict[NodeId, list[Row]]) -> list[Row]:
    """What a node is to compute, by its very original form."""
    match node:
        case Source():
            return rows[node.id]
        case Selection():
            return read(node.read, rows)
        case Window():
            return [row for row in read(node.read, rows) if satisfies((row,), node.within)]
        case Analytic():
            return analyzed(node, read(node.read, rows))
        case Join():
            return joined(node, rows[node.left_root], rows[node.right_root], node.predicates)
        case Aggregate():
            return aggregated(node, read(node.read, rows), node.groups, _in_order(node))
        case SetOperation():
            return put_together(node, [read(b.read, rows) for b in node.branches], [b.values for b in node.branches])


def analyzed(node: Analytic, rows: Sequence[Row]) -> list[Row]:
    """Rows with the values of the node's functions, as far as the node keeps them."""
    values = {f.name: analytic_values(f, [(row,) for row in rows]) for f in node.functions}
    made = [{**row, **{name: of[at] for name, of in values.items()}} for at, row in enumerate(rows)]
    return [row for row in made if satisfies((row,), node.bound)]


def joined(node: Join, left: Sequence[Row], right: Sequence[Row], tested: PredSet) -> list[Row]:
    """The pairs of rows that satisfy predicates, under the names of the join's columns."""
    pairs = (pair for pair in _pairs(left, right) if satisfies(pair, tested))
    return [
        {node.names.output_name(side, name): value for side, row in enumerate(pair) for name, value in row.items()}
        for pair in pairs
    ]


def aggregated(
    node: Aggregate, rows: Sequence[Row], groups: Sequence[Expression], statistics: Sequence[AggregateCall]
) -> list[Row]:
    """Groups of rows, under the names of the aggregate's columns."""
    names = [column_name(e) for e in (*node.groups, *_in_order(node))]
    return [dict(zip(names, v, strict=True)) for v in grouped([(row,) for row in rows], groups, statistics)]


def put_together(
    node: SetOperation, inputs: Sequence[Sequence[Row]], values: Sequence[tuple[Expression, ...]]
) -> list[Row]:
    """A set operator of the rows' values, under the names c1 … cn."""
    bags = [
        Bag(tuple(plain(compiled(v)((row,))) for v in own) for row in rows)
        for rows, own in zip(inputs, values, strict=True)
    ]
    made = by_rules(node.operator, node.rules, bags) if isinstance(node, Recursion) else combined(node.operator, bags)
    return [{f"c{i}": v for i, v in enumerate(row, start=1)} for row in made.elements()]


def _in_order(node: Aggregate) -> list[AggregateCall]:
    return sorted(node.statistics, key=column_name)


def read(what: Read, rows: dict[NodeId, list[Row]]) -> list[Row]:
    """The rows of a root that satisfy what is wanted."""
    return [row for row in rows[what.root] if satisfies((row,), what.required)]


def result(plan: QueryPlan, rows: dict[NodeId, list[Row]]) -> Bag:
    """A query's answer: the rows that belong to all of its nodes, projected."""
    kept = [row for row in common([rows[id_] for id_ in plan.nodes]) if satisfies((row,), plan.window)]
    return Bag(tuple(plain(compiled(o.expression)((row,))) for o in plan.outputs) for row in kept)


def common(nodes: Sequence[list[Row]]) -> list[Row]:
    """The rows that belong to all of some nodes of a tree."""
    first, *others = nodes
    kept = [{id(row) for row in other} for other in others]
    return [row for row in first if all(id(row) in ids for ids in kept)]


def bag(rows: Iterable[Row]) -> Bag:
    """Rows as a bag, whatever the order of their columns."""
    return Bag(tuple(plain(value) for _, value in sorted(row.items())) for row in rows)
