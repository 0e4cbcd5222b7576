"""What a correction costs: batches of transfers that all are new, and batches in which some rows replace earlier ones.

Batches without and with updates take turns in one session, so that both meet the same machine and the same state.
Beside it stands the same set over a stream to which rows are only added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from workbench.experiments import runs
from workbench.experiments.digests import check_digests
from workbench.experiments.report import Chart, text_table
from workbench.experiments.reruns import in_duckdb
from workbench.experiments.sample_streams.zipcodes import zipdistance
from workbench.experiments.study import Findings, Study, StudyProgress, option
from workbench.experiments.workload import BATCH_ROWS, Workload, workload
from workbench.session.session import Session

_KEY = "tranid"
_CHECKED = 24
"""Answers that are compared with DuckDB's over the rows as they are at the end."""


@dataclass(frozen=True)
class CorrectedStreams(Study):
    """Batches with and without rows that replace earlier ones."""

    name = "corrections"
    summary = "batches in which some rows replace earlier ones, compared with batches without"

    queries: tuple[int, ...] = option((24, 768), "numbers of queries of fed-manual")
    history: int = option(50_000, "rows that are there")
    batch: int = option(BATCH_ROWS, "rows of a batch")
    batches: int = option(10, "batches of each kind")
    part: tuple[float, ...] = option((0.01, 0.1), "of a batch that updates")

    def run(self, progress: StudyProgress) -> Findings:
        """Run it."""
        parts = [0.0, *self.part]
        rows: list[list[object]] = []
        figures: dict[str, object] = {}
        series: dict[str, dict[float, float]] = {}
        for number in self.queries:
            batches = runs.WARM_UP + len(parts) * self.batches
            work = workload("fed-manual", batches=batches, history=self.history, batch=self.batch, queries=number)
            added = runs.run_batches(work, [number], self.batches, progress=runs.silent).last.seconds
            seconds, checked = _corrected(work, parts)
            progress(f"{number} queries: {seconds[0.0]:.2f} s a batch without updates, {checked} answers checked")
            rows.append([number, added, *seconds.values(), *(seconds[part] / seconds[0.0] for part in self.part)])
            figures[str(number)] = {"added": added, "by_part": seconds, "checked": checked}
            series[f"{number} queries"] = {100 * part: taken for part, taken in seconds.items()}
        of = [f"{part:.0%} updated" for part in self.part]
        columns = [
            "queries",
            "only added, s",
            "by key, s",
            *(f"{part}, s" for part in of),
            *(f"{part}, ratio" for part in of),
        ]
        title = f"batches of {self.batch:,} transfers over {self.history:,}; medians of {self.batches} of each kind"
        chart = Chart("batches with updates", "rows of a batch that update, %", "seconds a batch", series)
        return f"{title}\n\n{text_table(columns, rows)}", figures, (chart,)


def _corrected(work: Workload, parts: Sequence[float]) -> tuple[dict[float, float], int]:
    """Median seconds of a batch by the part of it that updates, and how many answers were equal to DuckDB's."""
    arriving = updated(work, parts)
    checked = work.queries[:: max(1, len(work.queries) // _CHECKED)]
    taken: dict[float, list[float]] = {part: [] for part in parts}
    with Session() as session:
        session.add_function("zipdistance", zipdistance, returns="double")
        session.add_stream(
            work.stream, arriving, history=work.history, batch=work.batch, time=work.time, key=[_KEY], changes="upsert"
        )
        runs.register_queries(session, work)
        session.run(runs.WARM_UP)
        while session.streams[work.stream].waiting:
            for part in parts:
                taken[part] += [report.seconds for report in session.run(1)]
        digests = {query.name: runs.run_digest(session.query(query.name)) for query in checked}
    current = replace(work, table=latest(arriving))
    expected = in_duckdb(current, checked, current.table.num_rows).digests
    return {part: median(seconds) for part, seconds in taken.items()}, check_digests("corrections", digests, expected)


def updated(work: Workload, parts: Sequence[float], key: str = _KEY) -> pa.Table:
    """The rows of a workload, where parts of its batches, in turn, are rows of before with the values of others.

    Example:
        >>> rows = pa.table({"tranid": range(14), "amount": range(14)})
        >>> work = Workload("w", "s", rows, history=4, batch=2, queries=())
        >>> [len(set(updated(work, [0.0, part])["tranid"].to_pylist())) for part in (0.0, 0.5)]
        [14, 13]
    """
    random = np.random.default_rng(0)
    places: list[NDArray[np.int64]] = [np.arange(work.history)]
    batches = (work.table.num_rows - work.history) // work.batch
    new = work.history
    for number in range(batches):
        turn = number - runs.WARM_UP
        count = int(parts[turn % len(parts)] * work.batch) if turn >= 0 else 0
        replaced = random.choice(new, count, replace=False)
        places += [np.arange(new, new + work.batch - count), replaced]
        new += work.batch - count
    keys = np.concatenate(places)
    _, first = np.unique(keys, return_index=True)
    again = np.ones(len(keys), bool)
    again[first] = False
    values = np.where(again, random.integers(0, work.history, len(keys)), keys)
    rows = work.table.take(pa.array(values))
    return rows.set_column(rows.schema.get_field_index(key), key, work.table[key].take(pa.array(keys)))


def latest(rows: pa.Table, key: str = _KEY) -> pa.Table:
    """The last row of each key.

    Example:
        >>> latest(pa.table({"tranid": [1, 2, 1], "amount": [10, 20, 30]})).to_pydict()
        {'tranid': [2, 1], 'amount': [20, 30]}
    """
    keys = rows[key].to_numpy()
    _, last = np.unique(keys[::-1], return_index=True)
    return rows.take(pa.array(np.sort(len(keys) - 1 - last)))
