"""When a session re-optimises its network by itself: after batches, with hysteresis and within a budget.

A network that is planned anew must be cheaper by a margin, save what hydrating it takes within the batches for which
what is observed is expected to last (``forecast``), and do so each time it is looked at in a row: what swings is left
alone. Looking and hydrating together may take a share of the time that batches take.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field

from workbench.errors import EngineError
from workbench.limits import LIMITS, Limits
from workbench.session import transitions
from workbench.session.changes import StateStore
from workbench.session.failures.functions import FunctionFailures
from workbench.session.learning.forecast import Forecast, Persistence
from workbench.session.learning.reoptimizing import Accept, Reoptimization
from workbench.session.transitions import Runtime

REPLAN_PATIENCE = 2
"""Looks in a row that must agree."""


@dataclass
class Hysteresis:
    """Says after which batches to look, and when to act.

    Example:
        >>> patient, other = Hysteresis(), Forecast(100, 80, hydration=0.5, saving=0.2)
        >>> [patient.is_due(1.0) for _ in range(3)], patient.acts(other), patient.acts(other)
        ([False, False, True], False, True)
    """

    limits: Limits = LIMITS
    batches: int = 0
    allowed: float = 0.0
    in_a_row: int = 0
    persistence: Persistence = field(default_factory=Persistence)

    def is_due(self, seconds: float) -> bool:
        """Whether to look after another batch that took so long."""
        self.batches += 1
        self.allowed += seconds * self.limits.percent_looking / 100
        return self.batches >= self.limits.batches_between_looks and self.allowed > 0

    def acts(self, forecast: Forecast) -> bool:
        """Whether a look's result is a reason to change the network."""
        self.persistence.observe(self.batches, self._is_cheaper(forecast))
        self.batches = 0
        self.in_a_row = self.in_a_row + 1 if self.pays(forecast) else 0
        return self.in_a_row >= REPLAN_PATIENCE

    def pays(self, forecast: Forecast) -> bool:
        """Whether another network is worth its hydration, for as long as the observations are expected to hold."""
        return self._is_cheaper(forecast) and forecast.pays_within(self.persistence.horizon)

    def _is_cheaper(self, forecast: Forecast) -> bool:
        return forecast.cheaper(self.limits.percent_replanned / 100)

    def spent(self, seconds: float) -> None:
        """Take the seconds of a look, and of its re-planning, off the allowance."""
        self.allowed -= seconds


class Reoptimizer:
    """Plans the network of a session again, on request and after batches.

    Args:
        store: the session's state.
        runtime: what transitions work with.
        failures: disables queries.
    """

    def __init__(self, store: StateStore, runtime: Runtime, failures: FunctionFailures) -> None:
        self._store, self._runtime, self._failures = store, runtime, failures
        self._hysteresis = Hysteresis(runtime.engine.jobs.limits)

    def look(self) -> Reoptimization:
        """The outcome of planning again now; the network is not changed."""
        with self._store.exclusively():
            return transitions.reoptimize(self._runtime, self._store.state, lambda forecast: False)[1]

    def act(self, accept: Accept) -> Reoptimization:
        """Plan again, and keep the new network if ``accept`` says so."""
        with self._failures.changing() as change:
            change.state, outcome = transitions.reoptimize(self._runtime, change.state, accept)
        if outcome.applied:
            self._hysteresis.persistence.replanned()
        return outcome

    def after_batch(self, seconds: float) -> Reoptimization | None:
        """Re-plan after a batch, where that saves time and ``Options.adaptive`` allows it; else ``None``.

        The batch is committed before. So an error is only warned of, and the network stays as it is.
        """
        if not self._runtime.planner.options.adaptive or not self._hysteresis.is_due(seconds):
            return None
        begun = time.perf_counter()
        try:
            with self._store.exclusively():
                seen = self.look()
                return self.act(self._hysteresis.pays) if self._hysteresis.acts(seen.forecast) else None
        except EngineError as error:
            warnings.warn(f"the network was not re-optimised: {error.message}", stacklevel=2)
            return None
        finally:
            self._hysteresis.spent(time.perf_counter() - begun)
