"""Parts of texts of PostgreSQL, whose places and numbers may be any, and texts and NULLs of several values.

SUBSTR(s, n[, m])   LEFT(s, n)   RIGHT(s, n)   CONCAT_WS(',', s, n)   NUM_NULLS(a, b)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from sqlglot import exp

from workbench.sql.algebra.coercion import TypeClash
from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.types import INTEGER, STRING, Kind
from workbench.sql.functions.calls import call
from workbench.sql.functions.reading import ExpressionBinder, reads, reads_name
from workbench.sql.functions.results import as_text
from workbench.sql.syntax.dialects import DATABASES, ONLY_POSTGRES

_PLAIN_DIGITS = 6
"""Digits behind the point up to which a DECIMAL is written without an exponent."""
_NULL, _ZERO, _ONE = Constant(None, STRING), Constant(0, INTEGER), Constant(1, INTEGER)


def part_between(text: Expression, start: Expression = _ONE, length: Expression | None = None) -> Expression:
    """The characters of a text from a place on, also where it lies before the first one; NULL of a length below 0.

    Args:
        text: of which it is a part.
        start: the place, from 1.
        length: of the part; to the end without one.
    """
    first, given = call("greatest", start, _ONE), [start]
    part = call("substr", text, first)
    if length is not None:
        left = call("greatest", call("-", call("+", start, length), first), _ZERO)
        part, given = call("substr", text, first, left), [start, length]
    unknown = [call("is_null", number) for number in given if not isinstance(number, Constant)]
    unknown += [call("<", length, _ZERO)] if length is not None and not is_at_least(length, 0) else []
    return call("case", call("or", *unknown) if len(unknown) > 1 else unknown[0], _NULL, part) if unknown else part


def is_at_least(expression: Expression, least: int) -> bool:
    """Whether it is a constant whole number, and which is not below another."""
    return isinstance(expression, Constant) and isinstance(expression.value, int) and expression.value >= least


@reads(exp.Left, exp.Right, parts="this expression", dialects=ONLY_POSTGRES)
def end_of_text(b: ExpressionBinder, node: exp.Left | exp.Right) -> Expression:
    """LEFT(s, n) and RIGHT(s, n): of n below 0 all but that number of characters at the other end."""
    text, count = b.parts(node, "this", "expression")
    if isinstance(node, exp.Left):
        many = call("substr", text, _ONE, call("greatest", count, _ZERO))
        left = call("+", call("length", text), count)
        rest = call("substr", text, _ONE, call("greatest", left, _ZERO))
    else:
        many, rest = call("right", text, count), call("substr", text, call("-", _ONE, count))
    if isinstance(count, Constant) and isinstance(count.value, int):
        return many if count.value >= 0 else rest
    return call("case", call(">=", count, _ZERO), many, call("is_null", count), _NULL, rest)


@reads_name("num_nulls", dialects=ONLY_POSTGRES)
def null_count(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """NUM_NULLS(a, b, …): how many of its arguments are NULL."""
    return _counted(arguments, lambda test: test)


@reads_name("num_nonnulls", dialects=ONLY_POSTGRES)
def value_count(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """NUM_NONNULLS(a, b, …): how many of its arguments are not NULL."""
    return _counted(arguments, lambda test: call("not", test))


def _counted(arguments: list[Expression], chosen: Callable[[Expression], Expression]) -> Expression:
    if not arguments:
        raise TypeClash("NUM_NULLS and NUM_NONNULLS take 1 argument or more, not 0")
    ones = [call("case", chosen(call("is_null", a)), _ONE, _ZERO) for a in arguments]
    return reduce(lambda left, right: call("+", left, right), ones)


@reads(exp.ConcatWs, parts="expressions", dialects=DATABASES)
def joined_texts(b: ExpressionBinder, node: exp.ConcatWs) -> Expression:
    """CONCAT_WS(separator, …) of texts, numbers and times; NULLs are left out."""
    values = b.parts(node, "expressions")
    kinds = {Kind.STRING, Kind.INTEGER, Kind.DATE, Kind.DOUBLE, Kind.DECIMAL, Kind.TIMESTAMP}
    kinds |= set() if b.rules.writes_values else {Kind.BOOLEAN}
    pairs = zip(values, node.expressions, strict=True)
    written = (v.type.kind in kinds and v.type.scale <= _PLAIN_DIGITS for v in values)
    return call("concat_ws", *(as_text(b, v, n) if known else v for known, (v, n) in zip(written, pairs, strict=True)))
