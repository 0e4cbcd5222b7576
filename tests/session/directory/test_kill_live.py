"""``kill -9`` while a session runs live, from a topic to three sinks: nothing is lost, and nothing comes twice.

No kill in the usual run (``test_every_write`` goes the way from the topic to the sinks); ``ARGUS_KILLS=100`` makes as
many, at random moments, and as many of a session that leaves rows out.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from long import LONG
from pyspark.sql import SparkSession
from servers import ISOLATES, Broker, isolating_broker, postgres

from workbench import Session

KILLS = int(os.environ.get("ARGUS_KILLS", "1" if LONG else "0"))
WAITING = 50_000
"""Rows in the log when a session begins that leaves rows out."""
PROJECT = Path(__file__).resolve().parents[3]
GROUPS = "SELECT grp, COUNT(*) AS n, SUM(v) AS s FROM T GROUP BY grp"
CHILD = """
import sys
from workbench import Session

def told(report):
    if any(cut.passed for cut in report.cuts.values()):
        print("left out", flush=True)

with Session.open(sys.argv[1]) as session:
    print("begun", flush=True)
    session.run_live(latency=sys.argv[2], until=120, progress=told)
"""


class Repeated(threading.Thread):
    """Work that is repeated, after some seconds each time, within a context."""

    def __init__(self, work: Callable[[], None], seconds: float) -> None:
        super().__init__()
        self._repeat, self._seconds, self._ended = work, seconds, threading.Event()

    def run(self) -> None:
        while not self._ended.wait(self._seconds):
            self._repeat()

    def __enter__(self) -> Repeated:
        self.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._ended.set()
        self.join()


class Changing:
    """Rows by key that change in a topic: put, put anew, or removed."""

    def __init__(self, broker: Broker, topic: str) -> None:
        self.current: dict[int, tuple[str, int]] = {}
        self.count = 0
        self._broker, self._topic, self._chosen = broker, topic, random.Random(7)

    def change(self, count: int) -> None:
        self.count += count
        for _ in range(count):
            key, group, value = self._chosen.randrange(40), self._chosen.choice("abcde"), self._chosen.randrange(100)
            if self._chosen.random() < 0.3:
                self.current.pop(key, None)
                self._broker.put(self._topic, None, key=key, partition=key % 4)
            else:
                self.current[key] = (group, value)
                self._broker.put(self._topic, {"grp": group, "v": value}, key=key, partition=key % 4)

    def answer(self) -> Counter[tuple[object, ...]]:
        groups: dict[str, list[int]] = {}
        for group, value in self.current.values():
            groups.setdefault(group, []).append(value)
        return Counter((group, len(values), sum(values)) for group, values in groups.items())


def make_session(spark: SparkSession, folder: Path, broker: Broker, out: Broker, database: str) -> None:
    """A session from a topic to three sinks, one of them a topic of a broker."""
    with Session(spark, folder / "s") as session:
        url = broker.url("t", "key=id&fetch.wait.max.ms=10")
        session.add_stream("T", url, batch=1_000, key=["id"], changes="upsert")
        session.register(GROUPS, name="groups")
        session.add_sink("groups", str(folder / "files"), name="files")
        session.add_sink("groups", f"{database}&table=groups&key=grp", name="table")
        session.add_sink("groups", out.url("out"), name="topic")


def check_all_is_there_once(spark: SparkSession, folder: Path, out: Broker, database: str, changing: Changing) -> int:
    """The answer is that over all messages, and each target has every change once; how many batches there were."""
    with Session.open(folder / "s", spark) as session:
        until = time.monotonic() + 120
        while session.run(1) or (session.sources["T"].problem and time.monotonic() < until):
            pass
        assert not session.sources["T"].problem
        until = time.monotonic() + 120
        while any(status.behind for status in session.sinks.values()) and time.monotonic() < until:
            time.sleep(0.05)
        assert not any(status.behind for status in session.sinks.values()), session.sinks
        answer = Counter(session.query("groups").result().itertuples(index=False, name=None))
        batches = session.batch
    assert answer == changing.answer()
    written = Counter(pd.read_parquet(folder / "files").itertuples(index=False, name=None))
    sent = Counter(
        (int(dict(message.headers())["argus-batch"]), *json.loads(message.value()).values())
        for message in out.read("out")
    )
    assert sent == written
    with psycopg.connect(database) as connection:
        assert Counter(connection.execute("SELECT * FROM groups").fetchall()) == answer
    totals: Counter[tuple[object, ...]] = Counter()
    for (_, weight, *row), count in sent.items():
        totals[tuple(row)] += weight * count
    assert {row: count for row, count in totals.items() if count} == answer
    return batches


@pytest.mark.skipif(not KILLS, reason="ARGUS_KILLS=100 kills a session as often; test_every_write takes the same way")
@pytest.mark.timeout(300 + 60 * KILLS)
def test_a_live_session_survives_being_killed(spark: SparkSession, tmp_path: Path) -> None:
    if not ISOLATES:
        pytest.skip("pip install 'argus-workbench[faults]' for a broker that honours isolation")
    broker, delays = Broker(), random.Random(8)
    changing = Changing(broker, "t")
    changing.change(20)
    with postgres() as database, isolating_broker("out") as out:
        make_session(spark, tmp_path, broker, out, database)
        # The broker forgets old messages when there are many: a session that is killed ever again must not fall behind.
        with Repeated(lambda: changing.change(5), seconds=0.1):
            for _ in range(KILLS):
                killed_after(tmp_path / "s", delays.uniform(0, 6), latency="500ms")
        print(f"{KILLS} kills, {check_all_is_there_once(spark, tmp_path, out, database, changing)} batches")


class Growing:
    """Rows that come into a folder."""

    def __init__(self, folder: Path) -> None:
        self.rows = 0
        self._folder, self._one_at_a_time = folder, threading.Lock()

    def put(self, rows: int) -> None:
        with self._one_at_a_time:
            table = pa.table({"grp": [i % 5 for i in range(rows)], "v": range(self.rows, self.rows + rows)})
            hidden = self._folder / f".{self.rows:09}"
            pq.write_table(table, hidden)
            hidden.rename(self._folder / f"{self.rows:09}.parquet")
            self.rows += rows

    def answer(self) -> Counter[tuple[object, ...]]:
        found = Counter[tuple[object, ...]]()
        for group in range(5):
            values = range(group, self.rows, 5)
            found[group, len(values), sum(values)] += 1
        return found


@pytest.mark.skipif(not KILLS, reason="ARGUS_KILLS=100 kills a session as often while it leaves rows out")
@pytest.mark.timeout(300 + 60 * KILLS)
def test_a_session_that_leaves_rows_out_survives_being_killed(spark: SparkSession, tmp_path: Path) -> None:
    """What was left out is known after each kill: caught up, the answer is that over all rows, and each came once."""
    delays, rows = random.Random(9), tmp_path / "rows"
    rows.mkdir()
    growing = Growing(rows)
    growing.put(1_000)
    with Session(spark, tmp_path / "s") as session:
        session.add_stream("T", f"{rows}/*.parquet", shed="sample", time="v", batch=WAITING)
        session.register(GROUPS, name="groups")
        session.register("SELECT v FROM T WHERE v % 997 = 0", name="some")
        session.add_sink("groups", str(tmp_path / "files"), name="files")
    left_out = [0]
    # A look lists all files of a folder.
    with Repeated(lambda: growing.put(3_000), seconds=0.3):
        for _ in range(KILLS):
            growing.put(WAITING)
            with Session.open(tmp_path / "s", spark) as session:
                assert not session.retry("T")
                assert session.streams["T"].waiting >= WAITING
            # Every batch takes longer than three times this latency, so it is behind before a few batches took them.
            killed_after(tmp_path / "s", delays.uniform(0, 6), latency="1ms", once="left out")
            with Session.open(tmp_path / "s", spark) as session:
                stream = session.streams["T"]
                counted = sum(session.query("groups").result()["n"])
                assert counted + stream.left_out == stream.position
                assert stream.left_out > left_out[-1]
                left_out.append(stream.left_out)
    with Session.open(tmp_path / "s", spark) as session:
        while session.run(1) or session.sources["T"].problem:
            pass
        session.catch_up()
        answer = Counter(session.query("groups").result().itertuples(index=False, name=None))
        some = sorted(session.query("some").result()["v"])
        until = time.monotonic() + 120
        while any(status.behind for status in session.sinks.values()) and time.monotonic() < until:
            time.sleep(0.05)
    print(f"{KILLS} kills, {growing.rows:,} rows, {left_out[-1]:,} left out")
    assert answer == growing.answer()
    assert some == [*range(0, growing.rows, 997)]
    totals: Counter[tuple[object, ...]] = Counter()
    for file in sorted((tmp_path / "files").iterdir()):
        for _, weight, *row in pd.read_parquet(file).itertuples(index=False, name=None):
            totals[tuple(row)] += weight
    assert {row: count for row, count in totals.items() if count} == answer


def killed_after(folder: Path, seconds: float, latency: str, once: str = "begun") -> None:
    """Run live in another process and kill it some time after it has begun, or left rows out."""
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(folder), latency],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert child.stdout is not None
    with child, child.stdout:
        said = child.stdout.readline()
        while said and said.decode() != f"{once}\n":
            said = child.stdout.readline()
        assert said, f"it never said: {once}"
        time.sleep(seconds)
        child.kill()
