"""Suspending and resuming queries: by the analyst, or by live running where rows come too fast."""

from __future__ import annotations

from collections.abc import Collection

from workbench.session import transitions
from workbench.session.changes import StateStore
from workbench.session.failures.functions import FunctionFailures
from workbench.session.state import check_active
from workbench.session.transitions import Runtime


class Suspension:
    """Suspends and resumes queries of a session.

    Args:
        store: the session's state.
        runtime: what transitions work with.
        failures: disables queries.
    """

    def __init__(self, store: StateStore, runtime: Runtime, failures: FunctionFailures) -> None:
        self._store, self._runtime, self._failures = store, runtime, failures

    def suspend(self, names: Collection[str], by_load: bool = False) -> None:
        """Let batches pass over these queries; ``by_load``: until there is time again.

        Raises:
            QueryError: one of them is not there, or does not run.
        """
        with self._store.changing() as change:
            for name in names:
                query = change.state.query(name)
                check_active(query, query.status)
            change.state = transitions.suspend(change.state, names, by_load)

    def resume(self, names: Collection[str] | None = None) -> None:
        """Resume these queries, or all, if they are suspended."""
        suspended = {name for name, query in self._store.state.queries.items() if query.suspended is not None}
        if going := suspended if names is None else suspended & set(names):
            with self._failures.changing() as change:
                change.state = transitions.resume(self._runtime, change.state, going)
