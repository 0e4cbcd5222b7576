"""Subqueries in expressions, in FROM, and ASOF joins."""

from __future__ import annotations

from oracle.harness import Case

SUBQUERIES = {
    "outer_stars": Case(
        "SELECT v.id, v.k, v.n FROM t x, LATERAL (SELECT x.*, COUNT(*) AS n FROM u WHERE u.k = x.k) v",
        "SELECT x.id, x.k, (SELECT COUNT(*) FROM u WHERE u.k = x.k) FROM t x",
        dialect="postgres",
    ),
    "aggregates_of_outer_columns": Case(
        "SELECT id, (SELECT COUNT(c) FROM (SELECT NULLIF(t.k, 3) AS c, u.k AS d FROM u) v WHERE d = k) AS n,"
        " (SELECT MAX(c) FROM (SELECT t.g AS c) v) AS m FROM t",
        dialect="duckdb",
    ),
    "of_groups": Case(
        "SELECT g, (SELECT COUNT(*) FROM u WHERE u.k > MIN(t.k)) AS n, SUM(id) AS s FROM t GROUP BY g"
        " HAVING EXISTS (SELECT 1 FROM u WHERE u.k = MAX(t.k) AND u.g = t.g)",
        dialect="duckdb",
    ),
    "of_all_rows": Case(
        "SELECT MIN(k) > ANY (SELECT k FROM u WHERE k > MIN(t.k)) AS a, (SELECT SUM(id) + SUM(t.id) FROM u) AS b,"
        " CASE WHEN 9 IN (SELECT (SELECT MAX(t.k)) UNION ALL SELECT MIN(k) FROM u) THEN 1 ELSE 2 END AS c FROM t",
        dialect="duckdb",
    ),
    "of_filtered_rows": Case(
        "SELECT k % 3 AS r, (SELECT MAX(t.id) FILTER (WHERE t.flag)) AS m,"
        " (SELECT COUNT(*) FROM names n WHERE n.k <= COUNT(DISTINCT t.g)) AS n FROM t GROUP BY k % 3",
        "SELECT r, m, (SELECT COUNT(*) FROM names n WHERE n.k <= c) FROM"
        " (SELECT k % 3 AS r, MAX(id) FILTER (WHERE flag) AS m, COUNT(DISTINCT g) AS c FROM t GROUP BY 1)",
        dialect="postgres",
    ),
    "ordered_by": Case(
        "SELECT id, k FROM t ORDER BY (SELECT COUNT(*) FROM u WHERE u.k = t.k) DESC, k IN (SELECT k FROM u WHERE flag),"
        " id LIMIT 7",
        dialect="duckdb",
    ),
    "grouped_by": Case(
        "SELECT k % 3 AS r, COUNT(*) AS n, SUM(id) AS s FROM t"
        " GROUP BY k % 3, k IN (SELECT k FROM u WHERE flag), (SELECT MAX(v.rate) FROM names v WHERE v.k = t.k)",
        "SELECT r, COUNT(*), SUM(id) FROM (SELECT k % 3 AS r, id, k IN (SELECT k FROM u WHERE flag) AS a,"
        " (SELECT MAX(v.rate) FROM names v WHERE v.k = t.k) AS b FROM t) GROUP BY r, a, b",
    ),
    "in": Case("SELECT id, s FROM t WHERE k IN (SELECT k FROM u WHERE flag)"),
    "in_two": Case("SELECT id FROM t WHERE (k, g) IN (SELECT k, g FROM u)"),
    "in_groups": Case("SELECT id FROM t WHERE k IN (SELECT k FROM u GROUP BY k HAVING COUNT(*) > 2)"),
    "in_correlated": Case("SELECT id FROM t WHERE k IN (SELECT k FROM u WHERE u.g = t.g)"),
    "not_in": Case("SELECT id, k FROM t WHERE k NOT IN (SELECT k FROM u WHERE id < 12 AND k IS NOT NULL)"),
    "not_in_null": Case("SELECT id, k FROM t WHERE k NOT IN (SELECT k FROM u WHERE id > 8)"),
    "not_in_correlated": Case("SELECT id, k FROM t WHERE k NOT IN (SELECT big FROM u WHERE u.g = t.g)"),
    "not_in_two": Case("SELECT id FROM t WHERE (k, flag) NOT IN (SELECT k, flag FROM u WHERE g = 'a')"),
    "exists": Case("SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.k = t.k AND u.g = t.g)"),
    "exists_range": Case("SELECT k, g FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.k = t.k AND u.amount > t.amount)"),
    "exists_alone": Case("SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE big > 950)"),
    "not_exists": Case("SELECT k, g FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.k = t.k AND u.id <> t.id)"),
    "exists_nested": Case(
        "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.k = t.k AND EXISTS"
        " (SELECT 1 FROM names WHERE names.k = u.big % 10 AND names.rate > t.x))"
    ),
    "exists_or": Case("SELECT id FROM t WHERE k = 3 OR EXISTS (SELECT 1 FROM u WHERE u.k = t.k AND u.flag)"),
    "in_or": Case("SELECT id FROM t WHERE k IN (SELECT k FROM u WHERE flag) OR amount > 9000"),
    "not_in_or": Case("SELECT id FROM t WHERE NOT (k IN (SELECT k FROM u WHERE id > 10) OR amount > 9000)"),
    "marks": Case("SELECT id, k IN (SELECT k FROM u) AS a, k NOT IN (SELECT k FROM u WHERE g = t.g) AS b FROM t"),
    "scalar": Case("SELECT id, (SELECT MAX(amount) FROM u) AS most FROM t WHERE amount > (SELECT MIN(amount) FROM u)"),
    "scalar_correlated": Case("SELECT id, (SELECT COUNT(*) FROM u WHERE u.k = t.k) AS n FROM t"),
    "scalar_sum": Case("SELECT id FROM t WHERE amount > (SELECT AVG(k) * 50 FROM u WHERE u.g = t.g)"),
    "scalar_range": Case("SELECT id, (SELECT COUNT(*) + 1 FROM u WHERE u.k < t.k) AS n FROM t"),
    "scalar_case": Case("SELECT id, CASE WHEN flag THEN (SELECT MAX(s) FROM u WHERE u.k = t.k) ELSE g END AS v FROM t"),
    "scalar_nested": Case(
        "SELECT id FROM t WHERE k = (SELECT MAX(u.k) FROM u WHERE u.g = t.g AND u.big >"
        " (SELECT AVG(n.rate) FROM names n WHERE n.k < t.k))"
    ),
    "any_all": Case(
        "SELECT id, amount > ANY (SELECT amount FROM u) AS a, k >= ALL (SELECT k FROM u WHERE k IS NOT NULL) AS b,"
        " k <> ALL (SELECT k FROM u WHERE id > 30) AS c FROM t"
    ),
    "grouped": Case("SELECT g, COUNT(*) AS n FROM t WHERE k IN (SELECT k FROM u) GROUP BY g"),
    "self": Case("SELECT id FROM t a WHERE amount = (SELECT MAX(amount) FROM t b WHERE b.k = a.k)"),
    "having": Case("SELECT g, COUNT(*) AS n FROM t GROUP BY g HAVING COUNT(*) > (SELECT COUNT(*) / 8 FROM u)"),
    "beside_groups": Case(
        "SELECT COUNT(*) AS n, (SELECT MAX(k) FROM u) AS most, SUM(id) > ANY (SELECT k FROM u) AS a FROM t"
    ),
    "in_an_aggregate": Case("SELECT g, SUM(CASE WHEN k IN (SELECT k FROM u) THEN 1 ELSE 0 END) AS n FROM t GROUP BY g"),
    "own_or_correlated": Case(
        "SELECT id, s FROM t WHERE (flag OR amount > (SELECT AVG(k) * 50 FROM u WHERE u.g = t.g))"
        " AND (k < 5 OR amount > (SELECT MIN(amount) FROM u WHERE u.k = t.k) AND g = 'a')"
    ),
    "own_beside_correlated": Case(
        "SELECT id, (SELECT MAX(amount) FROM u WHERE u.k = t.k) AS most FROM t WHERE k > 2 AND g <> 'b'"
        " OR amount BETWEEN (SELECT MIN(amount) FROM u WHERE u.k = t.k) AND (SELECT MAX(amount) FROM u WHERE u.k = t.k)"
    ),
    "either_correlated": Case(
        "SELECT t.id, v.id AS other FROM t JOIN u v ON v.k = t.k WHERE NOT (t.amount <= (SELECT AVG(amount) FROM u"
        " WHERE u.g = t.g) AND v.amount >= (SELECT AVG(amount) FROM u WHERE u.g = v.g) AND v.flag)"
    ),
    "one_of_three": Case(
        "SELECT g, k, amount FROM t WHERE amount > 1.5 * (SELECT AVG(amount) FROM u WHERE u.g = t.g)"
        " OR id > (SELECT AVG(id) FROM u WHERE u.g = t.g) + 3 * (SELECT MIN(id) FROM u WHERE u.k = t.k)"
        " OR k IS NULL OR amount < (SELECT MIN(amount) FROM u WHERE u.k = t.k)"
    ),
    "one_of_two_beside_joins": Case(
        "SELECT t.id, v.s, (SELECT MAX(id) FROM u WHERE u.g = t.g) AS most FROM t JOIN t v ON v.k = t.k AND v.id < t.id"
        " WHERE (t.id > (SELECT AVG(id) FROM u WHERE u.g = t.g)"
        " OR v.amount < (SELECT MIN(amount) FROM u WHERE u.k = v.k)) AND (v.flag"
        " OR t.amount > (SELECT MAX(amount) FROM u WHERE u.k = t.k) OR EXISTS (SELECT 1 FROM u WHERE u.id = v.id))"
    ),
    "correlated_in_case": Case(
        "SELECT g, COUNT(*) AS n FROM t WHERE CASE WHEN flag THEN amount > (SELECT AVG(amount) FROM u WHERE u.g = t.g)"
        " WHEN k IN (SELECT k FROM u WHERE u.id > t.id) THEN k > 4"
        " ELSE amount > (SELECT AVG(amount) FROM u WHERE u.k = t.k) OR s IS NULL END GROUP BY g"
    ),
    "own_or_no_partner": Case(
        "SELECT k, g FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.k = t.k AND u.flag) OR amount > 9000"
        " OR k NOT IN (SELECT big FROM u WHERE u.g = t.g)"
    ),
    "of_an_outer_side": Case(
        "SELECT t.id, u.id AS other FROM t LEFT JOIN u ON u.k = t.k AND u.id >"
        " (SELECT COUNT(*) FROM t v WHERE v.k = u.k) WHERE (SELECT COUNT(*) FROM t v WHERE v.k = u.k) = 0 OR u.id > 20"
    ),
    "count_none": Case("SELECT id FROM t WHERE (SELECT COUNT(*) FROM u WHERE u.k = t.k) = 0 AND g = 'a'"),
}

CORRELATED = {
    "newest": Case(
        "SELECT id, (SELECT s FROM u WHERE u.k = t.k ORDER BY u.id DESC, s LIMIT 1) AS s FROM t", dialect="duckdb"
    ),
    "first_of_all": Case("SELECT id FROM t WHERE k >= (SELECT k FROM u ORDER BY k DESC NULLS LAST, id LIMIT 1)",
                         dialect="duckdb"),
    "two_of_each": Case(
        "SELECT t.id, x.id AS other, x.amount FROM t LEFT JOIN LATERAL (SELECT id, amount FROM u"
        " WHERE u.k = t.k AND u.id <> t.id ORDER BY id DESC, amount LIMIT 2) x ON x.amount > 0", dialect="duckdb"
    ),
    "lateral": Case(
        "SELECT t.id, x.c, y.n FROM t, LATERAL (SELECT t.id + u.id AS c, u.g FROM u WHERE u.k < t.k AND u.k > 3) x,"
        " LATERAL (SELECT COUNT(*) AS n FROM u WHERE u.g = x.g) y", dialect="duckdb"
    ),
    "lateral_merged": Case("SELECT t.id, x.id AS other FROM t LEFT JOIN LATERAL (SELECT id, s FROM u WHERE u.k = t.k) x"
                           " ON x.s = t.s", dialect="duckdb"),
    "asof": Case("SELECT t.id, t.k, u.n FROM t ASOF JOIN (SELECT g, k, MAX(amount) AS n FROM u GROUP BY g, k) u"
                 " ON t.g = u.g AND t.k >= u.k", dialect="duckdb"),
    "asof_using": Case("SELECT * FROM (SELECT id, g, k FROM t) t ASOF JOIN (SELECT g, k, MAX(amount) AS n FROM u"
                       " GROUP BY g, k) u USING (g, k)", dialect="duckdb"),
    "asof_left": Case("SELECT t.id, u.n FROM t ASOF LEFT JOIN (SELECT id, COUNT(*) AS n FROM u GROUP BY id) u"
                      " ON u.id > t.id", dialect="duckdb"),
    "in_on": Case("SELECT t.id, u.id AS other, w.n FROM t JOIN u ON t.k = u.k AND (u.g IN (SELECT g FROM u WHERE flag)"
                  " OR t.k = 3) AND EXISTS (SELECT 1 FROM t v WHERE v.id > u.id)"
                  " LEFT JOIN (SELECT k, COUNT(*) AS n FROM u GROUP BY k) w ON w.k = t.id"),
    "ranked": Case("SELECT id FROM t WHERE 2 IN (SELECT rank() OVER (ORDER BY u.id) FROM u WHERE u.g = t.g)"
                   " OR k = 3", dialect="duckdb"),
    "named_alike": Case("SELECT id FROM t WHERE k IN (SELECT d1 FROM (SELECT k AS d1, id FROM u) v WHERE v.id > t.id)"
                        " OR flag"),
    "beside_groups": Case(
        "SELECT g, COUNT(*) AS n, (SELECT MAX(id) FROM u WHERE u.g = t.g) AS m, EXISTS (SELECT 1 FROM u"
        " WHERE u.g > t.g) AS e, g IN (SELECT s FROM u) AS i, COUNT(*) IN (SELECT k FROM u) AS c FROM t GROUP BY g"
    ),
    "beside_rolled_up": Case("SELECT g, flag, (SELECT COUNT(*) FROM u WHERE u.g = t.g) AS n FROM t"
                             " GROUP BY ROLLUP (g, flag)"),
    "having": Case("SELECT g, COUNT(*) AS n FROM t GROUP BY g HAVING COUNT(*) > (SELECT COUNT(*) FROM u"
                   " WHERE u.g = t.g) OR g IS NULL"),
    "value_having": Case("SELECT id, (SELECT COUNT(*) FROM u WHERE u.k = t.k HAVING COUNT(*) <> 1) AS n FROM t"),
    "rows_as_values": Case(
        "SELECT id, (k, g) IN (SELECT k, g FROM u) AS i,"
        " NOT ((k, flag) IN (SELECT k, flag FROM u WHERE u.id > t.id)) AS n FROM t",
        "SELECT id, (k, g) IN (SELECT k, g FROM u) AS i, CASE"
        " WHEN EXISTS (SELECT 1 FROM u WHERE u.id > t.id AND u.k = t.k AND u.flag = t.flag) THEN FALSE"
        " WHEN EXISTS (SELECT 1 FROM u WHERE u.id > t.id AND (u.k = t.k OR u.k IS NULL OR t.k IS NULL)"
        " AND (u.flag = t.flag OR u.flag IS NULL OR t.flag IS NULL)) THEN NULL ELSE TRUE END FROM t",
    ),
}  # fmt: skip
