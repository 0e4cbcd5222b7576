"""What is damaged, computed anew from the streams.

Rows of a tree follow from those of its parents, and in the end from the logs of the streams, so no answer is lost with
them. What a log of changes said of earlier batches does not follow: where a log is damaged, changes begin anew.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from workbench.engine.engine import Engine
from workbench.network.network import Network
from workbench.network.nodes import NodeId
from workbench.session.directory.restore import Damage, unreadable
from workbench.session.state import State


def repaired(engine: Engine, state: State, damage: Damage) -> State:
    """The state without damage; belongs inside a change.

    Args:
        engine: holds what is whole.
        state: the session with its damage.
        damage: what is to be computed anew; there must be no damage of another kind.
    """
    for name in damage.arrived:
        stream = state.streams[name]
        batches = {report.batch: report.arrived.get(name, 0) for report in state.reports}
        engine.add_stream(name, dict(stream.stored_columns), stream.arrivals(batches), stream.time)
    broken = _followers(state.network, damage.trees)
    whole = {name: tree for name, tree in engine.state.trees.items() if broken.isdisjoint(tree.plan.roots)}
    engine.replace_state(replace(engine.state, trees=whole))
    engine.adopt(state.network, state.batch)
    queries = dict(state.queries)
    for name, plan in state.network.queries.items():
        if plan.read.root in broken and not engine.state.by_root[plan.read.root].plan.monotone:
            queries[name] = replace(queries[name], registered=state.batch)
    was_broken = unreadable(state.network, damage)
    disabled = {name: reason for name, reason in state.disabled.items() if name not in was_broken}
    return replace(state, queries=queries, disabled=disabled)


def _followers(network: Network, nodes: Iterable[NodeId]) -> set[NodeId]:
    """Some nodes, and all roots that are computed from them: a change of theirs must match what these were told."""
    found = set(nodes)
    for root in network.trees:
        if any(network.roots[parent] in found for parent in network.nodes[root].parents):
            found.add(root)
    return found
