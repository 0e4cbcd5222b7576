"""A value of Python stands in no lambda, whatever is computed of it: Spark takes none there."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import suppress

import pytest
from pyspark.sql import SparkSession

from workbench.engine.physical.row_inputs import over_rows
from workbench.engine.spark.local_session import engine_session
from workbench.errors import UnsupportedError
from workbench.sql.algebra.coercion import TypeClash
from workbench.sql.algebra.expressions import Call, Column, Constant, Expression
from workbench.sql.algebra.types import DOUBLE, INTEGER, STRING, DataType, array_of, decimal
from workbench.sql.functions import DECLARED
from workbench.sql.functions.calls import call, cast
from workbench.sql.functions.declaration import Function
from workbench.sql.render.spark_sql import has_python_in_lambda, to_spark

TYPES = (STRING, INTEGER, DOUBLE, decimal(12, 3), array_of(STRING), array_of(DOUBLE))
COLUMNS = tuple(Column(f"c{at}", type_) for at, type_ in enumerate(TYPES))
CONSTANTS = (Constant(2, INTEGER), Constant("a", STRING))
OF_ANALYST = Call("halved@1", (COLUMNS[2],), DOUBLE)


def calls(function: Function, values: tuple[Expression, ...], most: int = 2) -> Iterator[Call]:
    """Calls of a function with values that fit it."""
    lengths = range(max(function.least, 1), min(function.most, max(most, function.least)) + 1)
    for given in itertools.chain.from_iterable(itertools.product(values, repeat=length) for length in lengths):
        with suppress(TypeClash, AssertionError, IndexError):
            found = call(function.name, *given)
            if isinstance(found, Call) and found.function == function.name:
                yield found


def in_python() -> dict[DataType, Expression]:
    """A call of a function of Python for each type of results, and one of the analyst's."""
    found: dict[DataType, Expression] = {}
    for function in DECLARED:
        if function.is_in_python and function.least <= 2:
            for called in itertools.islice(calls(function, COLUMNS), 1):
                found.setdefault(called.type, called)
    return found


VALUES = (*in_python().values(), OF_ANALYST)


def of_python() -> Iterator[Call]:
    """Calls of every function with values of Python, and constants beside them."""
    for function, value in itertools.product(DECLARED, VALUES):
        if function.name not in ("lambda", "variable"):
            yield from itertools.islice(calls(function, (value, *CONSTANTS)), 8)
    for value, type_ in itertools.product(VALUES, TYPES):
        with suppress(TypeClash):
            if isinstance(found := cast(value, type_), Call):
                yield found


def written(called: Call) -> str:
    """Its text; none of a call that only the binder could make."""
    with suppress(AssertionError, IndexError, ValueError, AttributeError, TypeError, UnsupportedError):
        return to_spark(called, lambda column: column.name)
    return ""


def test_no_lambda_has_python_in_it() -> None:
    texts = [written(called) for called in of_python()]
    assert sum("->" in text for text in texts) > 50
    assert not [text for text in texts if has_python_in_lambda(text)][:5]


def rounded(value: Expression) -> Expression:
    return call("round_scaled", value, Constant(2, INTEGER))


def test_spark_computes_what_is_read_twice_of_python(spark: SparkSession) -> None:
    numbers, words = Column("n", array_of(DOUBLE)), Column("w", array_of(STRING))
    asked = [
        rounded(call("list_entropy", words)),
        rounded(call("/_ieee", call("list_median", numbers), call("list_mad", numbers))),
        call("+", rounded(rounded(call("list_entropy", words))), call("list_median", numbers)),
    ]
    frame = engine_session(spark).sql('SELECT \'["a","b","b"]\' AS w, \'[[1,0],[2,0],[9,0]]\' AS n')
    (row,) = frame.selectExpr(*(f"{over_rows(a)} AS c{at}" for at, a in enumerate(asked))).collect()
    assert tuple(row) == pytest.approx((0.92, 2.0, 2.92))
