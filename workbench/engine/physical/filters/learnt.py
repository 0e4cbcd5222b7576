"""What is learnt of the tests that call functions: what a call costs, and what a sample of rows gave for all tests.

For a small sample of the rows all tests are made, also those that earlier ones have made needless. So it is known how
tests depend on one another, and not only how many rows pass each after the others (as in Babu et al., Adaptive ordering
of pipelined stream filters, SIGMOD 2004). It travels from batch to batch: with the job, and back in the answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.engine.storage.counted_tests import CountedTest
from workbench.engine.storage.grouping import Positions

SAMPLED_FIRST = 64
"""Rows that are sampled before an order is trusted."""
PART = 0.03
"""What sampling may add to the cost of calls."""
LATEST = 256
"""The samples that are kept."""
LEFT = 16
"""Of these, the ones that are kept when rows turn out to be others than they were."""
DEARER = 1.1
"""What a call is taken to cost after dearer ones; a machine that does other things makes calls slower."""
COST_STEPS = 8
"""Steps to the double in which costs are told apart: 9 % each, so an order that is not the best costs little more."""
LEAST_SECONDS = 100e-6
"""Seconds of a call: what it takes to hand over its arguments. Cheaper ones cost as much."""


@dataclass
class Learnt:
    """What is known of the tests of one filter, by their positions.

    Attributes:
        of: which tests; of others nothing is known.
        rows: how many rows there were for which an order mattered.
        samples: for each sampled row its lineage before the tests, and what they gave.
        seconds: of a call of each test, those of the quickest calls of late; 0 where none was made.
        spared: what orders spared of late, as a part of what calls cost.
        counts: of each test since it came.
    """

    of: str = ""
    rows: int = 0
    samples: list[list[int]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    spared: float = 1.0
    counts: dict[str, CountedTest] = field(default_factory=dict)

    @property
    def kept(self) -> Mapping[str, Any]:
        """What the next batch is told, in terms of JSON."""
        return {name: value for name, value in vars(self).items() if name != "counts"}

    def begin(self, of: str, tests: int) -> None:
        """Forget what was learnt of other tests."""
        if self.of != of:
            self.of, self.rows, self.samples = of, 0, []
            self.seconds, self.spared = [0.0] * tests, 1.0

    def sample(self, rows: int) -> Positions:
        """Which of some rows to sample, spread evenly among them.

        Example:
            >>> Learnt(samples=[[0]] * SAMPLED_FIRST).sample(100)
            array([ 0, 33, 66, 99])
        """
        first = np.linspace(0, rows - 1, min(rows, max(SAMPLED_FIRST - len(self.samples), 0))).astype(np.int64)
        period = max(1, round(self.spared / PART))
        later = np.arange(-self.rows % period, rows, period)
        self.rows += rows
        return np.union1d(first, later)

    def add(self, samples: npt.NDArray[np.int64]) -> None:
        """Add sampled rows."""
        self.samples = [*self.samples, *samples.tolist()][-LATEST:]

    def forget_old(self) -> None:
        """Keep the latest samples only: the rows that come are others than the rows that came."""
        self.samples = self.samples[-LEFT:]

    def count(self, test: int, name: str, count: CountedTest) -> None:
        """Learn from what a test did."""
        self.counts[name] = self.counts.get(name, CountedTest()) + count
        if count.calls:
            known, new = self.seconds[test], count.seconds / count.calls
            self.seconds[test] = min(known * DEARER, new) if known else new

    def costs(self) -> npt.NDArray[np.float64]:
        """What a call of each test costs, beside the cheapest; times vary, so those that hardly differ are equal."""
        seconds = np.maximum(self.seconds, LEAST_SECONDS)
        return np.exp2(np.round(np.log2(seconds / seconds.min()) * COST_STEPS) / COST_STEPS)


def by_rank(costs: Sequence[float], dropped: Sequence[float]) -> Positions:
    """Tests by what it costs that one drops a row: cost / (1 - selectivity), the least first (CACQ 4).

    Example:
        >>> by_rank([1.0, 1.0, 8.0], [0.5, 0.9, 0.9])
        array([1, 0, 2])
    """
    return np.argsort(np.asarray(costs) / np.maximum(dropped, 1e-9), kind="stable")
