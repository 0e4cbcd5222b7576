"""AVG of decimals is the exact quotient, rounded once, whatever the digits of the type."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal
from random import Random

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import DecimalType, LongType, StructField, StructType

from workbench.sql.algebra.expressions import AggregateCall, Call, Column
from workbench.sql.algebra.types import decimal
from workbench.sql.functions.aggregates import expand
from workbench.sql.render.spark_sql import to_spark

EXACT = Context(prec=90)
TYPES = [(5, 0), (9, 1), (15, 2), (18, 4), (20, 6), (30, 12), (38, 12), (38, 25), (10, 10), (38, 38)]


@pytest.mark.parametrize(("precision", "scale"), TYPES)
def test_quotients_are_rounded_once(spark: SparkSession, precision: int, scale: int) -> None:
    random = Random(precision * 100 + scale)
    average = expand("avg", (Column("a", decimal(precision, scale)),), False, list[AggregateCall]().append)
    assert isinstance(average, Call)
    total, count = average.arguments
    assert isinstance(total, Column)
    assert isinstance(count, Column)
    rows = []
    for _ in range(150):
        digits = random.choice([1, 5, precision, min(38, precision + 3)])
        unscaled = random.randint(1 - 10**digits, 10**digits - 1)
        rows.append((Decimal(unscaled).scaleb(-scale, EXACT), random.choice([1, 2, 3, 7, 97, 1000, 33333, 10**9 + 7])))
    fields = [StructField(total.name, DecimalType(38, scale)), StructField(count.name, LongType())]
    frame = spark.createDataFrame(rows, StructType(fields))
    got = [row[0] for row in frame.selectExpr(to_spark(average, lambda column: f"`{column.name}`")).collect()]
    assert got == [expected(*row, average.type.precision, average.type.scale) for row in rows]


def expected(total: Decimal, count: int, precision: int, scale: int) -> Decimal | None:
    quotient = EXACT.divide(total, Decimal(count)).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP, EXACT)
    return quotient if abs(quotient) < Decimal(10) ** (precision - scale) else None
