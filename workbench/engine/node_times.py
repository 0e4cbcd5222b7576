"""The time of an operator, shared out to its nodes: an estimate in every batch, since they are computed together.

What does not depend on rows, the most in a small batch, is shared equally. The rest goes by what was measured: the rows
that a node's root produced, for each test that the node makes of them, and the rows that the node kept. Seconds of the
analyst's functions go to the nodes that ask for them. A profile (``engine/profile.py``) measures each node alone;
:func:`off_by` says how far the estimates are from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from workbench.engine.physical.filters.grouped_filter import GroupedFilter
from workbench.engine.physical.plans import TreePlan
from workbench.engine.storage.lineage import WORD_BITS, Bits
from workbench.engine.storage.relation import Delta

FIXED, TESTED, KEPT = 4e-3, 2e-8, 4e-7
"""Seconds of an operator whatever comes, for a row and a test, and for a row that is kept: only their ratios matter."""
MICROSECONDS = 1_000_000


@dataclass(frozen=True)
class TestsOfNodes:
    """The tests of each node of a filter, by bit.

    Attributes:
        tests: how many tests each node makes.
        called: the nodes that make a test that calls functions, by what it says.
    """

    tests: npt.NDArray[np.int64]
    called: Mapping[str, npt.NDArray[np.bool_]] = field(default_factory=dict)

    @classmethod
    def of(cls, filter_: GroupedFilter) -> TestsOfNodes:
        """The tests of a filter."""
        asking = [(table.column, ~np.bitwise_and.reduce(table.bits)) for table in filter_.tables]
        for some in filter_.disjunctions:
            asking += [(table.column, ~some.without) for table in some.tables]
        tests = np.zeros(len(filter_.always) * WORD_BITS, dtype=np.int64)
        called: dict[str, npt.NDArray[np.bool_]] = {}
        for column, bits in asking:
            nodes = _each(bits & filter_.always)
            tests += nodes
            if label := filter_.labels.get(column):
                called[label] = called[label] | nodes if label in called else nodes
        return cls(tests, called)


def node_microseconds(plan: TreePlan, delta: Delta, seconds: float) -> list[int]:
    """The time of an operator by the bit of each node; it adds up to the operator's.

    Args:
        plan: of the operator.
        delta: its change, with what was measured.
        seconds: of the operator.
    """
    bits = np.array([*plan.bits.values()], dtype=np.int64)
    if len(bits) == 1:
        return [0] * int(bits[0]) + [round(seconds * MICROSECONDS)]
    kept = np.zeros(bits.max() + 1)
    kept[: len(delta.counts)] = delta.counts[: len(kept)]
    asked = TestsOfNodes.of(plan.filter.filter)
    weights = FIXED + delta.rows_in / len(plan.roots) * (1 + asked.tests[bits]) * TESTED + kept[bits] * KEPT
    called = {label: asked.called[label][bits] for label in delta.tests if label in asked.called}
    calls = sum(delta.tests[label].seconds for label in called)
    share = min(1.0, seconds / calls) if calls else 0.0
    taken = (seconds - share * calls) * weights / weights.sum()
    for label, asking in called.items():
        taken += share * delta.tests[label].seconds * asking / max(asking.sum(), 1)
    by_bit = np.zeros(len(kept), dtype=np.int64)
    by_bit[bits] = np.round(taken * MICROSECONDS)
    return by_bit.tolist()


def off_by(estimated: Mapping[str, float], alone: Mapping[str, float]) -> float:
    """By what factor estimates are off the shares that a profile measured, in the mean: 1 is exact.

    Args:
        estimated: seconds of nodes.
        alone: seconds of some of them, each alone.

    Example:
        >>> off_by({"a": 2.0, "b": 2.0}, {"a": 0.2, "b": 0.2})
        1.0
        >>> round(off_by({"a": 1.0, "b": 1.0}, {"a": 4.0, "b": 1.0}), 2)
        2.0
    """
    known = [node for node in alone if alone[node] > 0 and estimated.get(node, 0) > 0]
    logs = np.log([estimated[node] / alone[node] for node in known])
    return float(np.exp(np.abs(logs - np.median(logs)).mean())) if known else 1.0


def _each(words: Bits) -> npt.NDArray[np.bool_]:
    """The bits of words, one by one."""
    return np.unpackbits(np.ascontiguousarray(words).view(np.uint8), bitorder="little").astype(bool)
