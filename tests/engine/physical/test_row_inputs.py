"""What aggregates read of rows."""

from __future__ import annotations

import pyarrow as pa
import pytest

from workbench.engine.physical.row_inputs import ProductInput, row_input
from workbench.engine.physical.stored.values import Computed
from workbench.sql.algebra.expressions import Column
from workbench.sql.algebra.types import DOUBLE


def test_a_sum_of_doubles_computes_each_value_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[pa.RecordBatch] = []

    def noted(self: Computed, rows: pa.RecordBatch) -> pa.Array:
        asked.append(rows)
        return rows.column("x")

    monkeypatch.setattr(Computed, "values", noted)
    rows = pa.RecordBatch.from_pydict({"x": [1.5, None, 2.0]})
    digits = ProductInput((row_input(Column("x", DOUBLE)),), (1,)).digits(rows, pa.array([1, 1, 2]))
    assert digits.is_null().to_pylist() == [False, True, False] and len(asked) == 1
