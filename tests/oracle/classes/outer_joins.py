"""Outer joins, semijoins and antijoins."""

from __future__ import annotations

from oracle.harness import Case

_OF_T = "(SELECT k, COUNT(*) AS n FROM t GROUP BY k) a"
_OF_U = "(SELECT k, MAX(big) AS most FROM u WHERE flag GROUP BY k) b"

OUTER_JOINS = {
    "named_together": Case(
        "SELECT x.k, t.id, u.id AS o FROM t FULL JOIN u USING (k, g) AS x WHERE x.k > 4 OR x.g = 'a'",
        "SELECT k, t.id, u.id FROM t FULL JOIN u USING (k, g) WHERE k > 4 OR g = 'a'",
        dialect="postgres",
    ),
    "asof_right": Case(
        "SELECT a.id, b.id AS o FROM t a ASOF RIGHT JOIN (SELECT DISTINCT k, id FROM u) b"
        " ON a.k = b.k AND a.id >= b.id",
        dialect="duckdb",
    ),
    "asof_full": Case(
        "SELECT a.id, b.id AS o FROM t a ASOF FULL JOIN (SELECT DISTINCT k, id FROM u) b ON a.k = b.k AND a.id < b.id",
        dialect="duckdb",
    ),
    "left": Case("SELECT t.id, t.s, u.amount FROM t LEFT JOIN u ON t.k = u.k AND t.g = u.g"),
    "left_duplicates": Case("SELECT t.k, u.g FROM t LEFT JOIN u ON t.k = u.k"),
    "left_unread": Case("SELECT COUNT(*) AS n FROM t LEFT JOIN u ON t.k = u.k AND u.flag"),
    "left_range": Case("SELECT t.id, u.id AS other FROM t LEFT JOIN u ON t.k < u.k AND u.amount > 15000"),
    "left_one_sided": Case(
        "SELECT t.id, u.id AS other FROM t LEFT JOIN u ON t.k = u.k AND t.amount > 9000 AND u.amount > 9000"
    ),
    "left_true": Case("SELECT t.id, b.n FROM t LEFT JOIN (SELECT COUNT(*) AS n FROM u HAVING COUNT(*) > 20) b ON TRUE"),
    "left_where": Case(
        "SELECT t.id, t.amount, u.id AS other FROM t LEFT JOIN u ON t.k = u.k WHERE t.amount > 100 AND t.g = 'a'"
    ),
    "left_without": Case("SELECT t.id FROM t LEFT JOIN u ON t.k = u.k WHERE u.id IS NULL"),
    "left_coalesced": Case(
        "SELECT t.id FROM t LEFT JOIN u ON t.k = u.k AND t.g = u.g WHERE coalesce(u.amount, 0) < 10 OR u.flag IS NULL"
    ),
    "left_rejected": Case("SELECT t.id, u.s FROM t LEFT JOIN u ON t.k = u.k WHERE u.amount > 5000"),
    "left_two": Case(
        "SELECT t.id, u.id AS b, names.name FROM t LEFT JOIN u ON t.k = u.k AND t.g = u.g LEFT JOIN names"
        " ON u.k = names.k"
    ),
    "left_between_inner": Case(
        "SELECT t.id, u.id AS b, names.name FROM t JOIN names ON t.k = names.k LEFT JOIN u ON t.g = u.g AND t.k = u.k"
    ),
    "left_then_inner": Case(
        "SELECT t.id, names.name FROM t LEFT JOIN u ON t.g = u.g AND t.k = u.k JOIN names ON u.k = names.k"
    ),
    "left_computed": Case(
        "SELECT t.id, q.one, q.up FROM t LEFT JOIN (SELECT k, g, 1 AS one, coalesce(s, 'none') AS up FROM u) q"
        " ON t.k = q.k AND t.g = q.g"
    ),
    "left_nested": Case(
        "SELECT t.id, u.id AS b, names.name FROM t LEFT JOIN (u JOIN names ON u.k = names.k) ON t.k = u.k AND t.g = u.g"
    ),
    "left_of_groups": Case(f"SELECT a.k, a.n, b.most FROM {_OF_T} LEFT JOIN {_OF_U} ON a.k = b.k"),
    "left_grouped": Case(
        "SELECT t.g, COUNT(u.id) AS n, COUNT(*) AS rows FROM t LEFT JOIN u ON t.k = u.k AND u.flag GROUP BY t.g"
    ),
    "left_self": Case("SELECT a.id, b.id AS b FROM t a LEFT JOIN t b ON a.k = b.big OR a.id = b.k"),
    "left_double": Case("SELECT t.id, u.id AS b FROM t LEFT JOIN u ON t.x = u.x AND t.y <> u.y"),
    "left_distinct": Case("SELECT DISTINCT t.g, u.flag FROM t LEFT JOIN u ON t.k = u.k"),
    "left_on_in": Case(
        "SELECT t.id, u.id AS b FROM t LEFT JOIN u ON t.k = u.k AND u.k IN (SELECT k FROM names WHERE name = 'one')"
    ),
    "left_on_not_in": Case(
        "SELECT t.id, u.id AS b FROM t LEFT JOIN u ON t.k = u.k AND t.g NOT IN (SELECT g FROM u WHERE flag)"
    ),
    "left_on_scalar": Case(
        "SELECT t.id, u.id AS b FROM t LEFT JOIN u ON t.k = u.k AND u.amount > (SELECT AVG(amount) FROM u)"
    ),
    "left_on_exists": Case(
        "SELECT t.id, u.id AS b FROM t JOIN names n ON t.k = n.k"
        " LEFT JOIN u ON t.k = u.k AND (EXISTS (SELECT 1 FROM u v WHERE v.g = t.g AND v.flag) OR u.flag)"
    ),
    "left_on_alone": Case("SELECT t.id, n.name FROM t LEFT JOIN names n ON t.k IN (SELECT k FROM u WHERE big > 3)"),
    "left_on_self": Case(
        "SELECT a.id, b.id AS b FROM t a LEFT JOIN t b ON a.k = b.k AND b.g NOT IN (SELECT g FROM t WHERE big > 3)"
    ),
    "left_on_chained": Case(
        "SELECT t.id, u.id AS b, n.name FROM t LEFT JOIN u ON t.k = u.k AND t.amount > (SELECT AVG(amount) FROM t)"
        " LEFT JOIN names n ON u.k = n.k AND EXISTS (SELECT 1 FROM t v WHERE v.k = u.big OR v.g = u.g)"
    ),
    "right_on_in": Case(
        "SELECT t.id, u.id AS b FROM t RIGHT JOIN u ON t.k = u.k AND (t.k + 1 IN (SELECT k FROM names) OR t.g IS NULL)",
        "SELECT t.id, u.id FROM t RIGHT JOIN u ON t.k = u.k"
        " AND (t.k::HUGEINT + 1 IN (SELECT k FROM names) OR t.g IS NULL)",
    ),
    "full_on_exists": Case(
        "SELECT t.id, u.id AS b FROM t FULL JOIN u ON t.k = u.k"
        " AND EXISTS (SELECT 1 FROM names n WHERE n.k = u.k) AND t.big > (SELECT MIN(big) FROM t)"
    ),
    "right": Case("SELECT t.id, u.id AS b, u.s FROM t RIGHT JOIN u ON t.k = u.k AND t.g = u.g"),
    "right_using": Case("SELECT k, t.id, u.id AS b FROM t RIGHT JOIN u USING (k, g) WHERE k > 2"),
    "right_two": Case(
        "SELECT t.id, u.id AS b, names.name FROM t JOIN u ON t.k = u.k AND t.g = u.g RIGHT JOIN names ON u.k = names.k"
    ),
    "full": Case("SELECT t.id, t.s, u.id AS b FROM t FULL JOIN u ON t.k = u.k AND t.g = u.g"),
    "full_using": Case("SELECT k, g, t.id, u.id AS b FROM t FULL JOIN u USING (k, g)"),
    "full_using_twice": Case(
        "SELECT * FROM names FULL JOIN (SELECT k, g FROM u) USING (k) FULL JOIN"
        " (SELECT DISTINCT g, flag FROM t) USING (g)",
        "SELECT g, k, name, rate, flag FROM names FULL JOIN (SELECT k, g FROM u) USING (k) FULL JOIN"
        " (SELECT DISTINCT g, flag FROM t) USING (g)",
    ),
    "comma_right": Case(
        "SELECT a.name, u.id, b.name AS o FROM names a, u RIGHT JOIN names b ON u.k = b.k AND u.big > 3",
        dialect="duckdb",
    ),
    "comma_full": Case(
        "SELECT a.name, u.id, b.name AS o FROM (SELECT name FROM names) a, u FULL JOIN names b USING (k) WHERE k < 5",
        dialect="postgres",
    ),
    "comma_natural": Case(
        "SELECT * FROM (SELECT name AS g, rate FROM names) a, (SELECT id, g FROM u) b"
        " NATURAL JOIN (SELECT DISTINCT g, k FROM t) c",
        dialect="duckdb",
    ),
    "comma_left_of_all": Case(
        "SELECT a.name, u.id, b.name AS o FROM names a, u LEFT JOIN names b ON a.k = b.k AND b.rate > big",
        dialect="duckdb",
    ),
    "comma_first_in_spark": Case(
        "SELECT a.name, u.id, b.name AS o FROM names a, u RIGHT JOIN names b ON u.k = b.k AND a.k < 4",
        "SELECT a.name, u.id, b.name AS o FROM names a CROSS JOIN u RIGHT JOIN names b ON u.k = b.k AND a.k < 4",
    ),
    "nested_conditions": Case(
        "SELECT t.id, u.id AS b, n.name FROM t LEFT JOIN u JOIN names n ON u.k IS NOT DISTINCT FROM n.k ON t.g = u.g",
        dialect="duckdb",
    ),
    "full_of_groups": Case(f"SELECT a.k, b.k AS bk, a.n, b.most FROM {_OF_T} FULL JOIN {_OF_U} ON a.k = b.k"),
    "full_rejected": Case("SELECT t.id, u.id AS b FROM t FULL JOIN u ON t.k = u.k AND t.g = u.g WHERE t.amount > 50"),
    "full_false": Case("SELECT a.name, b.name AS b FROM names a FULL JOIN names b ON a.k = b.k AND a.rate < 0"),
    "full_computed": Case(
        "SELECT q.one, r.two FROM (SELECT k, 1 AS one FROM t WHERE flag) q FULL JOIN"
        " (SELECT k, coalesce(g, 'x') AS two FROM u WHERE big > 0) r ON q.k = r.k"
    ),
    "natural_left": Case(
        "SELECT * FROM (SELECT id, k, g FROM t) a NATURAL LEFT JOIN (SELECT k, g, s FROM u) b", dialect="duckdb"
    ),
    "semi": Case(
        "SELECT t.id, t.s FROM t LEFT SEMI JOIN u ON t.k = u.k AND u.flag",
        "SELECT t.id, t.s FROM t SEMI JOIN u ON t.k = u.k AND u.flag",
    ),
    "semi_range": Case(
        "SELECT t.k, t.g FROM t LEFT SEMI JOIN u ON t.k = u.k AND t.id < u.big",
        "SELECT t.k, t.g FROM t SEMI JOIN u ON t.k = u.k AND t.id < u.big",
    ),
    "anti": Case(
        "SELECT t.k, t.g FROM t LEFT ANTI JOIN u ON t.k = u.k AND t.flag",
        "SELECT t.k, t.g FROM t ANTI JOIN u ON t.k = u.k AND t.flag",
    ),
    "anti_range": Case(
        "SELECT t.k, t.g FROM t LEFT ANTI JOIN u ON t.k = u.k AND t.id < u.big",
        "SELECT t.k, t.g FROM t ANTI JOIN u ON t.k = u.k AND t.id < u.big",
    ),
    "anti_using": Case("SELECT k, COUNT(*) AS n FROM t ANTI JOIN u USING (k, g) GROUP BY k"),
    "semi_true": Case(
        "SELECT t.id FROM t LEFT SEMI JOIN u ON u.big > 900", "SELECT t.id FROM t SEMI JOIN u ON u.big > 900"
    ),
    "set_of_outer": Case(
        "SELECT t.k, u.g FROM t LEFT JOIN u ON t.k = u.k EXCEPT ALL SELECT t.k, u.g FROM t JOIN u ON t.k = u.k"
    ),
    "semi_asks": Case(
        "SELECT t.id FROM t LEFT SEMI JOIN u ON t.k = u.k AND EXISTS"
        " (SELECT 1 FROM names n WHERE n.k = u.k AND n.rate > t.x) WHERE t.flag OR t.g < 'd'",
        "SELECT t.id FROM t WHERE (t.flag OR t.g < 'd') AND EXISTS (SELECT 1 FROM u WHERE t.k = u.k AND EXISTS"
        " (SELECT 1 FROM names n WHERE n.k = u.k AND n.rate > t.x))",
    ),
    "anti_asks": Case(
        "SELECT t.k, COUNT(*) AS n FROM t LEFT ANTI JOIN u ON t.g = u.g AND u.k IN (SELECT k FROM names WHERE rate > 1)"
        " JOIN names ON names.k = t.k GROUP BY t.k",
        "SELECT t.k, COUNT(*) FROM t JOIN names ON names.k = t.k WHERE NOT EXISTS (SELECT 1 FROM u WHERE t.g = u.g"
        " AND u.k IN (SELECT k FROM names WHERE rate > 1)) GROUP BY t.k",
    ),
    "using_the_first_of_several": Case(
        "SELECT * FROM (SELECT id, k FROM t) a JOIN (SELECT k, s FROM u) b ON a.k <= b.k JOIN names c USING (k)",
        "SELECT a.k, a.id, b.k, b.s, c.name, c.rate FROM t a JOIN u b ON a.k <= b.k JOIN names c ON a.k = c.k",
    ),
    "named_join": Case(
        "SELECT j.a, j.n FROM (t JOIN names ON t.k = names.k) AS j (a, k, g, amount, big, wide, x, y, s, d, ts, flag,"
        " k2, n, rate) WHERE j.rate > 1",
        "SELECT t.id, names.name FROM t JOIN names ON t.k = names.k WHERE rate > 1",
    ),
    "elements_by_condition": Case(
        "SELECT t.id, e.v FROM t LEFT JOIN LATERAL EXPLODE(ARRAY(t.k, t.id)) AS e(v) ON e.v > 3 AND t.flag",
        "SELECT t.id, e.v FROM t LEFT JOIN LATERAL (SELECT * FROM (SELECT UNNEST([t.k, t.id]) AS v)) e"
        " ON e.v > 3 AND t.flag",
    ),
    "compared_groups_of_one_key": Case(
        "SELECT DISTINCT a.name, z.n > 2 AS m FROM names a, (SELECT k, COUNT(*) AS n FROM t GROUP BY k) z,"
        " (SELECT k, COUNT(*) AS n FROM t GROUP BY k) y WHERE a.k <> z.k AND z.k = y.k",
    ),
}
