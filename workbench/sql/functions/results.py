"""The result types of operators and functions of numbers in dialects that differ from Spark.

An operator on two integers gives one of the larger one's bits. What does not fit is an error in databases, so it is
NULL. Only what is certain to have few bits is taken to have them: a literal, a cast, and what is computed from these.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from sqlglot import exp

from workbench.sql.algebra import coercion
from workbench.sql.algebra.arithmetic import fits
from workbench.sql.algebra.counted import counted_number
from workbench.sql.algebra.expressions import Call, Constant, Expression
from workbench.sql.algebra.types import (
    BINARY,
    DOUBLE,
    INTEGER,
    INTERVAL,
    MAX_PRECISION,
    MONTHS,
    NARROW,
    Kind,
    decimal,
    integer,
)
from workbench.sql.functions.bytes_of_postgres import text_of_bytes
from workbench.sql.functions.calls import call, cast, within
from workbench.sql.functions.number_texts import number_as_text
from workbench.sql.functions.reading import Bind, ExpressionBinder, reads, reads_call, refuse_elsewhere
from workbench.sql.syntax.dialects import ONLY_POSTGRES, SPARK_FAMILY

Operand = tuple[exp.Expr, Expression]
"""An operand of an operator, in the text and as it is bound."""
_MOST_DIGITS = 9
"""Digits to which FLOOR and CEIL go, each way."""
_SHIFTED = 32
"""Bits of the integers that Spark shifts where they have no more."""


def computed(b: ExpressionBinder, result: Expression, *operands: Operand) -> Expression:
    """The result of an operator of integers: NULL where it does not fit the type that the dialect gives it."""
    kinds = {result.type.kind, *(value.type.kind for _, value in operands)}
    if not b.rules.integer_widths or kinds != {Kind.INTEGER}:
        return result
    bits = _bits(b, *operands)
    return result if bits == 64 else within(result, integer(bits))


def as_text(b: ExpressionBinder, value: Expression, node: exp.Expr) -> Expression:
    """A value as text.

    Raises:
        UnsupportedError: Oracle writes fractions its own way, and dates by a setting of the session; a REAL has fewer
            digits than the DOUBLE that it is here.
    """
    if b.rules.writes_values and value.type == DOUBLE and not coercion.is_null(value):
        if any(cast_node.args["to"].this == exp.DType.FLOAT for cast_node in node.find_all(exp.Cast)):
            b.source.refuse("a REAL as text", node, "x::double precision::text")
        return call("double_text_in_postgres", value)
    if b.rules.times_by_setting and not coercion.is_null(value):
        if value.type.temporal:
            b.source.refuse(f"a {value.type.kind.upper()} as text without a format", node, "TO_CHAR(x, 'YYYY-MM-DD')")
        if value.type.kind in (Kind.DECIMAL, Kind.DOUBLE):
            b.source.refuse("a number with a fraction as text", node, "Oracle writes .5 for 0.5; keep it a number")
    if b.rules.casts_in_python:
        return number_as_text(value)
    if b.rules.bytes_have_texts and value.type == BINARY:
        return text_of_bytes(value)
    return coercion.as_string(value)


def whole_number(name: str) -> Callable[[ExpressionBinder, exp.Floor | exp.Ceil], Expression]:
    """FLOOR or CEIL: of a DOUBLE an INTEGER in spark and a DOUBLE elsewhere, where it may be one of an INTEGER, too."""

    def bind(b: ExpressionBinder, node: exp.Floor | exp.Ceil) -> Expression:
        value = b.bind(node.this)
        if node.args.get("decimals") is not None:
            refuse_elsewhere(b, SPARK_FAMILY, node)
            return _to_digit(b, name, value, node.args["decimals"])
        if value.type.kind is Kind.INTEGER and b.rules.floor_of_integer_is_double:
            return cast(value, DOUBLE)
        return call(f"{name}_of_double" if value.type == DOUBLE and not b.rules.floor_is_integer else name, value)

    return bind


def _to_digit(b: ExpressionBinder, name: str, value: Expression, digits_node: exp.Expr) -> Expression:
    """FLOOR or CEIL of an exact number to a digit behind the point, or before it where it is below 0: a DECIMAL."""
    digits = b.bind(digits_node)
    at = digits.value if isinstance(digits, Constant) and isinstance(digits.value, int) else None
    if at is None or value.type.kind not in (Kind.INTEGER, Kind.DECIMAL) or not -_MOST_DIGITS <= at <= _MOST_DIGITS:
        hint = "the digits are a constant whole number, and the number is exact: CAST(x AS DECIMAL(p,s))"
        b.source.refuse(f"{name.upper()} of this to digits", digits_node, hint)
    precision = value.type.precision if value.type.kind is Kind.DECIMAL else 10 if value.type.bits <= _SHIFTED else 20
    scale = min(value.type.scale, max(at, 0))
    type_ = decimal(max(precision - value.type.scale + 1, 1 - at) + scale, scale)
    if precision + 2 * _MOST_DIGITS > MAX_PRECISION:
        b.source.refuse(f"{name.upper()} of so long a number to digits", digits_node, "CAST it AS DECIMAL(20,2)")
    if at < value.type.scale:
        up, down = (_power_of_ten(power) for power in (at, -at))
        value = call("*", call(name, call("*", value, up)), down)
    return cast(value, type_)


def _power_of_ten(power: int) -> Constant:
    if power >= 0:
        return Constant(10**power, INTEGER)
    return Constant(Decimal(1).scaleb(power), decimal(-power, -power))


def in_doubles(b: ExpressionBinder, name: str, *arguments: Expression) -> Expression:
    """A function of DOUBLE that is infinite or NaN of some of them where IEEE 754 is followed, and NULL elsewhere."""
    result = call(name, *arguments)
    follows = b.rules.power_of_one_is_one if name == "power" else b.rules.follows_ieee
    if not follows or result.type != DOUBLE or not isinstance(result, Call):
        return result
    last = result.arguments[-1]
    if isinstance(last, Constant) and isinstance(last.value, float) and last.value > 0:
        return result  # a divisor, an exponent, or the only argument
    return call(f"{name}_ieee", *arguments)


reads(exp.Ln, parts="this")(lambda b, node: in_doubles(b, "ln", b.bind(node.this)))
reads(exp.Pow, parts="this expression")(lambda b, node: in_doubles(b, "power", *b.parts(node, "this", "expression")))


@reads(exp.Sqrt, parts="this")
def square_root(b: ExpressionBinder, node: exp.Sqrt) -> Expression:
    """SQRT, of a negative number NaN or NULL."""
    value = call("sqrt", b.bind(node.this))
    if b.rules.root_of_negative_is_nan or not isinstance(value, Call):
        return value
    return call("case", call("<", value.arguments[0], Constant(0.0, DOUBLE)), Constant(None, DOUBLE), value)


@reads(exp.Sign, parts="this")
def sign(b: ExpressionBinder, node: exp.Sign) -> Expression:
    """SIGN, a DOUBLE, an INTEGER, or of the type of its argument."""
    value = b.bind(node.this)
    if value.type in (INTERVAL, MONTHS):
        value = counted_number(value)
    result = call("sign", value)
    if value.type == DOUBLE and b.rules.sign_of_nan_is_zero:
        result = call("nanvl", result, Constant(0.0, DOUBLE))
    if b.rules.sign == "integer":
        return cast(result, integer(8))
    if b.rules.sign == "double" or (value.type.kind is Kind.INTEGER and b.rules.rounds_integers_as_double):
        return result
    return cast(result, decimal(1, 0) if value.type.kind is Kind.DECIMAL else value.type)


def to_digits(b: ExpressionBinder, name: str, value: Expression, *digits: Expression) -> Expression:
    """ROUND or TRUNC."""
    if b.rules.rounds_integers_as_double and value.type.kind is Kind.INTEGER:
        if not digits:
            return cast(value, DOUBLE)
        value = cast(value, decimal(19, 0))
    return call(name, value, *digits)


def shifted(b: ExpressionBinder, name: str, node: exp.Expr, arguments: list[Expression]) -> Expression:
    """A shift of bits: of at most 32 bits the lowest 32 are left, and the places are counted by them."""
    if len(arguments) != 2 or arguments[0].type.kind is not Kind.INTEGER or _bits(b, (node, arguments[0])) > _SHIFTED:
        return call(name, *arguments)
    value, places = arguments[0], call("bit_and_of", arguments[1], Constant(_SHIFTED - 1, INTEGER))
    low, half = Constant(2**_SHIFTED - 1, INTEGER), Constant(2 ** (_SHIFTED - 1), INTEGER)
    moved = call(name, call("bit_and_of", value, low) if name == "shiftrightunsigned" else value, places)
    return call("-", call("bit_and_of", call("+", moved, half), low), half)


def _bits(b: ExpressionBinder, *operands: Operand) -> int:
    """Those of the operand that has most; DuckDB's literals take the type of what is beside them."""
    literals = [value for node, value in operands if _is_literal(node) and isinstance(value, Constant)]
    others = [value.type.bits for node, value in operands if not (_is_literal(node) and isinstance(value, Constant))]
    least = NARROW[0] if b.rules.narrow_literals and others else 32
    return max([*others, *(_least_bits(value, least, b.rules.literals_have_signs) for value in literals)])


def _is_literal(node: exp.Expr) -> bool:
    node = node.unnest()
    return isinstance(node.this if isinstance(node, exp.Neg) else node, exp.Literal)


def _least_bits(literal: Constant, least: int, has_sign: bool) -> int:
    """Those of a literal; a minus sign before it is no part of it but in Spark."""
    value = literal.value
    assert isinstance(value, int)
    value = value if has_sign else abs(value)
    return next((bits for bits in NARROW if bits >= least and fits(value, integer(bits))), 64)


def _shift(function: str) -> Bind:
    def bind(b: ExpressionBinder, node: exp.Binary | exp.Anonymous) -> Expression:
        parts = node.expressions if isinstance(node, exp.Anonymous) else [node.this, node.expression]
        return shifted(b, function, parts[0] if parts else node, [b.bind(part) for part in parts])

    return bind


reads(exp.Floor, parts="this decimals")(whole_number("floor"))
reads(exp.Ceil, parts="this decimals")(whole_number("ceil"))
reads(exp.BitwiseLeftShift, parts="this expression", dialects=SPARK_FAMILY | ONLY_POSTGRES)(_shift("shiftleft"))
reads(exp.BitwiseRightShift, parts="this expression", dialects=SPARK_FAMILY | ONLY_POSTGRES)(_shift("shiftright"))
reads_call("shiftrightunsigned", dialects=SPARK_FAMILY)(_shift("shiftrightunsigned"))
