"""Integers of fewer than 64 bits: what does not fit is NULL, as in Spark and DuckDB, which raise, or give NULL."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import duckdb
import pytest
from pyspark.sql import SparkSession

from workbench.sql.algebra.expressions import Constant
from workbench.sql.algebra.types import BOOLEAN, DOUBLE, INTEGER, STRING, DataType, decimal
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import Block
from workbench.sql.render.spark_sql import to_spark
from workbench.sql.schema import Schema

POWERS = [sign * 2**bits for bits in (0, 7, 8, 15, 16, 31, 32, 62) for sign in (-1, 1)]
BORDERS = sorted({power + near for power in POWERS for near in (-1, 0, 1)})
WHOLE = [*BORDERS, 2**63 - 1, -(2**63), None]
VALUES: dict[str, tuple[DataType, list[Any]]] = {
    "i": (INTEGER, WHOLE),
    "w": (decimal(20, 0), [None if v is None else Decimal(v) for v in [*WHOLE, 2**63, -(2**63) - 1]]),
    "m": (decimal(21, 1), [None if v is None else v + part for v in WHOLE if v is None or abs(v) < 2**62
                           for part in (Decimal("0.4"), Decimal("0.5"), Decimal("-0.5"))]),
    "x": (DOUBLE, [v + part for v in BORDERS for part in (0.0, 0.4, 0.5, -0.5)]
          + [None, -(2.0**63), 1e30, -1e30, float("inf"), float("nan")]),
    "s": (STRING, [None if v is None else str(v) for v in [*WHOLE, 2**63]] + ["", "x", " 7 ", "+128", "1e2"]),
    "p": (BOOLEAN, [True, False, None]),
}  # fmt: skip
"""Column -> its type, and its values."""
NAMES = {
    "spark": "tinyint byte smallint short int integer bigint long",
    "duckdb": "tinyint int1 smallint int2 int16 short int int4 int32 integer signed bigint int8 int64 long",
    "postgres": "smallint int2 int integer int4 bigint int8",
    "trino": "tinyint smallint int integer bigint",
}
"""Dialect -> the names of its types of integers."""
OF_COLUMN = {"duckdb": "iwmx", "postgres": "iwmx", "trino": "i"}
"""Dialect -> the columns that are cast there; it refuses others."""
SCHEMA = Schema(streams={"t": tuple((name, type_) for name, (type_, _) in VALUES.items())})


def _bound(sql: str, dialect: str, column: str = "") -> str:
    query = bind(f"SELECT {sql} AS v FROM t", dialect, SCHEMA).query
    assert isinstance(query, Block)
    return to_spark(
        query.outputs[0].expression, lambda c: f"cast(null as {c.type.spark})" if c.name != column else column
    )


def _asked() -> Iterator[tuple[str, str, str, str]]:
    for dialect, names in NAMES.items():
        for name in names.split():
            for column in OF_COLUMN.get(dialect, VALUES):
                for cast in ("CAST", "TRY_CAST") if dialect != "postgres" else ("CAST",):
                    yield dialect, column, f"{cast}({column} AS {name})", f"TRY_CAST({column} AS {name})"


def _of_spark(spark: SparkSession, column: str, texts: list[str]) -> list[tuple[Any, ...]]:
    type_, values = VALUES[column]
    frame = spark.createDataFrame([(n, v) for n, v in enumerate(values)], f"n int, {column} {type_.spark}").coalesce(1)
    once = list(dict.fromkeys(texts))
    rows = sorted(frame.selectExpr("n", *once).collect(), key=lambda row: row[0])
    return [tuple(row[1 + once.index(text)] for text in texts) for row in rows]


def _of_duckdb(column: str, texts: list[str]) -> list[tuple[Any, ...]]:
    type_, values = VALUES[column]
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE t (n INT, {column} {type_.spark})")
    connection.executemany("INSERT INTO t VALUES (?, ?)", list(enumerate(values)))
    return [row[1:] for row in connection.execute(f"SELECT n, {', '.join(texts)} FROM t ORDER BY n").fetchall()]


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_casts_keep_what_fits_and_nothing_else(spark: SparkSession, ansi: str) -> None:
    before = spark.conf.get("spark.sql.ansi.enabled")
    wrong, count = [], 0
    try:
        spark.conf.set("spark.sql.ansi.enabled", ansi)
        for column in VALUES:
            asked = [each for each in _asked() if each[1] == column]
            found = _of_spark(spark, column, [_bound(sql, dialect, column) for dialect, _, sql, _ in asked])
            theirs = [text for dialect, _, _, text in asked if dialect == "spark"]
            from_spark = _of_spark(spark, column, theirs) if theirs else [() for _ in found]
            others = [text for dialect, _, _, text in asked if dialect != "spark"]
            from_duckdb = _of_duckdb(column, others) if others else [() for _ in found]
            for value, ours, *expected in zip(VALUES[column][1], found, from_spark, from_duckdb, strict=True):
                right = (*expected[0], *expected[1])
                count += len(right)
                wrong += [(*a[:3], value, b, c) for a, b, c in zip(asked, ours, right, strict=True) if b != c]
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before)
    assert wrong == []
    assert count > 5_000


@pytest.mark.slow
@pytest.mark.parametrize(("dialect", "names"), NAMES.items())
def test_constants_are_cast_as_columns_are(dialect: str, names: str) -> None:
    connection = duckdb.connect()
    for name in names.split():
        spelled = {"byte": "tinyint", "int8": "bigint"}.get(name, name)
        for value in WHOLE[:-1]:
            query = bind(f"SELECT CAST({value} AS {name}) AS v FROM t", dialect, SCHEMA).query
            assert isinstance(query, Block)
            made = query.outputs[0].expression
            kept = connection.execute(f"SELECT TRY_CAST({value} AS {spelled})").fetchone() == (value,)
            assert (isinstance(made, Constant) and made.value == value) == kept, (name, value)


BITS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64}
SIDES = (("TINYINT", "TINYINT"), ("SMALLINT", "SMALLINT"), ("INTEGER", "INTEGER"), ("INTEGER", "SMALLINT"))
OPERATED = ("{0} + {1}", "{0} - {1}", "{0} * {1}", "{0} % {1}", "-{0}", "ABS({0})", "{0} + 1", "{0} * 100000")
TRIED = {
    "TRY_ADD({0}, {1})": "{0} + {1}", "TRY_SUBTRACT({0}, {1})": "{0} - {1}", "TRY_MULTIPLY({0}, {1})": "{0} * {1}",
    "TRY_ADD({0}, 1)": "{0} + 1",
}  # fmt: skip
"""Functions of spark, and the operators that they are."""
ENDS = sorted({sign * 2**bits + near for bits in (0, 7, 15, 31) for near in (-1, 0) for sign in (-1, 1)})
PAIRS = [(i, j) for i in ENDS for j in (1, -1, 3, 127, -128, 32767, 2**31 - 1, -(2**31))]
LITERALS = (
    "2147483647 + 1", "2147483647 + 0 + 1", "100000 * 100000", "2147483648 + 1", "-2147483647 - 2", "ABS(-5) - 7",
    "CAST(1 AS BIGINT) * 3000000000", "CAST(2147483647 AS BIGINT) + 1", "CAST(120 AS SMALLINT) * 3",
)  # fmt: skip


def _right(operated: str, i: int, j: int, bits: tuple[int, int]) -> int | None:
    """What Spark computes, NULL where it raises."""
    read = zip(bits, (i, j) if "{1}" in operated else (i,), strict=False)
    if any(not -(2 ** (of - 1)) <= v < 2 ** (of - 1) for of, v in read):
        return None
    width = max(bits) if "{1}" in operated else max(bits[0], 32 if "1" in operated.replace("{0}", "") else 0)
    if "%" in operated:
        return abs(i) % abs(j) * (-1 if i < 0 else 1)
    value = {"-{0}": -i, "ABS({0})": abs(i), "{0} + 1": i + 1, "{0} * 100000": i * 100000,
             "{0} + {1}": i + j, "{0} - {1}": i - j, "{0} * {1}": i * j}[operated]  # fmt: skip
    return value if -(2 ** (width - 1)) <= value < 2 ** (width - 1) else None


@pytest.mark.parametrize("dialect", ["spark", "duckdb"])
def test_arithmetic_has_the_range_of_the_larger_type(spark: SparkSession, dialect: str) -> None:
    schema = Schema(streams={"t": (("i", INTEGER), ("j", INTEGER))})
    frame = spark.createDataFrame([(n, *pair) for n, pair in enumerate(PAIRS)], "n int, i bigint, j bigint").coalesce(1)
    asked = [(each, sides, each.format(*(f"CAST({c} AS {t})" for c, t in zip("ij", sides, strict=True))))
             for each in (*OPERATED, *(TRIED if dialect == "spark" else ())) for sides in SIDES]  # fmt: skip
    made = []
    for _, _, sql in asked:
        query = bind(f"SELECT {sql} AS v FROM t", dialect, schema).query
        assert isinstance(query, Block)
        made.append(to_spark(query.outputs[0].expression, lambda column: column.name))
    found = sorted(map(tuple, frame.selectExpr("n", *made).collect()))
    if dialect == "spark":
        right = [
            tuple(_right(TRIED.get(each, each), *pair, (BITS[a], BITS[b])) for each, (a, b), _ in asked)
            for pair in PAIRS
        ]
    else:
        connection = duckdb.connect()
        connection.execute("CREATE TABLE t (n INT, i BIGINT, j BIGINT)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", [(n, *pair) for n, pair in enumerate(PAIRS)])
        texts = ", ".join(f"TRY({sql.replace('CAST', 'TRY_CAST')})" for *_, sql in asked)
        right = [row[1:] for row in connection.execute(f"SELECT n, {texts} FROM t ORDER BY n").fetchall()]
    wrong = [
        (asked[at][2], pair, ours[1:][at], theirs[at])
        for pair, ours, theirs in zip(PAIRS, found, right, strict=True)
        for at in range(len(asked))
        if ours[1:][at] != theirs[at] and not ("%" in asked[at][2] and pair[1] == -1)  # where DuckDB raises, it is 0
    ]
    assert wrong == []


@pytest.mark.parametrize("dialect", ["spark", "duckdb", "postgres"])
def test_literals_are_added_in_their_type(dialect: str) -> None:
    connection = duckdb.connect()
    for sql in LITERALS:
        query = bind(f"SELECT {sql} AS v FROM t", dialect, SCHEMA).query
        assert isinstance(query, Block)
        (expected,) = connection.execute(f"SELECT TRY({sql})").fetchone() or ()
        made = query.outputs[0].expression
        assert not isinstance(made, Constant) or made.value == expected, sql


def test_a_comparison_does_not_overflow() -> None:
    query = bind("SELECT s FROM t WHERE CAST(i AS INT) + 1 > 5", "spark", SCHEMA).query
    assert isinstance(query, Block) and "within" not in str(query.where)


@pytest.mark.parametrize(
    ("sql", "value"),
    [("1 << 40", 256), ("SHIFTLEFT(1, 31)", -(2**31)), ("SHIFTRIGHTUNSIGNED(-1, 1)", 2**31 - 1), ("-8 >> 33", -4)],
)
def test_a_shift_counts_places_by_the_bits_of_its_type(spark: SparkSession, sql: str, value: int) -> None:
    query = bind(f"SELECT {sql} AS v FROM t", "spark", SCHEMA).query
    assert isinstance(query, Block)
    made = to_spark(query.outputs[0].expression, lambda column: column.name)
    assert spark.range(1).selectExpr(made, sql).collect() == [(value, value)]


WHOLE_OF = [0.5, -0.5, -1.0, 1e15 + 0.5, 2.0**53, 9.2e18, 2.0**63, -(2.0**63), 1e30, -1e30, float("inf"), float("-inf"),
            float("nan"), None]  # fmt: skip


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_floor_and_ceil_have_the_type_of_the_dialect(spark: SparkSession, ansi: str) -> None:
    schema = Schema(streams={"t": (("x", DOUBLE), ("i", INTEGER))})
    frame = spark.createDataFrame([(n, v, n) for n, v in enumerate(WHOLE_OF)], "n int, x double, i bigint").coalesce(1)
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t (n INT, x DOUBLE, i BIGINT)")
    connection.executemany("INSERT INTO t VALUES (?, ?, ?)", [(n, v, n) for n, v in enumerate(WHOLE_OF)])
    texts = ("FLOOR(x)", "CEIL(x)", "FLOOR(i)", "CEIL(i)")
    before = spark.conf.get("spark.sql.ansi.enabled")
    try:
        for dialect in ("spark", "duckdb", "postgres"):
            queries = [bind(f"SELECT {sql} AS v FROM t", dialect, schema).query for sql in texts]
            outputs = [query.outputs[0].expression for query in queries if isinstance(query, Block)]
            spark.conf.set("spark.sql.ansi.enabled", ansi)
            found = frame.selectExpr("n", *(to_spark(e, lambda column: column.name) for e in outputs)).collect()
            spark.conf.set("spark.sql.ansi.enabled", "false")
            theirs = (
                frame.selectExpr("n", *texts).collect()
                if dialect == "spark"
                else connection.execute(f"SELECT n, {', '.join(texts)} FROM t").fetchall()
            )
            ours, right = (str(sorted(map(tuple, rows))).replace("-0.0", "0.0") for rows in (found, theirs))
            assert ours == right
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before)
