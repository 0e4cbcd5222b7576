"""Decimals tested as integers: the same values as Spark's own decimals, at the ends of their range too."""

from __future__ import annotations

import itertools
from decimal import Decimal

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from workbench.engine.physical.filters.filter_plan import compile_filter
from workbench.engine.physical.stored.unscaled import UNSCALED_LIMIT, Polynomial, unscaled
from workbench.sql.algebra.expressions import Call, Column, Constant, Expression
from workbench.sql.algebra.types import INTEGER, DataType, decimal
from workbench.sql.predicates.cnf import Literal, Operator, or_pred, pred_set
from workbench.sql.render.spark_sql import to_spark

D = Decimal
MONEY, RATE, WIDE = decimal(15, 2), decimal(6, 3), decimal(38, 4)
VALUES: dict[str, list[Decimal | None]] = {
    "a": [None, D("9999999999999.99"), D("-9999999999999.99"), D("0.00"), D("0.01"), D("-12.50")],
    "b": [None, D("9999999999999.99"), D("-9999999999999.99"), D("0.00"), D("0.01"), D("5.25")],
    "r": [None, D("999.999"), D("-999.999"), D("0.001")],
}


def name(column: Column) -> str:
    return f"`{column.name}`"


def call(operator: str, left: Expression, right: Expression, type_: DataType) -> Call:
    return Call(operator, (left, right), type_)


A, B, R = Column("a", MONEY), Column("b", MONEY), Column("r", RATE)
TEN = Constant(10, decimal(2, 0))
EXACT = [
    call("-", A, B, decimal(16, 2)),
    call("+", call("*", A, TEN, decimal(18, 2)), B, decimal(19, 2)),
    call("-", A, call("*", B, Constant(D("0.5"), decimal(2, 1)), decimal(18, 3)), decimal(20, 3)),
    call("+", A, R, decimal(17, 3)),
    call("*", R, R, decimal(13, 6)),
]


@pytest.mark.parametrize("expression", EXACT, ids=str)
def test_the_integer_is_the_decimal(spark: SparkSession, expression: Expression) -> None:
    rows = list(itertools.product(*VALUES.values()))
    frame = spark.createDataFrame(rows, "a decimal(15, 2), b decimal(15, 2), r decimal(6, 3)")
    whole = unscaled(expression)
    assert whole is not None and whole.scale == expression.type.scale
    computed = whole.number.values(stored(rows)).to_pylist()
    for (exact,), integer in zip(frame.selectExpr(to_spark(expression, name)).collect(), computed, strict=True):
        assert (None if exact is None else int(exact.scaleb(whole.scale))) == integer
        assert integer is None or abs(integer) <= whole.most < UNSCALED_LIMIT


@pytest.mark.parametrize("expression", [*EXACT, call("-", A, A, decimal(16, 2))], ids=str)
def test_stored_columns_give_the_same_integer(expression: Expression) -> None:
    rows = list(itertools.product(*VALUES.values()))
    batch = stored(rows)
    whole = unscaled(expression)
    assert whole is not None
    expected = [exactly(expression, dict(zip(VALUES, row, strict=True))) for row in rows]
    integers = [None if value is None else int(value.scaleb(whole.scale)) for value in expected]
    assert whole.number.values(batch).to_pylist() == integers
    assert whole.number.values(batch.slice(7, 20)).to_pylist() == integers[7:27]


def stored(rows: list[tuple[Decimal | None, ...]]) -> pa.RecordBatch:
    types = {"a": pa.decimal128(15, 2), "b": pa.decimal128(15, 2), "r": pa.decimal128(6, 3)}
    columns = [pa.array(values, type_) for values, type_ in zip(zip(*rows, strict=True), types.values(), strict=True)]
    return pa.RecordBatch.from_arrays(columns, names=[*types])


def exactly(expression: Expression, row: dict[str, Decimal | None]) -> Decimal | None:
    """The value of an expression by Python's decimals."""
    match expression:
        case Column(name=column):
            return row[column]
        case Constant(value=value):
            return Decimal(str(value))
        case Call(function=operator, arguments=arguments):
            left, right = (exactly(argument, row) for argument in arguments)
            if left is None or right is None:
                return None
            return {"+": left.__add__, "-": left.__sub__, "*": left.__mul__}[operator](right)
    raise AssertionError(expression)


@pytest.mark.parametrize(
    "expression",
    [
        call("-", Column("w", WIDE), Column("w", WIDE), WIDE),
        call("*", A, B, decimal(31, 4)),
        call("*", call("-", A, B, decimal(16, 2)), Constant(10**6, decimal(7, 0)), decimal(24, 2)),
        call("*", Column("w", WIDE), Constant(0, decimal(1, 0)), WIDE),
        call("-", A, Column("i", INTEGER), decimal(22, 2)),
        call("/", A, TEN, decimal(20, 6)),
        call("-", Column("i", INTEGER), Constant(1, INTEGER), INTEGER),
    ],
    ids=str,
)
def test_what_may_not_fit_or_is_something_else_stays_as_it_is(expression: Expression) -> None:
    assert unscaled(expression) is None


def test_columns_that_rows_have_are_not_sent_twice() -> None:
    selection = pred_set([or_pred([Literal(A, Operator.GT, Constant(1, INTEGER))])])
    assert compile_filter({0: selection}, [0], [frozenset([0])]).tests == {"_t0": "`a`"}
    compiled = compile_filter({0: selection}, [0], [frozenset([0])], ["a"])
    assert compiled.tests == {}
    batch = pa.record_batch({"a": pa.array([D("1.00"), D("1.01"), None], pa.decimal128(15, 2))})
    assert compiled.filter.lineage(batch)[:, 0].tolist() == [0, 1, 0]


def test_large_integers_are_added_to_constants_exactly() -> None:
    rows = pa.RecordBatch.from_pydict({"w": pa.array([D(2**100 + 1), D(-(2**70)), None], pa.decimal128(38, 0))})
    assert Polynomial((((), 7), (("w",), 3))).exact(rows) == [3 * (2**100 + 1) + 7, 7 - 3 * 2**70, None]
