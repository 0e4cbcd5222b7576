"""The Appendix B queries at the thesis's sizes: seconds per batch, start-up and peak memory.

FED: 300,000 rows of history and B.1-B.11 together; MED: 600,000 and B.14-B.21 together (T10.1.1); batches of 4,000.
Every query's last answer is compared in size with DuckDB's over the same rows before a time is printed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import duckdb
import pyarrow as pa
from duckdb.func import SPECIAL

from workbench.errors import WorkbenchError
from workbench.experiments import appendix_b
from workbench.experiments.measure import PeakMemory, machine
from workbench.session import Session
from workbench.streams.fed import fed
from workbench.streams.med import med
from workbench.streams.zipcodes import zipdistance


@dataclass(frozen=True)
class Setting:
    """One stream at full size: its name, its rows by number, its history, and the queries on it."""

    stream: str
    rows: Callable[[int], pa.Table]
    history: int
    queries: tuple[str, ...]


SETTINGS = {
    "fed": Setting("FedWireTrans", fed, 300_000, tuple(f"B{n:02}" for n in range(1, 12))),
    "med": Setting("MHDCFY01A", med, 600_000, tuple(f"B{n:02}" for n in range(14, 22))),
}
BATCH = 4_000


def measure(name: str, batches: int) -> dict[str, object]:
    """Run one setting.

    Returns:
        ``start_seconds`` (Spark), ``stream_seconds`` (taking the rows in), ``register_seconds`` (all queries together,
        answering over the history), ``batch_seconds`` (a list), ``peak_gib``, and the answer's size by query.

    Raises:
        WorkbenchError: a query's answer has another size than DuckDB's.
    """
    setting = SETTINGS[name]
    table = setting.rows(setting.history + batches * BATCH)
    texts = appendix_b.load()
    with PeakMemory() as peak:
        clock = _Clock()
        session = Session()
        start = clock.lap()
        session.add_function("zipdistance", zipdistance, returns="double")
        session.add_stream(setting.stream, table, history=setting.history, batch=BATCH)
        stream = clock.lap()
        session.register_many({query: texts[query].oracle_sql for query in setting.queries}, dialect="oracle")
        register = clock.lap()
        reports = session.run(batches)
        sizes = {query: session.queries[query].count() for query in setting.queries}
    expected = _sizes_in_duckdb(setting, table)
    if sizes != expected:
        raise WorkbenchError(f"answers of other sizes than DuckDB's: {sizes}, {expected}")
    session.close()
    return {
        "setting": name,
        "history": setting.history,
        "batch": BATCH,
        "queries": len(setting.queries),
        "start_seconds": round(start, 2),
        "stream_seconds": round(stream, 2),
        "register_seconds": round(register, 2),
        "batch_seconds": [round(report.seconds, 2) for report in reports],
        "peak_gib": round(peak.bytes / 2**30, 2),
        "answers": sizes,
        "machine": machine(),
    }


class _Clock:
    def __init__(self) -> None:
        self._last = time.perf_counter()

    def lap(self) -> float:
        now = time.perf_counter()
        lap, self._last = now - self._last, now
        return lap


def _sizes_in_duckdb(setting: Setting, table: pa.Table) -> dict[str, int]:
    database = duckdb.connect()
    database.execute("SET threads = 2")
    database.register(setting.stream, table)
    database.create_function("zipdistance", zipdistance, ["VARCHAR", "VARCHAR"], "DOUBLE", null_handling=SPECIAL)
    texts = appendix_b.load()
    counts: dict[str, int] = {}
    for query in setting.queries:
        found = database.execute(f"SELECT count(*) FROM ({texts[query].duckdb_sql.rstrip().rstrip(';')})").fetchall()
        counts[query] = int(found[0][0])
    return counts
