"""Comparisons, the logic of three values, and what chooses one of several values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from workbench.sql.algebra import arithmetic, coercion
from workbench.sql.algebra.coercion import coerce, unify
from workbench.sql.algebra.exact_arithmetic import widened_sides
from workbench.sql.algebra.expressions import Call, Constant, Expression, calls
from workbench.sql.algebra.types import BOOLEAN, DATE, INTEGER, STRING, TIMESTAMP, DataType, Kind
from workbench.sql.functions.calls import NOW, WITHIN, call
from workbench.sql.functions.declaration import Arguments, Render, each, function
from workbench.sql.functions.order_of_parts import numbers_of_truths
from workbench.sql.functions.reading import ExpressionBinder, reads
from workbench.sql.functions.structs import fields

_NULL = Constant(None, STRING)


def _computed(expression: Expression) -> Expression:
    """Arithmetic of integers without the bounds of its results."""
    match expression:
        case Call(function, (inner,)) if function == WITHIN:
            return _computed(inner)
        case Call("+" | "-" | "*" | "neg" | "abs", arguments) if expression.type == INTEGER:
            return replace(expression, arguments=tuple(map(_computed, arguments)))
    return expression


def _comparison(arguments: Arguments) -> tuple[Arguments, DataType]:
    # Midnights compare as their days do, of which more is known.
    arguments = tuple(map(_computed, arguments))
    days = tuple(map(_day, arguments))
    sides = coercion.comparable_sides(*(days if all(day.type == DATE for day in days) else arguments))
    # A comparison with now is a window, and the end of a window keeps the type of its time.
    return sides if any(NOW in calls(side) for side in sides) else widened_sides(*sides), BOOLEAN


def _day(argument: Expression) -> Expression:
    """The date that is given as a timestamp; any other argument as it is."""
    is_cast = isinstance(argument, Call) and argument.function == "cast" and argument.type == TIMESTAMP
    day = argument.arguments[0] if isinstance(argument, Call) and is_cast else argument
    return day if day.type == DATE else argument


def _order_comparison(arguments: Arguments) -> tuple[Arguments, DataType]:
    _refuse_unordered(arguments)
    return _comparison(arguments)


def _largest(arguments: Arguments) -> tuple[Arguments, DataType]:
    _refuse_unordered(arguments)
    return unify(arguments)


def _refuse_unordered(arguments: Arguments) -> None:
    if whole := next((a for a in arguments if not a.type.ordered), None):
        raise coercion.no_order(whole)


def _case(arguments: Arguments) -> tuple[Arguments, DataType]:
    """Conditions and values in turn, the last value for ELSE."""
    values, type_ = unify(arguments[1:-1:2] + arguments[-1:])
    conditions = [coerce(c, BOOLEAN) for c in arguments[0:-1:2]]
    pairs = [e for pair in zip(conditions, values[:-1], strict=True) for e in pair]
    return (*pairs, values[-1]), type_


def _type_of_first(arguments: Arguments) -> tuple[Arguments, DataType]:
    pair = coercion.comparable_sides(*arguments)
    if arguments[0].type == STRING and pair[0].type.numeric and not coercion.is_null(arguments[0]):
        raise coercion.TypeClash(f"type clash: string cannot be compared with {pair[1].type}", arguments[0],
                                 "write the number without quotes")  # fmt: skip
    # What is counted compares as its number, which is what it is to Spark.
    return pair, arguments[0].type if arguments[0].type.counted else pair[0].type


def comparison_sql(symbol: str) -> Render:
    """A comparison."""

    def render(expression: Call, arguments: Sequence[str]) -> str:
        left, right = comparison_sides(expression.arguments[0], expression.arguments[1], *arguments)
        return f"({left} {symbol} {right})"

    return render


def comparison_sides(left: Expression, right: Expression, a: str, b: str) -> tuple[str, str]:
    """Sides of a comparison; numbers too wide for one decimal together are compared in the widest of the scale."""
    kinds = {left.type.kind, right.type.kind}
    if Kind.DECIMAL in kinds and kinds <= {Kind.DECIMAL, Kind.INTEGER} and left.type != right.type:
        x, y = arithmetic.decimal_of(left), arithmetic.decimal_of(right)
        scale = max(x.scale, y.scale)
        if max(x.precision - x.scale, y.precision - y.scale) + scale > 38:
            return _clamped(a, scale), _clamped(b, scale)
    return a, b


def _clamped(value: str, scale: int) -> str:
    """A number in 38 digits, the largest of its sign when it has more: still greater than what it is compared with."""
    largest, smallest = (f"cast('{s}{'9' * (38 - scale)}.{'9' * scale}' as decimal(38,{scale}))" for s in ("", "-"))
    beyond = f"case when {value} > 0 then {largest} when {value} < 0 then {smallest} end"
    return f"coalesce(try_cast({value} as decimal(38,{scale})), {beyond})"


def _case_sql(expression: Call, arguments: Sequence[str]) -> str:
    """CASE."""
    pairs = zip(arguments[0:-1:2], arguments[1:-1:2], strict=True)
    return "(case " + " ".join(f"when {c} then {v}" for c, v in pairs) + f" else {arguments[-1]} end)"


@reads(exp.Case, parts="this ifs default")
def case(b: ExpressionBinder, node: exp.Case) -> Expression:
    """CASE of both forms."""
    subject = b.bind(node.this) if node.this else None
    parts: list[Expression] = []
    for branch in node.args["ifs"]:
        tested = call("=", subject, b.bind(branch.this)) if subject else b.condition(branch.this)
        parts += [tested, b.bind(branch.args["true"])]
    default = node.args.get("default")
    return call("case", *parts, b.bind(default) if default is not None else _NULL)


@reads(exp.If, parts="this true false")
def if_(b: ExpressionBinder, node: exp.If) -> Expression:
    """IF(condition, then, else)."""
    condition, (then, *otherwise) = b.condition(node.this), b.parts(node, "true", "false")
    return call("case", condition, then, *(otherwise or [_NULL]))


@reads(exp.DecodeCase, parts="expressions")
def decode(b: ExpressionBinder, node: exp.DecodeCase) -> Expression:
    """DECODE finds NULL by NULL."""
    subject, *rest = b.parts(node, "expressions")
    default = rest.pop() if len(rest) % 2 else _NULL
    pairs = zip(rest[0::2], rest[1::2], strict=True)
    return call("case", *(e for search, value in pairs for e in (call("<=>", subject, search), value)), default)


@reads(exp.Nvl2, parts="this true false")
def nvl2(b: ExpressionBinder, node: exp.Nvl2) -> Expression:
    """NVL2(x, if not null, if null)."""
    value, present, absent = (b.bind(node.args.get(key)) for key in ("this", "true", "false"))
    return call("case", call("is_null", value), absent, present)


@reads(exp.Coalesce, parts="this expressions")
def coalesce(b: ExpressionBinder, node: exp.Coalesce) -> Expression:
    """COALESCE of any number of values, NVL and IFNULL of two.

    Raises:
        SqlError: NVL or IFNULL has another number of values.
    """
    parts = b.parts(node, "this", "expressions")
    called = b.called(node) if len(parts) != 2 else ""
    if called in ("NVL", "IFNULL"):
        counted = f"{len(parts)} argument{'s' * (len(parts) > 1)}"
        raise b.source.error(f"{called} takes 2 arguments, and is given {counted}", node,
                             f"{called}(x, 0) is 0 where x is NULL")  # fmt: skip
    return call("coalesce", *parts)


@reads(exp.Greatest, exp.Least, parts="this expressions")
def greatest_or_least(b: ExpressionBinder, node: exp.Greatest | exp.Least) -> Expression:
    """GREATEST and LEAST, which pass over NULLs or are NULL where an argument is."""
    parts = b.parts(node, "this", "expressions")
    result = call("greatest" if isinstance(node, exp.Greatest) else "least", *parts)
    if not b.rules.greatest_of_null_is_null:
        return result
    return call("case", call("or", *(call("is_null", p) for p in parts)), _NULL, result)


def null_test(b: ExpressionBinder, node: exp.Is) -> Expression:
    """IS [NOT] NULL; in postgres a row is NULL where all its values are, and IS NOT NULL where none is."""
    row, negated = node.this.unnest(), bool(node.args.get("negate"))
    if isinstance(row, exp.Tuple) and b.rules.has_rows:
        tests = [call("is_null", b.bind(value)) for value in row.expressions]
    else:
        value = b.bind(node.this)
        parts = [part for _, part in fields(value)] if b.rules.has_rows else []
        tests = [call("is_null", part) for part in parts or [value]]
    whole = tests[0] if len(tests) == 1 else call("or" if negated else "and", *tests)
    return call("not", whole) if negated else whole


@reads(exp.NullSafeEQ, exp.EqualNull, exp.NullSafeNEQ, parts="this expression")
def same_or_null(b: ExpressionBinder, node: exp.Expr) -> Expression:
    """IS NOT DISTINCT FROM, and IS DISTINCT FROM."""
    same = call("<=>", *numbers_of_truths(b.rules, *b.parts(node, "this", "expression")))
    return call("not", same) if isinstance(node, exp.NullSafeNEQ) else same


DECLARED = [
    *(function(f"{sign}(left, right)", comparison_sql(sign), rule=_comparison) for sign in ("=", "<>")),
    *(function(f"{sign}(left, right)", comparison_sql(sign), rule=_order_comparison)
      for sign in ("<", "<=", ">", ">=")),
    function("<=>(left, right)", comparison_sql("<=>"), rule=_comparison, of_null=True),
    function("in(value, value...)", lambda call, arguments: f"({arguments[0]} in ({', '.join(arguments[1:])}))",
             rule=_comparison, of_null=True),
    function("and(boolean, boolean...): boolean", lambda call, arguments: f"({' and '.join(arguments)})", of_null=True),
    function("or(boolean, boolean...): boolean", lambda call, arguments: f"({' or '.join(arguments)})", of_null=True),
    function("not(boolean): boolean", "(not {0})"),
    function("is_null(any): boolean", "({0} is null)", of_null=True),
    function("case(condition, value, value...)", _case_sql, rule=_case, of_null=True),
    function("coalesce(value...)", rule=unify, of_null=True),
    *each("greatest least", "(value, value...)", rule=_largest, of_null=True),
    function("nullif(value, other)", rule=_type_of_first, of_null=True),
]  # fmt: skip
