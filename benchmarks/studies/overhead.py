"""What ``Options(adaptive=True)`` costs where nothing drifts: a batch of a query set, with and without, in turns.

Two sessions have the same queries and rows. They take turns batch by batch, and who is first changes each time, so what
else the machine does falls on both.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import median

from workbench.experiments import reruns, runs
from workbench.experiments.comparison import OnQuerySets
from workbench.experiments.digests import check_digests
from workbench.experiments.report import text_table, timing_summary
from workbench.experiments.runs import WARM_UP, session_on
from workbench.experiments.study import Findings, StudyProgress, at_least_one, option
from workbench.experiments.workload import Workload, spread
from workbench.options import Options
from workbench.session.session import Session

ADAPTIVE, NEVER = "adaptive", "never"
SPEED_SETS = ("fed-manual", "med", "aggregate-fed", "aggregate-med")


@dataclass(frozen=True)
class Planning:
    """What both sessions took on one query set.

    Attributes:
        work: its rows and queries.
        seconds: from one batch to the next, planning included, by session.
        replanned: after how many batches the adaptive session had another network.
        checked: answers that were equal to DuckDB's.
    """

    work: Workload
    seconds: Mapping[str, Sequence[float]]
    replanned: Sequence[int]
    checked: int

    @property
    def overhead(self) -> float:
        """The median batch of the adaptive session beside that of the other."""
        return median(self.seconds[ADAPTIVE]) / median(self.seconds[NEVER])

    @property
    def overhead_in_all(self) -> float:
        """All batches of the adaptive session beside those of the other."""
        return sum(self.seconds[ADAPTIVE]) / sum(self.seconds[NEVER])


@dataclass(frozen=True)
class Overhead(OnQuerySets):
    """Both sessions on each query set."""

    name, needs = "adaptive-overhead", ("duckdb",)
    summary = "what re-planning by itself costs the sets of speed, where nothing drifts"

    sample: int = option(4, "queries that DuckDB runs", of=at_least_one)
    batches: int = option(30, "batches that are measured")

    def run(self, progress: StudyProgress) -> Findings:
        """Run it."""
        measured = [self._measured(name, progress) for name in self.sets or SPEED_SETS]
        columns = ["query set", "queries", NEVER, ADAPTIVE, "median / median", "all / all", "other network after batch"]
        rows: list[list[object]] = [
            [
                each.work.name,
                len(each.work.queries),
                *(median(each.seconds[name]) for name in (NEVER, ADAPTIVE)),
                each.overhead,
                each.overhead_in_all,
                ", ".join(map(str, each.replanned)) or None,
            ]
            for each in measured
        ]
        title = (
            f"seconds from batch to batch, {self.batches} of {self.batch:,} rows; "
            f"{sum(each.checked for each in measured)} answers compared with DuckDB's"
        )
        figures = {
            each.work.name: {
                "seconds": {name: timing_summary(seconds) for name, seconds in each.seconds.items()},
                "overhead": each.overhead,
                "overhead_in_all": each.overhead_in_all,
                "replanned_after": each.replanned,
                "checked": each.checked,
            }
            for each in measured
        }
        return "\n\n".join([title, text_table(columns, rows)]), figures, ()

    def _measured(self, name: str, progress: StudyProgress) -> Planning:
        """Both sessions on one query set; answers of a sample are compared at the end."""
        needed = WARM_UP + self.batches
        work = self.workload(name, needed)
        sample = spread(work.queries, self.sample)
        seconds: dict[str, list[float]] = {NEVER: [], ADAPTIVE: []}
        replanned = []
        with ExitStack() as stack:
            sessions = {
                each: stack.enter_context(session_on(work, Options(adaptive=each == ADAPTIVE))) for each in seconds
            }
            for each, session in sessions.items():
                runs.register_queries(session, work)
                progress(f"{name}, {each}: {len(work.queries)} queries registered")
            for batch in range(needed):
                edges = set(sessions[ADAPTIVE].network.edges)
                for each in list(sessions)[:: 1 if batch % 2 else -1]:
                    seconds[each].append(_seconds_of_batch(sessions[each]))
                if set(sessions[ADAPTIVE].network.edges) != edges:
                    replanned.append(batch + 1)
                progress(
                    f"{name}, batch {batch + 1}: " + ", ".join(f"{who} {s[-1]:.2f} s" for who, s in seconds.items())
                )
            known = reruns.in_duckdb(work, sample, work.table.num_rows, self.patience)
            checked = sum(
                check_digests(
                    each, {query.name: runs.run_digest(session.query(query.name)) for query in sample}, known.digests
                )
                for each, session in sessions.items()
            )
        return Planning(work, {each: taken[WARM_UP:] for each, taken in seconds.items()}, replanned, checked)


def _seconds_of_batch(session: Session) -> float:
    """Until the session could take the next batch, planning anew included."""
    begun = time.perf_counter()
    session.run(1)
    return time.perf_counter() - begun
