"""LATERAL: a subquery in FROM that reads the items before it, as a join with them.

A plain subquery is merged: its conditions are those of a join. Any other is unnested, and joined by the columns that it
reads (``unnesting``).
"""

from __future__ import annotations

from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import Column, Expression, columns, map_columns
from workbench.sql.binder.joins.domain import domain_of
from workbench.sql.binder.joins.semijoins import JoinClause
from workbench.sql.binder.joins.unnesting import by_domain, free_columns, inward_query
from workbench.sql.logical import Block, LogicalQuery, output_columns
from workbench.sql.predicates.cnf import map_predicates, predicate_columns


def add_lateral(clause: JoinClause, query: LogicalQuery) -> list[Expression]:
    """Join a query that may read columns of a clause with it.

    Args:
        clause: gets inputs, and the conditions by which they belong to its rows.
        query: bound with the names of the clause around it.

    Returns:
        The outputs, over inputs of the clause.
    """
    if _can_be_merged(query):
        return _merged(clause, query)
    if not any(column.level == 1 for column in free_columns(query)):
        position = clause.add_input(inward_query(query))
    else:
        correlated = by_domain(query, domain_of(clause))
        position = clause.add_input(correlated.query)
        clause.conditions.append(correlated.on(position))
    return [Column(stored_name(name), type_, position) for name, type_ in output_columns(query)]


def _can_be_merged(query: LogicalQuery) -> bool:
    """Whether it is plain, and what it selects reads its own rows only: else an outer join could not leave it out."""
    if not isinstance(query, Block) or not query.is_plain or any(map(free_columns, query.inputs)):
        return False
    read = predicate_columns(query.window).union(*(columns(output.expression) for output in query.outputs))
    return not any(column.level for column in read)


def _merged(clause: JoinClause, query: LogicalQuery) -> list[Expression]:
    assert isinstance(query, Block)
    first, *_ = [clause.add_input(item) for item in query.inputs]

    def over(column: Column) -> Expression:
        return column.inward() if column.level else Column(column.name, column.type, column.source + first)

    clause.conditions.append(map_predicates(query.where, over))
    clause.windows.append(map_predicates(query.window, over))
    return [map_columns(output.expression, over) for output in query.outputs]
