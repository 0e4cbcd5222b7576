"""A session in a store beside one in a folder: what requests that take some milliseconds, and followers, cost a batch.

The sessions take turns, batch by batch, in one process; the store is a folder that answers late. Beside one session
some followers, each in a process of its own, look for new batches, read answers, and ask for queries, which the others
register at the same batches.
"""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING
from unittest.mock import patch

from workbench.engine.spark.in_process import InProcess
from workbench.experiments import reruns, runs
from workbench.experiments.digests import Digest, check_digests
from workbench.experiments.query_sets import GeneratedQuery
from workbench.experiments.report import text_table, timing_summary
from workbench.experiments.study import Findings, Study, StudyProgress, option
from workbench.experiments.workload import BATCH_ROWS, Workload, spread, workload
from workbench.files import store as stores
from workbench.files.journal import REQUESTS
from workbench.files.store import FolderStore, Stored
from workbench.session.session import Session

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_FOLDER, _FOLLOWED = "folder", "store, followed"
_LOOKING = 0.25
"""Seconds from one look of a follower to the next."""


class LateStore(FolderStore):
    """A store in a folder whose answers take some milliseconds, as the folder's name says; it counts requests."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.asked = Counter[str]()

    def _ask(self, kind: str) -> None:
        self.asked[kind] += 1
        time.sleep(int(self.folder.name) / 1000)

    def put(self, name: str, data: ReadableBuffer) -> None:
        """Store a file."""
        self._ask("PUT")
        super().put(name, data)

    def put_first(self, name: str, data: ReadableBuffer) -> bool:
        """Store a file if there is none of that name."""
        self._ask("PUT")
        return super().put_first(name, data)

    def get(self, name: str, first: int = 0, length: int | None = None) -> bytes:
        """The bytes of a file."""
        if not name.startswith(REQUESTS):  # a thread looks by the clock for what followers ask
            self._ask("GET")
        return super().get(name, first, length)

    def names(self, below: str = "") -> Iterator[Stored]:
        """The files of a folder."""
        self._ask("LIST")
        return super().names(below)

    def remove(self, names: Iterable[str]) -> None:
        """Remove files."""
        if names := list(names):
            self._ask("DELETE")
            super().remove(names)


@dataclass
class _Followed:
    """A session, and what its batches took.

    Attributes:
        session: the writer.
        seconds, processor: of each measured batch, by the clock and of the processor.
        requests: of these batches, of the store.
    """

    session: Session
    seconds: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    requests: Counter[str] = field(default_factory=Counter)

    def batch(self, measured: bool) -> None:
        """Run one."""
        place = str(self.session.place)
        store = stores.store_at(place) if stores.is_address(place) else None
        asked = store.asked if isinstance(store, LateStore) else Counter[str]()
        before, clock, processor = asked.copy(), time.perf_counter(), time.process_time()
        self.session.run(1)
        if measured:
            self.seconds.append(time.perf_counter() - clock)
            self.processor.append(time.process_time() - processor)
            self.requests += asked - before


@dataclass(frozen=True)
class OfStores(Study):
    """Sessions in stores, and with followers."""

    name = "store"
    summary = "batches of a session in a store, by what a request takes, and with followers, beside one in a folder"

    queries: int = option(24, "of the set fed-manual")
    history: int = option(20_000, "rows of history")
    batches: int = option(20, "batches that are measured")
    latency: tuple[int, ...] = option((0, 5, 30), "milliseconds of a request")
    followers: int = option(10, "processes that follow one of the sessions")
    requested: int = option(20, "queries that they ask for")

    def run(self, progress: StudyProgress) -> Findings:
        """Run it."""
        work = workload("fed-manual", batches=runs.WARM_UP + self.batches, history=self.history)
        queries = spread(work.queries, self.queries + self.requested)
        first, later = queries[: self.queries], queries[self.queries :]
        expected = reruns.in_duckdb(work, queries, self.history + (runs.WARM_UP + self.batches) * BATCH_ROWS).digests
        with ExitStack() as stack:
            stack.enter_context(patch.object(stores, "FolderStore", LateStore))
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="argus-store-")))
            places = (
                {_FOLDER: folder / "session"}
                | {f"store, {ms} ms": f"file://{folder}/{ms}" for ms in self.latency}
                | {_FOLLOWED: f"file://{folder}/followed/0"}
            )
            sessions = {name: _Followed(_session(stack, place, work, first)) for name, place in places.items()}
            followed = sessions[_FOLLOWED].session
            asks = stack.enter_context(_followers(str(followed.place), self.followers))
            progress(f"{len(sessions)} sessions and {self.followers} followers begin")
            for batch in range(runs.WARM_UP + self.batches):
                for each in sessions.values():
                    each.batch(batch >= runs.WARM_UP)
                measured = batch - runs.WARM_UP + 1
                new = later[len(followed.queries) - self.queries : measured * self.requested // self.batches]
                for query in new if measured > 0 else ():
                    for each in sessions.values():
                        if each.session is not followed:
                            each.session.register(query.sql, query.name, query.dialect)
                asks.request([(query.sql, query.name, query.dialect) for query in new] if measured > 0 else [])
            checked = sum(
                check_digests(name, {q.name: runs.run_digest(each.session.query(q.name)) for q in queries}, expected)
                for name, each in sessions.items()
            )
            checked += sum(check_digests(f"follower {at}", got, expected) for at, got in enumerate(asks.answers()))
        return self._findings(sessions, checked)

    def _findings(self, sessions: dict[str, _Followed], checked: int) -> Findings:
        alone = sessions[_FOLDER]
        rows = [
            [
                *(name, median(each.seconds), median(each.seconds) / median(alone.seconds)),
                *(median(each.processor), median(each.processor) / median(alone.processor)),
                *(each.requests[kind] / self.batches for kind in ("PUT", "GET", "LIST", "DELETE")),
            ]
            for name, each in sessions.items()
        ]
        title = (
            f"{self.queries} queries of fed-manual and {self.requested} later, batches of {BATCH_ROWS:,}, "
            f"{self.followers} followers; {checked} answers equal DuckDB's"
        )
        columns = ["session in", "s a batch", "× folder", "CPU s", "× folder", "PUT", "GET", "LIST", "DELETE"]
        figures: dict[str, object] = {
            name: timing_summary(each.seconds) | {"processor": median(each.processor)}
            for name, each in sessions.items()
        }
        return f"{title}\n{text_table(columns, rows)}", figures, ()


def _session(stack: ExitStack, place: Path | str, work: Workload, queries: tuple[GeneratedQuery, ...]) -> Session:
    session = stack.enter_context(Session(InProcess(), place))
    session.add_stream(work.stream, work.table, history=work.history, batch=work.batch)
    runs.register_queries(session, work.of(queries))
    return session


@dataclass
class _Followers:
    """Processes that follow a session."""

    pipes: list[Connection]

    def request(self, queries: Sequence[tuple[str, str, str]]) -> None:
        """Ask for queries, each by another one in turn, and wait until they are answered."""
        for at, query in enumerate(queries):
            self.pipes[at % len(self.pipes)].send(query)
        for at in range(len(queries)):
            assert self.pipes[at % len(self.pipes)].recv() == queries[at][1]

    def answers(self) -> list[dict[str, Digest]]:
        """What each has for answers."""
        for pipe in self.pipes:
            pipe.send(None)
        with ThreadPoolExecutor(len(self.pipes)) as pool:
            return list(pool.map(Connection.recv, self.pipes))


@contextmanager
def _followers(address: str, number: int) -> Iterator[_Followers]:
    context = multiprocessing.get_context("spawn")
    pipes, processes = list[Connection](), list[multiprocessing.process.BaseProcess]()
    try:
        for _ in range(number):
            own, theirs = context.Pipe()
            processes.append(context.Process(target=_follow, args=(theirs, address), daemon=True))
            processes[-1].start()
            theirs.close()
            pipes.append(own)
        for pipe in pipes:
            assert pipe.recv() == "begun"
        yield _Followers(pipes)
    finally:
        for process in processes:
            process.kill()
            process.join()


def _follow(pipe: Connection, address: str) -> None:
    """Look for batches, and read an answer of each; ask for what the pipe says; at last give all answers."""
    with Session.open(address, InProcess(), reading=True) as session:
        pipe.send("begun")
        seen = -1
        while True:
            if session.batch != seen:
                seen = session.batch
                session.query([*session.queries][seen % len(session.queries)]).result()
            if pipe.poll(_LOOKING):
                if (asked := pipe.recv()) is None:
                    break
                pipe.send(session.request(*asked).name)
        pipe.send({name: runs.run_digest(query) for name, query in session.queries.items()})
