"""Re-optimisation: the network as it would be if its queries were registered now, with what batches have shown.

It is one change like a registration: trees that are new are hydrated beside those that run, and the commit exchanges
them. Whatever moment the process dies, the session has the one network or the other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from workbench.explain.describe import NetworkView
from workbench.explain.text import counted, listed, short
from workbench.network.network import Network, check_number, checked_query
from workbench.network.nodes import NodeId
from workbench.network.view_names import ViewNames
from workbench.network.wording import Wording
from workbench.optimizer.hydration_cost import hydration_work, predicted_seconds
from workbench.optimizer.network_cost import batch_cost
from workbench.session.learning.forecast import Forecast, forecast
from workbench.session.learning.replan import Asked, Replanned, replan
from workbench.session.state import EAGER, QueryRecord, State
from workbench.sharing.decisions import Explanation
from workbench.sharing.planner import Planner

_LISTED = 20
"""Trees that come or go that are listed."""


@dataclass(frozen=True)
class Reoptimization:
    """The changes of re-planning a network, done or predicted.

    Attributes:
        batch: the last batch that was run.
        applied: whether it was done.
        forecast: what the other network is predicted to cost and to save.
        size_before, size_after: weighted sizes of the two (T10.4.4).
        moved: queries that are computed otherwise.
        stayed: queries that stay where they are, since their rows may be retracted.
        removed, added: what each tree that goes, or comes, computes, by the id of its root.
    """

    batch: int
    applied: bool
    forecast: Forecast
    size_before: int
    size_after: int
    moved: tuple[str, ...]
    stayed: tuple[str, ...]
    removed: Mapping[NodeId, str]
    added: Mapping[NodeId, str]

    def __str__(self) -> str:
        if not self.moved:
            return f"after batch {self.batch}: planned anew, every query is computed as it is"
        before, after = self.forecast.cost_before, self.forecast.cost_after
        gain = (1 - after / before) if before else 0.0
        lines = [
            f"after batch {self.batch}: {counted(len(self.moved), 'query', 'queries')} "
            f"{'moved' if self.applied else 'would move'} ({listed(self.moved)})",
            f"  predicted cost of a batch: {before:,.0f} rows, then {after:,.0f} ({-gain:+.0%})",
            f"  {self.forecast}",
            f"  weighted size: {self.size_before:,}, then {self.size_after:,}",
        ]
        for sign, trees in (("-", self.removed), ("+", self.added)):
            lines += [f"  {sign} {short(sql, 100)}" for sql in [*trees.values()][:_LISTED]]
            if len(trees) > _LISTED:
                lines.append(f"  {sign} {len(trees) - _LISTED} more")
        if self.stayed:
            lines.append(f"  stayed, since their rows may be retracted: {listed(self.stayed)}")
        if not self.applied and not self.forecast.cheaper():
            lines.append("  it is not cheaper, so it stays as it is")
        return "\n".join(lines)


Accept = Callable[[Forecast], bool]
"""Whether to change a network, by what that is predicted to cost and to save."""


def reoptimized(
    planner: Planner, state: State, accept: Accept, hydrated: Callable[[Network], Iterable[Collection[NodeId]]]
) -> tuple[State, Reoptimization]:
    """The state with the network planned again, and what changed.

    Args:
        planner: knows what was learnt.
        state: before.
        accept: whether to change the network; where not, the state is as it was, and so is the catalog.
        hydrated: for another network the operators that would have to be hydrated, the roots of each.
    """
    network, forecasts = state.network, list[Forecast]()

    def accepted(other: Network) -> bool:
        work = hydration_work(planner.estimates, other.nodes, hydrated(other))
        costs = batch_cost(planner.estimates, network), batch_cost(planner.estimates, other)
        forecasts.append(forecast(state.reports, *costs, predicted_seconds(state.hydrations, work)))
        return accept(forecasts[-1])

    replanned = replan(planner, network, asked(state), accepted)
    outcome = _outcome(state, replanned, forecasts[-1])
    if not replanned.accepted:
        return state, outcome
    moved, queries = set(outcome.moved), dict(state.queries)
    for name, explanation in replanned.explanations.items():
        if name not in queries:  # a check, of which nothing is explained
            planner.catalog.put_decisions(name, explanation.rows())
            continue
        if name in moved:
            queries[name] = replace(queries[name], explanation=_explained(explanation, outcome))
        planner.catalog.put_decisions(name, queries[name].explanation.rows())
    return replace(state, network=replanned.network, queries=queries), outcome


def asked(state: State) -> dict[str, Asked]:
    """The logical queries of a network and of their checks, in the order of registration."""
    queries = state.network.queries
    return {name: _asked(state, state.queries[checked_query(name)], check_number(name)) for name in queries}


def _asked(state: State, record: QueryRecord, check: int) -> Asked:
    """The query to plan: a registered one, or one of its checks."""
    if check:
        return Asked(state.checks_of(record)[check - 1].query, "", "", False)
    return Asked(record.logical, record.sql, record.dialect, record.results == EAGER)


def _outcome(state: State, replanned: Replanned, predicted: Forecast) -> Reoptimization:
    before, after = state.network, replanned.network
    return Reoptimization(
        batch=state.batch,
        applied=replanned.accepted,
        forecast=predicted,
        size_before=NetworkView(before).weighted_size(),
        size_after=NetworkView(after).weighted_size(),
        moved=tuple(dict.fromkeys(map(checked_query, replanned.moved(before)))),
        stayed=tuple(sorted({*map(checked_query, replanned.stayed)})),
        removed=_trees_beyond(before, after, state.view_names),
        added=_trees_beyond(after, before, state.view_names),
    )


def _trees_beyond(network: Network, other: Network, views: ViewNames) -> dict[NodeId, str]:
    """The trees of a network that another has not."""
    wording = Wording(network.nodes, views)
    return {root: wording.sql(root) for root in network.trees if root not in other.trees}


def _explained(explanation: Explanation, outcome: Reoptimization) -> Explanation:
    predicted = outcome.forecast
    note = (
        f"planned anew after batch {outcome.batch}, with all other queries: "
        f"predicted cost of a batch {predicted.cost_before:,.0f} rows, then {predicted.cost_after:,.0f}; {predicted}"
    )
    return replace(explanation, notes=(*explanation.notes, note))
