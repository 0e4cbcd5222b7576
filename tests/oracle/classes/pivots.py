"""PIVOT and UNPIVOT with constant lists."""

from __future__ import annotations

from oracle.harness import Case

_OF_T = "(SELECT g, id % 3 AS m, id AS k, amount FROM t)"
_KEYED = "(SELECT g, id % 3 AS m, id % 50 AS k FROM t)"
PIVOTS = {
    "sums": Case(
        f"SELECT * FROM {_OF_T} PIVOT (SUM(k) FOR g IN ('a', 'b' AS bee, 'z'))",
        "SELECT m, amount, SUM(k) FILTER (WHERE g = 'a'), SUM(k) FILTER (WHERE g = 'b'), SUM(k) FILTER (WHERE g = 'z')"
        f" FROM {_OF_T} GROUP BY m, amount",
    ),
    "sums_in_duckdb": Case(
        f"SELECT p.m, p.a_s + p.bee_n AS x, bee_s FROM {_OF_T} AS q"
        " PIVOT (SUM(k) AS s, COUNT(*) AS n FOR g IN ('a', 'b' AS bee) GROUP BY m) AS p WHERE bee_n > 1",
        dialect="duckdb",
    ),
    "counts": Case(
        f"SELECT * FROM {_KEYED} PIVOT (COUNT(k) FOR g IN ('a', 'z'))",
        "SELECT m, CASE WHEN COUNT(*) FILTER (WHERE g = 'a') > 0 THEN COUNT(k) FILTER (WHERE g = 'a') END,"
        " NULL FROM (SELECT id % 3 AS m, g, id AS k FROM t) GROUP BY m",
    ),
    "counts_in_duckdb": Case(f"SELECT * FROM {_KEYED} PIVOT (COUNT(k) FOR g IN ('a', 'z'))", dialect="duckdb"),
    "pairs": Case(
        f"SELECT * FROM {_KEYED} PIVOT (MAX(k) FOR (g, m) IN (('a', 1) AS one, ('b', 2) AS two))",
        "SELECT MAX(id % 50) FILTER (WHERE g = 'a' AND id % 3 = 1),"
        " MAX(id % 50) FILTER (WHERE g = 'b' AND id % 3 = 2) FROM t",
    ),
    "simplified": Case(
        f'SELECT * FROM (PIVOT {_KEYED} ON m IN (0, 1) USING SUM(k) AS s, MIN(k) AS n GROUP BY g) WHERE "0_s" > 3',
        dialect="duckdb",
    ),
    "unpivoted": Case("SELECT id, what, v FROM t UNPIVOT (v FOR what IN (k, big AS large)) WHERE v > 3"),
    "unpivoted_nulls": Case(
        "SELECT what, COUNT(*) AS n, COUNT(v) AS m FROM (SELECT id, k, big FROM t) AS q"
        " UNPIVOT INCLUDE NULLS (v FOR what IN (k, big)) GROUP BY what"
    ),
    "unpivoted_simplified": Case(
        "SELECT * FROM (UNPIVOT (SELECT id AS Number, k, big FROM t) ON k, big INTO NAME what VALUE v)",
        dialect="duckdb",
    ),
    "unpivoted_written": Case(
        "SELECT * FROM (SELECT id, k AS Kay, big FROM t) UNPIVOT (v FOR what IN (kay, big))", dialect="duckdb"
    ),
    "pivoted_by_arrays": Case(
        "SELECT * FROM (SELECT k, amount, ARRAY(flag, flag) AS a FROM t) PIVOT"
        " (MAX(amount) FOR a IN (ARRAY(true, true) AS y, ARRAY(false, false) AS n))",
        "SELECT k, MAX(amount) FILTER (WHERE flag), MAX(amount) FILTER (WHERE NOT flag) FROM t GROUP BY k",
    ),
}
