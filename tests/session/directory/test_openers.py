"""Two openers of one folder: one writes, the other reads what was committed last, and nothing is ever mixed up."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from session.directory.conftest import Follow
from session.directory.survival import stray_files, what_survives

from workbench import Session
from workbench.engine.spark import handle
from workbench.engine.spark.in_process import InProcess
from workbench.errors import EnvironmentProblem, QueryError, SessionError, UnexpectedError
from workbench.limits import Limits

PROJECT = Path(__file__).parents[3]


def test_the_second_reads_what_the_first_commits(spark: SparkSession, folder: Path, following: Follow) -> None:
    with Session.open(folder, spark) as writing, Session.open(folder, spark) as reading:
        assert writing.read_only is None
        assert reading.read_only is not None and "it is open elsewhere, process " in reading.read_only
        assert what_survives(reading) == what_survives(writing)
        held = reading.query("by_group")
        writing.run(1)
        assert what_survives(reading) == what_survives(writing)
        oracle = following(reading)
        oracle.check_results()
        oracle.check_changes(["by_group"], since=True)
        assert reading.query("by_group") is held
        writing.register("SELECT id FROM t WHERE k > 3", name="late")
        late = reading.query("late")
        assert late.count() == writing.query("late").count()
        # Catalog and dry runs work on a copy; the writer's is not touched.
        assert len(reading.catalog("SELECT * FROM simple_columns"))
        reading.preview("SELECT id FROM u", "new")
        writing.drop("late")
        with pytest.raises(QueryError, match="late"):
            reading.query("late")
        assert late.status == "dropped"


def test_what_changes_something_is_refused(spark: SparkSession, folder: Path, tmp_path: Path) -> None:
    with Session.open(folder, spark) as writing, Session.open(folder, spark) as reading:
        before = what_survives(reading)
        for change in (
            lambda: reading.run(1),
            lambda: reading.register("SELECT id FROM t", name="new"),
            lambda: reading.register_many({"new": "SELECT id FROM t"}),
            lambda: reading.drop("join_self"),
            lambda: reading.add_stream("v", writing.query("by_group").result()),
            lambda: reading.add_table("v", writing.query("by_group").result()),
            lambda: reading.add_function("f", abs),
            lambda: reading.add_aggregate("f", ("x",), {"n": "COUNT(x)"}, "n"),
        ):
            with pytest.raises(SessionError, match="the session is read-only: it is open elsewhere"):
                change()
        assert what_survives(reading) == before == what_survives(writing)
        reading.save(tmp_path / "copy")
    with Session.open(tmp_path / "copy", spark) as copy:
        assert copy.batch == before["batch"] and stray_files(copy) == set()


def test_files_stay_while_somebody_reads(spark: SparkSession, folder: Path) -> None:
    """A reader that is about to open its files finds them, whatever was committed since."""
    limits = Limits(runs_per_merge=2, states_kept=0)  # a kept state would hold its files, too
    with Session.open(folder, spark, limits=limits) as writing, Session.open(folder, spark) as reading:
        query = reading.query("by_group")
        with query.answers():
            files = reading.parts.store.state.engine.files
            writing.run(2)
            assert not files <= writing.parts.store.state.engine.files, (
                "the batches replaced nothing, so this tests nothing"
            )
            assert all(Path(file).exists() for file in files)
            assert stray_files(writing)
        writing.run(1)
        assert stray_files(writing) == set()


def test_a_session_that_did_not_begin_leaves_the_folder_as_it_was(
    spark: SparkSession, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also while its error is held on to, as a notebook does, and so all that the error refers to."""
    new, held = tmp_path / "new", []
    with monkeypatch.context() as without:
        without.setattr(handle, "refuse_inherited", lambda: 1 / 0)
        for begin in (lambda: Session(path=new), lambda: Session.open(folder)):
            with pytest.raises(UnexpectedError, match="ZeroDivisionError") as problem:
                begin()
            held.append(problem)
    with Session(spark, new) as first, Session.open(folder, spark) as second:
        assert (first.read_only, second.read_only) == (None, None)


def test_a_session_that_plays_is_saved_as_of_a_batch(
    spark: SparkSession, folder: Path, tmp_path: Path, following: Follow
) -> None:
    with Session.open(folder, spark) as session:
        session.player.play(2)
        session.save(tmp_path / "copy")
        assert session.player.wait(60)
        played = session.batch
    oracle = following(Session.open(tmp_path / "copy", spark))
    assert oracle.batch <= played
    oracle.check_results()
    oracle.run(1)


def test_another_process_holds_the_folder_until_it_dies(spark: SparkSession, folder: Path) -> None:
    imports = "import sys; from workbench.session.directory.directory import SessionDirectory"
    hold = "h = SessionDirectory.existing(sys.argv[1]); print(1, flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", f"{imports}; {hold}", str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=PROJECT) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == b"1\n"
        with Session.open(folder, spark) as reading:
            assert f"process {holder.pid} on" in str(reading.read_only)
        holder.kill()
    with Session.open(folder, spark) as session:
        assert session.read_only is None


@pytest.mark.parametrize("address", ["dbfs:/argus", "hdfs://namenode/argus", "nothing://bucket"])
def test_an_address_is_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.chdir(tmp_path)
    with Session(InProcess()) as session:
        for path in (address, Path(address)):
            for ask in (partial(Session, InProcess()), partial(Session.open, spark=InProcess()), session.save):
                with pytest.raises(EnvironmentProblem, match=r"cannot be used|needs the package obstore"):
                    ask(path=path)
    assert list(tmp_path.iterdir()) == []
