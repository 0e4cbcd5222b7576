"""Functions of others are not loaded, and no other user can read a session's folder."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from workbench import Session
from workbench.__main__ import main
from workbench.catalog.catalog import Catalog
from workbench.errors import QueryError, SessionError, WorkbenchError
from workbench.files.writing import FOR_GROUP, FOR_OWNER, NewFile, make_folder
from workbench.limits import Limits
from workbench.session.directory.directory import CATALOG, SessionDirectory
from workbench.session.directory.signing import key_file
from workbench.session.directory.stored_functions import StoredFunction
from workbench.sql.algebra.types import DOUBLE, INTEGER

INDEXES_IN_FILES = Limits(rows_indexed_in_memory=0, bytes_per_part=0)
"""Else so few rows have no file for their index."""


class Runs:
    """Loading it leaves a trace."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return os.mkdir, (str(self.trace),)


@pytest.fixture
def from_somebody(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that another user wrote: one with another key."""
    with monkeypatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path / "other"))
        with Session(spark, tmp_path / "s") as session:
            session.add_stream("t", pa.table({"id": [1, 2, 3, 4], "k": [1, 1, 2, 2]}), history=2, batch=1)
            session.add_function("plus", lambda value: value + 1, returns="bigint")
            session.register("SELECT id, plus(k) AS p FROM t", name="shown")
            session.register("SELECT id FROM t WHERE plus(k) > 1", name="tested")
            session.register("SELECT id, plus(k) AS p FROM t", name="asked", results="off")
            session.register("SELECT k, COUNT(*) AS n FROM t GROUP BY k", name="without")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "mine"))
    return Path(shutil.copytree(tmp_path / "s", tmp_path / "copy"))


def test_functions_of_others_are_named_and_not_loaded(
    spark: SparkSession, from_somebody: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Session.open(from_somebody, spark) as session:
        assert "function plus is not loaded: it was not added by you" in str(session.read_only)
        assert "trust=True" in str(session.read_only)
        assert session.query("without").result().n.sum() == 2
        for name in ("shown", "tested", "asked"):
            with pytest.raises(QueryError, match="function plus is not loaded"):
                session.query(name).result()
        with pytest.raises(SessionError, match="read-only"):
            session.run(1)
    assert main(["run", str(from_somebody)]) == 1
    assert "--trust" in capsys.readouterr().err
    with Session.open(from_somebody, spark, trust=True) as session:
        session.run(1)
        assert sorted(session.query("shown").result().p) == [2, 2, 3]
        assert sorted(session.query("asked").result().p) == [2, 2, 3]
    with Session.open(from_somebody, spark) as session:  # they are signed anew
        assert session.read_only is None
    with Session.open(from_somebody, spark, trust=False) as session:
        assert "the session was opened without trust" in str(session.read_only)
    with pytest.raises(WorkbenchError, match="trust is 'yes'"):
        Session.open(from_somebody, spark, trust="yes")  # type: ignore[arg-type]


def test_no_byte_of_a_function_of_others_is_unpickled(spark: SparkSession, from_somebody: Path, tmp_path: Path) -> None:
    import pickle

    trace = tmp_path / "trace"
    connection = sqlite3.connect(from_somebody / "catalog.sqlite")
    connection.execute("UPDATE user_functions SET pickled = ?", (pickle.dumps(Runs(trace)),))
    connection.commit()
    connection.close()
    for trust in (None, False):
        Session.open(from_somebody, spark, trust=trust).close()
        assert not trace.exists()
    Session.open(from_somebody, spark, trust=True).close()
    assert trace.exists(), "this tests nothing"


def test_a_signature_is_of_one_user_name_type_and_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "one"))
    code = StoredFunction("f@1", DOUBLE, "3.11", b"code", 10, 1024, 1, 1).signed()
    assert code.signature is not None and code.is_signed
    assert stat.S_IMODE(key_file().stat().st_mode) == 0o600
    changed = ({"name": "g@1"}, {"returns": INTEGER}, {"pickled": b"codes"}, {"python": "3.12"}, {"seconds": 99},
               {"memory": 9_999})  # fmt: skip
    for other in (replace(code, **change) for change in changed):
        assert not other.is_signed
    key_file().chmod(0o644)  # others may have read it
    assert not code.is_signed
    assert code.signed().is_signed
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "two"))
    assert not code.is_signed
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))  # no place for a key
    assert code.signed().signature is None


def modes(folder: Path) -> set[tuple[bool, int]]:
    """Of a folder and all in it: whether it is a folder, and its mode."""
    return {(path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in (folder, *folder.rglob("*"))}


@pytest.mark.parametrize("group", [None, os.getgid()])
def test_files_are_for_their_owner_or_a_group(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group: int | None
) -> None:
    before = os.umask(0o002 if group is None else 0o077)  # it plays no part
    expected = {(True, FOR_OWNER), (False, 0o600)} if group is None else {(True, FOR_GROUP), (False, 0o660)}
    try:
        with Session(spark, tmp_path / "s", group=group, limits=INDEXES_IN_FILES) as session:
            rows = pa.table({"id": range(40), "k": [i % 3 for i in range(40)]})
            session.add_stream("t", rows, history=20, batch=10, time="id")
            session.register("SELECT a.id FROM t a JOIN t b ON a.id = b.id AND a.k = b.k", name="joined")
            session.register("SELECT k, COUNT(*) AS n FROM t GROUP BY k", name="grouped")
            session.run(1)
            session.parts.jobs.limits = Limits(rows_stepped_in_process=-1)
            by_driver = {*session.path.rglob("*.arrow")}
            session.run(1)
            assert any(operator.here is False for operator in session.reports[-1].operators)
            assert {*session.path.rglob("*.arrow")} - by_driver
            assert any((session.path / "state" / "packs").iterdir())
            assert (session.path / "catalog.sqlite-wal").exists()
            assert any(session.path.rglob("*.index"))
            assert modes(session.path) == expected
            session.save(tmp_path / "copy")
        assert modes(tmp_path / "copy") == expected == modes(tmp_path / "s")
        for path in (tmp_path / "s", *(tmp_path / "s").rglob("*")):  # as an older version left it
            path.chmod(0o755 if path.is_dir() else 0o644)
        Session.open(tmp_path / "s", spark, group=group).close()
        assert modes(tmp_path / "s") == expected
    finally:
        os.umask(before)


def test_a_folder_with_other_files_keeps_its_mode(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    project.chmod(0o755)
    (project / "notes.txt").touch()
    (project / "notes.txt").chmod(0o644)
    for make in (SessionDirectory.new, SessionDirectory.existing):
        directory = make(project)
        Catalog(project / CATALOG).close()
        directory.close()
        assert stat.S_IMODE(project.stat().st_mode) == 0o755
        assert stat.S_IMODE((project / "notes.txt").stat().st_mode) == 0o644


def test_a_group_that_is_not_there(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(SessionError, match="there is no group 'nobody has it'"):
        Session(spark, tmp_path / "s", group="nobody has it")


def test_a_folder_in_one_of_a_group_is_its_owner_s_alone(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    make_folder(tmp_path / "a" / "b")
    with NewFile(tmp_path / "a" / "b" / "file"):
        pass
    assert modes(tmp_path / "a") == {(True, FOR_OWNER), (False, 0o600)}
