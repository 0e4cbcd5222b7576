"""Rows in the order of one column of numbers, which are sorted at once, are in the order of their ranks."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from engine.storage.ends_of_types import ENDS

from workbench.engine.storage.comparable import dense_ranks, first_in_order, positions_in_order, stable_order


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("nulls_first", [False, True])
def test_the_order_is_that_of_ranks(descending: bool, nulls_first: bool) -> None:
    draw = random.Random(7)
    for type_, values in [*ENDS.items()] * 10:
        column = pa.array([draw.choice([None, *values]) for _ in range(draw.randint(0, 40))], type_)
        column = column.slice(draw.randint(0, 2))
        order = positions_in_order([column], [(descending, nulls_first)])
        assert order.tolist() == np.lexsort([dense_ranks(column, (descending, nulls_first))]).tolist(), column


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("nulls_first", [False, True])
def test_the_first_rows_are_those_of_the_whole_order(descending: bool, nulls_first: bool) -> None:
    draw = random.Random(8)
    for type_, values in [*ENDS.items()] * 4:
        column, way = pa.array([draw.choice([None, *values]) for _ in range(300)], type_), (descending, nulls_first)
        for count in (0, 1, 9, 30, 299):
            assert first_in_order(column, way, count).tolist() == positions_in_order([column], [way])[:count].tolist()


@pytest.mark.parametrize("nulls", [0.0, 0.5, 0.99])
@pytest.mark.parametrize("stand", ["in order", "the other way round", "anyhow", "alike"])
def test_the_first_texts_are_found_however_they_stand(stand: str, nulls: float) -> None:
    draw = random.Random(f"{stand}{nulls}")
    texts: list[str | None] = [
        f"account {number:05}" if stand != "alike" else "ab"[number % 2] for number in range(5_000)
    ]
    if stand == "anyhow":
        draw.shuffle(texts)
    column = pa.array([None if draw.random() < nulls else text for text in texts[:: -1 if "other" in stand else 1]])
    for descending, count in product([False, True], [1, 2, 4, 40, 400]):
        way = (descending, False)
        assert first_in_order(column, way, count).tolist() == positions_in_order([column], [way])[:count].tolist()


@pytest.mark.parametrize("width", [1, 7, 2**40, 2**62])
def test_equal_numbers_keep_their_order(width: int) -> None:
    draw = np.random.default_rng(9)
    for rows in (0, 1, 2, 1000):
        numbers = draw.integers(-width, width, rows)
        numbers = np.append(numbers, numbers[: rows // 2])
        assert stable_order(numbers).tolist() == np.argsort(numbers, kind="stable").tolist()
