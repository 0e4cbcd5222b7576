"""The batches of a session: how they are run, one after the other or as rows come, and run anew.

Other operations of the session may come between two batches.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Mapping
from datetime import timedelta

from workbench.engine.reports import BatchReport
from workbench.errors import QueryError
from workbench.errors.public_api import translate_callback_errors
from workbench.limits import Limits
from workbench.network.nodes import NodeId
from workbench.optimizer.hydration_cost import hydration_work, predicted_seconds
from workbench.session import transitions
from workbench.session.changes import StateStore
from workbench.session.failures.batches import Batches
from workbench.session.failures.functions import FunctionFailures
from workbench.session.integrity_checks import IntegrityChecks
from workbench.session.learning.adapting import Reoptimizer
from workbench.session.live.batch_size import seconds_of
from workbench.session.live.live_run import LiveRun
from workbench.session.live.sources import LiveSources
from workbench.session.live.suspension import Suspension
from workbench.session.requests import Requests
from workbench.session.state import State
from workbench.session.transitions import Runtime
from workbench.streams.cut import BatchCut
from workbench.streams.whole_transactions import ready


class SessionBatches:
    """The methods of a session that run its batches.

    Args:
        store: the session's state.
        runtime: what transitions work with.
        failures: disables queries.
        batches: commits batches.
        live: reads live sources.
        suspension: of the queries.
        reoptimizer: plans the network anew after a batch, where the session's options say so.
        integrity: verifies files as batches run.
        requests: of followers, which are answered between batches.
    """

    def __init__(
        self,
        store: StateStore,
        runtime: Runtime,
        failures: FunctionFailures,
        batches: Batches,
        live: LiveSources,
        suspension: Suspension,
        reoptimizer: Reoptimizer,
        integrity: IntegrityChecks,
        requests: Requests,
    ) -> None:
        self._store, self._runtime, self._failures, self._batches = store, runtime, failures, batches
        self._live, self._suspension, self._reoptimizer, self._integrity = live, suspension, reoptimizer, integrity
        self._requests = requests

    def run(
        self, batches: int = 1, progress: Callable[[BatchReport], None] | None = None, profile: bool = False
    ) -> list[BatchReport]:
        """Let batches arrive: each takes the next rows of every stream. Fewer reports than asked at the streams' end.

        Args:
            batches: how many.
            progress: called with the report of every batch that was run.
            profile: whether to measure also what each node costs alone; see ``BatchReport.node``. That takes as long
                as all nodes one after the other, and is no part of the batch's own time.

        Raises:
            EngineError, CatalogError: a batch could not be evaluated or kept; it has not arrived then, and running
                again tries it again.
            SessionError: the session is read-only.
        """
        if batches < 0:
            raise QueryError(f"cannot run {batches} batches", hint="give a number of batches, 0 or more")
        self._store.directory.check_writable()
        told, reports = translate_callback_errors("progress", progress), list[BatchReport]()
        for _ in range(batches):
            with self._store.exclusively():
                self._live.take_in(self._store.state.streams)
            if not any(ready(self._store.state.streams).values()):
                break
            reports.append(self._run_batch(None, profile))
            told(reports[-1])
        return reports

    def run_live(
        self,
        latency: str | float | timedelta = "1s",
        until: float | str | timedelta | None = None,
        progress: Callable[[BatchReport], None] | None = None,
    ) -> list[BatchReport]:
        """Let rows arrive as they come, in batches as large as keep the latency; when none come, wait for them.

        Rows that come faster than they can be answered for wait in the stream's log, or where they come from.

        Args:
            latency: what a batch may take, from its rows to the answers.
            until: how long to run; ``None``: until all live sources have ended, or it is interrupted.
            progress: called with the report of every batch.

        Raises:
            QueryError: the latency or ``until`` is no length of time.
            EngineError, CatalogError, SessionError: as ``run``.

        Example:
            >>> session.run_live(latency="500ms", until="10 minutes")  # doctest: +SKIP
        """
        told = translate_callback_errors("progress", progress)
        live, reports = self.live(latency), list[BatchReport]()
        ends = math.inf if until is None else time.monotonic() + seconds_of(until, "until")
        while time.monotonic() < ends:
            if live.ready():
                reports.append(live.step())
                told(reports[-1])
            elif live.ended:
                break
            else:
                time.sleep(live.pause)
        return reports

    def live(self, latency: str | float | timedelta = "1s") -> LiveRun:
        """Batches as rows come, one at a time: what ``run_live`` and the player do.

        Args:
            latency: as ``run_live``.

        Raises:
            QueryError: it is no length of time.
            SessionError: the session is read-only.
        """
        seconds = seconds_of(latency, "latency")
        self._store.directory.check_writable()
        return LiveRun(self._store, self._live, self._suspension, self._run_batch, seconds, self._limits)

    @property
    def _limits(self) -> Limits:
        return self._runtime.engine.jobs.limits

    def catch_up(self, progress: Callable[[BatchReport], None] | None = None) -> list[BatchReport]:
        """Let the rows arrive that were left out, in batches of their own; the answers are exact again then.

        Queries that live running has suspended are resumed first.

        What follows the order of rows in the stream (FIRST, LAST) follows the order in which batches took them.

        Args:
            progress: called with the report of every batch.

        Raises:
            EngineError, CatalogError, SessionError: as ``run``.
        """
        self._store.directory.check_writable()
        told, reports = translate_callback_errors("progress", progress), list[BatchReport]()
        self._suspension.resume([q.name for q in self._store.state.queries.values() if q.by_load])
        while gaps := [name for name, stream in self._store.state.streams.items() if stream.gaps]:
            reports.append(
                self._run_batch({name: BatchCut(caught_up=self._limits.rows_caught_up_together) for name in gaps})
            )
            told(reports[-1])
        return reports

    def seek(self, batch: int, progress: Callable[[BatchReport], None] | None = None) -> None:
        """Go back to the state after a batch: all present queries then answer as they did, or would have done.

        The latest states are kept, and some of earlier batches. From the nearest one before, or else from the history,
        the same rows arrive in the same batches; ``back_in`` says how long that takes.

        Args:
            batch: 0 for the history alone, at most the last batch that was run.
            progress: called with the report of every batch that was run again.

        Raises:
            QueryError: that batch was not run yet.
            EngineError: Spark could not evaluate the history or a batch; nothing has changed then.
        """
        told = translate_callback_errors("progress", progress)

        def sought() -> None:
            with self._failures.changing(f"it went back to batch {batch}") as change:
                kept = self._store.kept.nearest(change.state, batch)
                change.state = transitions.seek(self._runtime, change.state, batch, kept, told)

        with self._store.exclusively():
            self._checked_batch(batch)
            self._store.once_more(sought)

    def back_in(self, batch: int) -> tuple[int, float]:
        """How many batches going back to a batch runs again, and about how many seconds it takes, with the hydration of
        what is not kept of that time: all from the history on, or queries that were registered later.

        Raises:
            QueryError: that batch was not run yet.

        Example:
            >>> session.back_in(3)  # doctest: +SKIP
            (0, 0.0)
        """
        with self._store.exclusively():
            state = self._checked_batch(batch)
            kept = self._store.kept.nearest(state, batch)
            again = state.reports[0 if kept is None else kept.batch : batch]
            return len(again), sum(report.seconds for report in again) + self._hydrating(state, kept)

    def _hydrating(self, state: State, kept: State | None) -> float:
        """About how many seconds it takes to hydrate the operators that a kept state has not; ``None``: all of them."""
        known: Collection[NodeId] = () if kept is None else kept.engine.by_root
        roots = [tree.plan.roots for tree in state.engine.trees.values()]
        missing = [each for each in roots if not all(root in known for root in each)]
        work = hydration_work(self._runtime.planner.estimates, state.network.nodes, missing)
        return predicted_seconds(state.hydrations, work) if missing else 0.0

    def _checked_batch(self, batch: int) -> State:
        state = self._store.state
        if not 0 <= batch <= state.batch:
            hint = f"the last batch that was run is {state.batch}"
            raise QueryError(f"cannot go back to batch {batch}", hint=hint)
        return state

    def interrupt(self) -> None:
        """Stop what another thread is computing: a batch, a registration, going back. It is undone as a whole.

        An interrupt of the main thread (Ctrl-C, or the notebook's stop button) does the same to what that computes.
        """
        self._runtime.engine.interrupts.interrupt()

    def _run_batch(self, sizes: Mapping[str, int | BatchCut] | None, profile: bool = False) -> BatchReport:
        self._requests.answer()
        report = self._batches.commit(lambda state: transitions.run(self._runtime, state, sizes, profile))
        self._integrity.after_batch()
        self._reoptimizer.after_batch(report.seconds)
        return report
