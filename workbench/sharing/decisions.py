"""What was shared when a query was registered, and with whom: the record an analyst reads with ``q.explain()``."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.monospace import monospace
from workbench.network.network import Network
from workbench.network.nodes import NodeId


@dataclass(frozen=True)
class Decision:
    """One node of a query: made for it, or found in the network because it computes the same (T9.2).

    ``shared_with``: queries that already used the node.
    """

    node: NodeId
    operator: str
    created: bool
    shared_with: tuple[str, ...]

    def __str__(self) -> str:
        if self.created:
            return f"{self.node}  new     {self.operator}"
        with_whom = ", ".join(self.shared_with) or "a node nobody used"
        return f"{self.node}  shared  {self.operator}  (equal computation; with {with_whom})"


@dataclass(frozen=True)
class Explanation:
    """The decisions of one registration, in the order in which the nodes are computed."""

    query: str
    decisions: tuple[Decision, ...]

    def __str__(self) -> str:
        shared = sum(not d.created for d in self.decisions)
        head = f"{self.query}: {len(self.decisions)} nodes, {shared} shared, {len(self.decisions) - shared} new"
        return "\n".join([head, *(f"  {decision}" for decision in self.decisions)])

    def _repr_html_(self) -> str:
        return monospace(str(self))


def decisions(before: Network, after: Network, query: str) -> Explanation:
    """What registering ``query`` found in the network and what it added."""
    needed = after.ancestors([after.queries[query].node])
    made = tuple(
        Decision(id_, node.signature, id_ not in before.nodes, before.served.get(id_, ()))
        for id_, node in after.nodes.items()
        if id_ in needed
    )
    return Explanation(query, made)
