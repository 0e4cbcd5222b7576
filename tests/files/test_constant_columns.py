"""Columns that are constant take one value of a file, and are read as they were."""

from pathlib import Path

import pyarrow as pa
import pytest

from workbench.engine.storage.segments import open_segment, write_segments
from workbench.files.constant_columns import with_runs, without_runs
from workbench.limits import Limits

ROWS = 5_000
CHANGING = pa.array(range(ROWS))
FILES_ALONE = Limits(bytes_per_part=0)


def of(column: pa.Array) -> pa.RecordBatch:
    """Rows with a column between others."""
    return pa.RecordBatch.from_arrays([CHANGING, column, CHANGING], names=["first", "constant", "last"])


@pytest.mark.parametrize("type_", [pa.int32(), pa.int64()])
@pytest.mark.parametrize("number", [0, 1, -1, -(2**31), 2**31 - 1])
def test_a_constant_column_is_read_as_it_was_and_takes_no_room(tmp_path: Path, number: int, type_: pa.DataType) -> None:
    rows = of(pa.array([number] * ROWS, type_))
    (one,), (other,) = (write_segments(pa.table(each), tmp_path, FILES_ALONE) for each in (rows, of(CHANGING)))
    read = open_segment(one.path)
    assert read.equals(rows) and read.schema.equals(rows.schema)
    assert read.column("constant").slice(7, 3).to_pylist() == [number] * 3
    assert other.bytes - one.bytes > ROWS * 7


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1] * (ROWS - 1) + [2]),
        pa.array([1, 2] * (ROWS // 2 - 1) + [1, 1]),
        pa.array([1] * (ROWS - 1) + [None]),
        pa.nulls(ROWS, pa.int64()),
        pa.array([0.5] * ROWS),
        pa.array(["a"] * ROWS),
    ],
)
def test_other_columns_are_written_as_they_are(tmp_path: Path, column: pa.Array) -> None:
    assert with_runs(of(column)).schema.types[1] == column.type
    (segment,) = write_segments(pa.table(of(column)), tmp_path, FILES_ALONE)
    assert open_segment(segment.path).equals(of(column))


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 1_000])
def test_columns_of_any_length_are_as_long_as_they_were(count: int) -> None:
    schema = pa.schema([pa.field("n", pa.int64(), metadata={"is": "kept"})], {"so": "is this"})
    rows = pa.RecordBatch.from_arrays([pa.array([3] * count, pa.int64())], schema=schema)
    assert without_runs(with_runs(rows)).schema.equals(schema, check_metadata=True)
    assert without_runs(with_runs(rows)).equals(rows)


def test_columns_of_one_number_share_their_values() -> None:
    read = [without_runs(with_runs(of(pa.array([8] * count).take(pa.array([0] * ROWS))))) for count in (1, 2)]
    assert len({rows.column("constant").buffers()[1].address for rows in read}) == 1
