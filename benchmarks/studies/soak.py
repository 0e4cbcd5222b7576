"""A session that runs for hours: does anything that it holds grow?

Many windowed queries run over a stream; every few batches some are dropped and others registered, and some answers are
compared with DuckDB's. Every minute memory, descriptors, threads, maps of files that are gone, and files are counted.
After a time in which caches fill, each of them should be flat. What must grow is counted by itself: the rows that have
arrived, which later queries start from, and the logs of changes of eager and grouped queries.
"""

from __future__ import annotations

import datetime as dt
import math
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import count
from statistics import mean, median
from typing import Any

from benchmarks.processes import DRIVER, JVM, PROCESS_KINDS, WORKERS, Usage, processor_seconds, session_processes, usage
from benchmarks.query_sets.windowed import FEE_IN_DUCKDB, LONGEST, fee, windowed_banks, windowed_query
from workbench.experiments import runs
from workbench.experiments.digests import answer_digest, check_digests, connect
from workbench.experiments.report import Chart, text_table
from workbench.experiments.studies.windows import HISTORY_DAYS, LATENESS, windowed_transfers
from workbench.experiments.study import Findings, Study, StudyProgress, option
from workbench.session.session import Session

_SLACK = 0.05
"""A curve is flat that ends at most so much higher than it began, or by one."""
MIB = 2**20


@dataclass(frozen=True)
class Sample:
    """What a session held at one time.

    Attributes:
        minute: since the queries were registered.
        batch: the last one that was run.
        arrived, kept: rows that the stream has brought, and rows of all trees.
        seconds, registering: medians since the last sample: of a batch, of registering some queries, if any were.
        cores: how many the session had at work since the last sample, on average.
        files: of the session, by what they are for.
        processes: what they hold, by kind.
        heap, classes: of the JVM: bytes in use after its last collection of garbage that was asked for, loaded classes.
    """

    minute: float
    batch: int
    arrived: int
    kept: int
    seconds: float
    registering: float
    cores: float
    files: Mapping[str, int]
    processes: Mapping[str, Usage]
    heap: int
    classes: int


Curve = Callable[[Sample], float]
FLAT: Mapping[str, Curve] = {
    "driver, MiB": lambda s: s.processes[DRIVER].memory / MIB,
    "of it mapped, MiB": lambda s: s.processes[DRIVER].mapped / MIB,
    "JVM, MiB": lambda s: s.processes[JVM].memory / MIB,
    "its heap in use, MiB": lambda s: s.heap / MIB,
    "its classes": lambda s: s.classes,
    "workers, MiB": lambda s: s.processes[WORKERS].memory / MIB,
    "workers": lambda s: s.processes[WORKERS].processes,
    "descriptors of the driver": lambda s: s.processes[DRIVER].descriptors,
    "descriptors of the JVM": lambda s: s.processes[JVM].descriptors,
    "descriptors of the workers": lambda s: s.processes[WORKERS].descriptors,
    "maps of files that are gone": lambda s: sum(s.processes[kind].gone for kind in PROCESS_KINDS),
    "threads of the driver": lambda s: s.processes[DRIVER].threads,
    "threads of the JVM": lambda s: s.processes[JVM].threads,
    "files of rows, state, indexes": lambda s: s.files["rows and state"] + s.files["other"],
    "rows kept": lambda s: s.kept,
    "ms a batch": lambda s: 1e3 * s.seconds,
}
"""What should be flat."""
GROWING: Mapping[str, Curve] = {
    "rows arrived": lambda s: s.arrived,
    "files of rows arrived": lambda s: s.files["arrived"],
    "files of logs of changes": lambda s: s.files["log"],
    "ms to register": lambda s: 1e3 * s.registering,
}
"""What grows with the stream, and why is known."""


@dataclass(frozen=True)
class Soaked(Study):
    """A session that runs for hours."""

    name = "soak"
    summary = "hours of windowed queries that come and go: does memory, descriptors, files or threads grow"

    minutes: float = option(120.0, "how long")
    batches: int | None = option(None, "the most batches", of=int)
    queries: int = option(60, "registered at a time")
    batch: int = option(500, "rows of a batch, which is a day")
    cores: float = option(0.4, "pause so as to use no more than these")
    every: float = option(3.0, "seconds from batch to batch at least")
    change: int = option(5, "batches between drops")
    changed: int = option(2, "queries that are replaced then")
    compare: int = option(20, "batches between comparisons")
    compared: int = option(4, "answers that are compared then")
    sample: float = option(60.0, "seconds from sample to sample")
    collect: float = option(10.0, "minutes between collections of the JVM's garbage; Spark asks for one every 30")
    settle: float = option(20.0, "minutes in which caches fill")

    def run(self, progress: StudyProgress) -> Findings:
        """Run it; an interrupt ends it early, and what was seen until then is reported."""
        with Session() as session:
            soak = Soak(session, self, progress)
            try:
                soak.run()
            except KeyboardInterrupt:
                progress("interrupted")
        return reported(soak.samples, soak.compared, self)


def reported(samples: Sequence[Sample], compared: int, chosen: Soaked) -> Findings:
    """The report of a run."""
    settled = [sample for sample in samples if sample.minute >= chosen.settle] or list(samples)
    columns = ["", "first third", "last third", "rise", "%", "flat"]
    rises = {name: rise(settled, curve) for name, curve in {**FLAT, **GROWING}.items()}
    flat = {name: is_flat(*rises[name]) for name in FLAT}
    rows: list[list[object]] = []
    for name, (before, after) in rises.items():
        percent = 100 * (after - before) / before if before else None
        rows.append([name, before, after, after - before, percent, _verdict(flat.get(name))])
    text = [
        f"{chosen.queries} queries for {samples[-1].minute:.0f} minutes: {samples[-1].batch:,} batches of"
        f" {chosen.batch:,} rows; {chosen.changed} queries replaced every {chosen.change} batches;"
        f" {mean(s.cores for s in samples):.2f} cores at work",
        f"medians of {len(settled)} samples, from minute {settled[0].minute:.1f} to minute {settled[-1].minute:.1f}",
        text_table(columns, rows),
        f"\n{compared} answers compared with DuckDB's",
    ]
    figures = {"flat": flat, "rises": rises, "compared": compared, "samples": [asdict(s) for s in samples]}
    return "\n".join(text), figures, _charts(samples)


def rise(samples: Sequence[Sample], curve: Curve) -> tuple[float, float]:
    """Where a curve begins and ends: the medians of its first and of its last third."""
    values = [curve(sample) for sample in samples]
    third = max(1, len(values) // 3)
    return median(values[:third]), median(values[-third:])


def is_flat(before: float, after: float) -> bool:
    """Whether a curve did not rise.

    Example:
        >>> is_flat(100, 104), is_flat(2, 3), is_flat(100, 110)
        (True, True, False)
    """
    return after <= before + max(1, _SLACK * before)


class Soak:
    """One long run.

    Args:
        session: a new one.
        chosen: the options.
        progress: told of every sample.

    Attributes:
        samples: those taken so far.
        compared: answers that were equal to DuckDB's.
    """

    def __init__(self, session: Session, chosen: Soaked, progress: StudyProgress) -> None:
        self.samples: list[Sample] = []
        self.compared = 0
        self._session = session
        self._chosen = chosen
        self._progress = progress
        self._numbers = count()
        self._registered: deque[str] = deque()
        self._turn = 0
        self._seconds: list[float] = []
        self._registering: list[float] = []
        self._heap = 0
        self._collected = -math.inf
        self._worked = 0.0
        self._began = self._looked = time.monotonic()

    def run(self) -> None:
        """Run until the time is over, or the batches have arrived.

        Raises:
            WorkbenchError: an answer is another than DuckDB's.
        """
        chosen = self._chosen
        longest = int(60 * chosen.minutes / max(chosen.every, 0.1)) + 1
        batches = longest if chosen.batches is None else chosen.batches
        rows = windowed_transfers(HISTORY_DAYS + batches, chosen.batch)
        history = HISTORY_DAYS * chosen.batch
        self._session.add_stream("transfers", rows, history, chosen.batch, time="d", lateness=LATENESS)
        del rows
        self._session.add_table("banks", windowed_banks())
        self._session.add_function("fee", fee, returns="bigint")
        self._register(chosen.queries)
        self._began = self._looked = time.monotonic()
        self._worked = _seconds_worked()
        for batch in range(1, batches + 1):
            if time.monotonic() - self._began > 60 * chosen.minutes:
                break
            begun, worked = time.monotonic(), _seconds_worked()
            self._seconds.append(self._session.run(1)[0].seconds)
            if batch % chosen.change == 0:
                self._replace(chosen.changed)
            if batch % chosen.compare == 0:
                self._compare()
            if time.monotonic() - self._looked >= chosen.sample:
                self._sample()
            busy = (_seconds_worked() - worked) / chosen.cores
            time.sleep(max(0.0, max(busy, chosen.every) - (time.monotonic() - begun)))
        if self._seconds:
            self._sample()

    def _register(self, number: int) -> None:
        new = [windowed_query(next(self._numbers)) for _ in range(number)]
        begun = time.monotonic()
        for results in sorted({query.results for query in new}):
            self._session.register_many({q.name: q.sql for q in new if q.results == results}, results=results)
        self._registering.append(time.monotonic() - begun)
        self._registered.extend(query.name for query in new)

    def _replace(self, number: int) -> None:
        """Replace queries, each kind in its turn: those that were registered first."""
        for _ in range(number):
            self._session.drop(self._registered.popleft())
        self._register(number)

    def _compare(self) -> None:
        """Compare answers with DuckDB's; each time those of other queries."""
        names = list(self._registered)
        some = [names[(self._turn + i) % len(names)] for i in range(min(self._chosen.compared, len(names)))]
        self._turn += len(some)
        stream = self._session.streams["transfers"]
        # A row in a window is at most as late as the stream allows, so those before it are in no window.
        first = max(0, stream.position - (LONGEST + LATENESS.days + 2) * self._chosen.batch)
        rows = stream.log.on_time(first, stream.position)
        now = self._session.now
        assert isinstance(now, dt.datetime)
        expected = {}
        with connect(threads=1) as database:
            database.register("transfers", rows)
            database.register("banks", windowed_banks())
            database.execute(FEE_IN_DUCKDB)
            for name in some:
                text = self._session.query(name).sql.replace("now()", f"DATE '{now.date()}'")
                database.execute(f"CREATE OR REPLACE TABLE answer AS {text}")
                expected[name] = answer_digest(database, "answer")
        got = {name: runs.run_digest(self._session.query(name)) for name in some}
        self.compared += check_digests(f"batch {self._session.batch}", got, expected)

    def _sample(self) -> None:
        self._collect()
        now, processes = time.monotonic(), {kind: usage(pids) for kind, pids in session_processes().items()}
        worked = sum(each.seconds for each in processes.values())
        session = self._session
        operators = {operator.root for operator in session.reports[-1].operators}
        sample = Sample(
            (now - self._began) / 60,
            session.batch,
            session.streams["transfers"].position,
            sum(session.kept(name)[0] for name in operators),
            median(self._seconds),
            median(self._registering) if self._registering else self.samples[-1].registering,
            (worked - self._worked) / max(now - self._looked, 1e-9),
            self._files(),
            processes,
            self._heap,
            int(self._jvm("ClassLoadingMXBean").getLoadedClassCount()),
        )
        self.samples.append(sample)
        self._seconds, self._registering = [], []
        self._looked, self._worked = now, worked
        shown: dict[str, Curve] = {**FLAT, **GROWING, "cores": lambda s: s.cores}
        values = ", ".join(f"{name} {curve(sample):,.6g}" for name, curve in shown.items())
        self._progress(f"minute {sample.minute:.1f}, batch {sample.batch}: {values}")

    def _files(self) -> dict[str, int]:
        """Files of the session's folder, by what they are for."""
        known = self._session.catalog("SELECT part, COUNT(DISTINCT file) AS files FROM segments GROUP BY part")
        parts = dict(zip(known["part"], known["files"], strict=True))
        counts = {"arrived": int(parts.get("arrived", 0)), "log": int(parts.get("log", 0))}
        counts["rows and state"] = int(parts.get("rows", 0) + parts.get("state", 0))
        files = sum(1 for file in self._session.path.rglob("*") if file.is_file())
        return {**counts, "other": files - sum(counts.values())}

    def _collect(self) -> None:
        """Now and then see how much of the JVM's heap is in use, and is no garbage."""
        if time.monotonic() - self._collected >= 60 * self._chosen.collect:
            memory = self._jvm("MemoryMXBean")
            memory.gc()
            self._heap = int(memory.getHeapMemoryUsage().getUsed())
            self._collected = time.monotonic()

    def _jvm(self, bean: str) -> Any:
        virtual_machine: Any = self._session.spark._jvm
        return getattr(virtual_machine.java.lang.management.ManagementFactory, f"get{bean}")()


def _seconds_worked() -> float:
    return sum(processor_seconds(pids) for pids in session_processes().values())


def _verdict(flat: bool | None) -> str:
    return "expected to grow" if flat is None else "yes" if flat else "no"


def _charts(samples: Sequence[Sample]) -> list[Chart]:
    def chart(title: str, unit: str, *names: str) -> Chart:
        curves = {**FLAT, **GROWING}
        series = {name: {s.minute: curves[name](s) for s in samples} for name in names}
        return Chart(title, "minute", unit, series, log_y=False)

    return [
        chart("memory", "MiB", "driver, MiB", "JVM, MiB", "its heap in use, MiB", "workers, MiB"),
        chart(
            "descriptors and maps", "number",
            "descriptors of the driver", "descriptors of the JVM", "descriptors of the workers",
            "maps of files that are gone",
        ),
        chart("files", "number", "files of rows, state, indexes", "files of logs of changes", "files of rows arrived"),
        chart("time", "milliseconds", "ms a batch", "ms to register"),
    ]  # fmt: skip
