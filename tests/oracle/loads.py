"""The same rows, loaded in different ways: the answers must not differ, whatever the query.

A query's answer is a function of the rows that are there. It must not depend on how they came: all at once, one by
one, in another order, or inserted, taken back and inserted again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from random import Random

from oracle.bags import Row, difference, frame_rows

from workbench.session.query import Query


@dataclass(frozen=True)
class Load:
    """One way in which the rows of the streams come.

    Attributes:
        name: what it is called in a failure.
        order: a seed that orders rows; ``None``: as they are.
        history, batch: as in ``Session.add_stream``; ``None``: all of them.
        back: whether some rows are taken back and inserted again.
    """

    name: str
    order: int | None = None
    history: int | None = None
    batch: int = 1
    back: bool = False

    def arriving(self, rows: Sequence[Row]) -> tuple[list[Row], list[int]]:
        """The rows as they come, with their weights."""
        ordered = list(rows)
        chosen = Random(self.order)
        if self.order is not None:
            chosen.shuffle(ordered)
        if not self.back:
            return ordered, [1] * len(ordered)
        changes = taken_back(chosen, ordered)
        return [row for row, _ in changes], [weight for _, weight in changes]


LOADS = (
    Load("all at once"),
    Load("row by row", history=0),
    Load("in another order", order=1, history=2, batch=4),
    Load("taken back and inserted again", order=2, history=3, batch=2, back=True),
)


def taken_back(chosen: Random, rows: Sequence[Row]) -> list[tuple[Row, int]]:
    """Changes that lead to some rows: these are deleted and inserted again, and more of them come and go.

    Those that come too often have weights of more than 1, and go at any later moment, one by one.
    """
    changes: list[tuple[Row, int]] = []
    waiting: list[tuple[Row, int]] = []
    for row in rows:
        changes.append((row, 1))
        if chosen.random() < 0.4:
            changes += [(row, -1), (row, 1)]
        if chosen.random() < 0.4:
            more, times = chosen.choice(rows), chosen.randint(1, 2)
            changes.append((more, times))
            waiting += [(more, -1)] * times
        while waiting and chosen.random() < 0.5:
            changes.append(waiting.pop(chosen.randrange(len(waiting))))
    changes += waiting
    for row in chosen.sample(rows, len(rows) // 3):
        changes += [(row, -1), (row, 1)]
    return changes


def check_changes(query: Query, answer: Sequence[Row]) -> None:
    """The changes of a query sum up to its answer, and after no batch have they taken back what was not there.

    Raises:
        AssertionError: they do not; the message begins with the query's text.
    """
    frame = query.changes()
    bag: Counter[Row] = Counter()
    columns = [frame.iloc[:, at].tolist() for at in range(2)]
    changes = sorted(zip(*columns, frame_rows(frame.iloc[:, 2:]), strict=True), key=lambda change: change[0])
    for batch, of_batch in groupby(changes, key=lambda change: change[0]):
        for _, weight, row in of_batch:
            bag[row] += weight
        gone = [row for row, weight in bag.items() if weight < 0]
        assert not gone, f"{query.sql}: batch {batch} takes back what was not there: {gone[:3]}"
    missing, more = difference(bag.elements(), answer)
    assert not missing and not more, f"{query.sql}: the changes lack {missing[:3]} and have {more[:3]} too many"
