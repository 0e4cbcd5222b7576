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

from workbench.sql.algebra.analytic import AnalyticCall
from workbench.sql.algebra.expressions import AggregateCall, Column, Expression, Origin, column_name, columns
from workbench.sql.algebra.types import Kind
from workbench.sql.binder.joins.trees import FromTree, Leaf, mapped, positions
from workbench.sql.logical import Block, Grouping, Output
from workbench.sql.predicates.cnf import TRUE, conjunction
from workbench.sql.predicates.null_safe import equal

_MOMENTS = ["stddev_samp", "stddev_pop", "var_samp", "var_pop", "corr", "covar_samp", "covar_pop"]
_FUNCTIONS = frozenset(["count", "sum", "min", "max", "mad", "median", *_MOMENTS])
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


def _is_of_groups(call: AnalyticCall) -> bool:
    """Whether a call has the same value for all rows of a partition, that of the group which they are."""
    exact = all(columns(key) and key.type.kind is not Kind.DOUBLE for key in call.over.partition)
    return call.function in _FUNCTIONS and not call.over.order and call.frame is None and exact
