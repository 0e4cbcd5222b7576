"""Dates and times that SQL has and Python has not: in answers, rows of sinks, arrays, structs and maps."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pyarrow as pa
import pytest

from workbench.arrow.frames import frame_of
from workbench.arrow.stored_values import as_python, as_rows

DAYS = [0, 2932896, 2932897, -719162, -719163, 364878494, 2**31 - 1, -(2**31), None]
"""1970, the last day that Python has and the next, the first and the one before, one far away, the ends."""
DATES: list[Any] = [
    dt.date(1970, 1, 1), dt.date.max, "10000-01-01", dt.date.min, "0000-12-31", "1000973-05-21", "5881580-07-11",
    "-5877641-06-23", None,
]  # fmt: skip
MICROS = [0, 253402300799999999, 253402300800000000, -62135596800000000, -62135596800000001, 2**63 - 1, -(2**63), None]
TIMES: list[Any] = [
    dt.datetime(1970, 1, 1), dt.datetime.max, "10000-01-01T00:00:00.000000", dt.datetime.min,
    "0000-12-31T23:59:59.999999", "294247-01-10T04:00:54.775807", None, None,
]  # fmt: skip
dates = pa.array(DAYS, pa.int32()).cast(pa.date32())
times = pa.array([*MICROS[:6], None, None], pa.int64()).cast(pa.timestamp("us"))


@pytest.mark.parametrize(("column", "expected"), [(dates, DATES), (times, TIMES)])
def test_all_values_are_shown(column: pa.Array, expected: list[Any]) -> None:
    assert frame_of(pa.table({"v": column, "n": range(len(column))}))["v"].tolist() == expected
    assert [row["v"] for row in as_rows(pa.table({"v": column}))] == expected
    lists = pa.ListArray.from_arrays([0, len(column)], column)
    assert as_python(lists) == [expected]
    structs = pa.StructArray.from_arrays([column, column], ["x", "y"])
    assert as_python(structs) == [{"x": value, "y": value} for value in expected]
    keys = pa.array([str(n) for n in range(len(column))])
    maps = pa.MapArray.from_arrays([0, len(column)], keys, column)
    assert frame_of(pa.table({"v": maps}))["v"].tolist() == [dict(zip(keys.to_pylist(), expected, strict=True))]


def test_columns_within_python_are_as_pandas_has_them() -> None:
    frame = frame_of(pa.table({"d": dates.slice(0, 2), "t": times.slice(0, 2)}))
    assert frame["d"].tolist() == DATES[:2]
    assert str(frame["t"].dtype) == "datetime64[us]"
