"""Files are removed when they have no readers any more."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from workbench import Session
from workbench.engine.spark.in_process import InProcess
from workbench.engine.storage.file_collection import ASIDE, FileCollector, unnamed_files
from workbench.limits import Limits
from workbench.streams.tail import FILED_ROWS


def test_what_is_read_stays_until_it_was_read(tmp_path: Path) -> None:
    file = tmp_path / "rows.arrow"
    file.touch()
    collector = FileCollector(tmp_path / "readers.lock")
    with collector.reading():
        with collector.reading():
            collector.collect([str(file)])
        assert file.exists()
    assert not file.exists()


def test_what_no_state_names_is_told_by_its_age(tmp_path: Path) -> None:
    ages = {
        "t/named.arrow": 99,
        "t/named.key.index": 99,
        "packs/pack.arrow": 99,
        "t/old.arrow": 20,
        "t/old.key.index": 15,
        "t/.old.index.part": 20,
        "t/young.arrow": 5,
        "t/kept.step": 99,
        f"{ASIDE}1/t/old.arrow": 99,
        "t/newest.arrow": 0,
    }
    for name, age in ages.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        os.utime(file, (1_000 - age, 1_000 - age))  # the clock of the disk may be years behind
    named = [f"{tmp_path}/t/named.arrow", f"{tmp_path}/packs/pack.arrow", f"{tmp_path}/t/newest.arrow"]
    found = {os.path.relpath(file, tmp_path) for file in unnamed_files([tmp_path], named, seconds=10)}
    assert found == {"t/old.arrow", "t/old.key.index", "t/.old.index.part"}


def test_what_failed_attempts_wrote_is_removed_after_a_commit(tmp_path: Path) -> None:
    limits = Limits(milliseconds_until_collected=0)
    with Session(InProcess(), tmp_path / "session", limits=limits) as session:
        session.add_stream("t", pa.table({"id": [*range(40)], "g": [1, 2] * 20}), history=10, batch=5)
        query = session.register("SELECT g, COUNT(*) AS n FROM t GROUP BY g")
        session.run(1)
        (tree,) = (session.path / "state").glob("G*")
        names = (f"{tree}/0a.arrow", f"{tree}/0a.key.index", f"{tree}/.0b.key.index.1", "state/packs/0c.arrow")
        orphans = [session.path / name for name in names]
        for file in orphans:
            file.write_bytes(b"of an attempt that failed")
        session.run(1)
        assert not any(file.exists() for file in orphans)
        session.run(2)
        assert dict(query.result().itertuples(index=False)) == {1: 15, 2: 15}
    with Session.open(tmp_path / "session", InProcess()) as session:
        assert not session.read_only and session.check(empty=True).whole


@pytest.mark.parametrize("scheme", ["", "file://"], ids=["in a folder", "in a store"])
def test_what_failed_attempts_wrote_of_a_log_is_removed_after_a_commit(scheme: str, tmp_path: Path) -> None:
    """As tasks that read objects do; the files that the log names stay, and those that are no files of its rows."""
    limits, landing = Limits(milliseconds_until_collected=0), tmp_path / "in"
    landing.mkdir()
    parquet.write_table(pa.table({"id": range(FILED_ROWS), "g": [1, 2] * (FILED_ROWS // 2)}), landing / "1.parquet")
    with Session(InProcess(), f"{scheme}{tmp_path}/session", limits=limits) as session:
        session.add_stream("t", f"{landing}/*.parquet", history=0, batch=FILED_ROWS)
        query = session.register("SELECT g, COUNT(*) AS n FROM t GROUP BY g")
        session.run(1)
        (file,) = (tmp_path / "session" / "streams").rglob("later-*")
        orphan, other = file.with_name("later-0a.parquet"), file.with_name("notes.parquet")
        for one in (orphan, other):
            one.write_bytes(b"of an attempt that failed")
        parquet.write_table(pa.table({"id": [0, 1], "g": [1, 2]}), landing / "2.parquet")
        session.run(1)
        assert not orphan.exists() and other.exists() and file.exists()
        assert dict(query.result().itertuples(index=False)) == dict.fromkeys((1, 2), FILED_ROWS // 2 + 1)
        assert session.check().whole
