"""The gain of re-planning between batches where the distribution of the rows drifts, and its cost where it stays.

A query joins clicks with orders, and these with refunds, and selects among clicks and refunds. At first few clicks and
most refunds are selected. After a drift, most clicks and few refunds are: then the join that was good makes most pairs.
Persons and items change from batch to batch, so rows join only rows of about their time. The drift is sudden, slow or
an oscillation, or there is none (CACQ 4, T11.1.3).

Three sessions take turns batch by batch: one never re-plans, one re-plans by itself, and one joins in the order of
FROM. The query of the third one is registered again in each phase, in the better order: it is the best of fixed plans.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from operator import truediv
from statistics import median

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from workbench.experiments import runs
from workbench.experiments.digests import answer_digest, check_digests, connect
from workbench.experiments.report import Chart, text_table
from workbench.experiments.study import Findings, Study, StudyProgress, option
from workbench.options import Options
from workbench.session.session import Session

_QUERY = "chain"
SQL = """
SELECT a.id AS click, b.id AS ordered, c.id AS refund
FROM {}
WHERE a.person = b.person AND b.item = c.item AND a.chosen = 1 AND c.chosen = 1
"""
FIRST, SECOND = (SQL.format(inputs) for inputs in ("clicks a, orders b, refunds c", "refunds c, orders b, clicks a"))
"""The query, with its inputs in the order that is better before the drift, and after it."""
NEVER, ADAPTIVE, BEST = "never", "adaptive", "by hand"
_OPTIONS: Mapping[str, Options] = {
    NEVER: Options(), ADAPTIVE: Options(adaptive=True), BEST: Options(join_order=False)
}  # fmt: skip
FEW, MOST = 0.01, 0.6
"""The share of the clicks, or refunds, that is selected."""
SETTLED = 5
"""Batches of a phase after which a session that re-plans by itself should have done so."""
SWINGS = 6
"""Phases of the oscillation."""

DRIFTS: Mapping[str, Callable[[float], float]] = {
    "stationary": lambda at: 0.0,
    "sudden": lambda at: float(at >= 1 / 2),
    "slow": lambda at: min(max(2 * at - 1 / 2, 0.0), 1.0),
    "oscillation": lambda at: float(int(SWINGS * at) % 2),
}
"""How far rows have drifted, from 0 to 1, by the share of the batches that were before."""


@dataclass
class Taken:
    """The times of one session.

    Attributes:
        batches: seconds of each batch.
        between: seconds between the batches, for planning and hydration.
        replanned: the batches after which the network had changed.
    """

    batches: list[float] = field(default_factory=list)
    between: float = 0.0
    replanned: list[int] = field(default_factory=list)

    @property
    def total(self) -> float:
        """Seconds in all."""
        return sum(self.batches) + self.between


@dataclass(frozen=True)
class MeasuredDrift:
    """The times of all sessions for one drift.

    Attributes:
        starts: the number of batches before each phase.
        taken: by session.
        checked: answers that were equal to DuckDB's.
    """

    starts: Sequence[int]
    taken: Mapping[str, Taken]
    checked: int

    def settled(self, name: str) -> list[float]:
        """Median seconds of a session's batches in each phase, without the first ``SETTLED`` batches."""
        batches = self.taken[name].batches
        phases = (batches[start:end] for start, end in pairwise([*self.starts, len(batches)]))
        return [median(phase[min(SETTLED, len(phase) - 1) :]) for phase in phases]

    def ratios(self) -> dict[str, float]:
        """The ratios of the session that re-plans by itself to the others: in its worst or best phase, and in all."""
        adaptive, total = self.settled(ADAPTIVE), self.taken[ADAPTIVE].total
        return {
            f"{ADAPTIVE} / {BEST}, worst phase": max(map(truediv, adaptive, self.settled(BEST))),
            f"{NEVER} / {ADAPTIVE}, best phase": max(map(truediv, self.settled(NEVER), adaptive)),
            **{f"{ADAPTIVE} / {name}, with planning": total / self.taken[name].total for name in (NEVER, BEST)},
        }


@dataclass(frozen=True)
class Adaptive(Study):
    """Re-planning with and without drift."""

    name = "adaptive"
    summary = "re-planning while rows drift or do not: never, by itself, by hand (CACQ 4)"

    history: int = option(100_000, "rows of each stream's history")
    batch: int = option(10_000, "rows of each stream in a batch")
    batches: int = option(60, "batches of each drift")
    keys: int = option(500, "persons, and items, of a batch")
    drift: tuple[str, ...] = option((*DRIFTS,), "the drifts to measure", choices=DRIFTS)

    def run(self, progress: StudyProgress) -> Findings:
        """Run it."""
        measured = {drift: self._drifted(drift, progress) for drift in self.drift}
        title = (
            f"{self.batches} batches of each drift, {self.batch:,} rows of each of three streams after "
            f"{self.history:,}; {sum(each.checked for each in measured.values())} answers compared with DuckDB's"
        )
        figures = {drift: {**asdict(each), "ratios": each.ratios()} for drift, each in measured.items()}
        texts = [title, *(_text(drift, each) for drift, each in measured.items())]
        charts = []
        for drift, each in measured.items():
            series = {name: dict(enumerate(taken.batches, start=1)) for name, taken in each.taken.items()}
            charts.append(Chart(f"drift: {drift}", "batch", "seconds", series, log_y=False))
        return "\n\n".join(texts), figures, charts

    def _drifted(self, drift: str, progress: StudyProgress) -> MeasuredDrift:
        """The times of all sessions for a drift; answers are compared with DuckDB's half way and at the end."""
        parts = drifted(drift, self.batches)
        starts = phases(parts)
        rows = streams(self.history, self.batch, parts, self.keys)
        taken = {name: Taken() for name in _OPTIONS}
        checked = 0
        with ExitStack() as stack:
            sessions = {name: stack.enter_context(Session(options=options)) for name, options in _OPTIONS.items()}
            for session in sessions.values():
                for name, table_ in rows.items():
                    session.add_stream(name, table_, history=self.history, batch=self.batch)
                session.register(FIRST, name=_QUERY)
            for batch in range(1, self.batches + 1):
                for name, session in sessions.items():
                    anew = name == BEST and batch in starts
                    _run(session, taken[name], (SECOND if _second_is_better(parts[batch]) else FIRST) if anew else None)
                times = ", ".join(f"{name} {each.batches[-1]:.2f} s" for name, each in taken.items())
                progress(f"{drift}, batch {batch}: {times}")
                if batch in (self.batches // 2, self.batches):
                    expected = _expected(rows, self.history + batch * self.batch)
                    for name, session in sessions.items():
                        checked += check_digests(
                            f"{drift}, {name}", {_QUERY: runs.run_digest(session.query(_QUERY))}, expected
                        )
        return MeasuredDrift(starts, taken, checked)


def drifted(drift: str, batches: int) -> list[float]:
    """How far rows have drifted in each batch.

    Example:
        >>> drifted("slow", 8), phases(drifted("slow", 8))
        ([0.0, 0.0, 0.0, 0.25, 0.5, 0.75, 1.0, 1.0], [0, 4])
    """
    return [DRIFTS[drift](batch / batches) for batch in range(batches)]


def phases(parts: Sequence[float]) -> list[int]:
    """The number of batches before each phase, in which one of the two orders is the better one."""
    return [
        0,
        *(
            batch
            for batch, (old, new) in enumerate(pairwise(parts), start=1)
            if _second_is_better(old) != _second_is_better(new)
        ),
    ]


def streams(history: int, batch: int, parts: Sequence[float], keys: int) -> dict[str, pa.Table]:
    """The three streams, with a history of rows before the drift.

    Args:
        history: rows of the history of each.
        batch: rows of a batch.
        parts: how far the rows of each batch have drifted.
        keys: how many persons and items there are in a batch.

    Example:
        >>> rows = streams(100, 50, [0.0, 0.0, 1.0, 1.0], 10)
        >>> [sum(rows["clicks"]["chosen"].to_pylist()[part]) < 30 for part in (slice(0, 200), slice(200, 300))]
        [True, False]
    """
    random = np.random.default_rng(0)
    drifted_row = np.repeat([0.0, *parts], [history, *[batch] * len(parts)])
    ids = np.arange(len(drifted_row))

    def stream(keyed: Sequence[str], part: NDArray[np.float64]) -> pa.Table:
        values = {name: ids // batch * keys + random.integers(0, keys, len(ids)) for name in keyed}
        return pa.table({"id": ids, **values, "chosen": (random.random(len(ids)) < part).astype(np.int64)})

    return {
        "clicks": stream(["person"], FEW + drifted_row * (MOST - FEW)),
        "orders": stream(["person", "item"], np.full(len(ids), MOST)),
        "refunds": stream(["item"], MOST - drifted_row * (MOST - FEW)),
    }


def _second_is_better(part: float) -> bool:
    """Whether the second order is the better one for rows that have drifted so far."""
    return part >= 1 / 2


def _text(drift: str, measured: MeasuredDrift) -> str:
    columns = ["planned", "settled in each phase, s", "all batches, s", "between, s", "other network after batch"]
    lines: list[list[object]] = []
    for name, taken in measured.taken.items():
        settled, replanned = (
            ", ".join(f"{s:.2f}" for s in measured.settled(name)),
            ", ".join(map(str, taken.replanned)),
        )
        lines.append([name, settled, sum(taken.batches), taken.between, replanned or None])
    ratios = [f"{name}: {ratio:.2f}" for name, ratio in measured.ratios().items()]
    return "\n".join([f"{drift}:", text_table(columns, lines), *ratios])


def _run(session: Session, taken: Taken, anew: str | None) -> None:
    """Run a batch, and then register the query again, if a text is given."""
    before, begun = set(session.network.edges), time.perf_counter()
    seconds = session.run(1)[0].seconds
    if anew is not None:
        session.drop(_QUERY)
        # Statistics are of old rows, with few persons and items: by them the join would have too many pairs.
        session.register(anew, name=_QUERY, force=True)
    taken.batches.append(seconds)
    taken.between += time.perf_counter() - begun - seconds
    if set(session.network.edges) != before:
        taken.replanned.append(session.batch)


def _expected(rows: Mapping[str, pa.Table], arrived: int) -> dict[str, tuple[int, int]]:
    """The digest of DuckDB's answer over the rows that have arrived of each stream."""
    with connect() as database:
        for name, table_ in rows.items():
            database.register(name, table_.slice(0, arrived))
        database.execute(f"CREATE TABLE answer AS SELECT * FROM ({FIRST}) AS t(c0, c1, c2)")
        return {_QUERY: answer_digest(database, "answer")}
