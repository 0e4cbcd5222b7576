"""Correlations, regressions and shapes: as Spark has them over extreme rows, and exact where it is not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from operator import and_, or_, xor
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from workbench.engine.operators.grouped.moments import moment_values
from workbench.engine.storage.exact_sums import ExactSums, digits_of_bits, exact_products
from workbench.sql.functions.aggregate_rules import BITS, OF_DOUBLE, RULES, KeptAs

INF, NAN = math.inf, math.nan
POWERS = {
    name: rule.products
    for name, rule in {**RULES, **OF_DOUBLE}.items()
    if (rule.kept is KeptAs.PRODUCTS and BITS not in rule.products) or name == "sum"
}
Point = tuple[float | None, float | None]
GROUPS: Sequence[Sequence[Point]] = [
    [(None, 1.0), (2.0, None)],
    [(1.0, 2.0)],
    [(1.0, 2.0), (3.0, 7.0), (None, 9.0)],
    [(1.0, 2.0), (3.0, 2.0)],
    [(1.0, 2.0), (1.0, 5.0)],
    [(1.5, 2.0), (1.5, 2.0)],
    [(1.0, 2.0), (NAN, 3.0), (2.0, 4.0)],
    [(1.0, 2.0), (3.0, NAN), (2.0, 4.0)],
    [(1.0, 2.0), (INF, 3.0), (2.0, 4.0)],
    [(1.0, 2.0), (3.0, -INF), (2.0, 4.0)],
    [(INF, 1.0)],
    [(NAN, 1.0)],
    [(1.0, INF)],
    [(INF, 1.0), (-INF, 2.0)],
    [(1.0, 2.0), (1.0, NAN)],
    [(NAN, 2.0), (1.0, 2.0)],
    [(-0.0, 0.0), (0.0, -1.0), (1.0, 3.0)],
    [(float(n % 7), float(n % 5)) for n in range(40)],
    [(0.1 * n * n, -0.3 * n) for n in range(40)],
]


def values(function: str, groups: Sequence[Sequence[Point]]) -> list[float | None]:
    """The statistic out of sums of each group."""
    two = len(POWERS[function][0]) == 2
    known = [[p for p in group if p[0] is not None and (p[1] is not None or not two)] for group in groups]
    counts = np.array([len(group) for group in known])
    texts = {powers: pa.concat_arrays([total(group, powers) for group in known]) for powers in POWERS[function]}
    return moment_values(function, counts, {p: ExactSums.of_texts(t) for p, t in texts.items()}).to_pylist()


def total(points: Sequence[Point], powers: Sequence[int]) -> pa.Array:
    factors = [
        pa.array([p[at] for p in points], pa.float64()).to_numpy(zero_copy_only=False)
        for at, power in enumerate(powers)
        for _ in range(power)
    ]
    rows = ExactSums(exact_products(factors), len(points))
    return ExactSums({at: digits.sum(keepdims=True) for at, digits in rows.columns.items()}, 1).texts()


@pytest.mark.parametrize("size", [0, 1, 5, 30])
@pytest.mark.parametrize("seed", range(8))
def test_bits_of_values_that_are_there(size: int, seed: int) -> None:
    chosen = Random(seed)
    numbers = [0, *range(-3, 9), -(2**63), 2**63 - 1]
    left, gone = ([chosen.choice(numbers[seed % 2 :]) for _ in range(some)] for some in (size, 7))
    rows = np.array([*left, *gone, *gone], dtype=np.int64)
    added = ExactSums(digits_of_bits(rows), len(rows)).times(np.repeat([1, 1, -1], [size, 7, 7]))
    sums = ExactSums({at: digits.sum(keepdims=True) for at, digits in added.columns.items()}, 1).texts()
    for name, of_two in (("bit_and", and_), ("bit_or", or_), ("bit_xor", xor)):
        found = moment_values(name, np.array([size]), {BITS: ExactSums.of_texts(sums)})
        assert found.to_pylist() == [reduce(of_two, left) if left else None]


def test_spark_has_the_same(spark: SparkSession) -> None:
    rows = [(at, y, x) for at, group in enumerate(GROUPS) for y, x in group]
    points = spark.newSession().createDataFrame(rows, "g int, y double, x double")
    points.sparkSession.conf.set("spark.sql.ansi.enabled", "false")
    calls = [f"{f}({'y, x' if len(POWERS[f][0]) == 2 else 'y'}) AS {f}" for f in POWERS]
    points.createOrReplaceTempView("points")
    expected = points.sparkSession.sql(f"SELECT {', '.join(calls)} FROM points GROUP BY g ORDER BY g").toArrow()
    for function in POWERS:
        for at, (ours, theirs) in enumerate(zip(values(function, GROUPS), expected[function].to_pylist(), strict=True)):
            where = f"{function} of {GROUPS[at][:4]}: {ours}, Spark {theirs}"
            assert (ours is None) == (theirs is None), where
            assert ours is None or math.isnan(ours) == math.isnan(theirs), where
            assert ours is None or math.isnan(ours) or ours == pytest.approx(theirs, rel=1e-9, abs=1e-12), where


def test_numbers_that_are_close_to_each_other_lose_no_digit() -> None:
    points: list[Point] = [(1e15 + n % 3, 1e15 + n % 2) for n in range(7)]
    y, x = ([Fraction(p[at] or 0) for p in points] for at in (0, 1))
    of_y, of_x = sum(y) / 7, sum(x) / 7
    expected = sum((a - of_y) * (b - of_x) for a, b in zip(y, x, strict=True)) / 7
    assert values("covar_pop", [points]) == [float(expected)]


def test_what_spark_overflows_in_is_exact() -> None:
    huge: list[Point] = [(1e200, 1.0), (2e200, 2.0), (-1e200, 5.0)]
    (corr,) = values("corr", [huge])
    assert corr == pytest.approx(values("corr", [[(1.0, 1.0), (2.0, 2.0), (-1.0, 5.0)]])[0])
    assert values("regr_avgy", [[(1.7e308, 1.0), (1.7e308, 2.0)]]) == [1.7e308]


def test_the_order_of_rows_does_not_count() -> None:
    random = Random(1)
    points: list[Point] = [(random.gauss(0, 1e5), random.gauss(0, 1e-5)) for _ in range(50)]
    for function in POWERS:
        found = [values(function, [random.sample(points, 50)]) for _ in range(4)]
        assert all(one == other for one, other in pairwise(found))
