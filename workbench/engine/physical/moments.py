"""Sums and variances of DOUBLE, correlations, regressions and shapes of distributions, from exact sums of products.

n times a sum of products less the product of two sums is exact, however close to each other the numbers are. So these
statistics are rounded once, in the end; they do not depend on the order of rows, and rows are taken back exactly.

Source: Chan, Golub, LeVeque, Algorithms for computing the sample variance (The American Statistician 37, 1983), whose
"textbook" formula is right where nothing is rounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Powers = tuple[int, ...]
"""Of the arguments, in a product that is added up."""

X, Y, XY, XX, YY = (0, 1), (1, 0), (1, 1), (0, 2), (2, 0)
"""The first of two arguments is called y, and the second one x."""
ONE, TWO, THREE, FOUR = (1,), (2,), (3,), (4,)

VARIANCES = ("var_samp", "var_pop", "stddev_samp", "stddev_pop")

POWERS: Mapping[str, tuple[Powers, ...]] = {
    "sum": (ONE,),
    **dict.fromkeys(VARIANCES, (ONE, TWO)),
    **dict.fromkeys(("covar_samp", "covar_pop", "regr_sxy"), (X, Y, XY)),
    **dict.fromkeys(("corr", "regr_r2"), (X, Y, XY, XX, YY)),
    **dict.fromkeys(("regr_slope", "regr_intercept"), (X, Y, XY, XX)),
    "regr_avgx": (X,),
    "regr_avgy": (Y,),
    "regr_sxx": (X, XX),
    "regr_syy": (Y, YY),
    "skewness": (ONE, TWO, THREE),
    "kurtosis": (ONE, TWO, THREE, FOUR),
}
"""The sums of which each statistic is made."""


@dataclass(frozen=True)
class Moments:
    """A statistic that is made of sums of products.

    Attributes:
        function: which one.
        count: the part that counts the rows that have all values.
        sums: the parts with the sums.
    """

    function: str
    count: str
    sums: Mapping[Powers, str]
