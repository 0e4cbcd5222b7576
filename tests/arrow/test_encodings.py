"""Columns that are encoded are read as what they mean, from every source that has them."""

from __future__ import annotations

import uuid
from contextlib import ExitStack
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from workbench.arrow.encodings import plain_array
from workbench.streams.readers import open_source

IDS = [uuid.uuid4() if number % 5 else None for number in range(100)]
STORED = pa.array([one and one.bytes for one in IDS], pa.binary(16))
TEXTS = [one and str(one) for one in IDS]
ENCODED = {
    "uuid": (pa.ExtensionArray.from_storage(pa.uuid(), STORED), TEXTS),
    "json": (pa.ExtensionArray.from_storage(pa.json_(), pa.array(['{"a":1}', None])), ['{"a":1}', None]),
    "json_view": (
        pa.ExtensionArray.from_storage(pa.json_(pa.large_string()), pa.array(["[1]", None], pa.large_string())),
        ["[1]", None],
    ),
    "bool8": (pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, 0, None], pa.int8())), [True, False, None]),
    "runs": (
        pa.RunEndEncodedArray.from_arrays(pa.array([2, 3, 5], pa.int32()), pa.array(["a", None, "b"])),
        ["a", "a", None, "b", "b"],
    ),
    "list_view": (pa.array([[1], [2, 3], [], None], pa.list_view(pa.int64())), [[1], [2, 3], [], None]),
    "large_list_view": (pa.array([[1], [2, 3], [], None], pa.large_list_view(pa.int64())), [[1], [2, 3], [], None]),
    "no rows": (pa.ExtensionArray.from_storage(pa.uuid(), STORED[:0]), []),
    "all NULL": (pa.ExtensionArray.from_storage(pa.uuid(), pa.nulls(3, pa.binary(16))), [None] * 3),
}


@pytest.mark.parametrize("kind", ENCODED)
def test_values_and_parts_of_them(kind: str) -> None:
    values, expected = ENCODED[kind]
    assert plain_array(values).to_pylist() == expected
    assert plain_array(values[1:]).to_pylist() == expected[1:], "an array may begin within its buffers"
    assert plain_array(values[:1]).to_pylist() == expected[:1]


@pytest.mark.parametrize("kind", ENCODED)
def test_a_stream_of_them(kind: str, tmp_path: Path) -> None:
    values, expected = ENCODED[kind]
    table = pa.table({"x": values})
    sources: list[object] = [table, table.to_reader(max_chunksize=2)]
    if kind not in ("runs", "large_list_view", "list_view"):  # Parquet has no such columns
        pq.write_table(table, tmp_path / "x.parquet")
        sources.append(tmp_path / "x.parquet")
    for source in sources:
        with ExitStack() as stack:
            opened = open_source(source, tmp_path / "scratch", stack)
            assert [value for chunk in opened.chunks for value in chunk.rows["x"].to_pylist()] == expected


def test_a_frame_with_identifiers(tmp_path: Path) -> None:
    with ExitStack() as stack:
        opened = open_source(pd.DataFrame({"x": IDS}), tmp_path / "scratch", stack)
        assert [value for chunk in opened.chunks for value in chunk.rows["x"].to_pylist()] == TEXTS
