"""The cost of hydrating operators: the rows that they have to read, and the seconds, predicted from earlier ones.

Typical seconds follow from the number of operators, whose plans Spark makes and compiles, and from the rows. How many
times as long the hydrations took that a session has seen corrects them, as what is observed corrects estimates of rows
(LEO, VLDB 2001).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log

from workbench.network.nodes import Join, Node, NodeId, Read
from workbench.optimizer.cardinality import Estimates

_OF_AN_OPERATOR = 0.3
"""Seconds that hydrating an operator takes, typically, whatever it reads."""
OF_A_ROW = 2e-6
"""Seconds for each row that it reads, and each pair of rows that it looks at."""
SEEN = 20
"""Hydrations that are remembered."""
_HALF_LIFE = 5
"""Hydrations after which one counts half: the cost of a row changes with what is read, and with the machine."""
_AT_MOST = 10
"""How many times as long as the slowest that was seen of at least this size one may take, however it is estimated."""


@dataclass(frozen=True)
class HydrationWork:
    """The operators to hydrate, and the rows that they read.

    Attributes:
        operators: how many.
        rows: that they read, and pairs that they look at, estimated.
    """

    operators: int
    rows: float

    @property
    def typical_seconds(self) -> float:
        """How long it takes where nothing better is known."""
        return _OF_AN_OPERATOR * self.operators + OF_A_ROW * self.rows


@dataclass(frozen=True)
class PastHydration:
    """A hydration: what there was to do, as it was estimated before, and the seconds that it took."""

    work: HydrationWork
    seconds: float


def hydration_work(
    estimates: Estimates, nodes: Mapping[NodeId, Node], operators: Iterable[Collection[NodeId]]
) -> HydrationWork:
    """The work of operators of a network until they have all rows so far.

    Args:
        estimates: of all rows so far.
        nodes: of the network.
        operators: the roots of each. Fused roots read the same rows, once.

    Example:
        >>> hydration_work(Estimates({}), {}, [])
        HydrationWork(operators=0, rows=0.0)
    """
    own = estimates.over(nodes)
    rows = [max(_rows(own, nodes[root]) for root in roots) for roots in operators]
    return HydrationWork(len(rows), sum(rows, 0.0))


def predicted_seconds(past: Sequence[PastHydration], work: HydrationWork) -> float:
    """How long a hydration will take: typical seconds, times the mean factor by which earlier ones were off.

    The mean is geometric, so that twice as long and half as long are equally wrong. One of another size says less, and
    that a hydration is typical counts as one of its own size. Where rows are estimated a million times too many, the
    mean is a thousand times too large: what was seen to take a while for as much or more bounds it.

    Args:
        past: the hydrations that were seen, the last one last.
        work: what is to be hydrated.

    Example:
        >>> slow = PastHydration(HydrationWork(2, 500_000.0), 6.0)
        >>> [round(predicted_seconds([slow] * times, slow.work), 1) for times in (0, 1, 10)]
        [1.6, 3.1, 4.9]
        >>> round(predicted_seconds([slow] * 10, HydrationWork(1, 0.0)), 1)
        0.6
    """
    typical, weights, logs = work.typical_seconds, 1.0, 0.0
    for age, each in enumerate(reversed(past[-SEEN:])):
        other = each.work.typical_seconds
        if min(typical, other, each.seconds) > 0:
            weight = 0.5 ** (age / _HALF_LIFE) * min(typical, other) / max(typical, other)
            weights += weight
            logs += weight * log(each.seconds / other)
    as_large = [each.seconds for each in past[-SEEN:] if each.work.typical_seconds >= typical / 2]
    return min([typical * exp(logs / weights), *([_AT_MOST * max(as_large)] if as_large else [])])


def _rows(estimates: Estimates, node: Node) -> float:
    """Rows that a root is computed from, and pairs of them that it looks at."""
    rows = sum(map(estimates.rows, node.reads or (Read(node.id),)))
    if isinstance(node, Join):
        rows += max(find(node.roots, node.predicates) for find in (estimates.examined, estimates.joined))
    return rows
