"""Isolation: a function that failed disables the queries that call it, a check its query, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager

from workbench.engine.answers import Answers
from workbench.engine.engine import Engine
from workbench.engine.fetching import fetch_count
from workbench.engine.spark.user_functions.functions import UserFunctions
from workbench.network.network import checked_query
from workbench.session.changes import StateStore
from workbench.session.state import State
from workbench.session.transitions import Runtime, callers, disable
from workbench.sql.algebra.expressions import shown_function
from workbench.sql.checks import SEVERAL_ROWS


class FunctionFailures:
    """Disables the queries of a session whose functions failed.

    Args:
        store: the session's state.
        runtime: what transitions work with.
        functions: the analyst's functions, which collect what went wrong.
        lock: of the session's operations.
    """

    def __init__(
        self, store: StateStore, runtime: Runtime, functions: UserFunctions, lock: AbstractContextManager[object]
    ) -> None:
        self._store = store
        self._runtime = runtime
        self._functions = functions
        self._lock = lock

    def disable(self) -> None:
        """Disable the queries whose functions have failed; when this returns, all of them are."""
        if problems := self._functions.problems:
            with self._lock:
                self._disable(problems)
                # Not before: another thread that has read such an answer must not find that there is nothing to do.
                self._functions.forget(problems)

    def without_failed(self, state: State) -> State:
        """The state, the queries disabled whose functions or checks have failed; belongs inside the change.

        A value that was computed from a call that failed is never committed as a query's answer.
        """
        reasons = _reasons(state, self._functions.problems) | _violated(self._runtime.engine, state)
        return disable(self._runtime, state, reasons) if reasons else state

    def _disable(self, problems: Mapping[str, str]) -> None:
        reasons = _reasons(self._store.state, problems)
        if reasons and self._store.directory.read_only is not None:
            self._store.disable(reasons)
        elif reasons:
            with self._store.changing() as change:
                change.state = disable(self._runtime, change.state, reasons)


def _reasons(state: State, problems: Mapping[str, str]) -> dict[str, str]:
    """Why queries that run cannot go on, by their names."""
    return {
        query: f"function {shown_function(function)} {problem}"
        for function, problem in problems.items()
        for query in callers(state, function)
    }


def _violated(engine: Engine, state: State) -> dict[str, str]:
    """Which queries have a check that has rows, in the state that is about to be committed."""
    rows, clock = engine.state.by_root, engine.state.clock
    return {
        query: SEVERAL_ROWS
        for name, plan in state.network.queries.items()
        if (query := checked_query(name)) != name
        and fetch_count(Answers(plan, rows[plan.read.root], state.batch, clock, engine.spark))
    }
