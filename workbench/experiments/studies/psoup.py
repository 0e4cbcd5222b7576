"""PSoup's figures (PSoup 5.2): answers of windowed queries that are kept complete, without their window, or not at all.

Response time over the size of the window, of selections (Figure 7) and of joins by an inequality (Figure 8), and over
the number of predicates (Table 2); and the rate at which rows can arrive over the number of queries (Figure 9). Values
are uniform in 0 … 255 as in the paper, and windows count rows.
The paper's systems are PSoup-C (``eager``), PSoup-P (``lazy``) and NoMat (``off``). Its figures are in milliseconds of
an engine in one process; a request to Spark takes some of them by itself, so what compares is how they grow.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sized
from dataclasses import dataclass
from statistics import median

import numpy as np
import pyarrow as pa

from workbench.errors import WorkbenchError
from workbench.experiments.report import Chart, text_table
from workbench.experiments.study import Findings, Study, StudyProgress, option
from workbench.options import Options
from workbench.session.session import Session

_COLUMNS = "abcdefgh"
_VALUES = 256
_WINDOWS = (1_000, 10_000, 50_000, 100_000)
JOINED = (100, 300, 1_000)
"""Rows of the windows of joins, whose pairs are a share of the square."""
PREDICATES = (1, 2, 4)
_QUERIES = (10, 50, 200)
ASKED = 5
"""Times that every answer is asked for; the median counts."""
SYSTEMS = {"eager": "PSoup-C", "lazy": "PSoup-P", "off": "NoMat"}


@dataclass(frozen=True)
class PSoup(Study):
    """PSoup's figures 7 to 9 and its table 2."""

    name, needs = "psoup", ("matplotlib",)
    summary = "windowed answers kept complete, without their window, or not at all (PSoup 5)"

    history: int = option(200_000, "rows that are there")
    batch: int = option(4_000, "rows that arrive at a time")
    windows: tuple[int, ...] = option(_WINDOWS, "rows of a window")
    joined: tuple[int, ...] = option(JOINED, "rows of the windows of joins")
    queries: tuple[int, ...] = option(_QUERIES, "numbers of queries")

    def run(self, progress: StudyProgress) -> Findings:
        """Run it."""
        rows = stream(self.history + 10 * self.batch)
        sizes = {f"{kind}, {n:,} rows": (n, kind, 1) for kind in ("equality", "interval") for n in self.windows}
        middle = self.windows[len(self.windows) // 2]
        several = {f"{n} intervals": (middle, "interval", n) for n in PREDICATES}
        asked = {name: _text(random.Random(7), *parameters) for name, parameters in {**sizes, **several}.items()}
        asked |= {f"join, {n:,} rows": join_text(random.Random(7), n) for n in self.joined}
        answers = self._answered(asked, rows, progress)
        rates = {kept: self._rates(kept, rows, progress) for kept in ("lazy", "eager")}
        unshared = self._rates("lazy", rows, progress, Options(sharing=False), at_most=50)
        times = [[n, *(1e3 * t for t in by_system.values())] for n, by_system in answers.items()]
        arriving = {"PSoup-C": rates["eager"], "PSoup-P": rates["lazy"], "PSoup-P unshared": unshared}
        counts = [[n, *(series.get(n) for series in arriving.values())] for n in self.queries]
        asked_by = {"equality": self.windows, "interval": self.windows, "join": self.joined}
        by_kind = {
            kind: {who: {n: answers[f"{kind}, {n:,} rows"][kept] for n in numbers} for kept, who in SYSTEMS.items()}
            for kind, numbers in asked_by.items()
        }
        texts = [
            "milliseconds until an answer is there",
            text_table(["query", *SYSTEMS.values()], times),
            "\nrows that could arrive in a second",
            text_table(["queries", *arriving], counts),
        ]
        charts = [
            *(
                Chart(f"response time, one {kind}", "rows of the window", "seconds", series, log_x=True)
                for kind, series in by_kind.items()
            ),
            Chart("arrival rate", "queries", "rows a second", arriving, log_x=True),
        ]
        figures = {"seconds": answers, "rows a second": {**rates, "lazy, unshared": unshared}}
        return "\n".join(texts), figures, charts

    def _answered(
        self, asked: Mapping[str, str], rows: pa.Table, progress: StudyProgress
    ) -> dict[str, dict[str, float]]:
        """Seconds until an answer is there, by query and by how it is kept; answers must agree."""
        answers: dict[str, dict[str, float]] = {name: {} for name in asked}
        with Session() as session:
            session.add_stream("R", rows, history=self.history, batch=self.batch)
            session.add_stream("S", stream(rows.num_rows, seed=2), history=self.history, batch=self.batch)
            counts: dict[str, int] = {}
            for kept in SYSTEMS:
                queries = session.register_many({f"{name}, {kept}": sql for name, sql in asked.items()}, results=kept)
                if kept == next(iter(SYSTEMS)):
                    session.run(1)
                for name in asked:
                    seconds, count = _timed(queries[f"{name}, {kept}"].result)
                    answers[name][kept] = seconds
                    if (known := counts.setdefault(name, count)) != count:
                        raise WorkbenchError(f"{name}: {count} rows where it is kept {kept}, and {known} elsewhere")
                    progress(f"{name}, {kept}: {1e3 * seconds:.0f} ms")
        return answers

    def _rates(
        self,
        kept: str,
        rows: pa.Table,
        progress: StudyProgress,
        options: Options | None = None,
        at_most: int | None = None,
    ) -> dict[int, float]:
        """Rows that could arrive in a second, by number of queries."""
        rates = {}
        for number in (n for n in self.queries if at_most is None or n <= at_most):
            picked = random.Random(11)
            texts = {f"q{i}": _text(picked, min(self.windows), "interval", 1 + i % 4) for i in range(number)}
            with Session(options=options) as session:
                session.add_stream("R", rows, history=self.history, batch=self.batch)
                session.register_many(texts, results=kept)
                rates[number] = self.batch / median(report.seconds for report in session.run(6)[2:])
            alone = "" if options is None else ", unshared"
            progress(f"{number} queries, {kept}{alone}: {rates[number]:,.0f} rows a second")
        return rates


def stream(rows: int, seed: int = 1) -> pa.Table:
    """Rows of eight columns of whole numbers from 0 to 255."""
    rng = np.random.default_rng(seed)
    return pa.table({name: pa.array(rng.integers(0, _VALUES, rows)) for name in _COLUMNS})


def _text(chosen: random.Random, window: int, kind: str, predicates: int) -> str:
    """A query of PSoup's: boolean factors on different columns, over the last rows."""
    tests = []
    for column in chosen.sample(_COLUMNS, predicates):
        value = 32 * chosen.randrange(8) if chosen.random() < 0.2 else chosen.randrange(_VALUES)
        width = chosen.randrange(1, _VALUES)
        tests.append(f"{column} = {value}" if kind == "equality" else f"{column} BETWEEN {value} AND {value + width}")
    return f"SELECT a, b FROM R WHERE {' AND '.join(tests)} BEGIN NOW - {window - 1} END NOW"


def join_text(chosen: random.Random, window: int) -> str:
    """A join of PSoup's: one boolean factor between two streams, over the last rows of each."""
    return f"SELECT R.a, S.b FROM R, S WHERE R.a > S.b + {chosen.randrange(_VALUES)} BEGIN NOW - {window - 1} END NOW"


def _timed(ask: Callable[[], Sized]) -> tuple[float, int]:
    seconds, count = [], 0
    for _ in range(ASKED):
        started = time.perf_counter()
        count = len(ask())
        seconds.append(time.perf_counter() - started)
    return median(seconds), count
