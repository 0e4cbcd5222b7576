"""Which joins compare stored values alone, and what is left to test of their pairs."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import numpy as np
import pyarrow as pa
import pytest

from workbench.engine.physical.access_paths import AccessPath, access_paths
from workbench.engine.physical.row_tests import RowTests, residual_tests, row_tests
from workbench.engine.physical.stored.values import Computed
from workbench.network.network import Network
from workbench.network.nodes import Join
from workbench.sharing.planner import Planner
from workbench.sql.algebra.expressions import Call, Column, Constant
from workbench.sql.algebra.types import BOOLEAN, DATE, DOUBLE, INTEGER, STRING, TIMESTAMP, decimal
from workbench.sql.binder.pipeline import bind
from workbench.sql.predicates.cnf import TRUE, Literal, Operator, or_pred, pred_set
from workbench.sql.schema import Schema

pytestmark = pytest.mark.usefixtures("spark_soundex")

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


def by_keys(join: Join) -> list[AccessPath]:
    """The access paths of a join without their bands, which decide what they bound."""
    return [replace(path, bands=()) for path in access_paths(join, [TRUE])]


def left(condition: str) -> RowTests:
    join = join_of(condition)
    return residual_tests(join.tested, by_keys(join))


def compared(tests: RowTests) -> set[tuple[str, Operator, str]]:
    """The columns that conditions compare, without their sides."""
    assert tests.filter is None and not tests.by_spark
    found = set()
    for condition in tests.conditions:
        match condition.expression:
            case Call(function, (Column(one), Column(other))):
                found.add((one[2:], Operator(function), other[2:]))
    assert len(found) == len(tests.conditions)
    return found


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
        ("a.k = c.k AND a.x = c.x", {("x", E, "x")}),
        ("a.k = c.k AND a.x < c.x", {("x", LT, "x")}),
    ],
)
def test_stored_values_decide(condition: str, tested: set[tuple[str, Operator, str]]) -> None:
    found = compared(left(condition))
    turned = {E: E, Operator.LT: Operator.GT, Operator.GE: Operator.LE, Operator.NE: Operator.NE}
    assert len(found) == len(tested)
    assert all((a, o, b) in found or (b, turned[o], a) in found for a, o, b in tested)


@pytest.mark.parametrize(
    "condition",
    [
        "a.k = c.k AND spark_soundex(c.k || c.n) <= a.k",
        "a.k = c.k AND spark_soundex(a.k) <> c.k",
    ],
)
def test_what_has_no_kernel_is_left_to_spark(condition: str) -> None:
    assert left(condition).by_spark and not left(condition).conditions


def test_what_kernels_test_is_not_left_to_spark() -> None:
    tests = left("a.k = c.k AND a.n < c.n AND datediff(c.d, a.d) <= c.n AND spark_soundex(a.k) <> c.k")
    assert (len(tests.conditions), len(list(tests.by_spark))) == (2, 1)


def test_what_a_band_bounds_is_not_tested_again() -> None:
    join = join_of("a.k = c.k AND a.t < c.t AND a.n <> c.n AND a.t <> c.t")
    assert compared(residual_tests(join.tested, access_paths(join, [TRUE]))) == {("n", NE, "n")}


def test_days_from_one_side_to_the_other() -> None:
    tests = left("a.k = c.k AND datediff(c.d, a.d) * 2 <= 5")
    assert len(tests.conditions) == 1 and not tests.by_spark
    first, last = date(1, 1, 1), date(9999, 12, 31)
    later = pa.array([date(2024, 3, 1), date(2024, 3, 2), last, first, None, first])
    earlier = pa.array([date(2024, 2, 28), date(2024, 2, 28), first, last, first, None])
    pairs = pa.RecordBatch.from_pydict({"r_d": later, "l_d": earlier})
    assert tests.passes(pairs).tolist() == [True, False, False, True, False, False]


def test_a_key_that_another_path_does_not_look_up_is_tested() -> None:
    join = join_of("a.k = c.k AND a.n = c.n")
    path = access_paths(join, [TRUE])[0]
    weaker = type(path)(path.keys[:1])
    assert residual_tests(join.tested, [path]) == RowTests()
    assert [operator for _, operator, _ in compared(residual_tests(join.tested, [path, weaker]))] == [E]


@pytest.mark.parametrize(("operator", "passing"), [(E, [2]), (NE, [0, 1, 5]), (LT, [0, 5]), (GE, [1, 2])])
def test_pairs_with_a_null_do_not_pass(operator: Operator, passing: list[int]) -> None:
    sides = Column("l_k", STRING), Column("r_k", STRING)
    tests = RowTests((Computed(Call(operator.value, sides, BOOLEAN)),))
    left, right = pa.array(["a", "é", "x", None, "y", "Z"]), pa.array(["b", "f", "x", "x", None, "a"])
    pairs = pa.RecordBatch.from_pydict({"l_k": left, "r_k": right})
    assert [at for at, passes in enumerate(tests.passes(pairs)) if passes] == passing


@pytest.mark.parametrize(
    ("condition", "passing"),
    [
        ("(a.n < c.n OR a.d < c.d)", [0, 2, 3]),
        ("(a.n < c.n OR a.d IS NULL)", [0, 1, 3]),
        ("a.m < c.q", [0, 2]),
        ("a.n < c.m", [4]),
        ("a.n < c.n * 2 AND a.n <> c.n", [0, 1, 2, 3]),
        ("a.m * 2 - c.m > 1.5 AND a.n <> c.n", [1, 2]),
        ("((a.k = 'x' AND c.k = 'y') OR (a.k = 'y' AND c.k = 'x'))", [0, 3]),
        ("a.n <> c.n AND (a.k LIKE '_' OR c.x > 1.5)", [0, 1, 2, 3]),
        ("(a.x > 0.5 OR c.x < 0.5 OR c.n IS NULL)", [2, 3, 4]),
    ],
)
def test_alternatives_and_sums_are_tested_without_spark(condition: str, passing: list[int]) -> None:
    tests = left(condition)
    assert not tests.by_spark
    day, days = date(2020, 1, 1), date(2020, 1, 2)
    money, fine = (pa.decimal128(15, 2), pa.decimal128(9, 4))
    sides = {
        "k": (["x", "x", "zz", "y", None], ["y", "x", "x", "x", "x"]),
        "n": ([1, 5, 7, 1, 2], [2, 3, 6, 2, None]),
        "d": ([day, None, day, None, days], [day, day, days, None, day]),
        "m": (pa.array([1, 4, 3, None, 2], money), pa.array([1, 2, 3, 1, 9], money)),
        "q": (pa.array([0, 0, 0, 0, 0], fine), pa.array([2, 3, 4, 5, None], fine)),
        "x": ([0.0, None, float("nan"), 0.25, 0.75], [1.0, 0.5, 2.0, 0.25, 1.0]),
    }
    found = []
    for first in ("lr", "rl"):  # the join may have them the other way round
        columns = {f"{side}_{name}": values[at] for name, values in sides.items() for at, side in enumerate(first)}
        pairs = pa.RecordBatch.from_pydict(columns)
        found.append(np.flatnonzero(tests.passes(pairs)).tolist())
    assert passing in found


def test_a_list_of_values_is_looked_up_and_not_compared_one_by_one() -> None:
    length = Call("length", (Column("l_s", STRING),), INTEGER)
    tests = row_tests(pred_set([or_pred(Literal(length, Operator.EQ, Constant(n, INTEGER)) for n in range(2, 99))]))
    assert not tests.conditions and not tests.by_spark
    found = tests.passes(pa.RecordBatch.from_pydict({"l_s": ["a", "bb", "c" * 98, None, "d" * 99]}))
    assert found.tolist() == [False, True, True, False, False]
