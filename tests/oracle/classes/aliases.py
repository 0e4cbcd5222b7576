"""Aliases of a select list that other items, WHERE, GROUP BY, HAVING, ORDER BY and QUALIFY use."""

from __future__ import annotations

from oracle.harness import Case

ALIASES = {
    "lateral": Case("SELECT id, k % 5 AS m, m * 2 AS n, m + n AS o FROM t WHERE k < 100"),
    "lateral_behind_columns": Case("SELECT id % 7 AS k, k % 3 AS r FROM t"),
    "lateral_latest": Case("SELECT id AS a, id % 3 AS a, a + 1 AS b FROM t", dialect="duckdb"),
    "lateral_aggregates": Case(
        "SELECT g, SUM(id) AS total, COUNT(*) AS n, total - n * 3 AS rest, MIN(g) AS g2, upper(g) || g2 AS h FROM t"
        " GROUP BY g HAVING rest > 5"
    ),
    "lateral_total": Case("SELECT SUM(id) AS w, w / COUNT(*) AS mean FROM t", dialect="duckdb"),
    "lateral_group_by_all": Case(
        "SELECT upper(g) AS h, h || '!' AS i, SUM(id) AS w, w * 2 AS twice FROM t GROUP BY ALL HAVING twice > 9",
        "SELECT upper(g), upper(g) || '!', SUM(id), SUM(id) * 2 FROM t GROUP BY upper(g) HAVING SUM(id) > 4",
    ),
    "lateral_in_aggregates": Case(
        "SELECT id % 4 AS part, SUM(part) AS s, COUNT(*) FILTER (WHERE part = 1) AS n FROM t GROUP BY part",
        dialect="duckdb",
    ),
    "lateral_over": Case(
        "SELECT id, k % 4 AS m, COUNT(*) OVER (PARTITION BY m) AS n, n - 1 AS others FROM t QUALIFY n > 2",
        dialect="duckdb",
    ),
    "lateral_over_groups": Case(
        "SELECT g, SUM(id) AS w, SUM(w) OVER () AS whole, w * 100 / whole AS share FROM t GROUP BY g", dialect="duckdb"
    ),
    "lateral_subquery": Case(
        "SELECT id, (SELECT MAX(id) FROM u) AS most, COALESCE(most, 0) - id AS less FROM t",
        "SELECT id, (SELECT MAX(id) FROM u), COALESCE((SELECT MAX(id) FROM u), 0) - id FROM t",
    ),
    "lateral_exploded": Case("SELECT id, UNNEST([k, id]) AS v, v % 3 AS w FROM t", dialect="duckdb"),
    "lateral_struct": Case(
        "SELECT id, struct(k % 3 AS a, g) AS z, z.a + 1 AS n FROM t",
        "SELECT id, {'a': k % 3, 'g': g}, k % 3 + 1 FROM t",
    ),
    "in_subqueries": Case(
        "SELECT id % 5 AS q, (SELECT COUNT(*) FROM u WHERE u.k = q) AS n FROM t WHERE q IN (SELECT k FROM u)"
        " AND EXISTS (SELECT 1 FROM u WHERE u.id % 5 = q)",
        dialect="duckdb",
    ),
    "in_where": Case("SELECT id, k % 5 AS m, m * 2 AS n FROM t WHERE n > 3 AND m < 4", dialect="duckdb"),
    "in_where_behind_columns": Case("SELECT id % 4 AS k FROM t WHERE k > 3", dialect="duckdb"),
    "in_where_before_outer": Case(
        "SELECT id, (SELECT MAX(u.k) FROM (SELECT k + 1 AS big, k FROM u WHERE big < 6) u) AS m FROM t",
        dialect="duckdb",
    ),
    "outer_before_where": Case(
        "SELECT k, id, (SELECT COUNT(*) FROM (SELECT big % 3 AS r FROM u WHERE u.k > r) v) AS m"
        " FROM (SELECT id, k, id % 5 AS r FROM t)",
        "SELECT k, id, (SELECT COUNT(*) FROM u WHERE u.k > t.id % 5) FROM t",
    ),
    "first_by_alias": Case(
        "SELECT -id AS k, g FROM t ORDER BY k + 0, g LIMIT 7", "SELECT -id AS q, g FROM t ORDER BY q, g LIMIT 7"
    ),
    "first_by_column": Case("SELECT -id AS k, g FROM t ORDER BY k + 0, k, id, g LIMIT 7", dialect="duckdb"),
    "first_by_alias_of_groups": Case(
        "SELECT -MAX(id) AS k, g FROM t GROUP BY g ORDER BY k * 2, g LIMIT 3",
        "SELECT -MAX(id), g FROM t GROUP BY g ORDER BY -MAX(id), g LIMIT 3",
    ),
    "first_distinct": Case(
        "SELECT DISTINCT id % 9 AS k FROM t ORDER BY k * -1 LIMIT 4",
        "SELECT DISTINCT id % 9 FROM t ORDER BY 1 DESC LIMIT 4",
    ),
}
