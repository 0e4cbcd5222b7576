"""Numbers of DuckDB: operators as functions, remainders and quotients of DOUBLEs, binomials, and what bits say.

ADD(a, b)   DIVIDE(a, b)   FMOD(x, y)   FDIV(x, y)   TRUNC(x, n)   BINOM(n, k)   SIGNBIT(x)   NEXTAFTER(x, y)   TRY(x)
"""

from __future__ import annotations

import math
from decimal import Decimal

from sqlglot import exp

from workbench.sql.algebra.coercion import TypeClash
from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.types import BOOLEAN, DOUBLE
from workbench.sql.functions.calls import call, cast
from workbench.sql.functions.declaration import function
from workbench.sql.functions.reading import ExpressionBinder, reads, reads_call, reads_name
from workbench.sql.syntax.dialects import ONLY_DUCKDB

_HIGHEST = 10**38 - 1
_MOST_DIGITS = 300
_OPERATORS: dict[str, type[exp.Binary]] = {
    "add": exp.Add, "subtract": exp.Sub, "multiply": exp.Mul, "divide": exp.IntDiv,
}  # fmt: skip


def _truncated(value: float, digits: int = 0) -> float:
    """Toward zero, at a digit behind the point, or before it where it is below 0."""
    if not math.isfinite(value) or abs(digits) > _MOST_DIGITS:
        return value
    scale = 10.0 ** abs(digits)
    scaled = value * scale if digits > 0 else value / scale
    if not math.isfinite(scaled):
        return value
    whole = float(math.trunc(scaled))
    return math.copysign(whole / scale if digits > 0 else whole * scale, value)


def _binomial(number: int, taken: int) -> Decimal | None:
    """NULL where DuckDB has an error, and beyond 38 digits."""
    if number < 0 or taken < 0:
        return None
    found = 0 if taken > number else 1
    for place in range(1, min(taken, number - taken) + 1):
        found = found * (number - place + 1) // place
        if found > _HIGHEST:
            return None
    return Decimal(found)


@reads_call(*_OPERATORS, dialects=ONLY_DUCKDB)
def operator(b: ExpressionBinder, node: exp.Anonymous) -> Expression:
    """ADD(a, b), which is ``a + b``, and its like; DIVIDE(a, b) is ``a // b``."""
    if len(node.expressions) != 2:
        raise TypeClash(f"{node.name.upper()} takes 2 arguments, not {len(node.expressions)}")
    left, right = (exp.paren(part.copy()) for part in node.expressions)
    return b.bind(_OPERATORS[node.name.lower()](this=left, expression=right))


def _in_doubles(name: str, arguments: list[Expression]) -> Expression:
    """FDIV, the whole quotient, rounded down, and FMOD, what it leaves."""
    value, by = (cast(argument, DOUBLE) for argument in arguments)
    whole = call("floor_of_double", call("/_ieee", value, by))
    return whole if name == "fdiv" else call("-", value, call("*", by, whole))


for _name in ("fmod", "fdiv"):
    reads_name(_name, takes=2, dialects=ONLY_DUCKDB)(lambda b, arguments, name=_name: _in_doubles(name, arguments))


@reads(exp.Try, dialects=ONLY_DUCKDB)
def tried(b: ExpressionBinder, node: exp.Try) -> Expression:
    """TRY(x): every value that would be an error is NULL here."""
    return b.bind(node.this)


@reads_name("constant_or_null", dialects=ONLY_DUCKDB)
def constant_or_null(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """CONSTANT_OR_NULL(value, x, …): the value, NULL where another argument is."""
    if len(arguments) < 2:
        raise TypeClash(f"CONSTANT_OR_NULL takes at least 2 arguments, not {len(arguments)}")
    value, *others = arguments
    known = call("not", call("or", *(call("is_null", other) for other in others), Constant(False, BOOLEAN)))
    return call("case", known, value, Constant(None, value.type))


DECLARED = [
    function("trunc_in_duckdb(double[, integer]): double", python=_truncated),
    function("binom(integer, integer): decimal(38,0)", python=_binomial, names="binom", dialects=ONLY_DUCKDB,
             help="binom(n, k) Returns how many ways there are to take k of n.", example="SELECT binom(5, 2) → 10"),
    function("signbit(double): boolean", python=lambda value: math.copysign(1.0, value) < 0, names="signbit",
             dialects=ONLY_DUCKDB, help="signbit(x) Returns whether the sign of x is minus, also of -0.0.",
             example="SELECT signbit(-0.0) → true"),
    function("nextafter(double, double): double", python=math.nextafter, names="nextafter", dialects=ONLY_DUCKDB,
             help="nextafter(x, y) Returns the next DOUBLE after x in the direction of y.",
             example="SELECT nextafter(1, 2) → 1.0000000000000002"),
]  # fmt: skip
