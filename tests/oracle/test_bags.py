"""The comparison itself: it must find what differs, or it proves nothing."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal

import pyarrow as pa
import pytest
from oracle.bags import difference, frame_rows, is_beyond_python, rows

from workbench.arrow.frames import frame_of


def test_equal_bags_have_no_difference_whatever_their_order() -> None:
    assert difference([(1, None), (2, "a"), (1, None)], [(1, None), (1, None), (2, "a")]) == ([], [])


def test_a_duplicate_too_few_is_found() -> None:
    assert difference([(1,)], [(1,), (1,)]) == ([(1,)], [])


def test_a_row_too_many_is_found() -> None:
    assert difference([(1,), (2,)], [(1,)]) == ([], [(2,)])


def test_null_is_not_zero_nor_the_empty_string() -> None:
    assert difference([(0, "")], [(None, None)]) == ([(None, None)], [(0, "")])


def test_exact_numbers_are_compared_exactly() -> None:
    assert difference([(Decimal("0.10"),)], [(Decimal("0.1"),)]) == ([], [])
    assert difference([(Decimal("0.10"),)], [(Decimal("0.11"),)]) != ([], [])
    assert difference([(2**62 + 1,)], [(2**62,)]) != ([], [])


@pytest.mark.parametrize(
    ("found", "same"), [(1.0 + 1e-10, True), (1.0 + 1e-7, False), (math.inf, False), (None, False)]
)
def test_doubles_are_compared_within_a_tolerance(found: float | None, same: bool) -> None:
    assert (difference([("x", found)], [("x", 1.0)]) == ([], [])) is same


def test_a_decimal_may_round_in_its_last_digit_where_the_other_side_is_a_double() -> None:
    assert difference([(Decimal("0.333333"),)], [(1 / 3,)]) == ([], [])
    assert difference([(Decimal("0.333334"),)], [(1 / 3,)]) != ([], [])


def test_each_row_pairs_with_one_row_only() -> None:
    assert difference([(1.0,), (1.0 + 1e-12,)], [(1.0 + 2e-12,), (2.0,)])[0] == [(2.0,)]


def test_rows_of_a_frame_are_plain_python() -> None:
    first = (1, 0.5, Decimal("1.50"), dt.date(1, 1, 1), dt.datetime(2002, 11, 27, 10))
    columns = [pa.array([value, None]) for value in first]
    assert frame_rows(frame_of(pa.table(columns, list("abcde")))) == [first, (None,) * 5]


def test_days_and_times_after_the_year_9999_are_texts() -> None:
    assert all(map(is_beyond_python, ("10000-12-30", "10000-12-30T05:00:00")))
    assert not any(map(is_beyond_python, ("9999-12-30", "10000-12-30 of it", dt.date(9999, 12, 30), None)))


def test_nan_is_a_value_and_not_null() -> None:
    frame = frame_of(pa.table({"x": [math.nan, None, 1.0], "l": [[math.nan], [None], None]}))
    assert frame_rows(frame) == rows([(float("nan"), [float("nan")]), (None, [None]), (1.0, None)])
    assert difference([(math.nan, 0.1)], rows([(float("nan"), 0.1 + 1e-12)])) == ([], [])
    assert difference([(math.nan,)], [(None,)]) == ([(None,)], [(math.nan,)])


def test_what_is_left_of_sums_that_cancel_out_is_zero_where_the_case_says_so() -> None:
    assert difference([(1e-17,)], [(-2e-17,)]) == ([(-2e-17,)], [(1e-17,)])
    assert difference([(1e-17,)], [(-2e-17,)], zero=1e-12) == ([], [])
    assert difference([(0.1,)], [(0.2,)], zero=1e-12) == ([(0.2,)], [(0.1,)])
