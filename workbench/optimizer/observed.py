"""Observations of batches: the rows that they brought to a network's nodes, as learnt corrections of estimates.

An observed join corrects the estimates of all joins of the same roots by the same keys, as the adjustment factors of
LEO do (M. Stillger et al., *LEO: DB2's learning optimizer*, VLDB 2001). So what one query's nodes have shown helps to
plan the next query.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from workbench.network.nodes import Join, Node, NodeId, Read, Selection, SetOperation, SetOperator, Source
from workbench.sql.predicates.cnf import PredSet

_LEAST_ROWS = 0.1
"""Rows a batch of a node to which none have come: the next batch may bring some."""


@dataclass(frozen=True)
class Observed:
    """Averages over the last batches, of rows that a batch brings.

    Attributes:
        nodes: the nodes that ran, as they were.
        changes: rows that a batch brought to each of them.
        arriving: rows that a batch brings of each stream, by name in lower case.
        arrived: rows of each stream so far.

    Example:
        >>> source = Source("F")
        >>> Observed(arriving={"f": 10.0}, arrived={"f": 100}).growth(source.id, {source.id: source})
        0.1
    """

    nodes: Mapping[NodeId, Node] = field(default_factory=dict)
    changes: Mapping[NodeId, float] = field(default_factory=dict)
    arriving: Mapping[str, float] = field(default_factory=dict)
    arrived: Mapping[str, int] = field(default_factory=dict)
    growths: dict[NodeId, float | None] = field(default_factory=dict, compare=False, repr=False)
    """The growths of roots that were asked for: what a root reads follows from its id."""

    @cached_property
    def selections(self) -> Mapping[Read, float]:
        """Rows that a batch brings to what selections read."""
        seen = ((self.nodes.get(id_), rows) for id_, rows in self.changes.items())
        return {node.read: max(rows, _LEAST_ROWS) for node, rows in seen if isinstance(node, Selection)}

    @cached_property
    def joins(self) -> Mapping[tuple[NodeId, NodeId], list[tuple[PredSet, float]]]:
        """By the roots of joins what each of them tests, and the rows that a batch brings to it."""
        joins: dict[tuple[NodeId, NodeId], list[tuple[PredSet, float]]] = {}
        for id_, rows in self.changes.items():
            if isinstance(node := self.nodes.get(id_), Join):
                joins.setdefault(node.roots, []).append((node.predicates, max(rows, _LEAST_ROWS)))
        return joins

    def growth(self, root: NodeId, nodes: Mapping[NodeId, Node]) -> float | None:
        """The fraction of a root's rows that a batch brings; ``None`` where the streams do not tell.

        Rows of a join grow with each of its inputs. How many groups a batch changes is not told by the streams.
        """
        if not self.arrived:
            return None
        if root not in self.growths:
            self.growths[root] = self._growth(root, nodes)
        return self.growths[root]

    def _growth(self, root: NodeId, nodes: Mapping[NodeId, Node]) -> float | None:
        node = nodes[root]
        match node:
            case Source():
                stream = node.stream.lower()
                total = self.arrived.get(stream, 0)
                known = total > 0 and node.append_only
                return min(1.0, self.arriving.get(stream, 0.0) / total) if known else None
            case Join():
                return grown_together(self.growth(side, nodes) for side in node.roots)
            case SetOperation(operator=SetOperator.UNION_ALL):
                sides = [self.growth(branch.read.root, nodes) for branch in node.branches]
                known_sides = [side for side in sides if side is not None]
                return sum(known_sides) / len(sides) if len(known_sides) == len(sides) else None
            case _:
                return None


def grown_together(sides: Iterable[float | None]) -> float | None:
    """The fraction of pairs that is new where these fractions of both sides are."""
    new = 1.0
    for growth in sides:
        if growth is None:
            return None
        new *= 1 - growth
    return 1 - new


NOTHING = Observed()
"""Before the first batch."""
