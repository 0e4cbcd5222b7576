"""Tests that call functions of the analyst, each made for the rows that still need it, in the order that costs least.

CACQ routes a tuple first through the operators that drop most tuples for the least work, and learns which these are
(CACQ 2.1, 4). Here the order is learnt for each lineage: a test that every node of a row needs cannot be spared, and
one that few need drops little. What an order costs is computed over sampled rows (``learnt``), of which all tests are
known: of few tests every order, of more those that follow from cost / (1 - selectivity) by exchanging neighbours.

Whether a function fails does not depend on the order. A row for which it raises keeps its nodes at first, and loses
those that other tests take from it. Only where a node would be left is the function called again, and its failure told.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations
from typing import Self

import numpy as np
import numpy.typing as npt

from workbench.arrow.types import Mask
from workbench.engine.physical.filters.learnt import Learnt, by_rank
from workbench.engine.physical.filters.range_tables import Disjunction, RangeTable
from workbench.engine.spark.user_functions.attempt import Attempt
from workbench.engine.storage.counted_tests import CountedTest
from workbench.engine.storage.grouping import Positions
from workbench.engine.storage.lineage import Bits

Ask = Callable[[str, Positions, bool], Attempt]
"""Makes a test of some rows, by its name; whether nothing else is known to excuse that a function fails."""

Ranks = npt.NDArray[np.int64]
Costs = npt.NDArray[np.float64]

SLICE = 1_000
"""Rows that are routed together: what the first ones teach helps the next."""
EVERY_ORDER = 4
"""The most tests of which every order is looked at."""
OFF = 0.25
"""How far the calls may be from those that the samples foretell, before the rows are taken to be others."""
ENOUGH = 16
"""Samples of a lineage that are enough to do without those of others."""
SURPRISING = 3
"""And how many standard deviations."""
FAILED, NOT_ASKED = -1, -2


@dataclass(frozen=True)
class TestUse:
    """A table by which a test decides: of its own, or as one literal of a disjunction, by its position."""

    test: int
    table: RangeTable
    disjunction: int | None = None


@dataclass
class RowsTested:
    """What is known of some rows: the nodes they may belong to; the disjunctions no literal of which holds so far,
    and how many literals of these are to be tested."""

    bits: Bits
    failing: Mask
    left: npt.NDArray[np.int64]

    def take(self, rows: Positions) -> RowsTested:
        """What is known of some of them, as a copy."""
        return RowsTested(self.bits[rows], self.failing[rows], self.left[rows])


@dataclass(frozen=True)
class ExpensiveTests:
    """The tests of a filter that call functions."""

    names: tuple[str, ...]
    uses: tuple[TestUse, ...]
    disjunctions: tuple[Disjunction, ...]

    @classmethod
    def of(cls, names: Collection[str], tables: Sequence[RangeTable], disjunctions: Sequence[Disjunction]) -> Self:
        """Those of the tests by these tables that have one of some names."""
        used = {table.column for table in (*tables, *(t for some in disjunctions for t in some.tables))}
        tests = tuple(name for name in names if name in used)
        uses = [TestUse(tests.index(table.column), table) for table in tables if table.column in tests]
        for at, some in enumerate(disjunctions):
            uses += [TestUse(tests.index(table.column), table, at) for table in some.tables if table.column in tests]
        return cls(tests, tuple(uses), tuple(disjunctions))

    def lineage(self, bits: Bits, failing: Mask, learnt: Learnt, ask: Ask) -> Bits:
        """The lineage of rows after all tests.

        Args:
            bits: what the other tests leave of it.
            failing: for each row the disjunctions no other literal of which holds.
            learnt: of earlier rows, to which these are added.
            ask: makes a test.
        """
        if not self.names:
            return bits
        learnt.begin(self._digest, len(self.names))
        rows = RowsTested(bits, failing, np.tile(self._literals, (len(bits), 1)))
        work = _Work(self, rows, learnt, ask, np.zeros((len(bits), len(self.names)), dtype=bool))
        some = np.flatnonzero(np.logical_or.reduce([self.needing(test, rows) for test in range(len(self.names))]))
        for start in range(0, len(some), SLICE):
            work.route(some[start : start + SLICE])
        work.ask_again()
        return rows.bits

    def needing(self, test: int, rows: RowsTested) -> Mask:
        """The rows from which a test may take a node, if it was not made yet."""
        needed = np.zeros(len(rows.bits), dtype=bool)
        for use in self.uses:
            if use.test != test:
                continue
            if use.disjunction is None:
                needed |= (rows.bits & ~np.bitwise_and.reduce(use.table.bits)).any(axis=1)
            else:
                without = self.disjunctions[use.disjunction].without
                needed |= rows.failing[:, use.disjunction] & (rows.bits & ~without).any(axis=1)
        return needed

    def decide(self, test: int, rows: RowsTested, at: Positions, ranks: Ranks) -> None:
        """Take from rows the nodes that a test takes; ``ranks``: its value by each use of it, for those at ``at``."""
        for use, rank_ in zip(self._uses_of(test), ranks, strict=True):
            asked = rank_ >= 0
            which, found = at[asked], use.table.bits[rank_[asked]]
            if use.disjunction is None:
                rows.bits[which] &= found
                continue
            place = use.disjunction
            rows.failing[which, place] &= found[:, 0] == 0
            rows.left[which, place] -= 1
            lost = which[rows.failing[which, place] & (rows.left[which, place] == 0)]
            rows.bits[lost] &= self.disjunctions[place].without

    def ranks(self, test: int, attempt: Attempt) -> Ranks:
        """The value of a test by each use of it: shape (uses, rows)."""
        ranks = np.stack([use.table.rank(attempt.values) for use in self._uses_of(test)])
        ranks[:, attempt.failed] = FAILED
        return ranks

    def places(self, test: int) -> Positions:
        """Which of the uses are of a test."""
        return np.flatnonzero([use.test == test for use in self.uses])

    def costs(self, order: Sequence[int], rows: RowsTested, ranks: Ranks, costs: Costs) -> Costs:
        """What it costs to make tests in an order, for each row; ``ranks`` has all values: (rows, uses)."""
        rows, total = rows.take(np.arange(len(rows.bits))), np.zeros(len(rows.bits))
        for test in order:
            at = np.flatnonzero(self.needing(test, rows))
            total[at] += costs[test]
            self.decide(test, rows, at, ranks[np.ix_(at, self.places(test))].T)
        return total

    def best_order(self, learnt: Learnt, lineage: RowsTested, needed: Sequence[int]) -> tuple[tuple[int, ...], Costs]:
        """The order of the tests that rows of one lineage need, and what it cost the sampled ones."""
        costs = learnt.costs()
        samples, ranks = self._samples(learnt, lineage, needed)
        if not len(ranks):
            return tuple(needed), np.zeros(0)

        def cost(order: Sequence[int]) -> float:
            return float(self.costs(order, samples, ranks, costs).sum())

        best = tuple(needed)
        if len(needed) <= EVERY_ORDER:
            best = min(permutations(needed), key=cost)
            return best, self.costs(best, samples, ranks, costs)
        dropped = [self._dropped(test, samples, ranks) for test in needed]
        best = tuple(needed[place] for place in by_rank([costs[test] for test in needed], dropped))
        least, better = cost(best), True
        while better:
            better = False
            for first, second in pairwise(range(len(best))):
                other = list(best)
                other[first], other[second] = best[second], best[first]
                if (found := cost(other)) < least:
                    best, least, better = tuple(other), found, True
        return best, self.costs(best, samples, ranks, costs)

    def _dropped(self, test: int, samples: RowsTested, ranks: Ranks) -> float:
        """The part of rows from which a test takes a node, if it is made first."""
        rows = samples.take(np.arange(len(ranks)))
        self.decide(test, rows, np.arange(len(ranks)), ranks[:, self.places(test)].T)
        return float((rows.bits != samples.bits).any(axis=1).mean())

    def _samples(self, learnt: Learnt, lineage: RowsTested, needed: Sequence[int]) -> tuple[RowsTested, Ranks]:
        """The samples that tell what tests do to rows of one lineage: those of it, if there are enough, or all."""
        words, width = lineage.bits.shape[1], len(self.disjunctions)
        table = np.array(learnt.samples, dtype=np.int64).reshape(-1, words + width + len(self.uses))
        of_lineage = np.concatenate([lineage.bits[0].view(np.int64), lineage.failing[0].astype(np.int64)])
        places = [place for test in needed for place in self.places(test)]
        known = table[(table[:, words + width :][:, places] != NOT_ASKED).all(axis=1)]
        own = known[(known[:, : words + width] == of_lineage).all(axis=1)]
        known = own if len(own) >= ENOUGH else known
        return lineage.take(np.zeros(len(known), dtype=np.int64)), known[:, words + width :]

    def _uses_of(self, test: int) -> list[TestUse]:
        return [use for use in self.uses if use.test == test]

    @property
    def _literals(self) -> npt.NDArray[np.int64]:
        """How many literals of each disjunction are tests."""
        places = [use.disjunction for use in self.uses if use.disjunction is not None]
        return np.bincount(np.array(places, dtype=np.int64), minlength=len(self.disjunctions))

    @property
    def _digest(self) -> str:
        digest = hashlib.blake2b(repr(self.names).encode(), digest_size=12)
        for use in self.uses:
            digest.update(repr((use.test, use.disjunction, use.table.points.tolist())).encode())
            digest.update(use.table.bits.tobytes())
        for some in self.disjunctions:
            digest.update(some.without.tobytes())
        return digest.hexdigest()


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
        tests, names = self.tests, self.tests.names
        if len(names) == 1:
            self._make(0, some)
            return
        needed = np.stack([tests.needing(test, self.rows.take(some)) for test in range(len(names))], axis=1)
        several = np.flatnonzero(needed.sum(axis=1) > 1)
        sampled = several[self.learnt.sample(len(several))]
        self._sample(some[sampled], needed[sampled])
        rest = np.delete(some, sampled)
        if not len(rest):
            return
        self._in_order(rest, np.delete(needed, sampled, axis=0))

    def _sample(self, some: Positions, needed: Mask) -> None:
        """Make all tests that some rows need, and remember what they gave."""
        if not len(some):
            return
        before = self.rows.take(some)
        ranks = np.full((len(some), len(self.tests.uses)), NOT_ASKED, dtype=np.int64)
        for test in range(len(self.tests.names)):
            own = np.flatnonzero(needed[:, test])
            if len(own):
                ranks[np.ix_(own, self.tests.places(test))] = self._make(test, some[own]).T
        self.learnt.add(np.hstack([before.bits.view(np.int64), before.failing.astype(np.int64), ranks]))

    def _in_order(self, some: Positions, needed: Mask) -> None:
        """Make the tests of rows, each lineage in its order; where that costs what was not foretold, forget samples."""
        rows = self.rows.take(some)
        _, first, which = np.unique(
            np.hstack([rows.bits.view(np.int64), rows.failing]), axis=0, return_index=True, return_inverse=True
        )
        foretold, variance, groups = 0.0, 0.0, dict[tuple[int, ...], list[Positions]]()
        for lineage, at in enumerate(first):
            own = some[which.reshape(-1) == lineage]
            order, seen = self.tests.best_order(self.learnt, rows.take(at[None]), np.flatnonzero(needed[at]).tolist())
            groups.setdefault(order, []).append(own)
            foretold += seen.mean() * len(own) if len(seen) else np.nan
            variance += seen.var() * len(own) * (1 + len(own) / len(seen)) if len(seen) else np.nan
        costs, cost = self.learnt.costs(), 0.0
        for order, parts in groups.items():
            own = np.concatenate(parts)
            for test in order:
                at = own[self.tests.needing(test, self.rows.take(own))]
                if len(at):
                    self._make(test, at)
                    cost += costs[test] * len(at)
        if cost:
            self.learnt.spared = float((needed @ costs).sum() - cost) / cost
        if abs(cost - foretold) > max(OFF * foretold, SURPRISING * variance**0.5):
            self.learnt.forget_old()

    def _make(self, test: int, at: Positions, alone: bool = False) -> Ranks:
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
                self._make(test, at, alone=True)
