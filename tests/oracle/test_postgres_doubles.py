"""Infinities and NaN as texts in postgres, and what is computed from them, against a PostgreSQL batch by batch."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import servers
from oracle.on_postgres import compare, drawn
from pyspark.sql import SparkSession

HISTORY, BATCH = 40, 30
TYPES = {"k": ("INTEGER", pa.int64()), "id": ("BIGINT", pa.int64()), "s": ("TEXT", pa.string())}
TEXTS = ("infinity", " -INFINiTY ", "+inf", "-inf", "NaN", " nan", "0", "-0.5", "1", "2.5", "-3", "1e2", ".25")
COMPUTED = (
    "x", "-x", "ABS(x)", "x + 1", "x - x", "x * 0", "x * 2", "2 / NULLIF(x, 0)", "SIGN(x)", "FLOOR(x)", "CEIL(x)",
    "EXP(-ABS(x))", "POWER(x, 2)", "POWER(ABS(x), 0.5)", "SQRT(ABS(x))", "TANH(x)", "GREATEST(x, 1)", "LEAST(x, 1)",
    "COALESCE(x, 1)", "LN(CASE WHEN x > 1e300 THEN x END)",
)  # fmt: skip
_OF = "FROM (SELECT k, id, s, CAST(s AS DOUBLE PRECISION) AS x FROM t) AS t"
NAN = "CAST('NaN' AS DOUBLE PRECISION)"


def shown(expression: str, name: str) -> str:
    """A number as two columns, since a frame has one value for NaN and NULL."""
    return f"{expression} = {NAN} AS {name}_is_nan, NULLIF({expression}, {NAN}) AS {name}"


ASKED = {
    **{each: f"SELECT id, {shown(each, 'v')} {_OF}" for each in COMPUTED},
    "ordered": f"SELECT id, s {_OF} ORDER BY x DESC, id",
    "compared": f"SELECT id, x > 2 AS a, x = CAST('inf' AS FLOAT8) AS b, x > CAST('-Infinity' AS FLOAT8) AS c,"
    f" x BETWEEN -1 AND {NAN} AS d {_OF}",
    "of groups": "SELECT k, COUNT(x) AS n, "
    + ", ".join(shown(f"{name}(x)", name.lower()) for name in ("SUM", "AVG", "MIN", "MAX"))
    + f" {_OF} GROUP BY k",
    "alike": f"SELECT {shown('x', 'v')}, COUNT(*) AS n {_OF} GROUP BY x",
    "with pairs": f"SELECT a.id, b.id AS other {_OF.replace('AS t', 'AS a')} JOIN t AS b ON a.x ="
    " CAST(b.s AS DOUBLE PRECISION) AND a.k = b.k",
}  # fmt: skip


def test_answers_are_those_of_postgres(spark: SparkSession) -> None:
    random = Random(3)
    rows = drawn(HISTORY + 2 * BATCH, random, lambda: random.choice(TEXTS))
    with servers.postgres() as address:
        compare(address, spark, TYPES, rows, ASKED, HISTORY, BATCH)
