"""The order of tests that call functions: the best of all orders, from rows of which only some tests were made."""

from __future__ import annotations

import os
from itertools import permutations
from random import Random

import numpy as np
import pytest

from workbench.engine.physical.filters.call_order import Distribution, cheapest_order, completed, reaching
from workbench.engine.physical.filters.expensive_tests import Deciding, ExpensiveTests
from workbench.engine.physical.filters.learnt import NOT_ASKED, WAYS, Learnt
from workbench.engine.physical.filters.range_tables import Disjunction, RangeTable
from workbench.engine.storage.counted_tests import CountedTest

SEED = int(os.environ["ARGUS_SEED"])
NODES = 5


def random_tests(chosen: Random, number: int) -> ExpensiveTests:
    """Tests of nodes: each of some, alone or as a literal of a disjunction."""

    def table(bits: list[int]) -> RangeTable:
        return RangeTable("", np.array([0]), np.array(bits, dtype=np.uint64)[:, None])

    every, uses, disjunctions = 2**NODES - 1, list[Deciding](), list[Disjunction]()
    for test in range(number):
        taken = chosen.randrange(1, every + 1)
        left = [every & ~taken, every, every & ~taken, every & ~taken]
        uses.append(Deciding(test, table(left)))
    if chosen.random() < 0.5 and number > 2:
        some = chosen.sample(range(number), 2)
        tables = [table([0, 1, 0, 0]) for _ in some]
        without = np.array([every & ~chosen.randrange(1, every + 1)], dtype=np.uint64)
        disjunctions.append(Disjunction(tuple(tables), without))
        uses += [Deciding(test, of, 0) for test, of in zip(some, tables, strict=True)]
    return ExpensiveTests(tuple("abcdefgh"[:number]), tuple(uses), tuple(disjunctions))


@pytest.mark.parametrize("number", [2, 3, 4, 5, 6])
def test_of_few_tests_the_order_is_the_best_of_all(number: int) -> None:
    for seed in range(6):
        chosen, rng = Random(f"{SEED} {number} {seed}"), np.random.default_rng([SEED, number, seed])
        tests = random_tests(chosen, number)
        ways = 12
        values = rng.integers(0, 2, (ways, number))
        ranks = np.stack([values[:, use.test] for use in tests.uses], axis=1)
        rows = tests.rows(
            np.full((ways, 1), 2**NODES - 1, dtype=np.uint64), np.ones((ways, len(tests.disjunctions)), dtype=bool)
        )
        found = Distribution(rows, ranks, rng.dirichlet(np.ones(ways)), 1.0)
        costs = 10 ** rng.uniform(0, 3, number)
        needed = [test for test in range(number) if tests.needing(test, rows).any()]

        costing = {
            order: float(found.weights @ reaching(tests, order, rows, ranks) @ costs[list(order)])
            for order in permutations(needed)
        }
        assert costing[cheapest_order(tests, found, costs, needed)] == pytest.approx(min(costing.values()))


@pytest.mark.parametrize("learnt", [0.02, 0.1])
def test_what_was_not_asked_is_as_in_rows_that_agree(learnt: float) -> None:
    """Rows are tested in turn while they pass, some of them by all tests: then it is known how all would have been."""
    rng = np.random.default_rng(SEED)
    common = rng.random((40_000, 1))
    true = (np.where(rng.random((40_000, 3)) < 0.5, common, rng.random((40_000, 3))) < [0.3, 0.5, 0.6]).astype(int)
    observed = true.copy()
    asked = rng.random(len(true)) < learnt
    for place in (1, 2):
        observed[~asked & ~true[:, :place].all(axis=1), place] = NOT_ASKED
    ways, numbers = np.unique(observed, axis=0, return_counts=True)
    known, parts = completed(ways, numbers.astype(float))
    right = [(true == way).all(axis=1).mean() for way in known]
    assert np.allclose(parts, right, atol=0.03)
    assert parts.sum() == pytest.approx(1)


def test_rows_are_remembered_by_how_they_differ() -> None:
    learnt = Learnt()
    learnt.begin("some", 2)
    learnt.add(np.array([[1, 0], [1, 0], [1, 1]]))
    assert (learnt.ways, learnt.numbers) == ([[1, 0], [1, 1]], [2.0, 1.0])
    learnt.add(np.array([[1, 1], [2, 0]]))
    assert dict(zip(map(tuple, learnt.ways), learnt.numbers, strict=True)) == {(1, 0): 2, (1, 1): 2, (2, 0): 1}
    learnt.add(np.arange(10, 10 + 2 * WAYS).reshape(-1, 2))
    assert len(learnt.ways) == WAYS and [1, 0] not in learnt.ways


def test_a_call_costs_what_it_takes_where_its_value_is_not_known() -> None:
    learnt = Learnt()
    learnt.begin("some", 2)
    for _ in range(20):
        learnt.count(0, "dear, known", CountedTest(1_000, 0, 1, 0.5))
        learnt.count(1, "cheap", CountedTest(1_000, 0, 1_000, 10.0))
    dear, cheap = learnt.costs()
    assert dear < cheap
