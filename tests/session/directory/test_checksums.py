"""Files whose bytes are no longer those that were written are found: on opening, by a check, and while batches run."""

from __future__ import annotations

import shutil
import sqlite3
import time
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from session.directory.conftest import Follow
from session.directory.test_damage import part_of

from workbench import Session
from workbench.engine.spark.in_process import InProcess
from workbench.errors import EngineError, QueryError, SessionError, StreamError
from workbench.files.packs import bytes_checksum
from workbench.files.writing import NewFile, checksum_of
from workbench.limits import Limits
from workbench.session import integrity_checks
from workbench.session.directory.leftovers import KEPT_COMMITS, LARGE
from workbench.streams.ingest import ingest


def flip(file: Path) -> None:
    """Change one bit of one value; the file may be shared with other folders."""
    whole = bytearray(file.read_bytes())
    whole[len(whole) // 2] ^= 1
    file.unlink()
    file.write_bytes(whole)


def test_every_file_of_a_commit_has_its_checksum(spark: SparkSession, folder: Path) -> None:
    with Session.open(folder, spark) as session:
        session.run(1)
        files = session.parts.opening.stored_files()
        named = {file.file for file in files}
        assert session.parts.store.state.engine.files <= named
        assert {str(f) for s in session.streams.values() for f in s.log.folder.iterdir()} <= named
        assert any(str(file.path) != file.file for file in files)
        assert all(file.checksum == bytes_checksum(str(file.path)) for file in files)
        checked = session.check()
        assert checked.whole and checked.unverified == () and checked.files == len(named)
        assert "all are whole" in str(checked)


def test_two_flipped_values_are_noticed_and_computed_anew(spark: SparkSession, folder: Path, following: Follow) -> None:
    damaged = [part_of(folder, part) for part in ("rows", "state")]
    for file in damaged:
        flip(file)
    with Session.open(folder, spark) as reading:
        assert f"{damaged[0]} is damaged: its bytes are not those that were written" in str(reading.read_only)
        with pytest.raises(QueryError, match="its bytes are not those"):
            reading.query("by_group").result()
    oracle = following(Session.open(folder, spark, repair=True))
    oracle.run(1, check=["by_group"])


def test_a_check_finds_what_was_damaged_meanwhile(spark: SparkSession, folder: Path) -> None:
    with Session.open(folder, spark) as session:
        damaged = part_of(folder, "rows")
        flip(damaged)
        checked = session.check()
        assert list(checked.damaged) == [str(damaged)] and str(damaged) in str(checked)
        with pytest.raises(SessionError, match=damaged.name):
            session.run(1)
        with pytest.raises(QueryError, match=damaged.name):
            session.query("by_group").result()
        assert session.query("except_all").count()


def test_batches_look_at_all_files_in_turn(spark: SparkSession, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(integrity_checks, "BATCHES", 1)
    with Session.open(folder, spark) as session:
        session.run(1)
        session.parts.integrity.wait()
        damaged = part_of(folder, "arrived")
        flip(damaged)
        session.parts.integrity.verify_some()
        session.parts.integrity.wait()
        with pytest.raises(SessionError, match=damaged.name):
            session.run(1)
        assert f"{damaged} is damaged" in str(session.read_only)


def test_a_damaged_file_is_not_written_anew(spark: SparkSession, folder: Path) -> None:
    """Else its rows would have a checksum that is right."""
    with Session.open(folder, spark, limits=Limits(runs_per_merge=2)) as session:
        damaged = part_of(folder, "arrived")
        flip(damaged)
        with pytest.raises(EngineError, match=f"{damaged.name} is damaged"):
            session.run(6)


def test_a_check_says_which_files_have_no_checksum(spark: SparkSession, folder: Path) -> None:
    """Those of older versions; their catalogs do not say either which session they are of."""
    connection = sqlite3.connect(folder / "catalog.sqlite")
    connection.execute("UPDATE streams SET checksum = NULL")
    connection.execute("UPDATE segments SET checksum = NULL")
    connection.execute("DELETE FROM settings WHERE name = 'session'")
    connection.commit()
    connection.close()
    (folder / "session.json").unlink()
    with Session.open(folder, spark) as session:
        assert session.read_only is None
        checked = session.check()
        assert checked.whole and str(part_of(folder, "rows")) in checked.unverified
        assert "no checksum" in str(checked)
    assert (folder / "session.json").exists()
    Session.open(folder, spark).close()


def test_a_stream_without_rows_yet_runs_in_a_copy(spark: SparkSession, tmp_path: Path) -> None:
    rows = pa.table({"id": range(20)})
    with Session(spark, tmp_path / "s") as session:
        session.add_stream("t", rows, batch=10)
        session.register("SELECT id FROM t WHERE id > 3", name="some")
        session.save(tmp_path / "copy")
    for folder in (tmp_path / "copy", tmp_path / "s"):
        shutil.rmtree(folder / "state", ignore_errors=True)  # there is no file in it
        with Session.open(folder, spark) as copy:
            copy.run(1)
            assert copy.query("some").count() == 6


def test_what_no_commit_names_is_put_aside_and_goes_later(spark: SparkSession, folder: Path) -> None:
    (folder / "streams" / "9-stray").mkdir()
    for stray in ("state/stray.arrow", "streams/9-stray/rows-00000.parquet"):
        (folder / stray).write_bytes(b"of no commit")
    with Session.open(folder, spark) as session:
        (aside,) = (folder / "leftovers").iterdir()
        assert {str(file.relative_to(aside)) for file in aside.rglob("stray*")} == {"state/stray.arrow"}
        assert (aside / "streams" / "9-stray" / "rows-00000.parquet").read_bytes() == b"of no commit"
        for at in range(KEPT_COMMITS):
            assert aside.exists(), at
            session.set_batch("t", 12)
        assert not aside.exists()
    (folder / "state" / "stray.arrow").write_bytes(b"of no commit")
    with Session.open(folder, spark) as session:
        assert len(session.check().leftovers) == 1
        assert session.check(empty=True).leftovers == ()


@pytest.mark.parametrize("opened", [1, 2])
def test_large_leftovers_go_with_the_first_commit(tmp_path: Path, opened: int) -> None:
    """Also those of an opening after which nothing was done. Small ones are kept a while."""
    folder = tmp_path / "s"
    with Session(InProcess(), folder) as session:
        session.add_stream("t", pa.table({"n": [1, 2, 3]}), history=1, batch=1)
    for stray in ("state/large.arrow", "streams/9-stray/rows-00000.parquet"):
        (folder / stray).parent.mkdir(parents=True, exist_ok=True)
    with (folder / "state" / "large.arrow").open("wb") as file:
        file.truncate(LARGE)
    for _ in range(opened - 1):
        Session.open(folder, InProcess()).close()
    (folder / "state" / "small.arrow").write_bytes(b"of no commit")
    with Session.open(folder, InProcess()) as session:
        (large,) = (folder / "leftovers").glob("*/state/large.arrow")
        session.set_batch("t", 2)
        until = time.monotonic() + 120
        while large.exists() and time.monotonic() < until:
            time.sleep(0.01)
        assert not large.exists()
        assert len([*(folder / "leftovers").glob("*/state/small.arrow")]) == opened - 1, "it lies beside the large one"
        session.run(1)


def test_times_beyond_the_years_are_a_damaged_log(tmp_path: Path) -> None:
    """Not an ``OverflowError``; a log of an older version has no checksums that would tell it first."""
    import pyarrow.parquet as pq

    log = ingest("t", pa.table({"at": pa.array([0, 1], pa.timestamp("us"))}), tmp_path / "log")
    pq.write_table(pa.table({"at": pa.array([2**62, 1], pa.timestamp("us"))}), log.files[0].path)
    with pytest.raises(StreamError, match=f"{log.files[0].path.name}: at has a time beyond the years 1 to 9999"):
        log.read(0, 2)


def test_a_checksum_is_that_of_the_bytes(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with NewFile(path) as file:
        for part in (b"", b"some bytes", memoryview(b"and more")):
            file.write(part)
    assert path.read_bytes() == b"some bytesand more"
    assert file.checksum == checksum_of(path)
