"""``kill -9`` while a session follows objects that land in a store, or a topic: each brings its rows once.

One kill in the usual run; ``ARGUS_KILLS=100`` makes as many.
"""

from __future__ import annotations

import io
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from long import one_in
from oracle.test_by_tasks import killing
from servers import ISOLATES, Broker, answers_dropped, isolating_broker, object_store
from worker_processes import worker_processes

from workbench import Session
from workbench.engine.spark.in_process import InProcess
from workbench.files.store import ObjectStore
from workbench.limits import Limits
from workbench.streams.arriving import files_with

KILLS = int(os.environ.get("ARGUS_KILLS", "1"))
PROJECT = Path(__file__).resolve().parents[3]
QUERIES = {
    "groups": "SELECT day, grp, COUNT(*) AS n, SUM(v) AS s FROM T GROUP BY day, grp",
    "some": "SELECT v, day FROM T WHERE v % 7 = 0",
    "twins": "SELECT a.v AS v, COUNT(*) AS n FROM T a JOIN T b ON a.v = b.v GROUP BY a.v HAVING COUNT(*) > 1",
}
CHILD = """
import sys
from contextlib import nullcontext
from worker_processes import worker_processes
from workbench import Session
from workbench.engine.spark.in_process import InProcess
from workbench.limits import Limits
from workbench.streams.live.kafka import reader

if __name__ == "__main__":
    place, reads = sys.argv[1:]
    setattr(reader, "_LEAST_RANGE", 1)  # of one partition two tasks read
    limits = Limits() if reads == "driver" else Limits(bytes_landed_in_process=1, rows_logged_in_process=0)
    elsewhere = reads == "workers"
    with worker_processes(2, failing=0.2, slow=0.1) if elsewhere else nullcontext(InProcess()) as jobs:
        with Session.open(place, jobs, take_over=True, limits=limits) as session:
            if reads != "driver":  # whose first rows may take longer than it lives
                session.run(1)
            print("begun", flush=True)
            session.run_live(latency="20ms", until=120)
"""


class Landing(threading.Thread):
    """Objects that land, some again with the same bytes, in folders of days, until the end of the context."""

    def __init__(self, address: str, copies: Path) -> None:
        super().__init__()
        self.rows = 0
        self._store, self._copies = ObjectStore(address), copies
        self._draw, self._ended = random.Random(5), threading.Event()
        self.land()

    def land(self) -> None:
        rows = self._draw.choice([1, 30, 200])
        table = pa.table({"grp": [i % 5 for i in range(rows)], "v": range(self.rows, self.rows + rows)})
        data = io.BytesIO()
        pq.write_table(table, data)
        name = f"day=2026-01-{self._draw.randint(1, 5):02}/{self._draw.random()}.parquet"
        (self._copies / name).parent.mkdir(parents=True, exist_ok=True)
        (self._copies / name).write_bytes(data.getvalue())
        for _ in range(self._draw.choice([1, 1, 2])):
            self._store.put(name, data.getvalue())
        self.rows += rows

    def run(self) -> None:
        while not self._ended.wait(0.05):
            self.land()

    def __enter__(self) -> Landing:
        self.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._ended.set()
        self.join()


@pytest.mark.parametrize(
    ("at_store", "reads"),
    one_in(2, [(False, "driver"), (True, "tasks"), (True, "driver"), (False, "tasks"), (True, "workers")]),
    ids=lambda given: given if isinstance(given, str) else "in the store, too" if given else "in a folder",
)
@pytest.mark.timeout(300 + 60 * KILLS)
def test_a_session_that_follows_objects_survives_being_killed(at_store: bool, reads: str, tmp_path: Path) -> None:
    """Its driver is; answers of the store are lost, too, and of its workers some attempts fail or are too slow."""
    delays = random.Random(6)
    (tmp_path / "weed").mkdir()
    with object_store(tmp_path / "weed") as bucket, answers_dropped(0.05):
        place = f"{bucket}/session" if at_store else str(tmp_path / "s")
        landing = Landing(f"{bucket}/landing", tmp_path / "copies")
        with Session(InProcess(), place) as session:
            session.add_stream("T", f"{bucket}/landing/day=*/*.parquet", batch=2_000)
            for name, query in QUERIES.items():
                session.register(query, name=name)
        with landing:
            for _ in range(KILLS):
                killed_after(place, reads, delays.uniform(0, 1))
        with Session.open(place, InProcess(), take_over=True) as session:
            while session.run(1):
                pass
            answers = {
                name: Counter(session.query(name).result().itertuples(index=False, name=None)) for name in QUERIES
            }
            batches = session.batch
            log = session.parts.store.state.stream("T").log
            assert bool(files_with(log, range(log.copied, log.rows))) == (reads != "driver")
    check_answers(answers, tmp_path / "copies")
    print(f"{KILLS} kills, {landing.rows:,} rows, {batches} batches")


@pytest.mark.timeout(300 + 60 * KILLS)
def test_workers_that_read_objects_survive_being_killed(tmp_path: Path) -> None:
    """Answers of the store are lost, too, attempts fail or are too slow; after one collection nothing is left over."""
    (tmp_path / "weed").mkdir()
    limits = Limits(bytes_landed_in_process=1, rows_logged_in_process=0, milliseconds_until_collected=0)
    with object_store(tmp_path / "weed") as bucket, answers_dropped(0.05) as dropped:
        landing = Landing(f"{bucket}/landing", tmp_path / "copies")
        with worker_processes(3, failing=0.2, slow=0.1) as workers, Session(workers, f"{bucket}/s", limits=limits) as s:
            s.add_stream("T", f"{bucket}/landing/day=*/*.parquet", batch=2_000)
            s.register_many(QUERIES)
            with landing, killing(workers, KILLS) as killed:
                while len(killed) < KILLS:
                    s.run(1)
            while s.run(1):
                pass
            assert workers.tried_again and dropped
            workers.failing = workers.slow = 0.0
            workers.settle()
            landing.land()
            until = time.monotonic() + 120
            while s.streams["T"].position < landing.rows and time.monotonic() < until:
                s.run(1)  # a look lists all objects only now and then, where they are more than a thousand
            answers = {name: Counter(s.query(name).result().itertuples(index=False, name=None)) for name in QUERIES}
            log, folder = s.parts.store.state.stream("T").log, str(s.path)
            named = {str(file.path) for file in files_with(log, range(log.rows))}
            named |= s.parts.store.last.engine.files | s.parts.store.kept.files
            stored = (f"{folder}/{each.name}" for each in ObjectStore(f"{bucket}/s").names())
            assert {path for path in stored if path.endswith((".arrow", ".parquet"))} == named
    check_answers(answers, tmp_path / "copies")
    print(f"{KILLS} kills, {workers.tried_again} tried again, {len(dropped)} answers dropped, {landing.rows:,} rows")


@pytest.mark.timeout(300 + 60 * KILLS)
@pytest.mark.parametrize("partitions", [4, 1])
def test_a_session_whose_tasks_read_a_topic_survives_being_killed(partitions: int, tmp_path: Path) -> None:
    """Each message brings its row once."""
    delays, put, ended = random.Random(7), [0], threading.Event()
    query = "SELECT v % 5 AS grp, COUNT(*) AS n, SUM(v) AS s FROM T GROUP BY 1"
    with isolating_broker("t") if ISOLATES else nullcontext(Broker()) as broker:

        def produce() -> None:
            for partition in range(partitions):
                broker.put("t", *({"v": v} for v in range(put[0], put[0] + 30)), partition=partition)
                put[0] += 30

        def go_on() -> None:
            while not ended.wait(0.05):
                produce()

        produce()
        with Session(InProcess(), tmp_path / "s") as session:
            session.add_stream("T", broker.url("t"), batch=2_000)
            session.register(query, name="groups")
        producing = threading.Thread(target=go_on)
        producing.start()
        for _ in range(KILLS):
            killed_after(str(tmp_path / "s"), "tasks", delays.uniform(0, 1))
        ended.set()
        producing.join()
        with Session.open(tmp_path / "s", InProcess()) as session:
            while session.run(1):
                pass
            found = Counter(session.query("groups").result().itertuples(index=False, name=None))
            log = session.parts.store.state.stream("T").log
            assert files_with(log, range(log.copied, log.rows))
    of_groups = (range(group, put[0], 5) for group in range(5))
    assert found == Counter((group, len(values), sum(values)) for group, values in enumerate(of_groups))
    print(f"{KILLS} kills, {put[0]:,} messages")


def check_answers(answers: Mapping[str, Counter[tuple[object, ...]]], copies: Path) -> None:
    """They are those that DuckDB has of all objects that have landed."""
    objects = f"read_parquet('{copies}/*/*.parquet', hive_partitioning = true)"
    for name, query in QUERIES.items():
        assert answers[name] == Counter(duckdb.sql(f"WITH T AS (SELECT * FROM {objects}) {query}").fetchall()), name


def killed_after(place: str, reads: str, seconds: float) -> None:
    """Run live in another process and kill it some time after it has begun."""
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, place, reads],
        cwd=PROJECT,
        env=os.environ | {"PYTHONPATH": str(PROJECT / "tests")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as child:
        assert child.stdout is not None
        said = [child.stdout.readline()]
        while said[-1] and said[-1] != b"begun\n":
            said.append(child.stdout.readline())
        assert said[-1], f"it never began: {b''.join(said).decode()}"
        time.sleep(seconds)
        child.kill()
