"""A session of very many segments: it is opened in seconds, and a commit follows what has changed.

Segments stand for the rows of 10⁹, 250,000 in each: their files have a byte, and are never read.
"""

from __future__ import annotations

import datetime as dt
import sqlite3
import time
from dataclasses import replace
from itertools import count
from pathlib import Path

import pyarrow as pa
import pytest
from effort import calls
from long import LONG

from workbench import Session
from workbench.engine.spark.in_process import InProcess
from workbench.engine.state import EngineState
from workbench.engine.storage.relation import Relation
from workbench.engine.storage.segments import Segment
from workbench.files.shared import all_stored
from workbench.session.directory.directory import CATALOG

STREAMS = 9
"""Each has its rows as they came, and those of the tree that reads them."""
SEGMENTS = 4_000 if LONG else 400
ROWS = 250_000
IN_A_RUN = 4
NUMBERS = count()


def grown(session: Session, relation: Relation, runs: int) -> Relation:
    """A relation with so many runs more."""
    more = [tuple(new_segment(session) for _ in range(IN_A_RUN)) for _ in range(runs)]
    return replace(relation, runs=(*relation.runs, *more))


def new_segment(session: Session) -> Segment:
    path = session.path / "state" / "S1" / f"{next(NUMBERS)}.arrow"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"x")
    all_stored([str(path)])
    return Segment(str(path), ROWS, 0, 1)


def segments_of(session: Session) -> list[Segment]:
    """The segments, by their names in the store."""
    segments = session.parts.store.last.engine.segments
    return [replace(each, path=each.path.removeprefix(str(session.path))) for each in segments]


def commit(session: Session, runs: int) -> float:
    """Let each relation grow, and commit; the seconds of the processor that the commit took."""
    engine, last = session.parts.runtime.engine, session.parts.store.last.engine
    trees = {name: replace(tree, relation=grown(session, tree.relation, runs)) for name, tree in last.trees.items()}
    state = EngineState(trees, {name: grown(session, rows, runs) for name, rows in last.arrived.items()}, last.clock)
    begun = time.process_time()
    with session.parts.store.changing():
        engine.state = state
    return time.process_time() - begun


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_opening_takes_seconds_and_a_commit_follows_what_changed(tmp_path: Path) -> None:
    address = f"file://{tmp_path}/store"
    with Session(InProcess(), address) as session:
        for at in range(STREAMS):
            session.add_stream(f"t{at}", pa.table({"id": [1]}), history=1)
            session.register(f"SELECT id FROM t{at}", f"q{at}")
        commit(session, SEGMENTS // IN_A_RUN)
        taken = commit(session, 1)
        segments = segments_of(session)
        commits = tmp_path.glob("store/commits/*")
        last = max(commits).stat().st_size
    begun = time.process_time()
    with Session.open(address, InProcess()) as session:
        opening = time.process_time() - begun
        assert session.read_only is None and segments_of(session) == segments
    assert len(segments) > 2 * STREAMS * SEGMENTS
    print(f"{len(segments):,} segments: opened in {opening:.2f} s, a commit {taken:.3f} s of CPU, {last:,} bytes")
    assert opening < 15 and taken < 0.5 and last < 30_000


@pytest.mark.slow
def test_a_commit_calls_no_function_for_each_segment(tmp_path: Path) -> None:
    """Names are compared as whole sets, so 1,600 segments more make no call more."""
    with Session(InProcess(), f"file://{tmp_path}/store") as session:
        session.add_stream("t", pa.table({"id": [1]}), history=1)
        session.register("SELECT id FROM t", "q")
        _, few = calls(lambda: commit(session, 1))
        commit(session, 200)
        assert calls(lambda: commit(session, 1))[1] < few + 200


@pytest.mark.slow
def test_event_times_come_back_and_those_of_an_older_version_are_computed(tmp_path: Path) -> None:
    times = [dt.datetime(2024, 1, 1) + dt.timedelta(hours=7 * at % 50) for at in range(40)]
    rows = pa.table({"id": range(40), "at": times, "day": [time.date() for time in times]})
    with Session(InProcess(), tmp_path / "s") as session:
        session.add_stream("early", rows.select(["id", "at"]), history=3, batch=4, time="at")
        session.run(2)
        session.add_stream("later", rows, history=5, batch=3, time="day")
        session.register("SELECT early.id FROM early JOIN later ON early.id = later.id", "q")
        session.run(2)
        clock = session.parts.store.last.engine.clock
    assert [batch for batch, _ in clock.vectors] == [*range(5)] and len(clock.now) == 4
    for without in (False, True, False):
        if without:
            with sqlite3.connect(tmp_path / "s" / CATALOG) as connection:
                connection.execute("DELETE FROM event_times")
        with Session.open(tmp_path / "s", InProcess()) as session:
            assert session.parts.store.last.engine.clock == clock
            session.run(1)
            clock = session.parts.store.last.engine.clock
            ((stored,),) = session.catalog("SELECT COUNT(*) AS n FROM event_times").to_numpy().tolist()
            assert stored == len(clock.vectors)


@pytest.mark.slow
def test_a_batch_does_as_much_after_many_as_after_few(tmp_path: Path) -> None:
    rows = pa.table({"g": [n % 3 for n in range(500)]})
    with Session(InProcess(), tmp_path / "s") as session:
        session.add_stream("t", rows, batch=1)
        session.register("SELECT g, COUNT(*) AS n FROM t GROUP BY g", name="groups")
        session.run(105)  # of 100 the reports have their operators in memory
        before = least_calls(session)
        session.run(250 if LONG else 120)
        assert least_calls(session) < 1.03 * before


def least_calls(session: Session) -> int:
    """The calls of 20 batches, the least of three times: merges beside a batch make some more where they are late."""
    return min(calls(lambda: session.run(20))[1] for _ in range(3))
