"""The first step of each row of a recursion with UNION: a row is in the first step that makes it, and in no later one.

The state has how often each step makes each row. So it is known without another look at the rules to which later step a
row goes back when no earlier one makes it any more, and which step it leaves when an earlier one comes to make it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa

from workbench.engine.operators.recursion.rows import NumberedRows, with_weights
from workbench.engine.physical.recursion import STEP_NUMBER
from workbench.engine.storage.grouping import Positions
from workbench.engine.storage.layout import WEIGHT

NO_STEP = np.iinfo(np.int64).max
"""The first step of a row that no step makes."""
StepCounts = Callable[[pa.RecordBatch], pa.RecordBatch]
"""How often each step made each of some rows before the batch: the rows with step and weight, each pair once."""


class FirstSteps:
    """Follows the rows that a batch touches, step by step, from the first one on.

    Args:
        schema: of the rows.
        stored: gives the counts before the batch.
    """

    def __init__(self, schema: pa.Schema, stored: StepCounts) -> None:
        self._rows, self._stored = NumberedRows(pa.RecordBatch.from_pylist([], schema)), stored
        self._before = np.zeros(0, dtype=np.int64)
        self._after = np.zeros(0, dtype=np.int64)
        self._later: dict[int, list[tuple[Positions, Positions]]] = {}
        """For each step to come the touched rows that it made before the batch, and how often."""

    @property
    def steps(self) -> Iterator[int]:
        """The steps to come in which touched rows were."""
        yield from self._later

    def change_of_step(self, step: int, change: pa.RecordBatch) -> pa.RecordBatch:
        """The rows that enter a step, with weight 1, and those that leave it, with weight -1.

        Args:
            step: the steps before it have been asked for.
            change: of how often it makes rows; each row once.
        """
        numbers = self._numbers(step, change)
        parts = [(numbers, np.zeros(len(numbers), dtype=np.int64)), *self._later.pop(step, [])]
        touched, place = np.unique(np.concatenate([own for own, _ in parts]), return_inverse=True)
        count = np.zeros(len(touched), dtype=np.int64)
        np.add.at(count, place, np.concatenate([number for _, number in parts]))
        count[place[: len(numbers)]] += change.column(WEIGHT).to_numpy()
        enters = (self._after[touched] == NO_STEP) & (count > 0)
        self._after[touched[enters]] = step
        weights = enters.astype(np.int64) - (self._before[touched] == step)
        changed = np.flatnonzero(weights)
        return with_weights(self._rows.rows.take(pa.array(touched[changed])), weights[changed])

    def change(self) -> pa.RecordBatch:
        """The rows that some step makes after the change and none did before, and the rows of which the opposite is
        true.
        """
        weights = (self._after < NO_STEP).astype(np.int64) - (self._before < NO_STEP)
        changed = np.flatnonzero(weights)
        return with_weights(self._rows.rows.take(pa.array(changed)), weights[changed])

    def _numbers(self, step: int, rows: pa.RecordBatch) -> Positions:
        """The numbers of rows, of which those that are new have their steps before the batch looked up."""
        numbers = self._rows.find(rows)
        new = np.flatnonzero(numbers < 0)
        if not len(new):
            return numbers
        added = rows.take(pa.array(new))
        numbers[new] = self._rows.add(added)
        before = np.full(len(new), NO_STEP, dtype=np.int64)
        known = self._stored(added)
        of, at = self._rows.find(known), known.column(STEP_NUMBER).to_numpy()
        counts = known.column(WEIGHT).to_numpy()
        there = np.flatnonzero(of >= 0)
        np.minimum.at(before, of[there] - numbers[new[0]], at[there])
        self._before = np.concatenate([self._before, before])
        # What an earlier step made before the batch it makes still: all changes of earlier steps are known by now.
        self._after = np.concatenate([self._after, np.where(before < step, before, NO_STEP)])
        coming = there[at[there] >= step]
        for later in np.unique(at[coming]):
            own = coming[at[coming] == later]
            self._later.setdefault(int(later), []).append((of[own], counts[own]))
        return numbers
