"""Operators of SQL text: arithmetic with dates and intervals, AND and OR, IS, IN, BETWEEN and LIKE."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal

from sqlglot import exp

from workbench.sql.algebra import coercion
from workbench.sql.algebra.arithmetic import BIGINT_MAX
from workbench.sql.algebra.coercion import TypeClash
from workbench.sql.algebra.expressions import Call, Constant, Expression, walk
from workbench.sql.algebra.types import (
    BOOLEAN,
    DATE,
    DOUBLE,
    INSTANT,
    INTEGER,
    STRING,
    TIMESTAMP,
    Kind,
    common_type,
    decimal,
)
from workbench.sql.algebra.zones import UTC, zoning
from workbench.sql.dialect import Quotient
from workbench.sql.functions import jsonb_of_postgres
from workbench.sql.functions.calls import call, cast
from workbench.sql.functions.collation import refuse_other_order
from workbench.sql.functions.conditions import null_test
from workbench.sql.functions.declaration import as_moment
from workbench.sql.functions.matches import similar
from workbench.sql.functions.numbers import NUMERIC_QUOTIENT
from workbench.sql.functions.order_of_parts import numbers_of_truths
from workbench.sql.functions.reading import PATTERN_HINT, QUERIES, ExpressionBinder, reads, reads_name
from workbench.sql.functions.results import computed, in_doubles
from workbench.sql.functions.row_comparisons import compared_rows, value_comparison
from workbench.sql.functions.times import interval_arithmetic
from workbench.sql.functions.times.intervals import add_interval, interval_parts
from workbench.sql.syntax.source_text import SourceText


@reads(exp.Add, exp.Sub, exp.SafeAdd, exp.SafeSubtract, parts="this expression")
def plus_minus(b: ExpressionBinder, node: exp.Expr) -> Expression:
    """Sums and differences of numbers, dates, timestamps and intervals."""
    sign = 1 if isinstance(node, exp.Add | exp.SafeAdd) else -1
    for time, length in ((node.this, node.expression), (node.expression, node.this)):
        if (length is node.expression or sign == 1) and (parts := interval_parts(b, length)) is not None:
            moved = b.bind(time)
            if not moved.type.counted and not (coercion.is_null(moved) and moved.type == STRING):
                return add_interval(b, moved, parts, sign, node)
            by = interval_arithmetic.interval_value(b, parts, length)
            sides = (moved, by) if length is node.expression else (by, moved)
            return interval_arithmetic.plus_minus(b, *sides, sign, node) or moved
    left, right = b.bind(node.this), b.bind(node.expression)
    if b.rules.has_jsonb and sign == -1 and (shorter := jsonb_of_postgres.less(left, right)) is not None:
        return shorter
    interval = interval_arithmetic.plus_minus(b, left, right, sign, node)
    if interval is not None:
        return interval
    return computed(b, call("+" if sign == 1 else "-", left, right), (node.this, left), (node.expression, right))


def comparison(symbol: str) -> Callable[[ExpressionBinder, exp.Binary], Expression]:
    """``=``, ``<>``, ``<`` and their like; with the word NULL they hold for no row, which is hardly meant."""

    def bind(b: ExpressionBinder, node: exp.Binary) -> Expression:
        if isinstance(node.this.unnest(), exp.Null) or isinstance(node.expression.unnest(), exp.Null):
            hint = "write IS NULL or IS NOT NULL"
            b.source.warn(f"a comparison with NULL by {symbol} is true for no row", node, hint)
        if (rows := compared_rows(b, symbol, node.this, node.expression, node)) is not None:
            return rows
        for sides in ((node.this, node.expression), (node.expression, node.this)):
            difference, right = sides[0].unnest(), sides[1]
            if isinstance(difference, exp.Sub) and (parts := interval_parts(b, right)) is not None:
                subtracted = b.bind(difference.expression)
                if subtracted.type.counted or (subtracted.type == INSTANT and zoning().zone != UTC):
                    break
                # a - b <= length is a <= b + length, and needs no value of an interval.
                start = as_moment(subtracted)
                end = b.bind(difference.this), add_interval(b, start, parts, 1, node)
                return call(symbol, *(end if sides[0] is node.this else reversed(end)))
        left, right = b.parts(node, "this", "expression")
        of_json = jsonb_of_postgres.same_json(symbol, left, right) if b.rules.has_jsonb else None
        return value_comparison(b, symbol, left, right) if of_json is None else of_json

    return bind


@reads(exp.SafeDivide, parts="this expression")
def try_divide(b: ExpressionBinder, node: exp.SafeDivide) -> Expression:
    """TRY_DIVIDE of spark and its like."""
    left, right = b.parts(node, "this", "expression")
    return (
        interval_arithmetic.divided(b, left, right, node)
        if interval_arithmetic.is_interval(left)
        else call("/", left, right)
    )


@reads(exp.Div, parts="this expression")
def divide(b: ExpressionBinder, node: exp.Div) -> Expression:
    """Division, which is of integers a DOUBLE except in dialects where it is an integer (not Oracle, not Spark).

    In DuckDB a quotient of decimals is a DOUBLE too, and PostgreSQL has digits of its own.
    """
    left, right = b.bind(node.this), b.bind(node.expression)
    if interval_arithmetic.is_interval(left):
        return interval_arithmetic.divided(b, left, right, node)
    if b.rules.decimal_quotient is Quotient.DOUBLE and left.type.numeric and right.type.numeric:
        left, right = (cast(side, DOUBLE) if side.type.kind is Kind.DECIMAL else side for side in (left, right))
    exact = {left.type.kind, right.type.kind} <= {Kind.INTEGER, Kind.DECIMAL}
    if b.rules.decimal_quotient is Quotient.NUMERIC and exact and Kind.DECIMAL in (left.type.kind, right.type.kind):
        return numeric_quotient(left, right)
    whole = node.args.get("typed") and left.type.kind is Kind.INTEGER and right.type.kind is Kind.INTEGER
    if not whole:
        return in_doubles(b, "/", left, right)
    return computed(b, call("div", left, right), (node.this, left), (node.expression, right))


def numeric_quotient(left: Expression, right: Expression) -> Expression:
    """The quotient of exact numbers as PostgreSQL rounds it.

    Raises:
        TypeClash: one of them is such a quotient, whose digits behind the point depend on its value.
    """
    refuse_quotients(left, right)
    return call(NUMERIC_QUOTIENT, left, right)


def refuse_quotients(*values: Expression) -> None:
    """Refuse what a quotient is made of where it is made of quotients.

    Raises:
        TypeClash: one of the values is.
    """
    for value in values:
        if any(isinstance(part, Call) and part.function == NUMERIC_QUOTIENT for part in walk(value)):
            hint = "CAST the inner one AS DECIMAL(p,s), or AS DOUBLE PRECISION"
            raise TypeClash("a quotient of quotients has digits that depend on its values", value, hint)


@reads(exp.Neg)
def minus_sign(b: ExpressionBinder, node: exp.Neg) -> Expression:
    """A minus sign, part of the number before a constant."""
    if isinstance(node.this, exp.Literal) and not node.this.is_string:
        return number_literal("-" + node.this.this, b.source, node)
    return function_of_number("neg")(b, node)


def function_of_number(name: str) -> Callable[[ExpressionBinder, exp.Expr], Expression]:
    """A minus sign or ABS, of numbers and intervals; the smallest integer has none."""

    def bind(b: ExpressionBinder, node: exp.Expr) -> Expression:
        value = b.bind(node.this)
        result = interval_arithmetic.of_number_in(lambda number: call(name, number), value)
        return computed(b, result, (node.this, value))

    return bind


@reads(exp.And, exp.Or, parts="this expression")
def connective(b: ExpressionBinder, node: exp.And | exp.Or) -> Expression:
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
    return call("and" if kind is exp.And else "or", *parts)


@reads(exp.Is, parts="this expression negate")
def is_test(b: ExpressionBinder, node: exp.Is) -> Expression:
    """IS [NOT] NULL, IS TRUE, IS FALSE; in other tests, and in other dialects, NOT is a node around this one."""
    if isinstance(node.expression, exp.Null):
        return null_test(b, node)
    if isinstance(node.expression, exp.Boolean):
        test = call("<=>", b.condition(node.this), Constant(bool(node.expression.this), BOOLEAN))
    else:
        b.source.refuse("this IS test", node, "IS tests for NULL, TRUE and FALSE; for a value write =")
    return call("not", test) if node.args.get("negate") else test


@reads(exp.Nullif, parts="this expression")
def null_if(b: ExpressionBinder, node: exp.Nullif) -> Expression:
    """NULLIF, whose value is the first argument as it is, also where it is compared in a wider type."""
    value, other = b.parts(node, "this", "expression")
    are_numbers = value.type.numeric and other.type.numeric and value.type.kind is not other.type.kind
    if b.rules.nullif_is_widened and are_numbers:
        value = cast(value, common_type(value.type, other.type) or value.type)
    equal = call("=", value, other)
    if isinstance(equal, Call) and equal.arguments[0].type != value.type:
        return call("case", equal, Constant(None, value.type), value)
    return call("nullif", value, other)


@reads(exp.In, parts="this expressions query unnest field is_global")
def in_list(b: ExpressionBinder, node: exp.In) -> Expression:
    """IN with a list, in duckdb also with an array."""
    if not node.expressions and not any(node.args.get(key) for key in ("query", "unnest", "field")):
        raise b.source.error("IN needs a list", node, "write values in the parentheses")
    if isinstance(alone := node.args.get("field"), exp.Literal):
        raise b.source.error("IN needs a list", node, f"write it in parentheses: IN ({alone.sql(b.dialect)})")
    if not node.expressions:
        if (array := node.args.get("field")) is not None:
            if b.rules.finds_beside_nulls:
                return b.bind(exp.ArrayContains(this=array, expression=node.this))
            value, asked = node.this.sql(b.dialect), array.sql(b.dialect)
            called = f"{value} = ANY ({asked})" if b.rules.places_from_one else f"ARRAY_CONTAINS({asked}, {value})"
            hint = f"write {value} IS NULL" if isinstance(array, exp.Null) else f"{called} asks an array"
            raise b.source.error("IN needs a list in parentheses", node, hint)
        b.source.refuse("IN with a subquery", node, "write it as a join, with DISTINCT in a subquery")
    values = node.expressions
    if len(values) == 1 and isinstance(values[0], exp.Values):
        values = [row.expressions[0] if len(row.expressions) == 1 else row for row in values[0].expressions]
    rows = [compared_rows(b, "=", node.this, value, node) for value in values]
    if any(row is not None for row in rows):
        tests = [row for row in rows if row is not None]
        return call("or", *tests) if len(tests) > 1 else tests[0]
    subject, *listed = [b.bind(node.this), *map(b.bind, values)]
    for value in listed:
        # Some compare texts where there is one in the list, and so the way in which a number is written.
        is_text = isinstance(value, Constant) and isinstance(value.value, str)
        is_number = subject.type.kind is Kind.INTEGER and _is_shortest(value)
        if subject.type.numeric and is_text and not is_number and not b.rules.reads_constant_texts:
            raise TypeClash(f"type clash: {subject.type} cannot be compared with string", value,
                            "write the numbers without quotes")  # fmt: skip
    return call("in", *numbers_of_truths(b.rules, subject, *listed))


def _is_shortest(number: Expression) -> bool:
    """Whether a constant text is a whole number as databases write it."""
    text = str(number.value) if isinstance(number, Constant) else ""
    return re.fullmatch("0|-?[1-9][0-9]{0,17}", text) is not None


@reads(exp.Between, parts="this low high symmetric")
def between(b: ExpressionBinder, node: exp.Between) -> Expression:
    """BETWEEN as two comparisons; SYMMETRIC also with its ends the other way round."""
    if node.args.get("symmetric"):
        value, one, other = b.parts(node, "this", "low", "high")
        ends = ((one, other), (other, one))
        return call("or", *(_between(b, value, *pair) for pair in ends))
    if isinstance(node.this.unnest(), exp.Sub) and interval_parts(b, node.args["low"]) is not None:
        low_test = exp.GTE(this=node.this.copy(), expression=node.args["low"].copy())
        high_test = exp.LTE(this=node.this.copy(), expression=node.args["high"].copy())
        return call("and", comparison(">=")(b, low_test), comparison("<=")(b, high_test))
    rows = [
        compared_rows(b, sign, node.this, end, node)
        for sign, end in ((">=", node.args["low"]), ("<=", node.args["high"]))
    ]
    if rows[0] is not None and rows[1] is not None:
        return call("and", rows[0], rows[1])
    return _between(b, *b.parts(node, "this", "low", "high"))


def _between(b: ExpressionBinder, value: Expression, low: Expression, high: Expression) -> Expression:
    return call("and", value_comparison(b, ">=", value, low), value_comparison(b, "<=", value, high))


@reads(exp.Like, exp.ILike, parts="this expression negate")
@reads(exp.RegexpLike, parts="this expression")
def like(b: ExpressionBinder, node: exp.Like | exp.ILike | exp.RegexpLike, escape: str | None = None) -> Expression:
    """LIKE, ILIKE and RLIKE with a constant pattern, LIKE with one of the row too, and LIKE ANY and LIKE ALL."""
    name = {"Like": "like", "ILike": "ilike"}.get(type(node).__name__, "rlike")
    value, quantified = _text_to_match(b, b.bind(node.this)), node.expression
    if not isinstance(quantified, exp.Any | exp.All):
        return _matches(b, name, value, quantified, escape, bool(node.args.get("negate")))
    patterns = quantified.this.unnest()
    if isinstance(patterns, QUERIES):
        b.source.refuse("LIKE ANY or LIKE ALL of a subquery", node, "JOIN it, with LIKE in ON")
    listed = patterns.expressions if isinstance(patterns, exp.Tuple | exp.Array) else [patterns]
    negated = bool(node.args.get("negate"))
    tests = [_matches(b, name, value, pattern, escape, negated) for pattern in listed]
    return call("or" if isinstance(quantified, exp.Any) else "and", *tests) if len(tests) > 1 else tests[0]


def _text_to_match(b: ExpressionBinder, value: Expression) -> Expression:
    """A value as the text that Spark casts it to for LIKE; as it is in other dialects, and where no cast gives one."""
    is_value = value.type.numeric or value.type in (BOOLEAN, DATE, TIMESTAMP)
    return coercion.as_string(value) if is_value and b.rules.reads_constant_texts else value


def _matches(
    b: ExpressionBinder, name: str, value: Expression, node: exp.Expr, escape: str | None, negated: bool
) -> Expression:
    """Whether a text matches one pattern, or does not."""
    pattern = b.bind(node)
    escape = b.rules.like_escape if escape is None else escape
    if coercion.is_null(pattern):
        return Constant(None, BOOLEAN)
    if isinstance(pattern, Constant) and isinstance(pattern.value, str):
        canonical = pattern.value
        if name == "rlike":
            try:
                re.compile(canonical)
            except re.error as error:
                raise b.source.error(f"not a regular expression: {error}", node, PATTERN_HINT) from None
        else:
            canonical = _like_pattern(b, canonical, escape, node)
        test = call(name, value, Constant(canonical, STRING))
    else:
        test = _matches_of_row(b, name, value, pattern, escape, node)
    return call("not", test) if negated else test


def _matches_of_row(
    b: ExpressionBinder, name: str, value: Expression, pattern: Expression, escape: str | None, node: exp.Expr
) -> Expression:
    """Whether a text matches a pattern of its row; NULL where it escapes what needs none, at which Spark raises."""
    if name == "rlike" or pattern.type != STRING or not b.rules.takes_patterns_of_rows:
        hint = "write it in quotes, as in name LIKE 'A%'"
        b.source.refuse("a pattern that is not a constant string", node, hint)
    backslash = Constant("\\", STRING)
    if escape is None:
        return call(name, value, call("replace", pattern, backslash, Constant("\\\\", STRING)))
    if escape != "\\":
        b.source.refuse("ESCAPE of a pattern that is not a constant string", node, "a backslash escapes")
    # A backslash before what needs none: one that is left without those that escape a sign, pairs of them first.
    left = pattern
    for escaped in ("\\\\", "\\%", "\\_"):
        left = call("replace", left, Constant(escaped, STRING), Constant("", STRING))
    return call("case", call("contains", left, backslash), Constant(None, BOOLEAN), call(name, value, pattern))


def _like_pattern(b: ExpressionBinder, pattern: str, escape: str | None, node: exp.Expr) -> str:
    """A LIKE pattern with backslash as its escape character."""
    result, rest = [], iter(pattern)
    for char in rest:
        if char == escape:
            escaped = next(rest, None)
            if escaped is None or (escaped not in ("%", "_", escape) and not b.rules.escapes_any_sign):
                raise b.source.error(f"the escape character {escape} must stand before %, _ or itself", node)
            result.append("\\" + escaped if escaped in "%_\\" else escaped)
        else:
            result.append("\\\\" if char == "\\" else char)
    return "".join(result)


@reads(exp.Collate, parts="this expression")
def collate(b: ExpressionBinder, node: exp.Collate) -> Expression:
    """A text before COLLATE of a collation that is the order of bytes, in which all texts are here (``collation``)."""
    refuse_other_order(b.source, node)
    value = b.bind(node.this)
    if value.type != STRING:
        raise b.source.error(f"COLLATE takes a text, not {value.type}", node)
    return value


@reads(exp.Escape, parts="this expression")
def escaped_like(b: ExpressionBinder, node: exp.Escape) -> Expression:
    """LIKE ... ESCAPE."""
    inner, escape = node.this, node.expression
    negated = isinstance(inner, exp.Not)
    inner = inner.this if negated else inner
    lengths = (0, 1) if b.rules.escapes_any_sign else (1,)
    if b.rules.escapes_any_sign and isinstance(escape, exp.Null):
        return Constant(None, BOOLEAN)
    if not isinstance(escape, exp.Literal) or len(escape.this) not in lengths:
        b.source.refuse("this ESCAPE", node, "it is one sign, as in ESCAPE '!'")
    if isinstance(inner, exp.SimilarTo) and b.rules.escapes_similar:
        found = similar(b, inner, escape.this)
    elif isinstance(inner, exp.Like | exp.ILike):
        found = like(b, inner, escape.this)
    else:
        b.source.refuse("this ESCAPE", node)
    return call("not", found) if negated else found


@reads(exp.Literal, parts="this is_string")
def literal(b: ExpressionBinder, node: exp.Literal) -> Expression:
    """A number or a string."""
    return string_literal(b, node) if node.is_string else number_literal(node.this, b.source, node)


@reads(exp.RawString, exp.National)
def string_literal(b: ExpressionBinder, node: exp.Expr) -> Constant:
    """A string; the empty one is NULL in Oracle."""
    return Constant(None if b.rules.empty_text_is_null and not node.this else node.this, STRING)


def number_literal(digits: str, source: SourceText, node: exp.Expr) -> Constant:
    """INTEGER for whole numbers, DECIMAL with a point, DOUBLE with an exponent, as in Spark."""
    if "e" in digits.lower():
        if math.isinf(float(digits)):
            raise source.error("the number is beyond those of DOUBLE", node)
        return Constant(float(digits), DOUBLE)
    value = Decimal(digits)
    if "." not in digits and -BIGINT_MAX - 1 <= value <= BIGINT_MAX:
        return Constant(int(value), INTEGER)
    _, significant, exponent = value.as_tuple()
    scale = max(0, -int(exponent))
    if len(significant) > 38 or scale > 38:
        raise source.error("a number has at most 38 digits", node)
    return Constant(value, decimal(max(len(significant), scale), scale))


reads(exp.Paren)(lambda b, node: b.bind(node.this))
reads(exp.Column, parts="this table join_mark db catalog")(lambda b, node: b.column(node))
reads(exp.Identifier)(lambda b, node: b.variable(node))
reads(exp.Null, parts="")(lambda b, node: Constant(None, STRING))
reads(exp.Boolean)(lambda b, node: Constant(bool(node.this), BOOLEAN))
reads(exp.Not)(lambda b, node: call("not", b.condition(node.this)))
reads(exp.Abs)(function_of_number("abs"))
reads_name("isnull")(lambda b, arguments: call("is_null", *arguments))
reads_name("isnotnull")(lambda b, arguments: call("not", call("is_null", *arguments)))
