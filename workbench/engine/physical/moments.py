"""Sums and variances of DOUBLE, correlations, regressions and shapes of distributions, from exact sums of products.

n times a sum of products less the product of two sums is exact, however close to each other the numbers are. So these
statistics are rounded once, in the end; they do not depend on the order of rows, and rows are taken back exactly.

Source: Chan, Golub, LeVeque, Algorithms for computing the sample variance (The American Statistician 37, 1983), whose
"textbook" formula is right where nothing is rounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.sql.functions.aggregate_rules import Powers


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
