"""Scalar expressions of SQL text to typed expressions.

Every kind of syntax node has a handler (``handlers``); a node or a part of one without a handler is refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import sqlglot
from sqlglot import exp

from workbench.errors import SqlError, UnsupportedError, nearest, with_article
from workbench.sql.algebra import coercion
from workbench.sql.algebra.coercion import AS_SECONDS, AS_TEXT, TypeClash
from workbench.sql.algebra.expressions import (
    AggregateCall,
    Call,
    Column,
    Constant,
    Expression,
    Origin,
    calls,
    columns,
    map_columns,
)
from workbench.sql.algebra.hints import on_a_clock
from workbench.sql.algebra.types import BOOLEAN, COUNTED, DATE, INSTANT, STRING, DataType, Kind
from workbench.sql.binder.aggregates.aggregation import Aggregation, in_one_order, is_aggregate, level_of
from workbench.sql.binder.differences import refuse_different
from workbench.sql.binder.meant import MAKES_ROWS, WITH_OVER, as_called, as_spelt, of_all_rows, of_sign, whole_call
from workbench.sql.binder.protocols import AggregateOfOuter, AnalyticBinder, SubqueryBinder, is_subquery
from workbench.sql.binder.scope import Scope, scope_of
from workbench.sql.binder.whole_rows import row_of
from workbench.sql.binder.window_functions import bind_part_of_call, bind_window, is_part, is_window_call
from workbench.sql.function_help import LACKS_ARGUMENT, all_help, functions, signature_hint
from workbench.sql.functions.arrays.arrays import variable
from workbench.sql.functions.calls import FUNCTIONS, cast
from workbench.sql.functions.collation import note_comparison
from workbench.sql.functions.distances import is_near
from workbench.sql.functions.elsewhere import of_its_parts, usual_call
from workbench.sql.functions.reading import HANDLERS, IGNORED_PARTS, NAMED, QUERIES
from workbench.sql.functions.structs import column_before_field, field
from workbench.sql.functions.times import interval_arithmetic
from workbench.sql.functions.times.intervals import interval_parts
from workbench.sql.query_limits import ExpressionExtent, refuse_extent, refuse_growth, refuse_oversized
from workbench.sql.schema import Schema
from workbench.sql.syntax.limits import refuse_height, refuse_nesting
from workbench.sql.syntax.source_text import SourceText

_NOW = (exp.CurrentTimestamp, exp.CurrentDate)
_NOW_NAMES = {"now", "sysdate", "current_timestamp", "current_date"}
_UNSTEADY = (exp.CurrentTime, exp.CurrentDatetime, exp.Rand, exp.Randn, exp.Uuid, exp.CurrentUser, exp.Localtimestamp,
             exp.Localtime, exp.SessionUser)  # fmt: skip
_UNSTEADY_NAMES = {"systimestamp", "rand", "random", "uuid", "curdate", "localtimestamp", "rownum", "sys_guid",
                   "monotonically_increasing_id"}  # fmt: skip

_LABELS: dict[type[exp.Expr], str] = {
    exp.Bracket: "a part of an array, [...]", exp.Dot: "a part of a value, by a dot",
    exp.Star: "* there", exp.Distinct: "DISTINCT there",
    exp.Aliases: "a list of aliases", exp.Parameter: "a parameter",
    exp.Placeholder: "a parameter", exp.SessionParameter: "a parameter", exp.ByteString: "a constant of bytes",
    exp.BitString: "a constant of bits", exp.Lambda: "a lambda, x -> …,",
    exp.Slice: "a part of an array, [...]", exp.PropertyEQ: "a named argument",
    exp.Kwarg: "a named argument", exp.AtTimeZone: "AT TIME ZONE", exp.Overlaps: "OVERLAPS", exp.Glob: "GLOB",
    exp.JSON: "JSON", exp.SimilarTo: "SIMILAR TO", exp.UnicodeString: "a text with Unicode escapes",
}  # fmt: skip
_FIRST = "LIMIT at the end has the first rows, and ROW_NUMBER() OVER (ORDER BY …) numbers them"
_STEADY = "answers must be the same on every replay; use a constant or a column"
_OF_OVER = "it stands in the select list, QUALIFY and ORDER BY"
_OF_AGGREGATES = "a condition on an aggregate goes into HAVING"
_HINTS: dict[type[exp.Expr], str] = {
    exp.Star: "* stands in a list of columns, and in COUNT(*)",
    exp.Distinct: "it stands before all values: COUNT(DISTINCT a), SELECT DISTINCT a",
    exp.Aliases: "names in parentheses stand behind AS",
    **dict.fromkeys((exp.Unnest, exp.Explode), MAKES_ROWS),
    exp.Placeholder: "in a cell write :name for the value of a variable, {{name}} for a text to be put in; "
    "in Python write it into the text, f'… > {value}'",
    exp.BitString: "write what it is as the number, 5 for B'101'",
    exp.RespectNulls: "every aggregate skips NULLs; leave it out",
    exp.Slice: "SLICE(x, 1, 3) is a part of an array, SUBSTRING(s, 1, 3) of a text",
    exp.Parameter: "write the name alone; in a cell :name is the value of a variable",
    exp.HavingMax: "MAX_BY(x, t) is x of the row with the greatest t, MIN_BY(x, t) with the least",
    exp.WithinGroup: "PERCENTILE_CONT, PERCENTILE_DISC and MODE have it",
}
_WHOLE = "each side is a whole condition: x = 'A' OR x = 'B', or x IN ('A', 'B')"
COMPARE = "compare it with something, as in a > 3"
"""The hint where another value stands for a condition."""


class ScalarBinder:
    """Binds the expressions of one clause of a SELECT.

    Args:
        scope: what columns mean.
        schema: the analyst's functions and aggregates.
        aggregation: takes aggregates where they are allowed, ``None`` where they are not.
        now_at: gives what now means to the node that asks, where it may be asked.
        grouped: whether ``window(...)`` may stand here, which is a group.
        analytics: takes calls with OVER where they are allowed, ``None`` where they are not.
        subqueries: binds subqueries where they are allowed, ``None`` where they are not.
        of_groups: binds those that stand beside aggregates.
        variables: those of the lambdas around the expression, by name in lower case.
        groups: the columns of groups that are computed, by ``in_one_order`` of what they are: a comparison of one is of
            its value, and not of its operands.

    Attributes:
        columns: the column names bound so far, each with its meaning, for errors that name one later.
    """

    def __init__(
        self,
        scope: Scope,
        schema: Schema,
        aggregation: Aggregation | None = None,
        now_at: Callable[[exp.Expr], Expression] | None = None,
        grouped: bool = False,
        analytics: AnalyticBinder | None = None,
        subqueries: SubqueryBinder | None = None,
        of_groups: SubqueryBinder | None = None,
        variables: Mapping[str, Expression] | None = None,
        groups: Mapping[Expression, Column] | None = None,
    ) -> None:
        self.scope, self.schema, self.aggregation = scope, schema, aggregation
        self.source: SourceText = scope.source
        self.dialect, self.rules = self.source.dialect, self.source.rules
        self.columns: list[tuple[exp.Column, Expression]] = []
        self._now_at, self._grouped = now_at, grouped or aggregation is not None
        self._analytics, self._subqueries, self._of_groups = analytics, subqueries, of_groups
        self._variables, self._groups = variables or {}, groups or {}
        self._extents: dict[int, ExpressionExtent] = {}

    @property
    def keep(self) -> Callable[[AggregateCall], None] | None:
        """Takes a statistic that the block needs; ``None`` where aggregates are not allowed."""
        return None if self.aggregation is None else self.aggregation.keep

    def _resolved(self, column: exp.Column) -> Expression:
        """The meaning of a column name; the hint for an unknown name says where rows have it nonetheless."""
        try:
            return self.scope.resolve(column)
        except SqlError as problem:
            known = (stream for stream, names in self.schema.members.items() if column.name.lower() in names)
            if (stream := next(known, None)) is None or "unknown column" not in problem.message:
                raise
            hint = f"it is new in the rows of {stream}; %argus stream {stream} --add {column.name} makes it a column"
            raise self.source.error(problem.message, column.this, hint) from None

    def bind(self, node: exp.Expr | None) -> Expression:
        """The typed expression of a syntax node.

        Raises:
            SqlError: an unknown name or a type clash, at its place.
            UnsupportedError: a construct that is not evaluated, or too large an expression.
        """
        if node is None:  # the parser takes a call without it; the call says where
            raise TypeClash(LACKS_ARGUMENT)
        bound = self.aggregation.bind(node, self) if self.aggregation is not None else None
        try:
            bound = bound or self._bind(node)
        except TypeClash as clash:
            called = self.source.called(node)
            usual = usual_call(called, self.dialect) if called and " takes " in clash.message else None
            signature = signature_hint(clash.message, called, self.dialect)
            hint = of_sign(node) or as_spelt(clash.hint, node) or usual or signature
            if clash.message == LACKS_ARGUMENT:
                hint = hint or whole_call(self._bind, node, called, self.dialect)
            raise self.source.error(as_called(clash.message, called), node, hint) from None
        if self._groups and isinstance(bound, Call) and not (self.aggregation is not None and self.aggregation.inside):
            bound = self._groups.get(in_one_order(bound), bound)
        refuse_extent(bound, self.source, node, self._extents)
        refuse_growth(bound, self.source, node)
        refuse_oversized(bound, self.source, node)
        refuse_different(self.source, node, bound)
        note_comparison(self.source, node, bound)
        return bound

    def condition(self, node: exp.Expr) -> Expression:
        """A BOOLEAN expression."""
        bound = self.bind(node)
        if coercion.is_null(bound):
            return Constant(None, BOOLEAN)
        if bound.type != BOOLEAN:
            hint = f"compare it with something, as in {node.name} = …" if isinstance(node, exp.Column) else COMPARE
            hint = _WHOLE if bound.type == STRING and isinstance(node.parent, exp.Connector) else hint
            raise self.source.error(f"type clash: a condition is needed, not {bound.type}", node, hint)
        return bound

    def parts(self, node: exp.Expr, *keys: str) -> list[Expression]:
        """The arguments of a node under ``keys`` that are there, lists flattened."""
        values = [node.args.get(key) for key in keys]
        listed = [value if isinstance(value, list) else [value] for value in values if value is not None]
        return [self.bind(part) for parts in listed for part in parts]

    def column(self, node: exp.Column) -> Expression:
        """The meaning of a column name."""
        if self.rules.has_rows and (row := row_of(self, self.scope, node)) is not None:
            return row
        if (
            not node.table
            and not node.this.args.get("quoted")
            and node.name.lower() in self.rules.functions_without_call
        ):
            self.source.refuse(f"{node.name.upper()} in {self.dialect}", node, "in quotes it is the name of a column")
        whole = None if node.table and not node.args.get("db") and self.scope.has(node) else column_before_field(node)
        if whole is not None and self._is_known(whole):
            return field(self, self.column(whole), node.name, node)
        in_aggregate = self.aggregation is not None and self.aggregation.inside
        in_over = self._analytics is not None and self._analytics.inside
        meaning = self.scope.alias(node, prefer=not (in_aggregate or in_over))
        if meaning is None:
            meaning = self._resolved(node)
        else:
            if in_aggregate and self._groups:
                computed = {column: group for group, column in self._groups.items()}
                meaning = map_columns(meaning, lambda column: computed.get(column, column))
            of = {column.source for column in columns(meaning)}
            if Origin.ANALYTIC in of and (in_aggregate or in_over or self._analytics is None):
                what = f"{node.name} is a value of OVER, which cannot stand here"
                raise self.source.error(what, node, "compute it in a subquery in FROM; QUALIFY takes conditions on it")
            if Origin.GROUPED in of and in_aggregate:
                what = f"{node.name} is an aggregate, which cannot stand inside another"
                raise self.source.error(what, node, "aggregate a subquery in FROM")
        if in_aggregate:
            meaning = map_columns(meaning, lambda column: self.scope.computed.get(column, column))
        self.columns.append((node, meaning))
        return meaning

    def _is_known(self, column: exp.Column) -> bool:
        """Whether it is a column, or a field of one."""
        if not column.args.get("db") and self.scope.has(column):
            return True
        whole = column_before_field(column)
        return whole is not None and self._is_known(whole)

    def function_body(self, node: exp.Expr | None, *types: DataType) -> Call:
        """A lambda whose variables are of these types: ``x -> x + 1``.

        The variables are called by their number, so that two lambdas are equal whatever the text calls theirs.
        Aggregates, OVER, subqueries and now belong outside of it.

        Raises:
            SqlError: it is no lambda, or has more variables.
        """
        unknown = None if isinstance(node, exp.Lambda) else self.scope.unknown_in(node, self._variables)
        if node is not None and unknown is None and not isinstance(node, exp.Lambda) and self.rules.texts_as_in_spark:
            # A value that depends on no element: no text can write the names of its variables.
            names = [exp.to_identifier(f"\0{place}") for place in range(len(types))]
            node = exp.Lambda(this=node, expressions=names)
        if not isinstance(node, exp.Lambda) or len(node.expressions) > len(types):
            needed = "x -> …" if len(types) == 1 else "(x, y) -> …"
            meant = f"write {unknown} -> {node.sql(self.dialect)}" if node is not None and unknown else None
            raise self.source.error("a lambda is needed", node, meant or f"as in {needed}")
        named = [(n.name.lower(), type_) for n, type_ in zip(node.expressions, types, strict=False)]
        first = len(self._variables)
        variables = {name: variable(first + i, type_) for i, (name, type_) in enumerate(named)}
        inner = ScalarBinder(self.scope, self.schema, variables={**self._variables, **variables})
        body = inner.bind(node.this)
        if any(name not in FUNCTIONS or FUNCTIONS[name].is_in_python for name in calls(body)):
            hint = "Spark calls no Python in a lambda: compute it of rows, which UNNEST or EXPLODE makes of an array"
            self.source.refuse("this function in a lambda", node.this, hint)
        self.columns += inner.columns
        return Call("lambda", (*variables.values(), body), body.type)

    def variable(self, node: exp.Identifier) -> Expression:
        """The meaning of the name of a variable of a lambda."""
        if node.name.lower() not in self._variables:
            raise self.source.error(f"unknown name {node.name}", node)
        return self._variables[node.name.lower()]

    def bind_text(self, sql: str, names: Mapping[str, Expression], aggregates: bool) -> Expression:
        """The expression of another text, in Spark's dialect, over ``names`` alone.

        Raises:
            SqlError: the text is no expression, or not one over these names.
        """
        source = SourceText(sql, "spark")
        refuse_nesting(source)
        try:
            node = sqlglot.parse_one(sql, dialect="spark")
        except Exception:  # the parser stumbles over some texts instead of saying what is wrong with them
            raise SqlError(f"cannot read {sql}") from None
        refuse_height(node, source)
        aggregation = self.aggregation if aggregates else None
        return ScalarBinder(scope_of(source, names), self.schema, aggregation).bind(node)

    # ---- nodes -------------------------------------------------------------------------------------------------------

    def _bind(self, node: exp.Expr) -> Expression:
        if self.aggregation is None and self.scope.outer is not None:
            called = node.this if isinstance(node, exp.Filter) else node
            if is_aggregate(called, self.schema) and (level := level_of(node, self.scope)):
                raise AggregateOfOuter(called, level)
        if is_subquery(node):
            grouped = self.aggregation is not None and not self.aggregation.inside
            subqueries = self._of_groups if grouped else self._subqueries
            if subqueries is not None:
                return subqueries.value(node, self)
        if (is_now(node) or type(node) in _UNSTEADY) and not isinstance(node, exp.Column):
            self._refuse_column(self.called(node), node)
        if is_now(node) and not self._is_column(node):
            return self._now(node)
        if isinstance(node, exp.Window) and self._analytics is not None:
            return self._analytics.bind(node, self)
        if isinstance(node, exp.PositionalColumn):
            return self.column(self.scope.column_at(node))
        self._refuse_unsupported(node)
        if isinstance(node, exp.Anonymous):
            return self._named_function(node)
        if type(node) in HANDLERS:
            handler = HANDLERS[type(node)].of(self.dialect)
            # What the node is called is looked up in the text, which is worth it only for a message.
            if any(value and part not in handler.parts for part, value in node.args.items()):
                flags = {part for part in IGNORED_PARTS if not isinstance(node.args.get(part), exp.Expr)}
                self.source.refuse_others(node, {*handler.parts, *flags}, self.called(node))
            return handler.bind(self, node)
        if is_aggregate(node, self.schema):
            meant = "leave it out of GROUP BY" if self._grouped else of_all_rows(node) or _OF_AGGREGATES
            raise self.source.error(f"{self.called(node)} is an aggregate, which cannot stand here", node, meant)
        if isinstance(node, exp.Alias):
            what = f"the name {node.alias} stands within an expression"
            meant = "leave it out, or write what is missing before it: a sign, a comma, or the name of a function"
            raise self.source.error(what, node, meant)
        if isinstance(node, exp.Filter):
            raise self.source.error("FILTER behind what is no aggregate", node, "as in COUNT(*) FILTER (WHERE …)")
        hint = self.source.usual_form(node) or _HINTS.get(type(node))
        if hint is None and isinstance(node, WITH_OVER):
            hint = f"it needs OVER, as in {self.called(node)}(…) OVER (ORDER BY amount DESC)"
            raise self.source.error(f"{self.called(node)} stands without OVER", node, hint)
        if hint is None and isinstance(node, exp.Func):
            hint = usual_call(self.called(node), self.dialect)
        if hint is None and isinstance(node, exp.AggFunc):
            hint = "add_aggregate adds an aggregate made of COUNT, SUM, MIN and MAX"
        elif hint is None and isinstance(node, exp.Func):
            hint = "add_function adds a function of your own"
        self.source.refuse(self.called(node), node, hint)

    def called(self, node: exp.Expr) -> str:
        """What to call a syntax node in a message: as the text does, where it is a function."""
        if node.args.get("sysdate"):
            return "SYSDATE"
        if issubclass(type(node), exp.Binary) and type(node) not in _LABELS and (sign := self.source.operator(node)):
            return f"the operator {sign.upper()}"
        if isinstance(node, exp.Func) and not isinstance(node, exp.Connector):
            return (self.source.called(node) or node.sql_name()).upper()
        return _LABELS.get(type(node)) or re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(node).__name__).upper()

    def _refuse_unsupported(self, node: exp.Expr) -> None:
        """Refuse subqueries, window functions, and what would differ from one evaluation to the next."""
        if isinstance(node, (exp.Any, exp.All)) and not isinstance(node.this.unnest(), QUERIES):
            what = f"{node.key.upper()} of an array in {self.dialect}"
            self.source.refuse(what, node, "ARRAY_CONTAINS(x, v) looks for an element, in spark")
        if is_subquery(node) or isinstance(node, (exp.Any, exp.All)):
            self.source.refuse("a subquery there", node, "let a subquery in FROM select it")
        if isinstance(node, exp.Window):
            of_rows = node.find_ancestor(exp.Where) is not None
            meant = "a condition on it stands in QUALIFY, at the end" if of_rows else _OF_OVER
            self.source.refuse("OVER there", node, meant)
        named = isinstance(node, (exp.Anonymous, exp.Column)) and node.name.lower() in _UNSTEADY_NAMES
        if type(node) in _UNSTEADY or (named and not self._is_column(node)):
            name = node.name.upper() if named else self.called(node)
            of_now = name == "CURDATE" and usual_call(name, self.dialect)
            self.source.refuse(name, node, _FIRST if name == "ROWNUM" else of_now or _STEADY)

    def _now(self, node: exp.Expr) -> Expression:
        """The query's time; CURRENT_DATE is its day."""
        name = node.name.upper() if node.name else self.called(node)
        if name == "NOW" and isinstance(node, exp.Column) and self.scope.columns:  # those of windows have none
            raise self.source.error(f"unknown column {node.name}", node, "the time that it is has parentheses: NOW()")
        if self._now_at is None or (self.aggregation is not None and self.aggregation.inside):
            place = self.source.of(node)
            place = place if place["position"] is not None else self.source.keyword(name)
            hint = "it stands in WHERE, ON and HAVING: t > now() - INTERVAL '5' DAY"
            raise UnsupportedError(f"{name} outside of a condition is not supported", **place, hint=hint)
        now = self._now_at(node)
        return cast(now, DATE) if name == "CURRENT_DATE" and now.type.kind is Kind.TIMESTAMP else now

    def _time_of_row(self, node: exp.Anonymous) -> Expression:
        """PROCTIME(): rows are processed in stream time, which is the event time of the row."""
        times = [item.time for item in self.scope.items if item.time is not None]
        if len(times) != 1:
            hint = "it is the event time of the row, of the one stream in FROM that has it: add_stream(..., time=...)"
            raise self.source.error("PROCTIME() has no meaning here", node, hint)
        return times[0]

    def _refuse_column(self, name: str, node: exp.Expr) -> None:
        """Refuse the name of a function without parentheses that is a column, too: databases differ in which it is."""
        if any(name.lower() in item.columns for item in self.scope.items):
            raise self.source.error(f"{name} is a function and a column here", node, "in quotes it is the column")

    def _is_column(self, node: exp.Expr) -> bool:
        """Whether a name is a column, or an alias that is allowed here."""
        name = node.name.lower()
        return isinstance(node, exp.Column) and (
            any(name in item.columns for item in self.scope.items) or name in self.scope.aliases
        )

    def _named_function(self, node: exp.Anonymous) -> Expression:
        """A function that the parser leaves as a plain name."""
        name = node.name.lower()
        if is_window_call(node):
            if not self._grouped:
                self.source.refuse(f"{name}(...) outside of GROUP BY", node, f"group by it, and select {name}.start")
            return bind_window(self, node)
        if is_part(node):
            return bind_part_of_call(self, node)
        if name == "proctime" and not node.expressions:
            return self._time_of_row(node)
        self.source.refuse_others(node, {"this", "expressions", *IGNORED_PARTS}, name)
        user = self.schema.function(name)
        if user is not None:
            least, most = user.takes
            count = len(node.expressions)
            if count < least or (most is not None and count > most):
                needed = f"at least {least}" if most is None else f"{least}{f' to {most}' * (least != most)}"
                plural = "s" * ((least if most is None else most) != 1)
                what = f"function {user.name} takes {needed} argument{plural}, and is given {count}"
                raise self.source.error(what, node)
            given = self.parts(node, "expressions")
            for kind, instead in (
                (Kind.ARRAY, f"give it {AS_TEXT}"), (Kind.STRUCT, "give it a field, s.f"),
                *((kind, AS_SECONDS) for kind in COUNTED),
                (Kind.BINARY, "give it HEX(x)"), (Kind.MAP, "give it a value, m['k']"),
                (INSTANT, f"give it the time on a clock, {on_a_clock(self.dialect)}"),
            ):  # fmt: skip
                if any(kind in (argument.type, argument.type.kind) for argument in given):
                    raise self.source.error(f"function {user.name} is given {with_article(str(kind))}", node, instead)
            return Call(user.id, tuple(given), user.returns)
        if interval_parts(self, node) is not None:
            return interval_arithmetic.literal(self, node)
        if name in NAMED:
            return NAMED[name](self, node)
        if is_aggregate(node, self.schema):
            raise self.source.error(f"{node.name} is an aggregate, which cannot stand here", node)
        shown = (help_.name for help_ in all_help() if self.dialect in help_.dialects)
        known = [*self.schema.functions, *self.schema.aggregates, *shown, "exists"]
        close = usual_call(name, self.dialect) or nearest(name, [k for k in known if is_near(name, k.lower())])
        if (called := functions(self.dialect).get(name)) is not None:
            raise self.source.error(f"{node.name} cannot be called so", node, f"write {called.signature}")
        hint = close or of_its_parts(name, known) or "the Tab key lists functions as you type"
        raise self.source.error(f"unknown function {node.name}", node, hint)


def is_now(node: exp.Expr) -> bool:
    """Whether a syntax node asks what time it is; a name may be that of a column."""
    if isinstance(node, exp.Column):
        return not node.table and node.name.lower() in _NOW_NAMES
    return type(node) in _NOW or (isinstance(node, exp.Anonymous) and node.name.lower() in _NOW_NAMES)
