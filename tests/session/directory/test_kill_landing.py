"""``kill -9`` while a session follows objects that land in a store: each brings its rows once, beside DuckDB.

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
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from servers import object_store

from workbench import Session
from workbench.engine.spark.in_process import InProcess
from workbench.files.store import ObjectStore
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
from workbench import Session
from workbench.engine.spark.in_process import InProcess
from workbench.limits import Limits

limits = Limits(bytes_landed_in_process=1, rows_logged_in_process=0) if sys.argv[2] == "tasks" else Limits()
with Session.open(sys.argv[1], InProcess(), take_over=True, limits=limits) as session:
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


@pytest.mark.parametrize("reads", ["driver", "tasks"])
@pytest.mark.parametrize("at_store", [False, True], ids=["in a folder", "in the store, too"])
@pytest.mark.timeout(300 + 60 * KILLS)
def test_a_session_that_follows_objects_survives_being_killed(at_store: bool, reads: str, tmp_path: Path) -> None:
    delays = random.Random(6)
    (tmp_path / "weed").mkdir()
    with object_store(tmp_path / "weed") as bucket:
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
            assert bool(files_with(log, range(log.copied, log.rows))) == (reads == "tasks")
    objects = f"read_parquet('{tmp_path}/copies/*/*.parquet', hive_partitioning = true)"
    for name, query in QUERIES.items():
        assert answers[name] == Counter(duckdb.sql(f"WITH T AS (SELECT * FROM {objects}) {query}").fetchall()), name
    print(f"{KILLS} kills, {landing.rows:,} rows, {batches} batches")


def killed_after(place: str, reads: str, seconds: float) -> None:
    """Run live in another process and kill it some time after it has begun."""
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, place, reads], cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as child:
        assert child.stdout is not None
        said = child.stdout.readline()
        while said and said != b"begun\n":
            said = child.stdout.readline()
        assert said, "it never began"
        time.sleep(seconds)
        child.kill()
