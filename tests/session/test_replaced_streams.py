"""A stream that takes the place of another: every answer is the one that it would have with the new stream alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from workbench.engine.spark.in_process import InProcess
from workbench.errors import StreamError
from workbench.session.session import Session

QUERIES = {
    "kept": "SELECT id, v FROM T WHERE v > 2",
    "sums": "SELECT g, SUM(v) AS s, COUNT(*) AS n FROM T GROUP BY g",
    "joined": "SELECT T.id, U.w FROM T JOIN U ON T.g = U.g",
    "over": "SELECT g FROM sums WHERE n > 1",
    "other": "SELECT COUNT(*) AS n FROM U",
}


def rows(first: int, number: int, **more: Any) -> pd.DataFrame:
    ids = range(first, first + number)
    return pd.DataFrame({"id": ids, "g": [i % 3 for i in ids], "v": [i % 7 for i in ids], **more})


def parquet(path: Path, frame: pd.DataFrame) -> str:
    frame.to_parquet(path)
    return str(path)


def lines(folder: Path, frame: pd.DataFrame) -> str:
    folder.mkdir()
    frame.to_json(folder / "a.jsonl", orient="records", lines=True)
    return str(folder / "*.jsonl")


SOURCES: dict[str, Callable[[Path, pd.DataFrame], object]] = {
    "DataFrame": lambda path, frame: frame,
    "file": lambda path, frame: parquet(path, frame),
    "live folder": lambda path, frame: lines(path, frame),
    "iterator": lambda path, frame: iter(frame.to_dict("records")),
}


def answers(session: Session) -> dict[str, list[tuple[Any, ...]]]:
    return {name: sorted(map(tuple, session.query(name).result().itertuples(index=False))) for name in QUERIES}


def tried(in_process: InProcess, path: Path) -> Session:
    session = Session(in_process, path)
    session.add_table("U", pd.DataFrame({"g": [0, 1, 1], "w": [5, 6, 7]}))
    return session


@pytest.fixture
def session(in_process: InProcess, tmp_path: Path) -> Iterator[Session]:
    with tried(in_process, tmp_path / "session") as made:
        yield made


@pytest.mark.parametrize("new", SOURCES)
@pytest.mark.parametrize("old", SOURCES)
def test_answers_are_those_over_the_new_stream_before_and_after_opening(in_process, tmp_path, session, old, new):
    session.add_stream("T", SOURCES[old](tmp_path / "old", rows(0, 20)), batch=4)
    session.register_many(QUERIES)
    session.run(2)
    handles, heard = dict(session.queries), list[tuple[int, int]]()
    session.add_sink("sums", lambda batch, changes: heard.append((batch, int(changes["weight"].sum()))), name="heard")
    before = session.streams["T"].log.folder

    session.add_stream("t", SOURCES[new](tmp_path / "new", rows(100, 12)), history=3, batch=4, replace=True)

    assert not before.exists() and [*session.streams] == ["U", "T"] and [*session.queries] == [*QUERIES]
    assert all(handles[name].status == "active" for name in QUERIES)
    with tried(in_process, tmp_path / "alone") as alone:
        alone.add_stream("T", SOURCES[new](tmp_path / "again", rows(100, 12)), history=3, batch=4)
        alone.register_many(QUERIES)
        assert answers(session) == answers(alone)
        session.run(2), alone.run(2)
        assert answers(session) == answers(alone)
        session.seek(3), alone.seek(1)  # two batches were run before, which brought nothing of the new stream
        assert answers(session) == answers(alone)
        session.close()
        if new != "iterator":
            with Session.open(tmp_path / "session", in_process, trust=True) as opened:
                assert answers(opened) == answers(alone)
                opened.run(1), alone.run(1)
                assert answers(opened) == answers(alone)


def test_a_new_stream_that_a_query_cannot_read_changes_nothing(session):
    session.add_stream("T", rows(0, 20), batch=4)
    session.register_many(QUERIES)
    session.run(2)
    before, folders = answers(session), [*session.streams["T"].log.folder.parent.iterdir()]
    with pytest.raises(StreamError, match="query kept cannot read T then"):
        session.add_stream("T", rows(0, 20).drop(columns="v"), replace=True)
    assert answers(session) == before and [*session.streams["T"].log.folder.parent.iterdir()] == folders
    assert session.run(1) and session.streams["T"].position == 12


def test_columns_may_be_others(session):
    session.add_stream("T", rows(0, 20), batch=4)
    session.register("SELECT * FROM T", "all")
    session.add_stream("T", rows(0, 2, note=["a", "b"]), history=2, replace=True)
    assert [*session.query("all").result()] == ["id", "g", "v", "note"]


def test_a_table_is_replaced_too_and_a_name_that_is_new_is_added(session):
    session.add_stream("T", rows(0, 6), history=6, replace=True)
    session.register(QUERIES["joined"], "joined")
    session.add_table("U", pd.DataFrame({"g": [2], "w": [9]}), replace=True)
    assert set(session.query("joined").result()["w"]) == {9} and len(session.query("joined").result()) == 2
    with pytest.raises(StreamError, match="there is already a view or query called joined"):
        session.add_stream("joined", rows(0, 1), replace=True)
    with pytest.raises(StreamError, match="there is already a stream or table called u") as taken:
        session.add_table("u", rows(0, 1))
    assert "replace=True" in taken.value.hint
