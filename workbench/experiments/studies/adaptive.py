"""What re-planning between batches brings where the distribution of the rows turns half way (CACQ 4, T11.1.3).

A query joins clicks with orders, and these with refunds, and selects among clicks and refunds. In the first half few
clicks and most refunds are selected, in the second most clicks and few refunds: the join that was good to begin with
then makes most pairs. Persons and items come and go with the batches, so rows meet only rows of their time.

Three sessions take turns batch by batch: one that never re-plans, one that does so by itself, and one that joins in the
order of FROM, whose query is registered anew at the turn in the order that is better then: the best of fixed plans.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from statistics import median

import duckdb
import numpy as np
import pyarrow as pa

from workbench.experiments import runs
from workbench.experiments.peers.digests import check, digest
from workbench.experiments.report import Chart, Report, table, timing_summary
from workbench.experiments.runs import Progress
from workbench.options import Options
from workbench.session.session import Session

QUERY = "chain"
SQL = """
SELECT a.id AS click, b.id AS ordered, c.id AS refund
FROM {}
WHERE a.person = b.person AND b.item = c.item AND a.chosen = 1 AND c.chosen = 1
"""
FIRST, SECOND = (SQL.format(inputs) for inputs in ("clicks a, orders b, refunds c", "refunds c, orders b, clicks a"))
"""The query, its inputs in the order that is good in either half."""
NEVER, ADAPTIVE, BEST = "never", "adaptive", "by hand"
OPTIONS: Mapping[str, Options] = {
    NEVER: Options(), ADAPTIVE: Options(adaptive=True), BEST: Options(join_order=False)
}  # fmt: skip
FEW, MOST = 0.01, 0.6
"""The part of the clicks, or refunds, that is selected."""
END = 1 / 3
"""The part of a half that counts as its end, when what re-plans has done so."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the experiment."""
    parser.add_argument("--history", type=int, default=100_000, help="rows of each stream's history (default: 100000)")
    parser.add_argument("--batch", type=int, default=10_000, help="rows of each stream in a batch (default: 10000)")
    parser.add_argument("--batches", type=int, default=30, help="batches of each half (default: 30)")
    parser.add_argument("--keys", type=int, default=500, help="persons, and items, of a batch (default: 500)")


@dataclass
class Taken:
    """What one session took.

    Attributes:
        batches: seconds of each batch.
        between: seconds from batch to batch beside these: planning, and hydrating what is planned.
        replanned: the batches after which the network was another one.
    """

    batches: list[float] = field(default_factory=list)
    between: float = 0.0
    replanned: list[int] = field(default_factory=list)

    def first(self) -> float:
        """Median seconds of a batch before the turn, of those after the warm-up."""
        return median(self.batches[: self._turn][runs.WARM_UP :])

    def second(self) -> float:
        """Median seconds of a batch after the turn."""
        return median(self.batches[self._turn :])

    def end(self) -> float:
        """Median seconds of the last batches."""
        return median(self.batches[-max(1, round(END * self._turn)) :])

    @property
    def _turn(self) -> int:
        return len(self.batches) // 2


def report(chosen: argparse.Namespace, progress: Progress = print) -> Report:
    """Run the experiment."""
    rows = streams(chosen.history, chosen.batch, chosen.batches, chosen.keys)
    taken, checked = _measured(rows, chosen, progress)
    ratios = {
        f"{ADAPTIVE} / {other}": {
            "second half": taken[ADAPTIVE].second() / taken[other].second(),
            "its end": taken[ADAPTIVE].end() / taken[other].end(),
        }
        for other in (NEVER, BEST)
    }
    columns = ["planned", "first half, s", "second half, s", "its end, s", "between, s", "other network after batch"]
    lines = [
        [name, each.first(), each.second(), each.end(), each.between, ", ".join(map(str, each.replanned)) or None]
        for name, each in taken.items()
    ]
    title = (
        f"{chosen.batches} batches before and after the turn, {chosen.batch:,} rows of each of three streams after "
        f"{chosen.history:,}; medians of a batch; {checked} answers compared with DuckDB's"
    )
    of = [
        f"{name}: {', '.join(f'{part} {value:.2f}' for part, value in each.items())}" for name, each in ratios.items()
    ]
    figures = {
        "batch_seconds": {name: timing_summary(each.batches) for name, each in taken.items()},
        "between_seconds": {name: each.between for name, each in taken.items()},
        "replanned_after": {name: each.replanned for name, each in taken.items()},
        "ratios": ratios,
        "checked": checked,
    }
    series = {name: dict(enumerate(each.batches, start=1)) for name, each in taken.items()}
    chart = Chart("selections that swap half way", "batch", "seconds", series, log_y=False)
    return Report("adaptive", "\n".join([title, "", table(columns, lines), "", *of]), figures, (chart,))


def streams(history: int, batch: int, batches: int, keys: int) -> dict[str, pa.Table]:
    """The three streams, with a history like the first half.

    Args:
        history: rows of the history of each.
        batch: rows of a batch.
        batches: of each half.
        keys: how many persons and items there are in a batch.

    Example:
        >>> rows = streams(100, 50, 2, 10)
        >>> [sum(rows["clicks"]["chosen"].to_pylist()[part]) < 30 for part in (slice(0, 200), slice(200, 300))]
        [True, False]
    """
    random = np.random.default_rng(0)
    sizes = history + batches * batch, batches * batch
    ids = np.arange(sum(sizes))

    def stream(keyed: Sequence[str], parts: tuple[float, float]) -> pa.Table:
        chosen = random.random(len(ids)) < np.repeat(parts, sizes)
        values = {name: ids // batch * keys + random.integers(0, keys, len(ids)) for name in keyed}
        return pa.table({"id": ids, **values, "chosen": chosen.astype(np.int64)})

    return {
        "clicks": stream(["person"], (FEW, MOST)),
        "orders": stream(["person", "item"], (MOST, MOST)),
        "refunds": stream(["item"], (MOST, FEW)),
    }


def _measured(
    rows: Mapping[str, pa.Table], chosen: argparse.Namespace, progress: Progress
) -> tuple[dict[str, Taken], int]:
    """What each session took, and how many answers were equal to DuckDB's: after each half, of each session."""
    taken = {name: Taken() for name in OPTIONS}
    checked = 0
    with ExitStack() as stack:
        sessions = {name: stack.enter_context(Session(options=options)) for name, options in OPTIONS.items()}
        for session in sessions.values():
            for name, table_ in rows.items():
                session.add_stream(name, table_, history=chosen.history, batch=chosen.batch)
            session.register(FIRST, name=QUERY)
        for batch in range(1, 2 * chosen.batches + 1):
            for name, session in sessions.items():
                _run(session, taken[name], name == BEST and batch == chosen.batches)
            progress(f"batch {batch}: " + ", ".join(f"{name} {each.batches[-1]:.2f} s" for name, each in taken.items()))
            if batch in (chosen.batches, 2 * chosen.batches):
                expected = _expected(rows, chosen.history + batch * chosen.batch)
                for name, session in sessions.items():
                    checked += check(name, {QUERY: runs.digest(session.query(QUERY))}, expected)
    return taken, checked


def _run(session: Session, taken: Taken, anew: bool) -> None:
    """Run a batch; then register the query anew, if so it is wanted."""
    before, begun = set(session.network.edges), time.perf_counter()
    seconds = session.run(1)[0].seconds
    if anew:
        session.drop(QUERY)
        session.register(SECOND, name=QUERY)
    taken.batches.append(seconds)
    taken.between += time.perf_counter() - begun - seconds
    if set(session.network.edges) != before:
        taken.replanned.append(session.batch)


def _expected(rows: Mapping[str, pa.Table], arrived: int) -> dict[str, tuple[int, int]]:
    """The digest of DuckDB's answer over the rows that have arrived of each stream."""
    with duckdb.connect() as database:
        for name, table_ in rows.items():
            database.register(name, table_.slice(0, arrived))
        database.execute(f"CREATE TABLE answer AS SELECT * FROM ({FIRST}) AS t(c0, c1, c2)")
        return {QUERY: digest(database, "answer")}
