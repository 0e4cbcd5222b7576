"""Rows are put in order by numbers, as by the ranks of their values."""

from __future__ import annotations

import datetime as dt
import random
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from workbench.engine.storage.comparable import dense_ranks, numbers_in_order
from workbench.engine.storage.grouping import order_by

VALUES: dict[pa.DataType, list[object]] = {
    pa.int64(): [0, 1, -1, 2**63 - 1, -(2**63), None],
    pa.int32(): [0, 5, -7, None],
    pa.bool_(): [True, False, None],
    pa.float64(): [0.0, -0.0, float("nan"), float("-inf"), 5e-324, -1.5, None],
    pa.string(): ["", "a", "A", "é", "a long text that begins alike", "a long text that begins alikf", None],
    pa.date32(): [dt.date(1, 1, 1), dt.date(9999, 12, 31), None],
    pa.timestamp("us"): [dt.datetime(1970, 1, 1), dt.datetime(2026, 1, 1, 0, 0, 0, 1), None],
    pa.decimal128(15, 2): [Decimal("0.00"), Decimal("-0.01"), Decimal("9999999999999.99"), None],
    pa.decimal128(38, 2): [Decimal("0.00"), Decimal("-0.01"), Decimal(10) ** 35, None],
}


@pytest.mark.parametrize("type_", VALUES, ids=str)
@pytest.mark.parametrize("direction", [(d, n) for d in (False, True) for n in (False, True)])
@pytest.mark.parametrize("values", [slice(None), slice(-1)], ids=["with NULL", "without"])
def test_numbers_order_as_ranks_do(type_: pa.DataType, direction: tuple[bool, bool], values: slice) -> None:
    drawn = random.Random(1).choices(VALUES[type_][values], k=40)
    column = pa.array(drawn, type_)
    found = list(zip(*(numbers.tolist() for numbers in numbers_in_order(column, direction)), strict=True))
    ranks = dense_ranks(column, direction).tolist()
    different = sorted(set(found))
    assert [different.index(each) for each in found] == ranks


@pytest.mark.parametrize("seed", range(60))
def test_the_first_numbers_decide_first(seed: int) -> None:
    drawn = np.random.default_rng(seed)
    rows = int(drawn.integers(0, 30))
    columns = [drawn.choice(np.array([-(2**63), 2**63 - 1, 0, 1, -5, 2**40]), rows) for _ in range(1 + seed % 4)]
    found, wanted = order_by(columns), np.lexsort(columns[::-1])
    assert sorted(found.tolist()) == list(range(rows))
    for column in columns:
        assert column[found].tolist() == column[wanted].tolist()
