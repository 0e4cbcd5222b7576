"""Suspending queries and letting them go on: by the analyst, or by live running where rows come too fast.

Its methods stand behind those of ``Session``, which document arguments and errors.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from workbench.errors import QueryError
from workbench.session import transitions
from workbench.session.parts import Parts
from workbench.session.state import ACTIVE, QueryRecord


class Suspension:
    """Suspends queries of a session, lets them go on, and keeps their priorities.

    Args:
        parts: of the session.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def suspend(self, names: Collection[str], by_load: bool = False) -> None:
        """Let batches pass over these queries; see ``Session.suspend``. ``by_load``: until there is time again."""
        with self._parts.exclusively(), self._parts.store.changing() as change:
            for name in names:
                _check_active(change.state.query(name))
            change.state = transitions.suspend(change.state, names, by_load)

    def resume(self, names: Collection[str] | None = None) -> None:
        """Let these queries go on, or all; see ``Session.resume``."""
        suspended = {name for name, query in self._parts.store.state.queries.items() if query.suspended is not None}
        going = suspended if names is None else suspended & set(names)
        if not going:
            return
        with self._parts.exclusively(), self._parts.store.changing() as change:
            change.state = transitions.resume(self._parts.runtime, change.state, going)
            change.state = self._parts.failures.without_failed(change.state)
        self._parts.failures.disable()

    def prioritize(self, name: str, priority: int) -> None:
        """Give a query a priority; see ``Session.prioritize``."""
        with self._parts.exclusively(), self._parts.store.changing() as change:
            record = replace(change.state.query(name), priority=priority)
            change.state = replace(change.state, queries={**change.state.queries, record.name: record})


def _check_active(query: QueryRecord) -> None:
    if query.status != ACTIVE:
        raise QueryError(f"query {query.name} does not run: {query.status}", hint="register it again under any name")
