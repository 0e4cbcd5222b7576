"""Rendered expressions in Spark: the declared type, the right value, and never an error, with ANSI mode on and off."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from fractions import Fraction

import pytest
from sql.bind_schema import SCHEMA

from workbench.engine.spark.local_session import engine_session
from workbench.sql.algebra.arithmetic import decimal_of
from workbench.sql.algebra.expressions import column_name
from workbench.sql.algebra.types import parse_type
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import Block
from workbench.sql.render.spark_sql import predicates_to_spark, to_spark
from workbench.sql.schema import Schema

MAX = 2**63 - 1
_at = dt.datetime
ROWS = [
    (MAX, -MAX - 1, 0, Decimal("9999999999999.99"), Decimal("9" * 38), 1e300, "x", dt.date(2002, 11, 20),
     _at(2002, 11, 20, 1, 2, 3), True),
    (-MAX - 1, -1, MAX, Decimal("-0.01"), Decimal(-1), -0.5, "", dt.date(9999, 12, 1), _at(1970, 1, 1), False),
    (7, 2, -1, Decimal("5.25"), Decimal(3), 2.5, "2002-13-45", dt.date(1970, 1, 1),
     _at(2002, 2, 28, 23, 0), None),
    (None,) * 10,
]  # fmt: skip
VALUES = [  # dialect, expression, its values in the four rows
    ("spark", "a + 1", [None, -MAX, 8, None]),
    ("spark", "b - 1", [None, -2, 1, None]),
    ("spark", "a * 2", [None, None, 14, None]),
    ("spark", "-b", [None, 1, -2, None]),
    ("spark", "abs(b)", [None, 1, 2, None]),
    ("spark", "a / c", [None, -1.0, -7.0, None]),
    ("spark", "a % c", [None, -1, 0, None]),
    ("spark", "a div b", [0, None, 3, None]),
    ("spark", "1 / 0", [None] * 4),
    ("spark", "cast(s as int)", [None] * 4),
    ("spark", "cast(s as date)", [None] * 4),
    ("spark", "to_date(s, 'yyyy-MM-dd')", [None] * 4),
    ("oracle", "to_date(s, 'YYYYMMDD')", [None] * 4),
    ("spark", "cast(w as bigint)", [None, -1, 3, None]),
    ("spark", "cast(x as int)", [None, 0, 2, None]),
    ("spark", "w + w", [None, Decimal(-2), Decimal(6), None]),
    ("spark", "w * w", [None, Decimal(1), Decimal(9), None]),
    ("spark", "m * 0.5", [Decimal("4999999999999.995"), Decimal("-0.005"), Decimal("2.625"), None]),
    ("spark", "m / c", [None, Decimal("-1.08E-21"), Decimal("-5.25"), None]),
    ("spark", "round(m, 1)", [Decimal("10000000000000.0"), Decimal("0.0"), Decimal("5.3"), None]),
    ("spark", "round(a, -2)", [9223372036854775800, -9223372036854775800, 0, None]),
    ("oracle", "trunc(m, 1)", [Decimal("9999999999999.9"), Decimal("0.0"), Decimal("5.2"), None]),
    ("spark", "floor(m)", [Decimal(9999999999999), Decimal(-1), Decimal(5), None]),
    ("spark", "ceil(x)", [2**63 - 1, 0, 3, None]),
    ("spark", "floor(a)", [MAX, -MAX - 1, 7, None]),
    ("oracle", "sqrt(x)", [1e150, None, 2.5**0.5, None]),
    ("spark", "isnan(sqrt(x))", [False, True, False, False]),
    ("duckdb", "x / c", [math.inf, -0.5 / MAX, -2.5, None]),
    ("spark", "ln(x) is null", [False, True, False, True]),
    ("spark", "power(x, 2) > 1", [True, False, True, None]),
    ("spark", "sign(m)", [1.0, -1.0, 1.0, None]),
    ("spark", "greatest(a, m)", [Decimal(MAX), Decimal("-0.01"), Decimal(7), None]),
    ("spark", "coalesce(a, 0)", [MAX, -MAX - 1, 7, 0]),
    ("spark", "nullif(b, 2)", [-MAX - 1, -1, None, None]),
    ("spark", "d + 20", [dt.date(2002, 12, 10), dt.date(9999, 12, 21), dt.date(1970, 1, 21), None]),
    ("spark", "d + a is null", [True, True, False, True]),
    ("spark", "d - date '2002-11-01'", [19, 2920874, -11992, None]),
    ("spark", "add_months(d, a) is null", [True, True, False, True]),
    ("oracle", "add_months(date '2002-02-28', b)", [None, dt.date(2002, 1, 31), dt.date(2002, 4, 30), None]),
    ("oracle", "last_day(d)", [dt.date(2002, 11, 30), dt.date(9999, 12, 31), dt.date(1970, 1, 31), None]),
    ("oracle", "to_char(d, 'YYYYMMDD')", ["20021120", "99991201", "19700101", None]),
    ("spark", "date_format(ts, 'HH:mm')", ["01:02", "00:00", "23:00", None]),
    ("oracle", "trunc(d, 'MM')", [dt.date(2002, 11, 1), dt.date(9999, 12, 1), dt.date(1970, 1, 1), None]),
    ("spark", "date_trunc('hour', ts)", [_at(2002, 11, 20, 1), _at(1970, 1, 1), _at(2002, 2, 28, 23), None]),
    ("spark", "ts + interval 2 hours", [_at(2002, 11, 20, 3, 2, 3), _at(1970, 1, 1, 2), _at(2002, 3, 1, 1), None]),
    ("spark", "ts + interval 1 month",
     [_at(2002, 12, 20, 1, 2, 3), _at(1970, 2, 1), _at(2002, 3, 28, 23), None]),
    ("oracle", "ts - interval '1' year",
     [_at(2001, 11, 20, 1, 2, 3), _at(1969, 1, 1), _at(2001, 2, 28, 23), None]),
    ("oracle", "mod(a, c)", [MAX, -1, 0, None]),
    ("oracle", "substr(s, -3)", [None, None, "-45", None]),
    ("oracle", "trim('x' from s)", [None, None, "2002-13-45", None]),
    ("oracle", "cast(x as integer)", [None, -1, 3, None]),
    ("oracle", "ts - 1", [_at(2002, 11, 19, 1, 2, 3), _at(1969, 12, 31), _at(2002, 2, 27, 23), None]),
    ("spark", "year(d) * 100 + month(d)", [200211, 999912, 197001, None]),
    ("oracle", "extract(day from d)", [20, 1, 1, None]),
    ("oracle", "substr(s, 0, 1)", ["x", "", "2", None]),
    ("oracle", "s || a", [f"x{MAX}", str(-MAX - 1), "2002-13-457", None]),
    ("oracle", "s || null", ["x", "", "2002-13-45", None]),
    ("spark", "s || null", [None] * 4),
    ("oracle", "nvl2(s, 'y', 'n')", ["y", "y", "y", "n"]),
    ("oracle", "decode(b, 2, 'two', null, 'none', 'other')", ["other", "other", "two", "none"]),
    ("spark", "case when a > 5 then 'big' when a < 0 then 'neg' end", ["big", "neg", "big", None]),
    ("oracle", "greatest(a, 1)", [MAX, 1, 7, None]),
    ("oracle", "greatest(1, null)", [None] * 4),
    ("oracle", "lpad(s, 3, '0')", ["00x", "000", "200", None]),
    ("oracle", "ltrim(s, '20')", ["x", None, "-13-45", None]),
    ("oracle", "replace(s, '-')", ["x", None, "20021345", None]),
    ("oracle", "instr(s, '-')", [0, 0, 5, None]),
    ("oracle", "to_number(s)", [None] * 4),
    ("spark", "to_number(s, '99')", [None] * 4),
    ("spark", "upper(s) || '$' || '{x}'", ["X${x}", "${x}", "2002-13-45${x}", None]),
    ("spark", "s like '%\\\\%%' or s = 'it''s'", [False, False, False, None]),
    ("oracle", "s like '2002/_%' escape '/'", [False, False, False, None]),
    ("spark", "s rlike '^[0-9]+-'", [False, False, True, None]),
    ("spark", "a <=> null", [False, False, False, True]),
    ("spark", "a = m", [False, False, False, None]),
    ("spark", "w > m", [True, False, False, None]),
    ("spark", "not (a in (7, 8))", [True, True, False, None]),
    ("spark", "1e3", [1000.0] * 4),
    ("spark", "-9223372036854775808", [-MAX - 1] * 4),
]  # fmt: skip


@pytest.mark.parametrize("ansi", ["false", "true"])
def test_values_types_and_totality(spark, ansi: str) -> None:
    columns = SCHEMA.streams["T"]
    session = engine_session(spark)  # it has the functions of Python
    frame = session.createDataFrame(ROWS, ", ".join(f"{name} {type_.spark}" for name, type_ in columns)).coalesce(1)
    expressions = []
    for dialect, sql, _ in VALUES:
        query = bind(f"SELECT {sql} AS v FROM T", dialect, SCHEMA).query
        assert isinstance(query, Block)
        expressions.append(query.outputs[0].expression)
    session.conf.set("spark.sql.ansi.enabled", ansi)
    rendered = [f"{to_spark(e, lambda c: c.name)} as v{i}" for i, e in enumerate(expressions)]
    result = frame.selectExpr(*rendered)
    rows = result.collect()
    wrong = []
    for i, (dialect, sql, expected) in enumerate(VALUES):
        actual, type_ = [row[i] for row in rows], result.schema[i].dataType.simpleString()
        if actual != expected or type_ != expressions[i].type.spark:
            wrong.append(f"{dialect}: {sql}: {actual} {type_}, not {expected} {expressions[i].type}: {rendered[i]}")
    assert not wrong, "\n".join(wrong)


CONDITIONS = [
    "a > 5 and not (b = 2 or s is null)",
    "a in (7, null) or d >= date '2000-01-01'",
    "m > 5 and m <= 5.25",
    "not (p or a between 1 and 10)",
    "case when x > 0 then p else s = '' end",
    "a not in (1, 2) and s not like 'x%'",
]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_predicates_keep_the_rows_spark_keeps(spark, condition: str) -> None:
    columns = SCHEMA.streams["T"]
    frame = spark.createDataFrame(ROWS, ", ".join(f"{name} {type_.spark}" for name, type_ in columns)).coalesce(1)
    query = bind(f"SELECT a FROM T WHERE {condition}", "spark", SCHEMA).query
    assert isinstance(query, Block)
    kept = frame.filter(predicates_to_spark(query.where, lambda c: c.name)).collect()
    assert kept == frame.filter(condition).collect()


def variances(spark, values: list[str], type_: str) -> list[float | None]:
    """VAR_POP, VAR_SAMP and STDDEV of values, as columns of an aggregate give them."""
    schema = Schema({"T": (("v", parse_type(type_)),)})
    query = bind("SELECT var_pop(v), var_samp(v), stddev(v) FROM T", "spark", schema).query
    assert isinstance(query, Block) and query.grouping is not None
    frame = spark.createDataFrame([(value,) for value in values], "t string").selectExpr(f"cast(t as {type_}) as v")
    # A sum of 64 bits is made in 38 digits, as the engine does.
    statistics = [
        f"cast({c.function}(cast({to_spark(c.arguments[0], lambda c: c.name)} as {decimal_of(c.arguments[0])}))"
        f" as {c.type.spark}) as {column_name(c)}"
        for c in query.grouping.statistics
    ]
    outputs = [to_spark(o.expression, lambda c: c.name) for o in query.outputs]
    return list(frame.selectExpr(*statistics).selectExpr(*outputs).collect()[0])


@pytest.mark.parametrize("ansi", ["true", "false"])
@pytest.mark.parametrize(
    ("type_", "values"),
    [
        ("bigint", [str(1_700_000_000_000 + 97 * i) for i in range(10)]),
        ("bigint", [str(-1_700_000_000_000_000_000 + i * i) for i in range(30)]),
        ("bigint", ["1000000000000000001"] * 9 + ["1000000000000000000"]),
        ("bigint", ["-5000000000000000000", "-4999999999999999999", "7"]),
        ("decimal(18,0)", ["999999999999999999", "-999999999999999999", "1"]),
        ("decimal(18,2)", ["9000000000000000.01", "9000000000000000.99", "9000000000000000.50", "9000000000000001.00"]),
        ("decimal(18,9)", ["-999999999.000000001", "-999999999.000000003", "-999999999.000000009"]),
        ("decimal(18,12)", ["-999999.999999999998", "-999999.999999999999", "999999.000000000001", "0.5"]),
        ("decimal(18,12)", ["-999999.999999999998", "-999999.999999999999"] * 3),
    ],
)  # fmt: skip
def test_variance_of_large_numbers_has_every_digit(spark, type_: str, values: list[str], ansi: str) -> None:
    numbers = [Fraction(value) for value in values]
    mean = sum(numbers) / len(numbers)
    squares = sum((number - mean) ** 2 for number in numbers)
    population, sample = float(squares / len(numbers)), float(squares / (len(numbers) - 1))
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        found = variances(spark, values, type_)
    finally:
        spark.conf.set("spark.sql.ansi.enabled", "false")
    assert found == pytest.approx([population, sample, sample**0.5], rel=1e-12, abs=0)


def test_variance_is_null_where_the_squares_pass_38_digits(spark) -> None:
    spark.conf.set("spark.sql.ansi.enabled", "false")
    assert variances(spark, ["9000000000000000000", "-9000000000000000000"], "bigint") == [None] * 3
    assert variances(spark, ["9000000000000000000"], "bigint") == [0.0, None, None]


def test_variance_of_equal_values_is_zero_and_of_one_row_null(spark) -> None:
    query = bind("SELECT var_samp(m), stddev_pop(a), avg(m), var_samp(a) FROM T", "spark", SCHEMA).query
    assert isinstance(query, Block) and query.grouping is not None
    names = {"count": "n", "sum": "s"}
    assert {c.function for c in query.grouping.statistics} == set(names)

    def over(values: list[str]) -> list[object]:
        frame = spark.createDataFrame([(int(Decimal(v)), Decimal(v)) for v in values], "a bigint, m decimal(15,2)")
        statistics = [
            f"cast({c.function}({to_spark(c.arguments[0], lambda c: c.name)}) as {c.type.spark}) as {column_name(c)}"
            for c in query.grouping.statistics
        ]
        grouped = frame.selectExpr(*statistics)
        return list(grouped.selectExpr(*(to_spark(o.expression, lambda c: c.name) for o in query.outputs)).collect()[0])

    assert over(["9999999999999.99"] * 3) == [0.0, 0.0, Decimal("9999999999999.990000"), 0.0]
    assert over(["0.10", "0.20", "0.40"])[0] == pytest.approx(0.0233333333333, rel=1e-9)
    assert over(["5"])[0] is None
