"""The rows at most so far from each in its order are those between two keys."""

from __future__ import annotations

import math
from calendar import monthrange
from contextlib import suppress
from datetime import date, datetime, timedelta
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from engine.storage.ends_of_types import ENDS

from workbench.engine.physical.analytic.reach import distance_in_order
from workbench.engine.storage.indexes.order_index import OrderIndex, RowOrder
from workbench.sql.algebra.analytic import FrameEnd
from workbench.sql.algebra.types import DataType, Kind

ORDERED = [type_ for type_ in ENDS if not pa.types.is_string(type_) and not pa.types.is_boolean(type_)]
DISTANCES = [1, 2, 31, 86_400_000_000, 2**31, 2**53 + 1, 2**63, 2**64, 10**22, 10**37, 2**127 + 5, 10**60]
DIRECTIONS = [(descending, nulls_first) for descending in (False, True) for nulls_first in (False, True)]
_EPOCH = datetime(1970, 1, 1)


def _number(value: Any, type_: pa.DataType) -> Any:
    """A value as the number whose distances count: days, microseconds, units of the last digit."""
    if isinstance(value, Decimal):
        with localcontext(prec=60):
            return int(value.scaleb(type_.scale))
    if isinstance(value, datetime):
        return (value - _EPOCH) // timedelta(microseconds=1)
    return (value - _EPOCH.date()).days if isinstance(value, date) else value


def _bounds(values: list[Any], type_: pa.DataType, direction: tuple[bool, bool], by: float) -> list[tuple[Any, ...]]:
    """The keys of rows, and between which keys those at the distance of each are, with two other columns beside."""
    schema = pa.schema({"part": pa.int64(), "v": type_, "tie": pa.int64()})
    index = OrderIndex(RowOrder(("part",), (("v", direction),), ("tie",)), schema, None)
    columns = [pa.array([3] * len(values)), pa.array(values, type_), pa.array(range(len(values)))]
    keys = index.keys(pa.record_batch(columns, schema=schema))
    return list(zip(index.at_distance(keys, -by), keys, index.at_distance(keys, by), strict=True))


def _near(value: Any, type_: pa.DataType, by: int) -> list[Any]:
    """Values just within a distance and just beyond it, where the type has them."""
    found = []
    for shift in (side * (by + beyond) for side in (1, -1) for beyond in (-1, 0, 1)):
        with localcontext(prec=60), suppress(OverflowError, pa.ArrowInvalid):  # no value may be so far away
            found += pa.array([value + _step(shift, type_)], type_).to_pylist()
    return found


def _step(shift: int, type_: pa.DataType) -> Any:
    """So many days, microseconds or units of the last digit."""
    if pa.types.is_decimal(type_):
        return Decimal(shift).scaleb(-type_.scale)
    if pa.types.is_timestamp(type_):
        return timedelta(microseconds=shift)
    return timedelta(shift) if pa.types.is_date(type_) else shift


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("type_", [type_ for type_ in ORDERED if not pa.types.is_floating(type_)], ids=str)
def test_whole_numbers_and_times_are_within_a_distance_or_not(type_: pa.DataType, direction: tuple[bool, bool]) -> None:
    for by in DISTANCES:
        values = [None, *ENDS[type_]]
        values += [near for value in ENDS[type_] for near in _near(value, type_, by)]
        bounds = _bounds(values, type_, direction, by)
        numbers = [None if value is None else _number(value, type_) for value in values]
        for number, (low, _, high) in zip(numbers, bounds, strict=True):
            for other, (_, key, _) in zip(numbers, bounds, strict=True):
                within = number is other if None in (number, other) else abs(number - other) <= by
                assert (low <= key <= high) is within, (number, other, by)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_doubles_are_within_a_distance_and_hardly_more(direction: tuple[bool, bool]) -> None:
    finite = [0.0, -0.0, 0.1, 0.3, -0.2, 1.5, -1.5, 3.0, 1e16, -1e16, 5e-324, -5e-324, 1e308, -1e308, 1.7e308]
    values = [None, *finite, math.inf, -math.inf, math.nan, -math.nan]
    for by in (5e-324, 0.1, 0.2, 1.0, 1.5, 3.0, 2e16, 1e308, 1.7976931348623157e308):
        bounds = _bounds(values, pa.float64(), direction, by)
        for number, (low, _, high) in zip(values, bounds, strict=True):
            for other, (_, key, _) in zip(values, bounds, strict=True):
                inside = low <= key <= high
                if None in (number, other) or math.isnan(number) or math.isnan(other):
                    assert inside is (number is other or str(number) == str(other) == "nan"), (number, other, by)
                elif math.isinf(number) and number == other:
                    assert inside, (number, other, by)
                elif math.isinf(number) or math.isinf(other):
                    assert inside <= (by > 1e307), (number, other, by)
                else:
                    apart, most = abs(Fraction(number) - Fraction(other)), Fraction(by)
                    assert inside >= (abs(number - other) <= by), (number, other, by)  # as a database rounds it
                    if abs(number) + by < 1e308:  # sums beyond have infinity for a bound
                        rounded = (abs(Fraction(number)) + most) / 10**14
                        assert inside <= (apart <= most + rounded), (number, other, by)


@pytest.mark.parametrize("months", [1, 2, 12, 100])
def test_months_are_within_as_many_times_31_days(months: int) -> None:
    values = [date(2023 + at // 12, at % 12 + 1, day) for at in range(40) for day in (1, 15, 28)]
    values += [date(2024, 1, 31), date(2024, 2, 29), date(2024, 3, 31), date(2024, 12, 31), date(2025, 3, 1)]
    by = distance_in_order(FrameEnd(f"-{months}", "MONTH"), DataType(Kind.DATE))
    assert by is not None
    bounds = _bounds(values, pa.date32(), (False, False), by)
    for value, (low, _, _) in zip(values, bounds, strict=True):
        for other, (_, key, _) in zip(values, bounds, strict=True):
            at = value.year * 12 + value.month - 1 - months
            last = monthrange(at // 12, at % 12 + 1)[1]
            begin = date(at // 12, at % 12 + 1, min(value.day, last))
            assert (low <= key) >= (begin <= other <= value), (value, other)


def test_bounds_of_a_partition_have_no_distance() -> None:
    schema = pa.schema({"part": pa.int64(), "v": pa.int64()})
    index = OrderIndex(RowOrder(("part",), (("v", (False, False)),), ()), schema, None)
    rows = pa.record_batch([pa.array([1, 2, 1]), pa.array([2**63 - 1, None, -(2**63)])], schema=schema)
    keys = index.keys(rows)
    hashes = keys.view("u1").reshape(3, index.width)[:, :8].copy().view(">u8").ravel()
    for low, key, high in zip(index.begin(hashes), keys, index.end(hashes), strict=True):
        assert low <= key <= high
    ends = index.at_distance(index.end(hashes), 5)  # bounds of a partition stay what they are
    assert ends.tolist() == index.end(hashes).tolist()
