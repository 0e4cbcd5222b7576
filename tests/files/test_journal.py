"""Journals: what changes in one folder is in another, one number is one commit, and who is late writes nothing more."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pytest

from workbench.files import journal as journals
from workbench.files.commits import JournalCommit
from workbench.files.journal import Fenced, Journal
from workbench.files.recorded import RecordedConnection
from workbench.files.shared import share_folder, unshare_folder, write_small
from workbench.files.store import FolderStore

DATABASE = "streams/t/tail.sqlite"
VALUES = [None, 0, -(2**63), 1.5, float("inf"), 5e-324, "it''s", "é\n", b"", bytes(range(256)), True]


class Unsure(FolderStore):
    """A store of which answers are lost, before or after a commit is stored."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.problems: list[str] = []
        self.late: list[tuple[str, bytes]] = []

    def put_first(self, name: str, data: bytes) -> bool:  # type: ignore[override]
        problem = self.problems.pop(0) if self.problems else ""
        if problem == "late":  # the network brings it when nobody waits for it any more
            self.late.append((name, bytes(data)))
        done = super().put_first(name, data) if problem in ("", "answer", "interrupt") else False
        if problem == "interrupt":
            raise KeyboardInterrupt
        if problem:
            raise OSError("timed out")
        return done


@pytest.fixture
def machine(tmp_path: Path) -> Callable[..., Journal]:
    """Makes a machine with a folder of its own that knows the store."""
    numbers = iter(range(1_000))

    def make(store: FolderStore | None = None) -> Journal:
        folder = tmp_path / f"machine-{next(numbers)}"
        folder.mkdir()
        return Journal(store or FolderStore(tmp_path / "store"), folder)

    (tmp_path / "store").mkdir()
    return make


def opened(journal: Journal) -> RecordedConnection:
    """The database of a journal, which is made where it is not there."""
    path = journal.folder / DATABASE
    path.parent.mkdir(parents=True, exist_ok=True)
    database: RecordedConnection = sqlite3.connect(path, isolation_level=None, factory=RecordedConnection)
    database.execute("PRAGMA journal_mode = WAL")
    if DATABASE not in journal.files:
        database.execute("CREATE TABLE r (a, b)")
        journal.write_databases([DATABASE])
    database.record(journal, DATABASE)
    return database


def content(folder: Path) -> list[str]:
    database = sqlite3.connect(folder / DATABASE)
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")]
    rows = [f"{name} {sorted(map(repr, database.execute(f'SELECT rowid, * FROM {name}')))}" for name in tables]
    database.close()
    return rows


def change(database: RecordedConnection, random: Random) -> None:
    """Something that a program does within a transaction."""
    rows = [(random.choice(VALUES), random.choice(VALUES)) for _ in range(random.randrange(4))]
    match random.randrange(7):
        case 0 | 1:
            database.executemany("INSERT INTO r VALUES (?, ?)", iter(rows))
        case 2:
            database.execute("INSERT INTO r SELECT a, rowid FROM r WHERE rowid % 3 = ?", [random.randrange(3)])
        case 3:
            database.execute("UPDATE r SET b = ? WHERE rowid % 4 = 1", [random.choice(VALUES)])
        case 4:
            database.execute("CREATE TEMP TABLE IF NOT EXISTS come (a)")
            database.execute("DELETE FROM come")
            database.executemany("INSERT INTO come VALUES (?)", [(random.randrange(20),) for _ in range(5)])
            database.execute("DELETE FROM r WHERE rowid IN (SELECT a FROM come)")
        case 5:
            database.execute("CREATE TABLE IF NOT EXISTS more AS SELECT * FROM r")
        case 6:
            database.execute("WITH w AS (SELECT count(*) AS n FROM r) INSERT INTO r SELECT n, n FROM w")


def transaction(database: RecordedConnection, random: Random, level: int = 0) -> None:
    """Changes in a savepoint, some of them in one within it; it is kept or undone."""
    database.execute(f"SAVEPOINT level_{level}")
    for _ in range(random.randrange(1, 4)):
        if level < 2 and random.random() < 0.4:
            transaction(database, random, level + 1)
        else:
            change(database, random)
    if random.random() < 0.3:
        database.execute(f"ROLLBACK TO level_{level}")
    database.execute(f"RELEASE level_{level}")


@pytest.mark.parametrize("seed", range(20))
def test_what_changes_in_one_folder_is_in_another(
    machine: Callable[..., Journal], monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    random = Random(seed)
    monkeypatch.setattr(journals, "_SNAPSHOT_COMMITS", random.choice([1, 4, 1_000]))
    monkeypatch.setattr(journals, "READERS_SECONDS", random.choice([0.0, 1_000.0]))
    writer, follower = machine(), machine()
    assert writer.take_over() == ""
    database = opened(writer)
    follower.restore()
    for _ in range(12):
        match random.randrange(4):
            case 0:
                name = f"sinks/{random.randrange(3)}.json"
                random.choice([writer.write, writer.stage])(name, random.randbytes(5))
            case 1:
                writer.stage(f"sinks/{random.randrange(3)}.json", None)
            case 2:
                database.execute("BEGIN IMMEDIATE")
                change(database, random)
                database.execute(random.choice(["COMMIT", "ROLLBACK"]))
            case _:
                transaction(database, random)
        if random.random() < 0.2:  # the process ends, and goes on elsewhere
            database.close()
            writer.close()
            follower.restore()
            assert follower.take_over() == ""
            writer, follower = follower, machine()
            database = opened(writer)
            follower.restore()
    database.execute("INSERT INTO r VALUES (1, 2)")
    if follower.follow() is False:  # what it lacks was removed
        follower.restore()
    small = [
        {file.name: file.read_bytes() for file in (each.folder / "sinks").glob("*")} for each in (writer, follower)
    ]
    assert content(writer.folder) == content(follower.folder) and small[0] == small[1]
    assert writer.number == follower.number
    database.close()


def test_of_two_drivers_one_commits_a_number(machine: Callable[..., Journal], tmp_path: Path) -> None:
    start = threading.Barrier(2)

    def drive(journal: Journal, name: str, written: list[int]) -> str:
        start.wait()
        try:
            assert journal.take_over(anyway=True) == ""
            for number in range(3):
                journal.write(name, b"%d" % number)
                written.append(number)
        except Fenced as fenced:
            return str(fenced)
        return ""

    with ThreadPoolExecutor(2) as pool:
        for race in range(100):
            (folder := tmp_path / f"race-{race}").mkdir()
            store = FolderStore(folder)
            both, written = [machine(store), machine(store)], {"a": list[int](), "b": list[int]()}
            said = [*pool.map(drive, both, written, written.values())]
            assert not all(said) and all(why.startswith("it is open elsewhere, process ") for why in said if why)
            (reader := machine(store)).restore()
            for name, numbers in written.items():  # what was said to be there is, and no more
                assert (
                    [(reader.folder / name).read_bytes()] == [b"%d" % numbers[-1]]
                    if numbers
                    else name not in reader.files
                )
            there = sorted(int(path.name) for path in (folder / "commits").glob("[0-9]*"))
            assert there == [*range(1, 3 + sum(map(len, written.values())))]


def test_who_was_stopped_is_late_and_says_who_goes_on(machine: Callable[..., Journal]) -> None:
    stopped, other = machine(), machine()
    assert stopped.take_over() == ""
    stopped.write("a.json", b"1")
    other.restore()
    assert other.take_over().startswith(f"process {os.getpid()} on ")  # it is alive, as far as anybody knows
    assert other.take_over(anyway=True) == "" and other.writing
    told: list[str] = []
    stopped.on_lost = told.append
    for _ in range(2):
        with pytest.raises(Fenced, match=f"it is open elsewhere, process {os.getpid()} on "):
            stopped.write("a.json", b"2")
    assert len(told) == 1 and (stopped.folder / "a.json").read_bytes() == b"1"
    stopped.close()
    other.write("a.json", b"3")
    other.close()
    third = machine()
    third.restore()
    assert third.holder == "" and third.take_over() == "" and (third.folder / "a.json").read_bytes() == b"3"


def test_a_process_of_this_machine_that_is_gone_holds_nothing(machine: Callable[..., Journal]) -> None:
    gone, other = machine(), machine()
    gone.by = gone.by.replace(f"process {os.getpid()}", "process 4194999")
    gone.take_over()
    other.restore()
    assert other.take_over() == ""


@pytest.mark.parametrize("problem", ["answer", "request", "late"])
def test_an_answer_that_is_lost_is_settled(machine: Callable[..., Journal], tmp_path: Path, problem: str) -> None:
    store = Unsure(tmp_path / "store")
    journal = machine(store)
    journal.take_over()
    database = opened(journal)
    for number in range(3):
        store.problems = [problem]
        try:
            database.execute("INSERT INTO r VALUES (?, ?)", [number, problem])
            said = True
        except OSError:
            said = False
            database.execute("ROLLBACK")
        assert said == (problem == "answer")
        for name, data in store.late:
            store.put_first(name, data)
        database.execute("INSERT INTO r VALUES (?, 'then')", [number])
    other = machine()
    other.restore()
    assert content(other.folder) == content(journal.folder)
    database.close()


def test_a_store_that_never_answers_leaves_it_open(machine: Callable[..., Journal], tmp_path: Path) -> None:
    for problem, there in (("answer", True), ("request", False)):
        store = Unsure(tmp_path / problem)
        (tmp_path / problem).mkdir()
        journal, other = machine(store), machine(store)
        journal.take_over()
        store.problems = [problem, "request"]
        with pytest.raises(Fenced, match="did not say whether it has the last change"):
            journal.write("a.json", b"1")
        assert not (journal.folder / "a.json").exists()
        other.restore()
        assert other.take_over(anyway=True) == "" and (other.folder / "a.json").exists() == there


def test_an_interrupt_comes_when_the_commit_is_done(machine: Callable[..., Journal], tmp_path: Path) -> None:
    store = Unsure(tmp_path / "store")
    journal, other = machine(store), machine(store)
    journal.take_over()
    store.problems = ["interrupt"]
    with pytest.raises(KeyboardInterrupt):
        journal.write("a.json", b"1")
    assert (journal.folder / "a.json").read_bytes() == b"1"
    journal.write("b.json", b"2")
    other.restore()
    assert {file.name for file in other.folder.iterdir()} == {"a.json", "b.json"}


def test_a_commit_leads_nowhere_else(machine: Callable[..., Journal], tmp_path: Path) -> None:
    (outside := tmp_path / "outside").mkdir()
    attach: list[tuple[str, list[list[object]]]] = [(f"ATTACH '{outside / 'x'}' AS x", [[]])]
    vacuum: list[tuple[str, list[list[object]]]] = [(f"VACUUM INTO '{outside / 'y'}'", [[]])]
    for at, bad in enumerate(
        [("../outside/a", b"1"), ("d.sqlite", attach), ("d.sqlite", vacuum), (str(outside / "b"), b"")]
    ):
        store = FolderStore(tmp_path / str(at))
        (tmp_path / str(at)).mkdir()
        store.put_first("commits/0000000001", JournalCommit("o", "", ("", 0), [bad]).encoded())
        with pytest.raises((OSError, ValueError)):
            machine(store).restore()
    store.put_first("commits/0000000002", b"no commit")
    with pytest.raises(OSError, match="a commit is damaged"):
        machine(store).restore()
    assert [*outside.iterdir()] == []


def test_a_small_file_has_a_journal_or_none(machine: Callable[..., Journal], tmp_path: Path) -> None:
    write_small(tmp_path / "a.json", b"1")
    assert (tmp_path / "a.json").read_bytes() == b"1"
    journal, other = machine(), machine()
    journal.take_over()
    share_folder(journal.folder, "file:///somewhere", journal)
    try:
        write_small(journal.folder / "sinks" / "a.json", b"2")
        write_small(journal.folder / "sinks" / "b.json", b"3", soon=True)
    finally:
        unshare_folder(journal.folder)
    other.restore()
    assert other.files == {"sinks/a.json"}
    journal.close()
    other.follow()
    assert (other.folder / "sinks" / "b.json").read_bytes() == b"3" and other.holder == ""


def test_commits_that_no_listing_shows_yet_are_asked_for_by_name(
    machine: Callable[..., Journal], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = machine(), machine()
    assert not first.take_over()
    database = opened(first)
    for number in range(3):
        database.execute("INSERT INTO r VALUES (?, ?)", (number, "x"))
    monkeypatch.setattr(FolderStore, "names", lambda store, below="": iter(()))
    second.restore()
    assert second.number == first.number
    assert content(second.folder) == content(first.folder)
    with pytest.raises(FileNotFoundError):
        machine(FolderStore(first.folder)).restore()
