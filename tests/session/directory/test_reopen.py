"""A session that is closed and opened again is the one it was (``docs/design/commit.md``)."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from oracle.class_queries import ALL
from oracle.harness import Case, Feed, Oracle
from oracle.random_streams import names, stream
from pyspark.sql import SparkSession
from session.directory.survival import stray_files, what_survives

from workbench import Options, Session
from workbench.errors import QueryError, SessionError, SqlError

CASES = ["selection_or", "join_self", "aggregate_by_group", "aggregate_median", "set_except_all", "view_view"]


def feeds() -> dict[str, Feed]:
    return {
        "t": Feed(stream(150, seed=21), history=30, batch=16),
        "u": Feed(stream(110, seed=22), history=10, batch=12),
        "names": Feed(names(23), static=True),
    }


def test_everything_is_as_it_was_and_goes_on(spark: SparkSession, tmp_path: Path) -> None:
    options = Options(vertical_expansion=False)
    functions = {"halved": (lambda v: None if v is None else v / 2, ["BIGINT"], "DOUBLE")}
    with Oracle(spark, feeds(), options, functions, path=tmp_path / "s") as oracle:
        oracle.register({name: ALL[name] for name in CASES})
        oracle.run(2, check=False)
        oracle.register({"half": Case("SELECT id, halved(k) AS h FROM t WHERE halved(k) > 1")})
        oracle.drop("selection_or")
        oracle.register({"join_self": ALL["join_over_aggregate"]})
        oracle.run(1, check=False)
        session = oracle.session
        assert stray_files(session) == set()
        before, half = what_survives(session), session.query("half")
        oracle.reopen()
        assert what_survives(oracle.session) == before
        assert oracle.session.options == options
        oracle.check_results()
        oracle.run(1, check=False)
        oracle.register({"selection_or": ALL["selection_or"]})
        oracle.run(1)
        oracle.check_changes(since=True)
        with pytest.raises(QueryError, match="the session is closed"):
            half.check_active()


def test_what_was_bound_stays_bound(spark: SparkSession, tmp_path: Path) -> None:
    """A query keeps the meaning its view had, also when the view was replaced or dropped since."""
    with Oracle(spark, feeds(), path=tmp_path / "s") as oracle:
        session = oracle.session
        session.register("CREATE VIEW few AS SELECT id, k FROM t WHERE k > 3", name="few")
        oracle.register({"read": Case("SELECT id FROM few", "SELECT id FROM t WHERE k > 3")})
        session.register("SELECT id, k FROM t WHERE k < 2", name="few")
        first = session.register("SELECT id FROM few")
        session.drop("few")
        session.drop(first.name)
        oracle.reopen()
        oracle.run(1)
        session = oracle.session
        with pytest.raises(SqlError, match="unknown stream few"):
            session.register("SELECT id FROM few")
        assert session.register("SELECT id FROM read").name == "q2"


def test_a_query_that_was_disabled_stays_so_with_its_reason(spark: SparkSession, tmp_path: Path) -> None:
    def picky(value: int | None) -> float:
        if value is None:
            raise ValueError("there is none")
        return value / 2

    with Session(spark, tmp_path / "s") as session:
        session.add_stream("t", stream(60, seed=21), history=30, batch=16)
        session.add_function("picky", picky)
        session.add_aggregate("rms", ("x",), {"n": "COUNT(x)", "q": "SUM(x*x)"}, "SQRT(q / n)")
        failed = session.register("SELECT id FROM t WHERE picky(k) > 1", name="failed")
        told = str(failed.explain())
        reason = failed.status
        assert "picky raised ValueError" in reason
    with Session.open(tmp_path / "s", spark) as session:
        assert session.query("failed").status == reason
        assert str(session.query("failed").explain()) == told
        assert len(session.register("SELECT g, rms(x) AS r FROM t GROUP BY g", name="failed").result())
        session.run(1)
    with Session.open(tmp_path / "s", spark) as session:
        assert session.query("failed").status == "active"
        session.drop("failed")
        assert not session.catalog("SELECT * FROM decisions").size


def test_a_function_that_cannot_be_kept_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    with Session(spark, tmp_path / "s") as session:
        lock = threading.Lock()
        with pytest.raises(SessionError, match="function locked cannot be kept: "):
            session.add_function("locked", lambda value: 1.0 if lock.locked() else 2.0)
        assert not session.parts.store.state.functions


def test_a_copy_is_a_session_of_its_own(spark: SparkSession, tmp_path: Path) -> None:
    with Oracle(spark, feeds()) as oracle:
        oracle.register({name: ALL[name] for name in CASES[:4]})
        oracle.run(2, check=False)
        before = what_survives(oracle.session)
        oracle.session.save(tmp_path / "copy")
        oracle.run(1, check=False)
        moved = (tmp_path / "copy").rename(tmp_path / "elsewhere")
        with Session.open(moved, spark) as copy:
            after = what_survives(copy)
            for part in ("batch", "reports", "queries", "explain", "network", "bits", "streams"):
                assert after[part] == before[part]
            copy.run(1)
            assert copy.query("join_self").count() == oracle.session.query("join_self").count()
        with pytest.raises(SessionError, match="already a session"):
            oracle.session.save(moved)
        oracle.check_results()
        oracle.check_changes()


def test_a_folder_with_or_without_a_session(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(SessionError, match="no session in"):
        Session.open(tmp_path, spark)
    Session(spark, tmp_path).close()
    with pytest.raises(SessionError, match="already a session") as raised:
        Session(spark, tmp_path)
    assert "Session.open(" in str(raised.value)
    (tmp_path / "file").touch()
    with pytest.raises(SessionError, match="no session can be kept"):
        Session(spark, tmp_path / "file" / "s")
