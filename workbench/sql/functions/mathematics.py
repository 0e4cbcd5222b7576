"""Functions of doubles, which are Spark's, and of the bits of integers."""

from __future__ import annotations

import math

from sqlglot import exp

from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.types import DOUBLE, INTEGER, Kind
from workbench.sql.functions.calls import call, cast
from workbench.sql.functions.declaration import COMPARED, EVERYWHERE, each, function, of_nodes, read_twice
from workbench.sql.functions.reading import ExpressionBinder, reads_name
from workbench.sql.syntax.dialects import ONLY_DUCKDB, SPARK_FAMILY


def _even(x: float) -> float:
    return math.copysign(2.0 * math.ceil(abs(x) / 2), x) if math.isfinite(x) else x


@reads_name("pmod", takes=2, dialects=SPARK_FAMILY)
def positive_remainder(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """PMOD(a, b): the remainder, which is not below 0 where b is not; of fractions as Spark computes it."""
    if all(value.type.kind in (Kind.INTEGER, Kind.STRING) for value in arguments):
        return call("pmod", *arguments)
    if any(value.type == DOUBLE for value in arguments):
        arguments = [cast(value, DOUBLE) if value.type.numeric else value for value in arguments]
    number, by = arguments
    rest = call("%", number, by)
    return call("case", call("<", rest, Constant(0, INTEGER)), call("%", call("+", rest, by), by), rest)


DECLARED = [
    *of_nodes([exp.Cbrt, exp.Sin, exp.Cos, exp.Tan, exp.Asin, exp.Acos, exp.Atan, exp.Sinh, exp.Cosh, exp.Tanh,
               exp.Degrees, exp.Radians, exp.Exp], "(double): double", EVERYWHERE),
    function("asinh(double): double", nodes=[exp.Asinh],
             help="asinh(expr) Returns inverse hyperbolic sine of `expr`.",
             example="SELECT asinh(0) → 0.0"),
    function("acosh(double): double", nodes=[exp.Acosh],
             help="acosh(expr) Returns inverse hyperbolic cosine of `expr`.",
             example="SELECT acosh(1) → 0.0"),
    function("atanh(double): double", nodes=[exp.Atanh],
             help="atanh(expr) Returns inverse hyperbolic tangent of `expr`.",
             example="SELECT atanh(0) → 0.0"),
    function("cot(double): double", nodes=[exp.Cot],
             help="cot(expr) Returns the cotangent of `expr`, as if computed by `1/java.lang.Math.tan`.",
             example="SELECT cot(1) → 0.6420926159343306"),
    function("sec(double): double", nodes=[exp.Sec],
             help="sec(expr) Returns the secant of `expr`, as if computed by `1/java.lang.Math.cos`.",
             example="SELECT sec(0) → 1.0"),
    function("csc(double): double", nodes=[exp.Csc],
             help="csc(expr) Returns the cosecant of `expr`, as if computed by `1/java.lang.Math.sin`.",
             example="SELECT csc(1) → 1.1883951057781212"),
    function("rint(double): double", nodes=[exp.Rint],
             help="rint(expr) Returns the double value that is closest in value to the argument and is equal to a "
                  "mathematical integer.",
             example="SELECT rint(12.3456) → 12.0"),
    function("log1p(double): double", names="log1p",
             help="log1p(expr) Returns log(1 + `expr`).",
             example="SELECT log1p(0) → 0.0"),
    function("expm1(double): double", names="expm1",
             help="expm1(expr) Returns exp(`expr`) - 1.",
             example="SELECT expm1(0) → 0.0"),
    *each("sqrt ln log10", "(double): double"),
    function("power(double, double): double"),
    # As IEEE 754 says, and C: of 1, and of -1 to what is infinite, Java's power is NaN.
    function("/_ieee(double, double): double", read_twice("coalesce(try_divide({0}, {1}), {0} * power({1}, -1D))")),
    function("%_ieee(double, double): double", read_twice("coalesce(try_mod({0}, {1}), {0} * {1} * double('nan'))")),
    function("power_ieee(double, double): double", read_twice(
        "if({0} = 1D or ({0} = -1D and abs({1}) = double('infinity')), if({1} is not null, 1D, null),"
        " power({0}, {1}))")),
    *(function(f"{name}_ieee(double): double", read_twice(
        f"if({{0}} <= 0D, if({{0}} = 0D, -double('infinity'), double('nan')), {name}({{0}}))"))
      for name in ("ln", "log10")),
    function("atan2(double, double): double", nodes=[exp.Atan2], dialects=EVERYWHERE),
    function("hypot(double, double): double", names="hypot",
             help="hypot(expr1, expr2) Returns sqrt(`expr1`² + `expr2`²).",
             example="SELECT hypot(3, 4) → 5.0"),
    # Beyond 2^52 all are whole.
    *(function(f"{name}_of_double(double): double",
               f"(case when abs({{0}}) < {2**52}D then cast({name}({{0}}) as double) else {{0}} end)")
      for name in ("floor", "ceil")),
    function("even(double): double", python=_even, names="even", dialects=ONLY_DUCKDB,
             help="even(x) Returns x rounded to the next even number away from zero.",
             example="SELECT even(2.9) → 4.0"),
    function("isnan(double): boolean", of_null=True, nodes=[exp.IsNan],
             help="isnan(expr) Returns true if `expr` is NaN, or false otherwise.",
             example="SELECT isnan(cast('NaN' as double)) → true"),
    function("nanvl(double, double): double", of_null=True, nodes=[exp.Nanvl],
             help="nanvl(expr1, expr2) Returns `expr1` if it's not NaN, or `expr2` otherwise.",
             example="SELECT nanvl(cast('NaN' as double), 123) → 123.0"),
    function("width_bucket(double, double, double, integer): integer", nodes=[exp.WidthBucket],
             help="width_bucket(value, min_value, max_value, num_bucket) Returns the bucket number to which `value` "
                  "would be assigned in an equiwidth histogram with `num_bucket` buckets, in the range `min_value` to"
                  " `max_value`.\"",
             example="SELECT width_bucket(5.3, 0.2, 10.6, 5) → 3"),
    function("pmod(integer, integer): integer", "(case when {1} <> 0 then pmod({0}, {1}) end)",
             help="pmod(expr1, expr2) Returns the positive value of `expr1` mod `expr2`.",
             example="SELECT pmod(10, 3) → 1"),
    function("bit_and_of(integer, integer): integer", "({0} & {1})", nodes=[exp.BitwiseAnd], dialects=COMPARED),
    function("bit_or_of(integer, integer): integer", "({0} | {1})", nodes=[exp.BitwiseOr], dialects=COMPARED),
    function("bit_xor_of(integer, integer): integer", "({0} ^ {1})", nodes=[exp.BitwiseXor], dialects=COMPARED),
    function("bit_not(integer): integer", "(~ {0})", nodes=[exp.BitwiseNot], dialects=COMPARED),
    *(function(f"{name}(integer, integer): integer", f"{name}({{0}}, {{int1}})")
      for name in ("shiftleft", "shiftright", "shiftrightunsigned")),
    function("getbit(integer, integer): integer",
             "cast((case when {1} between 0 and 63 then getbit({0}, {int1}) end) as bigint)", nodes=[exp.Getbit],
             help="getbit(expr, pos) Returns the value of the bit (0 or 1) at the specified position.",
             example="SELECT getbit(11, 0) → 1"),
    function("bit_count(integer): integer", nodes=[exp.BitwiseCount]),
    function("factorial(integer): integer", "factorial({int0})", nodes=[exp.Factorial],
             help="factorial(expr) Returns the factorial of `expr`.",
             example="SELECT factorial(5) → 120"),
    function("bin(integer): string", names="bin",
             help="bin(expr) Returns the string representation of the long value `expr` represented in binary.",
             example="SELECT bin(13) → 1101"),
]  # fmt: skip
