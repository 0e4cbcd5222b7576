"""The order of the tests that rows of one lineage need: the cheapest one, by what the rows so far tell.

Of a row the tests are known that were made. What the others would have given is taken to be distributed as in those
rows that agree with it in what was made, and of which all is known: by expectation and maximization (Dempster, Laird
and Rubin 1977). Which tests were made follows from what earlier ones gave, and otherwise from chance alone, so this is
the likeliest distribution. Then what every order costs is known: of few tests the best is found among all, of more it
begins with cost / (1 - selectivity) (CACQ 4) and exchanges neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.arrow.types import Mask
from workbench.engine.physical.filters.expensive_tests import ExpensiveTests, Ranks, RowsTested
from workbench.engine.physical.filters.learnt import NOT_ASKED, Learnt

Amounts = npt.NDArray[np.floating[Any]]

EVERY_ORDER = 6
"""The most tests of which every order is looked at."""
OF_OTHERS = 32
"""The rows of a lineage, of which all is known, that all rows of others together count as."""
WAYS_OF_OTHERS = 64
"""In how many ways rows of other lineages may differ that are looked at: the commonest, since they count little."""
ROUNDS = 20
"""Of expectation and maximization, at most."""
CONVERGED = 1e-3
"""How much of all rows may still go from one way to another in a round that is the last."""
PART = 0.03
"""What tests that are made for the sake of learning may add to the cost of calls."""
MOST_LEARNT = 0.5
"""The most of the rows that do not need a test of which it is made for the sake of learning."""


@dataclass(frozen=True)
class Distribution:
    """How the rows of a lineage are distributed.

    Attributes:
        rows: those that are alike as one, before the tests.
        ranks: what all tests give.
        weights: how many rows are so, as parts of all.
        learnt: how many rows of the lineage there were of which all tests were made for the sake of learning.
    """

    rows: RowsTested
    ranks: Ranks
    weights: Amounts
    learnt: float


@dataclass(frozen=True)
class Plan:
    """How rows of one lineage are tested.

    Attributes:
        order: of the tests.
        reached: the part of the rows that need each of them, by their places in the order.
        chances: the part of the other rows of which it is made for the sake of learning: shape (places, places), by how
            many tests before it they needed. Rows that came far are few, and most calls are made of them.
        learnt: rows that told of it (``Distribution``).
    """

    order: tuple[int, ...]
    reached: Amounts
    chances: Amounts
    learnt: float


def planned(tests: ExpensiveTests, learnt: Learnt, lineage: RowsTested, needed: Sequence[int]) -> Plan:
    """The plan for rows of a lineage that need some tests."""
    found, costs = distribution(tests, learnt, lineage, needed), learnt.costs()
    if not len(found.weights):
        return Plan(tuple(needed), np.ones(len(needed)), np.zeros((len(needed), len(needed))), 0.0)
    order = cheapest_order(tests, found, costs, needed)
    reached = reaching(tests, order, found.rows, found.ranks)
    parts, own, chances = found.weights @ reached, costs[list(order)], np.zeros((len(order), len(order)))
    for place in range(1, len(order)):
        budget = PART * float(own @ parts) / ((len(order) - 1) * place)
        spared = np.where(reached[:, place], 0.0, found.weights)
        came = np.bincount(reached[:, :place].sum(axis=1), spared, minlength=len(order))[: len(order)]
        chances[place] = np.minimum(budget / (own[place] * (came + 1 / (found.learnt + 1))), MOST_LEARNT)
    return Plan(order, parts, chances, found.learnt)


def distribution(tests: ExpensiveTests, learnt: Learnt, lineage: RowsTested, needed: Sequence[int]) -> Distribution:
    """The distribution of a lineage's own rows, with a small part of the others'."""
    of_lineage = lineage.lineages[0]
    before = len(of_lineage)
    ways = np.array(learnt.ways, dtype=np.int64).reshape(-1, before + len(tests.uses) + 1)
    places = [place for test in needed for place in tests.places(test)]
    observed, numbers = ways[:, before:-1][:, places], np.array(learnt.numbers)
    own, complete = (ways[:, :before] == of_lineage).all(axis=1), ways[:, -1] == 1
    some = np.argsort(np.where(own, -np.inf, -numbers), kind="stable")[: int(own.sum()) + WAYS_OF_OTHERS]
    own, complete, numbers = own[some], complete[some], numbers[some]
    others = numbers[complete & ~own].sum()
    numbers = np.where(own, numbers, numbers * min(1.0, OF_OTHERS / max(others, 1.0)))
    found, weights = completed(observed[some], numbers)
    ranks = np.full((len(found), len(tests.uses)), NOT_ASKED, dtype=np.int64)
    ranks[:, places] = found
    rows = lineage.take(np.zeros(len(found), dtype=np.int64))
    return Distribution(rows, ranks, weights, float(numbers[complete & own].sum()))


def completed(observed: Ranks, numbers: Amounts) -> tuple[Ranks, Amounts]:
    """The combinations of test results that rows have, and the share of rows with each, by expectation maximization.

    Args:
        observed: combinations of results; where a test was not made, the result is ``NOT_ASKED``.
        numbers: the rows with each combination.

    Example:
        >>> known, parts = completed(np.array([[0, NOT_ASKED], [0, 0], [0, 1], [1, 1]]), np.array([8.0, 1, 1, 10]))
        >>> known.tolist(), parts.round(2).tolist()
        ([[0, 0], [0, 1], [1, 1]], [0.25, 0.25, 0.5])
    """
    if not len(observed):
        return observed, numbers
    missing = observed == NOT_ASKED
    known = np.unique(observed[~missing.any(axis=1)], axis=0)
    alike = (missing[:, None, :] | (observed[:, None, :] == known[None])).all(axis=2)
    alone = ~alike.any(axis=1)  # of these no more is known: the tests that were not made are taken to drop nothing
    known = np.vstack([known, observed[alone]])
    alike = np.hstack([alike, np.eye(len(observed))[:, alone] > 0])
    complete = ~missing.any(axis=1) | alone
    weights, change = numbers[complete] @ alike[complete], np.inf
    for _ in range(ROUNDS):
        if change < CONVERGED * numbers.sum():
            break
        before, shares = weights, alike * weights
        weights = (numbers / shares.sum(axis=1)) @ shares
        change = float(np.abs(weights - before).sum())
    return known, weights / weights.sum()


def reaching(tests: ExpensiveTests, order: Sequence[int], before: RowsTested, ranks: Ranks) -> Mask:
    """Which rows need each test, where they are made in an order: shape (rows, places)."""
    rows = before.take(np.arange(len(ranks)))
    needed = np.zeros((len(ranks), len(order)), dtype=bool)
    for place, test in enumerate(order):
        needed[:, place] = tests.needing(test, rows)
        at = np.flatnonzero(needed[:, place])
        tests.decide(test, rows, at, ranks[np.ix_(at, tests.places(test))].T)
    return needed


def cheapest_order(
    tests: ExpensiveTests, found: Distribution, costs: Amounts, needed: Sequence[int]
) -> tuple[int, ...]:
    """The order in which tests cost least."""
    if len(needed) > EVERY_ORDER:
        return _near_best(tests, found, costs, needed)
    every = np.arange(len(found.weights))
    # What a row needs after some tests does not depend on their order, so of these only the cheapest goes on.
    best = {frozenset[int](): (0.0, tuple[int, ...](), found.rows)}
    for _ in needed:
        longer = dict[frozenset[int], tuple[float, tuple[int, ...], RowsTested]]()
        for made, (cost, order, rows) in best.items():
            for test in (test for test in needed if test not in made):
                with_it = made | {test}
                total = cost + costs[test] * float(found.weights[tests.needing(test, rows)].sum())
                if with_it not in longer:
                    after = rows.take(every)
                    tests.decide(test, after, every, found.ranks[:, tests.places(test)].T)
                    longer[with_it] = total, (*order, test), after
                elif total < longer[with_it][0]:
                    longer[with_it] = total, (*order, test), longer[with_it][2]
        best = longer
    ((_, order, _),) = best.values()
    return order


def _near_best(tests: ExpensiveTests, found: Distribution, costs: Amounts, needed: Sequence[int]) -> tuple[int, ...]:
    def cost(order: Sequence[int]) -> float:
        return float(found.weights @ reaching(tests, order, found.rows, found.ranks) @ costs[list(order)])

    best = tuple(sorted(needed, key=lambda test: costs[test] / max(_dropped(tests, test, found), 1e-9)))
    least, better = cost(best), True
    while better:
        better = False
        for first, second in pairwise(range(len(best))):
            other = list(best)
            other[first], other[second] = best[second], best[first]
            if (total := cost(other)) < least:
                best, least, better = tuple(other), total, True
    return best


def _dropped(tests: ExpensiveTests, test: int, found: Distribution) -> float:
    """The part of rows from which a test takes a node, if it is made first."""
    every = np.arange(len(found.weights))
    rows = found.rows.take(every)
    tests.decide(test, rows, every, found.ranks[:, tests.places(test)].T)
    return float(found.weights @ (rows.bits != found.rows.bits).any(axis=1))
