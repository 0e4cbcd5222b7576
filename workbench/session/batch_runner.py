"""The batches of a session: how they are run, one after the other or as rows come, and run anew.

Its methods stand behind those of ``Session``, which document arguments and errors. Other operations of the session may
come between two batches.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from workbench.engine.reports import BatchReport
from workbench.errors import QueryError
from workbench.session import transitions
from workbench.session.events import log_batch
from workbench.session.learning.adapting import Reoptimizer
from workbench.session.live.live_run import LiveRun
from workbench.session.live.suspension import Suspension
from workbench.session.parts import Parts
from workbench.streams.cut import BatchCut

CAUGHT_UP = 50_000
"""Rows of a stream that a batch takes at most of those that were left out."""
OnReport = Callable[[BatchReport], None] | None


class BatchRunner:
    """Runs the batches of a session.

    Args:
        parts: of the session.
        suspension: of its queries.

    Attributes:
        reoptimizer: plans the network anew after a batch, where the session's options say so.
    """

    def __init__(self, parts: Parts, suspension: Suspension) -> None:
        self._parts, self._suspension = parts, suspension
        self.reoptimizer = Reoptimizer(parts)

    def run(self, batches: int, on_report: OnReport, profile: bool) -> list[BatchReport]:
        """Let batches arrive, until the streams' end at most; see ``Session.run``."""
        if batches < 0:
            raise QueryError(f"cannot run {batches} batches", hint="give a number of batches, 0 or more")
        self._parts.directory.check_writable()
        reports: list[BatchReport] = []
        for _ in range(batches):
            with self._parts.lock:
                self._parts.live.take_in(self._parts.store.state.streams)
            if all(stream.finished for stream in self._parts.store.state.streams.values()):
                break
            reports.append(self._run_batch(None, profile))
            if on_report is not None:
                on_report(reports[-1])
        return reports

    def live(self, latency: float) -> LiveRun:
        """Batches as rows come, one at a time.

        Args:
            latency: seconds that a batch may take.
        """
        self._parts.directory.check_writable()
        return LiveRun(self._parts, lambda sizes: self._run_batch(sizes, False), self._suspension, latency)

    def run_live(self, latency: float, until: float | None, on_report: OnReport) -> list[BatchReport]:
        """Let rows arrive as they come; see ``Session.run_live``.

        Args:
            latency: seconds that a batch may take.
            until: seconds to run; ``None``: until all live sources have ended.
            on_report: called with the report of every batch.
        """
        ends = None if until is None else time.monotonic() + until
        live, reports = self.live(latency), list[BatchReport]()
        while ends is None or time.monotonic() < ends:
            if live.ready():
                reports.append(live.step())
                if on_report is not None:
                    on_report(reports[-1])
            elif live.ended:
                break
            else:
                time.sleep(live.pause)
        return reports

    def catch_up(self, on_report: OnReport) -> list[BatchReport]:
        """Let rows arrive that were left out, and suspended queries go on; see ``Session.catch_up``."""
        self._parts.directory.check_writable()
        self._suspension.resume([q.name for q in self._parts.store.state.queries.values() if q.by_load])
        reports: list[BatchReport] = []
        while gaps := [name for name, stream in self._parts.store.state.streams.items() if stream.gaps]:
            reports.append(self._run_batch({name: BatchCut(caught_up=CAUGHT_UP) for name in gaps}, False))
            if on_report is not None:
                on_report(reports[-1])
        return reports

    def seek(self, batch: int, on_report: OnReport) -> None:
        """Go back to what was after a batch; see ``Session.seek``. It belongs inside ``Parts.exclusively``."""
        last = self._parts.store.state.batch
        if not 0 <= batch <= last:
            raise QueryError(f"cannot go back to batch {batch}", hint=f"the last batch that was run is {last}")

        def sought() -> None:
            with self._parts.store.changing(f"it went back to batch {batch}") as change:
                change.state = transitions.seek(self._parts.runtime, change.state, batch, on_report)
                change.state = self._parts.failures.without_failed(change.state)

        self._parts.store.once_more(sought)
        self._parts.failures.disable()

    def _run_batch(self, sizes: Mapping[str, int | BatchCut] | None, profile: bool) -> BatchReport:
        runtime = self._parts.runtime
        report = self._parts.batches.commit(lambda state: transitions.run(runtime, state, sizes, profile))
        with self._parts.lock:
            self._parts.integrity.after_batch()
        log_batch(report)
        self.reoptimizer.after_batch(report.seconds)
        return report
