"""Segments: how many rows one has."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from workbench.engine.storage.segments import SegmentWriter, open_segment
from workbench.limits import Limits

NARROW, WIDE = (
    pa.record_batch({"k": pa.array(range(10))}),
    pa.record_batch({"k": pa.array(range(10)), "s": ["x" * 99] * 10}),
)


@pytest.mark.parametrize(("rows", "sizes"), [(NARROW, [80, 80, 40]), (WIDE, [20] * 10)], ids=["narrow", "wide"])
def test_a_segment_has_many_rows_and_many_bytes(rows: pa.RecordBatch, sizes: list[int], tmp_path: Path) -> None:
    writer = SegmentWriter(str(tmp_path), Limits(rows_per_segment=20, bytes_per_segment=640))
    for _ in range(20):
        writer.add(rows)
    written = writer.close()
    assert [segment.rows for segment in written] == sizes
    read = pa.Table.from_batches([open_segment(segment.path) for segment in written])
    assert read.equals(pa.Table.from_batches([rows] * 20))
