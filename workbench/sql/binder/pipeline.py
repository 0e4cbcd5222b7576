"""The pipeline from SQL text to the logical query: every step in its order, with the reason for its place.

``bind`` goes through the statements of a text, ``QueryBinder.statement`` through one statement, and
``QueryBinder.select`` through the clauses of one SELECT. Nothing is ever ignored: a part of the text that has no
meaning here is refused by name, with a caret. The canonical form of predicates is made by ``sharing``, since an
option switches it off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from workbench.errors import SqlError, UnsupportedError
from workbench.sql.algebra.constant_texts import reading_constant_texts
from workbench.sql.algebra.expressions import Call
from workbench.sql.algebra.zones import UTC, Zoning, bound_in
from workbench.sql.binder.aggregates.pivot import simplified, without_pivots
from workbench.sql.binder.gap_filling import gaps_filled
from workbench.sql.binder.joins.selected_elements import rows_after_groups
from workbench.sql.binder.joins.unnesting import OuterNames, outward_query
from workbench.sql.binder.match_recognize import without_matches
from workbench.sql.binder.order.limit import CLAUSES
from workbench.sql.binder.outer_aggregates import select_of_groups
from workbench.sql.binder.protocols import AggregateOfOuter
from workbench.sql.binder.recursion import (
    RECURSIVE_CLAUSES,
    after_what_they_read,
    queries_before,
    reads_itself,
    refuse_clauses,
    refuse_later_names,
    steps_of,
)
from workbench.sql.binder.scalar import ScalarBinder
from workbench.sql.binder.scope import Outer, Scope
from workbench.sql.binder.select import SelectBinder
from workbench.sql.binder.set_operations import (
    bind_set_operation,
    rows_of_values,
    with_column_names,
    with_order_of_outputs,
)
from workbench.sql.binder.steps_of_limit import rows_taken
from workbench.sql.binder.stream_windows import StreamWindows
from workbench.sql.function_help import signature_hint
from workbench.sql.functions.lacking_names import note_lacking_names
from workbench.sql.logical import Block, LogicalQuery, Ordered, StreamWindow, output_columns, streams_of
from workbench.sql.query_limits import refuse_shape
from workbench.sql.render.spark_sql import to_spark
from workbench.sql.schema import Schema
from workbench.sql.syntax.dialects import known_dialect
from workbench.sql.syntax.forms_refused import explained_form
from workbench.sql.syntax.parse import Statement, ViewName, parse
from workbench.sql.syntax.quoted_names import quoting_hint
from workbench.sql.syntax.source_text import SourceText
from workbench.sql.windows.stream_time import common_time, now_of


@dataclass(frozen=True)
class Bound:
    """The statements of a text: views in order, the one query if there is one, the windows of its clause, the zone."""

    views: tuple[tuple[str, LogicalQuery], ...]
    query: LogicalQuery | None
    windows: tuple[StreamWindow, ...] = ()
    timezone: str = UTC

    def named(self, name: str) -> dict[str, LogicalQuery]:
        """The names that the text adds for FROM: its views, and its query (or else its last view) under ``name``.

        Raises:
            SqlError: there is neither.
        """
        if self.query is None and not self.views:
            raise SqlError("there is no query in this text", hint="write a SELECT, or a CREATE VIEW")
        return {**dict(self.views), name: self.query if self.query is not None else self.views[-1][1]}


def bind(sql: str, dialect: str, schema: Schema) -> Bound:
    """Bind the statements of a text; later ones may use the views of earlier ones.

    Args:
        sql: any number of CREATE VIEW and at most one query, separated by semicolons.
        dialect: a dialect name of sqlglot.
        schema: streams, views, functions and aggregates that may be used.

    Raises:
        SqlError: syntax, an unknown or ambiguous name, or types that do not go together.
        UnsupportedError: a construct that is not evaluated.

    Example:
        >>> from workbench.sql.algebra.types import INTEGER
        >>> bound = bind("SELECT a FROM t WHERE a > 1", "spark", Schema({"t": (("a", INTEGER),)}))
        >>> str(bound.query.where)
        'a > 1'
    """
    # The dialect before the text: it decides how the text is tokenized.
    source = SourceText(sql, known_dialect(dialect), schema.streams)
    # The zone before all expressions: what is bound names it.
    rules = source.rules
    zoning = Zoning(schema.timezone, rules.takes_last_instant, rules.offset_in_texts, rules.subtracts_instants)
    with bound_in(zoning), reading_constant_texts(rules.reads_constant_texts):
        # All statements are parsed before the first is bound, so that a syntax error comes before an unknown name.
        try:
            statements = parse(source)
        except SqlError as error:
            # The error says how a function is called, or that a name may lack its quotes.
            quoting = quoting_hint(sql, error.position or 0, source.names, source.dialect)
            error.hint = quoting or signature_hint(error.message, None, source.dialect) or error.hint
            raise
        try:
            bound = _bound_statements(statements, source, schema)
        except SqlError as error:
            explained = explained_form(source) or error
            explained.hint = explained.hint or signature_hint(explained.message, None, dialect)
            raise explained from None
        note_lacking_names(source, {*schema.functions, *schema.aggregates})
    return bound


def _bound_statements(statements: Iterable[Statement], source: SourceText, schema: Schema) -> Bound:
    binder = QueryBinder(source, schema)
    views: list[tuple[str, LogicalQuery]] = []
    query: LogicalQuery | None = None
    windows: tuple[StreamWindow, ...] = ()
    for statement in statements:
        if statement.view is not None:
            # The checks of a view's name before its query, in which the name could mean the view itself.
            binder.check_view(statement.view, statement.query)
            view = binder.statement(statement)[0]
            # Names of columns after the query, whose columns they must match.
            view = with_column_names(view, statement.view.columns, source, statement.query)
            views.append((statement.view.name, view))
            # The statements after a view know it, and those before do not.
            binder = binder.knowing(statement.view.name, view, of_with=False)
        elif query is not None:
            hint = "register them one by one, or make one a view"
            raise SqlError("there are two queries in one text", **source.of(statement.query), hint=hint)
        else:
            query, windows = binder.statement(statement)
            if not output_columns(query):
                raise source.error("no column is left to select", statement.query, "select one at least")
            # The length of its Spark SQL last: only now is it known what is computed from which views.
            _refuse_long(query)
    if query is None and not views:
        raise SqlError("there is no query", hint="write a SELECT")
    return Bound(tuple(views), query, windows, schema.timezone)


def _refuse_long(query: LogicalQuery) -> None:
    """Refuse at registration what Spark could not evaluate when the answer is read."""
    block = query
    while isinstance(block, Ordered):
        block = block.query
    for output in block.outputs if isinstance(block, Block) else ():
        try:
            to_spark(output.expression, lambda column: column.name)
        except UnsupportedError as error:
            raise UnsupportedError(f"column {output.name}: {error.message}", hint=error.hint) from None


@dataclass(frozen=True)
class QueryBinder:
    """Binds queries.

    Attributes:
        local: the views and CTEs of the text, by name in lower case.
        of_with: those of them that are CTEs of this statement, so that its windows are in them.
        now: what ``now()`` means in this statement; ``None`` where no stream of it has event times.
        clashing_times: the streams' event times where they are of types that do not compare, so that there is no now.
        streams: the streams, tables excepted, that this statement reads.
        windows: its window clause, if it has one.
        outer: the names of the outer query, in a subquery.
    """

    source: SourceText
    schema: Schema
    local: Mapping[str, LogicalQuery] = field(default_factory=dict)
    of_with: frozenset[str] = frozenset()
    now: Call | None = None
    clashing_times: str = ""
    streams: frozenset[str] = frozenset()
    windows: StreamWindows | None = None
    outer: Outer | None = None

    def knowing(self, name: str, query: LogicalQuery, of_with: bool = True) -> QueryBinder:
        """The binder with one more CTE, or view, which hides an earlier one of the name."""
        others = self.of_with - {name.lower()}
        known = {**self.local, name.lower(): query}
        return replace(self, local=known, of_with=others | {name.lower()} if of_with else others)

    def over(self, name: str) -> Callable[[LogicalQuery, exp.Expr], LogicalQuery]:
        """Binds queries that read a query of WITH, which is given each time."""
        return lambda query, node: self.knowing(name, query).query(node)

    def check_view(self, view: ViewName, query: exp.Expr) -> None:
        """Raises SqlError for a view that hides a stream, is declared twice in a text, or reads a view of its own
        name.
        """
        name, place = view.name.lower(), self.source.keyword(view.name)
        if self.schema.stream(name) is not None:
            raise SqlError(f"{view.name} is a stream", **place, hint="give the view another name")
        if name in self.local and not view.replace:
            hint = "write CREATE OR REPLACE VIEW, or give one of them another name"
            raise SqlError(f"the view {view.name} is there already", **place, hint=hint)
        inner = {cte.alias.lower() for cte in query.find_all(exp.CTE)}
        own = next((t for t in query.find_all(exp.Table) if t.name.lower() == name and name not in inner), None)
        if own is not None:
            raise self.source.error(f"the view {view.name} is made of itself", own, "give the new view another name")

    def statement(self, statement: Statement) -> tuple[LogicalQuery, tuple[StreamWindow, ...]]:
        """The query of a statement, and the windows that its window clause puts on streams."""
        # What now means first: it is one time in the whole statement, of all streams that the statement reads.
        binder = self._with_now(statement.query)
        if statement.clause is None:
            return binder.query(statement.query), ()
        # The window clause with every SELECT of the statement, since each may read a stream that has a window.
        tables = statement.query.find_all(exp.Table)
        aliases = {table.alias_or_name.lower(): table.name.lower() for table in tables}
        windows = StreamWindows(statement.clause, binder, aliases)
        query = replace(binder, windows=windows).query(statement.query)
        # Only then is it known whether every window belongs to some stream.
        windows.check()
        return query, tuple(windows.declared)

    def query(self, node: exp.Expr) -> LogicalQuery:
        """A SELECT, a set operation, or one in parentheses."""
        # WITH before the query, which reads its names.
        binder = self._with_ctes(node.args.get("with_"))
        match node:
            case exp.Select():
                query: LogicalQuery = binder.select(node)
            case exp.SetOperation():
                # ORDER BY after the operation, since it names the columns of its result.
                query = with_order_of_outputs(bind_set_operation(node, binder), node, binder)
            case exp.Subquery():
                self.source.refuse_others(node, {"this", "with_", *CLAUSES}, "parentheses")
                return with_order_of_outputs(binder.query(node.this), node, binder)
            case exp.Values():
                return rows_of_values(node, binder)
            case exp.Pivot():
                return binder.query(simplified(node, binder))
            case exp.Table():
                self.source.refuse("a table in place of a SELECT", node, "write SELECT * FROM it")
            case _:
                self.source.refuse(node.key.upper(), node)
        # The size after views are merged, which can make a short text a large query.
        refuse_shape(query, self.source, node)
        return query

    def select(self, node: exp.Select) -> LogicalQuery:
        """One SELECT; from its groups, where a subquery has an aggregate of its rows."""
        try:
            return self._select(node)
        except AggregateOfOuter as found:
            if found.level:
                raise
            return self._select(select_of_groups(node, found, self, self._select))

    def _select(self, node: exp.Select) -> LogicalQuery:
        # PIVOT and UNPIVOT before all, since they are subqueries of FROM.
        node = without_pivots(node, self)
        # Patterns of rows next, since their matches are a subquery of FROM as well.
        if (matched := without_matches(node, self)) is not None:
            select, name, rows = matched
            return self.knowing(name, rows).select(select)
        # Filled gaps before clauses are bound, since what is selected of groups is selected of more rows than these.
        if (filled := gaps_filled(node, self)) is not None:
            return self.knowing(filled.name, filled.rows).select(filled.select)
        # Rows that a select list makes beside groups and OVER, since they are made of these.
        node = rows_after_groups(node, self) or node
        clauses = SelectBinder(node, self)
        # FROM first: names in all other clauses mean columns of its items. Subqueries are bound here, and plain ones
        # merged into this block, so that texts that were factored differently are equal from here on.
        clauses.bind_from(self.windows)
        # WHERE before grouping, as in SQL. It is put into normal form at once: only from a conjunction can the
        # comparisons with now be split off.
        clauses.bind_where()
        if not clauses.is_grouped:
            clauses.bind_select_list()
            clauses.bind_order()
            clauses.bind_qualify()
            return clauses.in_order(clauses.plain_block())
        # GROUP BY before the select list: a window that is a group gives ``window.start`` there its meaning.
        clauses.bind_groups()
        # The select list before HAVING, which may use its aliases. Both collect the statistics of the groups.
        clauses.bind_select_list()
        # ORDER BY after the select list, whose items it may name; it collects statistics too.
        clauses.bind_order()
        # QUALIFY after both, whose calls with OVER it may repeat; it collects statistics, too.
        clauses.bind_qualify()
        # HAVING, then both are rewritten over groups: only now is every statistic known.
        # Overlapping windows after all clauses, since the whole block is rewritten into slices of time and their union.
        # Subqueries beside aggregates once there are groups to join them with.
        groups = clauses.grouped()
        # The order of rows last: it is that of the outputs, however these are computed.
        return clauses.in_order(groups)

    def subquery(self, node: exp.Expr, scope: Scope) -> LogicalQuery:
        """The logical query of a subquery in an expression, which sees the columns of a scope.

        What a CTE around it reads of its outer queries is a level farther away there.
        """
        local = {name: outward_query(query) for name, query in self.local.items()}
        try:
            return replace(self, outer=OuterNames(scope), local=local).query(node)
        except AggregateOfOuter as found:
            found.level -= 1
            raise

    def now_at(self, node: exp.Expr) -> Call:
        """The value of now where ``node`` asks for it.

        Raises:
            SqlError: no stream of the statement has event times, or they are of types that do not compare.
        """
        if self.clashing_times:
            message = f"now is no one time here: {self.clashing_times}"
            raise self.source.error(message, node, "use streams whose times compare")
        if self.now is None:
            hint = (
                "say which column has the time: add_stream(..., time=...); else (SELECT MAX(at) FROM t) is the latest"
            )
            raise self.source.error("there is no now: no stream of this query has a time", node, hint)
        return self.now

    def _with_now(self, statement: exp.Expr) -> QueryBinder:
        """The binder for a statement, in all of which now is the largest event time of the streams it reads."""
        streams: set[str] = set()
        for table in statement.find_all(exp.Table):
            query = self.local.get(table.name.lower()) or self.schema.view(table.name)
            stream = self.schema.stream(table.name)
            if query is not None:
                streams |= streams_of(query)
            elif stream is not None:
                streams.add(stream[0])
        types = {name: time.type for name in streams if (time := self.schema.time(name)) is not None}
        type_ = common_time(types.values())
        clashing = ", ".join(f"{name} {time}" for name, time in sorted(types.items())) if type_ is None else ""
        now = None if type_ is None else now_of(types, type_)
        return replace(self, now=now, clashing_times=clashing, streams=frozenset(streams - self.schema.tables))

    def _with_ctes(self, with_: exp.With | None) -> QueryBinder:
        """The binder that knows the queries of WITH, each of which knows those before it."""
        if with_ is None:
            return self
        self.source.refuse_others(with_, {"expressions", "recursive"}, "WITH")
        recursive = with_.args.get("recursive") or self.source.rules.with_is_recursive
        binder, seen = self, set[str]()
        every = after_what_they_read(with_.expressions) if recursive else with_.expressions
        for cte in every:
            if cte.alias.lower() in seen:
                raise self.source.error(f"{cte.alias} stands twice in WITH", cte, "give one of them another name")
            seen.add(cte.alias.lower())
            # MATERIALIZED is a hint that changes no answer: one subquery is one node, however often it is read.
            self.source.refuse_others(cte, {"this", "alias", "materialized", *RECURSIVE_CLAUSES}, "a CTE")
            if recursive:
                refuse_later_names(cte, every, self.source)
            if recursive and reads_itself(cte):
                # The queries of WITH before its UNION are known in it alone.
                before, union = queries_before(cte)
                own = binder._with_ctes(before)
                constant = ScalarBinder(Scope(self.source), self.schema).bind
                rows = rows_taken(cte, self.source, constant)
                steps = steps_of(union, own.query, own.over(cte.alias), rows, self.source)
                binder = binder.knowing(cte.alias, steps)
                continue
            refuse_clauses(cte, self.source)
            alias = cte.args.get("alias")
            names = [c.name for c in alias.args.get("columns") or ()] if isinstance(alias, exp.TableAlias) else []
            binder = binder.knowing(cte.alias, with_column_names(binder.query(cte.this), names, self.source, cte))
        return binder
