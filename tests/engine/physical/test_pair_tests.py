"""Which joins compare stored values alone, and what is left to test of their pairs."""

from __future__ import annotations

from datetime import date

import pyarrow as pa
import pytest

from workbench.engine.physical.access_paths import access_paths
from workbench.engine.physical.pair_tests import PairTest, left_to_test
from workbench.network.network import Network
from workbench.network.nodes import Join
from workbench.sharing.planner import Planner
from workbench.sql.algebra.types import BOOLEAN, DATE, DOUBLE, INTEGER, STRING, TIMESTAMP, decimal
from workbench.sql.binder.pipeline import bind
from workbench.sql.predicates.cnf import TRUE, Operator
from workbench.sql.schema import Schema

COLUMNS = (
    ("k", STRING), ("n", INTEGER), ("m", decimal(15, 2)), ("w", decimal(20, 2)), ("q", decimal(9, 4)),
    ("d", DATE), ("t", TIMESTAMP), ("b", BOOLEAN), ("x", DOUBLE),
)  # fmt: skip
SCHEMA = Schema({"T": COLUMNS}, {})
E, NE, LT, GE = Operator.EQ, Operator.NE, Operator.LT, Operator.GE


def join_of(condition: str) -> Join:
    logical = bind(f"SELECT a.k, c.n FROM T a JOIN T c ON {condition}", "spark", SCHEMA).query
    assert logical is not None
    network = Planner().register(Network(), "q", logical).network
    return next(node for node in network.nodes.values() if isinstance(node, Join))


def left(condition: str) -> set[tuple[str, Operator, str]] | None:
    join = join_of(condition)
    tests = left_to_test(join.tested, access_paths(join, [TRUE]))
    return None if tests is None else {(test.left[1], test.operator, test.right[1]) for test in tests}


@pytest.mark.parametrize(
    ("condition", "tested"),
    [
        ("a.k = c.k", set()),
        ("a.k = c.k AND a.n = c.n AND a.m = c.w", set()),
        ("a.k = c.k AND a.d = c.d", {("d", E, "d")}),
        ("a.k = c.k AND a.n <> c.n", {("n", NE, "n")}),
        ("a.k = c.k AND a.m < c.w AND a.t >= c.t", {("m", LT, "w"), ("t", GE, "t")}),
        ("a.k = c.k AND a.b <> c.b", {("b", NE, "b")}),
        ("a.n < c.n", {("n", LT, "n")}),
        ("a.k = c.k AND a.d < c.d", {("d", LT, "d")}),
    ],
)
def test_stored_values_decide(condition: str, tested: set[tuple[str, Operator, str]]) -> None:
    found = left(condition)
    turned = {E: E, Operator.LT: Operator.GT, Operator.GE: Operator.LE, Operator.NE: Operator.NE}
    assert found is not None and len(found) == len(tested)
    assert all((a, o, b) in found or (b, turned[o], a) in found for a, o, b in tested)


@pytest.mark.parametrize(
    "condition",
    [
        "a.k = c.k AND a.x = c.x",
        "a.k = c.k AND a.x < c.x",
        "a.k = c.k AND a.n < c.n * 2",
        "a.k = c.k AND (a.n < c.n OR a.d < c.d)",
        "a.k = c.k AND a.m < c.q",
        "a.k = c.k AND a.n < c.m",
        "a.k = c.k AND datediff(c.d, a.d) <= c.n",
        "a.k = c.k AND datediff(c.d, a.d) + datediff(c.t, a.t) <= 3",
    ],
)
def test_what_computes_or_may_be_nan_is_left_to_spark(condition: str) -> None:
    assert left(condition) is None


def test_days_from_one_side_to_the_other() -> None:
    join = join_of("a.k = c.k AND datediff(c.d, a.d) * 2 <= 5")
    (test,) = left_to_test(join.tested, access_paths(join, [TRUE])) or ()
    assert (test.left, test.operator, test.right, test.days) == ((1, "d"), Operator.LE, (0, "d"), 2)
    first, last = date(1, 1, 1), date(9999, 12, 31)
    later = pa.array([date(2024, 3, 1), date(2024, 3, 2), last, first, None, first])
    earlier = pa.array([date(2024, 2, 28), date(2024, 2, 28), first, last, first, None])
    assert test.passes(later, earlier).tolist() == [True, False, False, True, False, False]


def test_a_key_that_another_path_does_not_look_up_is_tested() -> None:
    join = join_of("a.k = c.k AND a.n = c.n")
    path = access_paths(join, [TRUE])[0]
    weaker = type(path)(path.keys[:1])
    assert left_to_test(join.tested, [path]) == ()
    tests = left_to_test(join.tested, [path, weaker])
    assert tests is not None and [test.operator for test in tests] == [E]


@pytest.mark.parametrize(("operator", "passing"), [(E, [2]), (NE, [0, 1, 5]), (LT, [0, 5]), (GE, [1, 2])])
def test_pairs_with_a_null_do_not_pass(operator: Operator, passing: list[int]) -> None:
    test = PairTest(operator, (0, "k"), (1, "k"))
    left, right = pa.array(["a", "é", "x", None, "y", "Z"]), pa.array(["b", "f", "x", "x", None, "a"])
    assert [at for at, passes in enumerate(test.passes(left, right)) if passes] == passing
