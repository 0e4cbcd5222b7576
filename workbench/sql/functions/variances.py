"""Variances of exact numbers from their count, sum and sum of squares, as Spark SQL.

With n, s and q these it is (n*q - s*s) / (n*n). Of large numbers that are close to each other the two products have
nearly all their digits in common, so it is computed in whole numbers of the last digit, and only the result is DOUBLE.

Source: Chan, Golub, LeVeque, Algorithms for computing the sample variance (The American Statistician 37, 1983), whose
shift by a number near the mean makes both products small.
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.sql.algebra.expressions import Call
from workbench.sql.functions.declaration import Render, let
from workbench.sql.functions.numeric_quotients import struct_sql


def variance(samples: bool, root: bool) -> Render:
    """A variance, or its root; NULL where the sum of squares has more than 38 digits.

    25 digits for q, 18 for s and 11 for n keep both products within 37 digits, and their difference within 38. Where
    more are needed the numbers are shifted.
    """

    def render(expression: Call, arguments: Sequence[str]) -> str:
        n, s, q = arguments
        s_scale, q_scale = (argument.type.scale for argument in expression.arguments[1:])
        exact = (
            f"try_subtract(try_multiply(try_cast({n} as decimal(11,0)), try_cast({q} as decimal(25,{q_scale}))),"
            f" try_multiply(try_cast({s} as decimal(18,{s_scale})), try_cast({s} as decimal(18,{s_scale}))))"
        )
        divisor = f"(cast({n} as double) * ({n} - 1L))" if samples else f"(cast({n} as double) * {n})"
        shifted = _shifted(n, _in_last_digits(s, s_scale), _in_last_digits(q, q_scale), q_scale)
        value = f"try_divide(coalesce(cast({exact} as double), {shifted}), {divisor})"
        return f"sqrt({value})" if root else value

    return render


def _shifted(n: str, s: str, q: str, scale: int) -> str:
    """n*q - s*s as DOUBLE, from whole numbers.

    With s = n*m + r, where m is whole, the squares of what the numbers are above m come to w = q - m*(s + r), which
    are as few digits as the numbers are apart; n*q - s*s is n*w - r*r. The second form is for a w with digits
    enough that r*r, which is below n*n, is negligible against n*w.
    """
    given = struct_sql(n=f"cast({n} as decimal(20,0))", s=s, q=q)
    rest = struct_sql(r="try_cast(try_mod(x.s, x.n) as decimal(38,0))")
    mean = "try_cast(try_divide(try_subtract(x.s, y.r), x.n) as decimal(38,0))"
    apart = struct_sql(w=f"try_subtract(x.q, try_multiply({mean}, try_add(x.s, y.r)))")
    exact = "cast(try_subtract(try_multiply(x.n, z.w), try_multiply(y.r, y.r)) as double)"
    wide = "cast(x.n as double) * cast(z.w as double) - cast(y.r as double) * cast(y.r as double)"
    return let("x", given, let("y", rest, let("z", apart, f"coalesce({exact}, {wide}) / 1e{scale}D")))


def _in_last_digits(sql: str, scale: int) -> str:
    """A decimal as the whole number of its last digits; what is behind the point apart, as Spark would cut it."""
    if not scale:
        return f"cast({sql} as decimal(38,0))"
    unit = f"1{'0' * scale}BD"
    before = f"try_multiply(if({sql} < 0, ceil({sql}), floor({sql})), {unit})"
    behind = f"try_multiply(try_mod({sql}, 1BD), {unit})"
    return f"try_add(cast({before} as decimal(38,0)), cast({behind} as decimal(38,0)))"
