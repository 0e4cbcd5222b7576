"""ROLLUP, CUBE and GROUPING SETS of what FROM computes, over rows and over none, as Spark and DuckDB have them."""

from __future__ import annotations

from collections import Counter
from itertools import product

import duckdb
import pyarrow as pa
import pytest
from long import LONG
from pyspark.sql import SparkSession

from workbench import Session

ROWS = pa.table({"a": [1, 1, 2, None], "b": [2, 3, 2, 4], "s": ["x", None, "x", "y"]})
FROM = {
    "a number": "(SELECT a, b, 5 AS x FROM {}) q",
    "a text": "(SELECT a, b, 'k' AS x FROM {}) q",
    "a sum": "(SELECT a, b, a + b AS x FROM {}) q",
    "a column twice": "(SELECT a, b, a AS x FROM {}) q",
    "an item": "(SELECT a, b FROM {}) p CROSS JOIN (SELECT 7 AS x) q",
    "a day": "(SELECT a, b, DATE '2020-01-02' AS x FROM {} WHERE a = 1) q",
}
"""How FROM computes x."""
GROUPED = ("ROLLUP (a, x)", "ROLLUP (x, a)", "CUBE (a, x)", "GROUPING SETS ((x), (a), ())", "GROUPING SETS ((), ())")
SELECTED = {
    "x": "a, x, COUNT(*) AS n, MAX(x) AS m, GROUPING(x) AS g",
    "of x": "CAST(x AS VARCHAR(9)) || 'x' AS v, COALESCE(a, -1) AS w, CASE WHEN x IS NULL THEN 1 ELSE 2 END AS c",
    "count": "COUNT(*) AS n, SUM(b) AS s",
}
ALONE = {
    "an alias": "SELECT a, 5 AS x, COUNT(*) AS n FROM {} GROUP BY ROLLUP (a, x)",
    "places": "SELECT a, 'k' AS x, COUNT(*) AS n FROM {} GROUP BY ROLLUP (1, 2)",
    "two alike": "SELECT x, y, GROUPING(y) AS g, COUNT(*) AS n FROM (SELECT 5 AS x, 5 AS y FROM {}) q"
    " GROUP BY CUBE (x, y) HAVING x IS NULL OR COUNT(*) > 0",
    "nothing": "SELECT COUNT(*) AS n FROM {} GROUP BY GROUPING SETS (())",
    "all of none": "SELECT COUNT(*) AS n, SUM(b) AS s FROM {}",
    "with nothing": "SELECT COUNT(*) AS n FROM {} GROUP BY GROUPING SETS ((a), ()) HAVING COUNT(*) >= 0",
}


def _queries(table: str) -> list[str]:
    made = [
        f"SELECT {selected} FROM {source.format(table)} GROUP BY {grouped}"
        for (kind, source), grouped, (what, selected) in product(FROM.items(), GROUPED, SELECTED.items())
        if (what == "count") == (grouped == GROUPED[-1]) and not (kind == "a day" and what == "of x")
    ]
    return made[:: 1 if LONG else 11] + [sql.format(table) for sql in ALONE.values()]


@pytest.mark.parametrize("dialect", ["spark", "duckdb"])
def test_groupings_are_those_of_the_database(spark: SparkSession, dialect: str) -> None:
    connection = duckdb.connect()
    connection.register("rows", ROWS)
    connection.execute("CREATE TABLE t AS SELECT * FROM rows")
    connection.execute("CREATE TABLE e AS SELECT * FROM rows WHERE false")
    own = spark.newSession()  # whose views no other test sees
    own.createDataFrame(ROWS).createOrReplaceTempView("t")
    own.createDataFrame(ROWS).filter("false").createOrReplaceTempView("e")
    asked = [*_queries("t"), *_queries("e")]
    wrong = []
    with Session(spark=spark, dialect=dialect) as session:
        session.add_stream("t", ROWS, history=2, batch=2)
        session.add_table("e", ROWS.slice(0, 0))
        registered = session.register_many({f"q{i}": sql for i, sql in enumerate(asked)})
        session.run(1)
        for (name, query), sql in zip(registered.items(), asked, strict=True):
            if dialect == "spark":
                theirs = [tuple(row) for row in own.sql(sql).collect()]
            else:
                theirs = connection.execute(sql).fetchall()
            answer = query.result().astype(object)
            ours = list(answer.where(answer.notna(), None).itertuples(index=False, name=None))
            if Counter(ours) != Counter(theirs):
                wrong.append((name, sql, ours, theirs))
    assert wrong == []
