"""Does the order of registration matter to a batch (T11.1.2)? Queries come one at a time, over rows that are there.

Each order at random has a session of its own, and one session has all queries registered together. All take turns at
each batch, as their networks came to be, and again once each was planned anew by ``Session.reoptimize``.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from statistics import median

from workbench.experiments import comparison, runs
from workbench.experiments.peers import reruns
from workbench.experiments.peers.digests import check
from workbench.experiments.report import Report, table, timing_summary
from workbench.experiments.runs import WARM_UP, Progress, session_on
from workbench.experiments.studies.planning.order import SEED
from workbench.experiments.workload import SETS, Workload, spread, workload
from workbench.session.session import Session

TOGETHER = "together"


@dataclass(frozen=True)
class Measured:
    """The networks of all sessions as they came to be, or planned anew.

    Attributes:
        spent: seconds to register all queries, or to plan anew and compute what is new, by session.
        sizes: weighted size of the network (T10.4.4).
        batches: seconds of each batch.
    """

    spent: Mapping[str, float]
    sizes: Mapping[str, int]
    batches: Mapping[str, Sequence[float]]

    def seconds(self, name: str) -> float:
        """Median seconds of a batch."""
        return median(self.batches[name])

    def ratio(self, name: str) -> float:
        """A batch beside one of the session with all queries registered together."""
        return self.seconds(name) / self.seconds(TOGETHER)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the experiment."""
    parser.add_argument("--set", choices=SETS, default="fed-manual", help="default: fed-manual")
    parser.add_argument("--orders", type=int, default=3, metavar="N", help="orders at random (default: 3)")
    comparison.add_set_arguments(parser, sample=4)


def report(chosen: argparse.Namespace, progress: Progress = print) -> Report:
    """Run the experiment."""
    batches = WARM_UP + chosen.batches
    work = workload(chosen.set, batches=2 * batches, history=chosen.history, batch=chosen.batch, queries=chosen.queries)
    with ExitStack() as stack:
        names = [TOGETHER, *(f"order {number}" for number in range(1, chosen.orders + 1))]
        sessions = {name: stack.enter_context(session_on(work)) for name in names}
        spent = {TOGETHER: _timed(partial(_register_together, sessions[TOGETHER], work))}
        for number, name in enumerate(names[1:], start=1):
            spent[name] = _timed(partial(_register_shuffled, sessions[name], work, number))
            progress(f"{name}: {len(work.queries)} queries registered in {spent[name]:.1f} s")
        came = _measured(sessions, spent, batches, progress)
        spent = {name: _timed(session.reoptimize) for name, session in sessions.items()}
        anew = _measured(sessions, spent, batches, progress)
        sample = spread(work.queries, chosen.sample)
        known = reruns.in_duckdb(work, sample, work.table.num_rows, chosen.patience).digests
        checked = sum(
            check(name, {query.name: runs.digest(session.query(query.name)) for query in sample}, known)
            for name, session in sessions.items()
        )
    title = f"{work.name}, {len(work.queries)} queries one at a time; {checked} answers compared with DuckDB's"
    texts = [title, _text("as it came to be", "registered, s", came), _text("planned anew", "planned, s", anew)]
    figures = {"as_it_came_to_be": _as_json(came), "planned_anew": _as_json(anew), "checked": checked}
    return Report(f"order-batches-{work.name}", "\n\n".join(texts), figures)


def _register_together(session: Session, work: Workload) -> None:
    session.register_many({query.name: query.sql for query in work.queries}, dialect=work.queries[0].dialect)


def _register_shuffled(session: Session, work: Workload, order: int) -> None:
    """One at a time, in an order at random: for one number the same as in the experiment ``order``."""
    queries = list(work.queries)
    random.Random(SEED + order).shuffle(queries)
    for query in queries:
        session.register(query.sql, name=query.name, dialect=query.dialect)


def _measured(
    sessions: Mapping[str, Session], spent: Mapping[str, float], batches: int, progress: Progress
) -> Measured:
    """All sessions take turns at some batches; those to warm up are left out."""
    taken: dict[str, list[float]] = {name: [] for name in sessions}
    for batch in range(batches):
        for name in _turned(sessions, batch):
            taken[name].append(sessions[name].run(1)[0].seconds)
        progress(f"batch {batch + 1}: " + ", ".join(f"{name} {seconds[-1]:.2f} s" for name, seconds in taken.items()))
    sizes = {name: session.network.weighted_size() for name, session in sessions.items()}
    return Measured(spent, sizes, {name: seconds[WARM_UP:] for name, seconds in taken.items()})


def _turned(names: Iterable[str], batch: int) -> list[str]:
    """The names, of which another one comes first at each batch."""
    all_ = list(names)
    first = batch % len(all_)
    return all_[first:] + all_[:first]


def _timed(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def _text(title: str, spent: str, measured: Measured) -> str:
    columns = [title, spent, "size", "batch, s", f"/ {TOGETHER}"]
    rows: list[list[object]] = [
        [name, seconds, measured.sizes[name], measured.seconds(name), measured.ratio(name)]
        for name, seconds in measured.spent.items()
    ]
    return table(columns, rows)


def _as_json(measured: Measured) -> dict[str, object]:
    return {
        name: {
            "spent_seconds": seconds,
            "size": measured.sizes[name],
            "batch_seconds": timing_summary(measured.batches[name]),
            "ratio": measured.ratio(name),
        }
        for name, seconds in measured.spent.items()
    }
