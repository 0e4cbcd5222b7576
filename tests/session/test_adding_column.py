"""Columns that streams get after they were added: what was kept is there, and queries before go on as they are."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

from workbench.catalog.schema import MIGRATIONS
from workbench.engine.spark.in_process import InProcess
from workbench.errors import StreamError
from workbench.session.adding_column import schema_before
from workbench.session.directory.directory import CATALOG
from workbench.session.directory.identity import IDENTITY
from workbench.session.session import Session

Row = dict[str, Any]


def feed(rows: int = 30) -> Iterator[Row]:
    """Rows of which the later ones have members more, and the last one a value that breaks a type."""
    for at in range(rows):
        row = {"id": at, "fee": at / 4}
        yield row if at < 10 else row | {"note": f"n{at % 3}", "n": at if at != 29 else "many", "geo": {"zip": at}}


def envelopes() -> Iterator[Row]:
    for row in feed():
        yield {"op": "c", "before": None, "after": row}
        if row["id"] % 5 == 4:
            yield {"op": "u", "before": row, "after": row | {"fee": -1.0, "note": "again"}}
        if row["id"] % 7 == 6:
            yield {"op": "d", "before": {"id": row["id"]}, "after": None}


def upserts() -> Iterator[Row]:
    for row in feed():
        yield row
        if row["id"] % 5 == 4:
            yield row | {"note": "again"}  # no column has changed
        if row["id"] % 7 == 6:
            yield {"id": row["id"]}


WAYS: dict[str, tuple[Callable[[], Iterator[Row]], dict[str, Any]]] = {
    "rows": (feed, {}),
    "upserts": (upserts, {"changes": "upsert", "key": ["id"]}),
    "envelopes": (envelopes, {"changes": "debezium", "key": ["id"]}),
}
BEFORE = {
    "star": "SELECT * FROM T WHERE id > 7",
    "totals": "SELECT COUNT(*) AS rows, SUM(fee) AS fees FROM T",
    "over": "SELECT s.id, s.fee FROM star s",
}
AFTER = {
    "notes": "SELECT note, COUNT(*) AS rows, SUM(n) AS n FROM T GROUP BY note",
    "all": "SELECT * FROM T",
}


def rows(session: Session, sql: str) -> list[tuple[object, ...]]:
    """The answer of DuckDB over the rows of the log, without those that are taken back."""
    stream = session.streams["T"]
    log = stream.log.read(0, stream.position)
    names = [f'"{name}"' for name, _ in stream.stored_columns]
    with duckdb.connect() as database:
        database.register("log", log)
        if "_weight" in log.column_names:
            left = f"SELECT {', '.join(names)} FROM log GROUP BY ALL HAVING SUM(_weight) > 0"
            assert database.sql(f"SELECT * FROM (SELECT SUM(_weight) AS w FROM log GROUP BY {', '.join(names)}) "
                                "WHERE w NOT IN (0, 1)").fetchall() == []  # fmt: skip
        else:
            left = f"SELECT {', '.join(names)} FROM log"
        database.sql(f"CREATE VIEW T AS {left}")
        database.sql(f"CREATE VIEW star AS {BEFORE['star']}")
        return sorted(database.sql(sql).fetchall(), key=repr)


def answers(session: Session, names: dict[str, str]) -> dict[str, list[tuple[object, ...]]]:
    return {name: sorted(map(tuple, plain(session.queries[name].result())), key=repr) for name in names}


def plain(frame: pd.DataFrame) -> list[list[object]]:
    def of(value: object) -> object:
        return None if value is pd.NA or value != value else value

    return [[of(value) for value in row] for row in frame.itertuples(index=False)]


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_column_that_is_added(in_process: InProcess, tmp_path: Path, way: str) -> None:
    source, how = WAYS[way]
    path = tmp_path / "session"
    with Session(in_process, path) as session:
        session.add_stream("T", source(), batch=8, **how)
        queries = session.register_many(BEFORE)
        session.run(2)
        registered, trees = queries["totals"].changes(), session.parts.engine.state.trees
        assert "new: note (string), since row" in " ".join(session.streams["T"].notes)
        said = str(session.add_column("T", "note", "string"))
        assert "SELECT * stays what it was in star: register" in said and "over" not in said
        assert session.add_column("T", "n").type == "integer" and session.add_column("T", "geo.zip").kept
        assert session.parts.engine.state.trees is trees  # nothing is computed anew
        assert queries["totals"].changes().equals(registered)
        assert "without T.note, T.n, T.geo.zip" in str(queries["star"].explain())
        assert "without" not in str(queries["over"].explain())
        session.register_many(AFTER)
        while session.run(1):
            before_ = "SELECT id, fee FROM T WHERE id > 7"
            assert answers(session, {"star": ""})["star"] == rows(session, before_)
            assert answers(session, AFTER) == {name: rows(session, sql) for name, sql in AFTER.items()}
            assert answers(session, {"totals": ""})["totals"] == rows(session, BEFORE["totals"])
        reasons = [row.reason for row in session.streams["T"].quarantined]
        assert any("n: 'many' is no integer" in reason for reason in reasons), reasons
        last, saved = answers(session, BEFORE | AFTER), session.save(tmp_path / "saved")
        session.seek(1)
        for name, sql in AFTER.items():
            assert answers(session, {name: ""})[name] == rows(session, sql)
    with Session.open(saved, in_process) as session:
        assert answers(session, BEFORE | AFTER) == last
        assert "without T.note" in str(session.queries["star"].explain())
        star = session.parts.store.state.queries["star"]
        assert [*schema_before(session.parts.store.state, star).streams["T"]] == [*session.streams["T"].columns[:2]]
        session.register("SELECT * FROM T WHERE id > 7", name="star")
        assert len(session.queries["star"].columns) == 5 and "without" not in str(session.queries["star"].explain())


def test_what_an_older_star_means_when_a_session_is_planned_anew(in_process: InProcess, tmp_path: Path) -> None:
    with Session(in_process, tmp_path / "session") as session:
        session.add_stream("T", feed(), batch=15)
        session.register_many(BEFORE)
        session.run(1)
        session.add_column("T", "note", "string")
        session.register("SELECT * FROM T", name="all")
        last = answers(session, BEFORE | {"all": ""})
    with closing(sqlite3.connect(tmp_path / "session" / CATALOG)) as catalog:
        catalog.executescript(MIGRATIONS[15])  # as for a newer version
    (tmp_path / "session" / IDENTITY).unlink()
    with Session.open(tmp_path / "session", in_process) as session:
        assert answers(session, BEFORE | {"all": ""}) == last
        assert {len(session.queries[name].columns) for name in BEFORE} == {2} and len(last["all"][0]) == 3


def test_what_cannot_be_added(in_process: InProcess) -> None:
    with Session(in_process) as session:
        session.add_stream("T", feed(), batch=15)
        session.run(1)
        for args, message in (
            (("U", "note"), "there is no stream U"),
            (("T", "fee", "decimal(9,2)"), "T has the column fee double"),
            (("T", "FEE", "string"), "T has the column fee double"),
            (("T", "other"), r"what type has other\? No row of T has it so far"),
            (("T", "note", "texts"), "column note"),
            (("T", " ", "string"), "a column needs a name"),
        ):
            with pytest.raises(StreamError, match=message):
                session.add_column(*args)
        added = session.add_column("T", "later", "timestamp ms")
        assert added.kept == 0 and "0 rows have a value" in str(added)
        told = session.add_column("T", "note", "integer")
        assert (told.kept, told.misfits, told.examples) == (0, 5, ("n1", "n2", "n0"))
        assert "5 values are no integer, and NULL: n1, n2, n0" in str(told)


def test_rows_that_are_copied_and_tables_that_are_updated(in_process: InProcess, tmp_path: Path) -> None:
    """Members that the first 10,000 lines of a file lack, and columns of a DataFrame that is given later."""
    lines = [*({"id": at} for at in range(10_001)), *({"id": at, "note": {"a": at}} for at in range(10_001, 10_010))]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with Session(in_process) as session:
        session.add_stream("T", tmp_path / "rows.jsonl", history=20_000)
        assert session.streams["T"].notes == ("new: note (struct<a:integer>), since row 10,002, 9 rows",)
        session.add_column("T", "note", "map<string, integer>")
        found = session.register("SELECT id, note FROM T WHERE note IS NOT NULL").result()
        assert sorted(map(tuple, plain(found)))[0] == (10_001, {"a": 10_001}) and len(found) == 9
        session.add_table("zips", pd.DataFrame({"zip": ["1", "2"], "n": [1, 2]}), key=["zip"])
        session.register("SELECT SUM(n) AS n FROM zips", name="sum")
        session.update_table("zips", pd.DataFrame({"zip": ["2", "3"], "n": [5, 6], "state": ["MA", None]}))
        assert session.queries["sum"].result().n.tolist() == [12]
        session.add_column("zips", "state")
        session.update_table("zips", [{"zip": "1", "n": 1, "state": "NY"}])
        states = session.register("SELECT zip, state FROM zips ORDER BY zip").result()
        assert plain(states) == [["1", "NY"], ["2", "MA"], ["3", None]]
