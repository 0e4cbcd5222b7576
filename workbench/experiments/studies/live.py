"""Live running: how many rows a second some queries keep up with, and how a burst is worked off.

Rows come as Parquet files that are put into a folder, so Spark's own streaming can read the same. At each latency three
things are measured, each in a session of its own:

- *capacity*: everything is there from the start; rows a second that are answered in batches within the latency;
- *steady*: rows come at a part of the capacity; how far behind the session is;
- *burst*: rows come slowly, then fast, then slowly again; how long until nothing waits.

Beside it stand the batch engine over the same rows, replayed in batches as large as the live ones were, and one
selection and one join by hand in Spark's Structured Streaming.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

import pyarrow as pa
import pyarrow.parquet as pq

from workbench.errors import EngineError
from workbench.experiments import runs
from workbench.experiments.peers.digests import check
from workbench.experiments.peers.reruns import in_duckdb
from workbench.experiments.report import Chart, Report, table
from workbench.experiments.runs import Progress
from workbench.experiments.sample_streams.zipcodes import zipdistance
from workbench.experiments.workload import BATCH, Workload, workload
from workbench.session.session import Session

FILE_ROWS = 5_000
"""Rows of a file at most; a file that is read in parts is read from its beginning each time."""
TICK = 0.2
"""Seconds from one file to the next, where rows come by and by."""
CHECKED = 4
"""Answers of each run that are compared with DuckDB's."""
HANDWRITTEN = {
    "one selection": "SELECT * FROM rows WHERE amount > 1000000",
    "one join": "SELECT r.tranid, h.tranid AS other FROM rows r JOIN history h ON r.sbank_aba = h.rbank_aba"
    " AND r.amount = h.amount WHERE r.amount > 1000000",
}
"""What Spark's Structured Streaming is given."""


@dataclass(frozen=True)
class Phase:
    """Rows that come for some seconds.

    Attributes:
        rate: rows a second.
        seconds: for how long.
    """

    rate: int
    seconds: float


@dataclass(frozen=True)
class Moment:
    """How far behind a session was.

    Attributes:
        second: since rows began to come.
        waiting: rows that no batch had taken.
        lag: seconds that the first of them had waited.
    """

    second: float
    waiting: int
    lag: float


@dataclass(frozen=True)
class Measured:
    """One run.

    Attributes:
        rows: that batches took.
        sizes: rows of each batch.
        moments: after each batch.
        checked: answers that were compared with DuckDB's.
    """

    rows: int
    sizes: tuple[int, ...]
    moments: tuple[Moment, ...]
    checked: int

    @property
    def rate(self) -> float:
        """Rows a second in the second half of the batches, when their size has settled."""
        half = len(self.sizes) // 2
        begin = self.moments[half - 1].second if half else 0.0
        return sum(self.sizes[half:]) / (self.moments[-1].second - begin)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the experiment."""
    parser.add_argument("--queries", type=int, default=24, help="of the set fed-manual (default: 24)")
    parser.add_argument("--history", type=int, default=50_000, help="rows that are there (default: 50000)")
    parser.add_argument("--rows", type=int, default=400_000, help="rows for the capacity (default: 400000)")
    parser.add_argument("--latency", type=float, nargs="+", default=[1.0, 5.0], help="seconds (default: 1 5)")
    parser.add_argument("--seconds", type=float, default=300, help="of the steady part (default: 300)")
    parser.add_argument("--part", type=float, default=0.8, help="of the capacity, in the steady part (default: 0.8)")
    parser.add_argument("--slow", type=int, default=1_000, help="rows a second around the burst (default: 1000)")
    parser.add_argument("--fast", type=int, default=50_000, help="rows a second in the burst (default: 50000)")
    parser.add_argument("--burst", type=float, default=5, help="seconds of the burst (default: 5)")


def report(chosen: argparse.Namespace, progress: Progress = print) -> Report:
    """Run the experiment."""
    work = _work(chosen, max(chosen.rows, int((chosen.fast + 4 * chosen.slow) * chosen.burst)))
    rows: list[list[object]] = []
    figures: dict[str, object] = {"queries": len(work.queries), "history": work.history, "cores": 2}
    charts = []
    for latency in chosen.latency:
        capacity = _live(work, latency, [], progress, chosen.rows)
        size = int(median(capacity.sizes[runs.WARM_UP :] or capacity.sizes))
        replayed = _replayed(work, size, capacity.rows)
        part = Phase(int(chosen.part * capacity.rate), chosen.seconds)
        steady = _live(_work(chosen, int(part.rate * part.seconds)), latency, [part], progress)
        slow = Phase(chosen.slow, chosen.burst)
        phases = [slow, Phase(chosen.fast, chosen.burst), replace(slow, seconds=3 * chosen.burst)]
        burst = _live(work, latency, phases, progress)
        off = worked_off(burst.moments, after=2 * chosen.burst)
        late = [moment.lag for moment in steady.moments]
        rows.append(
            [f"{latency:g} s", int(capacity.rate), size, capacity.rate / replayed, median(late), max(late), off]
        )
        figures[f"{latency:g} s"] = {
            "capacity": capacity.rate,
            "batch": size,
            "of_the_batch_engine": capacity.rate / replayed,
            "steady_rate": steady.rate,
            "steady_lag": {"median": median(late), "most": max(late)},
            "burst_worked_off": off,
            "checked": capacity.checked + steady.checked + burst.checked,
        }
        for name, run in (("steady", steady), ("burst", burst)):
            lags = {round(moment.second, 2): moment.lag for moment in run.moments}
            title = f"{name}, batches of at most {latency:g} s"
            charts.append(Chart(title, "seconds", "seconds behind", {"the workbench": lags}, log_y=False))
    by_hand = {name: _structured(work, sql, chosen.rows) for name, sql in HANDWRITTEN.items()}
    figures["structured_streaming"] = by_hand
    return Report("live", _text(work, rows, by_hand), figures, tuple(charts))


def worked_off(moments: Sequence[Moment], after: float) -> float | None:
    """Seconds from the end of a burst until less waits than before it; ``None`` if that did not come.

    Example:
        >>> moments = [Moment(1, 10, 0.1), Moment(4, 900, 2.0), Moment(7, 9, 0.1)]
        >>> worked_off(moments, after=3)
        4
    """
    before = max((moment.lag for moment in moments if moment.second < after / 2), default=0.0)
    return next((m.second - after for m in moments if m.second >= after and m.lag <= max(before, TICK)), None)


def _work(chosen: argparse.Namespace, rows: int) -> Workload:
    """The queries, and so many rows after the history."""
    return workload("fed-manual", batches=-(-rows // BATCH), history=chosen.history, queries=chosen.queries)


def _text(work: Workload, rows: Sequence[Sequence[object]], by_hand: dict[str, float]) -> str:
    columns = ["latency", "rows/s kept up", "rows a batch", "of replayed", "lag, median", "most", "burst worked off, s"]
    hand = "; ".join(f"{name} {rate:,.0f} rows/s" for name, rate in by_hand.items())
    return "\n".join(
        [
            f"{len(work.queries)} queries over {work.history:,} transfers; rows come as files",
            "",
            table(columns, rows),
            "",
            f"Spark's Structured Streaming, each alone: {hand}",
        ]
    )


def _live(
    work: Workload, latency: float, phases: Sequence[Phase], progress: Progress, most: int | None = None
) -> Measured:
    """Run live until everything that comes is answered; without phases all of it is there from the start."""
    arriving = work.table.slice(work.history, most)
    with _folder(work) as folder, Session() as session:
        session.add_function("zipdistance", zipdistance, returns="double")
        session.add_stream(work.stream, f"{folder}/*.parquet", history=work.history, time=work.time)
        queries = {query.name: query.sql for query in work.queries}
        session.register_many(queries, dialect=work.queries[0].dialect)
        coming = Coming(folder, arriving, phases)
        live, reports, moments = session.live(latency), [], list[Moment]()
        begun = time.monotonic()
        coming.start()
        while coming.is_alive() or live.ready():
            if live.ready():
                reports.append(live.step())
                source = session.sources[work.stream]
                moments.append(Moment(time.monotonic() - begun, source.waiting, source.lag))
            else:
                time.sleep(live.pause)
        seconds = time.monotonic() - begun
        digests = {name: runs.digest(session.query(name)) for name in list(queries)[:CHECKED]}
        rows = session.streams[work.stream].position - work.history
    checked = check("live", digests, in_duckdb(work, work.queries[:CHECKED], work.history + rows).digests)
    result = Measured(rows, tuple(report.rows for report in reports), tuple(moments), checked)
    progress(f"{latency:g} s: {rows:,} rows in {seconds:.1f} s, {len(reports)} batches, {checked} answers checked")
    return result


def _replayed(work: Workload, batch: int, rows: int) -> float:
    """Rows a second of the batch engine over the same rows, which are in a log already."""
    same = replace(work, batch=batch)
    with runs.session_on(same) as session:
        queries = {query.name: query.sql for query in work.queries}
        session.register_many(queries, dialect=work.queries[0].dialect)
        started, before = time.perf_counter(), session.streams[work.stream].position
        session.run(max(1, rows // batch))
        return (session.streams[work.stream].position - before) / (time.perf_counter() - started)


def _structured(work: Workload, sql: str, rows: int) -> float:
    """Rows a second of a query that Spark's Structured Streaming runs over the same files."""
    with _folder(work) as folder, Session() as session, tempfile.TemporaryDirectory() as place:
        spark = session.parts.spark
        _write(folder, work.table.slice(work.history, rows), "all")
        schema = spark.read.parquet(str(folder)).schema
        spark.createDataFrame(work.table.slice(0, work.history).to_pandas(), schema).createOrReplaceTempView("history")
        stream = spark.readStream.schema(schema).option("maxFilesPerTrigger", 4).parquet(str(folder))
        stream.createOrReplaceTempView("rows")
        started = time.perf_counter()
        query = (
            spark.sql(sql).writeStream.trigger(availableNow=True).format("parquet")
            .option("checkpointLocation", f"{place}/c").start(f"{place}/out")
        )  # fmt: skip
        if not query.awaitTermination(3_600):
            raise EngineError("Structured Streaming did not end")
        return (work.history + rows) / (time.perf_counter() - started)


@contextmanager
def _folder(work: Workload) -> Iterator[Path]:
    """A folder that has the history."""
    with tempfile.TemporaryDirectory(prefix="argus-live-") as name:
        folder = Path(name)
        _write(folder, work.table.slice(0, work.history), "history")
        yield folder


def _write(folder: Path, rows: pa.Table, name: str) -> None:
    """Put rows into a folder, in whole files of at most ``FILE_ROWS``."""
    for number, start in enumerate(range(0, rows.num_rows, FILE_ROWS)):
        hidden = folder / f".{name}-{number:06}"
        pq.write_table(rows.slice(start, FILE_ROWS), hidden)
        hidden.rename(folder / f"{name}-{number:06}.parquet")


class Coming(threading.Thread):
    """Rows that come into a folder, phase after phase; without phases all of them before it starts.

    Args:
        folder: for the files.
        rows: in the order in which they come; when they end, nothing more comes.
        phases: how fast they come.
    """

    def __init__(self, folder: Path, rows: pa.Table, phases: Sequence[Phase]) -> None:
        super().__init__(daemon=True)
        self._folder, self._rows, self._phases = folder, rows, phases
        if not phases:
            _write(folder, rows, "rows")

    def run(self) -> None:
        """A file at each tick."""
        given, number, begun, before = 0, 0, time.monotonic(), 0.0
        for phase in self._phases:
            first = given
            while (past := time.monotonic() - begun - before) < phase.seconds and given < self._rows.num_rows:
                due = min(self._rows.num_rows, first + int(phase.rate * (past + TICK)))
                _write(self._folder, self._rows.slice(given, due - given), f"rows-{number:06}")
                given, number = due, number + 1
                time.sleep(max(0.0, TICK - (time.monotonic() - begun - before - past)))
            before += phase.seconds
