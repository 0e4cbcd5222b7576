"""Subqueries as values: a subquery anywhere in an expression has a value for each outer row or group.

It is an aggregate of one row, joined by an outer join with what it reads of the outer row (``unnesting``). Whether
there are rows is MIN of a constant over them, which only the first and the last one change::

    EXISTS (q)           is  MIN(0) of q IS NOT NULL
    x IN (q)             is  TRUE where q has x, else NULL where x or some value of q is NULL, else FALSE
    (x, y) IN (q)        is  TRUE where q has both, else NULL where some row of q may have both, else FALSE
    x < ANY (q)          is  x < MAX of q, likewise
    (SELECT a … LIMIT 1) is  MIN of the one a
    (SELECT a …)         is  MIN of the one a, as long as there is one: a check of the query says so (``checks_of``)
    ARRAY(SELECT a …)    is  ARRAY_AGG of a in the order of the subquery; without rows it has no elements
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Protocol

from sqlglot import exp

from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import (
    AggregateCall,
    Call,
    Column,
    Constant,
    Expression,
    column_name,
    columns,
    map_columns,
)
from workbench.sql.algebra.types import BOOLEAN, INTEGER
from workbench.sql.binder.aggregates.ordered import with_keys
from workbench.sql.binder.joins.after_groups import ComparesStatistic
from workbench.sql.binder.joins.domain import domain_of
from workbench.sql.binder.joins.from_clause import FromClause
from workbench.sql.binder.joins.subquery_parts import (
    COMPARISON_OPERATORS,
    bound_subquery,
    compared_values,
    has_one_row,
    input_columns,
)
from workbench.sql.binder.joins.trees import COMPUTED, FromTree, Leaf, OuterJoin, Rows
from workbench.sql.binder.joins.unnesting import (
    Correlated,
    Domain,
    by_domain,
    by_equalities,
    free_columns,
    inward,
    outward,
    over_nothing,
)
from workbench.sql.binder.protocols import QueryContext
from workbench.sql.binder.scope import Scope
from workbench.sql.checks import GROUP_ROWS
from workbench.sql.functions.aggregates import expand
from workbench.sql.functions.calls import call
from workbench.sql.functions.reading import ExpressionBinder
from workbench.sql.logical import Block, Grouping, Input, LogicalQuery, Ordered, Output, ordered_rows
from workbench.sql.predicates.cnf import TRUE, conjunction, predicate_sources
from workbench.sql.predicates.normal_form import normal_form, predicates_expression


class RowsAround(Protocol):
    """The rows that subqueries are joined to: those of a FROM clause, or groups of them (``after_groups``)."""

    @property
    def scope(self) -> Scope:
        """The names that subqueries see."""

    @property
    def domain(self) -> Domain:
        """Gives the distinct values of columns of the rows."""

    def comparable(self, value: Expression) -> Expression | None:
        """A value as a subquery may compare it with its rows; ``None`` where it is known only later."""

    def add_input(self, relation: Input) -> int:
        """Join a relation of one row, and give its position."""

    def add_value(self, correlated: Correlated, found: Callable[[int], Column]) -> int:
        """Add a relation by an outer join, and give its position; ``found`` is TRUE where it has a row."""


@dataclass(frozen=True)
class FromRows:
    """The rows and names of a FROM clause."""

    clause: FromClause
    scope: Scope

    @property
    def domain(self) -> Domain:
        """The distinct values of its columns."""
        return domain_of(self.clause)

    def comparable(self, value: Expression) -> Expression | None:
        """The value, if it is over its own rows."""
        return None if any(column.source < 0 for column in columns(value)) else value

    def add_input(self, relation: Input) -> int:
        """Join a relation of one row; one that is joined already is not joined again."""
        alone = (tree.position for tree in self.clause.trees if isinstance(tree, Leaf) and tree.input == relation)
        there = next(alone, None)
        return self.clause.add_input(relation) if there is None else there

    def add_value(self, correlated: Correlated, found: Callable[[int], Column]) -> int:
        """Join a relation with the inputs that it belongs to, if it is not joined with them already."""
        for join in chain.from_iterable(map(_values_of, self.clause.trees)):
            match join.sides[1].trees:
                case (Leaf(there, relation),) if relation == correlated.query and join.on.where == correlated.on(there):
                    return there
        position = self.clause.add_input(correlated.query)
        on = correlated.on(position)
        right = Rows(self.clause.take([position]))
        left = Rows(self.clause.take(p for p in predicate_sources(on) if p != position))
        computed = {found(position): Constant(True, BOOLEAN)}
        self.clause.trees.append(OuterJoin((left, right), Rows((), on), frozenset([0]), computed, single=True))
        return position


Tests = Callable[[Mapping[str, Expression]], Iterable[Expression]]
"""Conditions on a row of a subquery, over its outputs by their stored names."""


@dataclass
class SubqueryValues:
    """Binds the subqueries of one clause of a SELECT as values."""

    rows: RowsAround
    context: QueryContext

    def value(self, node: exp.Expr, b: ExpressionBinder) -> Expression:
        """The value of a subquery for each outer row or group."""
        try:
            return self._value(node, b)
        except ComparesStatistic:
            hint = "group in a subquery in FROM, and let the outer query have this subquery"
            b.source.refuse("an aggregate that is compared with such a subquery", node, hint)

    def _value(self, node: exp.Expr, b: ExpressionBinder) -> Expression:
        match node:
            case exp.Array():
                return self._array(node, b)
            case exp.Exists():
                query = self._query(node.this)
                return Constant(True, BOOLEAN) if has_one_row(query) else self._has_rows(query)
            case exp.In():
                query = self._query(node.args["query"])
                return self._is_in(compared_values(node, query, b), query, node, b)
            case _ if type(node) in COMPARISON_OPERATORS:
                query = self._query(node.expression.this)
                values = compared_values(node, query, b)
                operator = COMPARISON_OPERATORS[type(node)]
                if isinstance(node.expression, exp.All):
                    return call("not", self._any(values, _NEGATED[operator], query, node, b))
                return self._any(values, operator, query, node, b)
        return self._only_value(self._query(node), node, b)

    def _query(self, node: exp.Expr) -> LogicalQuery:
        return bound_subquery(node, self.context, self.rows.scope)

    def _only_value(self, query: LogicalQuery, node: exp.Expr, b: ExpressionBinder) -> Expression:
        """The value of a subquery of one column and at most one row."""
        value = self._only_column(query, "that is a value", node, b)
        if isinstance(query, Ordered) and query.limit in (0, 1) and not query.with_ties and not query.on:
            return self._aggregated(query, [("min", (value,))])[0]
        if isinstance(query, Block) and query.grouping is not None and not query.grouping.groups:
            if query.having_window:
                b.source.refuse("HAVING of now in a subquery that is a value", node, "write CASE WHEN")
            return self._one_row(_with_having_in_output(query))[0]
        return self._aggregated(query, [("min", (value,))], single=True)[0]

    def _array(self, node: exp.Array, b: ExpressionBinder) -> Expression:
        """The rows of a subquery of one column as an array."""
        (rows_of,) = node.expressions
        if not b.rules.array_of_subquery:
            if isinstance(rows_of, exp.Subquery):
                return call("array", b.bind(rows_of))
            b.source.refuse(f"ARRAY of a subquery in {b.dialect}", node, "ARRAY_AGG in a subquery makes an array")
        query = bound_subquery(rows_of, self.context, self.rows.scope, in_order=True)
        shown = self._only_column(query, "that is an array", node, b)
        rows, order = ordered_rows(query)
        name, keys = with_keys("array_agg", order, (shown, shown), True, node, b.source)
        array = self._aggregated(rows, [(name, (Constant(True, BOOLEAN), shown, *keys))])[0]
        return call("coalesce", array, Call("array", (), array.type))

    def _only_column(self, query: LogicalQuery, which: str, node: exp.Expr, b: ExpressionBinder) -> Column:
        columns = input_columns(query)
        if len(columns) != 1:
            raise b.source.error(f"a subquery {which} has one column, not {len(columns)}", node, "select one")
        return columns[0]

    def _any(
        self, values: list[Expression], operator: str, query: LogicalQuery, node: exp.Expr, b: ExpressionBinder
    ) -> Expression:
        """x <operator> ANY (query)."""
        if operator == "=":
            return self._is_in(values, query, node, b)
        if len(values) != 1:
            b.source.refuse("a comparison of several values with ANY or ALL", node, "compare them one by one")
        (x,), (y,) = values, input_columns(query)
        names = {"<": ["max"], "<=": ["max"], ">": ["min"], ">=": ["min"], "<>": ["min", "max"]}[operator]
        found = self._aggregated(query, [*((name, (y,)) for name in names), ("count", ()), ("count", (y,))])
        *ends, rows, known = found
        tests = [call(operator, x, end) for end in ends]
        test = tests[0] if len(tests) == 1 else call("or", *tests)
        unknown = call("or", call("<", known, rows), call("and", call("is_null", x), call(">", rows, _ZERO)))
        return _known(test, unknown)

    def _is_in(self, values: list[Expression], query: LogicalQuery, node: exp.Expr, b: ExpressionBinder) -> Expression:
        compared = [x for x in map(self.rows.comparable, values) if x is not None]
        if len(compared) < len(values):
            hint = "let a subquery in FROM select it"
            b.source.refuse("a value of OVER that is compared with a subquery", node, hint)
        pairs = [(y.name, outward(x)) for x, y in zip(compared, input_columns(query), strict=True)]
        equal = self._has_rows(query, lambda row: (call("=", row[y], x) for y, x in pairs))
        if len(pairs) == 1:
            (x,), (y,) = values, input_columns(query)
            rows, known = self._aggregated(query, [("count", ()), ("count", (y,))])
            unknown = call("or", call("<", known, rows), call("and", call("is_null", x), call(">", rows, _ZERO)))
            return _known(equal, unknown)
        possible = self._has_rows(query, lambda row: (
            call("or", call("=", row[y], x), call("is_null", row[y]), call("is_null", x)) for y, x in pairs
        ))  # fmt: skip
        return _known(equal, possible)

    def _has_rows(self, query: LogicalQuery, tests: Tests = lambda row: ()) -> Expression:
        """Whether a subquery has rows that satisfy tests: MIN of a constant, which no other row of many changes."""
        return call("not", call("is_null", self._aggregated(query, [("min", (_ZERO,))], tests)[0]))

    def _aggregated(
        self,
        query: LogicalQuery,
        wanted: Sequence[tuple[str, Sequence[Expression]]],
        tests: Tests = lambda row: (),
        single: bool = False,
    ) -> list[Expression]:
        """Statistics of the rows of a query, for each outer row.

        Args:
            query: the subquery.
            wanted: functions, each of expressions over outputs, or of rows.
            tests: what must hold for the rows.
            single: whether there must be one row, or none.
        """
        if isinstance(query, Block) and query.is_plain:
            values: dict[str, Expression] = {stored_name(o.name): o.expression for o in query.outputs}
            block = query
        else:
            values = {column.name: column for column in input_columns(query)}
            block = Block((query,), TRUE, ())
        where = conjunction(block.where, *map(normal_form, tests(values)))
        statistics: set[AggregateCall] = {GROUP_ROWS} if single else set()
        outputs = []
        for i, (function, given) in enumerate(wanted):
            arguments = tuple(map_columns(argument, lambda column: values[column.name]) for argument in given)
            value = expand(function, arguments, False, statistics.add)
            outputs.append(Output(f"v{i}", map_columns(value, lambda c: replace(c, source=0))))
        grouping = Grouping((), tuple(sorted(statistics, key=column_name)))
        block = replace(block, where=where, outputs=tuple(outputs), grouping=grouping, distinct=False, single=single)
        return self._one_row(block)

    def _one_row(self, query: Block) -> list[Expression]:
        """The outputs of an aggregate without groups, which has one row for each outer row."""
        # Of groups that must have one row there are none for values that no outer row has.
        correlated = None if query.single and free_columns(query) else by_equalities(query)
        correlated = correlated or by_domain(query, self.rows.domain, for_nothing=False)
        names = [Column(stored_name(o.name), o.type) for o in query.outputs]
        if not correlated.names:  # one row, with which every row is joined
            position = self.rows.add_input(correlated.query)
            return [replace(column, source=position) for column in names]
        position = self.rows.add_value(correlated, _found)
        nothing = [inward(over_nothing(output.expression, query)) for output in query.outputs]
        return [
            own if isinstance(n, Constant) and n.value is None else call("case", _found(position), own, n)
            for own, n in zip((replace(column, source=position) for column in names), nothing, strict=True)
        ]


_NEGATED = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_ZERO = Constant(0, INTEGER)


def _values_of(tree: FromTree) -> Iterator[OuterJoin]:
    """The outer joins of a tree by which its rows have values of subqueries."""
    match tree:
        case OuterJoin(single=True):
            yield tree
            yield from chain.from_iterable(map(_values_of, tree.sides[0].trees))


def _found(position: int) -> Column:
    return Column(f"{COMPUTED}found", BOOLEAN, position)


def _known(test: Expression, unknown: Expression) -> Expression:
    """TRUE where a test holds; else NULL, where a value may be missing that it would hold for; else FALSE."""
    return call("case", test, Constant(True, BOOLEAN), unknown, Constant(None, BOOLEAN), Constant(False, BOOLEAN))


def _with_having_in_output(query: Block) -> Block:
    """An aggregate of all rows whose value is NULL where HAVING does not hold, instead of no row."""
    if not query.having:
        return query
    (output,) = query.outputs
    value = call("case", predicates_expression(query.having), output.expression, Constant(None, output.type))
    return replace(query, outputs=(replace(output, expression=value),), having=TRUE)
