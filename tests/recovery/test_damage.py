"""Damaged files, a full disk, a folder that cannot be written to, other versions: named, and nothing lost."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from oracle.class_queries import ALL
from oracle.harness import Feed, Oracle
from oracle.random_streams import names, stream
from pyspark.sql import SparkSession
from recovery.survival import stray_files, what_survives

from workbench import Session
from workbench.catalog.database import CatalogError
from workbench.engine import segments
from workbench.errors import EngineError, QueryError, SessionError

CASES = ["selection_or", "join_self", "aggregate_by_group", "aggregate_of_aggregates", "set_except_all"]


@pytest.fixture
def oracle(spark: SparkSession, tmp_path: Path) -> Iterator[Oracle]:
    feeds = {
        "t": Feed(stream(150, seed=61), history=30, batch=16),
        "u": Feed(stream(110, seed=62), history=10, batch=12),
        "names": Feed(names(63), static=True),
    }
    with Oracle(spark, feeds, path=tmp_path / "s") as made:
        made.register({name: ALL[name] for name in CASES}, check=False)
        made.run(2, check=False)
        yield made


def largest(files: frozenset[str]) -> Path:
    return max(map(Path, files), key=lambda file: (file.stat().st_size, file.name))


@pytest.mark.parametrize("part", ["rows", "state", "log", "arrived"])
def test_a_file_that_was_cut_short(spark: SparkSession, oracle: Oracle, part: str) -> None:
    session = oracle.session
    plan = session._state.network.queries["aggregate_by_group"]
    tree = session._engine.trees[plan.read.root]
    assert tree.state is not None
    files = {
        "rows": tree.relation.files,
        "state": tree.state.files,
        "log": frozenset(s.path for s in tree.log[-1].delta.segments),
        "arrived": session._engine.held.arrived["t"].files,
    }
    damaged = largest(files[part])
    session.close()
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[: len(whole) // 2])
    with Session.open(session.path, spark) as reading:
        assert reading.read_only is not None
        assert f"{damaged} is damaged: it has {len(whole) // 2:,} bytes instead of {len(whole):,}" in reading.read_only
        assert "repair=True" in reading.read_only
        with pytest.raises(SessionError, match="read-only"):
            reading.run(1)
        for name, query in reading.queries.items():
            oracle.watched[name].query = query
        needing = {name for name, query in reading.queries.items() if query.status != "active"}
        assert ("aggregate_by_group" in needing) == (part != "arrived")
        for name in needing:
            with pytest.raises(QueryError, match=damaged.name):
                reading.query(name).result()
        oracle.check_results(set(CASES) - needing)
    # Nothing was changed by looking, so the file can be put back.
    damaged.write_bytes(whole)
    with Session.open(session.path, spark) as again:
        assert again.read_only is None
    damaged.unlink()
    oracle.session = Session.open(session.path, spark, repair=True)
    assert oracle.session.read_only is None
    for name, query in oracle.session.queries.items():
        oracle.watched[name].query = query
    oracle.run(1)
    assert stray_files(oracle.session) == set()
    for name, query in oracle.session.queries.items():  # changes of what was computed anew begin at the repair
        expected = oracle.watched[name].expected
        oracle.watched[name].expected = {b: rows for b, rows in expected.items() if b >= query.registered}
    oracle.check_changes()
    if part == "arrived":
        oracle.register({"late": ALL["selection_and"]})


def test_a_damaged_catalog_and_other_versions(spark: SparkSession, oracle: Oracle) -> None:
    oracle.session.close()
    catalog = oracle.session.path / "catalog.sqlite"
    whole = catalog.read_bytes()
    connection = sqlite3.connect(catalog)
    connection.execute("PRAGMA user_version = 1")
    connection.close()
    with pytest.raises(CatalogError, match="has catalog version 1, and this workbench reads version 2"):
        Session.open(oracle.session.path, spark)
    catalog.write_bytes(b"no catalog " * 500)
    with pytest.raises(CatalogError, match="is not a catalog of the workbench, or is damaged"):
        Session.open(oracle.session.path, spark)
    catalog.write_bytes(whole)
    oracle.reopen()
    oracle.run(1)


def test_a_function_that_cannot_be_loaded(spark: SparkSession, oracle: Oracle) -> None:
    session = oracle.session
    session.add_function("halved", lambda value: None if value is None else value / 2)
    session.register("SELECT id, halved(k) AS h FROM t", name="half")
    session.close()
    connection = sqlite3.connect(session.path / "catalog.sqlite")
    connection.execute("UPDATE user_functions SET python = '2.7'")
    connection.commit()
    connection.close()
    with Session.open(session.path, spark, repair=True) as reading:
        assert "function halved was stored by Python 2.7" in str(reading.read_only)
        with pytest.raises(QueryError, match=r"stored by Python 2\.7"):
            reading.query("half").result()
        for name in CASES:
            oracle.watched[name].query = reading.query(name)
        oracle.check_results()
    oracle.session = Session.open(session.path, spark)


def test_a_stream_whose_log_is_gone(spark: SparkSession, oracle: Oracle) -> None:
    oracle.session.close()
    (log,) = (oracle.session.path / "streams" / "1-u").glob("*.parquet")
    log.rename(log.with_suffix(".away"))
    with Session.open(oracle.session.path, spark, repair=True) as reading:
        assert f"{log} is missing" in str(reading.read_only)
        for name in CASES:
            oracle.watched[name].query = reading.query(name)
        oracle.check_results()
    log.with_suffix(".away").rename(log)
    oracle.session = Session.open(oracle.session.path, spark)
    oracle.session.run(1)


@pytest.mark.parametrize("after", [0, 2, 5])
def test_a_full_disk(oracle: Oracle, monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """Rows cannot be written in the driver, at the commit, or in the catalog."""
    session = oracle.session
    before = what_survives(session)
    with monkeypatch.context() as patch:
        if after == 0:
            patch.setattr(segments.pa, "OSFile", full)
        elif after == 2:
            patch.setattr(os, "fsync", full)
        else:
            pages = session.catalog("SELECT 1 AS one") is not None and database_of(session)
            pages.execute(f"PRAGMA max_page_count = {pages.execute('PRAGMA page_count').fetchone()[0]}")
        with pytest.raises((EngineError, CatalogError)) as raised:
            session.run(3)
        assert "No space left" in str(raised.value) or "disk is full" in str(raised.value)
        assert "make room" in str(raised.value)
    if after == 5:
        pages.execute("PRAGMA max_page_count = 1073741823")
    assert what_survives(session) == before or session.batch > 2
    assert stray_files(session) == set()
    oracle.catch_up()
    oracle.check_results()
    oracle.run(1)
    oracle.reopen()
    oracle.run(1)
    oracle.check_changes()


def full(*arguments: Any, **named: Any) -> Any:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def database_of(session: Session) -> sqlite3.Connection:
    return session._planner.catalog._database._connection


def test_a_folder_that_cannot_be_written_to(
    spark: SparkSession, oracle: Oracle, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = oracle.session.path
    oracle.session.close()
    before = sorted(str(file) for file in folder.rglob("*"))
    can = os.access
    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda path, mode: mode != os.W_OK and can(path, mode))
        with Session.open(folder, spark) as reading:
            assert reading.read_only == "the folder cannot be written to"
            for name, query in reading.queries.items():
                oracle.watched[name].query = query
            oracle.check_results()
            with pytest.raises(SessionError, match="the folder cannot be written to"):
                reading.run(1)
    assert {f for f in map(str, folder.rglob("*")) if "sqlite-" not in f} == set(before)
    oracle.session = Session.open(folder, spark)
    oracle.session.run(1)
