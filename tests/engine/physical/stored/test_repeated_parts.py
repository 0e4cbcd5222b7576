"""What is in an expression more than once is evaluated once for its rows."""

from __future__ import annotations

import pyarrow as pa
import pytest

from workbench.engine.physical.stored.kernels import table
from workbench.engine.physical.stored.kernels.kernel import Kernel
from workbench.sql.algebra.expressions import Call, Column, Expression
from workbench.sql.algebra.types import STRING
from workbench.sql.functions.calls import call


def test_a_part_that_is_there_again_and_again_is_evaluated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[str] = []
    kernel_of = table.kernel_of

    def counted(function: Call) -> Kernel | None:
        computed.append(function.function)
        return kernel_of(function)

    part: Expression = call("upper", Column("s", STRING))
    for _ in range(10):
        part = call("||", part, part)
    monkeypatch.setattr(table, "kernel_of", counted)
    (value,) = table.evaluate(part, pa.RecordBatch.from_pydict({"s": ["é"]})).to_pylist()
    assert value == "É" * 1024
    assert len(computed) < 100
