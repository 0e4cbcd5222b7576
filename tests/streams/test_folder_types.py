"""Files of a folder whose types differ a little: what is one type in the workbench is read, with no value changed."""

from __future__ import annotations

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
REFUSED: dict[str, tuple[list[Any], pa.DataType, list[Any], pa.DataType]] = {
    "texts for numbers": ([1], pa.int64(), ["1"], pa.string()),
    "fractions for whole numbers": ([1], pa.int64(), [1.5], pa.float64()),
    "a field more": ([ONE], PAIR, [{"a": 1, "B": "x", "c": 2}], pa.struct([*PAIR, ("c", pa.int64())])),
    "a field less": ([ONE], PAIR, [{"a": 1}], pa.struct([("a", pa.int64())])),
}


def fetched(folder: Path, first: pa.Array, second: pa.Array) -> tuple[list[Any], str]:
    pq.write_table(pa.table({"v": first}), folder / "1.parquet")
    reader, offsets, found = FolderReader(str(folder / "*.parquet")), dict[str, str](), list[Any]()
    for _ in range(3):
        got = reader.fetch(offsets, 1_000)
        offsets, found = {**offsets, **got.offsets}, found + got.rows["v"].to_pylist()
        if len(offsets) < 4:
            pq.write_table(pa.table({"v": second}), folder / "2.parquet")
    return found, got.problem


@pytest.mark.parametrize("name", READ)
def test_files_of_types_that_are_one(tmp_path: Path, name: str) -> None:
    first, type_, second, other = READ[name]
    found, problem = fetched(tmp_path, pa.array(first, type_), pa.array(second, other))
    assert found == [*first, *second] and problem == ""


@pytest.mark.parametrize("name", REFUSED)
def test_files_of_other_types_stop_nothing(tmp_path: Path, name: str) -> None:
    first, type_, second, other = REFUSED[name]
    found, problem = fetched(tmp_path, pa.array(first, type_), pa.array(second, other))
    assert found == first and "column v is" in problem
