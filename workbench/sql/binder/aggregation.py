"""Grouped blocks: aggregates of SQL text to basic statistics, and expressions rewritten over groups (T4.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

from sqlglot import exp

from workbench.errors import SqlError
from workbench.sql.algebra import aggregates
from workbench.sql.algebra.aggregates import GROUPED
from workbench.sql.algebra.analytic import ANALYTIC
from workbench.sql.algebra.coercion import TypeClash
from workbench.sql.algebra.expressions import AggregateCall, Call, Column, Constant, Expression, column_name, columns
from workbench.sql.algebra.functions import call
from workbench.sql.algebra.types import DOUBLE, INTEGER, STRING, decimal
from workbench.sql.binder.protocols import ExpressionBinder
from workbench.sql.schema import Schema, UserAggregate
from workbench.sql.syntax.source_text import SourceText

Groups = tuple[Expression, ...]

_BY_NODE: dict[type[exp.Expr], str] = {
    exp.Count: "count", exp.Sum: "sum", exp.Min: "min", exp.Max: "max", exp.Avg: "avg", exp.Median: "median",
    exp.Mode: "mode", exp.Stddev: "stddev_samp", exp.StddevSamp: "stddev_samp", exp.StddevPop: "stddev_pop",
    exp.Variance: "var_samp", exp.VariancePop: "var_pop", exp.Quantile: "percentile",
}  # fmt: skip
_BY_NAME = {"average": "avg", "mean": "avg", "std": "stddev_samp", "percentile": "percentile"}


def is_aggregate(node: exp.Expr, schema: Schema) -> bool:
    """Whether a syntax node is a call of an aggregate, built in or the analyst's."""
    if isinstance(node, exp.Anonymous):
        return node.name.lower() in _BY_NAME or schema.aggregate(node.name) is not None
    return type(node) in _BY_NODE or isinstance(node, exp.PercentileCont)


class Aggregation:
    """Collects the statistics of one grouped block while its expressions are bound.

    Attributes:
        statistics: the statistics that the block needs so far.
        inside: whether the argument of an aggregate is being bound, where no other aggregate may stand.
    """

    def __init__(self) -> None:
        self.statistics: set[AggregateCall] = set()
        self.inside = False

    def bind(self, node: exp.Expr, b: ExpressionBinder) -> Expression | None:
        """An aggregate as an expression over statistics, of source ``GROUPED``; ``None`` for any other node."""
        condition = None
        if isinstance(node, exp.Filter):
            node, condition = node.this, node.expression.this
        user = None
        name = _BY_NODE.get(type(node))
        if isinstance(node, exp.Anonymous):
            name, user = _BY_NAME.get(node.name.lower()), b.schema.aggregate(node.name)
        if isinstance(node, exp.WithinGroup) and isinstance(node.this, exp.PercentileCont):
            name = "percentile_cont"
        if isinstance(node, (exp.Grouping, exp.GroupingId)):
            if self.inside:
                raise b.source.error("GROUPING cannot stand inside an aggregate", node)
            return Call("grouping", tuple(b.bind(part) for part in node.expressions), INTEGER)
        if name is None and user is None:
            return None
        if self.inside:
            raise b.source.error("an aggregate cannot stand inside another", node, "aggregate a subquery in FROM")
        self.inside = True
        try:
            arguments, distinct = self._arguments(node, name, condition, b)
            if user is not None:
                return self._user_aggregate(user, arguments, distinct, node, b)
            assert name is not None
            return self._built_in("percentile" if name == "percentile_cont" else name, arguments, distinct, node, b)
        except TypeClash as clash:
            raise b.source.error(clash.message, node, clash.hint) from None
        finally:
            self.inside = False

    def _arguments(
        self, node: exp.Expr, name: str | None, condition: exp.Expr | None, b: ExpressionBinder
    ) -> tuple[list[Expression], bool]:
        """The bound arguments, NULL where FILTER does not hold, and whether they are DISTINCT."""
        if name == "percentile_cont":
            parts, distinct = _percentile_cont(node, b.source), False
        else:
            parts, distinct = _arguments(node, b.source)
        arguments = [b.bind(part) for part in parts]
        if name in ("percentile", "percentile_cont"):
            arguments = _percentile(arguments, parts, node, b.source)
        if condition is not None:
            test = b.condition(condition)
            first = arguments[0] if arguments else Constant(1, INTEGER)
            arguments = [call("case", test, first, Constant(None, STRING)), *arguments[1:]]
        return arguments, distinct

    def _built_in(
        self, name: str, arguments: list[Expression], distinct: bool, node: exp.Expr, b: ExpressionBinder
    ) -> Expression:
        _check(name, len(arguments), distinct, node, b.source)
        result = aggregates.expand(name, tuple(arguments), distinct, self.statistics.add)
        if b.dialect == "oracle" and (b.source.called(node) or "").upper() in ("VARIANCE", "STDDEV"):
            # Oracle's short names give 0 for one value, where the others give NULL.
            count = aggregates.expand("count", tuple(arguments), False, self.statistics.add)
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
        actual = dict(zip((p.lower() for p in user.parameters), arguments, strict=True))
        try:
            self.inside = False
            named = {n.lower(): b.bind_text(sql, actual, aggregates=True) for n, sql in user.statistics.items()}
            return b.bind_text(user.rule, named, aggregates=False)
        except SqlError as error:
            raise b.source.error(f"aggregate {user.name}: {error.message}", node, error.hint) from None


def _arguments(node: exp.Expr, source: SourceText) -> tuple[list[exp.Expr], bool]:
    """The arguments of an aggregate, none for COUNT(*), and whether they are DISTINCT."""
    if isinstance(node, exp.Anonymous):
        source.refuse_others(node, {"this", "expressions"}, node.name.upper())
        parts = list(node.expressions)
    else:
        source.refuse_others(node, {"this", "expressions", "quantile", "big_int"}, type(node).__name__.upper())
        parts = [p for p in (node.this, *node.expressions, node.args.get("quantile")) if p is not None]
    if len(parts) == 1 and isinstance(parts[0], exp.Star):
        source.refuse_others(parts[0], set(), "COUNT(*)")
        return [], False
    if parts and isinstance(parts[0], exp.Distinct):
        source.refuse_others(parts[0], {"expressions"}, "DISTINCT")
        return [*parts[0].expressions, *parts[1:]], True
    return parts, False


def _percentile_cont(node: exp.Expr, source: SourceText) -> list[exp.Expr]:
    """PERCENTILE_CONT(p) WITHIN GROUP (ORDER BY x), where descending counts p from the other end."""
    order = node.expression.expressions
    if len(order) != 1:
        source.refuse("WITHIN GROUP by several expressions", node)
    share = node.this.this
    if order[0].args.get("desc"):
        share = exp.Literal.number(str(1 - Decimal(share.name)))
    return [order[0].this, share]


def _percentile(
    arguments: list[Expression], parts: list[exp.Expr], node: exp.Expr, source: SourceText
) -> list[Expression]:
    share = arguments[1] if len(arguments) == 2 else None
    value = share.value if isinstance(share, Constant) else None
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)) or not 0 <= value <= 1:
        raise source.error("PERCENTILE takes a value and a constant between 0 and 1", (*parts, node)[1])
    shortest = Decimal(str(value)).normalize()
    scale = max(0, -int(shortest.as_tuple().exponent))
    return [arguments[0], Constant(shortest, decimal(scale + 1, scale))]


def _check(name: str, count: int, distinct: bool, node: exp.Expr, source: SourceText) -> None:
    needed = 2 if name == "percentile" else 1
    if count != needed and name != "count":
        raise source.error(f"{name.upper()} takes {needed} argument{'s' * (needed > 1)}, not {count}", node)
    if distinct and name in aggregates.HOLISTIC:
        source.refuse(f"{name.upper()} of DISTINCT values", node, "take DISTINCT in a subquery")


def over_groups(
    expression: Expression, groups: Groups, listed: Groups, missing: Callable[[Column], SqlError]
) -> Expression:
    """An expression of the select list over the columns of the grouped relation.

    Args:
        expression: bound with an ``Aggregation``: statistics have source ``GROUPED``, inputs theirs.
        groups: the expressions of the grouping.
        listed: those of all groupings of the GROUP BY, in order; one that this grouping lacks is NULL.
        missing: makes the error for a column that is neither grouped nor aggregated.

    Raises:
        SqlError: the one made by ``missing``.
    """
    if isinstance(expression, Constant):
        return expression
    if expression in groups:
        return Column(column_name(expression), expression.type)
    if expression in listed:
        return Constant(None, expression.type)
    match expression:
        case Column(source=source):
            if source == GROUPED:
                return replace(expression, source=0)
            if source == ANALYTIC:
                return expression  # its call is over groups
            raise missing(expression)
        case Call(function="grouping", arguments=arguments):
            for argument in arguments:
                if argument not in listed:
                    raise missing(next(iter(columns(argument)), Column("GROUPING", INTEGER)))
            return _grouping_bits(arguments or listed, groups)
        case Call(arguments=arguments):
            return replace(expression, arguments=tuple(over_groups(a, groups, listed, missing) for a in arguments))
    raise AssertionError(expression)


def _grouping_bits(arguments: Groups, groups: Groups) -> Constant:
    """A bit for each argument, the last one the lowest: 1 where the grouping lacks it."""
    return Constant(int("".join("01"[a not in groups] for a in arguments) or "0", 2), INTEGER)
