"""Groups that stay open are what the segments of their state come to."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

from workbench.engine.operators.grouped import open_groups
from workbench.engine.operators.grouped.open_groups import OPEN_GROUPS, OpenGroups
from workbench.engine.physical.accumulators import rows_part
from workbench.engine.physical.aggregate_plan import LIVE, GroupedPlan
from workbench.engine.storage.layout import MEMBER, Layout, conform, only
from workbench.engine.storage.segments import Run, write_segments
from workbench.sql.algebra.types import INTEGER, STRING

PLAN = GroupedPlan({"a": STRING, "b": INTEGER}, (), (rows_part(LIVE),), {}, None)
SCHEMA = Layout(PLAN.state_columns).arrow
OWN = only(SCHEMA, [*PLAN.state_columns])
Counts = dict[tuple[int, str | None, int | None], int]


def rows_of(counts: Counts) -> pa.RecordBatch:
    rows = [{MEMBER: m, "a": a, "b": b, LIVE: count} for (m, a, b), count in counts.items()]
    return conform(pa.RecordBatch.from_pylist(rows, OWN), SCHEMA)


def change(random: Random) -> Counts:
    """Some of the groups, those with NULL too."""
    return {
        (random.randint(0, 1), random.choice(["x", "", None]), random.choice([1, 2, None])): random.randint(1, 9)
        for _ in range(random.randint(1, 6))
    }


def written(counts: Counts, folder: Path) -> Run:
    return write_segments(pa.Table.from_batches([rows_of(counts)]), folder)


def told(groups: OpenGroups) -> Counts:
    rows = groups.rows.take(pa.array(groups.places)).to_pylist()
    assert len({(row[MEMBER], row["a"], row["b"]) for row in rows}) == len(rows)
    return {(row[MEMBER], row["a"], row["b"]): row[LIVE] for row in rows}


@pytest.mark.parametrize("stale", [0, 1_000])
def test_they_are_kept_as_each_batch_leaves_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stale: int) -> None:
    monkeypatch.setattr(open_groups, "_STALE", stale)
    random, folder = Random(stale), str(tmp_path / "G1")
    expected = change(random)
    segments = written(expected, tmp_path / "G1")
    for _ in range(30):
        groups = OpenGroups.of(PLAN, folder, segments)
        assert told(groups) == expected
        dirty = change(random)
        found = groups.look_up(PLAN, rows_of(dirty))
        assert {[*dirty][at] for at in found.group} == dirty.keys() & expected.keys()
        expected |= {key: expected.get(key, 0) + count for key, count in dirty.items()}
        run = written(dirty, tmp_path / "G1")
        groups.keep(folder, run, rows_of({key: expected[key] for key in dirty}), found)
        segments = (*segments, *run)
    kept = OPEN_GROUPS.get((f"{folder}/groups", ""))
    assert OpenGroups.of(PLAN, folder, segments) is kept  # nothing was read again
    OPEN_GROUPS.forget(str(tmp_path))
    assert told(OpenGroups.of(PLAN, folder, segments)) == expected


def test_a_batch_that_failed_leaves_the_groups_as_they_were(tmp_path: Path) -> None:
    before, folder = {(0, "x", 1): 2}, str(tmp_path / "G1")
    segments = written(before, tmp_path / "G1")
    groups, dirty = OpenGroups.of(PLAN, folder, segments), {(0, "x", 1): 5}
    groups.keep(folder, written(dirty, tmp_path / "G1"), rows_of(dirty), groups.look_up(PLAN, rows_of(dirty)))
    assert told(OpenGroups.of(PLAN, folder, segments)) == before
