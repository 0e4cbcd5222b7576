"""PSoup's figures (PSoup 5.2): answers of windowed queries that are kept complete, without their window, or not at all.

Response time over the size of the window, of selections (Figure 7) and of joins by an inequality (Figure 8), and over
the number of predicates (Table 2); and the rate at which rows can arrive over the number of queries (Figure 9). Values
are uniform in 0 … 255 as in the paper, and windows count rows.
The paper's systems are PSoup-C (``eager``), PSoup-P (``lazy``) and NoMat (``off``). Its figures are in milliseconds of
an engine in one process; a request to Spark takes some of them by itself, so what compares is how they grow.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Mapping, Sequence, Sized
from statistics import median

import numpy as np
import pyarrow as pa

from workbench.experiments.report import Chart, Report, table
from workbench.experiments.runs import Progress
from workbench.options import Options
from workbench.session.session import Session
from workbench.session.state import RESULTS

COLUMNS = "abcdefgh"
VALUES = 256
WINDOWS = (1_000, 10_000, 50_000, 100_000)
JOINED = (100, 300, 1_000)
"""Rows of the windows of joins, whose pairs are a share of the square."""
PREDICATES = (1, 2, 4)
QUERIES = (10, 50, 200)
ASKED = 5
"""Times that every answer is asked for; the median counts."""
SYSTEMS = {"eager": "PSoup-C", "lazy": "PSoup-P", "off": "NoMat"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the experiment."""
    parser.add_argument("--history", type=int, default=200_000, help="rows that are there")
    parser.add_argument("--batch", type=int, default=4_000, help="rows that arrive at a time")
    parser.add_argument("--windows", type=int, nargs="+", default=list(WINDOWS), help="rows of a window")
    parser.add_argument("--joined", type=int, nargs="+", default=list(JOINED), help="rows of the windows of joins")
    parser.add_argument("--queries", type=int, nargs="+", default=list(QUERIES), help="numbers of queries")


def report(chosen: argparse.Namespace, progress: Progress) -> Report:
    """Run it."""
    rows = stream(chosen.history + 10 * chosen.batch)
    sizes = {f"{kind}, {n:,} rows": (n, kind, 1) for kind in ("equality", "interval") for n in chosen.windows}
    middle = chosen.windows[len(chosen.windows) // 2]
    several = {f"{n} intervals": (middle, "interval", n) for n in PREDICATES}
    asked = {name: text(random.Random(7), *parameters) for name, parameters in {**sizes, **several}.items()}
    asked |= {_join_name(n): join_text(random.Random(7), n) for n in chosen.joined}
    answers = _answered(asked, rows, chosen, progress)
    rates = {kept: _rates(kept, rows, chosen, progress) for kept in ("lazy", "eager")}
    unshared = _rates("lazy", rows, chosen, progress, Options(sharing=False), at_most=50)
    texts = [
        "milliseconds until an answer is there",
        table(
            ["query", *SYSTEMS.values()],
            [[n, *(1e3 * t for t in by_system.values())] for n, by_system in answers.items()],
        ),
        "\nrows that could arrive in a second",
        table(
            ["queries", "PSoup-C", "PSoup-P", "PSoup-P unshared"],
            [[n, rates["eager"][n], rates["lazy"][n], unshared.get(n)] for n in chosen.queries],
        ),
    ]
    charts = [
        *(
            Chart(f"response time, one {k}", "rows of the window", "seconds", _by_size(answers, sizes, k), log_x=True)
            for k in ("equality", "interval")
        ),
        Chart(
            "response time, one join", "rows of the windows", "seconds",
            {name: {n: answers[_join_name(n)][kept] for n in chosen.joined} for kept, name in SYSTEMS.items()},
            log_x=True,
        ),
        Chart(
            "arrival rate", "queries", "rows a second",
            {"PSoup-C": rates["eager"], "PSoup-P": rates["lazy"], "PSoup-P unshared": unshared}, log_x=True,
        ),
    ]  # fmt: skip
    figures = {"seconds": answers, "rows a second": {**rates, "lazy, unshared": unshared}}
    return Report("psoup", "\n".join(texts), figures, charts)


def stream(rows: int, seed: int = 1) -> pa.Table:
    """Rows of eight columns of whole numbers from 0 to 255."""
    rng = np.random.default_rng(seed)
    return pa.table({name: pa.array(rng.integers(0, VALUES, rows)) for name in COLUMNS})


def text(chosen: random.Random, window: int, kind: str, predicates: int) -> str:
    """A query of PSoup's: boolean factors on different columns, over the last rows."""
    tests = []
    for column in chosen.sample(COLUMNS, predicates):
        value = 32 * chosen.randrange(8) if chosen.random() < 0.2 else chosen.randrange(VALUES)
        width = chosen.randrange(1, VALUES)
        tests.append(f"{column} = {value}" if kind == "equality" else f"{column} BETWEEN {value} AND {value + width}")
    return f"SELECT a, b FROM R WHERE {' AND '.join(tests)} BEGIN NOW - {window - 1} END NOW"


def join_text(chosen: random.Random, window: int) -> str:
    """A join of PSoup's: one boolean factor between two streams, over the last rows of each."""
    return f"SELECT R.a, S.b FROM R, S WHERE R.a > S.b + {chosen.randrange(VALUES)} BEGIN NOW - {window - 1} END NOW"


def _join_name(window: int) -> str:
    return f"join, {window:,} rows"


def _answered(
    asked: Mapping[str, str], rows: pa.Table, chosen: argparse.Namespace, progress: Progress
) -> dict[str, dict[str, float]]:
    """Seconds until an answer is there, by query and by how it is kept; answers must agree."""
    answers: dict[str, dict[str, float]] = {name: {} for name in asked}
    with Session() as session:
        session.add_stream("R", rows, history=chosen.history, batch=chosen.batch)
        session.add_stream("S", stream(rows.num_rows, seed=2), history=chosen.history, batch=chosen.batch)
        counts: dict[str, int] = {}
        for kept in SYSTEMS:
            queries = session.register_many({f"{name}, {kept}": sql for name, sql in asked.items()}, results=kept)
            if kept == next(iter(SYSTEMS)):
                session.run(1)
            for name in asked:
                seconds, count = _timed(queries[f"{name}, {kept}"].result)
                answers[name][kept] = seconds
                if counts.setdefault(name, count) != count:
                    raise AssertionError(f"{name}: {count} rows where it is kept {kept}, and {counts[name]} elsewhere")
                progress(f"{name}, {kept}: {1e3 * seconds:.0f} ms")
    return answers


def _timed(ask: Callable[[], Sized]) -> tuple[float, int]:
    seconds, count = [], 0
    for _ in range(ASKED):
        started = time.perf_counter()
        count = len(ask())
        seconds.append(time.perf_counter() - started)
    return median(seconds), count


def _rates(
    kept: str,
    rows: pa.Table,
    chosen: argparse.Namespace,
    progress: Progress,
    options: Options | None = None,
    at_most: int | None = None,
) -> dict[int, float]:
    """Rows that could arrive in a second, by number of queries."""
    assert kept in RESULTS
    rates = {}
    for number in (n for n in chosen.queries if at_most is None or n <= at_most):
        picked = random.Random(11)
        texts = {f"q{i}": text(picked, min(chosen.windows), "interval", 1 + i % 4) for i in range(number)}
        with Session(options=options) as session:
            session.add_stream("R", rows, history=chosen.history, batch=chosen.batch)
            session.register_many(texts, results=kept)
            rates[number] = chosen.batch / median(report.seconds for report in session.run(6)[2:])
        alone = "" if options is None else ", unshared"
        progress(f"{number} queries, {kept}{alone}: {rates[number]:,.0f} rows a second")
    return rates


def _by_size(
    answers: dict[str, dict[str, float]], sizes: dict[str, tuple[int, str, int]], kind: str
) -> dict[str, dict[int, float]]:
    names: Sequence[str] = [name for name, (_, k, _) in sizes.items() if k == kind]
    return {SYSTEMS[kept]: {sizes[name][0]: answers[name][kept] for name in names} for kept in SYSTEMS}
