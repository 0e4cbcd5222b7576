"""Rows of live sources that are many are read by tasks of other processes, which share no folder with the driver."""

from __future__ import annotations

import gzip
import io
import json
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from long import one_in
from oracle.test_by_tasks import BY_TASKS, SEED
from pyarrow import csv, parquet
from servers import ISOLATES, Broker, isolating_broker, object_store
from worker_processes import WorkerProcesses, worker_processes

from workbench.engine import arrival
from workbench.engine.spark.in_process import InProcess
from workbench.files.store import ObjectStore
from workbench.session.session import Session
from workbench.streams import tail
from workbench.streams.arriving import files_with
from workbench.streams.files.urls import UrlFile
from workbench.streams.live.kafka import reader as topic_reader
from workbench.streams.live.kafka.records import KafkaRecords
from workbench.streams.live.stored_objects import StoredObjects

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


KINDS = ("parquet", "csv", "csv.gz", "jsonl")


def objects_of(kind: str, draw: Random) -> Iterator[tuple[str, bytes]]:
    """Objects of days, of some of which a column is lacking or new, or rows do not fit; one is no file of its kind."""
    first = 0
    for number in range(12):
        numbers, first = range(first, first + (some := draw.choice([1, 40, 90]))), first + some
        rows = [
            {"id": str(n) if draw.random() < 0.95 else "x", "g": str(n % 7)} | ({"new": "é"} if number == 5 else {})
            for n in numbers
        ]
        if number == 7:
            rows = [{"id": row["id"]} for row in rows]
        data = io.BytesIO()
        if kind == "parquet":
            typed = pa.Table.from_pylist([row | {"id": None if row["id"] == "x" else int(row["id"])} for row in rows])
            parquet.write_table(typed, data)
        elif kind == "jsonl":
            of_json = ({**row, "id": row["id"] if row["id"] == "x" else int(row["id"])} for row in rows)
            data.write("\n".join(map(json.dumps, of_json)).encode())
        else:
            csv.write_csv(pa.Table.from_pylist(rows), data)
        content = b"PAR1 no" if number == 9 and kind in ("parquet", "csv.gz") else data.getvalue()
        packed = gzip.compress(content) if kind.endswith("gz") and number != 9 else content
        yield f"day=2026-01-{1 + number // 3:02}/{number:03}.{kind}", packed


def told_of_stream(session: Session) -> tuple[object, ...]:
    """All that is known of the stream, and the answer."""
    log = session.parts.store.state.stream("t").log
    assert log.tail is not None
    quarantined = [(entry, entry.record, entry.number) for entry in log.tail.quarantined(1_000)]
    waiting = [(one.line, one.number, one.record, one.reason) for one in log.waiting()]
    offsets = {place: at for place, at in log.tail.offsets.items() if place[:1] != "@"}
    rows = log.read(0, log.rows).to_pylist()
    answers = sorted(session.query("days").result().fillna(-1).itertuples(index=False, name=None))
    # Of a column that is gone the rows are counted by what is read together.
    drifts = sorted((drift.name, drift.type) for drift in log.drifts)
    return rows, quarantined, waiting, offsets, drifts, answers


@pytest.mark.parametrize("kind", one_in(2, [*KINDS]))
def test_objects_that_land_are_read_by_tasks(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All is as where the driver reads them, which now has none, but for those that are not read as a whole."""
    (tmp_path / "weed").mkdir()
    declared = {"id": "integer", "g": "integer", "day": "date"}
    limits = replace(BY_TASKS, bytes_landed_in_process=1, milliseconds_until_collected=0)
    with object_store(tmp_path / "weed") as bucket, worker_processes(2, failing=0.2) as workers:
        store = ObjectStore(f"{bucket}/landing")
        objects = [*objects_of(kind, Random(SEED))]
        store.put(*objects[0])
        with Session(workers, f"{bucket}/s", limits=limits) as session, Session(InProcess(), tmp_path / "s") as here:
            for one in (session, here):
                one.add_stream("t", f"{bucket}/landing/day=*/*.{kind}", columns=declared, batch=60)
                one.register("SELECT day, g, COUNT(*) AS n, SUM(id) AS s FROM t GROUP BY day, g", name="days")
            jobs, opened, read = workers.jobs, Counter[str](), StoredObjects.open

            def counted(files: StoredObjects, place: str, *more: Any) -> UrlFile:
                opened[place] += 1
                return read(files, place, *more)

            monkeypatch.setattr(StoredObjects, "open", counted)
            for number, landing in enumerate(objects[1:], 1):
                time.sleep(0.01)
                store.put(*landing)
                if number % 3 == 2:
                    session.run(2)
            while session.run(1):
                pass
            read_here = {place.rpartition("/")[2] for place in opened}
            assert read_here <= {f"{number:03}.{kind}" for number in (9, 10, 11)}, (
                "of the one that cannot be read, and after"
            )
            while here.run(1):
                pass
            for by_tasks, by_driver in zip(told_of_stream(session), told_of_stream(here), strict=True):
                assert by_tasks == by_driver
            assert workers.jobs > jobs
        with Session.open(f"{bucket}/s", workers, limits=limits) as session:
            again, log = told_of_stream(session), session.parts.store.state.stream("t").log
            named = {file.path.name for file in files_with(log, range(log.rows))}
            stored = {Path(each.name).name for each in ObjectStore(f"{bucket}/s").names("streams")}
            assert {name for name in stored if name.startswith("later-")} == named
        with Session.open(tmp_path / "s", InProcess()) as here:
            assert again == told_of_stream(here)


def put_messages(broker: Broker, draw: Random, first: int) -> int:
    """Messages for four partitions, of which some are no rows, and others have members that no column has."""
    for n in range(first, first + 200):
        more = {"new": n} if first and n % 50 == 3 else {}
        message: object = {"id": n if draw.random() < 0.95 else "x", "g": n % 7} | more
        broker.put("t", draw.choice([message] * 30 + [b"{", None]), partition=draw.choice([0, 0, 1, 2, 3]))
    return first + 200


@contextmanager
def some_broker(isolates: bool) -> Iterator[Broker]:
    if isolates and not ISOLATES:
        pytest.skip("pip install 'argus-workbench[faults]' for a broker of its own process")
    with isolating_broker("t") if isolates else nullcontext(Broker()) as broker:
        yield broker


def told_of_topic(session: Session) -> tuple[object, ...]:
    """As ``told_of_stream``; between partitions there is no order."""
    rows, quarantined, waiting, offsets, drifts, answers = told_of_stream(session)
    assert isinstance(rows, list) and isinstance(quarantined, list) and isinstance(waiting, list)
    by_partition = [[row for row in rows if row["p"] == number] for number in range(4)]
    reasons = sorted((str(entry), str(record)) for entry, record, _ in quarantined)
    records = sorted((line, record, reason) for line, _, record, reason in waiting)
    return by_partition, reasons, records, offsets, drifts, answers


@pytest.mark.parametrize("isolates", [False, True], ids=["in the process", "a process"])
def test_partitions_of_a_topic_are_read_by_tasks(
    isolates: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All is as where the driver reads them, which now decodes no message."""
    draw, put, decoded = Random(SEED), 0, [0]
    limits = replace(BY_TASKS, bytes_landed_in_process=1, milliseconds_until_collected=0)
    with some_broker(isolates) as broker, worker_processes(2, failing=0.2, slow=0.1) as workers:
        put = put_messages(broker, draw, put)
        path = f"file://{tmp_path}/session"
        with Session(workers, path, limits=limits) as session, Session(InProcess(), tmp_path / "s") as here:
            for one in (session, here):
                one.add_stream("t", broker.url("t", "partition=p&offset=o"), columns={"id": "integer"}, batch=150)
                one.register("SELECT p AS day, g, COUNT(*) AS n, SUM(id) AS s FROM t GROUP BY p, g", name="days")
            record = KafkaRecords.record

            def counted(records: KafkaRecords, *asked: Any) -> Any:
                decoded[0] += 1
                return record(records, *asked)

            monkeypatch.setattr(KafkaRecords, "record", counted)
            for _ in range(3):
                session.run(2)
                put = put_messages(broker, draw, put)
            while session.run(1):
                pass
            assert not decoded[0]
            while here.run(1):
                pass
            for by_tasks, by_driver in zip(told_of_topic(session), told_of_topic(here), strict=True):
                assert by_tasks == by_driver
            answers = told_of_topic(session)
        with Session.open(path, InProcess()) as session:
            assert told_of_topic(session) == answers
            assert session.check().whole


def abort(broker: Broker, number: int) -> None:
    """Some messages of a transaction that is aborted: their offsets have none, as after compaction."""
    kafka = pytest.importorskip("confluent_kafka")
    producer = kafka.Producer({"bootstrap.servers": broker.address, "transactional.id": "aborts"})
    producer.init_transactions(30)
    producer.begin_transaction()
    for _ in range(number):
        producer.produce("t", '{"id": -1}', partition=0)
    producer.flush(30)
    producer.abort_transaction(30)


@pytest.mark.parametrize("tasks", [1, 3, 20, 60])
@pytest.mark.parametrize("isolates", [False, True], ids=["in the process", "a process"])
def test_ranges_of_one_partition_have_each_message_once(
    isolates: bool, tasks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where offsets have no message, the next one is of a later range."""
    monkeypatch.setattr(topic_reader, "_LEAST_RANGE", 1)
    jobs, first = InProcess(), 0
    jobs.cores = tasks
    with some_broker(isolates) as broker:
        for committed, aborted in ((40, 35), (1, 3), (30, 2)):
            broker.put("t", *({"id": n} for n in range(first, first + committed)))
            first += committed
            if isolates:
                abort(broker, aborted)
        limits = replace(BY_TASKS, bytes_landed_in_process=1)
        with Session(jobs, f"file://{tmp_path}/session", limits=limits) as session:
            session.add_stream("t", broker.url("t"), columns={"id": "integer"}, batch=1_000)
            while session.run(1):
                pass
            log = session.parts.store.state.stream("t").log
            assert log.tail is not None and log.tail.offsets["0"] == str(broker_end(broker))
            assert log.read(0, log.rows)["id"].to_pylist() == [*range(first)]
            assert 1 < len([*files_with(log, range(log.rows))]) <= 2 * tasks


def broker_end(broker: Broker) -> int:
    """Where the first partition of the topic ends."""
    kafka = pytest.importorskip("confluent_kafka")
    consumer = kafka.Consumer({"bootstrap.servers": broker.address, "group.id": "test"})
    _, end = consumer.get_watermark_offsets(kafka.TopicPartition("t", 0), timeout=30)
    consumer.close()
    return int(end)
