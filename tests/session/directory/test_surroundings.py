"""A folder that is gone, a process that was forked, a full disk: every public method says so at once, as it is."""

from __future__ import annotations

import os
import random
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from session.directory.test_closed import OF_A_QUERY, OF_A_SESSION, ROWS, SQL

from workbench.errors import SessionError, UnexpectedError, WorkbenchError
from workbench.session.query import Query
from workbench.session.session import Session


@pytest.fixture(scope="module")
def session(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with Session(spark, tmp_path_factory.mktemp("surroundings") / "s") as session:
        session.add_stream("t", ROWS, history=10, batch=10)
        session.register(SQL, name="q")
        session.run(1)
        yield session


@pytest.fixture
def query(session: Session) -> Query:
    return session.query("q")


def test_a_folder_that_was_renamed(
    session: Session, query: Query, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    away = session.path.rename(tmp_path / "away")
    for stands in (None, "another session"):
        if stands:
            session.path.mkdir()
            (session.path / "writer.lock").touch()
            (session.path / "catalog.sqlite").touch()
        for name, ask in OF_A_SESSION.items():
            with pytest.raises(SessionError, match="was removed or renamed"):
                print(name, ask(session))
        for name, of_query in OF_A_QUERY.items():
            with pytest.raises(SessionError, match="was removed or renamed"):
                print(name, of_query(query))
    for file in session.path.iterdir():
        file.unlink()
    session.path.rmdir()
    away.rename(session.path)
    assert session.run(1) and len(query.result()) == 26


def test_a_session_whose_folder_is_gone_can_be_closed(spark: SparkSession, tmp_path: Path) -> None:
    session = Session(spark, tmp_path / "s")
    session.add_stream("t", iter([{"id": 1}]))
    session.register(SQL, name="q")
    session.path.rename(tmp_path / "away")
    session.close()
    assert session.closed and not session.path.exists()
    with Session.open(tmp_path / "away", spark) as again:
        assert len(again.query("q").result()) == 0


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", disk], capture_output=True).returncode:
        pytest.skip("no disk can be mounted here")
    yield disk
    subprocess.run(["umount", disk], check=True)


def test_a_full_disk(spark: SparkSession, small_disk: Path) -> None:
    """Whatever would write says that it is full; nothing is half done, and all goes on when there is room."""
    rows = pa.table({"id": range(60_000), "d": [random.Random(1).random() for _ in range(60_000)]})
    with Session(spark, small_disk / "s") as session:
        session.add_stream("t", ROWS, history=10, batch=10)
        session.add_table("z", [{"id": 1, "d": 1.5}], key=["id"])
        session.add_stream("g", ({"id": n, "d": 0.5} for n in range(100)), batch=10)
        session.register(SQL, name="q")
        session.register("SELECT z.id, g.d FROM z JOIN g ON z.id = g.id", name="joined")
        session.run(1)
        seen = {name: len(query.result()) for name, query in session.queries.items()}
        changes: dict[str, Callable[[], object]] = {
            "add_stream": lambda: session.add_stream("u", rows),
            "add_table": lambda: session.add_table("u", rows),
            "add_live": lambda: session.add_stream("u", iter([{"id": 1}])),
            "update_table": lambda: session.update_table("z", rows),
            "drop_stream": lambda: session.drop_stream("u"),
            "set_batch": lambda: session.set_batch("t", 3),
            "suspend": lambda: session.suspend("q"),
            "prioritize": lambda: session.prioritize("q", -1),
            "add_function": lambda: session.add_function("f", lambda x: x, returns="double"),
            "register": lambda: session.register("SELECT d, COUNT(*) AS n FROM t GROUP BY d", name="r"),
            "run": lambda: session.run(1),
            "run_live": lambda: session.run_live(until=1),
            "seek": lambda: session.seek(0),
            "reoptimize": lambda: session.reoptimize(),
            "add_sink": lambda: session.add_sink("q", small_disk / "sink"),
            "drop": lambda: session.drop("q"),
            "save": lambda: session.save(small_disk / "copy"),
            "to a file": lambda: session.query("q").save(small_disk / "rows.csv"),
        }
        filled = small_disk / "filled"
        said = {}
        for name, change in changes.items():
            fill(filled)
            try:
                change()
                said[name] = "done"
            except WorkbenchError as problem:
                assert not isinstance(problem, UnexpectedError), (name, problem)
                said[name] = str(problem)
            filled.unlink()
            if said[name] != "done":
                assert {q: len(session.query(q).result()) for q in seen} == seen, name
            for sink in session.sinks:
                session.drop_sink(sink)
        assert not [name for name, text in said.items() if "defect" in text]
        full = {name for name, text in said.items() if "No space left" in text or "is full" in text}
        assert full >= {"add_stream", "add_table", "update_table", "register", "run", "save", "to a file"}, said
        session.run(1)
        assert session.check().whole


def fill(file: Path) -> None:
    """Take all the room there is."""
    with file.open("wb", buffering=0) as opened, suppress(OSError):
        for size in (1 << 16, 1 << 12, 1):
            with suppress(OSError):
                while True:
                    opened.write(b"x" * size)


def test_a_process_that_was_forked(session: Session, query: Query) -> None:
    """Each method is asked in one child, which is ended where it hangs."""
    session.player.pause()
    reading, writing = os.pipe()
    with session.parts.store.exclusively():  # as another thread might have it at that moment
        child = os.fork()
    if not child:
        said = []
        for ask, of in [
            *((ask, session) for ask in OF_A_SESSION.values()),
            *((ask, query) for ask in OF_A_QUERY.values()),
        ]:
            try:
                ask(of)  # type: ignore[arg-type]
                said.append("nothing")
            except SessionError as refused:
                said.append("refused" if f"belongs to process {os.getppid()}" in str(refused) else str(refused))
            except BaseException as problem:
                said.append(repr(problem))
        try:
            Session.open(session.path)
        except Exception as refused:
            said.append("refused" if "was forked from one that has a Spark" in str(refused) else str(refused))
        os.write(writing, "\n".join(said).encode())
        os._exit(0)
    os.close(writing)
    previous = signal.signal(signal.SIGALRM, lambda *about: os.kill(child, signal.SIGKILL))
    signal.alarm(60)
    try:
        with open(reading) as answers:
            said = answers.read().splitlines()
        os.waitpid(child, 0)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)
    assert said == ["refused"] * (len(OF_A_SESSION) + len(OF_A_QUERY) + 1)
    assert session.run(1) and len(query.result()) == 36
