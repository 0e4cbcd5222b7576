"""Files of a folder whose types differ a little: what is one type in the workbench is read, with no value changed."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal as D
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from workbench.streams.live.folder import FolderReader

PAIR, TURNED = (
    pa.struct([("a", pa.int32()), ("B", pa.string())]),
    pa.struct([("B", pa.large_string()), ("a", pa.int64())]),
)
ONE: dict[str, Any] = {"a": 1, "B": "x"}
TWO: dict[str, Any] = {"B": "y", "a": 2**40}
READ: dict[str, tuple[list[Any], pa.DataType, list[Any], pa.DataType]] = {
    "wider": ([1, None], pa.int32(), [2**40], pa.int64()),
    "narrower": ([2**40], pa.int64(), [-1, None], pa.int8()),
    "unsigned": ([1], pa.uint16(), [2**63 - 1], pa.int64()),
    "texts after no values": ([None], pa.null(), ["t", None], pa.string()),
    "no values after numbers": ([1], pa.int64(), [None, None], pa.null()),
    "doubles": ([0.5], pa.float32(), [0.1, None], pa.float64()),
    "whole numbers among doubles": ([0.5], pa.float64(), [3], pa.int32()),
    "texts": (["a"], pa.large_string(), ["b", None], pa.dictionary(pa.int32(), pa.string())),
    "lists": ([[1], [], None], pa.list_(pa.int32()), [[2**40, None], None, []], pa.large_list(pa.int64())),
    "fields in another order": ([ONE, None], PAIR, [TWO, None, {"B": None, "a": None}], TURNED),
    "lists of structs": ([[ONE], None], pa.list_(PAIR), [[TWO, None], [], None, [TWO]], pa.list_(TURNED)),
    "structs in structs": ([{"p": ONE}], pa.struct([("p", PAIR)]), [{"p": TWO}, None], pa.struct([("p", TURNED)])),
}
MORE = pa.struct([*PAIR, ("c", pa.int64())])
OTHERS: dict[str, tuple[list[Any], pa.DataType, list[Any], pa.DataType, list[Any]]] = {
    "texts for numbers": ([1], pa.int64(), ["1", None], pa.string(), [None]),
    "numbers for texts": (["a"], pa.string(), [1, None], pa.int64(), [None]),
    "fractions for whole numbers": ([1], pa.int64(), [1.5, 2.0, None, 1e300], pa.float64(), [2, None]),
    "decimals for whole numbers": ([1], pa.int64(), [D("2.00"), D("2.50")], pa.decimal128(5, 2), [2]),
    "whole numbers for decimals": ([D("1.50")], pa.decimal128(4, 2), [7, 100], pa.int64(), [D("7.00")]),
    "fractions for decimals": ([D("1.50")], pa.decimal128(4, 2), [0.25, 0.125], pa.float64(), [D("0.25")]),
    "decimals for doubles": ([0.5], pa.float64(),
                             [D("0.25"), D("0.1234567890123456789")], pa.decimal128(25, 19), [0.25]),
    "large numbers for doubles": ([0.5], pa.float64(), [2**53 + 1, 2**53], pa.int64(), [2.0**53]),
    "true for numbers": ([1], pa.int64(), [True, None], pa.bool_(), [None]),
    "a field more": ([ONE], PAIR, [{"a": 1, "B": "x", "c": 2}, None], MORE, [ONE, None]),
    "a field less": ([ONE], PAIR, [{"a": 1}], pa.struct([("a", pa.int64())]), [{"a": 1, "B": None}]),
    "other fields in lists": ([[ONE]], pa.list_(PAIR), [[ONE, {"a": 2, "B": "y", "c": 3}], []], pa.list_(MORE),
                              [[ONE, {"a": 2, "B": "y"}], []]),
    "fractions in lists": ([[1]], pa.list_(pa.int64()), [[1.0], [2.5, 1.0], None], pa.list_(pa.float64()), [[1], None]),
    "dates for times": ([dt.datetime(2025, 1, 1, 7)], pa.timestamp("us"), [dt.date(2025, 1, 2)], pa.date32(),
                        [dt.datetime(2025, 1, 2)]),
}  # fmt: skip


def fetched(folder: Path, first: pa.Array, second: pa.Array) -> tuple[list[Any], str, int]:
    pq.write_table(pa.table({"v": first}), folder / "1.parquet")
    reader, offsets, found = FolderReader(str(folder / "*.parquet")), dict[str, str](), list[Any]()
    quarantined = 0
    for _ in range(3):
        got = reader.fetch(offsets, 1_000)
        offsets, found = {**offsets, **got.offsets}, found + got.rows["v"].to_pylist()
        quarantined += sum("v: " in entry.reason and "--type v=" in entry.reason for entry in got.quarantined)
        if len(offsets) < 4:
            pq.write_table(pa.table({"v": second}), folder / "2.parquet")
    return found, got.problem, quarantined


@pytest.mark.parametrize("name", READ)
def test_files_of_types_that_are_one(tmp_path: Path, name: str) -> None:
    first, type_, second, other = READ[name]
    found, problem, quarantined = fetched(tmp_path, pa.array(first, type_), pa.array(second, other))
    assert found == [*first, *second] and problem == "" and not quarantined


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_value_of_the_type_is_quarantined_by_value(tmp_path: Path, name: str) -> None:
    first, type_, second, other, fitting = OTHERS[name]
    found, problem, quarantined = fetched(tmp_path, pa.array(first, type_), pa.array(second, other))
    assert found == [*first, *fitting] and not problem and quarantined == len(second) - len(fitting)
