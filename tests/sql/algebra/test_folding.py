"""What is computed from constants when a query is registered is what Spark computes of the same values in columns."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from workbench.sql.algebra.coercion import TypeClash
from workbench.sql.algebra.expressions import Call, Column, Constant, Expression, text
from workbench.sql.algebra.types import BOOLEAN, DATE, DOUBLE, INTEGER, STRING, TIMESTAMP, DataType, Kind, decimal
from workbench.sql.functions.calls import call, cast
from workbench.sql.render.spark_sql import to_spark

VALUES: dict[DataType, tuple[Any, ...]] = {
    INTEGER: (0, 1, -1, 12345678901, 2**63 - 1, -(2**63)),
    decimal(5, 2): (Decimal("1.50"), Decimal("0.00"), Decimal("-0.05"), Decimal("100.00")),
    decimal(38, 18): (Decimal("1e-18"), Decimal("-12345678901234567890.000000000000000001"), Decimal(7)),
    decimal(20, 0): (Decimal(10) ** 19,),
    DOUBLE: (1e20, -0.0, 0.0, math.nan, math.inf, -math.inf, 1e-5, 1e7, 123456.789, 5e-324,
             1.7976931348623157e308, 0.1),
    BOOLEAN: (True, False),
    DATE: (dt.date(1, 1, 1), dt.date(1582, 10, 10), dt.date(2002, 11, 20), dt.date(2020, 2, 29),
           dt.date(2019, 12, 31), dt.date(9999, 12, 31)),
    TIMESTAMP: (dt.datetime(1, 1, 1), dt.datetime(1582, 10, 10, 1, 2, 3, 400000), dt.datetime(2002, 11, 20, 12),
                dt.datetime(9999, 12, 31, 23, 59, 59, 999999)),
    STRING: ("", "x", "it's", "1e3", "1_000", " 12 ", "\u0663", "+5", "-0", "1.9", "1.50", "007", "9" * 40,
             "true", "T", "yes", "2020-1-5", "2020-02-30",
             "2020-01-05 10:00", " 2020-01-05 ", "Infinity", "nan", "0x10", "1d", "12\n",
             "16", "02-29", "11-30", "12:30"),
}  # fmt: skip
PATTERNS = ("yyyy-MM-dd", "MM-dd", "dd", "HH:mm", "yyyy", "MM")
TARGETS = (*(type_ for type_ in VALUES if type_ != STRING), STRING)


def expressions(value: Expression, type_: DataType) -> Iterator[Expression]:
    """What may be computed from a value: all conversions, and its text beside another."""
    for target in TARGETS:
        try:
            yield cast(value, target)
        except TypeClash:
            continue
    yield call("||", value, Constant("<", STRING))
    yield call("||", Constant(">", STRING), value)
    if type_ == STRING:
        for pattern in PATTERNS:
            yield call("to_date", value, Constant(pattern, STRING))
            yield call("to_timestamp", value, Constant(pattern, STRING))
    if type_.numeric:
        yield call("neg", value)
        yield call("||", Constant(">", STRING), call("neg", value))
    if type_.temporal:
        for months in (-1, 0, 1, 13, 2_000 * 12, 200_000):
            yield call("add_months" if type_ == DATE else "add_months_to_timestamp", value, Constant(months, INTEGER))
    if type_ == TIMESTAMP:
        for seconds in (-1, 86_400, 10**12, 10**18):
            yield call("add_seconds", value, Constant(seconds, INTEGER))
    for operator in ("=", "<>", "<", "<=", ">", ">="):
        truth = call(operator, value, value)
        yield truth
        yield call("||", Constant("is ", STRING), truth)


def pairs() -> Iterator[tuple[str, Expression, Expression, DataType, Any]]:
    """Each expression of a constant, and of a column with the same value."""
    for type_, values in VALUES.items():
        for value in values:
            constant, column = Constant(value, type_), Column("x", type_)
            for made, asked in zip(expressions(constant, type_), expressions(column, type_), strict=True):
                if isinstance(made, Call) and made.function.startswith("add_"):
                    continue  # Spark's is beyond the years that Python has
                yield f"{value!r}: {text(asked)}", made, asked, type_, value


def _called(name: str, column: Column) -> str:
    return name


def same(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return repr(a) == repr(b)
    return type(a) is type(b) and bool(a == b)


def test_constants_and_columns_give_the_same(spark) -> None:
    from workbench.engine.spark.local_session import engine_session

    session = engine_session(spark)
    folded = [(i, pair) for i, pair in enumerate(pairs()) if pair[1] != pair[2]]
    columns = {(str(t), repr(v)): f"v_{i}_{j}" for i, t in enumerate(VALUES) for j, v in enumerate(VALUES[t])}
    row = (
        session.range(1)
        .selectExpr(
            *(f"{to_spark(Constant(v, t), str)} as {columns[str(t), repr(v)]}" for t, vs in VALUES.items() for v in vs)
        )
        .localCheckpoint()
    )  # values from here on, and no constants
    wrong = []
    for start in range(0, len(folded), 200):
        part = folded[start : start + 200]
        asked = [f"{to_spark(made, str)} as a{i}" for i, (_, made, _, _, _) in part]
        for i, (_, _, over, type_, value) in part:
            name = columns[str(type_), repr(value)]
            asked.append(f"{to_spark(over, partial(_called, name))} as b{i}")
        found = row.selectExpr(*asked).toArrow().to_pylist()[0]
        wrong += [(p[0], found[f"a{i}"], found[f"b{i}"]) for i, p in part if not same(found[f"a{i}"], found[f"b{i}"])]
    assert wrong == []
    assert len(folded) > 300


@pytest.mark.parametrize(("value", "shown"), [(True, "true"), (False, "false"), (5, "5")])
def test_truth_values_and_integers_are_folded_to_text(value: Any, shown: str) -> None:
    constant = Constant(value, BOOLEAN if isinstance(value, bool) else INTEGER)
    assert cast(constant, STRING) == Constant(shown, STRING)
    beside = call("||", Constant("x", STRING), constant)
    assert beside == Constant(f"x{shown}", STRING)


@pytest.mark.parametrize("kind", [Kind.DOUBLE, Kind.DECIMAL, Kind.DATE, Kind.TIMESTAMP])
def test_the_text_of_others_is_left_to_spark(kind: Kind) -> None:
    for type_, values in VALUES.items():
        if type_.kind is kind:
            assert all(isinstance(cast(Constant(value, type_), STRING), Call) for value in values)
