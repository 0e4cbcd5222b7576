"""Makes tests that call functions of the analyst, each for the rows that still need it, in the order that costs least.

CACQ routes a tuple first through the operators that drop most tuples for the least work, and learns which these are
(CACQ 2.1, 4). Here rows are routed by their lineage, some together, and the order is planned anew for each of these
(``call_order``).

Whether a function fails does not depend on the order. A row for which it raises keeps its nodes at first, and loses
those that other tests take from it. Only where a node would be left is the function called again, and its failure told.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from workbench.arrow.types import Mask
from workbench.engine.physical.filters.call_order import Plan, planned
from workbench.engine.physical.filters.expensive_tests import ExpensiveTests, Ranks, RowsTested
from workbench.engine.physical.filters.learnt import NOT_ASKED, Learnt
from workbench.engine.spark.user_functions.attempt import Attempt
from workbench.engine.storage.counted_tests import CountedTest
from workbench.engine.storage.grouping import Positions
from workbench.engine.storage.lineage import Bits

Ask = Callable[[str, Positions, bool], Attempt]
"""Makes a test of some rows, by its name; whether nothing else is known to excuse that a function fails."""

SLICE = 1_000
"""Rows that are routed together: what the first ones teach helps the next."""
OFF = 0.25
"""How far the calls may be from those that were foretold, before the rows are taken to be others."""
ENOUGH = 16
"""Rows of a lineage, of which all is known, that are enough to foretell others."""
SURPRISING = 5
"""And how many standard deviations."""


def routed(tests: ExpensiveTests, bits: Bits, failing: Mask, learnt: Learnt, ask: Ask) -> Bits:
    """The lineage of rows after all tests.

    Args:
        tests: which ones.
        bits: what the other tests leave of it.
        failing: for each row the disjunctions no other literal of which holds.
        learnt: of earlier rows, to which these are added.
        ask: makes a test.
    """
    if not tests.names:
        return bits
    learnt.begin(tests.digest, len(tests.names))
    rows = tests.rows(bits, failing)
    work = _Work(tests, rows, learnt, ask, np.zeros((len(bits), len(tests.names)), dtype=bool))
    some = np.flatnonzero(_needed(tests, rows).any(axis=1))
    for start in range(0, len(some), SLICE):
        work.route(some[start : start + SLICE])
    work.ask_again()
    return rows.bits


def _needed(tests: ExpensiveTests, rows: RowsTested) -> Mask:
    """Which tests rows need: shape (rows, tests)."""
    return np.stack([tests.needing(test, rows) for test in range(len(tests.names))], axis=1)


@dataclass
class _Work:
    """The tests of some rows while they are made; ``failed``: the rows for which a function failed, by test."""

    tests: ExpensiveTests
    rows: RowsTested
    learnt: Learnt
    ask: Ask
    failed: Mask

    def route(self, some: Positions) -> None:
        """Make the tests that some rows need."""
        if len(self.tests.names) == 1:
            self.make(0, some)
            return
        needed = _needed(self.tests, self.rows.take(some))
        several = needed.sum(axis=1) > 1
        for test in range(len(self.tests.names)):
            if len(alone := some[needed[:, test] & ~several]):
                self.make(test, alone)
        first = np.flatnonzero(several)[self.learnt.first(int(several.sum()))]
        if len(first):
            _Slice(self, some[first], needed[first]).make_all()
            several[first] = False
        if several.any():
            _Slice(self, some[several], needed[several]).make_in_order()

    def make(self, test: int, at: Positions, alone: bool = False) -> Ranks:
        """Make a test of some rows."""
        name, before = self.tests.names[test], self.rows.bits[at]
        attempt = self.ask(name, at, alone or len(self.tests.names) == 1)
        ranks = self.tests.ranks(test, attempt)
        self.tests.decide(test, self.rows, at, ranks)
        self.failed[at, test] = attempt.failed
        dropped = int((self.rows.bits[at] != before).any(axis=1).sum())
        self.learnt.count(test, name, CountedTest(len(at), dropped, attempt.calls, attempt.seconds))
        return ranks

    def ask_again(self) -> None:
        """Call functions again where they failed and no other test has taken the nodes that need them."""
        for test in range(len(self.tests.names)):
            at = np.flatnonzero(self.failed[:, test] & self.tests.needing(test, self.rows))
            if len(at):
                self.make(test, at, alone=True)


class _Slice:
    """Rows that are routed together, each of which needs several tests.

    Args:
        work: makes the tests.
        some: which of its rows they are.
        needed: the tests that they need, shape (rows, tests).
    """

    def __init__(self, work: _Work, some: Positions, needed: Mask) -> None:
        self._work, self._some, self._needed = work, some, needed
        self._before = work.rows.take(some)
        self._ranks = np.full((len(some), len(work.tests.uses)), NOT_ASKED, dtype=np.int64)

    def make_all(self) -> None:
        """Make all tests that the rows need."""
        for test in range(len(self._work.tests.names)):
            self._make(test, np.flatnonzero(self._needed[:, test]))
        self._remember(np.ones(len(self._some), dtype=bool))

    def make_in_order(self) -> None:
        """Make the tests of the rows, each lineage in its order, and some more for the sake of learning."""
        work, lineages = self._work, self._before.lineages
        _, first, which = np.unique(lineages, axis=0, return_index=True, return_inverse=True)
        which = which.reshape(-1)
        plans = [
            planned(work.tests, work.learnt, self._before.take(at[None]), np.flatnonzero(self._needed[at]).tolist())
            for at in first
        ]
        draws, reached, asked = work.learnt.draws(len(which)), np.zeros_like(self._needed), ~self._needed
        for order in dict.fromkeys(plan.order for plan in plans):
            same = [at for at, plan in enumerate(plans) if plan.order == order]
            own = np.flatnonzero(np.isin(which, same))
            chances = np.stack([plans[at].chances for at in same])[np.searchsorted(same, which[own])]
            came = np.zeros(len(own), dtype=np.int64)
            for place, test in enumerate(order):
                needing = work.tests.needing(test, work.rows.take(self._some[own]))
                made = needing | (draws[own] < chances[np.arange(len(own)), place, came % len(order)])
                self._make(test, own[made])
                reached[own, test], asked[own, test] = needing, made
                came += needing
        self._remember(asked.all(axis=1) & (self._needed != reached).any(axis=1))
        if any(self._surprising(plan, reached[which == at]) for at, plan in enumerate(plans)):
            work.learnt.forget_old()

    def _make(self, test: int, at: Positions) -> None:
        if len(at):
            places = self._work.tests.places(test)
            self._ranks[np.ix_(at, places)] = self._work.make(test, self._some[at]).T

    def _remember(self, complete: Mask) -> None:
        self._work.learnt.add(np.hstack([self._before.lineages, self._ranks, complete[:, None].astype(np.int64)]))

    def _surprising(self, plan: Plan, reached: Mask) -> bool:
        """Whether rows cost what was not foretold, and need tests more or less often than chance explains."""
        if plan.learnt < ENOUGH:
            return False
        costs, order = self._work.learnt.costs(), list(plan.order)
        found, foretold = reached[:, order].mean(axis=0), plan.reached
        variance = (foretold * (1 - foretold) + 1 / plan.learnt) * (1 / plan.learnt + 1 / len(reached))
        off = abs(float((found - foretold) @ costs[order])) > OFF * float(foretold @ costs[order])
        return off and bool((np.abs(found - foretold) > SURPRISING * np.sqrt(variance)).any())
