"""Two openers of one folder: one writes, the other reads what was committed last, and nothing is ever mixed up."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from oracle.class_queries import ALL
from oracle.harness import Case, Feed, Oracle
from oracle.random_streams import names, stream
from pyspark.sql import SparkSession
from recovery.survival import stray_files, what_survives

from workbench import Session
from workbench.errors import QueryError, SessionError

CASES = ["join_self", "aggregate_by_group", "set_except_all"]


@pytest.fixture
def oracle(spark: SparkSession, tmp_path: Path) -> Iterator[Oracle]:
    feeds = {
        "t": Feed(stream(400, seed=51), history=30, batch=12),
        "u": Feed(stream(300, seed=52), history=10, batch=8),
        "names": Feed(names(53), static=True),
    }
    with Oracle(spark, feeds, path=tmp_path / "s") as made:
        made.register({name: ALL[name] for name in CASES}, check=False)
        made.run(1, check=False)
        yield made


def test_the_second_reads_what_the_first_commits(spark: SparkSession, oracle: Oracle) -> None:
    writing = oracle.session
    with Session.open(writing.path, spark) as reading:
        assert reading.read_only is not None and "it is open elsewhere, process " in reading.read_only
        for step in range(3):
            oracle.run(1, check=False)
            if step == 1:
                oracle.register({"late": Case("SELECT id FROM t WHERE k > 3")})
                oracle.drop("set_except_all")
            assert what_survives(reading) == what_survives(writing)
            for name, query in reading.queries.items():
                oracle.watched[name].query = query
            oracle.check_results()
        oracle.check_changes(since=True)
        # Catalog and dry runs work on a copy; the writer's is not touched.
        assert len(reading.catalog("SELECT * FROM simple_columns"))
        reading.preview("SELECT id FROM u", "new")
        dropped = reading.query("late")
        writing.drop("late")
        with pytest.raises(QueryError, match="late"):
            reading.query("late")
        assert dropped.status == "dropped"
    assert stray_files(writing) == set()
    oracle.watched.pop("late")
    oracle.run(1, check=False)


def test_what_changes_something_is_refused(spark: SparkSession, oracle: Oracle, tmp_path: Path) -> None:
    with Session.open(oracle.session.path, spark) as reading:
        before = what_survives(reading)
        for change in (
            lambda: reading.run(1),
            lambda: reading.register("SELECT id FROM t", name="new"),
            lambda: reading.register_many({"new": "SELECT id FROM t"}),
            lambda: reading.drop("join_self"),
            lambda: reading.add_stream("v", stream(10, seed=1)),
            lambda: reading.add_table("v", stream(10, seed=1)),
            lambda: reading.add_function("f", abs),
            lambda: reading.add_aggregate("f", ("x",), {"n": "COUNT(x)"}, "n"),
        ):
            with pytest.raises(SessionError, match="the session is read-only: it is open elsewhere"):
                change()
        assert what_survives(reading) == before == what_survives(oracle.session)
        reading.save(tmp_path / "copy")
    oracle.run(1)


def test_files_stay_while_somebody_reads(spark: SparkSession, oracle: Oracle) -> None:
    """A reader that is about to open its files finds them, whatever was committed since."""
    writing = oracle.session
    with Session.open(writing.path, spark) as reading:
        query = reading.query("aggregate_by_group")
        with query.answers(query) as answers:
            expected = sorted(map(str, answers.result().collect()))
            writing.run(7)
            files = answers.tree.relation.files
            assert not files <= writing._engine.held.files, "the batches replaced nothing, so this tests nothing"
            assert all(Path(file).exists() for file in files)
            assert sorted(map(str, answers.result().collect())) == expected
        writing.run(1)
        assert stray_files(writing) == set()
    oracle.catch_up()
    oracle.check_results()


def test_another_process_holds_the_folder_until_it_dies(spark: SparkSession, oracle: Oracle) -> None:
    folder = oracle.session.path
    oracle.session.close()
    hold = "import sys; from workbench.recovery.home import Home; Home.found(sys.argv[1]); print(1); sys.stdin.read()"
    holder = subprocess.Popen(
        [sys.executable, "-c", f"home = None; {hold.replace('Home.found', 'home = Home.found')}", str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    assert holder.stdout is not None and holder.stdout.readline() == b"1\n"
    with Session.open(folder, spark) as reading:
        assert f"process {holder.pid} on" in str(reading.read_only)
    holder.kill()
    holder.communicate()
    oracle.session = Session.open(folder, spark)
    assert oracle.session.read_only is None
    oracle.session.run(1)
