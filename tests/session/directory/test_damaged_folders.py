"""Every kind of file of a session's folder, damaged in every way: opening removes nothing, and names what is damaged.

The folders are made once: one as a session leaves it that was closed, and one as a killed process leaves it, with its
last commits in SQLite's log alone. Each case works on a copy. ``ARGUS_LONG=all`` takes all files of a kind, not only
the largest or first.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from long import LONG
from pyspark.sql import SparkSession

from workbench import Session
from workbench.errors import WorkbenchError
from workbench.limits import Limits

INDEXES_IN_FILES = Limits(rows_indexed_in_memory=0, bytes_per_part=0)
"""Else so few rows have no file for their index."""

BATCHES = 2
EVERY_FILE = LONG
BY_SQLITE = {"catalog.sqlite-wal", "catalog.sqlite-shm", "writer.lock", "readers.lock", "session.json"}
"""Files that opening may write: SQLite's own, locks, and the mark, each of which is made anew."""


@dataclass(frozen=True)
class Folders:
    """Sessions that were left as they are: ours after a kill and after a proper end, and one of another user."""

    killed: Path
    closed: Path
    other_killed: Path
    other_closed: Path
    answers: dict[str, pd.DataFrame]


@pytest.fixture(scope="module")
def folders(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Folders:
    place = tmp_path_factory.mktemp("folders")
    for name, step in (("other", 7), ("ours", 3)):
        with Session(spark, place / name, limits=INDEXES_IN_FILES) as session:
            fill(session, step)
            answers = {query: answer(session, query) for query in session.queries}
            copied_whole(place / name, place / f"{name} killed")
    return Folders(place / "ours killed", place / "ours", place / "other killed", place / "other", answers)


def fill(session: Session, step: int) -> None:
    """A session with a file of every kind."""
    rows = pa.table(
        {"id": range(60), "k": [i * step % 11 for i in range(60)], "d": [i // 2 - i % 7 for i in range(60)]}
    )
    session.add_stream("t", rows, history=20, batch=10, time="d", lateness=5)
    session.add_stream("u", rows, history=15, batch=10)
    session.add_function("plus", lambda value: None if value is None else value + step, returns="bigint")
    session.register("SELECT k, COUNT(*) AS n, MIN(id) AS lo FROM t GROUP BY k", name="grouped")
    session.register("SELECT a.id, b.k FROM t a JOIN u b ON a.id = b.id", name="joined")
    session.register("SELECT id, plus(k) AS p FROM u", name="called")
    session.run(BATCHES)


def copied_whole(folder: Path, into: Path) -> Path:
    return Path(shutil.copytree(folder, into))


def answer(session: Session, name: str) -> pd.DataFrame:
    found = session.query(name).result()
    return found.sort_values(list(found.columns), ignore_index=True)


KINDS: dict[str, Callable[[Path], list[Path]]] = {
    "catalog": lambda folder: [folder / "catalog.sqlite"],
    "catalog under its log": lambda folder: [folder / "catalog.sqlite"],
    "log of the catalog": lambda folder: [folder / "catalog.sqlite-wal"],
    "rows of a stream": lambda folder: sorted(folder.glob("streams/*-t/rows-*.parquet")),
    "manifest of a stream": lambda folder: sorted(folder.glob("streams/*-t/manifest.json")),
    "late rows of a stream": lambda folder: sorted(folder.glob("streams/*-t/late.npy")),
    "rows set aside by a stream": lambda folder: sorted(folder.glob("streams/*-t/set_aside.jsonl")),
    "rows that arrived": lambda folder: of_part(folder, "arrived"),
    "rows of a tree": lambda folder: of_part(folder, "rows"),
    "state": lambda folder: of_part(folder, "state"),
    "changelog": lambda folder: of_part(folder, "log"),
    "index": lambda folder: sorted(folder.glob("state/*/*.index")),
    "lock of who writes": lambda folder: [folder / "writer.lock"],
    "lock of who reads": lambda folder: [folder / "readers.lock"],
    "mark": lambda folder: [folder / "session.json"],
}
EXPENDABLE = {"index", "lock of who writes", "lock of who reads"}
"""Kinds without which a session opens whole."""


def of_part(folder: Path, part: str) -> list[Path]:
    """The files that the catalog has of a part."""
    connection = sqlite3.connect(f"file:{folder / 'catalog.sqlite'}?mode=ro", uri=True)
    found = connection.execute("SELECT file FROM segments WHERE part = ? ORDER BY bytes DESC, file", (part,)).fetchall()
    connection.close()
    return [folder / file for (file,) in found]


def missing(file: Path, other: Path) -> None:
    file.unlink()


def emptied(file: Path, other: Path) -> None:
    file.write_bytes(b"")


def cut(file: Path, other: Path) -> None:
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])


def flipped(file: Path, other: Path) -> None:
    whole = bytearray(file.read_bytes() or b"\0")
    whole[len(whole) * 2 // 3] ^= 0x04
    file.write_bytes(whole)


def anothers(file: Path, other: Path) -> None:
    file.write_bytes(other.read_bytes())


DAMAGES = (missing, emptied, cut, flipped, anothers)


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_removed_and_the_file_is_named(
    spark: SparkSession, folders: Folders, tmp_path: Path, kind: str, damage: Callable[[Path, Path], None]
) -> None:
    killed = kind.startswith(("log of", "catalog under")) or kind in ("index", "job input")
    source, other = (folders.killed, folders.other_killed) if killed else (folders.closed, folders.other_closed)
    others = KINDS[kind](other)
    for number, file in enumerate(KINDS[kind](source)[: None if EVERY_FILE else 1]):
        folder = copied_whole(source, tmp_path / str(number))
        damaged = folder / file.relative_to(source)
        damage(damaged, others[0] if others else file)
        if damaged.exists() and damaged.read_bytes() == file.read_bytes():
            continue  # there was nothing in it
        expendable = kind in EXPENDABLE or (kind == "mark" and damage is not anothers)
        check_opening(spark, folders, folder, damaged, expendable)


def check_opening(spark: SparkSession, folders: Folders, folder: Path, damaged: Path, expendable: bool) -> None:
    before, written = contents(folder), set(BY_SQLITE)
    try:
        session = Session.open(folder, spark)
    except WorkbenchError as problem:
        assert not expendable, problem
        assert damaged.name in str(problem)
    else:
        with session:
            named = str(session.read_only)
            # What is in SQLite's log stands above the file that it is the log of.
            hidden = damaged.name == "catalog.sqlite" and (folder / "catalog.sqlite-wal").exists()
            assert (session.read_only is None) if expendable else (damaged.name in named or hidden), named
            if session.read_only is None and (folder / "catalog.sqlite-wal").exists():
                written.add("catalog.sqlite")  # the session that went on has brought SQLite's log into it
            for name, query in session.queries.items():
                if query.status == "active" and session.batch < BATCHES:
                    assert "commits" in named  # it answers as of an earlier one
                elif query.status == "active":
                    pd.testing.assert_frame_equal(answer(session, name), folders.answers[name])
                else:
                    assert damaged.name in query.status
    after = Counter({(name_of(path), data): 1 for path, data in contents(folder).items()})
    lost = [path for path, data in before.items() if (path, data) not in after and path not in written]
    assert lost == []


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def name_of(path: str) -> str:
    """Where a file was before it was set aside."""
    return path.split("/", 2)[2] if path.startswith("leftovers/") else path


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_function_whose_bytes_are_damaged_is_not_loaded(
    spark: SparkSession, folders: Folders, tmp_path: Path, damage: Callable[[Path, Path], None]
) -> None:
    """The bytes are in the catalog; no signature fits them any more."""
    folder, bytes_of = copied_whole(folders.closed, tmp_path / "s"), {}
    for name, of in (("ours", folder), ("other", folders.other_closed)):
        connection = sqlite3.connect(of / "catalog.sqlite")
        ((pickled,),) = connection.execute("SELECT pickled FROM user_functions").fetchall()
        connection.close()
        bytes_of[name] = tmp_path / name
        bytes_of[name].write_bytes(pickled)
    damage(bytes_of["ours"], bytes_of["other"])
    connection = sqlite3.connect(folder / "catalog.sqlite")
    left = bytes_of["ours"].read_bytes() if bytes_of["ours"].exists() else b""
    connection.execute("UPDATE user_functions SET pickled = ?", (left,))
    connection.commit()
    connection.close()
    before = contents(folder)
    with Session.open(folder, spark) as session:
        assert "catalog.sqlite is damaged" in str(session.read_only)
        assert "function plus is not loaded" in str(session.read_only)
        assert "function plus is not loaded" in session.query("called").status
        pd.testing.assert_frame_equal(answer(session, "grouped"), folders.answers["grouped"])
    assert contents(folder) | dict.fromkeys(BY_SQLITE, b"") == before | dict.fromkeys(BY_SQLITE, b"")


@pytest.mark.parametrize("left", ["nothing", "an empty folder", "streams without a catalog", "the mark alone"])
def test_a_new_session_begins_only_where_nothing_is_left_of_another(
    spark: SparkSession, folders: Folders, tmp_path: Path, left: str
) -> None:
    folder = tmp_path / "s"
    if left == "an empty folder":
        (folder / "state").mkdir(parents=True)
    elif left == "streams without a catalog":
        shutil.copytree(folders.closed / "streams", folder / "streams")
    elif left == "the mark alone":
        folder.mkdir()
        shutil.copyfile(folders.closed / "session.json", folder / "session.json")
    if left in ("nothing", "an empty folder"):
        Session(spark, folder).close()
        Session.open(folder, spark).close()
        return
    before = contents(folder)
    for begin in (lambda: Session(spark, folder), lambda: Session.open(folder, spark)):
        with pytest.raises(WorkbenchError, match=r"catalog\.sqlite is missing"):
            begin()
    assert contents(folder) == before
