"""What planning remembers is a session's own."""

from __future__ import annotations

import gc

from workbench.sql.algebra.expressions import Column, Constant
from workbench.sql.algebra.planning_cache import PlanningCache, cached
from workbench.sql.algebra.types import INTEGER
from workbench.sql.predicates.cnf import Literal, Operator, or_pred, pred_set
from workbench.sql.predicates.implication import implies


def test_results_are_remembered_until_they_are_too_many():
    calls = []

    @cached(2)
    def length(text: str) -> int:
        calls.append(text)
        return len(text)

    with PlanningCache().active():
        for text in ("a", "b", "a", "c", "c", "b"):
            assert length(text) == len(text)
    assert calls == ["a", "b", "c", "b"]


def test_each_session_remembers_its_own():
    a = Column("a", INTEGER)
    wide, narrow = (pred_set([or_pred([Literal(a, Operator.GT, Constant(n, INTEGER))])]) for n in (1, 5))
    one, other = PlanningCache(), PlanningCache()
    with one.active():
        assert implies(narrow, wide)
        with other.active():
            assert not implies(wide, narrow)
    assert {cache.cache_info().currsize for f, cache in one.caches.items() if f.__name__ == "implies"} == {1}
    assert one.caches.keys() & other.caches.keys()
    assert all(one.caches[f] is not other.caches[f] for f in one.caches.keys() & other.caches.keys())


def test_garbage_is_looked_for_rarely_while_some_session_plans():
    before = gc.get_threshold()
    one, other = PlanningCache().active(), PlanningCache().active()
    with one:
        with other:
            assert gc.get_threshold()[0] > before[0]
        assert gc.get_threshold()[0] > before[0]
    assert gc.get_threshold() == before


def test_garbage_that_is_never_looked_for_is_not_while_a_session_plans():
    before = gc.get_threshold()
    gc.set_threshold(0)
    try:
        with PlanningCache().active():
            assert gc.get_threshold()[0] == 0
    finally:
        gc.set_threshold(*before)
