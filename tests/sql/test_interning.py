"""Equal values are one object, in every thread and after pickling, and are forgotten when no object refers to them."""

import gc
import math
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import Barrier
from weakref import ref

import pytest

from workbench.sql.algebra.expressions import Call, Column, Constant
from workbench.sql.algebra.types import DOUBLE, INTEGER, decimal
from workbench.sql.interning import Interned
from workbench.sql.predicates.cnf import Literal, Operator, or_pred, pred_set


@dataclass(frozen=True, eq=False)
class Pair(Interned):
    one: object
    other: object = None


def test_equal_values_are_one_object_however_they_are_made():
    assert Pair(1) is Pair(1, None) is Pair(other=None, one=1) is replace(Pair(2), one=1)
    assert Pair(1) != Pair(2)


@pytest.mark.parametrize(("args", "named"), [((), {}), ((1, 2, 3), {}), ((1,), {"one": 2}), ((1,), {"third": 2})])
def test_values_that_do_not_fit_the_fields_are_refused(args, named):
    with pytest.raises(TypeError):
        Pair(*args, **named)


def test_predicates_and_their_parts_are_one_object():
    def predicates():
        total = Call("+", (Column("a", INTEGER), Constant(1, INTEGER)), INTEGER)
        return pred_set([or_pred([Literal(total, Operator.GT, Constant(2, INTEGER))])])

    assert predicates() is predicates()
    assert pickle.loads(pickle.dumps(predicates())) is predicates()


def test_constants_are_told_apart_by_type_and_by_how_a_float_is_written():
    assert Constant(1, INTEGER) is not Constant(1, decimal(10, 0))
    assert Constant(0.0, DOUBLE) is not Constant(-0.0, DOUBLE)
    assert Constant(math.nan, DOUBLE) is Constant(float("nan"), DOUBLE)


@pytest.mark.slow
def test_values_that_nobody_has_are_forgotten():
    value = Pair("of this test alone")
    remembered = ref(value)
    del value
    gc.collect()
    assert remembered() is None


def test_threads_that_make_a_value_at_once_get_the_same():
    interval = sys.getswitchinterval()
    barrier = Barrier(8)

    def make(_):
        barrier.wait()
        return [Pair("made by several", n) for n in range(2_000)]

    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            made = list(pool.map(make, range(8)))
    finally:
        sys.setswitchinterval(interval)
    assert all(value is first for values in made for value, first in zip(values, made[0], strict=True))
