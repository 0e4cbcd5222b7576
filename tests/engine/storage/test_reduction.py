"""Values that are reduced group by group."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from workbench.engine.storage.reduction import Cells, Combine

COLUMNS = {
    "whole numbers": pa.array([3, None, -1, 2**63 - 1]),
    "decimals": pa.array([Decimal("0.10"), None, Decimal("-7.25"), Decimal("9" * 13 + ".99")], pa.decimal128(15, 2)),
    "doubles": pa.array([0.5, None, float("inf"), -0.0]),
    "texts": pa.array(["b", None, "", "a"]),
}
NUMBERS = [name for name in COLUMNS if name != "texts"]
SUMS = [(name, Combine.SUM) for name in NUMBERS]
HOW = SUMS + [(name, end) for name in COLUMNS for end in (Combine.MIN, Combine.MAX)]


@pytest.mark.parametrize(("name", "combine"), HOW)
def test_a_row_alone_has_the_value_that_it_has_in_a_group_beside_rows_without_one(name: str, combine: Combine) -> None:
    """Whether each row is a group, which takes no reducing, or has a NULL beside it."""
    values = COLUMNS[name]
    beside = values.take(pa.array([0, None, 1, None, 2, None, 3, None]))
    wide = pa.decimal128(38, 2) if name == "decimals" and combine is Combine.SUM else None
    reduced = [_reduced(column, step, combine, wide) for column, step in ((values, 1), (beside, 2))]
    assert reduced[0].type == reduced[1].type == (wide or values.type)
    assert reduced[0].to_pylist() == reduced[1].to_pylist() == values.to_pylist()


def test_whole_numbers_alone_become_decimals_of_few_digits_before_the_point() -> None:
    """Arrow casts no column of 64-bit numbers to so few digits; the sums fit."""
    reduced = _reduced(pa.array([12, None]), 1, Combine.SUM, pa.decimal128(10, 0))
    assert reduced.to_pylist() == [Decimal(12), None]


def test_rows_alone_that_the_reader_does_not_read_have_no_value() -> None:
    cells = Cells(np.arange(3), np.array([[True, False, True]]))
    assert cells.reduce(pa.array([1, 2, 3]), Combine.SUM, cells.present()).to_pylist() == [1, 3]


def _reduced(values: pa.Array, rows: int, combine: Combine, sums: Any) -> pa.Array:
    """Groups of as many rows each."""
    cells = Cells.of_one_reader(np.arange(0, len(values), rows), len(values))
    return cells.reduce(values, combine, cells.every, sums)
