"""Queries that combine classes: outer joins under groups under first rows, subqueries over windows, recursive paths.

Orders are of all that is shown, since SQL leaves open which of equal rows comes first.
"""

from __future__ import annotations

from oracle.harness import Case


def duck(sql: str) -> Case:
    """The same words for both."""
    return Case(sql, dialect="duckdb")


_JOINED = "t LEFT JOIN u ON t.k = u.k AND t.g = u.g"
_PATH = (
    "WITH RECURSIVE p AS (SELECT id, k AS a, id % 12 AS b, 1 AS depth FROM t WHERE flag AND k < 12 UNION ALL"
    " SELECT f.id, p.a, f.id % 12, p.depth + 1 FROM p JOIN t f ON p.b = f.k AND f.id > p.id WHERE p.depth < {}) "
)
_REACHED = (
    "WITH RECURSIVE p AS (SELECT k % 7 AS a, id % 7 AS b FROM t WHERE k < 12 UNION"
    " SELECT p.a, t.id % 7 FROM p JOIN t ON t.k % 7 = p.b WHERE NOT t.flag) "
)
_VISITED = (
    "WITH RECURSIVE p (a, depth) AS (SELECT k, 0 FROM u WHERE id < 5 UNION"
    " SELECT t.id % 12, p.depth + 1 FROM p, t WHERE p.a = t.k AND p.depth < 3) "
)

COMBINED = {
    "top_of_outer_groups": duck(
        f"SELECT t.g, COUNT(u.id) AS n FROM {_JOINED} GROUP BY t.g ORDER BY n DESC, t.g NULLS FIRST LIMIT 3"
    ),
    "ranked_outer_groups": duck(
        "SELECT g, n, rank() OVER (ORDER BY n DESC) AS r FROM"
        f" (SELECT t.g, COUNT(u.id) AS n FROM {_JOINED} GROUP BY t.g) v"
    ),
    "outer_of_first_rows": duck(
        "SELECT a.id, b.id AS other FROM (SELECT id, k FROM t ORDER BY id DESC, k LIMIT 9) a FULL JOIN"
        " (SELECT id, k FROM u ORDER BY id DESC, k LIMIT 5) b ON a.k = b.k"
    ),
    "outer_of_numbered": duck(
        "SELECT v.g, v.n, u.id FROM (SELECT g, id, row_number() OVER (PARTITION BY g ORDER BY id, k) AS n FROM t) v"
        " LEFT JOIN u ON v.n = u.k AND v.g = u.g"
    ),
    "exists_over_neighbours": duck(
        "SELECT id, g FROM u WHERE EXISTS (SELECT 1 FROM"
        " (SELECT g, id - lag(id) OVER (PARTITION BY g ORDER BY id) AS gap FROM t) v WHERE v.g = u.g AND v.gap > 12)"
    ),
    "exists_over_windows": Case(
        "SELECT id FROM u WHERE EXISTS (SELECT 1 FROM (SELECT window(ts, '5 days').start AS w, COUNT(*) AS n FROM t"
        " WHERE YEAR(ts) = 2002 GROUP BY window(ts, '5 days')) v WHERE v.n > u.k AND v.w < u.ts)",
        "SELECT id FROM u WHERE EXISTS (SELECT 1 FROM"
        " (SELECT time_bucket(INTERVAL 5 DAY, ts, TIMESTAMP '1970-01-01') AS w, COUNT(*) AS n FROM t"
        " WHERE YEAR(ts) = 2002 GROUP BY 1) v WHERE v.n > u.k AND v.w < u.ts)",
    ),
    "not_in_of_first_rows": duck("SELECT id, k FROM t WHERE k NOT IN (SELECT k FROM u ORDER BY k NULLS LAST LIMIT 4)"),
    "not_in_rows": Case(
        "SELECT id FROM t WHERE (k, g) NOT IN (SELECT k, g FROM u WHERE id > 30)",
        "SELECT id FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.id > 30 AND (u.k = t.k) IS NOT FALSE"
        " AND (u.g = t.g) IS NOT FALSE)",
    ),
    "not_in_rows_correlated": Case(
        "SELECT id, k FROM t WHERE (g, flag) NOT IN (SELECT g, flag FROM u WHERE u.k = t.k)",
        "SELECT id, k FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.k = t.k AND (u.g = t.g) IS NOT FALSE"
        " AND (u.flag = t.flag) IS NOT FALSE)",
    ),
    "rows_in_or": Case(
        "SELECT id, (k, g) NOT IN (SELECT k, g FROM u) AS i FROM t WHERE flag OR (k, flag) IN (SELECT k, flag FROM u)",
        "SELECT id, CASE WHEN EXISTS (SELECT 1 FROM u WHERE u.k = t.k AND u.g = t.g) THEN FALSE"
        " WHEN EXISTS (SELECT 1 FROM u WHERE (u.k = t.k) IS NOT FALSE AND (u.g = t.g) IS NOT FALSE) THEN NULL"
        " ELSE TRUE END FROM t"
        " WHERE flag OR EXISTS (SELECT 1 FROM u WHERE u.k = t.k AND u.flag = t.flag)",
    ),
    "rolled_up_outer": duck(f"SELECT t.g, u.flag, COUNT(*) AS n FROM {_JOINED} GROUP BY ROLLUP (t.g, u.flag)"),
    "rolled_up_first": duck(
        "SELECT g, flag, n FROM (SELECT g, flag, COUNT(*) AS n FROM t GROUP BY CUBE (g, flag)) v"
        " ORDER BY n DESC, g NULLS FIRST, flag NULLS FIRST LIMIT 5"
    ),
    "running_over_groups": duck(
        "SELECT k, sum(COUNT(*)) OVER (ORDER BY k NULLS FIRST) AS total, COUNT(*) AS n FROM t"
        " WHERE k IN (SELECT k FROM u) GROUP BY k"
    ),
    "running": duck("SELECT id, k, sum(k) OVER (PARTITION BY g ORDER BY id) AS total FROM t WHERE k BETWEEN 0 AND 11"),
    "before": duck(
        "SELECT id, lag(k) OVER (PARTITION BY g ORDER BY id, k) AS b, k, g FROM t WHERE k BETWEEN 0 AND 11"
    ),
    "running_beside_before": duck(
        "SELECT id, sum(k) OVER (PARTITION BY g ORDER BY id, k) AS total FROM t WHERE k BETWEEN 0 AND 11"
    ),
    "ids_first": Case(
        "SELECT id, x FROM t ORDER BY x DESC LIMIT 8", "SELECT id, x FROM t ORDER BY x DESC NULLS LAST, id LIMIT 8"
    ),
    "values_first": Case("SELECT x FROM t ORDER BY x DESC LIMIT 5",
                         "SELECT x FROM t ORDER BY x DESC NULLS LAST LIMIT 5"),
    "distinct_on": duck("SELECT DISTINCT ON (g) g, k FROM t ORDER BY g, k NULLS LAST"),
    "numbers_of_distinct_on": duck(
        "SELECT g, k FROM (SELECT g, k, row_number() OVER (PARTITION BY g ORDER BY k NULLS LAST) AS n FROM t) v"
        " WHERE n <= 2"
    ),
    "newest_outer": duck(
        "SELECT t.id, x.id AS other FROM t LEFT JOIN LATERAL (SELECT id FROM u WHERE u.k = t.k AND u.id <= t.id"
        " ORDER BY id DESC LIMIT 1) x ON TRUE"
    ),
    "ranked_value": duck(
        "SELECT id, (SELECT COUNT(*) FROM (SELECT k, dense_rank() OVER (ORDER BY k) AS r FROM u) v WHERE v.k = t.k"
        " AND v.r <= 3) AS n FROM t"
    ),
    "set_of_outer": duck(
        f"SELECT t.g FROM {_JOINED} WHERE u.id IS NULL INTERSECT SELECT g FROM u ORDER BY 1 NULLS FIRST LIMIT 4"
    ),
    "by_of_outer": duck(f"SELECT t.flag, BOOL_AND(u.flag) AS a, BIT_OR(u.k) AS b FROM {_JOINED} GROUP BY t.flag"),
    "having_exists": duck(
        "SELECT g, COUNT(*) AS n FROM t GROUP BY g HAVING EXISTS (SELECT 1 FROM u WHERE u.g = t.g AND u.k > 3)"
    ),
    "checked_value": Case(
        "SELECT id, (SELECT rate FROM names n WHERE n.k = t.k AND n.k < 3) AS v FROM t",
        "SELECT id, (SELECT MIN(rate) FROM names n WHERE n.k = t.k AND n.k < 3) AS v FROM t",
    ),
    "path": duck(_PATH.format(3) + "SELECT * FROM p"),
    "path_shorter": duck(_PATH.format(2) + "SELECT a, b FROM p WHERE depth = 2"),
    "path_groups": duck(_PATH.format(3) + "SELECT a, b, MIN(depth) AS d, COUNT(*) AS n FROM p GROUP BY a, b"),
    "path_first": duck(
        _PATH.format(3) + "SELECT a, MAX(depth) AS d FROM p GROUP BY a ORDER BY d DESC, a LIMIT 4"
    ),
    "visited": duck(_VISITED + "SELECT * FROM p"),
    "visited_outer": duck(_VISITED + "SELECT u.id, p.depth FROM u LEFT JOIN p ON u.k = p.a"),
    "reached": duck(_REACHED + "SELECT * FROM p"),
    "reached_groups": duck(_REACHED + "SELECT a, COUNT(*) AS n, MAX(b) AS m FROM p GROUP BY a"),
    "reached_nowhere": duck(
        _REACHED + "SELECT u.id, u.k FROM u WHERE NOT EXISTS (SELECT 1 FROM p WHERE a = 0 AND b = u.k)"
    ),
    "reached_from": duck(
        "SELECT u.id, (WITH RECURSIVE p AS (SELECT t.id % 7 AS b FROM t WHERE t.k % 7 = u.k UNION"
        " SELECT t.id % 7 FROM p JOIN t ON t.k % 7 = p.b WHERE NOT t.flag) SELECT COUNT(*) FROM p) AS n FROM u"
    ),
    "all_paths": duck(
        "WITH RECURSIVE p AS (SELECT k % 4 AS a, id % 4 AS b FROM t WHERE k % 4 < id % 4 AND flag UNION ALL"
        " SELECT p.a, t.id % 4 FROM p JOIN t ON t.k % 4 = p.b AND t.k % 4 < t.id % 4) SELECT a, b, COUNT(*) AS n FROM p"
        " GROUP BY a, b"
    ),
    "series": duck("WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 5)"
                   " SELECT n.i, COUNT(t.id) AS c FROM n LEFT JOIN t ON t.k = n.i GROUP BY n.i"),
}  # fmt: skip
