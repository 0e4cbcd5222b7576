"""Isolation: a function that raised disables the queries that call it, and nothing else (design 3.4)."""

from __future__ import annotations

from contextlib import AbstractContextManager

from workbench.engine.functions import UserFunctions
from workbench.recovery.store import Store
from workbench.sql.expressions import shown_function
from workbench.steps import Steps, callers


class Failing:
    """Disables the queries of a session whose functions raised.

    Args:
        store: the session's state.
        steps: what disables queries.
        functions: the analyst's functions, which remember what they raised.
        lock: of the session's operations.
    """

    def __init__(
        self, store: Store, steps: Steps, functions: UserFunctions, lock: AbstractContextManager[object]
    ) -> None:
        self._store = store
        self._steps = steps
        self._functions = functions
        self._lock = lock

    def disable(self) -> None:
        """Disable the queries whose functions have raised since the last call."""
        if problems := self._functions.new_problems():
            with self._lock:
                self._disable(problems)

    def _disable(self, problems: dict[str, str]) -> None:
        network, reasons = self._store.state.network, dict[str, str]()
        for function, problem in problems.items():
            reason = f"function {shown_function(function)} raised {problem}"
            reasons.update(dict.fromkeys(callers(network, function), reason))
        if reasons and self._store.home.read_only is not None:
            self._store.disable(reasons)
        elif reasons:
            with self._store.changing() as change:
                change.state = self._steps.disable(change.state, reasons)
