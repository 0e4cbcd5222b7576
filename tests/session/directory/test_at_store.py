"""A session in a store: any machine goes on from there alone, whatever was lost on the way, and one of them writes."""

from __future__ import annotations

import os
import shutil
import threading
import time
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import pandas as pd
import pyarrow as pa
import pytest
from long import LONG
from oracle.harness import Case, Feed, Oracle
from oracle.random_streams import stream

from workbench import Session
from workbench.catalog.database import CatalogError
from workbench.engine.spark.in_process import InProcess
from workbench.errors import EnvironmentProblem, SessionError, StreamError, WorkbenchError
from workbench.files import store as stores
from workbench.files.journal import COMMITS, REQUESTS
from workbench.files.store import FolderStore, Stored
from workbench.limits import LIMITS, Limits
from workbench.session.learning.observing import present_statistics
from workbench.streams import tail

CASES = {
    "groups": Case("SELECT g, COUNT(*) AS n, SUM(amount) AS s, MIN(k) AS lo FROM t GROUP BY g"),
    "join": Case("SELECT a.k, b.amount FROM t a JOIN t b ON a.k = b.k WHERE a.amount > 0"),
    "few": Case("SELECT k, amount FROM t WHERE amount > 10"),
}
SEED = int(os.environ["ARGUS_SEED"])
ROWS = [{"id": at, "v": at % 3} for at in range(6)]


class Gone(BaseException):
    """The machine is gone: nothing that it would do next is done."""


class Watched(FolderStore):
    """A store that counts requests, and loses a machine or an answer at one of them, or lists new files late."""

    requests: ClassVar[list[tuple[str, str]]] = []
    dies_at: ClassVar[int | None] = None
    answers_lost: ClassVar[frozenset[int]] = frozenset()
    not_listed: ClassVar[int] = 0
    """How many of the newest files no listing shows."""
    slow: ClassVar[Random | None] = None
    """Draws how long each file takes to be stored."""
    lock: ClassVar[threading.Lock] = threading.Lock()
    in_the_air: ClassVar[set[str]] = set()
    """Files whose storing has begun, and has not ended."""
    together: ClassVar[int] = 0
    """The most of them at a time."""

    def _ask(self, kind: str, name: str) -> int:
        with Watched.lock:
            Watched.requests.append((kind, name))
            number = len(Watched.requests) - 1
        if Watched.dies_at is not None and number >= Watched.dies_at:
            raise Gone
        return number

    fetching: ClassVar[int] = 0
    fetched_together: ClassVar[int] = 0
    """The most files that are fetched at a time."""

    @contextmanager
    def _storing(self, name: str, data: Any) -> Iterator[None]:
        """What a file takes; a commit names none that is being stored, as that of another sink or machine may be."""
        with Watched.lock:
            if name.startswith(COMMITS):
                said = zlib.decompress(data)
                named = {each for each in Watched.in_the_air if Path(each).name.encode() in said}
                assert not named, f"{name} is stored before {named}"
            Watched.in_the_air.add(name)
            Watched.together = max(Watched.together, len(Watched.in_the_air))
        try:
            if Watched.slow is not None:
                time.sleep(Watched.slow.random() / 50)
            yield
        finally:
            with Watched.lock:
                Watched.in_the_air.remove(name)

    def _answer(self, number: int) -> None:
        if number in Watched.answers_lost:
            raise OSError("timed out")

    def put(self, name: str, data: Any) -> None:
        with self._storing(name, data):
            number = self._ask("PUT", name)
            super().put(name, data)
            self._answer(number)

    def put_first(self, name: str, data: Any) -> bool:
        with self._storing(name, data):
            number = self._ask("PUT", name)
            done = super().put_first(name, data)
            self._answer(number)
            return done

    def get(self, name: str, first: int = 0, length: int | None = None) -> bytes:
        if not name.startswith(REQUESTS):  # a thread asks by the clock for what followers want
            self._ask("GET", name)
        with Watched.lock:
            Watched.fetching += 1
            Watched.fetched_together = max(Watched.fetched_together, Watched.fetching)
        try:
            if Watched.slow is not None:
                time.sleep(Watched.slow.random() / 50)
            return super().get(name, first, length)
        finally:
            with Watched.lock:
                Watched.fetching -= 1

    def names(self, below: str = "") -> Iterator[Stored]:
        self._ask("LIST", below)
        newest_first = sorted(super().names(), key=lambda stored: -stored.written)
        late = newest_first[: Watched.not_listed]
        return (stored for stored in super().names(below) if stored not in late)

    def remove(self, names: Iterable[str]) -> None:
        if names := list(names):
            self._ask("DELETE", names[0])
            super().remove(names)


@pytest.fixture(autouse=True)
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Watched]]:
    monkeypatch.setattr(stores, "FolderStore", Watched)
    Watched.requests, Watched.dies_at, Watched.answers_lost, Watched.not_listed = [], None, frozenset(), 0
    Watched.slow, Watched.together, Watched.fetched_together = None, 0, 0
    yield Watched
    Watched.dies_at, Watched.answers_lost = None, frozenset()


@pytest.fixture
def address(tmp_path: Path) -> str:
    return f"file://{tmp_path}/store"


def opened(address: str, **asked: Any) -> Session:
    return Session.open(address, InProcess(), **asked)


def feeds() -> dict[str, Feed]:
    return {"t": Feed(stream(130, seed=61), history=30, batch=12)}


def lost(session: Session) -> None:
    """The machine of a session is gone, with its disk."""
    Watched.dies_at = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session.parts.directory, "journal", None)
        session.close()
    Watched.dies_at = None
    assert not session.path.exists()


@pytest.mark.slow
def test_a_session_goes_on_from_its_store_alone(address: str) -> None:
    with Oracle(InProcess(), feeds(), path=address) as oracle:
        oracle.register(CASES)
        for batch in range(4):
            oracle.run(1, check=False)
            Watched.requests = []
            oracle.run(1, check=False)
            # One pack of what the batch wrote, and its commit; a file is fetched when it is first read.
            asked = Counter(kind for kind, _ in Watched.requests)
            fetched = asked.pop("GET", 0)
            assert asked == {"PUT": 2} and fetched <= 2 * bool(batch), Watched.requests
            oracle.check_results()
            if batch % 2:
                oracle.session.close()
                before = oracle.session.path
                oracle.follow(opened(address))
                assert oracle.session.read_only is None and oracle.session.path != before and not before.exists()
            else:
                lost(oracle.session)
                assert "is open elsewhere" in str(opened(address).read_only)
                oracle.follow(opened(address, take_over=True))
            oracle.check_results()
        oracle.check_changes()
        assert oracle.session.check().whole


@pytest.mark.parametrize("not_listed", [1, 4])
def test_a_listing_may_show_the_newest_files_late(address: str, not_listed: int) -> None:
    at_once = Limits(milliseconds_until_collected=0)
    with Oracle(InProcess(), feeds(), path=address, limits=at_once) as oracle:
        oracle.register(CASES)
        oracle.run(2)
        Watched.not_listed = not_listed
        for _ in range(3):
            lost(oracle.session)
            oracle.follow(opened(address, take_over=True, limits=at_once))
            assert oracle.session.read_only is None
            oracle.run(1)
        oracle.check_changes()
        assert oracle.session.check().whole


def play(address: str, limits: Limits = LIMITS) -> dict[str, pd.DataFrame]:
    """A session from its beginning to its end, also after it was lost on the way: its answers."""
    try:
        session = Session(InProcess(), address, limits=limits)
    except SessionError:
        try:
            session = opened(address, take_over=True, limits=limits)
        except (SessionError, CatalogError):  # it had not begun
            shutil.rmtree(address.removeprefix("file://"))
            session = Session(InProcess(), address, limits=limits)
    try:
        if "t" not in session.streams:
            session.add_stream("t", stream(60, seed=5), history=30, batch=10)
        if "keyed" not in session.streams:
            session.add_table("keyed", pd.DataFrame(ROWS), key=["id"])
        for name, case in CASES.items():
            if name not in session.queries:
                session.register(case.sql, name=name)
        if "of_keyed" not in session.queries:
            session.register("SELECT v, COUNT(*) AS n FROM keyed GROUP BY v", name="of_keyed")
        while session.batch < 4:
            if session.batch == 1:
                session.update_table("keyed", pd.DataFrame([{"id": 2, "v": 7}, {"id": 9, "v": 8}]))
            else:
                session.run(1)
        answers = {name: sorted_rows(query.result()) for name, query in session.queries.items()}
    except BaseException:
        Watched.dies_at = 0
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(session.parts.directory, "journal", None)
            session.close()
        Watched.dies_at = None
        raise
    session.close()
    return answers


def sorted_rows(answer: pd.DataFrame) -> pd.DataFrame:
    return answer.sort_values(list(answer)).reset_index(drop=True)


@pytest.mark.slow
def test_a_machine_that_is_lost_at_any_request_loses_nothing(tmp_path: Path) -> None:
    expected = play(f"file://{tmp_path}/whole")
    number = len(Watched.requests)
    for dies_at in range(0 if LONG else 5, number, 1 if LONG else 9):
        address = f"file://{tmp_path}/{dies_at}"
        Watched.requests, Watched.dies_at = [], dies_at
        with pytest.raises(Gone):
            play(address)
        Watched.dies_at = None
        answers = play(address)
        assert answers.keys() == expected.keys(), dies_at
        for name, answer in answers.items():
            pd.testing.assert_frame_equal(answer, expected[name])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SEED, SEED + (20 if LONG else 2)))
def test_a_machine_that_is_lost_while_files_are_stored_together_loses_nothing(tmp_path: Path, seed: int) -> None:
    limits, chance = Limits(bytes_per_part=0), Random(seed)  # each change is a file of its own
    expected = play(f"file://{tmp_path}/whole", limits)
    number, Watched.slow = len(Watched.requests), chance
    for at, dies_at in enumerate(sorted(chance.sample(range(5, number), 6))):
        address = f"file://{tmp_path}/{at}"
        Watched.requests, Watched.dies_at, Watched.together = [], dies_at, 0
        with pytest.raises(Gone):
            play(address, limits)
        while Watched.in_the_air:  # threads of the machine that is lost, which goes on in this process
            time.sleep(0.001)
        Watched.dies_at = None
        for name, answer in play(address, limits).items():
            pd.testing.assert_frame_equal(answer, expected[name])
        assert Watched.together > 1


@pytest.mark.slow
def test_an_answer_that_is_lost_at_any_request_changes_nothing(tmp_path: Path) -> None:
    expected = play(f"file://{tmp_path}/whole")
    puts = [at for at, (kind, _) in enumerate(Watched.requests) if kind == "PUT"]
    for at in puts if LONG else puts[4::8]:
        address = f"file://{tmp_path}/{at}"
        Watched.requests, Watched.answers_lost = [], frozenset({at})
        try:
            answers = play(address)
        except WorkbenchError:  # a file was not stored, as far as anybody knows, so the change was undone
            Watched.answers_lost = frozenset()
            answers = play(address)
        for name, answer in answers.items():
            pd.testing.assert_frame_equal(answer, expected[name])


def test_who_is_late_writes_nothing_more_also_not_to_sinks(address: str) -> None:
    got: dict[str, list[int]] = {"late": [], "next": []}

    def target(name: str) -> Any:
        return lambda batch, changes: got[name].append(batch)

    late = Session(InProcess(), address)
    late.add_stream("t", stream(130, seed=3), history=30, batch=10)
    late.register(CASES["few"].sql, name="few")
    late.add_sink("few", target("late"), name="out")
    late.run(2)
    late.parts.sinks.close()
    until = late.batch
    late.parts.sinks.add("out", "few", target("late"))
    writer = opened(address, take_over=True)
    assert writer.read_only is None
    writer.add_sink("few", target("next"), name="out")
    writer.run(1)
    for _ in range(2):
        with pytest.raises(WorkbenchError, match="it is open elsewhere, process"):
            late.run(1)
    assert "it is open elsewhere" in str(late.read_only) and late.batch == 2
    late.close()
    writer.run(1)
    with opened(address, reading=True) as reader:
        assert reader.batch == 4
    writer.close()
    assert [batch for batch in got["late"] if batch > until] == [] and max(got["next"]) == 4
    # Who goes on may not know that the last one was taken, since that is committed with the next batch.
    assert {*range(5)} == {*got["late"], *got["next"]} and {*got["late"]} & {*got["next"]} <= {until}


def test_followers_see_what_was_committed_last(address: str) -> None:
    with Session(InProcess(), address) as writer:
        writer.add_stream("t", stream(130, seed=3), history=30, batch=10)
        writer.register(CASES["groups"].sql, name="groups")
        with opened(address) as first, opened(address, reading=True) as second:
            assert "it is open elsewhere, process" in str(first.read_only)
            assert second.read_only == "it was opened to be read"
            for _ in range(3):
                writer.run(1)
                writer.register(CASES["few"].sql, name=f"few{writer.batch}")
                expected = sorted_rows(writer.query("groups").result())
                for follower in (first, second):
                    pd.testing.assert_frame_equal(sorted_rows(follower.query("groups").result()), expected)
                    assert follower.queries.keys() == writer.queries.keys() and follower.batch == writer.batch
                    assert len(follower.network.nodes) == len(writer.network.nodes)
            with pytest.raises(SessionError, match="the session is read-only"):
                first.run(1)
    with opened(address) as third:
        assert third.read_only is None


def test_live_rows_and_corrections_go_on(address: str) -> None:
    rows: list[dict[str, object]] = [{"id": at, "v": at * 10} for at in range(25)]
    session = Session(InProcess(), address)
    session.add_stream("live", iter(rows[:10]), batch=5)
    session.add_table("keyed", pd.DataFrame(ROWS), key=["id"])
    session.register("SELECT id, v FROM live", name="all")
    session.register("SELECT id, v FROM keyed", name="now")
    session.run(1)
    session.update_table("keyed", pd.DataFrame([{"id": 1, "v": 9}]), delete=pd.DataFrame([{"id": 0}]))
    lost(session)
    with opened(address, take_over=True) as session:
        session.attach("live", iter(rows))
        session.update_table("keyed", pd.DataFrame([{"id": 7, "v": 7}]), delete=pd.DataFrame([{"id": 1}]))
        session.run(10)
        assert sorted(session.query("all").result()["id"]) == [*range(25)]
        now = {row["id"]: row["v"] for row in session.query("now").result().to_dict("records")}
        assert now == {2: 2, 3: 0, 4: 1, 5: 2, 7: 7}


def test_files_of_a_log_are_fetched_together_and_first_for_a_plan(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who opens a session reads none of them."""
    monkeypatch.setattr(tail, "FILED_ROWS", 4)
    with Session(InProcess(), address) as session:
        session.add_stream("live", ({"id": at, "v": at * 10} for at in range(60)), batch=5)
        session.register("SELECT id FROM live", name="ids")
        session.run(10)
        known = present_statistics(session.parts.store.state)
    Watched.requests, Watched.slow = [], Random(SEED)
    with opened(address) as session:
        session.run(0)
        assert len(session.query("ids").result()) == 50
        assert not [name for _, name in Watched.requests if name.startswith("streams/") and name.endswith(".parquet")]
        session.register("SELECT v FROM live WHERE v > 20", name="some")
        fetched = [name for kind, name in Watched.requests if kind == "GET" and name.startswith("streams/")]
        assert len(fetched) == len({*fetched}) >= 10 and Watched.fetched_together > 1
        assert {**present_statistics(session.parts.store.state)} == {**known}


def test_what_nothing_names_is_removed_once(address: str, tmp_path: Path) -> None:
    folder = tmp_path / "store"
    with Session(InProcess(), address) as session:
        session.add_stream("t", stream(130, seed=3), history=30, batch=10)
        session.add_stream("u", stream(30, seed=4), history=30)
        session.register(CASES["groups"].sql, name="groups")
        session.run(3)
        session.drop_stream("u")
        expected = sorted_rows(session.query("groups").result())
    for name in ("state/packs/failed.arrow", "state/J1/failed.arrow", "snapshots/0000000001-failed"):
        FolderStore(folder).put(name, b"of an attempt that failed")
    at_once = Limits(milliseconds_until_collected=0)
    with opened(address, limits=at_once) as session:
        named = {Path(file).relative_to(session.path).as_posix() for file in session.parts.store.last.engine.files}
        there = {each.name for each in FolderStore(folder).names()}
        assert {name for name in there if name.startswith("state/")} == named
        assert {Path(name).parts[1] for name in there if name.startswith("streams/")} == {
            stream.log.folder.name for stream in session.streams.values()
        }
        assert len([name for name in there if name.startswith("snapshots/")]) == 1
        session.run(1)
    with opened(address) as session:
        assert session.check().whole and session.batch == 4
        session.run(0)
        assert len(expected) == len(session.query("groups").result())


def test_a_session_is_copied_to_a_store_and_back(address: str, tmp_path: Path) -> None:
    with Session(InProcess()) as session:
        session.add_stream("t", stream(130, seed=3), history=30, batch=10)
        session.add_table("keyed", pd.DataFrame(ROWS), key=["id"])
        session.register(CASES["groups"].sql, name="groups")
        session.run(2)
        assert session.save(address) == address
        session.run(1)
        expected = sorted_rows(session.query("groups").result())
        with pytest.raises(SessionError, match="there is already a session, or another file, in file://"):
            session.save(address)
    with opened(address) as session:
        session.update_table("keyed", pd.DataFrame([{"id": 7, "v": 7}]), delete=pd.DataFrame([{"id": 1}]))
        session.run(1)
        session.save(tmp_path / "back")
    with Session.open(tmp_path / "back", InProcess()) as session:
        assert session.batch == 4
        pd.testing.assert_frame_equal(sorted_rows(session.query("groups").result()), expected)
        session.register("SELECT id FROM keyed", name="ids")
        assert sorted(session.query("ids").result()["id"]) == [0, 2, 3, 4, 5, 7]


def test_a_file_that_the_store_lost_is_said(address: str, tmp_path: Path) -> None:
    with Session(InProcess(), address) as session:
        session.add_stream("t", stream(130, seed=3), history=30, batch=10)
        session.register(CASES["groups"].sql, name="groups")
        session.run(1)
        (pack, *_) = {file for tree in session.parts.store.last.engine.trees.values() for file in tree.files}
        name = Path(pack).relative_to(session.path)
    (tmp_path / "store" / name).unlink()
    with opened(address) as session:
        assert f"{name.name} is missing" in str(session.read_only)
    with opened(address, repair=True) as session:
        assert session.read_only is None
        session.run(1)
        repaired = sorted_rows(session.query("groups").result())
    with Session(InProcess()) as other:
        other.add_stream("t", stream(130, seed=3), history=30, batch=10)
        other.register(CASES["groups"].sql, name="groups")
        other.run(2)
        pd.testing.assert_frame_equal(repaired, sorted_rows(other.query("groups").result()))


def test_what_cannot_be_is_refused(address: str, tmp_path: Path) -> None:
    with pytest.raises(SessionError, match="there is no session in file://"):
        opened(address)
    with pytest.raises(EnvironmentProblem, match="nothing://bucket/argus cannot be used"):
        Session(InProcess(), "nothing://bucket/argus")
    with pytest.raises(SessionError, match="is for no group of this machine"):
        Session(InProcess(), address, group=0)
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "mine").write_text("")
    with pytest.raises(SessionError, match="there is already a session, or another file"):
        Session(InProcess(), address)
    (tmp_path / "store" / "mine").unlink()
    with Session(InProcess(), Path(address)) as session:
        assert session.place == address and session.streams == {}
        with pytest.raises(SessionError, match="there is already a session"):
            Session(InProcess(), address)
        with pytest.raises(StreamError, match="a streaming DataFrame needs a session in a folder"):
            session.add_stream("s", Streaming())
    with Session(InProcess(), tmp_path / "folder"), pytest.raises(SessionError, match="cannot be taken over"):
        Session.open(tmp_path / "folder", InProcess(), take_over=True)


class Streaming:
    """Looks like a streaming DataFrame of Spark."""

    isStreaming = True
    writeStream = None
    schema = pa.schema([("a", pa.int64())])


def test_a_store_that_shows_files_and_no_commit_says_so(address: str) -> None:
    with Session(InProcess(), address):
        pass
    FolderStore(Path(address.removeprefix("file://"))).remove([f"commits/{n:010d}" for n in range(1, 99)])
    with pytest.raises(SessionError, match="has files, and shows no commit of a session"):
        opened(address)
