"""Rows of fused operators: each row once for each of them that reads a node it belongs to."""

from __future__ import annotations

from random import Random

import pyarrow as pa

from workbench.engine.storage.layout import GROUPING_SET, MEMBER, Layout
from workbench.engine.storage.scan import FusedScan, LineageScan, Scan
from workbench.sql.algebra.types import INTEGER

LAYOUT = Layout({"id": INTEGER}, words=1)


def rows(random: Random, count: int) -> list[dict[str, int]]:
    return [{"id": i, "_batch": 1, "_weight": 1, "_bits0": random.choice([1, 2, 3])} for i in range(count)]


def test_every_changed_row_counts_for_each_member_that_reads_it() -> None:
    batch = pa.RecordBatch.from_pylist(rows(Random(6), 30), LAYOUT.arrow)
    scan = FusedScan(Scan.of(LAYOUT, ["id"], [], None), ((7, (0,)), (8, (1,)), (9, (0, 1))))
    (read,) = scan.select(batch)
    own = [(row["id"], row[MEMBER]) for row in read.to_pylist()]
    bits = {7: 1, 8: 2, 9: 3}
    wanted = [(row["id"], m) for row in batch.to_pylist() for m, mask in bits.items() if row["_bits0"] & mask == mask]
    assert sorted(own) == sorted(wanted) and read.schema == scan.output


def test_every_changed_row_comes_once_for_each_grouping_with_the_bits_of_its_readers() -> None:
    batch = pa.RecordBatch.from_pylist(rows(Random(7), 30), LAYOUT.arrow)
    readers = ((7, (0,)), (9, (0,))), ((8, (1,)),), ((10, (0, 1)), (11, (0, 1)))
    scan = LineageScan(Scan.of(LAYOUT, ["id"], [], None), readers, (0,))
    read = list(scan.select(batch))
    got = [(row["id"], row[GROUPING_SET], row["_bits0"]) for own in read for row in own.to_pylist()]
    wanted = [
        (row["id"], number, row["_bits0"] & mask)
        for number, mask in enumerate([1, 2, 3])
        for row in batch.to_pylist()
        if row["_bits0"] & mask == mask
    ]
    assert got == wanted and all(own.schema == scan.output for own in read)


def test_rows_of_the_only_reader_come_without_lineage() -> None:
    """Those with all of its bits; the grouping of another, that has left, has no rows."""
    batch = pa.RecordBatch.from_pylist(rows(Random(8), 30), LAYOUT.arrow)
    scan = LineageScan(Scan.of(LAYOUT, ["id"], [], None), ((), ((9, (0, 1)),)), ())
    none, read = scan.select(batch.select(scan.input.names))
    assert none.num_rows == 0 and read.schema == none.schema == scan.output
    assert "_bits0" in scan.input.names and "_bits0" not in scan.output.names
    assert read.column("id").to_pylist() == [row["id"] for row in batch.to_pylist() if row["_bits0"] == 3]
    assert set(read.column(GROUPING_SET).to_pylist()) == {1}
