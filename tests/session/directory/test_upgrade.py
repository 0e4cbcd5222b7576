"""Folders that older versions of the workbench wrote: each is kept as it was written, with the answers it had then."""

from __future__ import annotations

import fcntl
import json
import platform
import sqlite3
import zipfile
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from workbench import Session
from workbench.catalog import database
from workbench.catalog.schema import PLAN_ANEW
from workbench.engine.physical import planner
from workbench.engine.physical.elements import WithElements
from workbench.engine.spark.in_process import InProcess
from workbench.errors import QueryError, SessionError
from workbench.session.query import Query

FOLDERS = Path(__file__).parent / "folders"
PYTHON = ("3", "11")
"""The version of Python whose bytes of functions are in the folders."""


@pytest.fixture(params=sorted(FOLDERS.glob("*.zip")), ids=lambda path: path.stem)
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    with zipfile.ZipFile(request.param) as kept:
        kept.extractall(tmp_path / "old")
    yield tmp_path / "old"


def answer(query: Query) -> list[list[object]]:
    frame = query.result().astype(object)
    rows = frame.where(frame.notna(), None).itertuples(index=False)
    return sorted(json.loads(json.dumps(list(map(list, rows)), default=str)), key=str)


def test_functions_of_an_older_version_are_loaded_when_they_are_trusted(spark: SparkSession, old: Path) -> None:
    """They are not signed."""
    if platform.python_version_tuple()[:2] == PYTHON:
        with pytest.raises(SessionError, match=r"is not loaded: it was not added by you.*trust=True"):
            Session.open(old, spark)


def test_answers_are_those_that_the_older_version_gave(spark: SparkSession, old: Path) -> None:
    expected = json.loads((old / "answers.json").read_text())
    if platform.python_version_tuple()[:2] != PYTHON:
        del expected["halves"]
    with Session.open(old, spark, trust=True) as session:
        assert session.read_only is None and session.batch == 3
        assert {name: answer(session.query(name)) for name in expected} == expected
        assert session.streams["t"].batch == 3
        nodes = set(session.network.nodes)
        session.run(1)
        assert session.reports[-1].rows == 3
    with Session.open(old, spark, trust=True) as again:
        assert set(again.network.nodes) == nodes and again.batch == 4
        database = duckdb.connect()
        logs = str(old / "streams" / "0-t" / "*.parquet")
        asked = f"SELECT id, amount FROM (SELECT * FROM read_parquet('{logs}') LIMIT 34) WHERE amount > 20"
        rows = database.execute(asked).fetchall()
        assert sorted(map(tuple, answer(again.query("big")))) == sorted(rows)


def test_changes_add_up_to_the_answers(spark: SparkSession, old: Path) -> None:
    with Session.open(old, spark, trust=True) as session:
        changes = session.query("by_bank").changes()
        assert set(changes["batch"]) <= set(range(4))
        totals = changes.groupby(["bank", "n", "s"])["weight"].sum()
        assert sorted(map(list, totals[totals != 0].index)) == answer(session.query("by_bank"))


def test_it_is_not_brought_up_to_date_where_it_may_only_be_read(spark: SparkSession, old: Path) -> None:
    files = {path: path.read_bytes() for path in old.rglob("*") if path.is_file()}
    with (old / "writer.lock").open("w") as elsewhere:
        fcntl.flock(elsewhere, fcntl.LOCK_EX)
        with pytest.raises(SessionError, match=r"older workbench.*open elsewhere"):
            Session.open(old, spark, trust=True)
    assert {path: path.read_bytes() for path in files} == files


def test_a_query_that_cannot_be_bound_again_says_so(spark: SparkSession, old: Path) -> None:
    connection = sqlite3.connect(old / "catalog.sqlite")
    connection.execute("UPDATE registrations SET sql = replace(sql, 'FROM joined', 'FROM gone') WHERE name = 'of_view'")
    connection.commit()
    connection.close()
    expected = json.loads((old / "answers.json").read_text())
    with Session.open(old, spark, trust=True) as session:
        assert "cannot be brought to this version" in session.query("of_view").status
        with pytest.raises(QueryError, match="gone"):
            session.query("of_view").result()
        assert answer(session.query("cities")) == expected["cities"]


def test_an_upgrade_that_was_cut_off_is_done_again(
    spark: SparkSession, old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workbench.session.directory import opening

    def cut_off(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as context:
        context.setattr(opening, "upgraded", cut_off)
        with pytest.raises(KeyboardInterrupt):
            Session.open(old, spark, trust=True)
    connection = sqlite3.connect(old / "catalog.sqlite")
    assert connection.execute("SELECT COUNT(*) FROM settings WHERE name = ?", [PLAN_ANEW]).fetchone() == (1,)
    connection.close()
    expected = json.loads((old / "answers.json").read_text())
    with Session.open(old, spark, trust=True) as session:
        assert answer(session.query("by_bank")) == expected["by_bank"]


def orders(*later: dict[str, object]) -> Iterator[dict[str, object]]:
    """What the source of the stream gave before, and then gives."""
    yield from ({"id": n % 4, "s": f"\\{n}\t"} for n in range(5))
    yield from later


def votes(*later: dict[str, object]) -> Iterator[dict[str, object]]:
    yield from ({"v": f"{n % 2}\t", "w": 1} for n in range(5))
    yield from later


def test_rows_that_version_0_2_kept_as_json_are_corrected(in_process: InProcess, tmp_path: Path) -> None:
    """Values of all types are taken back as they were put there: the answers would keep rows that are not."""
    with zipfile.ZipFile(FOLDERS / "corrected" / "version-0.2.0.zip") as kept:
        kept.extractall(tmp_path)
    with Session.open(tmp_path, in_process, trust=True) as session:
        five = {"id": 5, "x": 1.5, "m": "2.5", "n": 5, "s": "five", "day": None, "at": None, "tags": ["b"], "raw": b"c"}
        assert session.update_table("prices", [five]).arrived.get("prices", 0) == 0  # it is there
        assert session.query("priced").result()["id"].tolist() == [1, 2, 3, 5]
        session.update_table("prices", delete=[{"id": id_} for id_ in (1, 2, 3)])
        assert session.query("priced").result()["s"].tolist() == ["five"]
        session.attach("orders", orders({"id": 3, "s": "\\3\t"}, {"id": 0}, {"id": 1, "s": "new"}))
        session.attach("votes", votes({"v": "0\t", "w": -3}, {"v": "1\t", "w": -3}, {"v": "1\t", "w": -1}))
        session.run(4)
        assert answer(session.query("ordered")) == [[1, "new"], [2, "\\2\t"], [3, "\\3\t"]]
        assert answer(session.query("voted")) == [["1\t", 1]]
        assert [entry.reason for entry in session.streams["votes"].quarantined] == [
            "it takes back 3 of a row that is there 2 times"
        ]
    with Session.open(tmp_path, in_process) as session:
        session.update_table("prices", [five | {"id": 1}], delete=[{"id": 5}])
        assert session.query("priced").result()["id"].tolist() == [1]


def test_elements_take_the_place_of_the_arrays_that_a_session_has_stored(
    in_process: InProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Version 27 stored the array beside each of its elements; what other queries have stored stays."""
    rows = pa.table({"s": ["a b", None, "b", "a c"], "id": range(4)})
    asked = {
        "words": "SELECT w, COUNT(*) AS n FROM t LATERAL VIEW EXPLODE(SPLIT(s, ' ')) x AS w GROUP BY w",
        "ids": "SELECT id, w FROM t LATERAL VIEW EXPLODE(SPLIT(s, ' ')) x AS w",
        "many": "SELECT COUNT(*) AS n FROM t WHERE id > 0",
    }
    for folder, names in (("both", ["words", "ids", "many"]), ("other", ["many"])):
        with monkeypatch.context() as context:
            context.setattr(planner, "joins_with_elements", lambda network: WithElements(network, {}))
            context.setattr(database, "VERSION", 27)
            context.setattr(database, "MIGRATIONS", {})
            with Session(in_process, path=tmp_path / folder) as session:
                session.add_stream("t", rows, history=1, batch=1)
                for name in names:
                    session.register(asked[name], name=name)
                session.run(1)
        with Session.open(tmp_path / folder, in_process) as session:
            session.run(2)
            assert answer(session.query("many")) == [[3]]
            if folder == "both":
                assert answer(session.query("words")) == [["a", 2], ["b", 2], ["c", 1]]
                assert answer(session.query("ids")) == [[0, "a"], [0, "b"], [2, "b"], [3, "a"], [3, "c"]]
        connection = sqlite3.connect(tmp_path / folder / "catalog.sqlite")
        line = connection.execute("SELECT value FROM settings WHERE name = 'line'").fetchall()
        assert line == [("1" if folder == "both" else "0",)]
        connection.close()
