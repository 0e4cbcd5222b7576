"""The steps of a recursion that keeps the least value of each key: a row is in a step that makes it if no earlier step
made one of its key that is as good, and the step itself none that is better.

The state has how often each step makes each row, those that are not the least included. So it is known without another
look at the rules which value a key goes back to, in which step, when a better one is made no more.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from workbench.engine.operators.recursion.first_steps import StepCounts
from workbench.engine.operators.recursion.rows import NumberedRows, with_weights
from workbench.engine.physical.recursion import STEP_NUMBER
from workbench.engine.storage.comparable import numbers_in_order
from workbench.engine.storage.grouping import Positions, group_numbers
from workbench.engine.storage.layout import WEIGHT

_NO_ROW = -1


class BestSteps:
    """Follows the keys that a batch touches, step by step, from the first one on.

    Args:
        schema: of the rows; the last column is the value, the others are the key.
        greatest: whether the greatest value is the best one; NULL never is, unless there is no other.
        stored: gives the counts of all rows that have the keys of some rows, before the batch.
    """

    def __init__(self, schema: pa.Schema, greatest: bool, stored: StepCounts) -> None:
        *self._key, self._value = schema.names
        none = pa.RecordBatch.from_pylist([], schema)
        self._rows, self._keys = NumberedRows(none), NumberedRows(none.select(self._key))
        self._stored, self._greatest = stored, greatest
        self._key_of = np.zeros(0, dtype=np.int64)
        self._order = np.zeros((2, 0), dtype=np.int64)
        self._best = np.zeros((2, 0), dtype=np.int64)
        """The best rows of each key that the steps so far make, before the batch and after it."""
        self._later: dict[int, list[tuple[Positions, Positions]]] = {}
        """For each step to come the rows of touched keys that it made before the batch, and how often."""

    @property
    def steps(self) -> Iterator[int]:
        """The steps to come that made rows of touched keys."""
        yield from self._later

    def change_of_step(self, step: int, change: pa.RecordBatch) -> pa.RecordBatch:
        """The rows that enter a step, with weight 1, and those that leave it, with weight -1.

        Args:
            step: the steps before it have been asked for.
            change: of how often it makes rows; each row once.
        """
        self._touch(step, change)
        numbers = self._numbers(change)
        later = self._later.pop(step, [])
        rows = np.concatenate([numbers, *(own for own, _ in later)])
        counts = np.zeros((2, len(rows)), dtype=np.int64)
        counts[1, : len(numbers)] = change.column(WEIGHT).to_numpy()
        counts[:, len(numbers) :] = np.concatenate([np.zeros(0, np.int64), *(number for _, number in later)])
        touched, place = np.unique(rows, return_inverse=True)
        parts = list[tuple[Positions, int]]()
        for side, weight in ((0, -1), (1, 1)):
            total = np.zeros(len(touched), dtype=np.int64)
            np.add.at(total, place, counts[side])
            better = self._better(side, touched[total > 0])
            self._best[side, self._key_of[better]] = better
            parts.append((better, weight))
        return self._changed(parts)

    def change(self) -> pa.RecordBatch:
        """The best rows of keys now, and those that were before."""
        return self._changed(
            [(best[best != _NO_ROW], weight) for best, weight in zip(self._best, (-1, 1), strict=True)]
        )

    def _better(self, side: int, rows: Positions) -> Positions:
        """Of some rows the best one of each key, if it is better than the best one of earlier steps."""
        rows = rows[np.lexsort((self._order[1, rows], self._order[0, rows], self._key_of[rows]))]
        keys = self._key_of[rows]
        first = np.append(True, keys[1:] != keys[:-1])[: len(keys)]
        rows = rows[first]
        best = self._best[side, self._key_of[rows]]
        own, known = self._order[:, rows], self._order[:, best]
        less = (own[0] < known[0]) | ((own[0] == known[0]) & (own[1] < known[1]))
        return rows[(best == _NO_ROW) | less]

    def _changed(self, parts: list[tuple[Positions, int]]) -> pa.RecordBatch:
        rows = np.concatenate([own for own, _ in parts])
        weights = np.repeat([weight for _, weight in parts], [len(own) for own, _ in parts])
        touched, place = np.unique(rows, return_inverse=True)
        total = np.zeros(len(touched), dtype=np.int64)
        np.add.at(total, place, weights)
        kept = np.flatnonzero(total)
        return with_weights(self._rows.rows.take(pa.array(touched[kept])), total[kept])

    def _touch(self, step: int, change: pa.RecordBatch) -> None:
        """Look up the state of keys that were not touched before."""
        keys = change.select(self._key)
        new = np.flatnonzero(self._keys.find(keys) < 0)
        if not len(new):
            return
        number = group_numbers(keys.columns, keys.num_rows)[new]
        _, first = np.unique(number, return_index=True)
        asked = change.take(pa.array(new[first]))
        begin = self._keys.rows.num_rows
        self._keys.add(asked.select(self._key))
        self._best = np.concatenate([self._best, np.full((2, len(first)), _NO_ROW)], axis=1)
        known = self._stored(asked)
        known = known.filter(pa.array(self._keys.find(known.select(self._key)) >= begin))
        rows, at, counts = self._numbers(known), known.column(STEP_NUMBER).to_numpy(), known.column(WEIGHT).to_numpy()
        before = self._better(0, np.unique(rows[(at < step) & (counts > 0)]))
        # What an earlier step made before the batch it makes still: all changes of earlier steps are known by now.
        self._best[:, self._key_of[before]] = before
        for later in np.unique(at[at >= step]):
            self._later.setdefault(int(later), []).append((rows[at == later], counts[at == later]))

    def _numbers(self, rows: pa.RecordBatch) -> Positions:
        """The numbers of rows, each of a touched key."""
        numbers = self._rows.find(rows)
        new = np.flatnonzero(numbers < 0)
        if len(new):
            own = rows.select([*self._key, self._value]).take(pa.array(new))
            group = group_numbers(own.columns, own.num_rows)
            _, first, place = np.unique(group, return_index=True, return_inverse=True)
            added = own.take(pa.array(first))
            numbers[new] = self._rows.add(added)[place]
            order = value_order(added.column(self._value), self._greatest)
            self._order = np.concatenate([self._order, order], axis=1)
            self._key_of = np.concatenate([self._key_of, self._keys.find(added.select(self._key))])
        return numbers


def value_order(values: pa.Array, greatest: bool) -> np.ndarray:
    """Two numbers for each value by which the best one is the least; NULL comes last."""
    numbers = numbers_in_order(values, (greatest, False))
    missing = numbers[0] if len(numbers) > 1 else np.zeros(len(values), dtype=np.int64)
    return np.stack([missing, numbers[-1]])


def first_of_keys(key: Positions, step: Positions, order: np.ndarray) -> Positions:
    """The best row of each key in each step, if it is better than those of all earlier steps.

    Args:
        key: the number of each row's key.
        step: that makes it.
        order: of ``value_order``.
    """
    _, rank = np.unique(order, axis=1, return_inverse=True)
    rank = rank.reshape(-1)
    at = np.lexsort((rank, step, key))
    first = np.append(True, (key[at][1:] != key[at][:-1]) | (step[at][1:] != step[at][:-1]))[: len(at)]
    at = at[first]
    # The numbers of a key are less than those of all keys before it, so that a running minimum begins anew.
    falling = rank[at] - key[at] * (int(rank.max(initial=0)) + 1)
    least = np.minimum.accumulate(falling)
    return at[np.append(True, falling[1:] < least[:-1])[: len(at)]]
