"""Sliding windows for a long time: what a batch costs and what is kept does not grow with the stream.

A mix of windows slides over a stream some of whose rows are late, and some too late. The first and the last batches are
compared: their time, the rows that are kept for all queries, and the memory of all processes.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median

import numpy as np
import pyarrow as pa

from workbench.experiments import runs
from workbench.experiments.digests import Digest, answer_digest, check_digests, connect
from workbench.experiments.measure import resident_bytes
from workbench.experiments.report import Chart, text_table
from workbench.experiments.study import Findings, Study, StudyProgress, option
from workbench.session.session import Session
from workbench.session.state import EAGER, LAZY

_DAY = dt.date(2002, 1, 1)
HISTORY_DAYS = 40
"""Days that are there from the start: more than the longest window of the mix has."""
LATENESS = dt.timedelta(days=3)
ENDS = 50
"""Batches at the beginning and at the end that are compared."""
LOOKS = 50
"""How often memory and what is kept are looked at."""

_FROM = "FROM transfers WHERE"
_PAIRS = (
    "SELECT a.id, b.id AS next FROM transfers a JOIN transfers b ON a.payee = b.payer AND a.amount < b.amount"
    " WHERE a.d > now() - 2 AND b.d > now() - 2"
)
LATELY = f"SELECT id, bank {_FROM} amount > 950 AND d > now() - 2"
MIX = {
    "large": f"SELECT id, amount {_FROM} amount > 900 AND d > now() - 7",
    "large, a month": f"SELECT id, amount {_FROM} amount > 990 AND d > now() - 30",
    "by bank": f"SELECT bank, COUNT(*) AS n, SUM(amount) AS s, AVG(amount) AS a {_FROM} d > now() - 7 GROUP BY bank",
    "by bank, a month": f"SELECT bank, MIN(amount) AS l, MAX(amount) AS h {_FROM} d > now() - 30 GROUP BY bank",
    "medians": f"SELECT bank, MEDIAN(amount) AS m {_FROM} d > now() - 2 GROUP BY bank",
    "payees": f"SELECT DISTINCT payee {_FROM} amount > 900 AND d BETWEEN now() - 10 AND now() - 3",
    "pairs": _PAIRS,
}
"""Queries that are kept lazily; ``LATELY`` is kept eagerly, and ``WEEKS`` hops."""
WEEKS = "SELECT COUNT(*) AS n, SUM(amount) AS s FROM transfers"
HOPS = "for (t = ST; ; t += 7) { WindowIs(transfers, t - 6, t); }"


@dataclass(frozen=True)
class Long:
    """The figures of a long run.

    Attributes:
        seconds: of every batch.
        kept, memory, arrived: by batch, when they were looked at: rows of all trees, bytes, rows that had arrived.
        late: late rows, which are in no window.
        checked: answers that were compared with DuckDB's.
    """

    seconds: list[float]
    kept: Mapping[int, int]
    memory: Mapping[int, int]
    arrived: Mapping[int, int]
    late: int
    checked: int


@dataclass(frozen=True)
class Windows(Study):
    """A mix of windows for a long time."""

    name = "windows"
    summary = "a mix of sliding windows over many batches"

    batches: int = option(500, "batches of the long run")
    batch: int = option(1_000, "rows of a batch, which is a day")

    def run(self, progress: StudyProgress) -> Findings:
        """Run it."""
        long = self._long(progress)
        ends = min(ENDS, len(long.seconds) // 2)
        columns = ["", "ms a batch", "rows kept", "MiB of memory", "rows arrived"]
        rows = [[f"first {ends}", *_during(long, 0, ends)], [f"last {ends}", *_during(long, -ends, None)]]
        text = [
            f"{len(MIX) + 2} queries over {len(long.seconds)} batches of {self.batch:,} rows, medians;"
            f" {long.late:,} late rows",
            text_table(columns, rows),
            f"\n{long.checked} answers compared with DuckDB's",
        ]
        times, memory = dict(enumerate(long.seconds, start=1)), {b: size / 2**20 for b, size in long.memory.items()}
        charts = [
            Chart("time", "batch", "seconds a batch", {"mix": times}, log_y=False),
            Chart("rows", "batch", "rows", {"kept for all queries": long.kept, "arrived": long.arrived}, log_y=False),
            Chart("memory", "batch", "MiB", {"all processes": memory}, log_y=False),
        ]
        return "\n".join(text), {"mix": asdict(long)}, charts

    def _long(self, progress: StudyProgress) -> Long:
        """The mix, for as many batches as were asked for."""
        kept, memory, arrived = dict[int, int](), dict[int, int](), dict[int, int]()
        rows = windowed_transfers(HISTORY_DAYS + self.batches, self.batch)
        with Session() as session:
            _add(session, rows, self.batch)
            start = _now(session)
            session.register_many(MIX, results=LAZY)
            session.register(LATELY, "lately", results=EAGER)
            session.register(f"{WEEKS} {HOPS}", "weeks")
            every = max(1, self.batches // LOOKS)
            for batch in range(1, self.batches + 1):
                session.run(1)
                if batch % every == 0 or batch == 1:
                    operators = {operator.root for report in session.reports for operator in report.operators}
                    kept[batch] = sum(session.kept(name)[0] for name in operators)
                    memory[batch] = resident_bytes()
                    arrived[batch] = session.streams["transfers"].position
                    last = session.reports[-1].seconds
                    progress(f"batch {batch}: {1e3 * last:.0f} ms, {kept[batch]:,} rows kept")
            seconds = [report.seconds for report in session.reports]
            instant = start + dt.timedelta(days=(_now(session) - start).days // 7 * 7)
            weeks = f"{WEEKS} WHERE d BETWEEN DATE '{instant}' - 6 AND DATE '{instant}'"
            checked = _checked("the mix", session, {**MIX, "lately": LATELY, "weeks": weeks})
            return Long(seconds, kept, memory, arrived, session.streams["transfers"].late_rows, checked)


def windowed_transfers(days: int, a_day: int) -> pa.Table:
    """Rows of as many days: one in twenty is up to three days late, one in two hundred a week."""
    rng = np.random.default_rng(1)
    rows = days * a_day
    late = np.where(rng.random(rows) < 0.05, rng.integers(1, 4, rows), 0)
    late = np.where(rng.random(rows) < 0.005, 7, late)
    first = np.datetime64(_DAY, "D").astype(np.int32)
    dates = np.maximum(first, first + np.arange(rows) // a_day - late).astype(np.int32)
    return pa.table(
        {
            "id": pa.array(np.arange(rows)),
            "d": pa.array(dates).cast(pa.date32()),
            "bank": pa.array(rng.integers(0, 50, rows)),
            "payer": pa.array(rng.integers(0, 5_000, rows)),
            "payee": pa.array(rng.integers(0, 5_000, rows)),
            "amount": pa.array(rng.integers(0, 1_000, rows)),
        }
    )


def _add(session: Session, rows: pa.Table, batch: int) -> None:
    session.add_stream("transfers", rows, history=HISTORY_DAYS * batch, batch=batch, time="d", lateness=LATENESS)


def _now(session: Session) -> dt.date:
    stream = session.streams["transfers"]
    latest = max(stream.log.on_time(0, stream.position).column("d").to_pylist())
    assert isinstance(latest, dt.date)
    return latest


def _checked(who: str, session: Session, texts: Mapping[str, str]) -> int:
    """Compare all answers with DuckDB's over the rows that did not come too late."""
    stream = session.streams["transfers"]
    expected: dict[str, Digest] = {}
    now = f"DATE '{_now(session)}'"
    with connect() as database:
        database.register("transfers", stream.log.on_time(0, stream.position))
        for name, text in texts.items():
            database.execute(f"CREATE TABLE answer AS {text.replace('now()', now)}")
            expected[name] = answer_digest(database, "answer")
            database.execute("DROP TABLE answer")
    return check_digests(who, {name: runs.run_digest(session.query(name)) for name in texts}, expected)


def _during(long: Long, first: int, end: int | None) -> Sequence[float]:
    """Medians over some batches."""
    batches = range(1, len(long.seconds) + 1)[first:end]
    looks = [[kept[b] for b in batches if b in kept] for kept in (long.kept, long.memory, long.arrived)]
    rows, memory, arrived = (median(values) for values in looks)
    return [1e3 * median(long.seconds[first:end]), round(rows), memory / 2**20, round(arrived)]
