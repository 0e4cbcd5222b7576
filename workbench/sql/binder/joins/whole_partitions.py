"""OVER whole partitions as a join with the groups of the same rows.

    SELECT x, SUM(x) OVER (PARTITION BY k) FROM …
    is  SELECT x, s FROM … JOIN (SELECT k, SUM(x) AS s FROM … GROUP BY k) USING (k)

where NULL is equal to NULL, so each row has the one group that it is in. A sum that is only compared, as in ``QUALIFY
x > 5 * AVG(x) OVER (PARTITION BY k)``, is then a band of the join: a batch costs the rows between the old value and the
new one, where an operator of partitions has all rows of each partition that a row came to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain

from workbench.sql.algebra.analytic import AnalyticCall
from workbench.sql.algebra.expressions import AggregateCall, Column, Expression, Origin, column_name, columns, sources
from workbench.sql.algebra.types import Kind
from workbench.sql.binder.joins.trees import (
    FromTree,
    Leaf,
    OuterJoin,
    Rows,
    leaves_of,
    mapped,
    positions,
    shift,
    shift_predicates,
)
from workbench.sql.functions.aggregate_rules import RULES, KeptAs
from workbench.sql.logical import Block, Grouping, Output
from workbench.sql.predicates.cnf import (
    TRUE,
    Literal,
    Operator,
    ORPred,
    PredSet,
    conjunction,
    pred_set,
    predicate_columns,
)
from workbench.sql.predicates.null_safe import equal, equal_sides

_MOMENTS = [name for name, rule in RULES.items() if rule.kept is KeptAs.PRODUCTS]
_OF_VALUES = ["entropy", "mad", "median", "product"]
_FUNCTIONS = frozenset(["count", "sum", "min", "max", *_OF_VALUES, *_MOMENTS])
"""What the order of rows does not change, and of which groups have the same values."""

Resolve = Callable[[Sequence[FromTree], Block], Block]
"""Makes a block of trees and a block without inputs."""


def joined_with_groups_of(trees: Sequence[FromTree], block: Block, resolve: Resolve) -> tuple[list[FromTree], Block]:
    """The trees with those of groups, and the block over them, where all it has OVER is of whole partitions."""
    calls = [analyzed.call for analyzed in block.analytics]
    correlated = any(column.level for expression in block.expressions() for column in columns(expression))
    if block.grouping is not None or not calls or correlated or not all(map(_is_of_groups, calls)):
        return list(trees), block
    found, where = list(trees), [block.where, block.qualify]
    position = 1 + max(place for tree in trees for place in positions(tree))
    meaning: dict[Column, Expression] = {}
    for partition in dict.fromkeys(call.over.partition for call in calls):
        own = [call for call in calls if call.over.partition == partition]
        statistics = {call: AggregateCall(call.function, call.arguments, call.type, call.distinct) for call in own}
        grouping = Grouping(partition, tuple(sorted(set(statistics.values()), key=column_name)))
        named = {e: f"v{i}" for i, e in enumerate([*partition, *grouping.statistics], start=1)}
        outputs = tuple(Output(name, Column(column_name(e), e.type)) for e, name in named.items())
        groups = resolve(trees, Block((), block.where, outputs, grouping, window=block.window))
        found.append(Leaf(position, groups))
        where += [equal(Column(named[key], key.type, position), key) for key in partition]
        for call, statistic in statistics.items():
            meaning[Column(call.name, call.type, Origin.ANALYTIC)] = Column(named[statistic], call.type, position)
        position += 1
    return found, mapped(replace(block, where=conjunction(*where), analytics=(), qualify=TRUE), meaning)


def with_values_of_groups(trees: Sequence[FromTree], block: Block) -> tuple[list[FromTree], Block]:
    """The trees and the block over them, the groups of whole partitions being partners, of which each row has one.

    They are groups of the same inputs by the same conditions, which a subquery in FROM may have brought.
    """
    found = [with_one_partner(tree) for tree in trees]
    for leaf in [tree for tree in found if isinstance(tree, Leaf)]:
        match leaf.input:
            case Block(grouping=Grouping()) as groups:
                taken = _rows_of(groups, found, block)
                on = None if taken is None else _keys_of(leaf, groups, taken[0].position, block.where)
                if taken is None or on is None:
                    continue
                rest = pred_set(p for p in block.where if p not in on.or_preds)
                block = replace(block, where=rest)
                left = [tree for tree in found if tree is not leaf and positions(tree) & {t.position for t in taken}]
                found = [tree for tree in found if tree is not leaf and tree not in left]
                sides = Rows(tuple(left)), Rows((leaf,))
                found.append(OuterJoin(sides, Rows((), on), frozenset(), single=True))
    return found, block


def _rows_of(groups: Block, trees: Sequence[FromTree], block: Block) -> list[Leaf] | None:
    """The inputs of a block that are those of groups, of rows that satisfy what the rows of the groups do."""
    leaves = {leaf.position: leaf for leaf in chain.from_iterable(map(leaves_of, trees))}
    for begin in leaves:
        own = [leaves.get(begin + place) for place in range(len(groups.inputs))]
        taken = [leaf for leaf in own if leaf is not None]
        where, window = (shift_predicates(some, begin) for some in (groups.where, groups.window))
        same = [leaf.input for leaf in taken] == list(groups.inputs)
        if same and {*where} <= {*block.where} and {*window} <= {*block.window}:
            return taken
    return None


def _keys_of(leaf: Leaf, groups: Block, begin: int, where: PredSet) -> PredSet | None:
    """The conditions by which rows have the group that they are in; ``None`` where some are not there."""
    assert groups.grouping is not None
    keys = {Column(column_name(group), group.type): shift(group, begin) for group in groups.grouping.groups}
    named = {output.expression: Column(output.name, output.type, leaf.position) for output in groups.outputs}
    equal_keys = conjunction(*(equal(named[key], value) for key, value in keys.items() if key in named))
    complete = all(key in named for key in keys) and {*equal_keys} <= {*where} and not groups.having
    return equal_keys if complete and not groups.distinct else None


def with_one_partner(tree: FromTree) -> FromTree:
    """A tree whose left joins with groups by their keys are known to have one partner at most for each row."""
    match tree:
        case OuterJoin(sides=(left, Rows((Leaf() as leaf,), where, window) as right), kept=kept) if kept == {0}:
            single = tree.single or (not where and not window and keys_compared(leaf, tree.on.where) is not None)
            inner = replace(left, trees=tuple(map(with_one_partner, left.trees)))
            return replace(tree, sides=(inner, right), single=single)
    return tree


def keys_compared(leaf: Leaf, where: PredSet) -> PredSet | None:
    """The conditions by which rows have one of some groups at most; ``None`` where they may have several."""
    match leaf.input:
        case Block(grouping=Grouping(groups=tuple() as groups), distinct=False) as block:
            named = {o.expression: Column(o.name, o.type, leaf.position) for o in block.outputs}
            keys = {named.get(Column(column_name(group), group.type)) for group in groups}
            read = {p: {c for c in predicate_columns(p) if c.source == leaf.position} for p in where}
            tests = pred_set(p for p in where if read[p] and read[p] <= keys)
            both = {side for sides in equal_sides(tests) for side in sides}
            equal_to = both.union(*map(_equated, tests))
            return tests if groups and None not in keys and keys <= equal_to else None
    return None


def _equated(predicate: ORPred) -> set[Expression]:
    """The sides of an equality of two inputs."""
    match predicate.literals:
        case (Literal(left, Operator.EQ, right),) if right is not None and sources(left) != sources(right):
            return {left, right}
    return set()


def _is_of_groups(call: AnalyticCall) -> bool:
    """Whether a call has the same value for all rows of a partition, that of the group which they are."""
    exact = all(columns(key) and key.type.kind is not Kind.DOUBLE for key in call.over.partition)
    return call.function in _FUNCTIONS and not call.over.order and call.frame is None and exact
