"""Rows of fused operators: each row once for each of them that reads a node it belongs to."""

from __future__ import annotations

from random import Random

import pyarrow as pa

from workbench.engine.storage.layout import MEMBER, Layout
from workbench.engine.storage.scan import FusedScan, Scan
from workbench.sql.algebra.types import INTEGER

LAYOUT = Layout({"id": INTEGER}, words=1)


def rows(random: Random, count: int) -> list[dict[str, int]]:
    return [{"id": i, "_batch": 1, "_weight": 1, "_bits0": random.choice([1, 2, 3])} for i in range(count)]


def test_every_changed_row_counts_for_each_member_that_reads_it() -> None:
    batch = pa.RecordBatch.from_pylist(rows(Random(6), 30), LAYOUT.arrow)
    scan = FusedScan(Scan.of(LAYOUT, ["id"], [], None), ((7, 0), (8, 1), (9, 0)))
    own = [(row["id"], row[MEMBER]) for row in scan.select(batch).to_pylist()]
    bits = {7: 1, 8: 2, 9: 1}
    wanted = [(row["id"], m) for row in batch.to_pylist() for m, mask in bits.items() if row["_bits0"] & mask]
    assert sorted(own) == sorted(wanted) and scan.select(batch).schema == scan.output
