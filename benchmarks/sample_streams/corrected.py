"""Streams in which rows replace earlier ones of the same key."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from workbench.experiments import runs
from workbench.experiments.workload import Workload


def updated(work: Workload, parts: Sequence[float], key: str) -> pa.Table:
    """The rows of a workload, where parts of its batches, in turn, are rows of before with the values of others.

    Example:
        >>> rows = pa.table({"tranid": range(14), "amount": range(14)})
        >>> work = Workload("w", "s", rows, history=4, batch=2, queries=())
        >>> [len(set(updated(work, [0.0, part], "tranid")["tranid"].to_pylist())) for part in (0.0, 0.5)]
        [14, 13]
    """
    random = np.random.default_rng(0)
    places: list[NDArray[np.int64]] = [np.arange(work.history)]
    batches = (work.table.num_rows - work.history) // work.batch
    new = work.history
    for number in range(batches):
        turn = number - runs.WARM_UP
        count = int(parts[turn % len(parts)] * work.batch) if turn >= 0 else 0
        replaced = random.choice(new, count, replace=False)
        places += [np.arange(new, new + work.batch - count), replaced]
        new += work.batch - count
    keys = np.concatenate(places)
    _, first = np.unique(keys, return_index=True)
    again = np.ones(len(keys), bool)
    again[first] = False
    values = np.where(again, random.integers(0, work.history, len(keys)), keys)
    rows = work.table.take(pa.array(values))
    return rows.set_column(rows.schema.get_field_index(key), key, work.table[key].take(pa.array(keys)))


def latest(rows: pa.Table, key: str) -> pa.Table:
    """The last row of each key.

    Example:
        >>> latest(pa.table({"tranid": [1, 2, 1], "amount": [10, 20, 30]}), "tranid").to_pydict()
        {'tranid': [2, 1], 'amount': [20, 30]}
    """
    keys = rows[key].to_numpy()
    _, last = np.unique(keys[::-1], return_index=True)
    return rows.take(pa.array(np.sort(len(keys) - 1 - last)))
