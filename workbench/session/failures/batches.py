"""Isolation: a query that takes all memory in a batch is found and disabled, and the batch goes on without it.

A task that runs out of memory fails its job. A JVM that runs out of it, or that the system ends for it, takes all jobs
along. Neither says which of the queries it was: they share operators. So the batch is computed without some of them,
and undone, until one is left without which it succeeds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from workbench.engine.operators.too_much_work import TooMuchWork
from workbench.engine.reports import BatchReport
from workbench.engine.spark.failures import OutOfMemory, SparkDied
from workbench.errors import EngineError
from workbench.network.network import checked_query
from workbench.session import transitions
from workbench.session.changes import StateStore
from workbench.session.events import log_batch, log_problem
from workbench.session.failures.functions import FunctionFailures
from workbench.session.state import State
from workbench.session.transitions import Runtime

Compute = Callable[[State], tuple[State, BatchReport]]
"""Computes a batch from the state before; it may be called again and again."""


class _Rehearsed(Exception):
    """The batch succeeded, and is undone."""


class Batches:
    """Computes and commits the batches of a session, also when one of its queries fails.

    Args:
        store: the session's state.
        runtime: what transitions work with.
        failures: disables queries.
    """

    def __init__(self, store: StateStore, runtime: Runtime, failures: FunctionFailures) -> None:
        self._store, self._runtime, self._failures = store, runtime, failures

    def commit(self, compute: Compute) -> BatchReport:
        """Compute a batch and commit it; queries that keep it from succeeding are disabled.

        What fails for want of memory is computed once more before a query is blamed: another program may have taken
        the memory, or ended the JVM.

        Raises:
            SparkDied, OutOfMemory: it fails without any query, too.
            EngineError, CatalogError: it could not be evaluated or kept.
        """
        failed = False
        while True:  # each time but one fewer queries are left
            try:
                with self._failures.changing(f"batch {self._store.last.batch + 1} was being computed") as change:
                    change.state, report = compute(change.state)
                log_batch(report)
                return report
            except TooMuchWork as problem:
                self._failures.disable_readers(problem.root, problem.reason)
            except (SparkDied, OutOfMemory) as problem:
                if failed:
                    self._disable_guilty(compute, problem)
                failed = True

    def _disable_guilty(self, compute: Compute, problem: EngineError) -> None:
        number, state = self._store.last.batch + 1, self._store.last
        running = [*dict.fromkeys(map(checked_query, state.network.queries))]
        # The newest first: a query that has gone on for many batches is the last to be it.
        suspects = [name for name in reversed(running) if state.queries[name].suspended is None]
        log_problem("a query takes all memory", batch=number, why=problem.message, suspects=suspects)
        if not suspects or not self._succeeds_without(suspects, compute):
            raise problem
        guilty = find_guilty(suspects, lambda names: self._succeeds_without(names, compute))
        how = "Spark's JVM died of" if isinstance(problem, SparkDied) else "memory ran out for"
        reason = f"{how} batch {number} twice, and not without this query"
        self._failures.disable_named({guilty: reason})

    def _succeeds_without(self, names: Collection[str], compute: Compute) -> bool:
        """Whether a batch succeeds without some queries; nothing of it stays."""
        try:
            with self._store.changing() as change:
                compute(transitions.without(self._runtime, change.state, names))
                raise _Rehearsed
        except (SparkDied, OutOfMemory):
            return False
        except (_Rehearsed, TooMuchWork):
            return True


def find_guilty(suspects: Sequence[str], succeeds_without: Callable[[Sequence[str]], bool]) -> str:
    """One of some suspects that makes their common work fail, found by halving.

    Args:
        suspects: at least one; without all of them it succeeds.
        succeeds_without: whether it succeeds without some of them.

    Example:
        >>> find_guilty("abcdefgh", lambda names: "f" in names)
        'f'
    """
    out: list[str] = []  # without these it fails, and without these and the suspects it succeeds
    while len(suspects) > 1:
        half = suspects[: len(suspects) // 2]
        if succeeds_without([*out, *half]):
            suspects = half
        else:
            out, suspects = [*out, *half], suspects[len(half) :]
    return suspects[0]
