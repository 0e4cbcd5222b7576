"""Subqueries as conditions that must hold: a row has a partner, or has none.

Such a conjunct of WHERE is a semijoin or an antijoin: IN, EXISTS, = ANY, and the same with NOT. In any other place a
subquery has a value for each outer row (``subquery_values``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import Column, Expression, map_columns
from workbench.sql.binder.joins.domain import domain_of
from workbench.sql.binder.joins.from_clause import FromClause
from workbench.sql.binder.joins.semijoins import add_semijoin
from workbench.sql.binder.joins.subquery_parts import (
    COMPARISON_OPERATORS,
    bound_subquery,
    compared_values,
    has_one_row,
    input_columns,
)
from workbench.sql.binder.joins.trees import Rows, own_sources
from workbench.sql.binder.joins.unnesting import by_domain, free_columns
from workbench.sql.binder.protocols import QueryContext, is_subquery
from workbench.sql.binder.scope import Scope
from workbench.sql.functions.calls import call
from workbench.sql.functions.reading import ExpressionBinder
from workbench.sql.logical import Block, LogicalQuery
from workbench.sql.predicates.cnf import TRUE, PredSet, conjunction, map_predicates, predicate_sources
from workbench.sql.predicates.normal_form import normal_form


@dataclass
class SubqueryConditions:
    """Binds conditions with subqueries into a FROM clause, some names of which they see."""

    clause: FromClause
    around: QueryContext
    scope: Scope

    def condition(self, node: exp.Expr, b: ExpressionBinder) -> bool:
        """Make a semijoin or antijoin of a conjunct of WHERE; whether it is one."""
        inner, anti = node.unnest(), False
        while isinstance(inner, exp.Not):
            inner, anti = inner.this.unnest(), not anti
        if type(inner) in COMPARISON_OPERATORS and is_subquery(inner):
            every = isinstance(inner.expression, exp.All)
            if (type(inner), every) not in ((exp.EQ, False), (exp.NEQ, True)):
                return False
            inner, anti = exp.In(this=inner.this, query=inner.expression.this), anti != every
        match inner:
            case exp.Exists() if is_subquery(inner):
                query = bound_subquery(inner.this, self.around, self.scope)
                if not has_one_row(query):
                    self._partners([], query, [], anti)
                    return True
                return False
            case exp.In() if is_subquery(inner):
                query = bound_subquery(inner.args["query"], self.around, self.scope)
                values = compared_values(inner, query, b)
                if anti:
                    self._no_partners(values, query, inner, b)
                else:
                    self._partners(values, query, input_columns(query), anti=False)
                return True
        return False

    def _partners(
        self, values: Sequence[Expression], query: LogicalQuery, outputs: Sequence[Column], anti: bool
    ) -> None:
        rows, on, own = self._rows(query)
        equal = [call("=", x, own[y.name]) for x, y in zip(values, outputs, strict=True)]
        on = conjunction(on, *map(normal_form, equal))
        self._add([(rows, on)], anti)

    def _no_partners(
        self, values: Sequence[Expression], query: LogicalQuery, node: exp.Expr, b: ExpressionBinder
    ) -> None:
        """NOT IN: no row of the query is equal, and of none is it unknown."""
        outputs, others = input_columns(query), []
        for nulls in ("neither", "inner", "outer"):
            rows, on, own = self._rows(query)
            pairs = [(x, own[y.name]) for x, y in zip(values, outputs, strict=True)]
            if nulls == "neither":
                test = [call("=", x, y) for x, y in pairs]
            else:
                test = [] if len(pairs) == 1 else [
                    call("or", call("=", x, y), call("is_null", x), call("is_null", y)) for x, y in pairs
                ]  # fmt: skip
                some = [call("is_null", y if nulls == "inner" else x) for x, y in pairs]
                test.append(some[0] if len(some) == 1 else call("or", *some))
            others.append((rows, conjunction(on, *map(normal_form, test))))
        self._add(others, anti=True)

    def _add(self, others: list[tuple[Rows, PredSet]], anti: bool) -> None:
        mine = frozenset().union(*(rows.positions for rows, _ in others))
        read = frozenset().union(*(own_sources(p) for _, on in others for p in on))
        add_semijoin(self.clause, list(read - mine), [(rows, Rows((), on)) for rows, on in others], anti)

    def _rows(self, query: LogicalQuery) -> tuple[Rows, PredSet, dict[str, Expression]]:
        """A subquery as rows to be joined.

        Returns:
            The rows, taken out of the clause; the conditions that tie them to the outer query; its outputs by name.
        """
        if isinstance(query, Block):
            query = replace(query, distinct=False)  # how often a partner is there does not matter
            if query.is_plain and not any(map(free_columns, query.inputs)):
                return self._dissolved(query)
        if not free_columns(query):
            position, on = self.clause.add_input(query), TRUE
        else:
            correlated = by_domain(query, domain_of(self.clause))
            position = self.clause.add_input(correlated.query)
            on = correlated.on(position)
        own: dict[str, Expression] = {c.name: replace(c, source=position) for c in input_columns(query)}
        return Rows(self.clause.take([position])), on, own

    def _dissolved(self, query: Block) -> tuple[Rows, PredSet, dict[str, Expression]]:
        first, *_ = [self.clause.add_input(item) for item in query.inputs]

        def over(column: Column) -> Expression:
            return column.inward() if column.level else replace(column, source=column.source + first)

        where, window = map_predicates(query.where, over), map_predicates(query.window, over)
        trees = self.clause.take(range(first, first + len(query.inputs)))
        mine = frozenset(range(first, first + len(query.inputs)))
        alone = [p for p in where if predicate_sources(p) <= mine]
        tied = [p for p in where if p not in alone]
        rows = Rows(trees, PredSet(tuple(alone)), window)
        own = {stored_name(o.name): map_columns(o.expression, over) for o in query.outputs}
        return rows, PredSet(tuple(tied)), own
