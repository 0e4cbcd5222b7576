"""How statistics of groups are kept, and follow from finer groups: one table (T4.2, Tables 4.1 and 4.2; T7.1.1).

The table is the thesis's AggreBasics and AggreRules. The binder expands aggregates to basic statistics by it, the
planner decides on roll-ups by it, the engine reads there what a state keeps, and the catalog shows it. A *distributive*
statistic is computed from the same statistic of parts, an *algebraic* one is a function of basic statistics or of sums
of products, and a *holistic* one needs the values, as every statistic of DISTINCT values does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

from workbench.sql.algebra.expressions import AggregateCall, Column
from workbench.sql.algebra.types import MAX_PRECISION, STRING, Kind

Category = Literal["distributive", "algebraic", "holistic"]

Powers = tuple[int, ...]
"""The powers of the arguments in a product that is summed."""

X, Y, XY, XX, YY = (0, 1), (1, 0), (1, 1), (0, 2), (2, 0)
"""Products of two arguments, of which the first is called y and the second x."""
ONE, TWO, THREE, FOUR = (1,), (2,), (3,), (4,)
BITS: Powers = ()
"""No product: of a whole number the sum has each bit as a digit, and so says how many numbers have it."""

DESCENDING = "_desc"
"""The end of the name of a statistic whose values are in descending order."""
ARRAYS: Mapping[str, int] = {"array_agg": 2, "array_agg_limit": 3}
"""Statistics that are arrays, and how many arguments stand before the keys that their values are ordered by."""
EXACT_SUM = "exact_sum"
"""The sum of DOUBLE without rounding, as a text of its digits."""

_NO_KEY = "it follows from a value and its key, and finer groups have the value alone"
_NO_PRODUCTS = "it is made of exact sums of products, which finer groups do not have"
_NEEDS_VALUES = "it needs the values of a group, and no statistic of finer groups has these"
_NO_TRACE = "over rows that may be taken back it follows from the values, since it leaves no trace of the next one"
_NO_ROOM = "a sum that has more than 38 digits is NULL, which a sum of sums would pass over"


class KeptAs(StrEnum):
    """What a state keeps of the rows of a group, which decides how a change is merged into it."""

    COUNT = "count"
    TOTAL = "total"
    SUM = "sum"
    LEAST = "min"
    GREATEST = "max"
    DIGITS = "digits of a sum"
    PRODUCTS = "sums of products"
    VALUES = "values and how often each is there"


@dataclass(frozen=True)
class StatisticRule:
    """The rule of a basic statistic.

    Attributes:
        kept: what a state keeps.
        part: the statistic of finer groups from which it follows; ``None``: it follows from none.
        roll_up: the statistic over ``part`` that computes it.
        products: the sums of products that a state keeps.
        framed: whether frames of analytic functions have it, too.
        reason: why it follows from no part, or not always.
        note: when a state keeps something else.
    """

    kept: KeptAs
    part: str | None = None
    roll_up: str = ""
    products: tuple[Powers, ...] = ()
    framed: bool = False
    reason: str = ""
    note: str | None = None

    def merged(self, name: str) -> str | None:
        """The formula that merges the state of the history (H) with that of new rows (N); ``None`` for values.

        Example:
            >>> RULES["min"].merged("min")
            'least(min(H), min(N))'
        """
        match self.kept:
            case KeptAs.VALUES:
                return None
            case KeptAs.LEAST | KeptAs.GREATEST as end:
                return f"{'least' if end is KeptAs.LEAST else 'greatest'}({name}(H), {name}(N))"
            case KeptAs.PRODUCTS:
                sums = (" * ".join(_factors(powers)) or "bits of x" for powers in self.products)
                return f"{name} of {', '.join(f'sum({product})(H) + sum({product})(N)' for product in sums)}"
            case _:
                return f"{name}(H) + {name}(N)"


def _factors(powers: Powers) -> list[str]:
    return [name for name, power in zip("xy", powers, strict=False) for _ in range(power)]


def _products(*products: Powers) -> StatisticRule:
    return StatisticRule(KeptAs.PRODUCTS, products=products, framed=True, reason=_NO_PRODUCTS)


_VALUES = StatisticRule(KeptAs.VALUES, reason=_NEEDS_VALUES)

_OF_VALUES = ("entropy", "frequencies", "mad", "median", "mode", "percentile", "product", "quantile_cont")
RULES: Mapping[str, StatisticRule] = {
    "count": StatisticRule(KeptAs.COUNT, "count", "total", framed=True),
    "sum": StatisticRule(KeptAs.SUM, "sum", "sum", framed=True, reason=_NO_ROOM),
    "min": StatisticRule(KeptAs.LEAST, "min", "min", framed=True, note=_NO_TRACE),
    "max": StatisticRule(KeptAs.GREATEST, "max", "max", framed=True, note=_NO_TRACE),
    EXACT_SUM: StatisticRule(KeptAs.DIGITS, EXACT_SUM, "exact_total", (ONE,)),
    # Of what finer groups have: the sum of their counts, and that of their exact sums, which may be rounded.
    "total": StatisticRule(KeptAs.TOTAL),
    "exact_total": StatisticRule(KeptAs.DIGITS),
    "rounded_total": StatisticRule(KeptAs.DIGITS),
    "min_by": StatisticRule(KeptAs.LEAST, reason=_NO_KEY),
    "max_by": StatisticRule(KeptAs.GREATEST, reason=_NO_KEY),
    **dict.fromkeys(("var_samp", "var_pop", "stddev_samp", "stddev_pop"), _products(ONE, TWO)),
    **dict.fromkeys(("covar_samp", "covar_pop", "regr_sxy"), _products(X, Y, XY)),
    **dict.fromkeys(("corr", "regr_r2"), _products(X, Y, XY, XX, YY)),
    **dict.fromkeys(("regr_slope", "regr_intercept"), _products(X, Y, XY, XX)),
    **dict.fromkeys(("bit_and", "bit_or", "bit_xor"), _products(BITS)),
    "regr_avgx": _products(X),
    "regr_avgy": _products(Y),
    "regr_sxx": _products(X, XX),
    "regr_syy": _products(Y, YY),
    "skewness": _products(ONE, TWO, THREE),
    "kurtosis": _products(ONE, TWO, THREE, FOUR),
    **dict.fromkeys(_OF_VALUES, _VALUES),
    **{name + end: _VALUES for name in ("percentile_disc", "listagg", *ARRAYS) for end in ("", DESCENDING)},
}
"""The basic statistics by name; ``rule_of`` says which rule a statistic has."""

OF_DOUBLE: Mapping[str, StatisticRule] = {
    "sum": StatisticRule(KeptAs.DIGITS, EXACT_SUM, "rounded_total", (ONE,), framed=True),
}
"""Those that have another rule over DOUBLE: a sum of rounded sums is not the sum."""


_ALIKE_ONCE = ("bit_and", "bit_or")
"""Statistics that DISTINCT does not change."""


@dataclass(frozen=True)
class AlgebraicRule:
    """An algebraic aggregate of one value.

    Attributes:
        basics: the basic statistics, each with the power of the value that it is of.
        function: computes the aggregate from them, in this order.
    """

    basics: tuple[tuple[str, int], ...]
    function: str


_VARIANCE = (("count", 1), ("sum", 1), ("sum", 2))
ALGEBRAIC: Mapping[str, AlgebraicRule] = {
    "avg": AlgebraicRule((("sum", 1), ("count", 1)), "average"),
    "var_samp": AlgebraicRule(_VARIANCE, "variance_samp"),
    "var_pop": AlgebraicRule(_VARIANCE, "variance_pop"),
    "stddev_samp": AlgebraicRule(_VARIANCE, "stddev_samp"),
    "stddev_pop": AlgebraicRule(_VARIANCE, "stddev_pop"),
}
"""Aggregates that are a function of basic statistics; variances of exact numbers only."""


def rule_of(statistic: AggregateCall) -> StatisticRule:
    """The rule of a basic statistic over its values.

    Example:
        >>> from workbench.sql.algebra.expressions import Column
        >>> from workbench.sql.algebra.types import DOUBLE
        >>> rule_of(AggregateCall("sum", (Column("x", DOUBLE),), DOUBLE)).part
        'exact_sum'
    """
    if statistic.distinct and statistic.function not in _ALIKE_ONCE:
        return _VALUES
    of_double = bool(statistic.arguments) and statistic.arguments[0].type.kind is Kind.DOUBLE
    return (OF_DOUBLE if of_double and statistic.function in OF_DOUBLE else RULES)[statistic.function]


def category(statistic: AggregateCall) -> Category:
    """The thesis's name for the kind of statistic."""
    kept = rule_of(statistic).kept
    return "holistic" if kept is KeptAs.VALUES else "algebraic" if kept is KeptAs.PRODUCTS else "distributive"


def why_not_from_parts(statistic: AggregateCall) -> str | None:
    """Why a statistic does not follow, to the last digit, from ``part_of`` of finer groups; ``None``: it does (T7.1.1).

    A sum of exact numbers must have room for ten thousand million of the largest values.
    """
    rule = rule_of(statistic)
    if rule.kept is KeptAs.SUM:
        (summed,) = (argument.type for argument in statistic.arguments)
        return rule.reason if summed.kind is Kind.DECIMAL and summed.precision + 10 > MAX_PRECISION else None
    return None if rule.part is not None else rule.reason


def part_of(statistic: AggregateCall) -> AggregateCall:
    """The statistic of finer groups that a statistic follows from: itself, but a sum of DOUBLE must not be rounded.

    Example:
        >>> from workbench.sql.algebra.expressions import Column
        >>> from workbench.sql.algebra.types import DOUBLE
        >>> part_of(AggregateCall("sum", (Column("x", DOUBLE),), DOUBLE)).function
        'exact_sum'
    """
    part = rule_of(statistic).part
    assert part is not None
    return statistic if part == statistic.function else replace(statistic, function=part, type=STRING)


def of_parts(statistic: AggregateCall, part: Column) -> AggregateCall:
    """A statistic from a column with ``part_of`` of finer groups: a count is the total of counts (T7.1.1).

    Example:
        >>> from workbench.sql.algebra.types import INTEGER
        >>> of_parts(AggregateCall("count", (), INTEGER), Column("n", INTEGER)).function
        'total'
    """
    return replace(statistic, function=rule_of(statistic).roll_up, arguments=(part,))
