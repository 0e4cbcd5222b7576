"""Isolation: a function that failed disables the queries that call it, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from workbench.engine.spark.user_functions.functions import UserFunctions
from workbench.network.nodes import NodeId
from workbench.session.changes import Change, StateStore
from workbench.session.failures.checks import violated
from workbench.session.state import State
from workbench.session.transitions import Runtime, callers, disable
from workbench.sql.algebra.expressions import shown_function


class FunctionFailures:
    """Disables the queries of a session whose functions failed.

    Args:
        store: the session's state.
        runtime: what transitions work with.
        functions: the analyst's functions, which collect what went wrong.
    """

    def __init__(self, store: StateStore, runtime: Runtime, functions: UserFunctions) -> None:
        self._store = store
        self._runtime = runtime
        self._functions = functions

    def disable(self) -> None:
        """Disable the queries whose functions have failed; when this returns, all of them are."""
        if problems := self._functions.problems:
            with self._store.exclusively():
                self._disable(problems)
                # Not before: another thread that has read such an answer must not find that there is nothing to do.
                self._functions.forget(problems)

    def disable_named(self, reasons: Mapping[str, str]) -> None:
        """Disable queries, each for a reason; in a session that only reads, in this process alone."""
        if self._store.directory.read_only is not None:
            self._store.disable(reasons)
            return
        with self._store.changing() as change:
            change.state = disable(self._runtime, change.state, reasons)

    def disable_readers(self, root: NodeId, reason: str) -> None:
        """Disable the queries that are computed from a root, whose work in a batch would not end."""
        with self._store.exclusively():
            self.disable_named(dict.fromkeys(self._store.last.network.served[root], reason))

    @contextmanager
    def changing(self, doing: str = "") -> Iterator[Change]:
        """A change as ``StateStore.changing`` makes it, at whose end the queries are disabled that it makes fail.

        A value that was computed from a call that failed is never committed as a query's answer.
        """
        self.disable()  # what failed before is no fault of this change
        with self._store.changing(doing) as change:
            yield change
            failed = violated(self._runtime.engine, change.state, self._store.last)
            if reasons := _reasons(change.state, self._functions.problems) | failed:
                change.state = disable(self._runtime, change.state, reasons)

    def _disable(self, problems: Mapping[str, str]) -> None:
        if reasons := _reasons(self._store.state, problems):
            self.disable_named(reasons)


def _reasons(state: State, problems: Mapping[str, str]) -> dict[str, str]:
    """Why active queries cannot go on, by query name."""
    return {
        query: f"function {shown_function(function)} {problem}"
        for function, problem in problems.items()
        for query in callers(state, function)
    }
