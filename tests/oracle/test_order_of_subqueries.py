"""What reads a subquery, view or CTE with ORDER BY has its order, and ARRAY(SELECT …) has that of its rows.

Elements of arrays and parts of texts are compared in their order, with DuckDB's on one thread.
"""

from __future__ import annotations

import warnings

import pytest
from long import LONG
from oracle.harness import Case, Feed, Oracle
from oracle.random_streams import stream
from pyspark.sql import SparkSession

from workbench.errors import SqlWarning, UnsupportedError
from workbench.network.network import Network
from workbench.sharing.planner import Planner
from workbench.sql.algebra.types import INTEGER
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import Block, Ordered
from workbench.sql.schema import Schema

AGGREGATES = {
    "values": "LIST(k) AS a, STRING_AGG(g, '|') AS b",
    "some": "ARRAY_AGG(g) FILTER (WHERE k > 2) AS a, GROUP_CONCAT(g, '') AS b, LIST(k ORDER BY id) AS c",
}
ROWS = {
    "down": "(SELECT * FROM t ORDER BY id DESC, k DESC) z",
    "hidden": "(SELECT g, k, id FROM t ORDER BY ts, id, k) z",
    "filtered": "(SELECT * FROM (SELECT * FROM t ORDER BY d DESC, id DESC, k DESC) y WHERE k < 9) z WHERE id % 7 > 1",
    "first": "(SELECT g, k, id FROM t ORDER BY d NULLS FIRST, id, k LIMIT 30) z",
    "groups": "(SELECT id, g, MAX(k) AS k FROM t GROUP BY id, g ORDER BY MIN(-id) DESC, g DESC) z",
    "union": "(SELECT id, g, k FROM t UNION ALL SELECT id, s, k FROM t ORDER BY id, k, g NULLS FIRST) z",
}
CTE = "WITH w AS (SELECT * FROM t ORDER BY id DESC, k DESC), z AS (SELECT id, k, g FROM w WHERE id > 3) "
ARRAYS = {
    "all": "SELECT id, ARRAY(SELECT k FROM u ORDER BY id DESC, k DESC) AS a FROM t WHERE id < 5",
    "equal": "SELECT id, ARRAY(SELECT id FROM u WHERE u.k = t.k ORDER BY u.ts, u.id) AS a FROM t",
    "less": "SELECT id, ARRAY(SELECT u.id FROM u WHERE u.id < t.id AND u.k = 3 ORDER BY -u.id) AS a FROM t",
    "first": "SELECT id, ARRAY(SELECT u.id FROM u WHERE u.k = t.k ORDER BY u.id DESC LIMIT 2) AS a FROM t",
    "distinct": "SELECT id, ARRAY(SELECT DISTINCT g FROM u WHERE u.k <> t.k ORDER BY g DESC) AS a FROM t WHERE id < 9",
    "values": "SELECT id, ARRAY((SELECT x FROM (VALUES (3), (1), (NULL), (2)) v(x) ORDER BY x)) AS a FROM t",
    "condition": "SELECT id FROM t WHERE len(ARRAY(SELECT u.id FROM u WHERE u.k = t.k)) > 1",
    "groups": "SELECT k, COUNT(*) AS n, ARRAY(SELECT u.id FROM u WHERE u.k = t.k ORDER BY u.id) AS a FROM t GROUP BY k",
    "none": "SELECT id, ARRAY(SELECT k FROM u WHERE id < 0) AS a FROM t",
    "element": "SELECT id, ARRAY[(SELECT MAX(k) FROM u)] AS a FROM t WHERE id < 5",
}


def cases() -> dict[str, Case]:
    """Aggregates over rows in an order, and arrays of subqueries."""
    texts = dict(ARRAYS) if LONG else dict([*ARRAYS.items()][1::2])
    for place, (name, rows) in enumerate(ROWS.items()):
        if LONG or place % 2:
            texts[f"{name}_all"] = f"SELECT {AGGREGATES['some']} FROM {rows}"
        if LONG or not place % 2:
            texts[f"{name}_groups"] = f"SELECT id % 4 AS p, {AGGREGATES['values']} FROM {rows} GROUP BY p"
    texts["cte"] = f"{CTE}SELECT {AGGREGATES['values']} FROM z"
    texts["limit"] = f"{CTE}SELECT k, g FROM z LIMIT 7"
    texts["counted"] = (
        "SELECT id, k, ROW_NUMBER() OVER () AS n, LAG(k) OVER () AS l, SUM(k % 10) OVER (ROWS BETWEEN 1 PRECEDING AND"
        " CURRENT ROW) AS s, RANK() OVER () AS r, COUNT(*) OVER () AS c, LIST(g) OVER () AS a"
        f" FROM {ROWS['down']}"
    )
    texts["rows"] = "SELECT k FROM (SELECT * FROM t ORDER BY id DESC, k DESC) z"
    return {name: Case(text, dialect="duckdb") for name, text in texts.items()}


def test_as_duckdb_has_it(spark: SparkSession) -> None:
    feeds = {"t": Feed(stream(60, seed=5), 30, 15), "u": Feed(stream(40, seed=6), 20, 10)}
    with Oracle(spark, feeds) as oracle:
        oracle.register(cases())
        oracle.run(2 if LONG else 1, check=False)
        oracle.check_results()


SCHEMA = Schema({"t": (("a", INTEGER), ("b", INTEGER)), "u": (("k", INTEGER), ("v", INTEGER))})


def test_an_order_that_is_lost_in_a_join_is_said() -> None:
    sql = "SELECT ARRAY_AGG(z.a) FROM (SELECT a FROM t ORDER BY b) z JOIN u ON z.a = u.k"
    with pytest.warns(SqlWarning, match="ORDER BY of a subquery that is joined"):
        bind(sql, "duckdb", SCHEMA)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bind(sql.replace("(z.a)", "(z.a ORDER BY z.a)"), "duckdb", SCHEMA)


@pytest.mark.parametrize(
    ("dialect", "sql", "message"),
    [
        ("spark", "SELECT ARRAY(SELECT v FROM u) FROM t", "ARRAY of a subquery in spark"),
        ("oracle", "SELECT ARRAY(SELECT v FROM u) FROM t", "ARRAY of a subquery in oracle"),
        ("postgres", "SELECT ARRAY_AGG(a) FROM (SELECT a FROM t ORDER BY a, b DESC) z", "in two directions"),
        ("duckdb", "SELECT ARRAY(SELECT v FROM u ORDER BY k, v DESC) FROM t", "in two directions"),
    ],
)
def test_refused_by_name(dialect: str, sql: str, message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        bind(sql, dialect, SCHEMA)


def test_in_spark_an_array_of_a_value_has_one_element() -> None:
    first, second = (
        bind(sql, "spark", SCHEMA).query
        for sql in (
            "SELECT ARRAY((SELECT MAX(v) FROM u)) AS a FROM t",
            "SELECT ARRAY(m) AS a FROM t CROSS JOIN (SELECT MAX(v) AS m FROM u) z",
        )
    )
    assert type(first) is type(second) and not isinstance(first, Ordered)


def test_the_other_side_of_a_semijoin_orders_nothing() -> None:
    schema = Schema({"t": (("a", INTEGER), ("b", INTEGER))})
    text = "SELECT a, ROW_NUMBER() OVER (PARTITION BY b) AS n FROM t x {} JOIN {} y ON x.a = y.a"
    for join in ("SEMI", "ANTI"):
        query = bind(text.format(join, "(SELECT a FROM t ORDER BY b LIMIT 2)"), "duckdb", schema).query
        assert isinstance(query, Block)
        assert not any(analyzed.call.over.order for analyzed in query.analytics)
        Planner().register(Network(), "q", query)
