"""Operators of SQL text: arithmetic with dates and intervals, AND and OR, IS, IN, BETWEEN, LIKE and ||."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal
from functools import reduce
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from workbench.sql.algebra import coercion
from workbench.sql.algebra.arithmetic import BIGINT_MAX
from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.functions import call
from workbench.sql.algebra.types import BOOLEAN, DATE, DOUBLE, INTEGER, STRING, TIMESTAMP, Kind, decimal
from workbench.sql.syntax.caret import SourceText

if TYPE_CHECKING:
    from workbench.sql.binder.scalar import ScalarBinder

_BACKSLASH_ESCAPES = {"spark", "spark2", "hive", "databricks", "postgres", "bigquery"}
_UNITS = {"DAY": ("days", 1), "WEEK": ("days", 7), "HOUR": ("seconds", 3600), "MINUTE": ("seconds", 60),
          "SECOND": ("seconds", 1), "MONTH": ("months", 1), "QUARTER": ("months", 3),
          "YEAR": ("months", 12)}  # fmt: skip


def plus_minus(b: ScalarBinder, node: exp.Add | exp.Sub) -> Expression:
    """Sums and differences of numbers, dates, timestamps and intervals."""
    sign = 1 if isinstance(node, exp.Add) else -1
    if isinstance(node.expression, exp.Interval):
        return shift(b, b.bind(node.this), node.expression, sign)
    if isinstance(node.this, exp.Interval) and sign == 1:
        return shift(b, b.bind(node.expression), node.this, sign)
    left, right = b.bind(node.this), b.bind(node.expression)
    if left.type == TIMESTAMP and right.type == INTEGER:
        return call("add_seconds", left, call("*", right, Constant(sign * 86400, INTEGER)))
    if left.type == TIMESTAMP and right.type.kind in (Kind.DATE, Kind.TIMESTAMP):
        day = "TRUNC(x)" if b.dialect == "oracle" else "CAST(x AS DATE)"
        b.source.refuse("the difference of timestamps", node, f"subtract dates: {day}")
    return call("+" if sign == 1 else "-", left, right)


def shift(b: ScalarBinder, moment: Expression, interval: exp.Interval, sign: int) -> Expression:
    """A date or timestamp moved by a constant interval."""
    b.source.refuse_others(interval, {"this", "unit"}, "INTERVAL")
    unit = interval.args["unit"].name.upper().removesuffix("S") if interval.args.get("unit") else ""
    amount = interval.this
    negative = isinstance(amount, exp.Neg)
    text = amount.this.name if negative else amount.name if amount is not None else ""
    if unit not in _UNITS or not re.fullmatch(r"[+-]?[0-9]{1,10}", text.strip()):
        b.source.refuse("this interval", interval, "write INTERVAL '3' DAY, with a whole number of one unit")
    kind, factor = _UNITS[unit]
    count = Constant(int(text) * factor * sign * (-1 if negative else 1), INTEGER)
    moment = coercion.moment(moment)
    if moment.type == DATE and kind == "days":
        return call("+", moment, count)
    if kind == "months":
        return call("add_months" if moment.type == DATE else "add_months_to_timestamp", moment, count)
    seconds = Constant(int(str(count.value)) * (86400 if kind == "days" else 1), INTEGER)
    return call("add_seconds", coercion.coerce(moment, TIMESTAMP), seconds)


def divide(b: ScalarBinder, node: exp.Div) -> Expression:
    """Division, which is of integers a DOUBLE except in dialects where it is an integer."""
    left, right = b.bind(node.this), b.bind(node.expression)
    # In some dialects (not Oracle, not Spark) the division of integers is an integer.
    whole = node.args.get("typed") and left.type == INTEGER and right.type == INTEGER
    return call("div" if whole else "/", left, right)


def negated(b: ScalarBinder, node: exp.Neg) -> Expression:
    """A minus sign, part of the number before a constant."""
    if isinstance(node.this, exp.Literal) and not node.this.is_string:
        return number_literal("-" + node.this.this, b.source, node)
    return call("neg", b.bind(node.this))


def connected(b: ScalarBinder, name: str, node: exp.Expr) -> Expression:
    """AND and OR of any number of parts, without recursion down a long chain."""
    parts, rest, kind = [], [node], type(node)
    while rest:
        part = rest.pop()
        if isinstance(part, exp.Paren):
            rest.append(part.this)
        elif isinstance(part, kind):
            rest += [part.expression, part.this]
        else:
            parts.append(b.condition(part))
    return call(name, *parts)


def is_test(b: ScalarBinder, node: exp.Is) -> Expression:
    """IS [NOT] NULL, IS TRUE, IS FALSE; in other tests, and in other dialects, NOT is a node around this one."""
    value = b.bind(node.this)
    if isinstance(node.expression, exp.Null):
        missing = call("is_null", value)
        return call("not", missing) if node.args.get("negate") else missing
    if isinstance(node.expression, exp.Boolean):
        return call("<=>", b.condition(node.this), Constant(bool(node.expression.this), BOOLEAN))
    b.source.refuse("this IS test", node)


def in_list(b: ScalarBinder, node: exp.In) -> Expression:
    """IN with a list."""
    if not node.expressions and not any(node.args.get(key) for key in ("query", "unnest", "field")):
        raise b.source.error("IN needs a list", node, "write values in the parentheses")
    if not node.expressions:
        b.source.refuse("IN with a subquery", node, "write it as a join, with DISTINCT in a subquery")
    return call("in", b.bind(node.this), *(b.bind(e) for e in node.expressions))


def between(b: ScalarBinder, node: exp.Between) -> Expression:
    """BETWEEN as two comparisons."""
    value = b.bind(node.this)
    low, high = b.bind(node.args["low"]), b.bind(node.args["high"])
    return call("and", call(">=", value, low), call("<=", value, high))


def like(b: ScalarBinder, node: exp.Like | exp.ILike | exp.RegexpLike, escape: str | None = None) -> Expression:
    """LIKE, ILIKE and RLIKE with a constant pattern."""
    pattern = b.bind(node.expression)
    if not (isinstance(pattern, Constant) and isinstance(pattern.value, str)):
        b.source.refuse("a pattern that is not a constant string", node.expression)
    name = {"Like": "like", "ILike": "ilike"}.get(type(node).__name__, "rlike")
    canonical = pattern.value
    if name == "rlike":
        try:
            re.compile(canonical)
        except re.error as error:
            raise b.source.error(f"not a regular expression: {error}", node.expression) from None
    else:
        if escape is None and b.dialect in _BACKSLASH_ESCAPES:
            escape = "\\"
        canonical = _like_pattern(b, canonical, escape, node.expression)
    test = call(name, b.bind(node.this), Constant(canonical, STRING))
    return call("not", test) if node.args.get("negate") else test


def _like_pattern(b: ScalarBinder, pattern: str, escape: str | None, node: exp.Expr) -> str:
    """A LIKE pattern with backslash as its escape character."""
    result, rest = [], iter(pattern)
    for char in rest:
        if char == escape:
            escaped = next(rest, None)
            if escaped is None or escaped not in ("%", "_", escape):
                raise b.source.error(f"the escape character {escape} must stand before %, _ or itself", node)
            result.append("\\" + escaped if escaped in "%_\\" else escaped)
        else:
            result.append("\\\\" if char == "\\" else char)
    return "".join(result)


def escaped_like(b: ScalarBinder, node: exp.Escape) -> Expression:
    """LIKE ... ESCAPE."""
    inner, escape = node.this, node.expression
    if not isinstance(inner, (exp.Like, exp.ILike)) or not isinstance(escape, exp.Literal) or len(escape.this) != 1:
        b.source.refuse("this ESCAPE", node)
    return like(b, inner, escape.this)


def concatenated(b: ScalarBinder, node: exp.Expr) -> Expression:
    """|| and CONCAT of any number of parts, without recursion down a long chain."""
    nodes, rest = [], [node]
    while rest:
        part = rest.pop()
        if isinstance(part, exp.DPipe | exp.Concat):
            rest += reversed(part.expressions or [part.this, part.expression])
        else:
            nodes.append(part)
    parts = [b.written(b.bind(e), e) for e in nodes]
    if b.dialect != "oracle":
        return reduce(lambda left, right: call("||", left, right), parts)
    # Oracle takes NULL for the empty string here, unless all parts are NULL.
    empty = Constant("", STRING)
    joined = reduce(lambda left, right: call("||", left, right), (call("coalesce", part, empty) for part in parts))
    if len(parts) == 1:
        return parts[0]
    return call("case", call("and", *(call("is_null", part) for part in parts)), Constant(None, STRING), joined)


def number_literal(text: str, source: SourceText, node: exp.Expr) -> Constant:
    """INTEGER for whole numbers, DECIMAL with a point, DOUBLE with an exponent, as in Spark."""
    if "e" in text.lower():
        if math.isinf(float(text)):
            raise source.error("the number is beyond those of DOUBLE", node)
        return Constant(float(text), DOUBLE)
    value = Decimal(text)
    if "." not in text and -BIGINT_MAX - 1 <= value <= BIGINT_MAX:
        return Constant(int(value), INTEGER)
    _, digits, exponent = value.as_tuple()
    scale = max(0, -int(exponent))
    if len(digits) > 38 or scale > 38:
        raise source.error("a number has at most 38 digits", node)
    return Constant(value, decimal(max(len(digits), scale), scale))


HANDLERS: dict[str, tuple[str, Callable[[ScalarBinder, Any], Expression]]] = {
    "Add": ("this expression", plus_minus),
    "Sub": ("this expression", plus_minus),
    "Div": ("this expression", divide),
    "Neg": ("this", negated),
    "And": ("this expression", lambda b, n: connected(b, "and", n)),
    "Or": ("this expression", lambda b, n: connected(b, "or", n)),
    "Not": ("this", lambda b, n: call("not", b.condition(n.this))),
    "Is": ("this expression negate", is_test),
    "NullSafeNEQ": ("this expression", lambda b, n: call("not", call("<=>", b.bind(n.this), b.bind(n.expression)))),
    "In": ("this expressions query unnest field is_global", in_list),
    "Between": ("this low high", between),
    "Like": ("this expression negate", like),
    "ILike": ("this expression negate", like),
    "RegexpLike": ("this expression", like),
    "Escape": ("this expression", escaped_like),
    "DPipe": ("this expression", concatenated),
    "Concat": ("expressions", concatenated),
}
