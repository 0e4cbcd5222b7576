"""What rows add to the parts of a state."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa

from workbench.engine.operators.grouped.addends import product

NINES = Decimal(10**38 - 1)
"""The largest decimal of 38 digits; twice it has no room."""


def test_a_product_without_room_is_null() -> None:
    values = pa.array([NINES, NINES, Decimal(5 * 10**37), Decimal(5 * 10**37 - 1), None], pa.decimal128(38, 0))
    weights = pa.array([1, -1, 2, -2, 2])
    expected = [NINES, Decimal(-(10**38) + 1), None, Decimal(-(10**38) + 2), None]
    assert product(values, weights, pa.decimal128(38, 0)).to_pylist() == expected
    numbers = pa.array([-(2**63), 2**63 - 1])
    assert product(numbers, pa.array([-(2**63), 2**63 - 1]), pa.decimal128(38, 0)).to_pylist() == [
        Decimal(2**126),
        Decimal((2**63 - 1) ** 2),
    ]
