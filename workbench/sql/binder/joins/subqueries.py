"""Subqueries in expressions: IN, EXISTS, ANY, ALL, and scalar ones, as joins of the FROM clause around them.

A condition of WHERE that must hold and says that a row has a partner, or has none, is a semijoin or an antijoin. In any
other place a subquery has a value for each row around it: it is an aggregate of one row, and is joined by an outer join
with what it reads of the row around it (``unnesting``). Whether there are rows is a count of them::

    EXISTS (q)      is  COUNT(*) of q > 0
    x IN (q)        is  TRUE where q has x, else NULL where x or some value of q is NULL, else FALSE
    x < ANY (q)     is  x < MAX of q, likewise
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from workbench.sql.algebra.aggregates import expand
from workbench.sql.algebra.coercion import TypeClash
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import (
    AFTER_GROUPS,
    OUTER,
    AggregateCall,
    Column,
    Constant,
    Expression,
    column_name,
    map_columns,
)
from workbench.sql.algebra.functions import call
from workbench.sql.algebra.types import BOOLEAN, INTEGER
from workbench.sql.binder.joins.from_clause import FromClause
from workbench.sql.binder.joins.semijoins import add_semijoin
from workbench.sql.binder.joins.trees import COMPUTED, OuterJoin, Rows, positions, resolved, with_results_over
from workbench.sql.binder.joins.unnesting import (
    Correlated,
    by_domain,
    by_equalities,
    free_columns,
    is_ordered_for_each,
    lifted,
    over_nothing,
)
from workbench.sql.binder.protocols import ExpressionBinder, QueryContext, is_subquery
from workbench.sql.binder.scope import Scope
from workbench.sql.logical import (
    Block,
    Grouping,
    Input,
    LogicalQuery,
    Output,
    output_columns,
    unordered,
)
from workbench.sql.predicates.cnf import TRUE, PredSet, conjunction, map_predicates, predicate_sources
from workbench.sql.predicates.normal_form import normal_form

_COMPARED: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_NEGATED = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def conjuncts(node: exp.Expr) -> list[exp.Expr]:
    """The conditions that must all hold; one, if no part of it is a subquery."""
    if not any(is_subquery(part) for part in node.walk()):
        return [node]
    inner = node.unnest()
    return [*conjuncts(inner.this), *conjuncts(inner.expression)] if isinstance(inner, exp.And) else [node]


@dataclass
class Groups:
    """What subqueries beside aggregates are joined to: groups, of which only values that all share are read.

    Attributes:
        scope: the names of the rows that are grouped.
        inputs: the subqueries, each of one row.
    """

    scope: Scope
    inputs: list[Input] = field(default_factory=list)

    def add_input(self, relation: Input) -> int:
        """Add an input, and give its position."""
        self.inputs.append(relation)
        return AFTER_GROUPS + len(self.inputs) - 1

    def joined(self, block: Block) -> Block:
        """A grouped block, its groups joined with the inputs before HAVING and the outputs."""
        if not self.inputs or block.grouping is None:
            return block
        grouped = [*block.grouping.groups, *block.grouping.statistics]
        outputs = tuple(Output(f"g{i}", Column(column_name(e), e.type)) for i, e in enumerate(grouped, start=1))
        meaning = {o.expression: Column(o.name, o.type) for o in outputs}
        groups = replace(block, outputs=outputs, having=TRUE, having_window=TRUE, distinct=False)
        groups = replace(groups, analytics=(), qualify=TRUE)

        def over(column: Column) -> Expression:
            if AFTER_GROUPS <= column.source < OUTER:
                return replace(column, source=column.source - AFTER_GROUPS + 1)
            return meaning.get(column, column)

        result = with_results_over(block, over)
        return Block(
            (groups, *self.inputs),
            result.having,
            result.outputs,
            distinct=block.distinct,
            window=result.having_window,
            analytics=result.analytics,
            qualify=result.qualify,
        )


@dataclass
class Subqueries:
    """Binds the subqueries of a SELECT into its FROM clause."""

    clause: FromClause | Groups
    around: QueryContext

    # ---- conditions that must hold -----------------------------------------------------------------------------------

    def condition(self, node: exp.Expr, b: ExpressionBinder) -> bool:
        """Make a semijoin or antijoin of a conjunct of WHERE; whether it is one."""
        inner, anti = node.unnest(), False
        while isinstance(inner, exp.Not):
            inner, anti = inner.this.unnest(), not anti
        if type(inner) in _COMPARED and is_subquery(inner):
            every = isinstance(inner.expression, exp.All)
            if (type(inner), every) not in ((exp.EQ, False), (exp.NEQ, True)):
                return False
            inner, anti = exp.In(this=inner.this, query=inner.expression.this), anti != every
        match inner:
            case exp.Exists():
                query = self._query(inner.this)
                if not (isinstance(query, Block) and _has_one_row(query)):
                    self._partners([], query, [], anti)
                    return True
                return False
            case exp.In() if is_subquery(inner):
                query = self._query(inner.args["query"])
                values = self._values(inner, query, b)
                if anti:
                    self._no_partners(values, query, inner, b)
                else:
                    self._partners(values, query, _outputs(query), anti=False)
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
        outputs, others = _outputs(query), []
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
        read = frozenset().union(*(predicate_sources(on) for _, on in others))
        left = [p for p in read - mine if p < OUTER]
        add_semijoin(self._rows_around, left, [(rows, Rows((), on)) for rows, on in others], anti)

    def _rows(self, query: LogicalQuery) -> tuple[Rows, PredSet, dict[str, Expression]]:
        """A subquery as rows to be joined.

        Returns:
            The rows, taken out of the clause; the conditions that tie them to the query around; its outputs by name.
        """
        if isinstance(query, Block):
            query = replace(query, distinct=False)  # how often a partner is there does not matter
            if query.is_plain and not any(map(free_columns, query.inputs)):
                return self._dissolved(query)
        if not free_columns(query):
            position, on = self.clause.add_input(query), TRUE
        else:
            correlated = by_domain(query, self._domain)
            position = self.clause.add_input(correlated.query)
            on = correlated.on(position)
        own: dict[str, Expression] = {c.name: replace(c, source=position) for c in _outputs(query)}
        return Rows(self._rows_around.take([position])), on, own

    def _dissolved(self, query: Block) -> tuple[Rows, PredSet, dict[str, Expression]]:
        first, *_ = [self.clause.add_input(item) for item in query.inputs]

        def over(column: Column) -> Expression:
            shift = -OUTER if column.source >= OUTER else first
            return replace(column, source=column.source + shift)

        where, window = map_predicates(query.where, over), map_predicates(query.window, over)
        trees = self._rows_around.take(range(first, first + len(query.inputs)))
        mine = frozenset(range(first, first + len(query.inputs)))
        alone = [p for p in where if predicate_sources(p) <= mine]
        tied = [p for p in where if p not in alone]
        rows = Rows(trees, PredSet(tuple(alone)), window)
        own = {stored_name(o.name): map_columns(o.expression, over) for o in query.outputs}
        return rows, PredSet(tuple(tied)), own

    # ---- values ------------------------------------------------------------------------------------------------------

    def value(self, node: exp.Expr, b: ExpressionBinder) -> Expression:
        """What a subquery gives for each row around it."""
        try:
            return self._value(node, b)
        except _ReadsAround:
            hint = "group in a subquery in FROM, and let the query around it have this subquery"
            b.source.refuse("a subquery beside aggregates that reads the query around it", node, hint)

    def _value(self, node: exp.Expr, b: ExpressionBinder) -> Expression:
        match node:
            case exp.Exists():
                query = self._query(node.this)
                if isinstance(query, Block) and _has_one_row(query):
                    return Constant(True, BOOLEAN)
                return call(">", self._count(query, []), _ZERO)
            case exp.In():
                query = self._query(node.args["query"])
                return self._is_in(self._values(node, query, b), query, node, b)
            case _ if type(node) in _COMPARED:
                query = self._query(node.expression.this)
                value = self._values(node, query, b)
                operator = _COMPARED[type(node)]
                if isinstance(node.expression, exp.All):
                    return call("not", self._any(value, _NEGATED[operator], query, node, b))
                return self._any(value, operator, query, node, b)
        query = self._query(node)
        if len(output_columns(query)) != 1:
            count = len(output_columns(query))
            raise b.source.error(f"a subquery that is a value has one column, not {count}", node, "select one")
        if not (isinstance(query, Block) and query.grouping is not None and not query.grouping.groups):
            hint = "select an aggregate, as MIN or MAX, of which there is one"
            b.source.refuse("a subquery as a value that may have several rows", node, hint)
        if (query.having or query.having_window) and free_columns(query):
            b.source.refuse("HAVING in a subquery that reads the query around it", node, "write CASE WHEN")
        return self._one_row(query)[0]

    def _any(
        self, values: list[Expression], operator: str, query: LogicalQuery, node: exp.Expr, b: ExpressionBinder
    ) -> Expression:
        """x <operator> ANY (query)."""
        if operator == "=":
            return self._is_in(values, query, node, b)
        if len(values) != 1:
            b.source.refuse("a comparison of several values with ANY or ALL", node, "compare them one by one")
        (x,), (y,) = values, _outputs(query)
        names = {"<": ["max"], "<=": ["max"], ">": ["min"], ">=": ["min"], "<>": ["min", "max"]}[operator]
        found = self._aggregated(query, [*((name, y) for name in names), ("count", None), ("count", y)])
        *ends, rows, known = found
        tests = [call(operator, x, end) for end in ends]
        test = tests[0] if len(tests) == 1 else call("or", *tests)
        return _known(test, x, rows, known)

    def _is_in(self, values: list[Expression], query: LogicalQuery, node: exp.Expr, b: ExpressionBinder) -> Expression:
        if len(values) != 1:
            b.source.refuse("IN of several values in this place", node, "let it be a condition of WHERE, by AND")
        (x,), (y,) = values, _outputs(query)
        equal = self._count(query, [(y, lifted(x))])
        rows, known = self._aggregated(query, [("count", None), ("count", y)])
        return _known(call(">", equal, _ZERO), x, rows, known)

    def _count(self, query: LogicalQuery, equal: Sequence[tuple[Column, Expression]]) -> Expression:
        return self._aggregated(query, [("count", None)], equal)[0]

    def _aggregated(
        self, query: LogicalQuery, wanted: Sequence[tuple[str, Column | None]],
        equal: Sequence[tuple[Column, Expression]] = (),
    ) -> list[Expression]:  # fmt: skip
        """Statistics of the rows of a query, for each row around it.

        Args:
            query: the subquery.
            wanted: functions, each of an output or of rows.
            equal: outputs that must equal expressions of the query around, which are lifted.
        """
        if isinstance(query, Block) and query.is_plain:
            values: dict[str, Expression] = {stored_name(o.name): o.expression for o in query.outputs}
            block = query
        else:
            values = {column.name: column for column in _outputs(query)}
            block = Block((query,), TRUE, ())
        where = conjunction(block.where, *(normal_form(call("=", values[y.name], x)) for y, x in equal))
        statistics: set[AggregateCall] = set()
        outputs = []
        for i, (function, column) in enumerate(wanted):
            arguments = () if column is None else (values[column.name],)
            value = expand(function, arguments, False, statistics.add)
            outputs.append(Output(f"v{i}", map_columns(value, lambda c: replace(c, source=0))))
        grouping = Grouping((), tuple(sorted(statistics, key=column_name)))
        return self._one_row(replace(block, where=where, outputs=tuple(outputs), grouping=grouping, distinct=False))

    def _one_row(self, query: Block) -> list[Expression]:
        """The outputs of an aggregate without groups, which has one row for each row around it."""
        correlated = by_equalities(query)
        if isinstance(self.clause, Groups):
            if correlated is None or correlated.names or query.having or query.having_window:
                raise _ReadsAround
            position = self.clause.add_input(correlated.query)
            return [Column(stored_name(o.name), o.type, position) for o in query.outputs]
        if correlated is None:
            correlated = by_domain(query, self._domain, for_nothing=False)
        position = self.clause.add_input(correlated.query)
        own = [Column(stored_name(o.name), o.type, position) for o in query.outputs]
        if not correlated.names and not query.having and not query.having_window:
            return list(own)  # one row, with which every row is joined
        return self._joined(correlated, position, query, own)

    def _joined(self, correlated: Correlated, position: int, query: Block, own: Sequence[Column]) -> list[Expression]:
        on = correlated.on(position)
        right = Rows(self._rows_around.take([position]))
        read = [p for p in predicate_sources(on) if p != position and p < OUTER]
        left = Rows(self._rows_around.take(read))
        found = Column(f"{COMPUTED}found", BOOLEAN, position)
        kept = frozenset([0])
        self._rows_around.trees.append(OuterJoin((left, right), Rows((), on), kept, {found: Constant(True, BOOLEAN)}))
        if query.having or query.having_window:
            return list(own)
        nothing = [over_nothing(output.expression) for output in query.outputs]
        return [
            column if isinstance(n, Constant) and n.value is None else call("case", found, column, n)
            for column, n in zip(own, nothing, strict=True)
        ]

    @property
    def _rows_around(self) -> FromClause:
        if isinstance(self.clause, Groups):
            raise _ReadsAround
        return self.clause

    # ---- parts -------------------------------------------------------------------------------------------------------

    def _query(self, node: exp.Expr) -> LogicalQuery:
        query = unordered(self.around.subquery(node, self.clause.scope))
        if is_ordered_for_each(query):
            what = "LIMIT or OVER in a subquery that reads the query around it"
            self.around.source.refuse(what, node, "rank the rows in a view, PARTITION BY what is compared, and join it")
        return query

    def _values(self, node: exp.Expr, query: LogicalQuery, b: ExpressionBinder) -> list[Expression]:
        """What is compared with the columns of a subquery."""
        left = node.this.unnest()
        parts = left.expressions if isinstance(left, exp.Tuple) else [node.this]
        columns = output_columns(query)
        if len(parts) != len(columns):
            message = f"{len(parts)} values are compared with {len(columns)} columns"
            raise b.source.error(message, node, "select as many columns as there are values")
        values = [b.bind(part) for part in parts]
        for value, (_, type_) in zip(values, columns, strict=True):
            try:
                call("=", value, Column("c", type_))
            except TypeClash as clash:
                raise b.source.error(clash.message, node, clash.hint) from None
        return values

    def _domain(self, read: Sequence[Column]) -> Input:
        """The distinct values of columns of the clause, under the names d1, d2, …"""
        wanted = frozenset(column.source for column in read)
        trees = [tree for tree in self._rows_around.trees if not wanted.isdisjoint(positions(tree))]
        there = frozenset().union(*map(positions, trees))
        tied = conjunction(*self._rows_around.conditions)
        where = PredSet(tuple(p for p in tied if predicate_sources(p) and predicate_sources(p) <= there))
        outputs = tuple(Output(f"d{i}", column) for i, column in enumerate(read, start=1))
        return resolved(trees, Block((), where if len(trees) > 1 else TRUE, outputs, distinct=True))


class _ReadsAround(Exception):
    """A subquery beside aggregates reads the query around it."""


_ZERO = Constant(0, INTEGER)


def _known(test: Expression, x: Expression, rows: Expression, known: Expression) -> Expression:
    """TRUE where a test holds; else NULL, where a value may be missing that it would hold for; else FALSE."""
    unknown = call(
        "or", call("<", known, rows), call("and", call("is_null", x), call(">", rows, _ZERO))
    )  # fmt: skip
    return call("case", test, Constant(True, BOOLEAN), unknown, Constant(None, BOOLEAN), Constant(False, BOOLEAN))


def _outputs(query: LogicalQuery) -> list[Column]:
    """The columns of a query as those of an input."""
    return [Column(stored_name(name), type_) for name, type_ in output_columns(query)]


def _has_one_row(query: Block) -> bool:
    """Whether a query is an aggregate of all rows."""
    return query.grouping is not None and not query.grouping.groups and not query.having and not query.having_window
