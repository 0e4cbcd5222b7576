"""Expressions of stored columns that need no Spark have its answers, for every kind of column, and NULL."""

from __future__ import annotations

import itertools
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from without_kernel import evaluated_by_spark

from workbench.engine.physical.filters.filter_plan import CompiledFilter, compile_filter
from workbench.engine.physical.stored.values import computed_value, stored_value
from workbench.engine.storage.layout import Layout
from workbench.sql.algebra.expressions import Call, Column, Constant, Expression
from workbench.sql.algebra.types import BOOLEAN, DATE, DOUBLE, INTEGER, STRING, TIMESTAMP, DataType, array_of, decimal
from workbench.sql.predicates.cnf import Literal, Operator, PredSet, or_pred, pred_set
from workbench.sql.render.spark_sql import to_spark

pytestmark = pytest.mark.usefixtures("spark_soundex")

VALUES: list[tuple[DataType, list[Any]]] = [
    (STRING, ["", "a", "Z", "é", "b\x00"]),
    (INTEGER, [-(2**63), -1, 0, 2**63 - 1]),
    (decimal(38, 2), [Decimal("9" * 36 + ".99"), Decimal("-0.01"), Decimal("0.00")]),
    (DATE, [date(1, 1, 1), date(1969, 12, 31), date(9999, 12, 31)]),
    (TIMESTAMP, [datetime(1, 1, 1), datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(2026, 3, 29, 2, 30)]),
    (BOOLEAN, [True, False]),
    (DOUBLE, [float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 0.1, 5e-324, -1.5]),
]
OPERATORS = [Operator.EQ, Operator.NE, Operator.LT, Operator.LE, Operator.GT, Operator.GE]


def compiled(selections: list[PredSet], columns: list[str]) -> CompiledFilter:
    bits = range(len(selections))
    return compile_filter(dict(enumerate(selections)), bits, [frozenset([bit]) for bit in bits], columns)


def one(left: Expression, operator: Operator, right: Expression) -> PredSet:
    return pred_set([or_pred([Literal(left, operator, right)])])


def check(spark: SparkSession, type_: DataType, values: list[Any], selections: list[PredSet]) -> None:
    """The lineage of all pairs of values, with what Spark computes and with what the filter computes by itself."""
    rows = list(itertools.product([None, *values], repeat=2))
    schema = pa.schema([(name, Layout({name: type_}).arrow.field(name).type) for name in "ab"])
    table = pa.Table.from_pylist([{"a": a, "b": b} for a, b in rows], schema)
    by_spark, here = compiled(selections, []), compiled(selections, ["a", "b"])
    assert here.tests == {} and set(here.filter.columns) == {"a", "b"}
    assert set(by_spark.filter.columns) == set(by_spark.tests)
    frame = spark.createDataFrame(table).selectExpr(*(f"{sql} AS `{name}`" for name, sql in by_spark.tests.items()))
    (evaluated,) = frame.coalesce(1).toArrow().combine_chunks().to_batches()
    (batch,) = table.to_batches()
    assert here.filter.lineage(batch).tolist() == by_spark.filter.lineage(evaluated).tolist()


@pytest.mark.parametrize(("type_", "values"), VALUES, ids=[str(type_) for type_, _ in VALUES])
def test_comparisons_of_columns(spark: SparkSession, type_: DataType, values: list[Any]) -> None:
    a, b = Column("a", type_), Column("b", type_)
    either = pred_set([or_pred([Literal(a, Operator.LT, b), Literal(b, Operator.EQ, a)])])
    check(spark, type_, values, [*(one(a, operator, b) for operator in OPERATORS), either])


def test_days_between_columns(spark: SparkSession) -> None:
    days = Call("-", (Column("a", DATE), Column("b", DATE)), INTEGER)
    bounds = [-2932896, -40, 0, 1, 2932896]
    selections = [one(days, o, Constant(bound, INTEGER)) for o in OPERATORS for bound in bounds]
    values = [date(1, 1, 1), date(1969, 12, 31), date(1970, 1, 1), date(1970, 2, 9), date(9999, 12, 31)]
    check(spark, DATE, values, [*selections, pred_set([or_pred([Literal(days, Operator.IS_NULL)])])])


def test_microseconds_between_columns(spark: SparkSession) -> None:
    a, b = (Call("cast", (Call("unix_micros", (Column(name, TIMESTAMP),), INTEGER),), decimal(19, 0)) for name in "ab")
    apart = Call("-", (a, b), decimal(20, 0))
    values = [*dict(VALUES)[TIMESTAMP], datetime(2026, 3, 29, 3, 30), datetime(9999, 12, 31, 23, 59, 59, 999999)]
    check(
        spark, TIMESTAMP, values, [one(apart, o, Constant(by, INTEGER)) for o in OPERATORS for by in (0, 3_600_000_000)]
    )


def test_a_number_is_compared_with_a_double(spark: SparkSession) -> None:
    a, b = (Call("cast", (Column(name, INTEGER),), DOUBLE) for name in "ab")
    quotient = Call("/", (a, b), DOUBLE)
    sides = [(quotient, b), (quotient, Constant(Decimal("0.1"), DOUBLE)), (a, b)]
    check(
        spark,
        INTEGER,
        [-(2**63), -1, 0, 1, 10, 2**53 + 1, 2**63 - 1],
        [one(x, o, y) for x, y in sides for o in OPERATORS],
    )


def test_numbers_of_many_digits_are_compared_here(spark: SparkSession) -> None:
    a, b = (Call("cast", (Column(name, INTEGER),), decimal(19, 0)) for name in "ab")
    many = Call("*", (a, Constant(26, decimal(2, 0))), decimal(22, 0))
    difference = Call("-", (many, Call("*", (b, Constant(3, decimal(1, 0))), decimal(21, 0))), decimal(23, 0))
    bounds = [Constant(Decimal(n), decimal(20, 1)) for n in ("0", "-23", "0.5", str(2**62 - 1), f"-{2**62 - 1}")]
    selections = [one(difference, operator, bound) for operator in OPERATORS for bound in bounds[:2] + bounds[3:]]
    selections += [one(difference, operator, bounds[2]) for operator in OPERATORS[2:]]
    check(spark, INTEGER, [-(2**63), -1, 0, 1, 2**57, 2**62, 2**63 - 1], selections)


def test_products_of_more_digits_than_there_are_are_null_here(spark: SparkSession) -> None:
    wide, hundred = decimal(38, 2), Constant(100, decimal(3, 0))
    products = [Call("*", (Column(name, wide), hundred), wide) for name in "ab"]
    selections = [
        one(product, o, Constant(n, INTEGER)) for product in products for o in OPERATORS for n in (-100, 0, 1)
    ]
    values = [Decimal(n) for n in ("0", "-1", "0.01", "9e35", "-9e35", "9e33", f"{2**62 - 1}e-2", "9e17")]
    check(spark, wide, values, selections)


@pytest.mark.parametrize(
    "literal",
    [
        Literal(Column("a", array_of(INTEGER)), Operator.LT, Column("b", array_of(INTEGER))),
        Literal(Column("a", STRING), Operator.EQ, evaluated_by_spark(Column("b", STRING))),
    ],
    ids=lambda literal: str(literal.left.type),
)
def test_what_has_no_kernel_is_left_to_spark(literal: Literal) -> None:
    assert compiled([pred_set([or_pred([literal])])], ["a", "b"]).tests


TEXTS = ["abcd", "a", "", None, "é\u0301x", "😀bc", "  x ", "日本語"]


@pytest.mark.parametrize(
    ("start", "length"),
    [
        *((1, 2), (1, 0), (2, 1), (3, 9), (2, 2**31 - 1), (0, 2), (-1, 1), (-3, 2), (-9, 7), (1, -1)),
        *((2**31, 1), (1, 2**31)),
    ],
)
def test_parts_of_texts_are_those_of_spark(spark: SparkSession, start: int, length: int) -> None:
    expression = Call("substr", (Column("s", STRING), Constant(start, INTEGER), Constant(length, INTEGER)), STRING)
    part = computed_value(expression)
    assert part is not None
    frame = spark.createDataFrame([(text,) for text in TEXTS], "s string").coalesce(1)
    expected = [row[0] for row in frame.selectExpr(to_spark(expression, lambda c: f"`{c.name}`")).collect()]
    assert part.values(pa.RecordBatch.from_pydict({"s": TEXTS})).to_pylist() == expected


PATTERNS = ["", "%", "a%", "%é%", "%c_", "_", "__", "%_%", "(", ".*", "%.%", "a%%d", "日%", "%語", "_bc", "a\nb", "a%b"]


def test_patterns_and_parts_of_texts_are_tested_here(spark: SparkSession) -> None:
    tests: list[PredSet] = []
    for name in "ab":
        column, other = Column(name, STRING), Column("ba"["ab".index(name)], STRING)
        for pattern in PATTERNS:
            matches = Call("like", (column, Constant(pattern, STRING)), BOOLEAN)
            tests += [pred_set([or_pred([Literal(matches, Operator.HOLDS)])])]
            tests += [pred_set([or_pred([Literal(Call("not", (matches,), BOOLEAN), Operator.HOLDS)])])]
            tests += [pred_set([or_pred([Literal(matches, Operator.HOLDS), Literal(other, Operator.IS_NULL)])])]
        first = Call("substr", (column, Constant(1, INTEGER), Constant(2, INTEGER)), STRING)
        tests += [
            one(first, operator, Constant(text, STRING)) for operator in OPERATORS for text in ("", "a", "ab", "日")
        ]
    check(spark, STRING, [*filter(None, TEXTS), "", "a\nb", "a.b", "(", "A", "a\\b", "%", "ccd\n"], tests)


@pytest.mark.parametrize("pattern", ["50\\%", "_%" * 501], ids=["backslash", "long"])
def test_patterns_that_arrow_may_not_read_are_left_to_spark(pattern: str) -> None:
    matches = Call("like", (Column("a", STRING), Constant(pattern, STRING)), BOOLEAN)
    assert compiled([pred_set([or_pred([Literal(matches, Operator.HOLDS)])])], ["a"]).tests


@pytest.mark.parametrize("part", ["year", "month"])
def test_parts_of_dates_are_those_of_spark(spark: SparkSession, part: str) -> None:
    days = [None, -719162, -719528, -1, 0, 58, 59, 2932896, 2932897, 50_000_000, -50_000_000]
    value = stored_value(Call(part, (Column("d", DATE),), INTEGER))
    assert value is not None
    frame = spark.createDataFrame([(day,) for day in days], "n int").coalesce(1)
    expected = [row[0] for row in frame.selectExpr(f"{part}(date_add(date '1970-01-01', n))").collect()]
    dates = pa.array(days, pa.int32()).cast(pa.date32())
    assert value.values(pa.RecordBatch.from_arrays([dates], ["d"])).to_pylist() == expected


def test_a_decimal_may_stand_for_a_double() -> None:
    value = stored_value(Constant(Decimal("1.5"), DOUBLE))
    assert value is not None
    assert value.values(pa.RecordBatch.from_pydict({"a": [1, 2]})).to_pylist() == [1.5, 1.5]
