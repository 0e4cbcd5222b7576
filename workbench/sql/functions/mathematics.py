"""Functions of doubles, which are Spark's, and of the bits of integers."""

from __future__ import annotations

from sqlglot import exp

from workbench.sql.functions.declaration import COMPARED, EVERYWHERE, function, of_nodes

DECLARED = [
    *of_nodes([exp.Cbrt, exp.Sin, exp.Cos, exp.Tan, exp.Asin, exp.Acos, exp.Atan, exp.Sinh, exp.Cosh, exp.Tanh,
               exp.Degrees, exp.Radians, exp.Exp, exp.Ln], "(double): double", EVERYWHERE),
    *of_nodes([exp.Asinh, exp.Acosh, exp.Atanh, exp.Cot, exp.Sec, exp.Csc, exp.Rint], "(double): double"),
    *(function(f"{name}(double): double", names=name) for name in ("log1p", "expm1")),
    function("sqrt(double): double", "(case when {0} >= 0 then sqrt({0}) end)", nodes=[exp.Sqrt], dialects=EVERYWHERE),
    function("log10(double): double"),
    function("power(double, double): double", nodes=[exp.Pow], dialects=EVERYWHERE),
    function("atan2(double, double): double", nodes=[exp.Atan2], dialects=EVERYWHERE),
    function("hypot(double, double): double", names="hypot"),
    # Beyond 2^52 all are whole.
    *(function(f"{name}_of_double(double): double",
               f"(case when abs({{0}}) < {2**52}D then cast({name}({{0}}) as double) else {{0}} end)")
      for name in ("floor", "ceil")),
    function("isnan(double): boolean", of_null=True, nodes=[exp.IsNan]),
    function("nanvl(double, double): double", of_null=True, nodes=[exp.Nanvl]),
    function("width_bucket(double, double, double, integer): integer", nodes=[exp.WidthBucket]),
    function("pmod(integer, integer): integer", "(case when {1} <> 0 then pmod({0}, {1}) end)", names="pmod"),
    function("bit_and_of(integer, integer): integer", "({0} & {1})", nodes=[exp.BitwiseAnd], dialects=COMPARED),
    function("bit_or_of(integer, integer): integer", "({0} | {1})", nodes=[exp.BitwiseOr], dialects=COMPARED),
    function("bit_xor_of(integer, integer): integer", "({0} ^ {1})", nodes=[exp.BitwiseXor], dialects=COMPARED),
    function("bit_not(integer): integer", "(~ {0})", nodes=[exp.BitwiseNot], dialects=COMPARED),
    *(function(f"{name}(integer, integer): integer", f"{name}({{0}}, {{int1}})")
      for name in ("shiftleft", "shiftright", "shiftrightunsigned")),
    function("getbit(integer, integer): integer",
             "cast((case when {1} between 0 and 63 then getbit({0}, {int1}) end) as bigint)", nodes=[exp.Getbit]),
    function("bit_count(integer): integer", nodes=[exp.BitwiseCount]),
    function("factorial(integer): integer", "factorial({int0})", nodes=[exp.Factorial]),
    function("bin(integer): string", names="bin"),
    function("hash(string...): integer", of_null=True, names="hash"),
]  # fmt: skip
