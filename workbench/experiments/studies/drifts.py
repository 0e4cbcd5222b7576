"""The gain of re-planning between batches where the distribution of the rows drifts, and its cost where it stays.

A query joins clicks with orders, and these with refunds, and selects among clicks and refunds. To begin with few clicks
and most refunds are selected. Where that turns, most clicks and few refunds are: the join that was good then makes most
pairs. Persons and items come and go with the batches, so rows meet only rows of their time. Rows turn all at once,
slowly, or to and fro, or they stay as they are (CACQ 4, T11.1.3).

Three sessions take turns batch by batch: one that never re-plans, one that does so by itself, and one that joins in the
order of FROM, whose query is registered anew at each turn in the order that is better then: the best of fixed plans.
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
"""The query, its inputs in the order that is good before rows have turned, and after."""
NEVER, ADAPTIVE, BEST = "never", "adaptive", "by hand"
_OPTIONS: Mapping[str, Options] = {
    NEVER: Options(), ADAPTIVE: Options(adaptive=True), BEST: Options(join_order=False)
}  # fmt: skip
FEW, MOST = 0.01, 0.6
"""The part of the clicks, or refunds, that is selected."""
SETTLED = 5
"""Batches of a phase after which what re-plans by itself should have done so."""
SWINGS = 6
"""Phases of the oscillation."""

DRIFTS: Mapping[str, Callable[[float], float]] = {
    "stationary": lambda at: 0.0,
    "sudden": lambda at: float(at >= 1 / 2),
    "slow": lambda at: min(max(2 * at - 1 / 2, 0.0), 1.0),
    "oscillation": lambda at: float(int(SWINGS * at) % 2),
}
"""How far rows have turned, from 0 to 1, by the part of the batches that were before."""


@dataclass
class Taken:
    """The times of one session.

    Attributes:
        batches: seconds of each batch.
        between: seconds from batch to batch beside these: planning, and hydrating what is planned.
        replanned: the batches after which the network was another one.
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
        """Median seconds of a session's batches in each phase, of those after it should have settled."""
        batches = self.taken[name].batches
        phases = (batches[start:end] for start, end in pairwise([*self.starts, len(batches)]))
        return [median(phase[min(SETTLED, len(phase) - 1) :]) for phase in phases]

    def ratios(self) -> dict[str, float]:
        """How re-planning by itself compares with the others: in its worst or best phase, and in all."""
        adaptive, total = self.settled(ADAPTIVE), self.taken[ADAPTIVE].total
        return {
            f"{ADAPTIVE} / {BEST}, worst phase": max(map(truediv, adaptive, self.settled(BEST))),
            f"{NEVER} / {ADAPTIVE}, best phase": max(map(truediv, self.settled(NEVER), adaptive)),
            **{f"{ADAPTIVE} / {name}, with planning": total / self.taken[name].total for name in (NEVER, BEST)},
        }


@dataclass(frozen=True)
class Adaptive(Study):
    """Re-planning while rows drift, and while they do not."""

    name = "adaptive"
    summary = "rows that drift or do not: never re-planned, by itself, by hand (CACQ 4)"

    history: int = option(100_000, "rows of each stream's history")
    batch: int = option(10_000, "rows of each stream in a batch")
    batches: int = option(60, "batches of each drift")
    keys: int = option(500, "persons, and items, of a batch")
    drift: tuple[str, ...] = option((*DRIFTS,), "how rows turn, each in its turn", choices=DRIFTS)

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
            charts.append(Chart(f"rows that turn: {drift}", "batch", "seconds", series, log_y=False))
        return "\n\n".join(texts), figures, charts

    def _drifted(self, drift: str, progress: StudyProgress) -> MeasuredDrift:
        """What each session took of a drift; answers are compared with DuckDB's half way and at the end."""
        parts = turned(drift, self.batches)
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
                    _run(session, taken[name], (SECOND if _turns(parts[batch]) else FIRST) if anew else None)
                times = ", ".join(f"{name} {each.batches[-1]:.2f} s" for name, each in taken.items())
                progress(f"{drift}, batch {batch}: {times}")
                if batch in (self.batches // 2, self.batches):
                    expected = _expected(rows, self.history + batch * self.batch)
                    for name, session in sessions.items():
                        checked += check_digests(
                            f"{drift}, {name}", {_QUERY: runs.run_digest(session.query(_QUERY))}, expected
                        )
        return MeasuredDrift(starts, taken, checked)


def turned(drift: str, batches: int) -> list[float]:
    """How far rows have turned in each batch.

    Example:
        >>> turned("slow", 8), phases(turned("slow", 8))
        ([0.0, 0.0, 0.0, 0.25, 0.5, 0.75, 1.0, 1.0], [0, 4])
    """
    return [DRIFTS[drift](batch / batches) for batch in range(batches)]


def phases(parts: Sequence[float]) -> list[int]:
    """The number of batches before each phase, in which one of the two orders is the better one."""
    return [0, *(batch for batch, (old, new) in enumerate(pairwise(parts), start=1) if _turns(old) != _turns(new))]


def streams(history: int, batch: int, parts: Sequence[float], keys: int) -> dict[str, pa.Table]:
    """The three streams, with a history of rows that have not turned.

    Args:
        history: rows of the history of each.
        batch: rows of a batch.
        parts: how far the rows of each batch have turned.
        keys: how many persons and items there are in a batch.

    Example:
        >>> rows = streams(100, 50, [0.0, 0.0, 1.0, 1.0], 10)
        >>> [sum(rows["clicks"]["chosen"].to_pylist()[part]) < 30 for part in (slice(0, 200), slice(200, 300))]
        [True, False]
    """
    random = np.random.default_rng(0)
    turned_row = np.repeat([0.0, *parts], [history, *[batch] * len(parts)])
    ids = np.arange(len(turned_row))

    def stream(keyed: Sequence[str], part: NDArray[np.float64]) -> pa.Table:
        values = {name: ids // batch * keys + random.integers(0, keys, len(ids)) for name in keyed}
        return pa.table({"id": ids, **values, "chosen": (random.random(len(ids)) < part).astype(np.int64)})

    return {
        "clicks": stream(["person"], FEW + turned_row * (MOST - FEW)),
        "orders": stream(["person", "item"], np.full(len(ids), MOST)),
        "refunds": stream(["item"], MOST - turned_row * (MOST - FEW)),
    }


def _turns(part: float) -> bool:
    """Whether the second order is the better one where rows have turned so far."""
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
    """Run a batch; then register the query anew, if so it is wanted."""
    before, begun = set(session.network.edges), time.perf_counter()
    seconds = session.run(1)[0].seconds
    if anew is not None:
        session.drop(_QUERY)
        # Statistics are of old rows, whose persons and items are few: by them the join looks at too many pairs.
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
