"""Grouped blocks: aggregates of SQL text to basic statistics, and expressions rewritten over groups (T4.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from workbench.errors import SqlError
from workbench.sql.algebra import aggregates
from workbench.sql.algebra.aggregates import GROUPED
from workbench.sql.algebra.coercion import TypeClash
from workbench.sql.algebra.expressions import (
    AggregateCall,
    Call,
    Column,
    Constant,
    Expression,
    column_name,
    map_columns,
)
from workbench.sql.algebra.functions import call
from workbench.sql.algebra.types import DOUBLE, INTEGER, STRING, decimal
from workbench.sql.binder.scope import Item, Scope
from workbench.sql.schema import Schema, UserAggregate
from workbench.sql.syntax.caret import SourceText
from workbench.sql.syntax.extent import refuse_height, refuse_nesting

if TYPE_CHECKING:
    from workbench.sql.binder.scalar import ScalarBinder

_NODES = {"Count": "count", "Sum": "sum", "Min": "min", "Max": "max", "Avg": "avg", "Median": "median", "Mode": "mode",
          "Stddev": "stddev_samp", "StddevSamp": "stddev_samp", "StddevPop": "stddev_pop", "Variance": "var_samp",
          "VarianceSamp": "var_samp", "VariancePop": "var_pop", "Quantile": "percentile"}  # fmt: skip
_NAMES = {"average": "avg", "mean": "avg", "std": "stddev_samp", "percentile": "percentile"}


def is_aggregate(node: exp.Expr, schema: Schema) -> bool:
    """Whether a syntax node is a call of an aggregate, built in or the analyst's."""
    if isinstance(node, exp.Anonymous):
        return node.name.lower() in _NAMES or schema.aggregate(node.name) is not None
    return type(node).__name__ in _NODES or isinstance(node, exp.PercentileCont)


class Aggregation:
    """Collects the statistics of one grouped block while its expressions are bound."""

    def __init__(self) -> None:
        self.statistics: set[AggregateCall] = set()
        self.inside = False

    def keep(self, statistic: AggregateCall) -> None:
        """Remember a statistic that the block needs."""
        self.statistics.add(statistic)

    def bind(self, node: exp.Expr, binder: ScalarBinder) -> Expression | None:
        """An aggregate as an expression over statistics, of source ``GROUPED``; ``None`` for any other node."""
        condition = None
        if isinstance(node, exp.Filter):
            node, condition = node.this, node.expression.this
        kind = type(node).__name__
        user = binder.schema.aggregate(node.name) if isinstance(node, exp.Anonymous) else None
        name = _NODES.get(kind) or (_NAMES.get(node.name.lower()) if isinstance(node, exp.Anonymous) else None)
        if isinstance(node, exp.WithinGroup) and isinstance(node.this, exp.PercentileCont):
            name = "percentile_cont"
        if name is None and user is None:
            return None
        if self.inside:
            raise binder.source.error("an aggregate cannot stand inside another", node, "aggregate a subquery in FROM")
        self.inside = True
        try:
            return self._aggregate(node, name, user, condition, binder)
        except TypeClash as clash:
            raise binder.source.error(clash.message, node, clash.hint) from None
        finally:
            self.inside = False

    def _aggregate(
        self, node: exp.Expr, name: str | None, user: UserAggregate | None, condition: exp.Expr | None,
        binder: ScalarBinder,
    ) -> Expression:  # fmt: skip
        if name == "percentile_cont":
            parts, distinct = _percentile_cont(node, binder.source), False
            name = "percentile"
        else:
            parts, distinct = _arguments(node, binder.source)
        arguments = [binder.bind(part) for part in parts]
        if name == "percentile":
            arguments = _percentile(arguments, parts, node, binder.source)
        if condition is not None:
            test = binder.condition(condition)
            arguments = [_only_where(test, a) for a in (arguments[:1] or [Constant(1, INTEGER)])] + arguments[1:]
        if user is not None:
            return self._user(user, arguments, distinct, node, binder)
        assert name is not None
        _check(name, len(arguments), distinct, node, binder.source)
        made = aggregates.expand(name, tuple(arguments), distinct, self.keep)
        if binder.dialect == "oracle" and (binder.source.called(node) or "").upper() in ("VARIANCE", "STDDEV"):
            # Oracle's short names give 0 for one value, where the others give NULL.
            count = aggregates.expand("count", tuple(arguments), False, self.keep)
            return call("case", call("=", count, Constant(1, INTEGER)), Constant(0.0, DOUBLE), made)
        return made

    def _user(
        self, user: UserAggregate, arguments: list[Expression], distinct: bool, node: exp.Expr, binder: ScalarBinder
    ) -> Expression:
        """A user-defined aggregate: its statistics over the arguments, its rule over the statistics."""
        if distinct:
            binder.source.refuse(f"{user.name} of DISTINCT values", node)
        if len(arguments) != len(user.parameters):
            counts = f"{len(user.parameters)} arguments, not {len(arguments)}"
            raise binder.source.error(f"{user.name} takes {counts}", node)
        actual = dict(zip((p.lower() for p in user.parameters), arguments, strict=True))
        try:
            self.inside = False
            named = {n.lower(): _bind_text(sql, actual, binder, self) for n, sql in user.statistics.items()}
            return _bind_text(user.rule, named, binder, None)
        except SqlError as error:
            raise binder.source.error(f"aggregate {user.name}: {error.message}", node, error.hint) from None


def _bind_text(
    sql: str, names: dict[str, Expression], binder: ScalarBinder, aggregation: Aggregation | None
) -> Expression:
    source = SourceText(sql)
    scope = Scope(source, [Item("", names)])
    try:
        refuse_nesting(sql, "spark")
        node = sqlglot.parse_one(sql, dialect="spark")
    except SqlglotError:
        raise SqlError(f"cannot read {sql}") from None
    refuse_height(node, source)
    return type(binder)(scope, binder.schema, "spark", aggregation).bind(node)


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


def _only_where(test: Expression, argument: Expression) -> Expression:
    """FILTER: the argument where the condition is true, else NULL, which every aggregate skips."""
    return call("case", test, argument, Constant(None, STRING))


def _check(name: str, count: int, distinct: bool, node: exp.Expr, source: SourceText) -> None:
    wanted = 2 if name == "percentile" else 1
    if name == "count" and count > 1:
        source.refuse("COUNT of several expressions", node, "count the rows of a subquery with DISTINCT or IS NOT NULL")
    if count != wanted and not (name == "count" and count == 0):
        raise source.error(f"{name.upper()} takes {wanted} argument{'s' * (wanted > 1)}, not {count}", node)
    if distinct and name in aggregates.HOLISTIC:
        source.refuse(f"{name.upper()} of DISTINCT values", node, "take DISTINCT in a subquery")


def over_groups(
    expression: Expression, groups: tuple[Expression, ...], missing: Callable[[Column], SqlError]
) -> Expression:
    """An expression of the select list over the columns of the grouped relation.

    Args:
        expression: bound with an ``Aggregation``: statistics have source ``GROUPED``, inputs theirs.
        groups: the GROUP BY expressions.
        missing: makes the error for a column that is neither grouped nor aggregated.

    Raises:
        SqlError: the one made by ``missing``.
    """
    if isinstance(expression, Constant):
        return expression
    if expression in groups:
        return Column(column_name(expression), expression.type)
    match expression:
        case Column(source=source):
            if source == GROUPED:
                return replace(expression, source=0)
            raise missing(expression)
        case Call(arguments=arguments):
            return replace(expression, arguments=tuple(over_groups(a, groups, missing) for a in arguments))
    raise AssertionError(expression)


def shift(expression: Expression, offset: int) -> Expression:
    """The expression with its inputs counted from ``offset``."""
    return map_columns(expression, lambda c: replace(c, source=c.source + offset)) if offset else expression
