"""Grouped blocks: aggregates of SQL text to basic statistics, and expressions rewritten over groups (T4.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal

from sqlglot import exp

from workbench.errors import SqlError, with_article
from workbench.sql.algebra.coercion import AS_SECONDS, TypeClash, is_null, no_order, refuse_maps
from workbench.sql.algebra.counted import counted_number, counted_values
from workbench.sql.algebra.expressions import (
    AggregateCall,
    Call,
    Column,
    Constant,
    Expression,
    Origin,
    column_name,
    columns,
    reading_order,
)
from workbench.sql.algebra.ordering import SortKey
from workbench.sql.algebra.types import (
    BINARY,
    BOOLEAN,
    DOUBLE,
    INTEGER,
    STRING,
    Kind,
    array_of,
    decimal,
)
from workbench.sql.binder.aggregates import aggregates_of_duckdb
from workbench.sql.binder.aggregates.arguments import argument_of
from workbench.sql.binder.aggregates.ordered import (
    FIRST_PLACE,
    IN_ORDER,
    PLACED,
    counted_and_value,
    counted_and_value_in_order,
    in_order,
)
from workbench.sql.binder.protocols import AggregateBinder, AggregateOfOuter
from workbench.sql.binder.scope import Scope
from workbench.sql.dialect import Quotient
from workbench.sql.function_help import signature_hint
from workbench.sql.functions import aggregates
from workbench.sql.functions.aggregate_calls import AggregateSyntax, aggregate_name, read_aggregate
from workbench.sql.functions.aggregate_rules import DESCENDING
from workbench.sql.functions.aggregates import AGGREGATES
from workbench.sql.functions.calls import call, cast
from workbench.sql.functions.operators import numeric_quotient, refuse_quotients
from workbench.sql.functions.order_of_parts import placed
from workbench.sql.functions.reading import ExpressionBinder
from workbench.sql.functions.times import interval_arithmetic
from workbench.sql.query_limits import refuse_kept
from workbench.sql.schema import Schema, UserAggregate
from workbench.sql.syntax.source_text import SourceText

Groups = tuple[Expression, ...]


def is_aggregate(node: exp.Expr, schema: Schema) -> bool:
    """Whether a syntax node is a call of an aggregate, built in or the analyst's."""
    if isinstance(node, exp.Anonymous) and schema.aggregate(node.name) is not None:
        return True
    return aggregate_name(node) is not None


class Aggregation:
    """Collects the statistics of one grouped block while its expressions are bound.

    Attributes:
        statistics: the statistics that the block needs so far, in the order of the text.
        inside: whether the argument of an aggregate is being bound, where no other aggregate may stand.
        order: of the rows, which LISTAGG and ARRAY_AGG have without ORDER BY.
        mixed: whether they are joined with others, and so have lost it.
        arrival: the number of a row in the order of arrival, where all rows have one.
    """

    def __init__(self) -> None:
        self.statistics: dict[AggregateCall, None] = {}
        self.inside = False
        self.order: tuple[SortKey, ...] = ()
        self.mixed = False
        self.arrival: Expression | None = None

    @property
    def _rows_order(self) -> tuple[SortKey, ...]:
        return () if self.mixed else self.order

    def keep(self, statistic: AggregateCall) -> None:
        """Take a statistic that the block needs."""
        self.statistics[statistic] = None

    def bind(self, node: exp.Expr, b: AggregateBinder) -> Expression | None:
        """An aggregate as an expression over statistics, of source ``Origin.GROUPED``; ``None`` for any other node."""
        whole, condition = node, None
        if isinstance(node, exp.Filter):
            node, condition = node.this, node.expression.this
        user = b.schema.aggregate(node.name) if isinstance(node, exp.Anonymous) else None
        name = user.name if user is not None else aggregate_name(node)
        if isinstance(node, (exp.Grouping, exp.GroupingId)):
            if self.inside:
                raise b.source.error("GROUPING cannot stand inside an aggregate", node)
            return Call("grouping", tuple(b.bind(part) for part in node.expressions), INTEGER)
        if name is None:
            return None
        if self.inside:
            raise b.source.error("an aggregate cannot stand inside another", node, "aggregate a subquery in FROM")
        self.inside = True
        try:
            call_ = read_aggregate(name, node, b.source)
            arguments = self._arguments(call_, condition, user is None, b)
            read = [column for argument in arguments for column in columns(argument)]
            if (read and all(column.level for column in read)) or _is_of_a_subquery(node, b):
                _refuse_of_outer(whole, node, b)
            if name in ("array_agg", "listagg") or call_.distinct:
                refuse_kept(arguments, b.source, node)
            if user is None and name in ("min", "max") and len(arguments) > len(call_.parts):
                call_ = replace(call_, name=f"{name}_by", parts=call_.parts * 2, distinct=False)
            if user is not None:
                return self._user_aggregate(user, arguments, call_.distinct, node, b)
            return self._built_in(call_, arguments, node, b)
        except TypeClash as clash:
            hint = clash.hint or signature_hint(clash.message, b.source.called(node), b.dialect)
            raise b.source.error(clash.message, node, hint) from None
        finally:
            self.inside = False

    def _arguments(
        self, syntax: AggregateSyntax, condition: exp.Expr | None, built_in: bool, b: ExpressionBinder
    ) -> list[Expression]:
        """The bound arguments, NULL where FILTER does not hold."""
        arguments = [argument_of(part, syntax, b) for part in syntax.parts]
        first = AGGREGATES[syntax.name].unordered if built_in else 0
        if built_in and syntax.name in _EXTREMES and len(arguments) == AGGREGATES[syntax.name].takes[0]:
            by = placed(arguments[-1], b.source)  # the smallest array is that by what is in its order
            if by != arguments[-1]:
                arguments, first = [arguments[0], by], 1
        compared = arguments[:1] if built_in and syntax.name in _SHARES else arguments
        if whole := next((value for value in compared[first:] if not value.type.ordered), None):
            clash = no_order(whole)
            what = f"{syntax.name.upper()} of {whole.type.kind}s, which have no order"
            raise TypeClash(what, whole, clash.hint)
        if syntax.distinct or syntax.name in ("mode", "approx_count_distinct"):
            refuse_maps(*arguments)
        if built_in and syntax.name == "array_agg" and len(arguments) == 1:
            arguments = counted_and_value(arguments[0], b)
        if built_in and syntax.name in PLACED and len(arguments) == 1:
            arguments = counted_and_value_in_order(syntax, arguments[0], self._rows_order, self.arrival, b)
        if built_in and syntax.name in _SHARES:
            arguments = _with_shares(arguments, syntax, b.source)
        if condition is not None:
            # Rows in which this argument is NULL do not count; the value of MIN_BY may be NULL, its key may not.
            by_arrival = syntax.name in PLACED and not (syntax.order or self._rows_order)
            by_key = syntax.name in _EXTREMES or by_arrival
            at = 1 if built_in and by_key and len(arguments) > 1 else 0
            arguments = arguments or [Constant(1, INTEGER)]
            arguments[at] = call("case", b.condition(condition), arguments[at], Constant(None, STRING))
        return arguments

    def _built_in(
        self, syntax: AggregateSyntax, arguments: list[Expression], node: exp.Expr, b: ExpressionBinder
    ) -> Expression:
        name = syntax.name
        if name in _SHARES and len(arguments) > 1 and isinstance(shares := arguments[1], Call):
            each = [self._built_in(syntax, [arguments[0], share], node, b) for share in shares.arguments]
            return call("case", call("is_null", each[0]), Constant(None, array_of(each[0].type)), call("array", *each))
        if name in PLACED and (syntax.order or self._rows_order):
            _check(name, len(syntax.parts), syntax.distinct, node, b.source)
            name, arguments = in_order(syntax, arguments, node, b, self._rows_order)
            values = aggregates.expand(name, tuple(arguments), False, self.keep)
            return call("element_at", values, FIRST_PLACE)
        if name not in (*IN_ORDER, *PLACED) and name != "percentile_disc" and syntax.order:
            if not b.rules.orders_any_aggregate or any(argument.type == DOUBLE for argument in arguments):
                b.source.refuse(f"ORDER BY inside {name.upper()}", node, "its answer depends on no order; leave it out")
            if name in _OF_ONE_ROW:
                b.source.refuse(f"ORDER BY inside {name.upper()}", node, "FIRST(x ORDER BY t) is the first value")
            for key_node in syntax.order:
                b.bind(key_node.this)
        given = len(syntax.parts) if name in (*IN_ORDER, *PLACED) else len(arguments)
        _check(name, given, syntax.distinct, node, b.source)
        if name in IN_ORDER:
            rows = () if syntax.distinct else self._rows_order
            if self.mixed and not syntax.order and not syntax.distinct:
                lost = f"the ORDER BY of a subquery that is joined is not that of {name.upper()}"
                b.source.warn(lost, node, f"write ORDER BY inside {name.upper()}")
            name, arguments = in_order(syntax, arguments, node, b, rows)
        elif name == "percentile_disc" and syntax.order and syntax.order[0].args.get("desc"):
            name += DESCENDING
        if name == "sum" and b.rules.truth_is_number and arguments[0].type == BOOLEAN and not is_null(arguments[0]):
            arguments = [cast(arguments[0], INTEGER)]
        if name in _OF_MIDDLES and b.rules.quantiles_keep_type and arguments[0].type.kind in _INTERPOLATED:
            return aggregates_of_duckdb.quantile(name, tuple(arguments), node, self.keep, b.source)
        if name in ("min_by", "max_by") and b.rules.extremes_skip_nulls:
            value, key = arguments
            arguments = [value, call("case", call("is_null", value), Constant(None, STRING), key)]
        if name == "count_if" and b.rules.count_if_is_sum:
            return aggregates_of_duckdb.count_if(arguments[0], self.keep)
        if name == "avg" and b.rules.average is Quotient.DOUBLE and arguments[0].type.kind in _AVERAGED:
            return aggregates_of_duckdb.average_of_duckdb(arguments[0], syntax.distinct, self.keep)
        result = interval_arithmetic.aggregate(
            b, name, arguments, node, lambda given: aggregates.expand(name, given, syntax.distinct, self.keep)
        )
        if syntax.name == "array_agg":
            return _of_no_rows(result, b)
        if syntax.name == "listagg" and b.bind(syntax.parts[0]).type == BINARY:
            return call("unhex", result)
        of_exact = name == "avg" and arguments[0].type.kind in (Kind.INTEGER, Kind.DECIMAL)
        if of_exact and b.rules.average is Quotient.NUMERIC:
            assert isinstance(result, Call)
            refuse_quotients(arguments[0])
            return numeric_quotient(*result.arguments)
        if b.rules.variance_of_one_is_zero and (b.source.called(node) or "").upper() in ("VARIANCE", "STDDEV"):
            # Oracle's short names give 0 for one value, where the others give NULL.
            count = aggregates.expand("count", tuple(arguments), False, self.keep)
            return call("case", call("=", count, Constant(1, INTEGER)), Constant(0.0, DOUBLE), result)
        return result

    def _user_aggregate(
        self, user: UserAggregate, arguments: list[Expression], distinct: bool, node: exp.Expr, b: ExpressionBinder
    ) -> Expression:
        """The analyst's aggregate: its statistics over the arguments, its rule over the statistics."""
        if distinct:
            b.source.refuse(f"{user.name} of DISTINCT values", node)
        if len(arguments) != len(user.parameters):
            counts = f"{len(user.parameters)} arguments, not {len(arguments)}"
            raise b.source.error(f"{user.name} takes {counts}", node)
        if counted := next((argument for argument in arguments if argument.type.counted), None):
            raise b.source.error(f"{user.name} of {with_article(str(counted.type))}", node, AS_SECONDS)
        actual = dict(zip((p.lower() for p in user.parameters), arguments, strict=True))
        try:
            self.inside = False
            named = {n.lower(): b.bind_text(sql, actual, aggregates=True) for n, sql in user.statistics.items()}
            return b.bind_text(user.rule, named, aggregates=False)
        except SqlError as error:
            raise b.source.error(f"aggregate {user.name}: {error.message}", node, error.hint) from None


def level_of(node: exp.Expr, scope: Scope) -> int:
    """How many queries around it the one is whose rows an aggregate is of, where it reads no column of its own query.

    What a subquery in it reads of its own tables does not count.
    """
    inner = {table.alias_or_name.lower() for table in node.find_all(exp.Table, exp.Subquery)}
    named = [column for column in node.find_all(exp.Column) if not (inner and column.table.lower() in {"", *inner})]
    return min(map(scope.level, named), default=0)


def _refuse_of_outer(whole: exp.Expr, node: exp.Expr, b: AggregateBinder) -> None:
    """Raise AggregateOfOuter for an aggregate of the rows of an outer query; refuse one of which that is not known."""
    if level := level_of(whole, b.scope):
        raise AggregateOfOuter(node, level)
    named = list(whole.find_all(exp.Column))
    if not any(map(b.scope.has_here, named)) and any(not column.table for column in named):
        hint = "aggregate there, or let a subquery in FROM select what is aggregated"
        b.source.refuse("an aggregate of nothing but columns of the outer query", node, hint)


def _is_of_a_subquery(node: exp.Expr, b: ExpressionBinder) -> bool:
    """Whether an aggregate of a SELECT without FROM has a subquery in it, by which it may be of the outer query."""
    select = node.find_ancestor(exp.Select)
    without_from = select is not None and select.args.get("from_") is None
    return b.rules.level_of_subqueries and without_from and node.find(exp.Query) is not None


def _of_no_rows(array: Expression, b: ExpressionBinder) -> Expression:
    """ARRAY_AGG of no rows: in spark an array without elements, elsewhere NULL."""
    return call("nullif" if b.rules.arrays_keep_nulls else "coalesce", array, Call("array", (), array.type))


def _with_shares(arguments: list[Expression], syntax: AggregateSyntax, source: SourceText) -> list[Expression]:
    """The arguments of a percentile, the second a share, or an array of shares."""
    given = arguments[1] if len(arguments) > 1 else None
    if isinstance(given, Call) and given.function == "array" and given.arguments:
        shares = tuple(_share(share, syntax, source) for share in given.arguments)
        return [arguments[0], call("array", *shares), *arguments[2:]]
    share = _share(given, syntax, source)
    return [arguments[0], share, *arguments[2:]]


def _share(share: Expression | None, syntax: AggregateSyntax, source: SourceText) -> Constant:
    """A constant between 0 and 1 in its shortest form."""
    if len(syntax.parts) < 2:
        raise TypeClash("a share is missing, a constant between 0 and 1", hint=_WITH_SHARE)
    value = share.value if isinstance(share, Constant) else None
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)) or not 0 <= value <= 1:
        what = f"{syntax.name.upper()} takes a value and a constant between 0 and 1"
        first, second = (part.sql(source.dialect) for part in syntax.parts[:2])
        turned = f"write PERCENTILE_CONT({first}) WITHIN GROUP (ORDER BY {second})"
        is_turned = isinstance(syntax.parts[0], exp.Literal) and isinstance(syntax.parts[1], exp.Column)
        raise source.error(what, syntax.parts[1], turned if is_turned else "0.9 is 90 percent")
    shortest = Decimal(str(value)).normalize()
    scale = max(0, -int(shortest.as_tuple().exponent))
    return Constant(shortest, decimal(scale + 1, scale))


_EXTREMES = ("min", "max", "min_by", "max_by")
_OF_A_ROW = {
    "max": "the largest of a row is GREATEST(a, b); MAX_BY(x, t) is the x where t is the greatest",
    "min": "the smallest of a row is LEAST(a, b); MIN_BY(x, t) is the x where t is the least",
}
_OF_ONE_ROW = ("any_value", "min_by", "max_by", "mode")
"""Aggregates that are a value of one row, of several that might be it the first in an order."""
_OF_MIDDLES = ("mad", "median", "percentile")
_INTERPOLATED = aggregates_of_duckdb.INTERPOLATED
_AVERAGED = (Kind.INTEGER, Kind.DECIMAL, *aggregates_of_duckdb.TIMES)
_SHARES = ("percentile", "percentile_disc", "approx_percentile")
_WITH_SHARE = "as in PERCENTILE(amount, 0.9), or PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY amount): 90 percent"


def _check(name: str, count: int, distinct: bool, node: exp.Expr, source: SourceText) -> None:
    least, most = AGGREGATES[name].takes
    if not least <= count <= most:
        hint = "COUNT(*) counts rows" if isinstance(node.this, exp.Star) else _OF_A_ROW.get(name if count else "")
        message = f"{(source.called(node) or name).upper()} takes {least} argument{'s' * (least > 1)}, not {count}"
        raise source.error(message, node, hint or signature_hint(message, None, source.dialect))
    if distinct and not AGGREGATES[name].distinct:
        source.refuse(f"{name.upper()} of DISTINCT values", node, "take DISTINCT in a subquery")


def over_grouping(
    expression: Expression,
    groups: Mapping[Expression, Expression],
    listed: Groups,
    missing: Callable[[Column], SqlError],
) -> Expression:
    """An expression of the select list over the columns of the grouped relation.

    Args:
        expression: bound with an ``Aggregation``: statistics have source ``Origin.GROUPED``, inputs theirs.
        groups: the expressions of the grouping, as they are bound and as they are computed.
        listed: those of all groupings of the GROUP BY, in order; one that this grouping lacks is NULL.
        missing: makes the error for a column that is neither grouped nor aggregated.

    Raises:
        SqlError: the one made by ``missing``.
    """
    group = groups.get(expression)
    if group is None and expression in listed:
        return Constant(None, expression.type)
    group = group or _group_in_other_order(expression, groups)
    if group is not None:
        return group if isinstance(group, Constant) else Column(column_name(group), group.type)
    if isinstance(expression, Constant):
        return expression
    if expression.type.kind is Kind.INTEGER:
        # The number of an interval or a time of the day that is grouped by.
        for value in counted_values(expression):
            if value in groups or value in listed:
                return counted_number(over_grouping(value, groups, listed, missing))
    match expression:
        case Column(source=Origin.GROUPED, name=name):
            of_name = next((g for g in listed if column_name(g) == name), None)
            if of_name is not None:
                return over_grouping(of_name, groups, listed, missing)
            return replace(expression, source=0)  # a statistic
        case Column(source=source, level=level):
            # The call of an analytic function is over groups; others are of a subquery, or of the outer query.
            if source == Origin.ANALYTIC or level or expression.group_input is not None:
                return expression
            raise missing(expression)
        case Call(function="grouping", arguments=arguments):
            named = {column_name(g): g for g in listed}
            arguments = tuple(
                named[a.name] if isinstance(a, Column) and a.source == Origin.GROUPED and a.name in named else a
                for a in arguments
            )
            for argument in arguments:
                if argument not in listed:
                    raise missing(next(iter(columns(argument)), Column("GROUPING", INTEGER)))
            return _grouping_bits(arguments or listed, groups)
        case Call(arguments=arguments):
            return replace(expression, arguments=tuple(over_grouping(a, groups, listed, missing) for a in arguments))
    raise AssertionError(expression)


def computed_groups(listed: Groups) -> dict[Expression, Column]:
    """The columns of groups that are computed exactly, by ``in_one_order`` of what they are.

    A comparison would widen the operands of what it compares, ``a + 1 > 2``, so that it is the group no more.
    """
    return {
        in_one_order(group): Column(column_name(group), group.type, Origin.GROUPED)
        for group in listed
        if isinstance(group, Call) and group.type.numeric and group.type.exact
    }


_COMMUTE = ("+", "*", "and", "or", "=", "<>", "<=>")


def in_one_order(expression: Expression) -> Expression:
    """Sort the operands of an expression where their order makes no difference: ``b + a`` becomes ``a + b``.

    Example:
        >>> a, b = Column("a", INTEGER), Column("b", INTEGER)
        >>> in_one_order(Call("+", (b, a), INTEGER)) == Call("+", (a, b), INTEGER)
        True
    """
    if not isinstance(expression, Call):
        return expression
    arguments = [in_one_order(argument) for argument in expression.arguments]
    if expression.function in _COMMUTE:
        arguments.sort(key=reading_order)
    return replace(expression, arguments=tuple(arguments))


def _group_in_other_order(expression: Expression, groups: Mapping[Expression, Expression]) -> Expression | None:
    """The group that an expression is but for the order of its operands."""
    if not isinstance(expression, Call):
        return None
    alike = [g for g in groups if isinstance(g, Call) and g.function == expression.function]
    return next((groups[g] for g in alike if in_one_order(g) == in_one_order(expression)), None)


def _grouping_bits(arguments: Groups, groups: Mapping[Expression, Expression]) -> Constant:
    """A bit for each argument, the last one the lowest: 1 where the grouping lacks it."""
    return Constant(int("".join("01"[a not in groups] for a in arguments) or "0", 2), INTEGER)
