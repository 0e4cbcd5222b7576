"""Numbers as texts in spark, beside Spark itself."""

from __future__ import annotations

from random import Random

import pytest
from pyspark.sql import SparkSession
from sql.bind_schema import SCHEMA

from workbench.errors import UnsupportedError
from workbench.sql.binder.pipeline import bind
from workbench.sql.functions.calls import FUNCTIONS


def test_numbers_are_converted_between_bases_as_spark_does(spark: SparkSession) -> None:
    random = Random(4)
    rows = [
        (random.choice(["", "-", " ", "+"]) + "".join(random.choice("019afzZ. é") for _ in range(random.randrange(9))),
         random.choice([2, 8, 10, 16, 36, 1, 37]), random.choice([2, 10, 16, -10, -16, 36, 0]))
        for _ in range(300)
    ]  # fmt: skip
    rows += [(text, base, to) for text in ("9" * 19, "9" * 30, "-" + "9" * 19, "-zzzzzzzzzzzzz") for base in (10, 36)
             for to in (16, -16, 10, -10)]  # fmt: skip
    of_spark = spark.newSession()
    of_spark.conf.set("spark.sql.ansi.enabled", "false")
    values = ", ".join(f"(conv('{text}', {base}, {to}))" for text, base, to in rows)
    expected = [row[0] for row in of_spark.sql(f"VALUES {values}").collect()]
    conv = FUNCTIONS["conv"].python
    assert conv is not None
    assert [conv(*row) for row in rows] == expected


@pytest.mark.parametrize(
    "call",
    [
        *("format_string('%d', x)", "format_string('%s', d)", "format_string('%s %s', s)", "format_string('%-d', a)"),
        *("format_string(s, a)", "format_string('%.2d', a)", "format_string('%y', a)"),
        *("format_string('%.2f', cast(x as decimal(9,2)))", "printf('%q', s)", "format_string('% ', s)"),
    ],
)
def test_formats_that_java_refuses_are_refused(call: str) -> None:
    with pytest.raises(UnsupportedError):
        bind(f"SELECT {call} AS v FROM t", "spark", SCHEMA)
