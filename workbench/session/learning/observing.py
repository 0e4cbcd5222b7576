"""Observations of batches: the rows and ratios that the planner learns, and the errors of its estimates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pandas as pd

from workbench.engine.averages import averages, averages_since_turns
from workbench.engine.reports import BatchReport
from workbench.network.network import Network
from workbench.network.nodes import Join, NodeId
from workbench.optimizer.cardinality import Estimates
from workbench.optimizer.observed import NOTHING, Observed
from workbench.optimizer.statistics import StreamStatistics
from workbench.session.state import State

_COLUMNS = ["node", "kind", "inputs", "predicted", "learnt", "actual", "q_predicted", "q_learnt", "seconds"]


@dataclass
class Observer:
    """Computes observations from the reports of a session, and caches those of the last batch."""

    _report: BatchReport | None = field(default=None, repr=False)
    _observed: Observed = NOTHING

    def observed(self, state: State) -> Observed:
        """The observations of the last batches."""
        last = state.reports[-1] if state.reports else None
        if last is not self._report:
            self._report, self._observed = last, observed(state)
        return self._observed


def observed(state: State, before: int | None = None) -> Observed:
    """The observations of a session's network.

    Args:
        state: of the session.
        before: only batches before this one count; ``None``: all.
    """
    reports = [report for report in state.reports if before is None or report.batch < before]
    mean = averages_since_turns(reports)
    return Observed(state.network.nodes, mean.node_rows, mean.arrived, _arrived(state)) if reports else NOTHING


def present_statistics(state: State) -> Mapping[str, StreamStatistics]:
    """Statistics of all streams, computed again for streams that have grown much; the same object where none has."""
    known = state.statistics
    grown = [s for s in state.streams.values() if (old := known.get(s.name.lower())) and s.counted_rows != old.rows]
    return {**known, **{stream.name.lower(): stream.statistics() for stream in grown}} if grown else known


def predictions(state: State) -> pd.DataFrame:
    """The expected and the actual rows of the last batch, for the nodes of a network.

    Returns:
        One row a node: ``node, kind, inputs`` (leaves below it), ``predicted`` (rows, from statistics of the streams
        alone), ``learnt`` (from what the batches before showed), ``actual``, the q-errors of both, which are
        max(estimate / actual, actual / estimate) of at least one row each, and ``seconds`` of its operator, on average.
        Nodes above aggregates, windows and corrected streams are left out: how many of their rows change is not
        estimated.
    """
    rows = list[list[object]]()
    if state.reports:
        last, nodes, learnt = state.reports[-1], state.network.nodes, observed(state, before=state.batch)
        arriving = {name.lower(): float(number) for name, number in last.arrived.items()}
        now = Observed(arriving=arriving, arrived=_arrived(state))
        plain = Estimates(state.statistics, nodes, now)
        better = Estimates(state.statistics, nodes, replace(now, nodes=learnt.nodes, changes=learnt.changes))
        seconds = averages(state.reports).seconds
        for operator in last.operators:
            for node in (nodes[id_] for id_ in operator.nodes if id_ in nodes):
                predicted, learned = plain.changes(node), better.changes(node)
                if predicted is None or learned is None:
                    continue
                actual = operator.node_rows.get(node.id, 0)
                errors = q_error(predicted, actual), q_error(learned, actual)
                inputs = _leaves(state.network, node.id)
                rows.append([node.id, node.kind, inputs, predicted, learned, actual, *errors, seconds[operator.name]])
    return pd.DataFrame(rows, columns=_COLUMNS)


def q_error(estimate: float, actual: float) -> float:
    """How many times too high or too low an estimate was (G. Moerkotte et al., VLDB 2009); less than a row is one row.

    Example:
        >>> q_error(20, 5), q_error(5, 20), q_error(0.1, 0)
        (4.0, 4.0, 1.0)
    """
    high, low = max(estimate, actual, 1.0), max(min(estimate, actual), 1.0)
    return high / low


def _arrived(state: State) -> dict[str, int]:
    """Rows of each stream so far."""
    return {name.lower(): stream.position for name, stream in state.streams.items()}


def _leaves(network: Network, node: NodeId) -> int:
    """How many inputs are joined in a node's rows."""
    root = network.nodes[network.roots[node]]
    return root.leaves if isinstance(root, Join) else 1
