"""Ranges in which sessions may change: the sessions of changed rows, and no others, whatever their length."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from workbench.arrow.types import Mask
from workbench.engine.operators.grouped.session_ranges import SessionRanges, TimeOrder
from workbench.engine.operators.grouped.state_lookup import KeyedLookup
from workbench.engine.physical.stored.values import Computed
from workbench.engine.storage.comparable import Orders
from workbench.engine.storage.indexes import key_index
from workbench.engine.storage.layout import Layout
from workbench.engine.storage.scan import Scan
from workbench.engine.storage.segments import Segment, write_segments
from workbench.sql.algebra.expressions import Column
from workbench.sql.algebra.types import INTEGER, STRING, TIMESTAMP

LAYOUT = Layout({"k": STRING, "t": TIMESTAMP, "id": INTEGER})
GAP = 10
FIRST, LAST = -(2**63), 2**63 - 1
Row = tuple[str | None, int | None]


def written(folder: Path, rows: list[Row]) -> tuple[Segment, ...]:
    if not rows:
        return ()
    columns = {
        "k": pa.array([key for key, _ in rows], pa.string()),
        "t": pa.array([time for _, time in rows], pa.int64()).cast(pa.timestamp("us")),
        "id": pa.array(range(len(rows)), pa.int64()),
        "_batch": pa.array([1] * len(rows), pa.int32()),
        "_weight": pa.array([1] * len(rows), pa.int64()),
    }
    return tuple(write_segments(pa.table(columns), folder))


def sessions(rows: list[Row]) -> list[tuple[str | None, int, int]]:
    """The first and the last time of each session, one row after the other."""
    found: list[tuple[str | None, int, int]] = []
    for key, time in sorted({r for r in rows if r[1] is not None}, key=lambda r: (str(r[0]), r[1] or 0)):
        assert time is not None
        if found and found[-1][0] == key and time - found[-1][2] <= GAP:
            found[-1] = (key, found[-1][1], time)
        else:
            found.append((key, time, time))
    return found


def ranges(
    folder: Path, before: list[Row], change: list[Row], keys: list[str | None]
) -> set[tuple[str | None, int, int]]:
    lookup = KeyedLookup(("k",), Scan.of(LAYOUT, ["id"], ["k"], None), TimeOrder("t", Computed(Column("t", TIMESTAMP))))
    dirty = pa.RecordBatch.from_arrays([pa.array(keys, pa.string())], names=["k"])
    half = len(before) // 2
    stored = (*written(folder, before[:half]), *written(folder, before[half:]))
    found = SessionRanges.around(dirty, lookup, stored, written(folder, change), GAP)
    triples = list(zip(found.groups.column("k").to_pylist(), found.low.tolist(), found.high.tolist(), strict=True))
    assert len(triples) == len(set(triples))
    return set(triples)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("span", [30, 300, 3_000])
@pytest.mark.parametrize("collide", [False, True])
def test_ranges_are_the_sessions_of_changed_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, span: int, collide: bool
) -> None:
    if collide:
        monkeypatch.setattr(key_index, "value_bits", lambda column: np.zeros(len(column), dtype=np.uint64))
    random = Random(seed)
    keys = ["x", "y", None]
    before = [(random.choice(keys), random.choice([None, random.randrange(span)])) for _ in range(80)]
    before += [("x", FIRST), ("y", LAST)] * (seed % 2)
    change = [(random.choice(keys), random.choice([None, random.randrange(span)])) for _ in range(5)]
    change += [("x", FIRST + 7), ("y", LAST), (None, FIRST)] * (seed % 3 == 0)
    dirty = list(dict.fromkeys(key for key, _ in change))
    wanted = {
        (key, low, high)
        for key, low, high in sessions(before + change)
        if any(key == own and time is not None and low <= time <= high for own, time in change)
    }
    assert ranges(tmp_path, before, change, dirty) == wanted


def test_a_row_in_a_long_group_reads_its_session(tmp_path: Path) -> None:
    before = [("x", 100 * at + within) for at in range(2_000) for within in (0, 5)]
    assert ranges(tmp_path, before, [("x", 150_009)], ["x"]) == {("x", 150_000, 150_009)}


def test_a_time_that_is_computed_is_computed_of_the_rows_that_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside once of each segment, for its index."""
    evaluated, orders = list[int](), TimeOrder.orders

    def counted(self: TimeOrder, rows: pa.RecordBatch) -> tuple[Orders, Mask]:
        evaluated.append(rows.num_rows)
        return orders(self, rows)

    monkeypatch.setattr(TimeOrder, "orders", counted)
    before: list[Row] = [("x", 100 * at + within) for at in range(2_000) for within in (0, 5)]
    assert ranges(tmp_path, before, [("x", 150_009)], ["x"]) == {("x", 150_000, 150_009)}
    assert sum(evaluated) < len(before) + 50


def test_a_session_of_many_rows_is_found_whole(tmp_path: Path) -> None:
    assert ranges(tmp_path, [("x", at) for at in range(0, 5_000, 7)], [("x", 2_001)], ["x"]) == {("x", 0, 4_998)}


def test_nothing_changes_where_no_row_has_a_time(tmp_path: Path) -> None:
    assert ranges(tmp_path, [("x", 1)], [("x", None)], ["x"]) == set()
