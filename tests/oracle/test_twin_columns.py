"""Two columns that are one stored column, in every clause that takes several columns."""

from __future__ import annotations

import random

from long import LONG
from oracle.harness import Case, Feed, Oracle
from oracle.random_streams import stream
from pyspark.sql import SparkSession

INNER = {
    "plain": "SELECT k AS c0, k AS c1, g FROM t",
    "distinct": "SELECT DISTINCT k AS c0, k AS c1, g FROM t",
    "grouped": "SELECT k AS c0, k AS c1, MIN(g) AS g FROM t GROUP BY k",
    "numbered": "SELECT k AS c0, k AS c1, g, row_number() OVER (PARTITION BY k ORDER BY id) AS n FROM t",
    "limited": "SELECT k AS c0, k AS c1, g FROM t ORDER BY id DESC LIMIT 40",
    "union": "SELECT k AS c0, k AS c1, g FROM t UNION ALL SELECT k, k, s FROM t",
}
OUTER = {
    "groups": "SELECT c0, c1, COUNT(*) AS n, SUM(c0 % 7) AS a, SUM(c1 % 7) AS b FROM z GROUP BY c1, c0",
    "distinct": "SELECT DISTINCT c0, c1 FROM z",
    "counted": "SELECT g, COUNT(DISTINCT c0) AS a, COUNT(DISTINCT c1) AS b, MIN(c0) AS m, MAX(c1) AS x FROM z"
    " GROUP BY g",
    "top": "SELECT c0, c1 FROM z WHERE c0 IS NOT NULL ORDER BY c1 DESC, c0 LIMIT 9",
    "ties": "SELECT c0, c1 FROM z QUALIFY rank() OVER (ORDER BY c0 NULLS FIRST, c1 DESC) <= 4",
    "distinct_on": "SELECT DISTINCT ON (c0, c1) c0, c1 FROM z ORDER BY c0, c1 DESC",
    "partition": "SELECT c0, MIN(c1) OVER (PARTITION BY c1, c0) AS f, COUNT(*) OVER (PARTITION BY c0, c1) AS h FROM z",
    "order": "SELECT c1, rank() OVER (ORDER BY c0, c1 DESC) AS f FROM z",
    "order_of_partition": "SELECT c0, rank() OVER (PARTITION BY c0 ORDER BY c1) AS f, SUM(c1 % 7) OVER (PARTITION BY c0"
    " ORDER BY c1 RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS h FROM z",
    "no_frame": "SELECT c0, COUNT(*) OVER (PARTITION BY c0 ORDER BY c1 GROUPS BETWEEN 2 PRECEDING AND 1 PRECEDING)"
    " AS f, SUM(c0 % 7) OVER (PARTITION BY c1 ORDER BY c0 RANGE BETWEEN 1 FOLLOWING AND 2 FOLLOWING) AS h FROM z",
    "join": "SELECT a.c0, b.c1 FROM z a JOIN (SELECT k AS c0, k AS c1 FROM u) b ON a.c0 = b.c0 AND a.c1 = b.c1",
    "using": "SELECT c0, c1, a.g FROM z a JOIN (SELECT k AS c0, k AS c1 FROM u) b USING (c0, c1)",
    "crossed": "SELECT a.c0 FROM z a JOIN (SELECT k AS c0, k AS c1 FROM u) b ON a.c0 = b.c1 AND a.c1 = b.c0",
    "left": "SELECT a.c0, a.c1, b.c0 AS d FROM z a LEFT JOIN (SELECT k AS c0, k AS c1 FROM u WHERE k > 3) b"
    " ON a.c0 = b.c0 AND a.c1 = b.c1",
    "full": "SELECT a.c0, b.c1 FROM (SELECT DISTINCT c0, c1 FROM z) a FULL JOIN (SELECT DISTINCT k AS c0, k AS c1"
    " FROM u) b ON a.c0 = b.c1",
    "semi": "SELECT c0, c1 FROM z WHERE (c0, c1) IN (SELECT k, k FROM u)",
    "exists": "SELECT c0, c1 FROM z v WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.k = v.c0 AND u.k = v.c1)",
    "scalar": "SELECT c0, (SELECT COUNT(*) FROM u WHERE u.k = v.c0 AND u.k = v.c1) AS n FROM z v",
    "except": "SELECT c0, c1 FROM z EXCEPT SELECT k, k FROM u",
    "intersect": "SELECT c1, c0 FROM z INTERSECT SELECT k, k FROM u",
    "united": "SELECT c0, c1 FROM z UNION SELECT k, k FROM u",
    "listed": "SELECT g, array_agg(c0 ORDER BY c1) AS l, min_by(c0, c1) AS m, max_by(c1, c0) AS x FROM z GROUP BY g",
    "compared": "SELECT c0, c1 FROM z WHERE c0 = c1 AND c0 >= c1",
    "unequal": "SELECT c0, c1 FROM z WHERE c0 <> c1 OR c0 > c1 + 1",
    "computed": "SELECT c0 - c1 AS d, COUNT(*) AS n FROM z GROUP BY c0 - c1, c1 - c0",
}


def cases() -> dict[str, Case]:
    """Every clause over every query."""
    return {
        f"{outer}_of_{inner}": Case(f"WITH z AS ({rows}) {text}", dialect="duckdb")
        for inner, rows in INNER.items()
        for outer, text in OUTER.items()
    }


def test_twin_columns(spark: SparkSession) -> None:
    every = cases()
    names = every if LONG else random.Random(3).sample(sorted(every), 12)
    feeds = {"t": Feed(stream(60, 21, extremes=0), 30, 30), "u": Feed(stream(30, 22, extremes=0), 10, 20)}
    with Oracle(spark, feeds) as oracle:
        oracle.register({name: every[name] for name in names}, check=False)
        oracle.run(1)
        oracle.check_changes()
