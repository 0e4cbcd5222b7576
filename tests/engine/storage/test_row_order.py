"""Rows are put in order by numbers, as by the ranks of their values."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest
from engine.storage.ends_of_types import ENDS

from workbench.engine.storage.comparable import dense_ranks, numbers_in_order
from workbench.engine.storage.grouping import order_by


@pytest.mark.parametrize("type_", ENDS, ids=str)
@pytest.mark.parametrize("direction", [(d, n) for d in (False, True) for n in (False, True)])
@pytest.mark.parametrize("nulls", [[None], []], ids=["with NULL", "without"])
def test_numbers_order_as_ranks_do(type_: pa.DataType, direction: tuple[bool, bool], nulls: list[None]) -> None:
    drawn = random.Random(1).choices([*ENDS[type_], *nulls], k=40)
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
