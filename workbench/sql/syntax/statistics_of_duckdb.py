"""Nodes of the aggregates of duckdb that the parser takes for other functions, or for those of other systems."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp


class MedianDeviation(exp.Expression, exp.AggFunc):
    """MAD(x) of duckdb: the median of the distances of values from their median."""

    _sql_names: ClassVar = ["MAD"]


class Entropy(exp.Expression, exp.AggFunc):
    """ENTROPY(x) of duckdb, in bits."""


class Frequencies(exp.Expression, exp.AggFunc):
    """How often each value is in a group, in the order of the values: those of HISTOGRAM(x) of duckdb."""


class Product(exp.Expression, exp.AggFunc):
    """PRODUCT(x) of duckdb."""


class GeometricMean(exp.Expression, exp.AggFunc):
    """GEOMEAN(x) of duckdb."""

    _sql_names: ClassVar = ["GEOMEAN"]


class StandardError(exp.Expression, exp.AggFunc):
    """SEM(x) of duckdb: the standard error of the mean."""

    _sql_names: ClassVar = ["SEM"]


class SampleSkewness(exp.Expression, exp.AggFunc):
    """SKEWNESS(x) of duckdb, which corrects it for a sample."""

    _sql_names: ClassVar = ["SKEWNESS"]


class SampleKurtosis(exp.Expression, exp.AggFunc):
    """KURTOSIS(x) of duckdb, which corrects it for a sample."""

    _sql_names: ClassVar = ["KURTOSIS"]


class PopulationKurtosis(exp.Expression, exp.AggFunc):
    """KURTOSIS_POP(x) of duckdb."""

    _sql_names: ClassVar = ["KURTOSIS_POP"]


class _OfPairs(exp.Expression, exp.AggFunc):
    arg_types: ClassVar = {"this": True, "expression": True}


class Correlation(_OfPairs):
    """CORR(y, x) of duckdb, which is NaN where a side has one value in all rows."""

    _sql_names: ClassVar = ["CORR"]


class Slope(_OfPairs):
    """REGR_SLOPE(y, x) of duckdb, which is NaN where x has one value in all rows."""

    _sql_names: ClassVar = ["REGR_SLOPE"]


class Intercept(_OfPairs):
    """REGR_INTERCEPT(y, x) of duckdb, which is NULL where it would be NaN."""

    _sql_names: ClassVar = ["REGR_INTERCEPT"]
