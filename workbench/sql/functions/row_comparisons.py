"""Comparisons of values, and of rows of them, ``(a, b) = (c, d)``."""

from __future__ import annotations

from sqlglot import exp

from workbench.sql.algebra.coercion import TypeClash, coerce, is_null
from workbench.sql.algebra.expressions import Call, Constant, Expression
from workbench.sql.algebra.types import BOOLEAN, common_type, struct_of
from workbench.sql.functions.calls import call, cast
from workbench.sql.functions.order_of_parts import numbers_of_truths, placed_sides
from workbench.sql.functions.reading import ExpressionBinder, reads, reads_name
from workbench.sql.syntax.dialects import ONLY_DUCKDB

NO_ROW = "one of several is x IN (1, 2); else write the values one by one; comparisons of them with AND"
"""The hint where a row stands as a value."""


def value_comparison(b: ExpressionBinder, symbol: str, left: Expression, right: Expression) -> Expression:
    """A comparison of two values."""
    left, right = numbers_of_truths(b.rules, left, right)
    return call(symbol, *placed_sides(symbol, left, right, b.source))


def compared_rows(
    b: ExpressionBinder, symbol: str, left: exp.Expr, right: exp.Expr, node: exp.Expr
) -> Expression | None:
    """A comparison of two rows ``(a, b)``, value by value, the first pair that differs deciding; ``None`` of others.

    In spark and duckdb they are structs, of which a NULL equals a NULL.
    """
    left, right = left.unnest(), right.unnest()
    rows = [isinstance(side, exp.Tuple) for side in (left, right)]
    if not (all(rows) if b.rules.rows_are_structs else b.rules.compares_rows and any(rows)):
        return None
    sides = [side.expressions if isinstance(side, exp.Tuple) else [side] for side in (left, right)]
    if len(sides[0]) != len(sides[1]):
        count = len(sides[0])
        message = f"{count} value{'s are' if count > 1 else ' is'} compared with {len(sides[1])}"
        raise b.source.error(message, node, "write as many values on each side")
    pairs = [(b.bind(one), b.bind(other)) for one, other in zip(*sides, strict=True)]
    equal = [call("<=>" if b.rules.rows_are_structs else "=", *pair) for pair in pairs]
    if symbol in ("=", "<>"):
        same = call("and", *equal) if len(equal) > 1 else equal[0]
        return same if symbol == "=" else call("not", same)
    if b.rules.rows_are_structs:
        structs = zip(*(_of_one_type(*pair) for pair in pairs), strict=True)
        return value_comparison(b, symbol, *map(_struct, structs))
    result = value_comparison(b, symbol, *pairs[-1])
    for pair, same in zip(reversed(pairs[:-1]), reversed(equal[:-1]), strict=True):
        # A pair of which one is NULL decides, and the answer is unknown.
        result = call(
            "case", same, result, call("not", same), value_comparison(b, symbol[0], *pair), Constant(None, BOOLEAN)
        )
    return result


def _of_one_type(one: Expression, other: Expression) -> tuple[Expression, Expression]:
    """Two values as fields of structs that are compared, which have one type."""
    one, other = coerce(one, other.type) if is_null(one) else one, coerce(other, one.type) if is_null(other) else other
    type_ = common_type(one.type, other.type)
    return (one, other) if type_ is None else (cast(one, type_), cast(other, type_))


@reads(exp.Tuple, parts="expressions", dialects=ONLY_DUCKDB, what="a list in parentheses", hint=NO_ROW)
def row(b: ExpressionBinder, node: exp.Tuple) -> Expression:
    """``(a, b)`` as a value: a struct, whose fields have no names in duckdb."""
    return _struct(tuple(map(b.bind, node.expressions)))


@reads_name("row", dialects=ONLY_DUCKDB, hint=NO_ROW)
def named_row(b: ExpressionBinder, values: list[Expression]) -> Expression:
    """``ROW(a, b)``, which is ``(a, b)``."""
    if not values:
        raise TypeClash("ROW without values", hint="as in ROW(a, b)")
    return _struct(tuple(values))


def _struct(values: tuple[Expression, ...]) -> Expression:
    names = (f"col{place}" for place in range(1, len(values) + 1))
    return Call("struct", values, struct_of([(name, value.type) for name, value in zip(names, values, strict=True)]))
