"""Texts of tuples order as tuples do, are equal where these are, and give the last value back."""

from __future__ import annotations

import math
from functools import cmp_to_key
from itertools import pairwise
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from engine.storage.ends_of_types import ENDS

from workbench.engine.storage.grouping import not_distinct
from workbench.engine.storage.sort_keys import last_values, tuple_texts

TYPES = {
    "n": pa.int64(),
    "x": pa.float64(),
    "m": pa.decimal128(38, 2),
    "s": pa.string(),
    "d": pa.date32(),
    "t": pa.timestamp("us"),
    "b": pa.bool_(),
}


def in_order(left: Any, right: Any) -> int:
    """As Spark orders values: NULL first, NaN last, texts by their bytes."""
    if left is None or right is None:
        return (right is None) - (left is None) if left is not right else 0
    if isinstance(left, float) and (math.isnan(left) or math.isnan(right)):
        return math.isnan(left) - math.isnan(right)
    one, other = (value.encode() if isinstance(value, str) else value for value in (left, right))
    return (one > other) - (one < other)


def tuples_in_order(left: tuple[Any, ...], right: tuple[Any, ...]) -> int:
    return next((found for pair in zip(left, right, strict=True) if (found := in_order(*pair))), 0)


@pytest.mark.parametrize("kinds", ["n", "s", "xs", "sx", "mn", "nsm", "dtb", "bsd", "ss", "sns", "xm"])
def test_texts_order_as_tuples_do(kinds: str) -> None:
    random = Random(kinds)
    rows = [tuple(random.choice([None, *ENDS[TYPES[kind]]]) for kind in kinds) for _ in range(300)]
    columns = [pa.array(column, TYPES[kind]) for kind, column in zip(kinds, zip(*rows, strict=True), strict=True)]
    sliced = [pa.concat_arrays([column[:7], column]).slice(7) for column in columns]
    keys = tuple_texts(sliced, known=[])
    assert not keys.null_count and keys.validate(full=True) is None
    order = pc.sort_indices(keys).to_pylist()
    expected = sorted(rows, key=cmp_to_key(tuples_in_order))
    assert all(tuples_in_order(rows[at], row) == 0 for at, row in zip(order, expected, strict=True))
    texts = keys.to_pylist()
    for one, other in pairwise(order):
        assert (texts[one] == texts[other]) is (tuples_in_order(rows[one], rows[other]) == 0)
    assert not_distinct(last_values(keys, [column.type for column in columns]), columns[-1]).all()


def test_a_row_without_a_value_that_must_be_there_has_no_text() -> None:
    keys = tuple_texts([pa.array([1, None]), pa.array([None, "a"])], known=[0])
    assert keys.is_valid().to_pylist() == [True, False]
    assert last_values(keys, [pa.int64(), pa.string()]).to_pylist() == [None, None]
    assert tuple_texts([pa.array([1, None]), pa.array([None, "a"])], known=[0, 1]).null_count == 2


def test_no_rows_have_no_texts() -> None:
    keys = tuple_texts([pa.array([], pa.int64()), pa.array([], pa.float64())], known=[0])
    assert len(last_values(keys, [pa.int64(), pa.float64()])) == 0
