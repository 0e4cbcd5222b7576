"""Queries of every class the workbench supports, over ``t``, ``u`` and ``names``, with the same questions for DuckDB.

DuckDB is asked in the same words unless it means something else by them: it raises where a value overflows and gives
infinity for a division by zero, where we give NULL; it has no escape in LIKE; MODE takes the first of equals.
"""

from __future__ import annotations

from oracle.harness import Case

SELECTIONS = {
    "and": Case("SELECT id, amount FROM t WHERE amount > 100 AND k < 6"),
    "or": Case("SELECT id, s FROM t WHERE amount > 15000 OR s LIKE 'p%'"),
    "not": Case("SELECT id, k FROM t WHERE NOT (k = 3 OR amount <= 0)"),
    "not_and": Case("SELECT id FROM t WHERE NOT (k > 3 AND NOT (g = 'a' AND amount > 50))"),
    "like": Case(
        r"SELECT id, s FROM t WHERE s LIKE 'a%' OR s LIKE '_lum' OR s LIKE '%\'%'",
        "SELECT id, s FROM t WHERE s LIKE 'a%' OR s LIKE '_lum' OR s LIKE '%''%'",
    ),
    "like_escaped": Case(
        r"SELECT id, s FROM t WHERE s LIKE '%\\_1'", r"SELECT id, s FROM t WHERE s LIKE '%\_1' ESCAPE '\'"
    ),
    "not_like": Case("SELECT id, s FROM t WHERE s NOT LIKE '%p%'"),
    "in": Case("SELECT id, k, g FROM t WHERE k IN (1, 2, 3) AND g NOT IN ('a', 'b')"),
    "not_in_null": Case("SELECT id FROM t WHERE k NOT IN (1, NULL)"),
    "between": Case(
        "SELECT id, amount, d FROM t WHERE amount BETWEEN -10.005 AND 5000.015"
        " AND d BETWEEN DATE '2002-11-10' AND DATE '2002-12-01'"
    ),
    "nulls": Case("SELECT id, g, s FROM t WHERE g IS NULL OR (s IS NOT NULL AND flag)"),
    "case": Case(
        "SELECT id, CASE WHEN amount > 1000 THEN 'big' WHEN amount IS NULL THEN 'none' ELSE g END AS size FROM t"
        " WHERE CASE WHEN flag THEN k ELSE big END > 2"
    ),
    "arithmetic": Case(
        "SELECT id, amount * 2 + 1 AS a, amount - 0.005 AS b, x / 4 AS c FROM t"
        " WHERE amount * 3 - 50 > 10 * amount - 900"
    ),
    "overflow": Case(
        "SELECT id, big + 1 AS a, big * 2 AS b, -big AS c, abs(big) AS d FROM t WHERE big + big > 5 OR k - 1 < 3",
        """
        WITH h AS (SELECT *, big::HUGEINT AS b FROM t)
        SELECT id, TRY_CAST(b + 1 AS BIGINT), TRY_CAST(b * 2 AS BIGINT), TRY_CAST(-b AS BIGINT),
          TRY_CAST(abs(b) AS BIGINT)
        FROM h WHERE b + b > 5 OR k::HUGEINT - 1 < 3
        """,
    ),
    "division": Case(
        "SELECT id, amount / k AS a, x / k AS b, big % k AS c FROM t WHERE 100 / k > 20 OR k = 0",
        "SELECT id, amount / nullif(k, 0), x / nullif(k, 0), CASE WHEN k <> -1 THEN big % nullif(k,"
        " 0) WHEN k = -1 THEN 0 END"
        " FROM t WHERE 100 / nullif(k, 0) > 20 OR k = 0",
    ),
    "bad_cast": Case(
        "SELECT id, CAST(s AS BIGINT) AS n FROM t WHERE CAST(g AS BIGINT) IS NULL",
        "SELECT id, TRY_CAST(s AS BIGINT) FROM t WHERE TRY_CAST(g AS BIGINT) IS NULL",
    ),
    "cast_beyond": Case(
        "SELECT id, CAST(CAST(big AS DOUBLE) AS BIGINT) AS n FROM t WHERE CAST(CAST(big AS DOUBLE) AS BIGINT) IS NULL",
        "SELECT id, TRY_CAST(big::DOUBLE AS BIGINT) AS n FROM t WHERE TRY_CAST(big::DOUBLE AS BIGINT) IS NULL",
    ),
    "cross_column_or": Case("SELECT id FROM t WHERE k = 1 OR amount > 18000 OR s = 'fig_1' OR d < DATE '1970-01-01'"),
    "columns_compared": Case("SELECT id FROM t WHERE k = big OR g = s OR x > y"),
    "columns_differ": Case("SELECT id, x, y IS NULL AS n FROM t WHERE x <> y AND y > -1"),
    "big_numbers": Case("SELECT id, big FROM t WHERE big >= 9223372036854775807 OR big < -9223372036854775807"),
    "between_integers": Case("SELECT id FROM t WHERE k > 2.5 AND k <= 7.999 AND big <> 0.5"),
    "wide": Case("SELECT id, wide FROM t WHERE wide > 9999999999999999999999999999 OR wide <= 461168601842738.7904"),
    "signs": Case("SELECT id, -wide AS n, abs(wide) AS a, -amount AS m, abs(x) AS x, -y AS y FROM t WHERE -wide > 5"),
    "half_cents": Case("SELECT id, amount FROM t WHERE amount < 0.005 AND amount > -0.005"),
    "never_equal": Case("SELECT id FROM t WHERE amount = 0.001 OR k = 1.5"),
    "doubles": Case("SELECT id FROM t WHERE y > 1e200 OR y = 0 OR y < -1e299"),
    "strings": Case("SELECT id, s, g FROM t WHERE s = '' OR s > 'pz' OR g >= 'é'"),
    "date_ends": Case("SELECT id, d FROM t WHERE d <= DATE '0001-01-01' OR d >= DATE '9999-12-31'"),
    "timestamps": Case("SELECT id, ts FROM t WHERE ts >= TIMESTAMP '2002-11-15 12:00:00'"),
    "flags": Case("SELECT id, flag FROM t WHERE flag"),
    "not_flags": Case("SELECT id, flag FROM t WHERE NOT flag OR flag IS NULL"),
    "never": Case("SELECT id FROM t WHERE 1 = 0"),
    "constants": Case("SELECT 1 AS one, 'x' AS x, id FROM t WHERE k = 4"),
    "whole": Case("SELECT * FROM t WHERE g = 'c'"),
    "functions": Case(
        "SELECT id, upper(s) AS u, substr(s, 2, 2) AS p, length(g) AS l, s || '-' || g AS c, coalesce(k, -5) AS k,"
        " nullif(g, 'a') AS n, year(d) AS y, month(d) AS m FROM t WHERE coalesce(k, -5) = -5 OR lower(g) = 'a'"
    ),
}

JOINS = {
    "two": Case("SELECT t.id, u.id AS uid FROM t, u WHERE t.k = u.k AND t.amount > 8000 AND u.amount < 4000"),
    "join_on": Case("SELECT t.id, u.s FROM t JOIN u ON t.g = u.g AND t.d = u.d"),
    "self": Case(
        "SELECT a.id, b.id AS bid FROM t a, t b WHERE a.g = b.g AND a.amount < b.amount AND a.k = 3 AND b.k = 4"
    ),
    "three": Case(
        "SELECT t.id, u.id AS uid, n.name FROM t, u, names n"
        " WHERE t.k = u.k AND u.k = n.k AND t.amount > 12000 AND u.flag AND n.rate > 1.5"
    ),
    "four": Case(
        "SELECT a.id, b.id AS bid, c.id AS cid, n.rate FROM t a, u b, t c, names n"
        " WHERE a.k = b.k AND b.g = c.g AND c.k = n.k AND a.amount > 15000 AND b.amount > 12000 AND c.amount > 15000"
    ),
    "theta": Case("SELECT t.id, u.id AS uid FROM t, u WHERE t.amount > u.amount AND t.d < u.d AND t.k = 5 AND u.k = 7"),
    "days": Case("SELECT a.id, b.id AS bid FROM t a, u b WHERE a.k = b.k AND b.d - a.d BETWEEN 0 AND 3 AND a.flag"),
    "days_alone": Case(
        "SELECT a.id, b.id AS bid FROM t a, u b WHERE b.d - a.d BETWEEN 0 AND 5 AND a.k = 3 AND b.amount > 12000"
    ),
    "days_and_group": Case("SELECT a.id, b.id AS bid FROM t a, u b WHERE a.k = b.k AND a.g = b.g AND b.d >= a.d + 3"),
    "days_or_group": Case(
        "SELECT a.id, b.id AS bid FROM t a, u b"
        " WHERE a.k = b.k AND (a.g = b.g OR a.s = b.s OR a.d = b.d + 1) AND a.flag"
    ),
    "cross": Case("SELECT t.id, n.name FROM t CROSS JOIN names n WHERE t.amount > 16000"),
    "or_join": Case(
        "SELECT a.id, b.id AS bid FROM t a, u b WHERE (a.k = b.k OR a.g = b.g) AND a.amount > 14000"
        " AND b.amount > 14000"
    ),
    "or_join_nulls": Case(
        "SELECT a.id, b.id AS bid FROM t a, u b WHERE (a.g = b.g OR a.g IS NULL OR b.g IS NULL) AND a.k = b.k"
        " AND a.k = 2"
    ),
    "double_keys": Case("SELECT a.id, b.id AS bid FROM t a, u b WHERE a.y = b.y"),
    "expression_keys": Case(
        "SELECT a.id, b.id AS bid FROM t a, u b WHERE a.amount = b.amount * 1 AND a.k + 1 > 0 AND a.k < 99"
    ),
    "over_aggregate": Case(
        "SELECT n.name, x.total FROM (SELECT k, SUM(amount) AS total, COUNT(*) AS c FROM t GROUP BY k) x, names n"
        " WHERE x.k = n.k AND x.c > 4"
    ),
    "aggregate_meets_aggregate": Case(
        "SELECT x.g, x.lo, y.hi FROM (SELECT g, MIN(amount) AS lo FROM t GROUP BY g) x"
        " JOIN (SELECT g, MAX(amount) AS hi FROM u GROUP BY g) y ON x.g = y.g AND x.lo < y.hi"
    ),
    "aggregates_meet_either_way": Case(
        "SELECT x.k, y.k AS other, x.d, y.n FROM (SELECT k, MAX(d) AS d, COUNT(*) AS n FROM t GROUP BY k) x"
        " JOIN (SELECT k, MIN(d) AS d, COUNT(*) AS n FROM u GROUP BY k) y ON x.k = y.k OR x.n = y.n"
    ),
    "rows_above_average": Case(
        "SELECT t.id, t.amount, m.a FROM t JOIN (SELECT k, AVG(amount) AS a FROM t GROUP BY k) m"
        " ON t.k = m.k WHERE t.amount > m.a"
    ),
    "counted": Case(
        "SELECT t.g, COUNT(*) AS n, SUM(u.amount) AS total FROM t, u WHERE t.k = u.k GROUP BY t.g HAVING COUNT(*) > 100"
    ),
}

_MODE = """
    WITH ranked AS (
      SELECT g, s, RANK() OVER (PARTITION BY g ORDER BY COUNT(*) DESC) AS place FROM t WHERE s IS NOT NULL GROUP BY g, s
    ), most AS (SELECT g, MIN(s) AS s FROM ranked WHERE place = 1 GROUP BY g)
    SELECT a.g, most.s FROM (SELECT DISTINCT g FROM t) a LEFT JOIN most ON most.g IS NOT DISTINCT FROM a.g
"""

AGGREGATES = {
    "counts": Case("SELECT COUNT(*) AS n, COUNT(k) AS k, COUNT(DISTINCT k) AS d, COUNT(1) AS one FROM t"),
    "nothing_to_count": Case("SELECT COUNT(*) AS n, SUM(k) AS s, MIN(g) AS m, AVG(amount) AS a FROM t WHERE 1 = 0"),
    "rarely_something": Case("SELECT COUNT(*) AS n, SUM(amount) AS s, MAX(d) AS m FROM t WHERE g = 'é' AND k = 7"),
    "sums": Case(
        "SELECT SUM(amount) AS a, SUM(wide) AS w, SUM(x) AS x, SUM(big) AS b FROM t",
        "SELECT SUM(amount), SUM(wide), SUM(x), TRY_CAST(SUM(big) AS BIGINT) FROM t",
    ),
    "by_group": Case(
        "SELECT g, COUNT(*) AS n, SUM(amount) AS s, MIN(amount) AS lo, MAX(amount) AS hi, AVG(amount) AS a"
        " FROM t GROUP BY g"
    ),
    "averages": Case("SELECT k, AVG(amount) AS a, AVG(x) AS x, AVG(big) AS b FROM t GROUP BY k"),
    "averages_in_duckdb": Case(
        "SELECT g, AVG(amount) AS a, AVG(k) AS b, AVG(DISTINCT k) AS c, SUM(amount) / COUNT(amount) AS d,"
        " amount_sum / 7.0 AS e"
        " FROM (SELECT g, k, amount, amount AS amount_sum FROM t) GROUP BY g, amount_sum",
        dialect="duckdb",
    ),
    "extremes": Case(
        "SELECT flag, MIN(y) AS a, MAX(y) AS b, MIN(s) AS c, MAX(s) AS d, MIN(d) AS e, MAX(d) AS f, MIN(ts) AS g,"
        " MAX(ts) AS h, MIN(wide) AS i, MAX(big) AS j FROM t GROUP BY flag"
    ),
    "spread": Case("SELECT k, STDDEV(x) AS a, VARIANCE(x) AS b, STDDEV_POP(x) AS c, VAR_POP(x) AS d FROM t GROUP BY k"),
    "spread_of_money": Case(
        "SELECT g, STDDEV(amount) AS a, VARIANCE(amount) AS b, VAR_POP(amount) AS c, STDDEV_POP(amount) AS d FROM t"
        " WHERE amount BETWEEN -5000 AND 20000 GROUP BY g"
    ),
    "spread_of_integers": Case(
        "SELECT STDDEV(id) AS a, VARIANCE(id) AS b FROM t", "SELECT STDDEV(id::DOUBLE), VARIANCE(id::DOUBLE) FROM t"
    ),
    "median": Case(
        "SELECT g, MEDIAN(amount) AS m, MEDIAN(k) AS mk FROM t GROUP BY g",
        "SELECT g, quantile_cont(amount::DOUBLE, 0.5), quantile_cont(k::DOUBLE, 0.5) FROM t GROUP BY g",
    ),
    "median_of_all": Case("SELECT MEDIAN(x) AS m FROM t", "SELECT quantile_cont(x, 0.5) FROM t"),
    "percentile": Case(
        "SELECT flag, PERCENTILE(amount, 0.9) AS p, PERCENTILE(x, 0.25) AS q FROM t GROUP BY flag",
        "SELECT flag, quantile_cont(amount::DOUBLE, 0.9), quantile_cont(x, 0.25) FROM t GROUP BY flag",
    ),
    "mode": Case("SELECT g, MODE(s) AS m FROM t GROUP BY g", _MODE),
    "distinct_values": Case(
        "SELECT g, COUNT(DISTINCT k) AS a, SUM(DISTINCT k) AS s, COUNT(*) AS n, MAX(y) AS m FROM t GROUP BY g"
    ),
    "distinct_of_groups": Case(
        "SELECT n % 3 AS r, COUNT(DISTINCT g) AS a, SUM(DISTINCT n) AS s, COUNT(*) AS c"
        " FROM (SELECT g, flag, COUNT(*) AS n FROM t GROUP BY g, flag) v GROUP BY n % 3"
    ),
    "distinct_counts": Case(
        "SELECT g, COUNT(DISTINCT k) AS a, COUNT(DISTINCT y) AS b, SUM(DISTINCT x) AS c FROM t GROUP BY g"
    ),
    "having": Case("SELECT g, flag FROM t GROUP BY g, flag HAVING SUM(amount) > 10000 AND MIN(d) < DATE '2002-12-01'"),
    "having_alone": Case("SELECT MAX(amount) AS m FROM t HAVING COUNT(*) > 150"),
    "by_expression": Case(
        "SELECT substr(s, 1, 2) AS p, k % 3 AS r, COUNT(*) AS n FROM t GROUP BY substr(s, 1, 2), k % 3"
    ),
    "by_case": Case(
        "SELECT CASE WHEN amount > 9000 THEN 'high' WHEN amount > 0 THEN 'low' END AS c, COUNT(*) AS n,"
        " MAX(id) AS m FROM t"
        " GROUP BY CASE WHEN amount > 9000 THEN 'high' WHEN amount > 0 THEN 'low' END"
    ),
    "by_double": Case("SELECT y, COUNT(*) AS n, COUNT(y) AS c FROM t GROUP BY y"),
    "by_month": Case("SELECT year(d) AS y, month(d) AS m, SUM(amount) AS s FROM t GROUP BY year(d), month(d)"),
    "of_expressions": Case(
        "SELECT g, SUM(amount * 2 - k) AS a, SUM(CASE WHEN flag THEN 1 ELSE 0 END) AS b,"
        " MAX(amount) - MIN(amount) AS c FROM t"
        " WHERE k BETWEEN 0 AND 50 GROUP BY g"
    ),
    "of_aggregates": Case(
        "SELECT n, COUNT(*) AS groups, MAX(s) AS hi, MIN(s) AS lo, SUM(s) AS total"
        " FROM (SELECT k, COUNT(*) AS n, SUM(amount) AS s FROM t GROUP BY k) GROUP BY n"
    ),
    "highest_of_lowest": Case(
        "SELECT MAX(lo) AS a, MIN(hi) AS b, AVG(n) AS c, COUNT(*) AS d"
        " FROM (SELECT g, k, MIN(x) AS lo, MAX(x) AS hi, COUNT(*) AS n FROM t GROUP BY g, k)"
    ),
    "sum_of_highest": Case(
        "SELECT SUM(w) AS s, SUM(a) AS a FROM (SELECT k, MAX(wide) AS w, MAX(amount) AS a FROM t GROUP BY k)"
    ),
    "median_of_sums": Case(
        "SELECT MEDIAN(s) AS m FROM (SELECT k, SUM(amount) AS s FROM t GROUP BY k)",
        "SELECT quantile_cont(s::DOUBLE, 0.5) FROM (SELECT k, SUM(amount) AS s FROM t GROUP BY k)",
    ),
    "values_of_groups": Case(
        "SELECT n % 2 AS r, MEDIAN(s) AS m, MIN(lo) AS lo, MAX(hi) AS hi, SUM(x) AS x, STDDEV(x) AS dev,"
        " VAR_POP(x) AS var, COUNT(DISTINCT lo) AS a, SUM(DISTINCT n) AS b, COUNT(DISTINCT hi) AS c,"
        " PERCENTILE(x, 0.75) AS p, AVG(n) AS v"
        " FROM (SELECT g, k, COUNT(*) AS n, SUM(amount) AS s, MIN(s) AS lo, MAX(ts) AS hi, MAX(y) AS x FROM t"
        " GROUP BY g, k) GROUP BY n % 2",
        "SELECT n % 2, quantile_cont(s::DOUBLE, 0.5), MIN(lo), MAX(hi), SUM(x), STDDEV(x), VAR_POP(x),"
        " COUNT(DISTINCT lo), SUM(DISTINCT n), COUNT(DISTINCT hi), quantile_cont(x, 0.75), AVG(n)"
        " FROM (SELECT g, k, COUNT(*) AS n, SUM(amount) AS s, MIN(s) AS lo, MAX(ts) AS hi, MAX(y) AS x FROM t"
        " GROUP BY g, k) GROUP BY n % 2",
    ),
    "booleans_of_groups": Case(
        "SELECT n % 2 AS r, MIN(f) AS a, MAX(f) AS b, COUNT(DISTINCT f) AS c"
        " FROM (SELECT k, MIN(flag) AS f, COUNT(*) AS n FROM t GROUP BY k) GROUP BY n % 2"
    ),
    "values_of_all": Case(
        "SELECT COUNT(DISTINCT k) AS a, MEDIAN(n) AS m, MIN(k) AS lo, MAX(n) AS hi, COUNT(DISTINCT n) AS b"
        " FROM (SELECT k, COUNT(*) AS n FROM t WHERE flag GROUP BY k HAVING COUNT(*) BETWEEN 2 AND 6)",
        "SELECT COUNT(DISTINCT k), quantile_cont(n::DOUBLE, 0.5), MIN(k), MAX(n), COUNT(DISTINCT n)"
        " FROM (SELECT k, COUNT(*) AS n FROM t WHERE flag GROUP BY k HAVING COUNT(*) BETWEEN 2 AND 6)",
    ),
    "sum_of_averages": Case(
        "SELECT SUM(a) AS s FROM (SELECT k, AVG(x) AS a FROM t GROUP BY k HAVING COUNT(*) < 30)",
    ),
}

SETS = {
    "distinct": Case("SELECT DISTINCT g, flag FROM t"),
    "distinct_expression": Case("SELECT DISTINCT k % 4 AS r, y FROM t WHERE k BETWEEN 0 AND 20"),
    "distinct_whole": Case("SELECT DISTINCT * FROM t WHERE k = 6"),
    "union": Case("SELECT k, g FROM t WHERE k < 5 UNION SELECT k, g FROM u WHERE k > 3"),
    "union_all": Case(
        "SELECT k, g FROM t WHERE k < 5 UNION ALL SELECT k, g FROM t WHERE g = 'a' UNION ALL SELECT k, s FROM u"
    ),
    "union_column_unread": Case("SELECT k FROM (SELECT k, y FROM t UNION ALL SELECT k, 0.75 FROM t) b WHERE k > 3"),
    "union_types": Case("SELECT k FROM t UNION ALL SELECT amount FROM u WHERE amount < 100"),
    "intersect": Case("SELECT k, g FROM t INTERSECT SELECT k, g FROM u"),
    "intersect_all": Case("SELECT g, flag FROM t INTERSECT ALL SELECT g, flag FROM u WHERE k > 4"),
    "except": Case("SELECT k, g FROM t EXCEPT SELECT k, g FROM u"),
    "minus": Case(
        "SELECT k, s FROM t MINUS SELECT k, s FROM u", "SELECT k, s FROM t EXCEPT SELECT k, s FROM u", "oracle"
    ),
    "except_all": Case("SELECT g, flag FROM t EXCEPT ALL SELECT g, flag FROM u WHERE k > 2"),
    "nested": Case(
        "(SELECT k FROM t UNION SELECT k FROM u) EXCEPT (SELECT k FROM names INTERSECT SELECT k FROM t WHERE flag)"
    ),
    "over_aggregates": Case(
        "SELECT g, COUNT(*) AS n FROM t GROUP BY g EXCEPT SELECT g, COUNT(*) AS n FROM u GROUP BY g"
    ),
    "aggregates_together": Case("SELECT g, MAX(k) AS m FROM t GROUP BY g UNION ALL SELECT g, MIN(k) FROM u GROUP BY g"),
    "aggregate_of_union": Case(
        "SELECT g, COUNT(*) AS n, MIN(amount) AS lo FROM (SELECT g, amount FROM t UNION ALL SELECT g, amount"
        " FROM u) GROUP BY g"
    ),
    "aggregate_of_except": Case(
        "SELECT COUNT(*) AS n, MAX(k) AS m, MIN(g) AS g FROM (SELECT k, g FROM t EXCEPT SELECT k, g FROM u)"
    ),
    "join_of_except": Case(
        "SELECT n.name, e.g FROM (SELECT k, g FROM t EXCEPT SELECT k, g FROM u) e JOIN names n ON n.k = e.k"
    ),
    "distinct_of_having": Case(
        "SELECT DISTINCT flag FROM (SELECT g, flag, COUNT(*) AS n FROM t"
        " GROUP BY g, flag HAVING COUNT(*) BETWEEN 2 AND 6)"
    ),
}

_BUSY = "SELECT k, COUNT(*) AS n, SUM(amount) AS total FROM t GROUP BY k HAVING COUNT(*) > 5"

VIEWS = {
    "view": Case(
        f"CREATE VIEW busy AS {_BUSY}; SELECT b.k, b.total, n.name FROM busy b, names n WHERE b.k = n.k",
        f"WITH b AS ({_BUSY}) SELECT b.k, b.total, n.name FROM b, names n WHERE b.k = n.k",
    ),
    "cte": Case(
        "WITH rich AS (SELECT * FROM t WHERE amount > 5000), a AS (SELECT k, MAX(amount) AS m FROM rich GROUP BY k)"
        " SELECT rich.id, a.m FROM rich, a WHERE rich.k = a.k AND rich.amount = a.m"
    ),
    "cte_twice": Case(
        "WITH c AS (SELECT g, COUNT(*) AS n FROM t GROUP BY g) SELECT a.g, b.g AS h FROM c a, c b"
        " WHERE a.n = b.n AND a.g < b.g"
    ),
    "subquery": Case(
        "SELECT q.id, q.twice FROM (SELECT id, amount * 2 AS twice, k FROM t WHERE flag) q"
        " WHERE q.twice > 10000 AND q.k > 4"
    ),
    "subqueries_nested": Case(
        "SELECT z.r, COUNT(*) AS n FROM (SELECT k % 2 AS r FROM (SELECT k FROM t WHERE amount > 0)"
        " WHERE k > 1) z GROUP BY z.r"
    ),
    "table_alone": Case("SELECT name, COUNT(*) AS n, SUM(rate) AS r FROM names GROUP BY name"),
    "table_joined": Case(
        "SELECT n.name, SUM(t.amount * n.rate) AS m FROM t, names n WHERE t.k = n.k GROUP BY n.name",
        "SELECT n.name, SUM(t.amount::DECIMAL(30,2) * n.rate) FROM t, names n WHERE t.k = n.k GROUP BY n.name",
    ),
}

_KEPT = "(SELECT k, g, flag, amount FROM t EXCEPT ALL SELECT k, g, flag, amount FROM u)"

GROUPINGS = {
    "rollup": Case("SELECT g, flag, COUNT(*) AS n, SUM(amount) AS total, GROUPING(g, flag) AS b FROM t"
        " GROUP BY ROLLUP(g, flag)"),
    "with_cube": Case(
        "SELECT k % 3 AS r, flag, MAX(amount) AS m, GROUPING_ID() AS b FROM t GROUP BY r, flag WITH CUBE",
        "SELECT k % 3, flag, MAX(amount), GROUPING(k % 3, flag) FROM t GROUP BY CUBE(k % 3, flag)",
    ),
    "sets": Case(
        "SELECT k, g, COUNT(x) AS n, GROUPING(k) AS a FROM u GROUP BY GROUPING SETS ((k, g), (g), (g), ())"
        " HAVING GROUPING(k) = 0 OR COUNT(*) > 3"
    ),
    "side_by_side": Case("SELECT flag, g, k, COUNT(*) AS n FROM t GROUP BY flag, ROLLUP(g), GROUPING SETS ((k), ())"),
    "retracted": Case(f"SELECT g, flag, COUNT(DISTINCT k) AS n, MIN(amount) AS m FROM {_KEPT} GROUP BY CUBE(g, flag)"),
    "expression": Case(
        "SELECT COALESCE(g, '?') AS g, COUNT(k) + 1 AS n FROM t WHERE flag"
        " GROUP BY ROLLUP(COALESCE(g, '?')) HAVING COUNT(k) > 5"
    ),
    "joined": Case(
        "SELECT r.g, n.name, r.total FROM (SELECT g, k, SUM(amount) AS total FROM t GROUP BY CUBE(g, k)) r"
        " JOIN names n ON r.k = n.k"
    ),
    "distinct": Case("SELECT DISTINCT GROUPING(g) AS a, flag FROM t GROUP BY CUBE(g, flag)"),
    "group_by_all": Case("SELECT g, k % 2 AS r, COUNT(*) AS n, 'x' AS c FROM t GROUP BY ALL"),
    "count_distinct_pairs": Case(
        "SELECT flag, COUNT(DISTINCT k, g) AS n, COUNT(k, g) AS m, SUM(amount) AS a FROM t GROUP BY flag",
        "SELECT flag, COUNT(DISTINCT CASE WHEN k IS NOT NULL AND g IS NOT NULL THEN (k, g) END),"
        " COUNT(CASE WHEN k IS NOT NULL AND g IS NOT NULL THEN 1 END), SUM(amount) FROM t GROUP BY flag",
    ),
    "count_distinct_pairs_retracted": Case(
        f"SELECT COUNT(DISTINCT k, g) AS n, MEDIAN(amount) AS m FROM {_KEPT}",
        f"SELECT COUNT(DISTINCT CASE WHEN k IS NOT NULL AND g IS NOT NULL THEN (k, g) END),"
        f" MEDIAN(amount::DOUBLE) FROM {_KEPT}",
    ),
}  # fmt: skip

_OF_T = "(SELECT k, COUNT(*) AS n FROM t GROUP BY k) a"
_OF_U = "(SELECT k, MAX(big) AS most FROM u WHERE flag GROUP BY k) b"

OUTER_JOINS = {
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
}
STATISTICS = {
    "conditions": Case(
        "SELECT g, COUNT_IF(k > 3) AS n, BOOL_AND(k > 1) AS a, EVERY(k > 0 OR flag) AS e, BOOL_OR(flag) AS o,"
        " SOME(k > 8) FILTER (WHERE flag) AS f FROM t GROUP BY g",
        "SELECT g, COUNT(*) FILTER (WHERE k > 3), BOOL_AND(k > 1), BOOL_AND(k > 0 OR flag), BOOL_OR(flag),"
        " BOOL_OR(k > 8) FILTER (WHERE flag) FROM t GROUP BY g",
    ),
    "conditions_retracted": Case(
        f"SELECT g, COUNT_IF(flag) AS n, BOOL_AND(flag) AS a, BOOL_OR(flag) AS o FROM {_KEPT} GROUP BY g",
        f"SELECT g, COUNT(*) FILTER (WHERE flag), BOOL_AND(flag), BOOL_OR(flag) FROM {_KEPT} GROUP BY g",
    ),
    "bits": Case("SELECT flag, BIT_AND(k) AS a, BIT_OR(big) AS o, BIT_XOR(k) AS x FROM t GROUP BY flag"),
    "bits_retracted": Case(f"SELECT BIT_AND(k) AS a, BIT_OR(DISTINCT k) AS o, BIT_XOR(k) AS x FROM {_KEPT}"),
    "by": Case(
        "SELECT g, MIN_BY(s, amount) AS a, MAX_BY(s, k) AS b, MAX_BY(k, x) FILTER (WHERE flag) AS c,"
        " ANY_VALUE(s) AS d FROM t GROUP BY g",
        "SELECT g, FIRST(s ORDER BY amount, s NULLS FIRST) FILTER (WHERE amount IS NOT NULL),"
        " FIRST(s ORDER BY k DESC, s DESC NULLS LAST) FILTER (WHERE k IS NOT NULL),"
        " FIRST(k ORDER BY x DESC, k DESC NULLS LAST) FILTER (WHERE x IS NOT NULL AND flag), MIN(s) FROM t GROUP BY g",
    ),
    "by_retracted": Case(
        f"SELECT MIN_BY(g, amount) AS a, MAX_BY(amount, k) AS b, ANY_VALUE(k) AS c FROM {_KEPT}",
        "SELECT FIRST(g ORDER BY amount, g NULLS FIRST) FILTER (WHERE amount IS NOT NULL),"
        f" FIRST(amount ORDER BY k DESC, amount DESC NULLS LAST) FILTER (WHERE k IS NOT NULL), MIN(k) FROM {_KEPT}",
    ),
    "pairs": Case(
        "SELECT g, CORR(k, id) AS a, COVAR_POP(k, id) AS b, COVAR_SAMP(k, id) AS c, REGR_SLOPE(k, id) AS d,"
        " REGR_INTERCEPT(k, id) AS e, REGR_COUNT(k, x) AS f, REGR_AVGX(k, id) AS h, REGR_SXX(k, id) AS i,"
        " REGR_SXY(k, id) AS j FROM t WHERE k BETWEEN -9 AND 9 GROUP BY g"
    ),
    "pairs_retracted": Case(
        f"SELECT flag, CORR(k, amount) AS a, REGR_R2(k, amount) AS r FROM {_KEPT} WHERE k < 9 AND k > -9 GROUP BY flag"
    ),
    "moments": Case(
        "SELECT SKEWNESS(k) AS s, KURTOSIS(k) AS c FROM t WHERE k BETWEEN -9 AND 9",
        "SELECT (AVG(k*k*k) - 3*AVG(k)*AVG(k*k) + 2*POWER(AVG(k), 3)) / POWER(AVG(k*k) - AVG(k)*AVG(k), 1.5),"
        " KURTOSIS_POP(k) FROM t WHERE k BETWEEN -9 AND 9",
    ),
    "ranks": Case(
        "SELECT g, PERCENTILE_DISC(0.3) WITHIN GROUP (ORDER BY amount) AS a, MODE() WITHIN GROUP (ORDER BY flag) AS m,"
        " PERCENTILE_DISC(0.75) WITHIN GROUP (ORDER BY s DESC) AS b, APPROX_PERCENTILE(k, 0.5) AS c,"
        " APPROX_COUNT_DISTINCT(k) AS d FROM t GROUP BY g",
        "SELECT g, LIST_SORT(LIST(amount) FILTER (WHERE amount IS NOT NULL))[CAST(CEIL(0.3 * COUNT(amount)) AS INT)],"
        " MODE(flag ORDER BY flag),"
        " LIST_REVERSE_SORT(LIST(s) FILTER (WHERE s IS NOT NULL))[CAST(CEIL(0.75 * COUNT(s)) AS INT)],"
        " LIST_SORT(LIST(k) FILTER (WHERE k IS NOT NULL))[CAST(CEIL(0.5 * COUNT(k)) AS INT)],"
        " COUNT(DISTINCT k) FROM t GROUP BY g",
    ),
    "texts": Case(
        "SELECT flag, LISTAGG(s, ', ') WITHIN GROUP (ORDER BY k) AS a, STRING_AGG(DISTINCT g, '' ORDER BY g DESC) AS b,"
        " STRING_AGG(g, '-') FILTER (WHERE k > 4) AS c FROM t GROUP BY flag",
        "SELECT flag, STRING_AGG(s, ', ' ORDER BY k NULLS FIRST, s), STRING_AGG(DISTINCT g, '' ORDER BY g DESC),"
        " STRING_AGG(g, '-' ORDER BY g) FILTER (WHERE k > 4) FROM t GROUP BY flag",
    ),
    "texts_retracted": Case(f"SELECT k, STRING_AGG(g, ' ' ORDER BY g) AS a FROM {_KEPT} GROUP BY k"),
}  # fmt: skip

SUBQUERIES = {
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

SHAPES = {
    "no_from": Case("SELECT 1 AS a, (SELECT MAX(k) FROM t) AS m, EXISTS (SELECT 1 FROM u WHERE k = 3) AS e"),
    "no_from_no_row": Case("SELECT 'x' AS a WHERE (SELECT COUNT(*) FROM t) > 100"),
    "values": Case("SELECT t.id, v.b FROM t LEFT JOIN (VALUES (1, 'a'), (2, NULL), (2, 'c')) AS v(k, b) ON t.k = v.k"),
    "values_alone": Case("SELECT * FROM (VALUES (1, 2.5), (NULL, 3), (1, 2.5)) AS v(a, b) WHERE b > 2"),
    "values_in": Case("WITH v(a) AS (VALUES (3), (4)) SELECT id FROM t WHERE k IN (SELECT a FROM v) OR k IS NULL"),
    "star_except": Case("SELECT * EXCEPT (s, x) FROM t WHERE k > 2", "SELECT * EXCLUDE (s, x) FROM t WHERE k > 2"),
    "star_replace": Case("SELECT * EXCLUDE (x, y) REPLACE (k % 3 AS k) RENAME (s AS text) FROM u", dialect="duckdb"),
    "by_name": Case("SELECT k, g FROM t UNION ALL BY NAME SELECT g, k FROM u"),
    "by_name_of_sets": Case(
        "SELECT k, flag FROM t INTERSECT BY NAME SELECT flag, k FROM u",
        "SELECT k, flag FROM t INTERSECT SELECT k, flag FROM u",
    ),
    "time_between": Case(
        "SELECT a.id, b.id AS other, EXTRACT(EPOCH FROM (b.ts - a.ts)) AS s FROM t a JOIN t b ON a.k = b.k"
        " AND b.ts - a.ts <= INTERVAL '3' DAY AND b.ts - a.ts > INTERVAL '0' SECOND",
        "SELECT a.id, b.id, CAST((EPOCH_US(b.ts) - EPOCH_US(a.ts))::DECIMAL(20,0) / 1000000 AS DECIMAL(20,6))"
        " FROM t a JOIN t b ON a.k = b.k AND b.ts - a.ts <= INTERVAL '3' DAY AND b.ts - a.ts > INTERVAL '0' SECOND",
    ),
    "interval_times": Case(
        "SELECT id, ts + INTERVAL '1' MINUTE * k AS a, d - k * INTERVAL '2' DAY AS b FROM t"
        " WHERE k BETWEEN -9 AND 9 AND d > DATE '1990-01-01'",
        "SELECT id, ts + to_minutes(k), CAST(d - 2 * k::INT AS DATE) FROM t"
        " WHERE k BETWEEN -9 AND 9 AND d > DATE '1990-01-01'",
    ),
    "texts": Case(
        "SELECT id, SPLIT_PART(s, '_', 2) AS a, REGEXP_REPLACE(s, '[aeiou]', '*') AS b, MD5(s) AS c, RIGHT(s, 2) AS e,"
        " k & 6 AS f FROM t",
        "SELECT id, SPLIT_PART(s, '_', 2), REGEXP_REPLACE(s, '[aeiou]', '*', 'g'), MD5(s), RIGHT(s, 2), k & 6 FROM t",
    ),
}  # fmt: skip

ARRAYS = {
    "of_a_text": Case(
        "SELECT id, split(s, '[_l]')[1] AS second, size(split(s, '_')) AS n FROM t"
        " WHERE array_contains(split(s, '_'), '1') OR k = 3",
        "SELECT id, string_split_regex(s, '[_l]')[2], len(string_split(s, '_')) FROM t"
        " WHERE list_contains(string_split(s, '_'), '1') OR k = 3",
    ),
    "lambdas": Case(
        "SELECT id, array_join(transform(filter(array(k, id, big), v -> v > 3), v -> cast(v % 10 as string)), '|') AS a"
        ", aggregate(array(k, id), 0, (n, v) -> n + coalesce(v, 0)) AS total"
        " FROM t WHERE exists(array(k, id), v -> v = 7) OR k < 4",
        "SELECT id, array_to_string(list_transform(list_filter([k, id, big], lambda v: v > 3), lambda v: CAST(v % 10 AS"
        " VARCHAR)), '|'), coalesce(k, 0) + coalesce(id, 0) FROM t WHERE k = 7 OR id = 7 OR k < 4",
    ),
    "groups": Case(
        "SELECT x[0] AS w, COUNT(*) AS n, SUM(size(x)) AS parts, MAX(x[1]) AS most"
        " FROM (SELECT split(s, '_') AS x, k FROM t) GROUP BY x[0] HAVING COUNT(*) > 1",
        "SELECT x[1], COUNT(*), SUM(len(x)), MAX(x[2]) FROM (SELECT string_split(s, '_') AS x, k FROM t) GROUP BY x[1]"
        " HAVING COUNT(*) > 1",
    ),
    "join": Case(
        "SELECT t.id, u.id AS uid FROM t JOIN u ON split(t.s, '_')[0] = split(u.s, '_')[0] AND t.k = u.k",
        "SELECT t.id, u.id FROM t JOIN u ON string_split(t.s, '_')[1] = string_split(u.s, '_')[1] AND t.k = u.k",
    ),
    "outer": Case(
        "SELECT t.id, v.n FROM t LEFT JOIN (SELECT k, size(split(s, '_')) AS n FROM u) v ON t.k = v.k AND v.n > 1",
        "SELECT t.id, v.n FROM t LEFT JOIN (SELECT k, len(string_split(s, '_')) AS n FROM u) v"
        " ON t.k = v.k AND v.n > 1",
    ),
    "json": Case(
        "SELECT id, json_array_length('[' || k || ', 1]') AS n,"
        " json_object_keys('{\"' || g || '\": ' || k || '}')[0] AS g,"
        " get_json_object('{\"a\": [{\"b\": ' || k || '}]}', '$.a[0].b') AS b FROM t",
        "SELECT id, CASE WHEN k IS NOT NULL THEN 2 END, CASE WHEN k IS NOT NULL THEN g END, CAST(k AS VARCHAR) FROM t",
    ),
}

CLASSES = {
    "selection": SELECTIONS,
    "join": JOINS,
    "aggregate": AGGREGATES,
    "set": SETS,
    "view": VIEWS,
    "grouping": GROUPINGS,
    "outer": OUTER_JOINS,
    "statistic": STATISTICS,
    "subquery": SUBQUERIES,
    "correlated": CORRELATED,
    "shape": SHAPES,
    "array": ARRAYS,
}
ALL = {f"{kind}_{name}": case for kind, cases in CLASSES.items() for name, case in cases.items()}
