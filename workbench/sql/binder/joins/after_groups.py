"""Subqueries in a grouped SELECT: they are joined with the groups, before HAVING and the select list.

What such a subquery reads of the outer query must be groups, or follow from them. Its domain, where it needs one,
is that of the rows that are grouped, which have all values that groups have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from workbench.sql.algebra.expressions import (
    Column,
    Constant,
    Expression,
    Origin,
    column_name,
    columns,
    joined_with_groups,
    map_columns,
)
from workbench.sql.algebra.types import BOOLEAN
from workbench.sql.binder.joins.domain import domain_of
from workbench.sql.binder.joins.from_clause import FromClause
from workbench.sql.binder.joins.resolving import resolved
from workbench.sql.binder.joins.trees import FromTree, Leaf, OuterJoin, Rows, with_results_over
from workbench.sql.binder.joins.unnesting import Correlated, Domain
from workbench.sql.binder.scope import Scope
from workbench.sql.logical import Block, Input, Output
from workbench.sql.predicates.cnf import TRUE


@dataclass(frozen=True)
class _Joined:
    """A subquery and how it belongs to a group; without ``found`` it has one row, which belongs to all groups."""

    correlated: Correlated
    found: Column | None


@dataclass
class AfterGroups:
    """The rows, or groups, that subqueries of an aggregate query are joined to.

    Attributes:
        clause: the rows that are grouped.
        joined: the subqueries.
    """

    clause: FromClause
    joined: list[_Joined] = field(default_factory=list)

    @property
    def scope(self) -> Scope:
        """The names of the rows."""
        return self.clause.scope

    @property
    def reads_groups(self) -> bool:
        """Whether some subquery reads the outer query."""
        return any(joined.found is not None for joined in self.joined)

    @property
    def domain(self) -> Domain:
        """The distinct values of columns of the rows; statistics are not known among them."""
        return self._domain

    def _domain(self, read: Sequence[Column], names: Sequence[str]) -> Input:
        if any(column.source == Origin.COMPARED for column in read):
            raise ComparesStatistic
        return domain_of(self.clause)(read, names)

    def comparable(self, value: Expression) -> Expression | None:
        """A value over rows and statistics."""
        if any(column.source in (Origin.ALIAS, Origin.ANALYTIC) for column in columns(value)):
            return None
        return map_columns(value, lambda c: replace(c, source=Origin.COMPARED) if c.source == Origin.GROUPED else c)

    def add_input(self, relation: Input) -> int:
        """Join a relation of one row."""
        self.joined.append(_Joined(Correlated(relation, (), (), False), None))
        return joined_with_groups(len(self.joined) - 1)

    def add_value(self, correlated: Correlated, found: Callable[[int], Column]) -> int:
        """Join a relation with the groups that it belongs to."""
        position = joined_with_groups(len(self.joined))
        self.joined.append(_Joined(correlated, found(position)))
        return position

    @property
    def compared(self) -> list[Expression]:
        """The expressions that subqueries are compared with, over rows and statistics."""
        return [
            map_columns(e, lambda c: replace(c, source=Origin.GROUPED) if c.source == Origin.COMPARED else c)
            for joined in self.joined
            for e in joined.correlated.outer
        ]

    def around(self, block: Block) -> Block:
        """A grouped block, its groups joined with the subqueries before HAVING and the outputs.

        Args:
            block: without subqueries; its last outputs are what these are compared with, over its groups.
        """
        if not self.joined or block.grouping is None:
            return block
        shown = len(block.outputs) - len(self.compared)
        compared = iter([output.expression for output in block.outputs[shown:]])
        grouped = [*block.grouping.groups, *block.grouping.statistics]
        block = replace(block, outputs=block.outputs[:shown])
        outputs = tuple(Output(f"g{i}", Column(column_name(e), e.type)) for i, e in enumerate(grouped, start=1))
        meaning = {o.expression: Column(o.name, o.type) for o in outputs}
        groups = replace(block, outputs=outputs, having=TRUE, having_window=TRUE, distinct=False)
        groups = replace(groups, analytics=(), qualify=TRUE)

        def over(column: Column) -> Expression:
            if (number := column.group_input) is not None:
                return replace(column, source=number + 1)
            return meaning.get(column, column)

        trees: list[FromTree] = [Leaf(0, groups)]
        for position, joined in enumerate(self.joined, start=1):
            leaf = Leaf(position, joined.correlated.query)
            if joined.found is None:
                trees.append(leaf)
                continue
            outer = tuple(map_columns(next(compared), over) for _ in joined.correlated.outer)
            on = replace(joined.correlated, outer=outer).on(position)
            there = {replace(joined.found, source=position): Constant(True, BOOLEAN)}
            trees[0] = OuterJoin((Rows((trees[0],)), Rows((leaf,))), Rows((), on), frozenset([0]), there, single=True)
        result = with_results_over(block, over)
        joined_block = Block(
            (),
            result.having,
            result.outputs,
            distinct=block.distinct,
            window=result.having_window,
            analytics=result.analytics,
            qualify=result.qualify,
        )
        return resolved(trees, joined_block)


class ComparesStatistic(Exception):
    """A subquery needs the distinct values of a statistic, which rows do not have."""
