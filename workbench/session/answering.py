"""Questions that are answered one after the other, in a network that grows beside what a session keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from workbench.engine.answers import Answers
from workbench.engine.engine import Engine
from workbench.engine.storage.changelog import since_hydration
from workbench.network.network import Network
from workbench.optimizer.join_cost import costliest_new_join
from workbench.sharing.planner import Planner
from workbench.sql.logical import LogicalQuery


class _ManyRowsError(Exception):
    """More rows would have to be read than the limit: the plan is undone."""


class Answering:
    """Answers queries of one's own; what was computed for queries is there for those that are asked later.

    Args:
        planner: plans them; its catalog has the network.
        engine: an engine apart, with what is known of the network at first.
        network: what is known at first.
        batch: the last batch that was run.
    """

    def __init__(self, planner: Planner, engine: Engine, network: Network, batch: int) -> None:
        self._planner, self._engine, self._network, self._batch = planner, engine, network, batch
        self._asked = 0

    def pairs_of(self, asked: LogicalQuery) -> float:
        """The pairs of rows that the costliest join of a query would look at, estimated; nothing is computed."""
        with self._planner.catalog.rehearsal():
            network = self._planner.register(self._network, "question", asked).network
        costliest = costliest_new_join(self._planner.estimates, self._network, network)
        return 0 if costliest is None else costliest.pairs

    def answers(self, asked: Sequence[LogicalQuery]) -> list[Answers]:
        """The answers of some queries.

        Raises:
            EngineError: Spark could not evaluate them.
        """
        names, network = self._planned(asked)
        if names:
            with self._engine.interrupts.stoppable():
                self._engine.adopt(network, self._batch)
        return self._answers(names, network)

    def answers_of_few(self, asked: Sequence[LogicalQuery]) -> list[Answers] | None:
        """The answers of some queries, if they can be found in few stored rows; else ``None``.

        Raises:
            EngineError: Spark could not evaluate them.
        """
        if not self._engine.state.trees:
            return None
        most = self._engine.runner.limits.rows_asked_directly
        try:
            with self._planner.catalog.transaction():
                names, network = self._planned(asked)
                with self._engine.interrupts.stoppable():
                    if not self._engine.adopt_of_few(network, self._batch, most):
                        raise _ManyRowsError
        except _ManyRowsError:
            return None
        return self._answers(names, network)

    def _planned(self, asked: Sequence[LogicalQuery]) -> tuple[list[str], Network]:
        network, names = self._network, []
        for logical in asked:
            self._asked += 1
            names.append(f"question {self._asked}")
            network = self._planner.register(network, names[-1], logical).network
        return names, network

    def _answers(self, names: Sequence[str], network: Network) -> list[Answers]:
        self._network, state = network, self._engine.state
        limits = self._engine.runner.limits
        plans = [network.queries[name] for name in names]
        found = [Answers(plan, state.by_root[plan.read.root], 0, state.clock, limits) for plan in plans]
        # What is asked later has the bits of rows from the last hydration on, and all their batches nevertheless.
        return [replace(one, tree=replace(one.tree, log=since_hydration(one.tree.log))) for one in found]
