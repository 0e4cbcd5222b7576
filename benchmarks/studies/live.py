"""Live running: how many rows a second some queries keep up with, and how a burst is worked off.

Rows come as Parquet files that are put into a folder, so Spark's own streaming can read the same. At each latency three
things are measured, each in a session of its own:

- *capacity*: everything is there from the start; rows a second that are answered in batches within the latency;
- *steady*: rows come for minutes at a part of the capacity, less until the session keeps up; how far behind it is;
- *burst*: rows come slowly, then fast, then slowly again; how long until nothing waits.

Beside it stand the batch engine over the same rows, replayed in batches as large as the live ones were; and one
selection and one join over payments, alone, in the workbench, in Spark's Structured Streaming and in Deephaven.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from benchmarks.arriving import ARRIVING_TICK, Coming, Phase, folder_of
from benchmarks.peers.live import LiveOutcome
from benchmarks.peers.structured_streaming import structured_streaming
from benchmarks.query_sets.views import STREAM, join, selection
from benchmarks.sample_streams.payments import payments
from benchmarks.studies.peers import DEEPHAVEN, PEERS_FOLDER
from workbench.errors import WorkbenchError
from workbench.experiments import runs
from workbench.experiments.digests import check_digests
from workbench.experiments.query_sets import GeneratedQuery
from workbench.experiments.report import Chart, text_table
from workbench.experiments.reruns import in_duckdb
from workbench.experiments.sample_streams.zipcodes import zipdistance
from workbench.experiments.study import Findings, Study, StudyProgress, option
from workbench.experiments.workload import BATCH_ROWS, Workload, workload
from workbench.session.session import Session

TRIES, LESS = 4, 0.8
"""Rates of the steady part that are tried, and each one's ratio to the one before."""
_CHECKED = 4
"""Answers of each run that are compared with DuckDB's."""
_PART = 50_000
"""Rows that Deephaven is given at a time."""
_SYSTEMS = ("workbench", "Structured Streaming", "Deephaven")


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
class _Measured:
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

    def kept_up(self, latency: float) -> bool:
        """Whether rows waited no longer at the end than a batch and its successor take.

        Example:
            >>> moments = tuple(Moment(second, 0, lag) for second, lag in enumerate((5.0, 4.0, 1.0, 1.5, 1.0)))
            >>> run = _Measured(0, (), moments, 0)
            >>> run.kept_up(1.0), run.kept_up(0.4)
            (True, False)
        """
        late = [moment.lag for moment in self.moments]
        return median(late[len(late) // 2 :]) <= 2 * latency


@dataclass(frozen=True)
class LiveRates(Study):
    """Queries that run live, at each latency."""

    name = "live"
    summary = "rows a second that live queries keep up with, how far behind they are, and a burst"

    queries: int = option(24, "of the set fed-manual")
    history: int = option(300_000, "rows that are there")
    rows: int = option(400_000, "rows for the capacity")
    latency: tuple[float, ...] = option((1.0, 5.0), "seconds")
    seconds: float = option(300.0, "of the steady part")
    part: float = option(0.8, "of the capacity, in the steady part")
    slow: int = option(1_000, "rows a second around the burst")
    fast: int = option(50_000, "rows a second in the burst")
    burst: float = option(5.0, "seconds of the burst")
    folder: str = option(PEERS_FOLDER, "where Deephaven is, or is installed by pip")

    def run(self, progress: StudyProgress) -> Findings:
        """Run it."""
        work = _work(self, max(self.rows, int((self.fast + 4 * self.slow) * self.burst)))
        rows: list[list[object]] = []
        figures: dict[str, object] = {"cores": 2}
        charts = []
        for latency in self.latency:
            capacity = _live(work, latency, [], progress, self.rows)
            size = int(median(capacity.sizes[len(capacity.sizes) // 2 :]))
            replayed = _replayed(work, size, capacity.rows)
            steady = _steady(self, latency, capacity.rate, progress)
            slow = Phase(self.slow, self.burst)
            phases = [slow, Phase(self.fast, self.burst), replace(slow, seconds=3 * self.burst)]
            burst = _live(work, latency, phases, progress)
            off = worked_off(burst.moments, after=2 * self.burst)
            late = [moment.lag for moment in steady.moments]
            rows.append(
                [
                    f"{latency:g} s",
                    int(capacity.rate),
                    size,
                    capacity.rate / replayed,
                    int(steady.rate),
                    median(late),
                    off,
                ]
            )
            figures[f"{latency:g} s"] = {
                "capacity": capacity.rate,
                "batch": size,
                "of_the_batch_engine": capacity.rate / replayed,
                "steady_rate": steady.rate,
                "steady_rows": steady.rows,
                "kept_up": steady.kept_up(latency),
                "steady_lag": {"median": median(late), "most": max(late)},
                "burst_worked_off": off,
                "checked": capacity.checked + steady.checked + burst.checked,
            }
            for name, run in (("steady", steady), ("burst", burst)):
                lags = {round(moment.second, 2): moment.lag for moment in run.moments}
                title = f"{name}, batches of at most {latency:g} s"
                charts.append(Chart(title, "seconds", "seconds behind", {"the workbench": lags}, log_y=False))
        alone = {query.name: _alone(query, self, progress) for query in (selection(), join())}
        figures["alone"] = alone
        return _text(work, rows, alone), figures, charts


def _steady(chosen: LiveRates, latency: float, capacity: float, progress: StudyProgress) -> _Measured:
    """Rows that come at a part of the capacity, and at less where the session falls behind: what it has, grows."""
    part = Phase(int(chosen.part * capacity), chosen.seconds)
    for _ in range(TRIES):
        run = _live(_work(chosen, int(part.rate * part.seconds)), latency, [part], progress)
        if run.kept_up(latency):
            break
        progress(f"{part.rate:,} rows/s were too many")
        part = replace(part, rate=int(LESS * part.rate))
    return run


def worked_off(moments: Sequence[Moment], after: float) -> float | None:
    """Seconds from the end of a burst until less waits than before it; ``None`` if that did not come.

    Example:
        >>> moments = [Moment(1, 10, 0.1), Moment(4, 900, 2.0), Moment(7, 9, 0.1)]
        >>> worked_off(moments, after=3)
        4
    """
    before = max((moment.lag for moment in moments if moment.second < after / 2), default=0.0)
    return next((m.second - after for m in moments if m.second >= after and m.lag <= max(before, ARRIVING_TICK)), None)


def _work(chosen: LiveRates, rows: int) -> Workload:
    """The queries, and a number of rows after the history."""
    return workload("fed-manual", batches=-(-rows // BATCH_ROWS), history=chosen.history, queries=chosen.queries)


def _text(work: Workload, rows: Sequence[Sequence[object]], alone: Mapping[str, Mapping[str, float | None]]) -> str:
    columns = ["latency", "rows/s, all there", "a batch", "of replayed", "kept up", "lag, s", "burst worked off, s"]
    return "\n".join(
        [
            f"{len(work.queries)} queries over {work.history:,} transfers; rows come as files",
            "",
            text_table(columns, rows),
            "",
            "one query over payments, each system alone, rows/s:",
            "",
            text_table(["", *_SYSTEMS], [[query, *map(rates.get, _SYSTEMS)] for query, rates in alone.items()]),
        ]
    )


def _alone(query: GeneratedQuery, chosen: LiveRates, progress: StudyProgress) -> dict[str, float | None]:
    """Rows a second of one query in each system; ``None`` where one cannot be had. Its answers are DuckDB's."""
    rows = payments(chosen.history + chosen.rows)
    work = Workload("alone", STREAM, rows, chosen.history, _PART, (query,))
    ours = _live(work, chosen.latency[0], [], progress, chosen.rows)
    rates: dict[str, float | None] = {"workbench": ours.rows / ours.moments[-1].second}
    expected = in_duckdb(work, work.queries, rows.num_rows).digests
    peers: Mapping[str, tuple[Callable[[Workload, Path], LiveOutcome], int]] = {
        "Structured Streaming": (structured_streaming, rows.num_rows),
        "Deephaven": (DEEPHAVEN, _PART),
    }
    for name, (measure, taken) in peers.items():
        try:
            outcome = measure(work, Path(chosen.folder))
            check_digests(name, outcome.digests, expected)
            rates[name] = taken / outcome.seconds
        except WorkbenchError as problem:
            progress(f"{name} is left out: {problem}")
            rates[name] = None
    return rates


def _live(
    work: Workload, latency: float, phases: Sequence[Phase], progress: StudyProgress, most: int | None = None
) -> _Measured:
    """Run live until everything that comes is answered; without phases all of it is there from the start."""
    arriving = work.table.slice(work.history, most)
    with folder_of(work) as folder, Session() as session:
        session.add_function("zipdistance", zipdistance, returns="double")
        session.add_stream(work.stream, f"{folder}/*.parquet", history=work.history, time=work.time)
        runs.register_queries(session, work)
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
        digests = {name: runs.run_digest(session.query(name)) for name in list(session.queries)[:_CHECKED]}
        rows = session.streams[work.stream].position - work.history
    checked = check_digests("live", digests, in_duckdb(work, work.queries[:_CHECKED], work.history + rows).digests)
    result = _Measured(rows, tuple(report.rows for report in reports), tuple(moments), checked)
    progress(f"{latency:g} s: {rows:,} rows in {seconds:.1f} s, {len(reports)} batches, {checked} answers checked")
    return result


def _replayed(work: Workload, batch: int, rows: int) -> float:
    """Rows a second of the batch engine over the same rows, which are in a log already."""
    same = replace(work, batch=batch)
    with runs.session_on(same) as session:
        runs.register_queries(session, work)
        started, before = time.perf_counter(), session.streams[work.stream].position
        session.run(max(1, rows // batch))
        return (session.streams[work.stream].position - before) / (time.perf_counter() - started)
