"""Decayed averages of what the last batches did: rows of nodes and of streams, seconds of operators.

They follow from the reports, which are in the catalog anyway. So observing costs a batch nothing, and a session that is
opened again has observed what it had.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.engine.reports import BatchReport
from workbench.network.nodes import NodeId

CONSIDERED = 20
"""The batches that are averaged."""
HALF_LIFE = 5
"""Batches after which a batch counts half as much: a drift is seen within a few batches."""

RECENT_BATCHES = 3
"""Batches in a row that show that the rows of a node, or of a stream, have turned."""
TURN = 2.0
"""They have where each of these batches brings this factor more, or less, than the average of those before."""
CERTAIN = 10
"""Fewer rows than these vary that much by chance."""


@dataclass(frozen=True)
class Averages:
    """Averages of rows and seconds over the latest batches.

    Attributes:
        node_rows: rows out of each node that ran.
        seconds: of each operator, by its name.
        arrived: rows of each stream, by its name in lower case.
    """

    node_rows: Mapping[NodeId, float]
    seconds: Mapping[str, float]
    arrived: Mapping[str, float]


def averages(reports: Sequence[BatchReport]) -> Averages:
    """The averages over the last of some batches.

    An operator that had no work in a batch has no report of it: that counts as no rows, from its first batch on.

    Example:
        >>> six = BatchReport(1, 6, 0.5, (), arrived={"F": 6})
        >>> averages([six, six]).arrived
        {'f': 6.0}
    """
    node_rows, seconds, arrived = _Average(), _Average(), _Average()
    for age, report in enumerate(reversed(reports[-CONSIDERED:])):
        weight = 0.5 ** (age / HALF_LIFE)
        node_rows.add(weight, {id_: rows for operator in report.operators for id_, rows in operator.node_rows.items()})
        seconds.add(weight, {operator.name: operator.seconds for operator in report.operators})
        arrived.add(weight, {name.lower(): rows for name, rows in report.arrived.items()})
    return Averages(node_rows.values(), seconds.values(), arrived.values())


def averages_since_turns(reports: Sequence[BatchReport]) -> Averages:
    """The averages over the last of some batches, of rows that have turned over the recent batches alone.

    An average forgets large numbers slowly: where 6,000 rows came of a node and 100 come now, it is above 1,000 for a
    dozen batches. What is planned then is planned for rows that come no more.

    Example:
        >>> many, few = (BatchReport(1, rows, 0.5, (), arrived={"F": rows}) for rows in (6_000, 100))
        >>> [round(of([many] * 9 + [few] * 3).arrived["f"]) for of in (averages, averages_since_turns)]
        [3523, 100]
    """
    every, recent, before = averages(reports), averages(reports[-RECENT_BATCHES:]), averages(reports[:-RECENT_BATCHES])
    each = [averages([report]) for report in reports[-RECENT_BATCHES:]]
    return Averages(
        _since_turns(every.node_rows, recent.node_rows, before.node_rows, [one.node_rows for one in each]),
        every.seconds,
        _since_turns(every.arrived, recent.arrived, before.arrived, [one.arrived for one in each]),
    )


def _since_turns(
    every: Mapping[str, float],
    recent: Mapping[str, float],
    before: Mapping[str, float],
    each: Sequence[Mapping[str, float]],
) -> dict[str, float]:
    return {
        name: recent.get(name, 0.0)
        if name in before and _has_turned(before[name], [rows.get(name, 0.0) for rows in each])
        else average
        for name, average in every.items()
    }


def _has_turned(before: float, recent: Sequence[float]) -> bool:
    """Whether all recent numbers are far above, or all far below, the earlier ones."""
    if max(before, *recent) < CERTAIN:
        return False
    return min(recent) > TURN * before or max(recent) < before / TURN


class _Average:
    """Weighted averages by name. Batches are added from the last to the first."""

    def __init__(self) -> None:
        self._weight = 0.0
        self._sums: dict[str, float] = {}
        self._weights: dict[str, float] = {}

    def add(self, weight: float, numbers: Mapping[str, float]) -> None:
        """Add the numbers of a batch."""
        self._weight += weight
        for name, number in numbers.items():
            self._sums[name] = self._sums.get(name, 0.0) + weight * number
            self._weights[name] = self._weight

    def values(self) -> dict[str, float]:
        """The averages; each since the first batch that has the name."""
        return {name: total / self._weights[name] for name, total in self._sums.items()}
