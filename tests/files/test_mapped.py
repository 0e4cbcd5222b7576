"""Maps of files: no descriptors, a bound of maps, hardly any of files that are gone; a reader keeps what it reads."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from long import rare
from process_usage import Usage, usage
from pyspark.sql import SparkSession

from benchmarks.processes import DRIVER, PROCESS_KINDS, WORKERS, session_processes
from workbench.engine.spark.arrow_tasks import prepare_worker
from workbench.engine.storage.indexes.key_index import Key, KeyRanges, candidates, key_hashes
from workbench.engine.storage.indexes.sorted_index import rows_within
from workbench.engine.storage.segments import open_segment, remove_segments, write_segments
from workbench.files.mapped import LOOKING, MAPPED, MappedFiles, remove_folder
from workbench.session.session import Session
from workbench.sql.windows.bounds import Interval

pytestmark = pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="only Linux tells what is mapped")

DAY = dt.date(2002, 1, 1)


def segment(folder: Path, first: int = 0, rows: int = 10) -> str:
    dates = [DAY + dt.timedelta(days=first + i) for i in range(rows)]
    (written,) = write_segments(pa.table({"id": range(first, first + rows), "d": dates}), folder)
    return written.path


def looked_up(path: str) -> int:
    """Look into a segment by a key and by time; how many rows were found."""
    rows = open_segment(path)
    hashes, _ = key_hashes([rows.column("id")])
    by_key = sum(len(at) for _, at in candidates(path, Key(("id",)), KeyRanges(hashes), 100))
    return by_key + len(rows_within(path, "d", [Interval(-(10**9), 10**9)]))


def this_process() -> Usage:
    return usage(session_processes()[DRIVER])


def test_indexes_need_no_descriptor_and_go_with_their_segments(tmp_path: Path) -> None:
    before = this_process()
    paths = [segment(tmp_path, first) for first in range(40)]
    assert [looked_up(path) for path in paths] == [20] * 40
    there = this_process()
    remove_segments(paths)
    # Forty indexes take none; other threads of this process, such as Spark's connections, may open one meanwhile.
    assert there.descriptors - before.descriptors < len(paths) // 10
    assert there.gone == before.gone == this_process().gone
    assert not any(tmp_path.iterdir())


def test_a_session_that_is_closed_leaves_no_maps(spark: SparkSession) -> None:
    before = this_process().gone  # tests of machines that are lost close nothing
    with Session(spark) as session:
        session.add_stream("t", pa.table({"id": range(10)}), history=5, batch=5)
        session.register("SELECT a.id FROM t a JOIN t b ON a.id = b.id", name="q")
        session.run(1)
        folder = session.path
        looked_up(segment(session.path))
    assert this_process().gone <= before and not folder.exists()


def test_at_most_so_many_stay_mapped_and_readers_keep_their_rows(tmp_path: Path) -> None:
    mapped = MappedFiles(most=3)
    rows = [mapped.batch(segment(tmp_path, first)) for first in range(6)]
    assert len(mapped) == 3
    remove_folder(tmp_path)
    assert [batch.column("id")[0].as_py() for batch in rows] == [0, 1, 2, 3, 4, 5]


def test_what_was_just_written_is_read_from_memory_and_keeps_no_more_rows(tmp_path: Path) -> None:
    rows = pa.table({"n": np.arange(100_000)})
    for written, kept_as_they_are in ((pa.table({"n": np.arange(50)}), True), (rows.slice(70, 50), False)):
        (own,) = write_segments(written, tmp_path)
        kept = open_segment(own.path)
        assert kept.column("n").equals(written["n"].combine_chunks())
        address = written["n"].chunk(0).buffers()[1].address
        assert (kept.column("n").buffers()[1].address == address) == kept_as_they_are
        assert kept.get_total_buffer_size() < 10_000


def test_only_what_is_as_this_process_wrote_it_needs_no_check(tmp_path: Path) -> None:
    path = segment(tmp_path)
    assert MAPPED.wrote(path)
    MAPPED.forget(path)
    assert not MAPPED.wrote(path)
    open_segment(path)
    assert not MAPPED.wrote(path)


def test_files_that_another_process_removes_are_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mapped = MappedFiles()
    paths = [segment(tmp_path, first) for first in range(20)]
    for path in paths:
        mapped.batch(path)
    for path in paths[1:]:
        Path(path).unlink()
    mapped.batch(paths[0])
    assert len(mapped) == 20  # it was looked just now
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 2 * LOOKING)
    mapped.batch(paths[0])
    assert len(mapped) == 1


def test_a_worker_without_a_task_lets_go_of_files_that_are_gone(spark: SparkSession, tmp_path: Path) -> None:
    rows = [segment(tmp_path, first) for first in range(20)]

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        prepare_worker()
        for path in rows:
            open_segment(path)
        yield from batches

    spark.range(0, 2, 1, 2).mapInArrow(read, "id bigint").collect()
    for path in rows:
        Path(path).unlink()
    deadline = time.monotonic() + 60
    while workers_that_map(tmp_path) and time.monotonic() < deadline:
        time.sleep(LOOKING / 4)
    assert workers_that_map(tmp_path) == []


def workers_that_map(folder: Path) -> list[int]:
    """The workers that have files of a folder mapped; those of other tests may have others."""
    found = []
    for process in session_processes()[WORKERS]:
        with suppress(OSError):  # it has ended
            if str(folder) in Path(f"/proc/{process}/maps").read_text():
                found.append(process)
    return found


@rare
def test_descriptors_and_maps_are_flat_over_batches_of_windowed_queries(spark: SparkSession) -> None:
    a_day, days, history = 20, 34, 10
    number = np.arange(a_day * days)
    dates = (np.datetime64(DAY, "D") + number // a_day).astype("datetime64[D]")
    rows = pa.table({"id": number, "k": number % 7, "d": pa.array(dates).cast(pa.date32())})
    queries = {f"q{n}": f"SELECT k, COUNT(*) AS n FROM t WHERE d > now() - {n} GROUP BY k" for n in range(2, 6)}
    queries["pairs"] = "SELECT a.id FROM t a JOIN t b ON a.k = b.k WHERE a.d > now() - 2 AND b.d > now() - 2"
    queries["medians"] = "SELECT k, MEDIAN(id) AS m FROM t WHERE d > now() - 3 GROUP BY k"
    held, others = [], len(MAPPED)
    with Session(spark) as session:
        session.add_stream("t", rows, history=history * a_day, batch=a_day, time="d")
        session.register_many(queries)
        for _ in range(2):
            session.run(12)
            held.append({kind: usage(pids) for kind, pids in session_processes().items()})
    early, late = held
    for kind in PROCESS_KINDS:
        assert late[kind].descriptors <= early[kind].descriptors + 3
    assert late[DRIVER].gone == 0
    few = len(queries) * 10
    assert late[WORKERS].gone <= few * late[WORKERS].processes
    assert len(MAPPED) <= others + few
