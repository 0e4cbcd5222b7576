"""Few rows and whole numbers are grouped by sorting them, others by Arrow: in the same groups in the same order."""

from __future__ import annotations

import datetime as dt
import random
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from workbench.engine.storage import grouping
from workbench.engine.storage.grouping import group_rows

NAN = np.array([0x7FF8000000000001, 0xFFF8000000000000], dtype=np.uint64).view(np.float64)
VALUES: dict[pa.DataType, list[object]] = {
    pa.int64(): [0, 1, -1, 2**62, None],
    pa.int32(): [0, 5, None],
    pa.bool_(): [True, False, None],
    pa.float64(): [0.0, -0.0, *NAN.tolist(), float("inf"), 5e-324, None],
    pa.float32(): [0.0, -0.0, float("nan"), 1.5, None],
    pa.string(): ["", "a", "A", "é", "e\u0301", "NULL", None],
    pa.binary(): [b"", b"\xff", None],
    pa.date32(): [dt.date(1, 1, 1), dt.date(9999, 12, 31), None],
    pa.timestamp("us"): [dt.datetime(1970, 1, 1), dt.datetime(2026, 1, 1, 0, 0, 0, 1), None],
    pa.timestamp("us", "UTC"): [dt.datetime(1970, 1, 1, tzinfo=dt.UTC), None],
    pa.decimal128(38, 2): [Decimal("0.00"), Decimal("-0.01"), Decimal(10) ** 35, None],
}


@pytest.mark.parametrize("type_", [*VALUES], ids=str)
def test_as_arrow_groups(type_: pa.DataType, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = random.Random(str(type_))
    for _ in range(40):
        rows = chosen.randrange(2, 65)
        columns = [pa.array(chosen.choices(VALUES[of], k=rows + 1), of)[1:] for of in (type_, chosen.choice([*VALUES]))]
        few = groups(columns, rows)
        assert few == sorted(few)  # in the order of their first rows
        with monkeypatch.context() as patch:
            patch.setattr(grouping, "ROWS_SORTED", 0)
            assert few == groups(columns, rows)  # by numbers of 16 bits
            patch.setattr(grouping, "FEW_VALUES", 0)
            assert few == groups(columns, rows)  # as numbers, or by Arrow
            patch.setattr(grouping, "_MOST", 2 ** chosen.randrange(6, 12))
            assert few == groups(columns, rows)  # as numbers in several steps


def groups(columns: list[pa.Array], rows: int) -> list[list[int]]:
    order, starts = group_rows(columns, rows)
    return [part.tolist() for part in np.split(order, starts[1:])]


@pytest.mark.parametrize("numbers", [np.arange(2**16) << 40, np.arange(2**16) / 8], ids=["integers", "doubles"])
def test_numbers_whose_lowest_bits_are_zero_are_told_apart_by_these(numbers: np.ndarray) -> None:
    """Arrow compared each with all others: 300,000 took 3 to 17 seconds."""
    lowest = grouping.with_mixed_low_bits(pa.array(numbers)).to_numpy() & 0xFFFFFFFF
    assert len(np.unique(lowest)) > 0.99 * len(numbers)
    twice = np.concatenate([numbers, numbers])
    assert groups([pa.array(twice)], len(twice)) == [[n, n + len(numbers)] for n in range(len(numbers))]
