"""Conjunctions are the intersections of their parts, and the parts are few."""

from __future__ import annotations

import random
from collections.abc import Iterable
from itertools import product

import pytest

from workbench.sql.algebra.expressions import Column
from workbench.sql.algebra.types import BOOLEAN
from workbench.sql.predicates.cnf import TRUE, Literal, Operator, PredSet, conjunction, or_pred, pred_set
from workbench.sql.predicates.common_parts import common_parts


def conditions(letters: Iterable[str]) -> PredSet:
    """A conjunction of one condition for each letter."""
    return pred_set(or_pred([Literal(Column(letter, BOOLEAN), Operator.HOLDS)]) for letter in letters)


def parts_of(*conjunctions: str) -> dict[str, list[str]]:
    """The parts of each conjunction, by their letters."""
    parts = common_parts(map(conditions, conjunctions))
    return {c: ["".join(str(p) for p in part) for part in parts[conditions(c)]] for c in conjunctions}


def test_what_is_only_asked_for_together_is_one_part() -> None:
    combined = [f"{amount}{window}" for amount, window in product(("a", "b"), ("uv", "wx", "yz"))]
    assert parts_of(*combined)["auv"] == ["a", "uv"]


def test_fewer_parts_than_conjunctions_or_none() -> None:
    assert parts_of("ax", "ay", "bx", "by") == {c: [c] for c in ("ax", "ay", "bx", "by")}
    assert parts_of("ax", "ay", "az", "bx", "by", "bz")["by"] == ["b", "y"]


def test_a_condition_of_its_own_is_one_part_more() -> None:
    parts = parts_of("ax", "ay", "az", "bx", "by", "bz", "aqx")
    assert parts["aqx"] == ["a", "q", "x"] and parts["ax"] == ["a", "x"]
    assert parts_of("ax", "bx", "aqx", "brx") == {c: [c] for c in ("ax", "bx", "aqx", "brx")}


def test_one_part_may_be_all_of_a_conjunction() -> None:
    assert parts_of("ax", "ay", "az", "bx", "by", "bz", "z")["z"] == ["z"]


def test_the_empty_conjunction_is_its_own_part() -> None:
    assert common_parts([TRUE]) == {TRUE: (TRUE,)}
    assert common_parts([]) == {}


@pytest.mark.parametrize("seed", range(200))
def test_parts_are_true_together_where_the_conjunction_is_and_few(seed: int) -> None:
    chosen = random.Random(seed)
    letters = "abcdefgh"[: chosen.randint(1, 8)]
    sets = [conditions(chosen.sample(letters, chosen.randint(0, len(letters)))) for _ in range(chosen.randint(1, 40))]
    parts = common_parts(sets)
    assert parts.keys() == set(sets)
    assert all(conjunction(*own) == whole for whole, own in parts.items())
    assert all(part or not whole for whole, own in parts.items() for part in own)
    assert len({part for own in parts.values() for part in own}) <= len(parts)
    # In any order the parts are the same, whatever stands first in each.
    other = common_parts(chosen.sample(sets, len(sets)))
    assert {s: set(p) for s, p in parts.items()} == {s: set(p) for s, p in other.items()}
