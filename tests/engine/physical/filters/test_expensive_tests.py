"""Tests that call functions: answers are the same in every order, and the order that is learnt costs what it may."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import permutations
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from long import LONG
from three_valued import satisfied

from workbench.engine.physical.filters.filter_plan import compile_filter
from workbench.engine.physical.filters.learnt import Learnt
from workbench.engine.spark.user_functions.attempt import Attempt
from workbench.sql.algebra.expressions import Call, Column, Constant, Expression
from workbench.sql.algebra.types import INTEGER
from workbench.sql.predicates.cnf import Literal, Operator, ORPred, PredSet, or_pred, pred_set

ID, K = Column("id", INTEGER), Column("k", INTEGER)
ROWS = 500


@dataclass
class Called:
    """A function over columns that counts its calls, and fails for some arguments."""

    value: Callable[[int], int]
    cost: float = 0.001
    fails: Callable[[int], bool] = lambda id: False
    calls: int = 0
    disabling: list[int] = field(default_factory=list)

    def told(self, *columns: pa.Array) -> Attempt:
        attempt = self.attempt(*columns)
        self.disabling += [id for id, lost in zip(columns[0].to_pylist(), attempt.failed, strict=True) if lost]
        return attempt

    def __call__(self, *columns: pa.Array) -> pa.Array:
        return self.told(*columns).values

    def attempt(self, *columns: pa.Array) -> Attempt:
        ids = columns[0].to_pylist()
        failed = np.array([self.fails(id) for id in ids], dtype=bool)
        self.calls += len(ids)
        values = [None if lost else self.value(id) for id, lost in zip(ids, failed, strict=True)]
        return Attempt(pa.array(values, pa.int64()), failed, "", len(ids), self.cost * len(ids))


def called(name: str, argument: Expression = ID) -> Call:
    return Call(f"{name}@1", (argument,), INTEGER)


def holds(name: str) -> Literal:
    return Literal(called(name), Operator.EQ, Constant(1, INTEGER))


def alone(name: str) -> ORPred:
    return or_pred([holds(name)])


def below(number: int) -> ORPred:
    return or_pred([Literal(K, Operator.LT, Constant(number, INTEGER))])


def passing(seed: int, part: float) -> Callable[[int], int]:
    """A function that is 1 for a part of all arguments."""
    values = (np.random.default_rng(seed).random(20 * ROWS) < part).astype(int).tolist()
    return values.__getitem__


def batches(sets: list[PredSet], functions: Mapping[str, Called], number: int, first: int = 0) -> list[list[int]]:
    """The calls of each function in some batches; the answers are those of plain Python."""
    compiled = compile_filter(dict(enumerate(sets)), range(len(sets)), [frozenset([0])], ["id", "k"])
    assert not compiled.tests
    named = {f"{name}@1": function for name, function in functions.items()}
    filter_, learnt, counted = compiled.filter.calling(named), Learnt(), []
    for batch in range(first, first + number):
        before = [function.calls for function in functions.values()]
        ids = list(range(batch * ROWS, (batch + 1) * ROWS))
        rows = pa.record_batch({"id": pa.array(ids), "k": pa.array([id % 10 for id in ids])})
        bits = filter_.lineage(rows, learnt)[:, 0].tolist()
        for id, lineage in zip(ids, bits, strict=True):
            values = {"id": id, "k": id % 10}
            expected = [plain(predicates, values, functions) for predicates in sets]
            assert [bool(lineage >> bit & 1) for bit in range(len(sets))] == expected, id
        counted.append([now.calls - then for now, then in zip(functions.values(), before, strict=True)])
    return counted


def plain(predicates: PredSet, row: dict[str, int], functions: Mapping[str, Called]) -> bool:
    """Whether a row satisfies predicates; a call that fails is NULL."""
    return all(any(literal_holds(literal, row, functions) for literal in p.literals) for p in predicates)


def literal_holds(literal: Literal, row: dict[str, int], functions: Mapping[str, Called]) -> bool:
    if not isinstance(literal.left, Call):
        return satisfied(pred_set([or_pred([literal])]), row)
    function = functions[literal.left.function.removesuffix("@1")]
    return not function.fails(row["id"]) and function.value(row["id"]) == 1


def best_cost(sets: list[PredSet], functions: Mapping[str, Called], batch: int) -> float:
    """What the best fixed order of calls costs: every function is called where some selection is not yet decided."""

    # Rows with the same k have the same cheap tests, so what an order costs follows from k and the values of the calls.
    alike = Counter(
        (id % 10, *(function.value(id) for function in functions.values()))
        for id in range(batch * ROWS, (batch + 1) * ROWS)
    )

    def cost(order: tuple[str, ...]) -> float:
        total = 0.0
        for (k, *values), rows in alike.items():
            row, called, known = {"k": k}, dict(zip(functions, values, strict=True)), dict[str, bool]()
            for name in order:
                if any(undecided(some, row, known, name) for some in sets):
                    total += functions[name].cost * rows
                    known[name] = called[name] == 1
        return total

    return min(map(cost, permutations(functions)))


def undecided(predicates: PredSet, row: dict[str, int], known: Mapping[str, bool], name: str) -> bool:
    """Whether a call still matters for a selection, given the calls that are known."""
    matters = False
    for predicate in predicates:
        truths = [
            known.get(one.left.function.removesuffix("@1"))
            if isinstance(one.left, Call)
            else satisfied(pred_set([or_pred([one])]), row)
            for one in predicate.literals
        ]
        if not any(truths) and None not in truths:
            return False
        named = any(isinstance(one.left, Call) and one.left.function == f"{name}@1" for one in predicate.literals)
        matters |= named and not any(truths)
    return matters


def late_cost(sets: list[PredSet], functions: Mapping[str, Called]) -> float:
    """What batches after the third cost, beside the best order."""
    counted = batches(sets, functions, 6)[3:]
    costs = [sum(n * f.cost for n, f in zip(calls, functions.values(), strict=True)) for calls in counted]
    return sum(costs) / sum(best_cost(sets, functions, batch) for batch in (3, 4, 5))


CASES: dict[str, tuple[list[list[ORPred]], dict[str, tuple[float, float]]]] = {
    "two": ([[alone("a"), alone("z")]], {"a": (0.5, 1), "z": (0.1, 1)}),
    "exchanged": ([[alone("a"), alone("z")]], {"a": (0.1, 1), "z": (0.5, 1)}),
    "slow and selective": ([[alone("a"), alone("z")]], {"a": (0.1, 50), "z": (0.5, 1)}),
    "five": (
        [[alone(n) for n in "abcde"]],
        {"a": (0.9, 1), "b": (0.7, 2), "c": (0.5, 1), "d": (0.3, 8), "e": (0.1, 2)},
    ),
    "needed anyway": ([[alone("a"), alone("z")], [alone("a")]], {"a": (0.5, 1), "z": (0.1, 1)}),
    "by lineage": (
        [[below(5), alone("a"), alone("z")], [below(8), alone("z")], [alone("a"), alone("m")]],
        {"a": (0.3, 1), "m": (0.6, 1), "z": (0.1, 1)},
    ),
    "either": ([[or_pred([holds("a"), holds("z")]), alone("m")]], {"a": (0.1, 1), "m": (0.5, 1), "z": (0.6, 1)}),
    "either, one cheap": (
        [[or_pred([holds("a"), *below(3).literals]), alone("z")]],
        {"a": (0.4, 1), "z": (0.5, 1)},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_after_three_batches_calls_cost_at_most_a_tenth_more_than_the_best_order(name: str) -> None:
    sets, parts = CASES[name]
    functions = {
        function: Called(passing(seed, part), cost / 1000)
        for seed, (function, (part, cost)) in enumerate(parts.items())
    }
    assert late_cost([pred_set(one) for one in sets], functions) <= 1.1


@pytest.mark.parametrize("seed", range(60 if LONG else 3))
def test_any_selections_cost_at_most_a_tenth_more(seed: int) -> None:
    rng = Random(seed)
    functions = {
        name: Called(
            passing(rng.randrange(10**6), rng.choice([0.05, 0.2, 0.4, 0.6, 0.8, 0.95])), rng.choice([1, 1, 2, 9]) / 1000
        )
        for name in "abcd"[: rng.randint(2, 4)]
    }
    sets = []
    for _ in range(rng.randint(1, 3)):
        some = [alone(name) for name in rng.sample([*functions], rng.randint(1, len(functions)))]
        if rng.random() < 0.4:
            some.append(or_pred([holds(name) for name in rng.sample([*functions], 2)]))
        sets.append(pred_set([*some, *([below(rng.randint(3, 9))] if rng.random() < 0.5 else [])]))
    assert late_cost(sets, functions) <= 1.1


def test_dependent_tests_are_ordered_by_what_they_do_together() -> None:
    """Of two alike, one is enough before the third, whatever each drops alone."""
    twin, other = passing(1, 0.4), passing(2, 0.5)
    functions = {"a": Called(twin), "b": Called(twin), "c": Called(other)}
    assert late_cost([pred_set([alone("a"), alone("b"), alone("c")])], functions) <= 1.1


def test_an_order_follows_rows_that_turn_within_three_batches() -> None:
    turned = 4 * ROWS
    early, late = passing(1, 0.1), passing(2, 0.6)
    functions = {
        "a": Called(lambda id: (early if id < turned else late)(id)),
        "z": Called(lambda id: (late if id < turned else early)(id)),
    }
    sets = [pred_set([alone("a"), alone("z")])]
    after = batches(sets, functions, 9)[7:]
    assert sum(map(sum, after)) / ROWS <= 1.1 * sum(best_cost(sets, functions, batch) for batch in (7, 8)) * 2


@pytest.mark.parametrize("guard", ["a", "z"])
@pytest.mark.parametrize("part", [0.05, 0.9])
def test_a_function_that_fails_where_another_test_fails_is_never_told(guard: str, part: float) -> None:
    """Whatever order is best: the guarded function is sampled and reordered, and fails only in silence."""
    guarded = {"a": "z", "z": "a"}[guard]
    lets = passing(3, part)
    functions = {guard: Called(lets), guarded: Called(passing(4, 0.5), fails=lambda id: not lets(id))}
    batches([pred_set([alone("a"), alone("z")])], functions, 4)
    assert functions[guarded].disabling == []


def test_a_failure_that_matters_is_told() -> None:
    """For every row whose nodes no other test takes: also where another literal could have let it through."""
    lets = passing(3, 0.5)
    both, either_of = [alone("a"), alone("z")], [or_pred([holds("a"), holds("z")])]
    for sets in ([both], [either_of], [both, [alone("z")]]):
        functions = {"a": Called(lets), "z": Called(passing(4, 0.5), fails=lambda id: id % 7 == 0)}
        batches([pred_set(some) for some in sets], functions, 2)
        either = len(sets[0]) == 1
        expected = {id for id in range(0, 2 * ROWS, 7) if len(sets) == 2 or bool(lets(id)) is not either}
        assert set(functions["z"].disabling) == expected
