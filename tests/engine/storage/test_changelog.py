"""Logs of changes: all changes of all batches, in few files however many batches there were."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from workbench.engine.spark.in_process import InProcess
from workbench.engine.storage.changelog import Changelog, ChangelogEntry, append_change, changes_of, with_changes
from workbench.engine.storage.layout import Layout
from workbench.engine.storage.merging import merged_here
from workbench.engine.storage.relation import Delta, Relation
from workbench.engine.storage.segments import open_segment, write_segments
from workbench.limits import Limits
from workbench.session.session import Session
from workbench.sql.algebra.types import INTEGER

LAYOUT = Layout({"id": INTEGER}, words=1)


def change(batch: int, folder: Path) -> Delta:
    rows = {"id": [batch, batch + 1], "_batch": [batch] * 2, "_weight": [1, -1], "_bits0": [1, 1]}
    return Delta(write_segments(pa.table(rows, LAYOUT.arrow), folder))


def grown(log: Changelog, batch: int, tree: Relation) -> Changelog:
    log = append_change(log, batch, change(batch, tree.folder))
    changes = changes_of(log, tree)
    return with_changes(log, merged_here(changes) if changes.due else changes)


def rows_of(entries: tuple[ChangelogEntry, ...]) -> list[tuple[int, int, int]]:
    batches = [open_segment(segment.path) for entry in entries for segment in entry.delta.segments]
    return [(row["_batch"], row["id"], row["_weight"]) for batch in batches for row in batch.to_pylist()]


def test_a_log_has_all_changes_in_few_entries(tmp_path: Path) -> None:
    tree = Relation(InProcess(), LAYOUT, tmp_path)
    log: tuple[ChangelogEntry, ...] = ()
    for batch in range(1, 301):
        log = grown(log, batch, tree)
        assert log[-1].batch == batch
    assert len(log) < 30
    assert rows_of(log) == [row for batch in range(1, 301) for row in ((batch, batch, 1), (batch, batch + 1, -1))]


def test_what_a_tree_was_made_with_stays_apart(tmp_path: Path) -> None:
    tree = Relation(InProcess(), LAYOUT, tmp_path)
    earlier = tuple(ChangelogEntry(batch, change(batch, tmp_path)) for batch in range(1, 4))
    whole = ChangelogEntry(3, change(3, tmp_path), whole=True)
    log = (*earlier, whole)
    for batch in range(4, 100):
        log = grown(log, batch, tree)
    assert log[:4] == (*earlier, whole) and not any(entry.whole for entry in log[4:])
    assert rows_of(log[4:])[::2] == [(batch, batch, 1) for batch in range(4, 100)]


@pytest.mark.parametrize("results", ["lazy", "eager"])
def test_the_files_of_a_session_do_not_grow_with_its_batches(spark: SparkSession, tmp_path: Path, results: str) -> None:
    rows = pa.table({"id": range(500), "g": [i % 4 for i in range(500)], "d": [i // 10 for i in range(500)]})
    limits = Limits(states_kept=2)  # each kept state has files of its own
    with Session(spark, tmp_path / "s", limits=limits) as session:
        session.add_stream("t", rows, history=50, batch=5, time="d")
        session.register("SELECT g, COUNT(*) AS n FROM t GROUP BY g", "groups", results=results)
        session.register("SELECT id FROM t WHERE d > now() - 3", "window", results=results)
        files = []
        for _ in range(2):
            session.run(36)
            state = session.path / "state"
            files.append(sum(1 for file in state.rglob("*") if file.is_file()))
        assert files[1] <= files[0] + 8
        changes = {name: session.query(name).changes() for name in ("groups", "window")}
        answers = {name: session.query(name).result() for name in ("groups", "window")}
    for name, told in changes.items():
        columns = [column for column in told.columns if column not in ("batch", "weight")]
        summed = told.groupby(columns)["weight"].sum()
        left = {key if isinstance(key, tuple) else (key,) for key, weight in summed.items() if weight}
        assert left == set(answers[name].itertuples(index=False, name=None))
        assert set(summed) <= {0, 1}
        assert set(told["batch"]) == set(range(73))


def test_queries_that_come_and_go_leave_nothing(spark: SparkSession) -> None:
    with Session(spark) as session:
        session.add_stream("t", pa.table({"id": range(60), "g": [i % 4 for i in range(60)]}), history=20, batch=10)
        session.register("SELECT id FROM t", "all")
        session.run(1)
        before = {path for path in (session.path / "state").rglob("*") if path.suffix != ".arrow"}
        session.register("SELECT g, COUNT(*) AS n FROM t GROUP BY g", "groups")
        session.register("SELECT a.id FROM t a JOIN t b ON a.id = b.g", "pairs")
        session.run(1)
        session.drop("groups")
        session.drop("pairs")
        session.run(1)
        left = {path for path in (session.path / "state").rglob("*") if path.suffix not in (".arrow", ".index")}
        assert left == before
