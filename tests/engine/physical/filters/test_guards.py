"""Expensive tests have guards: of the cheaper tests of all selections that ask for them."""

from __future__ import annotations

import pytest
from without_kernel import evaluated_by_spark

from workbench.engine.physical.access_paths import access_paths
from workbench.engine.physical.filters.filter_plan import compile_filter
from workbench.engine.physical.filters.guards import MOST_ALTERNATIVES, CostClass, by_cost, cost_class, guard_of
from workbench.engine.physical.row_tests import residual_tests
from workbench.network.network import Network
from workbench.network.nodes import Join
from workbench.sharing.planner import Planner
from workbench.sql.algebra.expressions import Call, Column, Constant
from workbench.sql.algebra.types import BOOLEAN, INTEGER, STRING
from workbench.sql.binder.pipeline import bind
from workbench.sql.predicates.cnf import TRUE, Literal, Operator, ORPred, PredSet, or_pred, pred_set
from workbench.sql.schema import Schema

pytestmark = pytest.mark.usefixtures("spark_soundex")

A, S = Column("a", INTEGER), Column("s", STRING)
MATCH = or_pred([Literal(Call("rlike", (S, Constant("(x)\\1", STRING)), BOOLEAN), Operator.HOLDS)])
CALLED = or_pred([Literal(Call("f@1", (evaluated_by_spark(S),), INTEGER), Operator.GT, Constant(3, INTEGER))])


def above(number: int) -> ORPred:
    return or_pred([Literal(A, Operator.GT, Constant(number, INTEGER))])


def evaluated(*selections: PredSet) -> list[str]:
    compiled = compile_filter(dict(enumerate(selections)), range(len(selections)), [frozenset([0])], ["a", "s"])
    return sorted(compiled.tests.values())


def test_the_cost_class_is_that_of_the_most_expensive_function() -> None:
    assert [cost_class(p.literals[0]) for p in (above(1), MATCH, CALLED)] == [*CostClass]


def test_a_guard_has_the_cheaper_tests_of_its_selection() -> None:
    match, called = evaluated(pred_set([above(5), MATCH, CALLED]))[::-1]
    assert called.startswith("`f@1?`(") and "rlike" in called and "> 5L" in called
    assert match.startswith("case when") and "rlike" in match.partition(" then ")[2] and "f@1" not in match


def test_what_one_selection_asks_for_every_row_has_no_guard() -> None:
    assert evaluated(pred_set([above(5), CALLED]), pred_set([CALLED])) == ["`f@1`(soundex(`s`))"]


def test_of_alternatives_the_weakest_are_enough() -> None:
    both, one = pred_set([above(5), MATCH, CALLED]), pred_set([above(5), CALLED])
    assert guard_of(CostClass.USER_FUNCTION, [both, one]) == [pred_set([above(5)])]
    many = [pred_set([above(n), CALLED]) for n in range(MOST_ALTERNATIVES + 1)]
    assert guard_of(CostClass.USER_FUNCTION, many) is None


def test_a_conjunction_begins_with_the_cheapest() -> None:
    assert by_cost(pred_set([CALLED, MATCH, above(5)])) == [above(5), MATCH, CALLED]


def test_pairs_are_tested_for_what_is_cheap_first() -> None:
    schema = Schema(streams={"r": (("a", INTEGER), ("s", STRING), ("z", STRING))})
    text = (
        "SELECT l.a FROM r l, r m WHERE l.a = m.a AND CONCAT(l.s, m.s) RLIKE '(x)\\\\1'"
        " AND SPARK_SOUNDEX(CONCAT(l.z, m.z)) > 'Q'"
    )
    logical = bind(text, "spark", schema).query
    assert logical is not None
    nodes = Planner().register(Network(), "q", logical).network.nodes.values()
    [join] = [node for node in nodes if isinstance(node, Join)]
    first, second = by_cost(residual_tests(join.tested, access_paths(join, [TRUE])).by_spark)
    assert "soundex" in str(first) and "rlike" in str(second)
