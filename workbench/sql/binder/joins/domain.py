"""The domain of correlated subqueries: the distinct values of the columns of a FROM clause that they read."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.errors import UnsupportedError
from workbench.sql.algebra.column_names import display_name
from workbench.sql.algebra.expressions import Column
from workbench.sql.binder.joins.resolving import resolved
from workbench.sql.binder.joins.semijoins import JoinClause
from workbench.sql.binder.joins.trees import positions
from workbench.sql.binder.joins.unnesting import Domain
from workbench.sql.logical import Block, Input, Output
from workbench.sql.predicates.cnf import TRUE, PredSet, conjunction, predicate_sources


def domain_of(clause: JoinClause) -> Domain:
    """A function that gives the distinct values of columns of a clause, over the rows of its joins at the call."""

    def distinct_values(read: Sequence[Column], names: Sequence[str]) -> Input:
        if whole := next((column for column in read if not column.type.comparable), None):
            what = f"a subquery that reads {display_name(whole.name)} of the outer query, a map,"
            raise UnsupportedError(
                f"{what} is not supported", hint="let a subquery in FROM select m['k'], and read that"
            )
        wanted = frozenset(column.source for column in read)
        trees = [tree for tree in clause.trees if not wanted.isdisjoint(positions(tree))]
        there = frozenset().union(*map(positions, trees))
        tied = conjunction(*clause.conditions)
        where = PredSet(tuple(p for p in tied if predicate_sources(p) and predicate_sources(p) <= there))
        outputs = tuple(Output(name, column) for name, column in zip(names, read, strict=True))
        return resolved(trees, Block((), where if len(trees) > 1 else TRUE, outputs, distinct=True))

    return distinct_values
