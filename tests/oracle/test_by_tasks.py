"""No row passes the driver: tasks of other processes log, cast, filter, merge and check, and the answers are DuckDB's.

The processes share no folder with the driver, so all that they read of a batch is what it says, and what is stored.
"""

from __future__ import annotations

import datetime as dt
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from math import inf, nan
from pathlib import Path
from random import Random

import pandas as pd
import pyarrow as pa
import pytest
from long import LONG, one_of
from oracle.class_queries import ALL
from oracle.harness import Case, Feed, Oracle
from oracle.random_streams import names, stream
from oracle.test_analytic import ANALYTIC
from oracle.test_corrections import corrected
from oracle.test_corrections import feeds as corrected_feeds
from oracle.test_join_conditions import KINDS, register
from oracle.test_query_classes import feeds
from oracle.test_without_spark import LEAST, registered
from pyarrow import parquet
from worker_processes import WorkerProcesses, worker_processes

from workbench.engine import arrival, manifest
from workbench.engine.operators.filter_and_write import Answer, FilterAndWrite
from workbench.engine.physical.plans import SourcePlan
from workbench.engine.spark.arrow_tasks import ArrowBatches
from workbench.engine.spark.in_process import InProcess
from workbench.engine.storage import bucketed
from workbench.engine.storage.buckets import BUCKETS, EVERY_BUCKET, each_bucket
from workbench.engine.storage.indexes.key_index import row_buckets
from workbench.errors import EngineError
from workbench.experiments.workload import spread, workload
from workbench.files.packs import extent_of
from workbench.limits import Limits
from workbench.session import integrity_checks
from workbench.session.session import Session

SAMPLES = Path(__file__).parents[2] / "sample_data"
SEED = int(os.environ["ARGUS_SEED"])
BY_TASKS = Limits(
    rows_logged_in_process=0,
    rows_filtered_in_process=0,
    rows_stepped_in_process=0,
    rows_merged_in_process=0,
    rows_checked_in_process=0,
    rows_hydrated_in_process=0,
    rows_expired_in_process=0,
    batches_between_expirations=1,
    runs_per_merge=2,
    runs_merged_later=1,
    bytes_in_buckets=1,
)


@pytest.fixture(autouse=True)
def few_rows_logged_by_a_task(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch of some rows is logged by several tasks, which so exchange groups, too, and write by buckets."""
    monkeypatch.setattr(arrival, "ROW_GROUP_ROWS", 4)
    monkeypatch.setattr(bucketed, "_UNEVEN", BUCKETS)


@pytest.fixture(scope="module")
def workers() -> Iterator[WorkerProcesses]:
    with worker_processes(2) as processes:
        yield processes


@pytest.mark.parametrize("together", one_of([10, 10_000]))
def test_answers_are_the_oracles(workers: WorkerProcesses, tmp_path: Path, together: int) -> None:
    names = [name for name in ALL if name.partition("_")[0] in LEAST]
    chosen, before = Random(SEED).sample(names, 24), workers.jobs
    limits = replace(BY_TASKS, rows_per_task=together, batches_between_compactions=2, bytes_empty_in_packs=0)
    limits = replace(limits, bytes_sent_with_task=together)
    with Oracle(workers, feeds(SEED), path=f"file://{tmp_path}/session", limits=limits) as oracle:
        assert registered(oracle, chosen)
        oracle.run(4)
        oracle.check_changes(since=True)
    assert workers.jobs > before + 12
    assert not [*tmp_path.rglob("*.input")]


class TwoTasks(InProcess):
    """Runs the two tasks of each step one after the other: what they share of a step is as on a cluster."""

    cores = 2


@pytest.mark.parametrize("together", one_of([0, 7]))
def test_late_comers_by_two_tasks(together: int) -> None:
    names = [name for name in ALL if name.partition("_")[0] in LEAST]
    chosen, limits = Random(SEED).sample(names, 20), replace(BY_TASKS, rows_per_task=together)
    with Oracle(TwoTasks(), feeds(SEED), limits=limits) as oracle:
        first = registered(oracle, chosen[:10])
        oracle.run(2)
        oracle.register({"all rows": Case("SELECT COUNT(*) AS n, MAX(g) AS g FROM t")})
        assert first and registered(oracle, chosen[10:])
        oracle.run(2)
        oracle.check_changes(since=True)


class ChangingTasks(InProcess):
    """Runs the tasks of each step one after the other: another number of them whenever it is set."""

    cores = 3


@pytest.mark.parametrize("seed", range(SEED, SEED + int(os.environ.get("ARGUS_SEEDS", "1"))))
def test_a_state_is_written_and_read_by_any_number_of_tasks(tmp_path: Path, seed: int) -> None:
    """Rows are taken back, the driver has a batch now and then, and groups of other queries come and go."""
    chance, jobs = Random(seed), ChangingTasks()
    kinds = ("aggregate", "set", "grouping", "statistic", "collected", "gap", "subquery", "join", "outer")
    names = chance.sample([name for name in ALL if name.partition("_")[0] in kinds], 32 if LONG else 14)
    limits = replace(BY_TASKS, rows_per_task=0, rows_kept_open=0)
    streams = {name: replace(feed, batch=8) for name, feed in corrected_feeds(seed).items()}
    marked = False
    with Oracle(jobs, streams, path=tmp_path / "session", limits=limits) as oracle:
        found = registered(oracle, names[: len(names) // 2])
        for batch in range(10):
            jobs.cores = chance.choice((1, 2, 3, 4, 8))
            few = replace(limits, rows_stepped_in_process=1_000, rows_per_task=1_000)
            reading = replace(limits, rows_per_task=1_000, bytes_looked_up_per_task=2_000)
            fragments = replace(limits, rows_stepped_in_process=3, times_stepped_by_threads=1)
            jobs.limits = chance.choice((limits, limits, few, reading, fragments, fragments))
            oracle.run(1)
            segments = oracle.session.parts.store.last.engine.segments
            marked |= any(segment.buckets != EVERY_BUCKET for segment in segments)
            match batch:
                case 3:
                    for name in found[::3]:
                        oracle.drop(name)
                case 5:
                    registered(oracle, names[len(names) // 2 :])
                case 7:
                    oracle.reopen()
        assert marked
        oracle.check_changes()


@pytest.mark.parametrize("seed", range(SEED, SEED + int(os.environ.get("ARGUS_SEEDS", "1"))))
def test_partitions_are_read_by_any_number_of_tasks(tmp_path: Path, seed: int) -> None:
    chance, jobs = Random(seed), ChangingTasks()
    rows = {
        name: stream(size, seed, extremes=0) for name, size in (("t", 150), ("u", 60))
    }  # a sum beyond BIGINT is NULL
    streams = {name: Feed(own, len(own) // 3, 9) for name, own in rows.items()} | {"names": Feed(names(5), static=True)}
    limits = replace(BY_TASKS, rows_per_task=0)
    with Oracle(jobs, streams, path=tmp_path / "session", limits=limits) as oracle:
        assert registered(oracle, chance.sample([*ANALYTIC], 14 if LONG else 9), ANALYTIC)
        for batch in range(6):
            jobs.cores = chance.choice((1, 2, 3, 8))
            oracle.run(1)
            if batch == 3:
                oracle.reopen()
        oracle.check_changes()


KEYS: dict[str, tuple[pa.DataType, list[object]]] = {
    "n": (pa.int64(), [None, -1, 0, 1, 2, 10**16, 10**16 + 1, 2**63 - 1]),
    "i": (pa.int32(), [None, -1, 0, 1, 2]),
    "x": (pa.float64(), [None, nan, inf, 0.0, -0.0, 1.0, 1e16, 1e16 + 2, 2.0**63]),
    "m": (pa.decimal128(20, 2), [None, *map(Decimal, ["-1", "0", "1", "1.50", "10000000000000000"])]),
    "v": (
        pa.decimal128(38, 4),
        [None, *map(Decimal, ["-1", "0", "1", "1.5", "10000000000000000", "10000000000000001"])],
    ),
    "s": (pa.string(), [None, "", "a", "é"]),
    "d": (pa.date32(), [None, dt.date(1969, 12, 31), dt.date(1970, 1, 1)]),
    "t": (pa.timestamp("us"), [None, dt.datetime(1970, 1, 1), dt.datetime(1970, 1, 1, 0, 0, 0, 1)]),
    "p": (pa.bool_(), [None, False, True]),
}
"""Keys whose equal values do not look alike, and NULLs that are equal."""


def of_keys(chance: Random, count: int) -> pa.Table:
    columns = {name: pa.array(chance.choices(values, k=count), type_) for name, (type_, values) in KEYS.items()}
    return pa.table({"id": pa.array(range(count))} | columns | {"k": columns["s"]})


def equalities(chance: Random) -> str:
    """Of numbers of two types, and perhaps of another column; NULL may be equal to NULL."""
    numbers = chance.choice("nixmv"), chance.choice("nixmv")
    others = chance.sample("sdtp", 1 if "x" in numbers else chance.randrange(2))  # by DOUBLE no rows are looked up
    pairs = [numbers, *((name, name) for name in others)]
    return " AND ".join(f"a.{own} {chance.choice(('=', 'IS NOT DISTINCT FROM'))} b.{other}" for own, other in pairs)


@pytest.mark.parametrize("seed", range(SEED, SEED + int(os.environ.get("ARGUS_SEEDS", "1"))))
def test_equal_keys_that_do_not_look_alike_are_in_one_bucket(seed: int) -> None:
    """Keys of two types, NULLs that are equal, and zeros of both signs, in joins of all kinds under corrections."""
    chance, jobs, marked = Random(seed), ChangingTasks(), set[int]()
    streams = {name: corrected(of_keys(chance, 90), 50, 15, seed) for name in "ab"}
    on = equalities(chance)
    with Oracle(jobs, streams, limits=replace(BY_TASKS, rows_per_task=0)) as oracle:
        left = [*register(oracle, [(name, Case(sql.format(on=on))) for name, sql in KINDS.items()])]
        for cores in (3, 1, 8, 2):
            jobs.cores = cores
            oracle.run(1)
            segments = oracle.session.parts.store.last.engine.segments
            marked |= {segment.buckets for segment in segments if segment.by}
        oracle.check_changes()
    # Few values have most rows, so some buckets have segments of their own, which tasks share.
    assert not marked.isdisjoint(each_bucket(EVERY_BUCKET)) and len(left) < len(KINDS) / 2, (on, left)


def test_buckets_by_another_hash_mean_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a later version of a library may hash: what is stored is read by all tasks."""
    limits = replace(BY_TASKS, rows_per_task=0, rows_kept_open=0)
    with Oracle(TwoTasks(), feeds(SEED), path=tmp_path / "session", limits=limits) as oracle:
        assert registered(oracle, [name for name in ALL if name.startswith("aggregate_")][:8])
        oracle.run(2)
        assert any(segment.buckets != EVERY_BUCKET for segment in oracle.session.parts.store.last.engine.segments)
        for module in [each for name, each in sys.modules.items() if name.startswith("workbench.engine.")]:
            if getattr(module, "row_buckets", None) is row_buckets:
                monkeypatch.setattr(module, "row_buckets", lambda *given: (row_buckets(*given) + 1) % BUCKETS)
        monkeypatch.setattr(manifest, "bucket_hashing", lambda: 0)
        oracle.reopen()
        assert {segment.buckets for segment in oracle.session.parts.store.last.engine.segments} == {EVERY_BUCKET}
        oracle.run(2)
        oracle.check_changes()


@pytest.mark.timeout(3600 if LONG else 300)
def test_manual_queries_on_three_workers(tmp_path: Path) -> None:
    rows = parquet.read_table(SAMPLES / "fed.parquet").slice(0, 6_000)
    chosen = spread(workload("fed-manual", batches=0, history=6).queries, 768 if LONG else 24)
    cases = {query.name: Case(query.sql, query.duckdb_sql, query.dialect) for query in chosen}
    limits = replace(BY_TASKS, rows_per_task=500, rows_hydrated_in_process=10_000)
    feed = {"FedWireTrans": Feed(rows, 4_000, 1_000)}
    path = f"file://{tmp_path}/session"
    with worker_processes(3) as workers, Oracle(workers, feed, path=path, limits=limits) as oracle:
        oracle.register(cases, check=False)
        oracle.run(2, check=False)
        oracle.check_results()
        oracle.check_changes()
        assert sum(bool(watched.expected[oracle.batch]) for watched in oracle.watched.values()) > len(cases) // 2


@contextmanager
def killing(workers: WorkerProcesses, most: int) -> Iterator[list[int]]:
    """Kill some worker again and again, at most one in a job, until so many are killed or the block ends: which."""
    killed, ended, chance = list[int](), threading.Event(), Random(SEED)

    def kill() -> None:
        while len(killed) < most and not ended.wait(chance.uniform(0.0, 0.2)):
            jobs, pid = workers.jobs, chance.choice(workers.pids)
            if pid not in killed:
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
            while workers.jobs == jobs and not ended.wait(0.005):
                pass

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    try:
        yield killed
    finally:
        ended.set()
        thread.join()


@pytest.mark.timeout(3600 if LONG else 300)
def test_workers_wait_for_files_that_are_shown_late(tmp_path: Path) -> None:
    names = Random(SEED).sample([name for name in ALL if name.partition("_")[0] in LEAST], 12 if LONG else 4)
    path, late = f"file://{tmp_path}/session", 3.0 if LONG else 0.2
    with worker_processes(2, late=late) as workers, Oracle(workers, feeds(SEED), path=path, limits=BY_TASKS) as oracle:
        assert registered(oracle, names)
        oracle.run(2)
        oracle.check_changes(since=True)


@pytest.mark.timeout(3600 if LONG else 300)
def test_workers_that_are_killed_and_attempts_that_fail_leave_nothing(tmp_path: Path) -> None:
    kills, store = 100 if LONG else 3, tmp_path / "session"
    names = Random(SEED).sample([name for name in ALL if name.partition("_")[0] in LEAST], 12)
    limits = replace(BY_TASKS, rows_per_task=10, milliseconds_until_collected=0)
    streams = feeds(SEED, rows=100 + 50 * kills, batch=10)
    path = f"file://{store}"
    with worker_processes(3, failing=0.2) as workers, Oracle(workers, streams, path=path, limits=limits) as oracle:
        assert registered(oracle, names)
        with killing(workers, kills) as killed:
            while len(killed) < kills and oracle.run(1):
                pass
        oracle.run(1)
        oracle.check_changes(since=True)
        assert len(killed) == kills and workers.tried_again
        session = oracle.session
        named = session.parts.store.last.engine.files | session.parts.store.kept.files
        there = {str(session.path / file.relative_to(store)) for file in (store / "state").rglob("*.arrow")}
        assert there == named


def test_tasks_add_the_columns_that_groups_by_others_lack(tmp_path: Path) -> None:
    groupings = Random(SEED).sample(["g", "s", "g, s", "k", "d", "k % 3", "x", "amount, g", "d, k, g"], 7)
    streams = {"t": corrected(stream(220, SEED), 100, 20, SEED)}
    path = f"file://{tmp_path}/session"
    with worker_processes(2) as workers, Oracle(workers, streams, path=path, limits=BY_TASKS) as oracle:
        for number, groups in enumerate(groupings):
            oracle.register({f"q{number}": Case(f"SELECT {groups}, COUNT(*) AS n FROM t GROUP BY {groups}")})
            if number % 3 == 1:
                oracle.run(1)
        oracle.run(1)
        oracle.check_results()
        oracle.check_changes(since=True)


def stored_files(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file()]


def test_the_driver_has_no_rows(workers: WorkerProcesses, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does it fetch any to verify files: who reads one compares its checksum."""
    monkeypatch.setattr(integrity_checks, "BATCHES", 1)
    rows = pa.table({"id": range(60_000), "g": [n % 7 for n in range(60_000)], "x": [float(n) for n in range(60_000)]})
    with Session(workers, f"file://{tmp_path}/session", limits=BY_TASKS) as session:
        session.add_stream("t", rows, history=20_000, batch=20_001)
        groups = session.register("SELECT g, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY g", name="groups")
        large = session.register("SELECT id, g FROM t WHERE x > 100", name="large")
        session.run(1)
        session.parts.integrity.wait()
        state, jobs, objects = session.path / "state", workers.jobs, len(stored_files(tmp_path))
        here = sum(file.stat().st_size for file in state.rglob("*.arrow"))
        stored = sum(file.stat().st_size for file in (tmp_path / "session" / "state").rglob("*.arrow"))
        assert here < 10_000 < 1_000_000 < stored
        session.run(1)
        requests = len(stored_files(tmp_path)) - objects  # an object is put once
        assert requests <= (workers.jobs - jobs) * workers.cores + 2
        assert dict(groups.result()[["g", "n"]].to_numpy().tolist()) == {g: len(range(g, 60_000, 7)) for g in range(7)}
        assert len(large.result()) == 60_000 - 101


def test_a_task_of_a_join_has_what_it_wrote_and_the_rows_of_its_buckets(tmp_path: Path) -> None:
    """A task stores one object of a batch, however large: of it the others fetch the rows of their buckets alone."""
    number, limits = 3_000, replace(BY_TASKS, rows_per_task=100, runs_per_merge=99, bytes_per_part=262_144)
    ids, wide = pa.array(range(number)), pa.array([f"n{n}" + 2_000 * "." for n in range(number)])
    with worker_processes(3) as workers, Session(workers, f"file://{tmp_path}/session", limits=limits) as session:
        session.add_stream("u", pa.table({"id": ids, "name": wide}), history=300, batch=2_700)
        session.add_stream("t", pa.table({"id": ids}), history=300, batch=900)
        joined = session.register("SELECT t.id, u.name FROM t JOIN u ON t.id = u.id", name="joined")
        jobs, objects = workers.jobs, len(stored_files(tmp_path))
        session.run(1)
        assert len(stored_files(tmp_path)) - objects <= (workers.jobs - jobs) * workers.cores + 2
        session.run(1)
        assert {id_: name.rstrip(".") for id_, name in joined.result().to_numpy()} == {n: f"n{n}" for n in range(2_100)}
        trees = session.parts.store.last.engine.trees.values()
        (of_u,) = (tree.relation for tree in trees if isinstance(tree.plan, SourcePlan) and tree.plan.stream == "u")
        parts = [extent_of(segment.path) for segment in of_u.segments if segment.bytes > limits.bytes_per_part]
        assert len(parts) == 9
        for disk in workers.disks:
            there = {file.name for file in disk.rglob("*.arrow")}
            of_parts = [{Path(file).name, f"{Path(file).stem}.{first}+{size}.arrow"} for file, first, size in parts]
            assert sum(not there.isdisjoint(names) for names in of_parts) == 5


def test_tasks_that_log_rows_go_on_with_the_first_depth(workers: WorkerProcesses, tmp_path: Path) -> None:
    """A job logs, filters and groups, once it is known that groups are exchanged, and another one ends the batch."""
    number, each = 82_000, 20_000
    rows = pa.table({"id": range(number), "g": [n % 701 for n in range(number)]})
    limits = replace(BY_TASKS, rows_per_task=100, runs_per_merge=99, rows_checked_in_process=1_000_000)
    with Session(workers, f"file://{tmp_path}/session", limits=limits) as session:
        session.add_stream("t", rows, history=1_000, batch=each)
        groups = session.register("SELECT g, COUNT(*) AS n FROM t WHERE id >= 500 GROUP BY g", name="groups")
        large = session.register("SELECT id FROM t WHERE id % 1000 = 1", name="large")
        jobs = [workers.jobs]
        for _ in range(3):
            session.run(1)
            jobs.append(workers.jobs)
        assert [after - before for before, after in pairwise(jobs)] == [3, 2, 2]
        came = range(500, 1_000 + 3 * each)
        assert dict(groups.result().to_numpy().tolist()) == {g: sum(n % 701 == g for n in came) for g in range(701)}
        assert sorted(large.result()["id"]) == [*range(1, came.stop, 1_000)]
        session.drop("groups")
        session.register("SELECT g, COUNT(*) AS n FROM t WHERE id < 50000 GROUP BY g", name="others")
        session.run(1)
        assert session.query("others").result()["n"].sum() == 50_000


@pytest.mark.parametrize(("groups", "jobs"), [(701, [2, 1, 1, 1]), (10**6, [3, 2, 2, 2])])
def test_the_task_that_logs_rows_groups_them_and_the_driver_ends_the_batch(
    workers: WorkerProcesses, tmp_path: Path, groups: int, jobs: list[int]
) -> None:
    each = 30_000
    rows = pa.table({"id": range(5 * each), "g": [n * 7 % groups for n in range(5 * each)]})
    limits = replace(Limits().of_cluster(), runs_per_merge=99)
    with Session(workers, f"file://{tmp_path}/session", limits=limits) as session:
        session.add_stream("t", rows, history=each, batch=each)
        counted = session.register("SELECT g, COUNT(*) AS n, MIN(id) AS f FROM t WHERE id >= 500 GROUP BY g", name="c")
        seen = [workers.jobs]
        for batch in range(2, 6):
            session.run(1)
            seen.append(workers.jobs)
            expected = pd.DataFrame({"g": [n * 7 % groups for n in range(500, batch * each)]}).value_counts("g")
            got = counted.result().set_index("g")
            assert got["n"].to_dict() == expected.to_dict()
        assert [after - before for before, after in pairwise(seen)] == jobs


def test_a_source_that_fails_as_rows_are_logged_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(write: FilterAndWrite, rows: ArrowBatches) -> Answer:
        raise pa.ArrowInvalid(f"{write.tree} fails")

    rows = pa.table({"id": range(200)})
    with Session(TwoTasks(), limits=BY_TASKS) as session:
        session.add_stream("t", rows, history=50, batch=50)
        large = session.register("SELECT id FROM t WHERE id > 10", name="large")
        with monkeypatch.context() as patch, pytest.raises(EngineError, match="could not evaluate node"):
            patch.setattr(FilterAndWrite, "write", fails)
            session.run(1)
        session.run(1)
        assert sorted(large.result()["id"]) == [*range(11, 100)]
