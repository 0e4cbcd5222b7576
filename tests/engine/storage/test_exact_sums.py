"""Exact sums are those of fractions, in any order and however put together; what is taken back leaves no trace."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from workbench.engine.storage.exact_sums import ExactSums, exact_products, rounded_quotient
from workbench.engine.storage.reduction import Cells, Combine

NUMBERS = [0.0, -0.0, 1.0, -1.0, 0.1, 1e-7, 3e15, 2.0**53 - 1, 5e-324, -5e-324, 1.7976931348623157e308, -1e308, 1e16]


def drawn(random: Random, number: int, special: bool) -> list[float]:
    values = [*NUMBERS, random.random(), random.uniform(-1e6, 1e6)]
    return random.choices([*values, *[math.inf, -math.inf, math.nan] * special], k=number)


def rounded(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


@pytest.mark.parametrize("factors", [1, 2, 3, 4])
def test_products_are_exact(factors: int) -> None:
    random = Random(factors)
    columns = [drawn(random, 400, False) for _ in range(factors)]
    products = ExactSums(exact_products([np.array(column) for column in columns]), 400)
    again = ExactSums.of_texts(products.texts())
    expected = [math.prod(map(Fraction, row), start=Fraction(1)) for row in zip(*columns, strict=True)]
    for sums in (products, again):
        assert [int(n) * Fraction(2) ** sums.exponent for n in sums.integers] == expected
        assert sums.rounded().tolist() == list(map(rounded, expected))


@pytest.mark.parametrize("seed", range(20))
def test_sums_are_those_of_fractions_in_any_order(seed: int) -> None:
    random = Random(seed)
    rows = random.randrange(1, 60)
    values = drawn(random, rows, special=seed % 2 == 1)
    weights = np.array(random.choices([1, 1, -1, 3, -2], k=rows))
    texts = ExactSums(exact_products([np.array(values)]), rows).times(weights).texts()
    order = random.sample(range(rows), rows)
    starts = np.array(sorted({0, *random.choices(range(rows), k=3)}))
    cells = Cells.of_one_reader(starts, rows)
    sums = cells.reduce(texts.take(pa.array(order)), Combine.DIGITS, cells.every)
    (total,) = ExactSums.of_texts(merged(sums)).rounded().tolist()
    counts = {x: sum(int(w) for w, v in zip(weights, values, strict=True) if v == x) for x in (math.inf, -math.inf)}
    nans = sum(int(w) for w, v in zip(weights, values, strict=True) if math.isnan(v))
    finite = sum((int(w) * Fraction(v) for w, v in zip(weights, values, strict=True) if math.isfinite(v)), Fraction(0))
    expected = math.nan if nans > 0 or min(counts.values()) > 0 else rounded(finite)
    expected = next((x for x, count in counts.items() if count > 0 and not math.isnan(expected)), expected)
    assert total == expected or (math.isnan(total) and math.isnan(expected))


def merged(texts: pa.Array) -> pa.Array:
    cells = Cells.of_one_reader(np.array([0]), len(texts))
    return cells.reduce(texts, Combine.DIGITS, cells.every)


def test_what_is_taken_back_leaves_no_trace() -> None:
    values = np.array([0.1, 1e300, 1e-300, math.nan, -math.inf, 7.5])
    numbers = ExactSums(exact_products([values]), len(values))
    both = pa.concat_arrays([numbers.texts(), numbers.times(np.array([-1] * 5 + [0])).texts()])
    left = ExactSums.of_texts(merged(both))
    assert left.rounded().tolist() == [7.5] and not left.special.any()


def test_readers_have_sums_of_their_own_and_null_is_left_out() -> None:
    texts = ExactSums(exact_products([np.array([1.5, 2.5, 4.0])]), 3).texts(np.array([False, True, False]))
    cells = Cells(np.array([0, 2]), np.array([[True, True, False], [False, True, True]]))
    sums = cells.reduce(texts, Combine.DIGITS, cells.every)
    assert sums.is_valid().to_pylist() == [True, False, False, True]
    assert ExactSums.of_texts(sums).rounded().tolist() == [1.5, 0.0, 0.0, 4.0]


def test_a_quotient_is_rounded_once() -> None:
    assert rounded_quotient(10**400, 10**400 - 1, 0) == 1.0
    assert rounded_quotient(1, 1, -1074) == 5e-324
    assert rounded_quotient(-(10**400), 1, 0) == -math.inf
