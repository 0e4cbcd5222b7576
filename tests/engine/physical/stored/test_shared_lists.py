"""EXPLODE pairs each row with places of its array, which is made once for all of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pyarrow as pa
import pytest

from workbench.engine.physical.stored.kernels import table
from workbench.sql.algebra.expressions import Call, Column, Constant
from workbench.sql.algebra.types import BOOLEAN, DOUBLE, INTEGER, STRING, array_of

TAGS = Call("split", (Column("s", STRING), Constant(",", STRING)), array_of(STRING))
TEXTS = ("", "a", "a,b", "x,y,z", None)


@pytest.fixture
def split(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many texts were split, each time."""
    (kernel, *_), made = table.KERNELS["split"], list[int]()

    def compute(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
        made.append(len(arguments[0]))
        return kernel.compute(call, arguments)

    monkeypatch.setitem(table.KERNELS, "split", (replace(kernel, compute=compute),))
    table.kernel_of.cache_clear()
    return made


@pytest.mark.parametrize("name", ["get", "element_at", "has_place"])
def test_an_array_is_made_once_for_all_its_places(name: str, split: list[int]) -> None:
    chosen = Random(7)
    rows = pa.RecordBatch.from_pydict(
        {
            "s": pa.array(chosen.choices(TEXTS, k=200)),
            "n": pa.array(chosen.choices([*range(-4, 0), None, *range(1, 5)], k=200)),
        }
    )
    call = Call(name, (TAGS, Column("n", INTEGER)), BOOLEAN if name == "has_place" else STRING)
    alone = [table.evaluate(call, rows.slice(row, 1))[0].as_py() for row in range(200)]
    split.clear()
    assert table.evaluate(call, rows).to_pylist() == alone
    assert split == [len(TEXTS)]


def test_a_constant_place_asks_each_row_once(split: list[int]) -> None:
    call = Call("element_at", (TAGS, Constant(1, INTEGER)), STRING)
    assert table.evaluate(call, pa.RecordBatch.from_pydict({"s": ["a,b"] * 3})).to_pylist() == ["a"] * 3
    assert split == [3]


def test_zeros_of_two_signs_make_two_arrays() -> None:
    array = Call("array", (Column("x", DOUBLE),), array_of(DOUBLE))
    rows = pa.RecordBatch.from_pydict({"x": [0.0, -0.0, 0.0, -0.0], "n": [1] * 4})
    found = table.evaluate(Call("element_at", (array, Column("n", INTEGER)), DOUBLE), rows).to_pylist()
    assert [math.copysign(1, value) for value in found] == [1, -1, 1, -1]
