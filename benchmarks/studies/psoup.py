"""PSoup's figures 7, 8, 9, 11 and its table 2 (PSoup 5): windowed answers kept complete, without their window, or not.

The paper's systems are PSoup-C (``eager``: the windowed answer is kept), PSoup-P (``lazy``: kept without its window,
which is applied when the answer is asked for) and NoMat (``off``). Asking for an answer and keeping it up are measured
apart, as in the paper, both by the processor. Values are whole numbers from 0 to 255, windows count rows.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import mean, median

import numpy as np
import pyarrow as pa

from benchmarks.processes import processor_seconds_of_all
from workbench.engine.spark.in_process import InProcess
from workbench.errors import WorkbenchError
from workbench.experiments.report import text_table
from workbench.experiments.study import Findings, Study, StudyProgress, option
from workbench.options import Options
from workbench.session.session import Session

PSOUP_COLUMNS = "abcdefgh"
PSOUP_VALUES = 256
SYSTEMS: Mapping[str, str] = {"NoMat": "off", "PSoup-P": "lazy", "PSoup-C": "eager"}
PREDICATES = (1, 2, 4)
ASKED_AFTER = 3
"""After each of which all answers are asked for."""

RATED_BATCHES = (8, 12)
"""Batches before those whose rate is told, in the first of which no row has to be removed; and these."""
RATED: Mapping[str, tuple[str, Options]] = {
    "PSoup-P": ("lazy", Options()),
    "PSoup-P unshared": ("lazy", Options(sharing=False)),
    "PSoup-C": ("eager", Options()),
    "PSoup-C unshared": ("eager", Options(sharing=False)),
}

REDUNDANT: Mapping[str, tuple[str, str]] = {"Eq/Ineq": (">", "="), "Ineq/Eq": ("=", ">"), "Ineq/Ineq": (">", ">")}
"""The workloads of Figure 11 in the order of its text: how R meets S, and how S is selected."""
JOINED: Mapping[str, Options] = {"composite": Options(), "separate": Options(materialize_below=0.0)}
"""The condition on S alone is applied once before the join; or to every pair, in the join."""


@dataclass(frozen=True)
class PSoup(Study):
    """Table 2 and Figures 7, 8, 9 and 11."""

    name, needs = "psoup", ()
    summary = "windowed answers kept complete, without their window, or not at all (PSoup 5)"

    windows: tuple[int, ...] = option((1_000, 10_000, 30_000, 50_000), "rows of a window of selections")
    joined: tuple[int, ...] = option((50, 100, 200, 300), "rows of the windows of joins")
    asked: int = option(20, "queries of each kind")
    batch: int = option(1_000, "rows that arrive at a time")
    queries: tuple[int, ...] = option((10, 50, 200, 500), "numbers of queries of Figure 9")
    probed: int = option(20_000, "rows of each stream of Figure 11")

    def run(self, progress: StudyProgress) -> Findings:
        """Run it."""
        selections = {
            kind: self._by_window({n: _texts(self.asked, n, kind, None) for n in self.windows}, progress, f"one {kind}")
            for kind in ("equality", "interval")
        }
        joins = self._by_window({n: _joins(self.asked, n) for n in self.joined}, progress, "join")
        middle = self.windows[-2]
        predicates = self._by_window(
            {n: _texts(self.asked, middle, "interval", n) for n in PREDICATES}, progress, "intervals", rows=middle
        )
        rates = {called: self._rates(*how, progress) for called, how in RATED.items()}
        redundant = {called: self._redundant(*how, progress) for called, how in REDUNDANT.items()}
        figures = {
            **selections,
            "join": joins, "predicates": predicates, "rates": rates, "redundant": redundant,
        }  # fmt: skip
        rows = [
            [kind, number, *(1e3 * of[system][number] for system in SYSTEMS)]
            for kind, each in (*selections.items(), ("join", joins), ("intervals", predicates))
            for of in (each["asking"],)
            for number in of["NoMat"]
        ]
        return text_table(["ms to ask", "", *SYSTEMS], rows), figures, ()

    def _by_window(
        self, texts: Mapping[int, Mapping[str, str]], progress: StudyProgress, called: str, rows: int | None = None
    ) -> dict[str, dict[str, dict[int, float]]]:
        """Seconds of a processor to ask for an answer, and to keep one up in a batch, by system and number.

        Args:
            texts: queries by number.
            progress: told how far it is.
            called: what the queries are.
            rows: of the window, where the number is another thing.
        """
        measured: dict[str, dict[str, dict[int, float]]] = {
            what: {system: {} for system in SYSTEMS} for what in ("asking", "keeping up", "rows")
        }
        for number, queries in texts.items():
            window, counts = rows or number, dict[str, list[int]]()
            for system, kept in SYSTEMS.items():
                asking, upkeep, found = self._asked(queries, window, kept)
                measured["asking"][system][number] = asking
                measured["keeping up"][system][number] = upkeep
                measured["rows"][system][number] = mean(found)
                counts[system] = found
            if len(set(map(tuple, counts.values()))) > 1:
                raise WorkbenchError(f"answers of {called} over {number} differ: {counts}")
            shown = {system: f"{1e3 * of[number]:.2f} ms" for system, of in measured["asking"].items()}
            progress(f"{called}, {number:,}: {shown}")
        return measured

    def _asked(self, queries: Mapping[str, str], window: int, kept: str) -> tuple[float, float, list[int]]:
        """Seconds to ask for one answer, seconds of a batch for one query, and rows of all answers."""
        history = 2 * window
        asking, upkeep, found = [], [], list[int]()
        with Session(InProcess()) as session:
            for seed, name in enumerate("RS", start=1):
                table = stream(history + (ASKED_AFTER + 1) * self.batch, seed)
                session.add_stream(name, table, history=history, batch=self.batch)
            registered = session.register_many(queries, results=kept)
            for batch in range(ASKED_AFTER + 1):
                before = processor_seconds_of_all()
                session.run(1)
                middle = processor_seconds_of_all()
                found = [len(query.result()) for query in registered.values()]
                after = processor_seconds_of_all()
                if batch:  # in the first one steps are planned, and files are opened
                    upkeep.append((middle - before) / len(queries))
                    asking.append((after - middle) / len(queries))
        return median(asking), median(upkeep), found

    def _rates(self, kept: str, options: Options, progress: StudyProgress) -> dict[int, float]:
        """Rows that can arrive in a second of a processor in a batch like most, by number of queries."""
        rates = {}
        window = min(self.windows)
        for number in self.queries:
            with Session(InProcess(), options=options) as session:
                rows = 2 * window + sum(RATED_BATCHES) * self.batch
                session.add_stream("R", stream(rows), history=2 * window, batch=self.batch)
                session.register_many(_texts(number, window, "interval", None), results=kept)
                early, rated = RATED_BATCHES
                session.run(early)
                seconds = []
                for _ in range(rated):
                    before = processor_seconds_of_all()
                    session.run(1)
                    seconds.append(processor_seconds_of_all() - before)
                rates[number] = self.batch / median(seconds)
            progress(f"{number} queries, {kept}, sharing={options.sharing}: {rates[number]:,.0f} rows a second")
        return rates

    def _redundant(self, meets: str, selected: str, progress: StudyProgress) -> dict[str, float]:
        """Seconds in which a new join over old rows is answered."""
        chosen, seconds = random.Random(13), dict[str, float]()
        value = chosen.randrange(32, PSOUP_VALUES - 32)
        sql = (
            f"SELECT R.a AS ra, S.b AS sb FROM R, S WHERE R.a > {PSOUP_VALUES - 4} AND R.c < 16 AND R.a {meets} S.b"
            f" AND S.b {selected} {value if selected == '=' else PSOUP_VALUES - 16}"
        )
        for called, options in JOINED.items():
            taken = []
            for _ in range(3):
                with Session(InProcess(), options=options) as session:
                    session.add_stream("R", stream(self.probed, 1), history=self.probed, batch=1)
                    session.add_stream("S", stream(self.probed, 2), history=self.probed, batch=1)
                    before = processor_seconds_of_all()
                    session.register(sql)
                    taken.append(processor_seconds_of_all() - before)
            seconds[called] = median(taken)
        progress(f"R.a {meets} S.b, S.b {selected}: {seconds}")
        return seconds


def stream(rows: int, seed: int = 1) -> pa.Table:
    """Rows of eight columns of whole numbers from 0 to 255."""
    rng = np.random.default_rng(seed)
    return pa.table({name: pa.array(rng.integers(0, PSOUP_VALUES, rows)) for name in PSOUP_COLUMNS})


def _constant(chosen: random.Random) -> int:
    """A multiple of 32 in one of five cases, else any value (PSoup 5.2.1)."""
    return 32 * chosen.randrange(8) if chosen.random() < 0.2 else chosen.randrange(PSOUP_VALUES)


def _texts(number: int, window: int, kind: str, predicates: int | None) -> dict[str, str]:
    """Selections of one to four predicates, or of a fixed number, on different columns over the last rows."""
    chosen, texts = random.Random(7), {}
    for i in range(number):
        tests = []
        for column in chosen.sample(PSOUP_COLUMNS, predicates or 1 + i % 4):
            value = _constant(chosen)
            top = value + chosen.randrange(1, PSOUP_VALUES)
            tests.append(f"{column} = {value}" if kind == "equality" else f"{column} BETWEEN {value} AND {top}")
        texts[f"q{i}"] = f"SELECT a, b FROM R WHERE {' AND '.join(tests)} BEGIN NOW - {window - 1} END NOW"
    return texts


def _joins(number: int, window: int) -> dict[str, str]:
    """Joins by one inequality over the last rows of both streams."""
    chosen = random.Random(7)
    return {
        f"q{i}": f"SELECT R.a, S.b FROM R, S WHERE R.a > S.b + {_constant(chosen)} BEGIN NOW - {window - 1} END NOW"
        for i in range(number)
    }
