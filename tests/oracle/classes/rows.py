"""Selections, joins, set operators and views."""

from __future__ import annotations

from oracle.harness import Case

SELECTIONS = {
    "beside_words_for_numbers": Case(
        "SELECT id, y, y = 'NaN' AS a, NULLIF(y, 'nan') AS b FROM t WHERE y <> '-Infinity' OR y BETWEEN 3 AND 'inf'"
    ),
    "texts_beside_values": Case(
        "SELECT id, amount * '2' AS a, '7' / k AS b, COALESCE(k, ' 5') AS c, CASE WHEN flag THEN '1.5' ELSE x END AS e,"
        " x IN ('0.5', '12') AS f, flag = 'yes' AS h, id LIKE '1%' AS i, 3 + '4' AS j, DATE_ADD(d, '2') AS l,"
        " NULLIF(flag, 'false') AS m FROM t WHERE id + '1' > '9' AND d < DATE '2100-01-01'",
        "SELECT id, amount::DOUBLE * 2, 7 / NULLIF(k, 0), COALESCE(k, 5), CASE WHEN flag THEN 1.5 ELSE x END,"
        " x IN (0.5, 12), flag, id::VARCHAR LIKE '1%', 7, d + 2, NULLIF(flag, false) FROM t"
        " WHERE id + 1 > 9 AND d < DATE '2100-01-01'",
    ),
    "texts_united_with_numbers": Case(
        "SELECT k FROM t UNION ALL SELECT '4' FROM u UNION ALL SELECT NULL FROM names",
        "SELECT k FROM t UNION ALL SELECT 4 FROM u UNION ALL SELECT NULL FROM names",
    ),
    "names_with_schemas": Case(
        "SELECT default.t.id, u.s FROM default.t JOIN default.u ON default.t.k = u.k WHERE EXISTS"
        " (SELECT 1 FROM default.names n WHERE n.k = default.t.k)",
        "SELECT t.id, u.s FROM t JOIN u ON t.k = u.k WHERE EXISTS (SELECT 1 FROM names n WHERE n.k = t.k)",
    ),
    "numbers_as_texts": Case(
        "SELECT id, k = '3' AS a, x < '2.5' AS b, amount >= '-0.01' AS c, k IN ('1', '-2') AS d, x * '2' AS e FROM t"
        " WHERE k <> '5' AND (amount BETWEEN '0' AND '5000.5' OR x > '0.25' OR k > '10')",
        "SELECT id, k = '3', x < '2.5', amount >= '-0.01', k IN ('1', '-2'), x * 2 FROM t"
        " WHERE k <> '5' AND (amount BETWEEN '0' AND '5000.5' OR x > '0.25' OR k > '10')",
    ),
    "whole_quotients": Case(
        "SELECT id, amount DIV 3 AS a, k DIV 0.25 AS b, amount DIV (id % 7 - 3) AS c, 7 DIV amount AS e,"
        " (ts - TIMESTAMP '2002-11-01') DIV INTERVAL '7' MINUTE AS f, big DIV 0.001 AS h FROM t"
        " WHERE ts BETWEEN TIMESTAMP '1980-01-01' AND TIMESTAMP '2030-01-01' AND abs(amount) < 1000000",
        "SELECT id, CAST(amount * 100 AS BIGINT) // 300, CASE WHEN abs(k::HUGEINT) < 23e17 THEN k::HUGEINT * 4 END,"
        " CAST(amount * 100 AS BIGINT) // NULLIF((id % 7 - 3) * 100, 0),"
        " 700 // NULLIF(CAST(amount * 100 AS BIGINT), 0),"
        " date_diff('microseconds', TIMESTAMP '2002-11-01', ts) // 420000000,"
        " CASE WHEN abs(big::HUGEINT) < 92e14 THEN big::HUGEINT * 1000 END FROM t"
        " WHERE ts BETWEEN TIMESTAMP '1980-01-01' AND TIMESTAMP '2030-01-01' AND abs(amount) < 1000000",
    ),
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
    "guarded_pattern": Case(
        "SELECT id, s FROM t WHERE k > 2 AND s RLIKE '[a-m].*[1-5]'",
        "SELECT id, s FROM t WHERE k > 2 AND regexp_matches(s, '[a-m].*[1-5]')",
    ),
    "guarded_again": Case(
        "SELECT id, g FROM t WHERE x > 0 AND NOT s RLIKE '[a-m].*[1-5]'",
        "SELECT id, g FROM t WHERE x > 0 AND NOT regexp_matches(s, '[a-m].*[1-5]')",
    ),
    "guarded_null": Case(
        "SELECT id FROM t WHERE (g IS NULL OR k < 5) AND (s RLIKE 'p' IS NULL OR s RLIKE '[a-m].*[1-5]')",
        "SELECT id FROM t WHERE (g IS NULL OR k < 5) AND (regexp_matches(s, 'p') IS NULL"
        " OR regexp_matches(s, '[a-m].*[1-5]'))",
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
    "compared_beyond_64_bits": Case(
        "SELECT id, big * 5 > k AS more, CASE WHEN big + 1 > 5 THEN 1 WHEN NOT big + 1 > 5 THEN 0 END AS c,"
        " big - k IN (1, 2, big) AS found, (big + big) <=> (k - 1) AS alike FROM t"
        " WHERE ((big * 5 > 7) = flag) OR COALESCE(big * 3 < k, FALSE)"
        " OR CASE big * 2 WHEN 2 THEN TRUE ELSE big - 1 < k END",
        """
        WITH h AS (SELECT * REPLACE (big::HUGEINT AS big, k::HUGEINT AS k) FROM t)
        SELECT id, big * 5 > k, CASE WHEN big + 1 > 5 THEN 1 WHEN NOT big + 1 > 5 THEN 0 END, big - k IN (1, 2, big),
          (big + big) IS NOT DISTINCT FROM (k - 1) FROM h
        WHERE ((big * 5 > 7) = flag) OR COALESCE(big * 3 < k, FALSE)
          OR CASE WHEN big * 2 = 2 THEN TRUE ELSE big - 1 < k END
        """,
    ),
    "compared_in_groups": Case(
        "SELECT big * 5 > 7 AS g1, COUNT(*) AS n, SUM(CASE WHEN big - 1 < k THEN 1 ELSE 0 END) AS less FROM t"
        " GROUP BY big * 5 > 7 HAVING SUM(k) * 1000 > COUNT(*) OR (COUNT(*) + 1 > 2) = (MIN(k) - 1 < 0)",
        """
        WITH h AS (SELECT * REPLACE (big::HUGEINT AS big, k::HUGEINT AS k) FROM t)
        SELECT big * 5 > 7, COUNT(*), SUM(CASE WHEN big - 1 < k THEN 1 ELSE 0 END) FROM h GROUP BY big * 5 > 7
        -- A sum beyond BIGINT is NULL here.
        HAVING CASE WHEN SUM(k) BETWEEN -9223372036854775808 AND 9223372036854775807 THEN SUM(k) END * 1000 > COUNT(*)
          OR (COUNT(*) + 1 > 2) = (MIN(k) - 1 < 0)
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
    "guarded_pairs": Case(
        "SELECT t.id, u.id AS uid FROM t JOIN u ON t.k = u.k WHERE CONCAT(t.s, u.s) RLIKE '[a-m].*[1-5]' AND t.x < u.x",
        "SELECT t.id, u.id AS uid FROM t JOIN u ON t.k = u.k"
        " WHERE regexp_matches(t.s || u.s, '[a-m].*[1-5]') AND t.x < u.x",
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

SETS = {
    "branches_of_one_stream": Case(
        "SELECT x AS b, s AS c FROM t UNION ALL SELECT k, g FROM t UNION ALL SELECT -0.0D, NULL FROM t"
        " UNION ALL SELECT y, s FROM t",
        "SELECT x AS b, s AS c FROM t UNION ALL SELECT k, g FROM t UNION ALL SELECT -0.0::DOUBLE, NULL FROM t"
        " UNION ALL SELECT y, s FROM t",
    ),
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
