"""What is learnt of the tests that call functions: what a call costs, and what tests gave for the rows so far.

Every row tells what the tests gave that were made of it. For some rows more tests are made than they need, so it is
known how tests depend on one another, and not only how many rows pass each after the others (as in Babu et al.,
Adaptive ordering of pipelined stream filters, SIGMOD 2004). It travels from batch to batch: with the job, and back in
the answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.engine.storage.counted_tests import CountedTest
from workbench.engine.storage.grouping import Positions

NOT_ASKED = -2
"""What a test gave that was not made."""
MADE_FIRST = 128
"""Rows of which all tests are made before an order is trusted."""
LATEST = 20_000
"""The rows that are remembered."""
WAYS = 500
"""In how many ways they may differ."""
LEFT = 16
"""The rows that are left where those that come turn out to be others."""
DEARER = 1.1
"""What a call is taken to cost after dearer ones; a machine that does other things makes calls slower."""
COST_STEPS = 24
"""Steps to the double in which costs are told apart: 3 % each, so an order that is not the best costs little more."""
LEAST_SECONDS = 100e-6
"""Seconds of a call: what it takes to hand over its arguments. Cheaper ones cost as much."""
NEW_PART = 0.3
"""How much the latest rows count for the part of rows whose values are not known."""
_GOLDEN = (5**0.5 - 1) / 2


@dataclass
class Learnt:
    """The costs and results learnt of the tests of one filter, by their positions.

    Attributes:
        of: which tests; of others nothing is known.
        rows: how many rows there were for which an order mattered.
        ways: of rows that are alike: their lineage before the tests, what these gave, whether all were made for
            the sake of learning.
        numbers: how many rows were so.
        seconds: of a call of each test, those of the quickest calls of late; 0 where none was made.
        called: of each test the part of the rows that take a call; of the others the value is known.
        counts: of each test since it came.
    """

    of: str = ""
    rows: int = 0
    ways: list[list[int]] = field(default_factory=list)
    numbers: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    called: list[float] = field(default_factory=list)
    counts: dict[str, CountedTest] = field(default_factory=dict)

    @property
    def kept(self) -> Mapping[str, Any]:
        """The values for the next batch, ready for JSON."""
        return {name: value for name, value in vars(self).items() if name != "counts"}

    def begin(self, of: str, tests: int) -> None:
        """Forget what was learnt of other tests."""
        if self.of != of:
            self.of, self.rows, self.ways, self.numbers = of, 0, [], []
            self.seconds, self.called = [0.0] * tests, [1.0] * tests

    def first(self, rows: int) -> Positions:
        """Of which of some rows all tests are made before an order is trusted, spread evenly among them.

        Example:
            >>> Learnt(numbers=[124.0]).first(100)
            array([ 0, 33, 66, 99])
        """
        number = max(MADE_FIRST - int(sum(self.numbers)), 0)
        return np.linspace(0, rows - 1, min(rows, number)).astype(np.int64)

    def draws(self, rows: int) -> npt.NDArray[np.floating[Any]]:
        """A number from 0 to 1 for each row: of any some that follow each other, as many are below a half as above."""
        places = np.arange(self.rows + 1, self.rows + rows + 1)
        self.rows += rows
        return places * _GOLDEN % 1

    def add(self, ways: npt.NDArray[np.int64]) -> None:
        """Add rows; where those that are remembered differ in too many ways, the oldest ways are forgotten."""
        if not len(ways):
            return
        known = np.array(self.ways, dtype=np.int64).reshape(-1, ways.shape[1])
        numbers = np.concatenate([np.ones(len(ways)), self.numbers])
        _, first, which = np.unique(np.vstack([ways, known]), axis=0, return_index=True, return_inverse=True)
        latest = np.argsort(first)[:WAYS]
        numbers = np.bincount(which.reshape(-1), numbers)[latest]
        self.ways = np.vstack([ways, known])[first[latest]].tolist()
        self.numbers = (numbers * min(1.0, LATEST / numbers.sum())).tolist()

    def forget_old(self) -> None:
        """Remember little: the rows that come are others than the rows that came."""
        part = min(1.0, LEFT / sum(self.numbers))
        self.numbers = [number * part for number in self.numbers]

    def count(self, test: int, name: str, count: CountedTest) -> None:
        """Learn from the results of a test."""
        self.counts[name] = self.counts.get(name, CountedTest()) + count
        if count.asked:
            self.called[test] += NEW_PART * (count.calls / count.asked - self.called[test])
        if count.calls:
            known, new = self.seconds[test], count.seconds / count.calls
            self.seconds[test] = min(known * DEARER, new) if known else new

    def costs(self) -> npt.NDArray[np.floating[Any]]:
        """The cost of each test of a row, relative to the cheapest; costs that hardly differ count as equal."""
        seconds = np.maximum(np.multiply(self.seconds, self.called), LEAST_SECONDS)
        return np.exp2(np.round(np.log2(seconds / seconds.min()) * COST_STEPS) / COST_STEPS)
