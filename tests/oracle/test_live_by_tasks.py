"""Rows of live sources that are many are read by tasks of other processes, which share no folder with the driver."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from oracle.test_by_tasks import BY_TASKS
from pyarrow import parquet
from worker_processes import WorkerProcesses, worker_processes

from workbench.engine import arrival
from workbench.engine.spark.in_process import InProcess
from workbench.session.session import Session
from workbench.streams import tail

GROUPS = "SELECT g, COUNT(*) AS n, SUM(id) AS s FROM t GROUP BY g"


@pytest.fixture(scope="module")
def workers() -> Iterator[WorkerProcesses]:
    with worker_processes(2) as processes:
        yield processes


@pytest.fixture(autouse=True)
def fewer_rows_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tail, "FILED_ROWS", 50)


class Landing:
    """A folder in which files land, with the numbers from 0 on."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.rows = folder, 0
        folder.mkdir()

    def land(self, rows: int) -> None:
        """One more file."""
        ids = range(self.rows, self.rows + rows)
        part = self.folder / f".{self.rows}"
        parquet.write_table(pa.table({"id": ids, "g": [n % 7 for n in ids]}), part)
        part.rename(self.folder / f"{self.rows:06}.parquet")
        self.rows += rows

    def groups(self) -> list[tuple[int, ...]]:
        """The answer that DuckDB has."""
        read = f"read_parquet('{self.folder}/*.parquet')"
        return sorted(duckdb.sql(f"WITH t AS (SELECT * FROM {read}) {GROUPS}").fetchall())


def answer(session: Session) -> list[tuple[int, ...]]:
    return sorted(session.query("groups").result().itertuples(index=False, name=None))


def test_rows_of_a_live_source_that_are_in_files_are_read_by_tasks(
    workers: WorkerProcesses, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, store, landing = f"file://{tmp_path}/session", tmp_path / "session", Landing(tmp_path / "in")
    landing.land(10)
    with Session(workers, place, limits=BY_TASKS) as session:
        session.add_stream("t", f"{landing.folder}/*.parquet", history=5, batch=200)
        session.register(GROUPS, name="groups")
        session.run(1)
        jobs, commits = [workers.jobs], [{*(store / "commits").iterdir()}]
        for rows in (200, 20, 200):
            landing.land(rows)
            with monkeypatch.context() as patch:
                if rows == 200:  # the driver writes none of them
                    patch.delattr(arrival.WriteArriving, "write")
                session.run(1)
            jobs.append(workers.jobs)
            commits.append({*(store / "commits").iterdir()})
            assert answer(session) == landing.groups()
        many, few, again = (after - before for before, after in pairwise(jobs))
        assert many == again > few
        of_many, *_ = ([file.stat().st_size for file in after - before] for before, after in pairwise(commits))
        assert sum(of_many) < 10_000
        assert len([*store.rglob("later-*")]) == 2


@pytest.mark.parametrize("scheme", ["", "file://"], ids=["in a folder", "in a store"])
def test_a_file_whose_transaction_did_not_end_goes_and_one_that_is_damaged_is_said(scheme: str, tmp_path: Path) -> None:
    place, landing = f"{scheme}{tmp_path}/session", Landing(tmp_path / "in")
    landing.land(100)
    limits = replace(BY_TASKS, milliseconds_until_collected=0)
    with Session(InProcess(), place, limits=limits) as session:
        session.add_stream("t", f"{landing.folder}/*.parquet", history=5, batch=200)
        session.register(GROUPS, name="groups")
        session.run(1)
        (file,) = (tmp_path / "session" / "streams").rglob("later-*")
    file.with_name("later-of-a-process-that-ended.parquet").write_bytes(b"half")
    time.sleep(0.01)
    with Session.open(place, InProcess(), limits=limits) as session:
        assert [*file.parent.glob("later-*")] == [file]
        landing.land(100)
        session.run(1)
        assert answer(session) == landing.groups()
        assert session.check().whole
    file.write_bytes(file.read_bytes()[:-1])
    with Session.open(place, InProcess(), limits=limits) as session:
        said = f"{file.name} is damaged: its bytes are not those that were written"
        assert said in (str(session.check()) if scheme else session.read_only or "")
