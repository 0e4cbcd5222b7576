"""Predicates that call dear functions (CACQ 4): calls cost little more than the best order's, and answers are right.

Functions have random costs from 1 to 1000, pass from 1 to 95 % of the rows, and depend on one another in several ways;
some raise for rows that another predicate keeps from them. What a call costs is told by a clock of the test's own, and
counted through the whole engine. The best order is that of the measured rows themselves, which nobody could know before
they come. ``ARGUS_LONG=all`` tries more cases.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from random import Random

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from long import LONG

from workbench.engine.spark.in_process import InProcess
from workbench.engine.spark.user_functions.attempt import Attempt
from workbench.engine.spark.user_functions.functions import CalledFunction
from workbench.options import Options
from workbench.session.session import Session

ROWS, LEARNING, BATCHES = 2_000, 3, 6
"""Rows of a batch; batches that are not measured; all of them."""
SEED, CASES = int(os.environ["ARGUS_SEED"]), 100 if LONG else 2
KINDS = ("independent", "together", "opposed", "partly together")

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Dear:
    """A function: what a call costs, for which rows it is true, and of which predicate's rows it raises."""

    cost: float
    passes: Mask
    guard: str = ""


@dataclass(frozen=True)
class Asked:
    """A query: the functions of its conjunction, and how many of the ten values of ``k`` it asks for."""

    functions: tuple[str, ...]
    below: int

    @property
    def sql(self) -> str:
        return f"SELECT id FROM s WHERE {' AND '.join(f'{name}(id)' for name in self.functions)} AND k < {self.below}"


def drawn(seed: int, several: bool) -> tuple[dict[str, Dear], list[Asked]]:
    """Random functions and the queries that call them."""
    chosen, rng = Random(seed), np.random.default_rng(seed)
    names = [f"f_{letter}" for letter in "abcde"[: chosen.randint(2, 5)]]
    asked = [
        Asked(tuple(chosen.sample(names, chosen.randint(2, len(names)) if several else len(names))), below)
        for below in (chosen.choices([10, 10, 7, 4], k=3) if several else [10])
    ]
    common, functions = rng.random(ROWS * BATCHES), dict[str, Dear]()
    for name in names:
        own, kind = rng.random(ROWS * BATCHES), chosen.choice(KINDS)
        mixed = np.where(rng.random(ROWS * BATCHES) < chosen.uniform(0.3, 0.9), common, own)
        value = {"independent": own, "together": common, "opposed": 1 - common, "partly together": mixed}[kind]
        kept = [g for g in functions if all(g in q.functions for q in asked if name in q.functions)]
        guard = chosen.choice(kept) if kept and chosen.random() < 0.4 else ""
        functions[name] = Dear(10 ** chosen.uniform(0, 3) / 1000, value < chosen.uniform(0.01, 0.95), guard)
    return functions, asked


def called(function: Dear, guard: Mask | None) -> Callable[[int], bool]:
    """As an analyst would write it."""
    true = frozenset(np.flatnonzero(function.passes).tolist())
    known = None if guard is None else frozenset(np.flatnonzero(guard).tolist())

    def test(id: int) -> bool:
        if known is not None and id not in known:
            raise ValueError(f"{id} was to be kept from this function")
        return id in true

    return test


def best(functions: dict[str, Dear], queries: Sequence[Asked]) -> float:
    """What the best fixed order costs in the measured batches: calls where some query is not yet decided."""
    k, late = np.arange(ROWS * BATCHES) % 10, slice(LEARNING * ROWS, None)

    def cost(order: Sequence[str]) -> float:
        total, left = 0.0, dict[str, Mask]()
        for name in order:
            needed = np.zeros(ROWS * BATCHES, dtype=bool)
            for query in queries:
                if name in query.functions:
                    before = [rows for other, rows in left.items() if other in query.functions]
                    needed |= np.logical_and.reduce([k < query.below, *before])
            total += functions[name].cost * int(needed[late].sum())
            guard = functions[name].guard
            left[name] = functions[name].passes | (~functions[guard].passes if guard else False)
        return total

    return min(map(cost, permutations(functions)))


def ratio(functions: dict[str, Dear], queries: Sequence[Asked], sharing: bool) -> float:
    """What calls cost after the first batches, beside the best order of all queries; unshared, of each by itself."""
    k = np.arange(ROWS * BATCHES) % 10
    with Session(InProcess(), options=Options(sharing=sharing)) as session:
        session.add_stream("s", pa.table({"id": np.arange(ROWS * BATCHES), "k": k}), history=0, batch=ROWS)
        for name, function in functions.items():
            guard = functions[function.guard].passes if function.guard else None
            session.add_function(name, called(function, guard), returns="boolean")
        session.register_many({f"q{at}": query.sql for at, query in enumerate(queries)})
        reports = session.run(BATCHES)
        for at, query in enumerate(queries):
            right = np.flatnonzero(
                np.logical_and.reduce([functions[n].passes for n in query.functions] + [k < query.below])
            )
            assert sorted(session.query(f"q{at}").result()["id"]) == right.tolist()
    paid = sum(
        test.calls * functions[next(name for name in functions if name in called_)].cost
        for report in reports[LEARNING:]
        for operator in report.operators
        for called_, test in operator.tests.items()
    )
    groups = [queries] if sharing else [[query] for query in queries]
    return paid / sum(best(functions, group) for group in groups)


@pytest.fixture
def by_cost(monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, Dear]], None]:
    """A clock by which a call takes what it costs."""
    costs = dict[str, float]()

    def priced(call: Callable[..., Attempt]) -> Callable[..., Attempt]:
        def attempt(self: CalledFunction, *columns: pa.Array) -> Attempt:
            made = call(self, *columns)
            return replace(made, seconds=made.calls * costs[self._name.partition("@")[0]])

        return attempt

    for name in ("attempt", "told"):
        monkeypatch.setattr(CalledFunction, name, priced(getattr(CalledFunction, name)))
    return lambda functions: costs.update({name: function.cost for name, function in functions.items()})


@pytest.mark.parametrize(("several", "sharing"), [(False, True), (True, True), (True, False)])
def test_calls_cost_at_most_a_tenth_more_than_in_the_best_order(
    by_cost: Callable[[dict[str, Dear]], None], several: bool, sharing: bool
) -> None:
    ratios = dict[int, float]()
    for seed in range(SEED, SEED + CASES):
        functions, queries = drawn(seed, several)
        by_cost(functions)
        ratios[seed] = ratio(functions, queries, sharing)
    assert max(ratios.values()) <= 1.1, ratios
