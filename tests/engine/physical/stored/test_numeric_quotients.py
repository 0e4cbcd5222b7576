"""A quotient as PostgreSQL rounds it is computed once for each two numbers: all rows of a join may have one total."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

from workbench.engine.physical.stored.kernels import quotients
from workbench.engine.physical.stored.kernels.table import evaluate
from workbench.sql.algebra.expressions import Column
from workbench.sql.algebra.types import INTEGER, decimal
from workbench.sql.functions.operators import numeric_quotient


def test_once_for_each_two_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also with NULL, and by zero."""
    asked: list[tuple[int, int]] = []
    digits = quotients.quotient_digits
    monkeypatch.setattr(quotients, "quotient_digits", lambda *pair: asked.append(pair) or digits(*pair))
    total = [Decimal("10.00"), Decimal("-10.00"), None, Decimal("10.00")] * 500
    count = [3, 3, 3, 0] * 500
    rows = pa.RecordBatch.from_pydict({"s": pa.array(total, pa.decimal128(25, 2)), "n": pa.array(count)})
    found = evaluate(numeric_quotient(Column("s", decimal(25, 2)), Column("n", INTEGER)), rows).to_pylist()
    third = Decimal("3.3333333333333333")
    assert found == [third, -third, None, None] * 500
    assert len(asked) == 2
