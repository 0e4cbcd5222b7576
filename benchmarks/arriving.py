"""Rows that come into a folder as Parquet files, phase after phase: what an engine reads live."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from workbench.experiments.workload import Workload

_FILE_ROWS = 5_000
"""Rows of a file at most; a file that is read in parts is read from its beginning each time."""
ARRIVING_TICK = 0.2
"""Seconds from one file to the next, where rows come by and by."""


@dataclass(frozen=True)
class Phase:
    """Rows that come for some seconds.

    Attributes:
        rate: rows a second.
        seconds: for how long.
    """

    rate: int
    seconds: float


@contextmanager
def folder_of(work: Workload) -> Iterator[Path]:
    """A folder that has the history, and is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="argus-live-") as name:
        folder = Path(name)
        write(folder, work.table.slice(0, work.history), "history")
        yield folder


def write(folder: Path, rows: pa.Table, name: str) -> None:
    """Put rows into a folder, in whole files of at most ``FILE_ROWS``."""
    for number, start in enumerate(range(0, rows.num_rows, _FILE_ROWS)):
        hidden = folder / f".{name}-{number:06}"
        pq.write_table(rows.slice(start, _FILE_ROWS), hidden)
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
            write(folder, rows, "rows")

    def run(self) -> None:
        """A file at each tick."""
        given, number, begun, before = 0, 0, time.monotonic(), 0.0
        for phase in self._phases:
            first = given
            while (past := time.monotonic() - begun - before) < phase.seconds and given < self._rows.num_rows:
                due = min(self._rows.num_rows, first + int(phase.rate * (past + ARRIVING_TICK)))
                write(self._folder, self._rows.slice(given, due - given), f"rows-{number:06}")
                given, number = due, number + 1
                time.sleep(max(0.0, ARRIVING_TICK - (time.monotonic() - begun - before - past)))
            before += phase.seconds
