"""Damaged files, a full disk, a folder that cannot be written to, other versions: named, and nothing lost."""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from session.directory.conftest import AHEAD, BATCHES, CASES, Follow
from session.directory.survival import stray_files, what_survives

from workbench import Session
from workbench.catalog.database import CatalogError
from workbench.catalog.schema import VERSION
from workbench.engine.storage import segments
from workbench.errors import EngineError, QueryError, SessionError
from workbench.files import packs
from workbench.limits import Limits


def part_of(folder: Path, part: str) -> Path:
    """The largest file of a part: of the rows of streams, or of the tree that ``by_group`` reads."""
    connection = sqlite3.connect(folder / "catalog.sqlite")
    (root,) = connection.execute("SELECT root FROM queries WHERE name = 'by_group'").fetchone()
    owner = "t" if part == "arrived" else root
    found = connection.execute(
        "SELECT file FROM segments WHERE owner = ? AND part = ? ORDER BY bytes DESC, file", (owner, part)
    )
    return folder / str(found.fetchone()[0])


@pytest.mark.parametrize("part", ["rows", "state", "log", "arrived"])
def test_a_file_that_was_cut_short(spark: SparkSession, folder: Path, following: Follow, part: str) -> None:
    damaged = part_of(folder, part)
    whole = damaged.read_bytes()
    damaged.unlink()  # it is shared with the original
    damaged.write_bytes(whole[: len(whole) // 2])
    with Session.open(folder, spark) as reading:
        assert f"{damaged} is damaged: it has {len(whole) // 2:,} bytes instead of {len(whole):,}" in str(
            reading.read_only
        )
        assert "repair=True" in str(reading.read_only)
        with pytest.raises(SessionError, match="read-only"):
            reading.run(1)
        needing = {name for name, query in reading.queries.items() if query.status != "active"}
        assert needing == ({"by_group"} if part != "arrived" else set())
        for name in needing:
            with pytest.raises(QueryError, match=damaged.name):
                reading.query(name).result()
        following(reading).check_results(set(CASES) - needing)
    # Nothing was changed by looking, so the file can be put back.
    damaged.write_bytes(whole)
    with Session.open(folder, spark) as again:
        assert again.read_only is None
    damaged.unlink()
    session = Session.open(folder, spark, repair=True)
    assert session.read_only is None
    oracle = following(session)
    if part == "arrived":  # these are what a query starts from that is registered late
        late = session.register(CASES["by_group"].sql.replace("MIN(k)", "MAX(k)"), name="late")
        assert late.count() == session.query("by_group").count()
        session.drop("late")
    oracle.run(1)
    assert stray_files(session) == set()
    assert session.query("by_group").registered == (0 if part == "arrived" else BATCHES)
    oracle.watched["join_self"].query.changes()
    oracle.check_changes(["by_group", "of_groups"])


def test_a_damaged_catalog_and_other_versions(spark: SparkSession, folder: Path) -> None:
    catalog = folder / "catalog.sqlite"
    connection = sqlite3.connect(catalog)
    connection.execute("PRAGMA user_version = 1")
    connection.close()
    with pytest.raises(CatalogError, match=f"has catalog version 1, and this workbench reads version {VERSION}"):
        Session.open(folder, spark)
    for text in (b"no catalog " * 500, catalog.read_bytes()[:20_000]):
        catalog.write_bytes(text)
        with pytest.raises(CatalogError, match=r"catalog.sqlite"):
            Session.open(folder, spark)


def test_a_function_that_cannot_be_loaded(spark: SparkSession, folder: Path, following: Follow) -> None:
    with Session.open(folder, spark) as session:
        session.add_function("halved", lambda value: None if value is None else value / 2)
        session.register("SELECT id, halved(k) AS h FROM t", name="half")
    connection = sqlite3.connect(folder / "catalog.sqlite")
    connection.execute("UPDATE user_functions SET python = '2.7'")
    connection.commit()
    connection.close()
    with Session.open(folder, spark, repair=True) as reading:
        assert "function halved was stored by Python 2.7" in str(reading.read_only)
        with pytest.raises(QueryError, match=r"stored by Python 2\.7"):
            reading.query("half").result()
        assert reading.query("by_group").count()


def test_a_stream_whose_log_is_gone(spark: SparkSession, folder: Path, following: Follow) -> None:
    (log,) = (folder / "streams" / "1-u").glob("*.parquet")
    log.rename(log.with_suffix(".away"))
    with Session.open(folder, spark, repair=True) as reading:
        assert f"{log} is missing" in str(reading.read_only)
        following(reading).check_results(["except_all"])
    log.with_suffix(".away").rename(log)
    with Session.open(folder, spark) as session:
        assert session.read_only is None and session.streams["u"].position == 10 + 8 * BATCHES


@pytest.mark.parametrize("where", ["rows", "disk", "catalog"])
def test_a_full_disk(
    spark: SparkSession, folder: Path, following: Follow, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    session = Session.open(folder, spark)
    oracle = following(session)
    before = what_survives(session)
    database = session.parts.planner.catalog.database
    with monkeypatch.context() as patch:
        if where == "rows":
            for write in ("NewFile", "write_file"):
                patch.setattr(segments, write, full)
            patch.setattr(packs, "NewFile", full)
        elif where == "disk":
            patch.setattr(os, "fsync", full)
        else:
            # What merging takes out of the catalog would make room in it.
            patch.setattr(session.parts.jobs, "limits", Limits(runs_per_merge=100))
            database.run("VACUUM")  # no page is free
            pages = database.column("PRAGMA page_count")[0]
            database.column(f"PRAGMA max_page_count = {pages}")
        with pytest.raises((EngineError, CatalogError)) as raised:
            session.run(AHEAD)
        assert "No space left" in str(raised.value) or "disk is full" in str(raised.value)
        assert "make room" in str(raised.value)
    database.column("PRAGMA max_page_count = 1073741823")
    if where != "catalog":  # there was some room for a batch or two
        assert what_survives(session) == before
    assert stray_files(session) == set()
    oracle.catch_up()
    oracle.check_results(["by_group", "join_self"])
    if oracle.batch < BATCHES + AHEAD:
        oracle.run(1, check=["by_group"])
    oracle.check_changes(["by_group"])


def full(*arguments: Any, **named: Any) -> Any:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_folder_that_cannot_be_written_to(
    spark: SparkSession, folder: Path, following: Follow, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sorted(str(file) for file in folder.rglob("*"))
    can = os.access
    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda path, mode: mode != os.W_OK and can(path, mode))
        with Session.open(folder, spark) as reading:
            assert reading.read_only == "the folder cannot be written to"
            following(reading).check_results(["by_group"])
            with pytest.raises(SessionError, match="the folder cannot be written to"):
                reading.run(1)
    assert sorted(str(file) for file in folder.rglob("*") if "sqlite-" not in file.name) == before
