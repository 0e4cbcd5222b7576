"""Arrays inside expressions, and JSON texts."""

from __future__ import annotations

from oracle.harness import Case

_PARTS = "string_split_regex(s, '[pl_]')"

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
        " VARCHAR)), '|'), try_cast(coalesce(k, 0)::HUGEINT + coalesce(id, 0) AS BIGINT)"
        " FROM t WHERE k = 7 OR id = 7 OR k < 4",
    ),
    "lists": Case(
        "SELECT id, list_reduce(l, lambda a, b: a * 2 + b) AS r, list_reduce(l, lambda a, b: a + b, 5) AS i,"
        " list_sum(l) AS s, list_avg(l) AS m, list_min(l) AS lo, list_max(l) AS hi, list_count(l) AS c,"
        " list_unique(l) AS u, list_position(l, 3) AS p, list_first(l) AS f, list_last(l) AS e, list_any_value(l) AS v,"
        " list_extract(l, -2) AS x, list_has_any(l, [1, 2, NULL]) AS a,"
        " list_position(l, NULLIF(k % 10, 3)) AS q, list_position(l, NULL) AS y"
        " FROM (SELECT id, k, CASE WHEN k <> 2 THEN [k % 10, id % 5, CASE WHEN k > 4 THEN id % 7 END]"
        " WHEN flag THEN [] END AS l FROM t) v WHERE len(l) > 0 OR l IS NULL",
        dialect="duckdb",
    ),
    "parts_of_lists": Case(
        "SELECT id, l[2:3] AS a, l[:2] AS b, l[2:] AS c, l[-2:-1] AS d, l[k % 5:k % 7] AS e, l[0:1] AS f, l[-9:2] AS g,"
        " list_slice(l, 3, 9) AS h, list_concat(l, [k], NULL) AS i, list_reverse(l) AS j,"
        " [x * 2 FOR x IN l IF x > 2] AS m, l::VARCHAR[] AS n, NULL::INT[] AS o FROM (SELECT id, k,"
        " CASE WHEN k <> 2 THEN [k % 10, id % 5, CASE WHEN k > 4 THEN id % 7 END, 4]"
        " WHEN flag THEN [] END AS l FROM t) v",
        dialect="duckdb",
    ),
    "a_range": Case(
        "SELECT t.id, r.id AS n FROM t JOIN range(2, 9, 3) r ON t.k = r.id UNION ALL SELECT id, -1 FROM range(3)",
        "SELECT t.id, n FROM t JOIN range(2, 9, 3) r(n) ON t.k = n UNION ALL SELECT n, -1 FROM range(3) r(n)",
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
    "exploded": Case(
        "SELECT id, p, v FROM t LATERAL VIEW OUTER POSEXPLODE(ARRAY(k, id, NULL, k)) e AS p, v WHERE v > 3 OR p = 2",
        "SELECT id, p, v FROM (SELECT id, UNNEST([0, 1, 2, 3]) AS p, UNNEST([k, id, NULL, k]) AS v FROM t)"
        " WHERE v > 3 OR p = 2",
    ),
    "exploded_groups": Case(
        "SELECT v, COUNT(*) AS n, SUM(w % 10) AS m FROM t LATERAL VIEW EXPLODE(ARRAY(x, y, -0.0D)) a AS v"
        " LATERAL VIEW EXPLODE(ARRAY(k, 1)) b AS w GROUP BY v",
        "SELECT v, COUNT(*), SUM(w % 10) FROM t, UNNEST([x, y, -0.0::DOUBLE]) AS a(v), UNNEST([k, 1]) AS b(w)"
        " GROUP BY v",
    ),
    "exploded_join": Case(
        "SELECT t.id, v, u.id AS o FROM t, UNNEST([t.k, t.id]) AS e(v), u WHERE u.k = v", dialect="duckdb"
    ),
    "exploded_left": Case(
        "SELECT u.id, e.v FROM u LEFT JOIN (t CROSS JOIN UNNEST([t.k, t.id]) AS e(v)) ON u.k = e.v AND t.id < 20",
        "SELECT u.id, e.v FROM u LEFT JOIN (SELECT t.id, v FROM t, UNNEST([t.k, t.id]) AS e(v)) e"
        " ON u.k = e.v AND e.id < 20",
        dialect="duckdb",
    ),
    "exploded_inside": Case(
        "SELECT id, (SELECT MAX(v) FROM UNNEST([k, id, 5]) AS e(v)) AS m FROM t"
        " WHERE EXISTS (SELECT 1 FROM UNNEST([k, id]) AS e(v) WHERE v % 3 = 1)",
        "SELECT id, greatest(k, id, 5) FROM t WHERE k % 3 = 1 OR id % 3 = 1",
        dialect="duckdb",
    ),
    "exploded_under_condition": Case(
        "SELECT id, v FROM t LEFT JOIN UNNEST([k, id, NULL, k]) AS e(v) ON v > 3 OR v = k", dialect="duckdb"
    ),
    "exploded_semi": Case(
        "SELECT id FROM t LEFT ANTI JOIN UNNEST(ARRAY(k, 7)) AS e(v) ON e.v = t.id",
        "SELECT id FROM t WHERE NOT coalesce(k = id, false) AND id IS DISTINCT FROM 7",
    ),
    "parts": Case(
        "SELECT id, p, v FROM t LATERAL VIEW POSEXPLODE(SPLIT(s, '[pl_]', 4)) e AS p, v WHERE v <> '' OR k > 2",
        f"SELECT id, p - 1, v FROM (SELECT *, UNNEST({_PARTS}) AS v, UNNEST(range(1, len({_PARTS}) + 1)) AS p FROM t)"
        " WHERE v <> '' OR k > 2",
    ),
    "parts_kept": Case(
        "SELECT id, p, v FROM t LATERAL VIEW OUTER POSEXPLODE(FILTER(SEQUENCE(1, 4), v -> v > k)) e AS p, v",
        "SELECT t.id, v - greatest(k, 0) - 1, v FROM t LEFT JOIN (SELECT UNNEST(range(1, 5)) AS v) e ON v > k",
    ),
    "parts_groups": Case(
        "SELECT v, COUNT(*) AS n, MAX(k) AS most FROM t, LATERAL EXPLODE(SLICE(SPLIT(s, '_'), 1, 2)) AS e(v)"
        " GROUP BY v",
        "SELECT v, COUNT(*), MAX(k) FROM (SELECT k, UNNEST(string_split(s, '_')[1:2]) AS v FROM t) GROUP BY v",
    ),
    "parts_selected": Case(
        "SELECT DISTINCT g, EXPLODE_OUTER(SPLIT(s, '[pl_]', 4)) AS v FROM t WHERE k < 9",
        f"SELECT DISTINCT g, v FROM t LEFT JOIN LATERAL (SELECT UNNEST({_PARTS}) AS v) ON true WHERE k < 9",
    ),
    "parts_join": Case(
        "SELECT t.id, v, u.id AS o FROM t, LATERAL EXPLODE(ARRAY_DISTINCT(ARRAY(t.k, t.id, t.k))) AS e(v)"
        " JOIN u ON u.k = v",
        "SELECT e.id, v, u.id FROM (SELECT id, UNNEST(list_distinct([k, id, k])) AS v FROM t) e JOIN u ON u.k = v",
    ),
    "tags": Case(
        "SELECT id, p, v FROM t LATERAL VIEW POSEXPLODE(SPLIT(s, '[pl_]')) e AS p, v WHERE v <> '' OR k > 2",
        f"SELECT id, p - 1, v FROM (SELECT *, UNNEST({_PARTS}) AS v, UNNEST(range(1, len({_PARTS}) + 1)) AS p FROM t)"
        " WHERE v <> '' OR k > 2",
    ),
    "tags_of_duckdb": Case(
        "SELECT v, COUNT(*) AS n, MIN(k) AS m FROM t, UNNEST(string_split(s, 'l')) AS e(v) GROUP BY v", dialect="duckdb"
    ),
    "tags_of_postgres": Case(
        "SELECT id, v, n FROM t LEFT JOIN UNNEST(string_to_array(s, '_')) WITH ORDINALITY AS e(v, n) ON true",
        "SELECT id, v, n FROM t LEFT JOIN LATERAL (SELECT UNNEST(string_split(s, '_')) AS v,"
        " UNNEST(range(1, len(string_split(s, '_')) + 1)) AS n WHERE s <> '') e ON true",
        dialect="postgres",
    ),
    "tags_kept": Case(
        "SELECT id, v FROM t LATERAL VIEW OUTER EXPLODE(FILTER(SPLIT(s, '[pl_]'), x -> x <> '')) e AS v",
        f"SELECT id, v FROM t LEFT JOIN LATERAL (SELECT UNNEST(list_filter({_PARTS}, lambda x: x <> '')) AS v) ON true",
    ),
    "tags_groups": Case(
        "SELECT v, COUNT(*) AS n, MAX(k) AS most FROM t, LATERAL EXPLODE(SPLIT(s, '_')) AS e(v) GROUP BY v",
        "SELECT v, COUNT(*), MAX(k) FROM (SELECT k, UNNEST(string_split(s, '_')) AS v FROM t) GROUP BY v",
    ),
    "parts_inside": Case(
        "SELECT id, (SELECT COUNT(v) FROM EXPLODE(SPLIT(s, '_', 2)) AS e(v)) AS n FROM t"
        " WHERE EXISTS (SELECT 1 FROM EXPLODE(FILTER(ARRAY(k, id), x -> x % 3 = 1)) AS e(v) WHERE v < 20)",
        "SELECT id, least(coalesce(len(string_split(s, '_')), 0), 2) FROM t"
        " WHERE (k % 3 = 1 AND k < 20) OR (id % 3 = 1 AND id < 20)",
    ),
    "series_of_columns": Case(
        "SELECT t.id, v FROM t, generate_series(k % 20, t.id % 7) AS g(v) WHERE v <> 2",
        "SELECT t.id, v FROM t, UNNEST(generate_series(k % 20, t.id % 7)) AS g(v) WHERE v <> 2",
        dialect="postgres",
    ),
    "series_downwards": Case(
        "SELECT id, v, n FROM t LEFT JOIN generate_series(k % 20, 0, -2) WITH ORDINALITY AS e(v, n) ON true",
        "SELECT id, v, n FROM t LEFT JOIN LATERAL (SELECT UNNEST(generate_series(k % 20, 0, -2)) AS v,"
        " UNNEST(range(1, len(generate_series(k % 20, 0, -2)) + 1)) AS n) e ON true",
        dialect="postgres",
    ),
    "series_of_constants": Case(
        "SELECT n, COUNT(id) AS c FROM generate_series(3, 1) AS z RIGHT JOIN generate_series(-2, 9, 3) AS n ON true"
        " LEFT JOIN t ON t.k = n GROUP BY n",
        "SELECT n, COUNT(id) FROM (VALUES (-2), (1), (4), (7)) AS s(n) LEFT JOIN t ON t.k = n GROUP BY n",
        dialect="postgres",
    ),
    "series_of_many": Case(
        "SELECT n, COUNT(id) AS c FROM range(-3, 250, 2) AS s(n) LEFT JOIN t ON t.k = n AND t.id < n * 4 GROUP BY n",
        dialect="duckdb",
    ),
    "series_of_none": Case("SELECT n, id FROM t LEFT JOIN generate_series(3, 1) AS s(n) ON k = n", dialect="duckdb"),
    "series_of_days": Case(
        "SELECT day, COUNT(id) AS c FROM generate_series(DATE '2013-01-01', DATE '2013-12-31', INTERVAL 1 DAY) s(day)"
        " LEFT JOIN t ON DATE '2013-01-01' + CAST(k % 300 AS INTEGER) = day GROUP BY day",
        dialect="duckdb",
    ),
    "series_of_months": Case(
        "SELECT EXPLODE(SEQUENCE(DATE '2014-03-28', DATE '2013-01-30', INTERVAL -2 MONTH)) AS month, g FROM t",
        "SELECT CAST(month AS DATE) AS month, g FROM t,"
        " generate_series(DATE '2014-03-28', DATE '2013-01-30', INTERVAL (-2) MONTH) s(month)",
    ),
    "series_of_minutes": Case(
        "SELECT minute, id FROM t, range(TIMESTAMP '2013-01-01 23:00:00', TIMESTAMP '2013-01-02 02:00:00',"
        " INTERVAL '45 minutes') s(minute) WHERE EXTRACT(MINUTE FROM minute) = k",
        dialect="duckdb",
    ),
    "sorted_of_duckdb": Case(
        "SELECT id, list_sort([k, id, 7]) AS up, list_reverse_sort([k, 3]) AS down,"
        " list_sort([g, s], 'ASC', 'NULLS FIRST') AS texts FROM t",
        dialect="duckdb",
    ),
    "series_selected": Case(
        "SELECT DISTINCT g, generate_series(1, k % 20) AS v FROM t",
        "SELECT DISTINCT g, UNNEST(generate_series(1, k % 20)) AS v FROM t",
        dialect="postgres",
    ),
    "selected_side_by_side": Case(
        "SELECT id, unnest(string_split(g || ',' || s, ',')) AS a, unnest([k, id]) + id AS b,"
        " unnest(range(1, k % 5)) AS c FROM t WHERE k BETWEEN -99 AND 99",
        "SELECT id, unnest(string_split(g || ',' || s, ',')), unnest([k, id]) + id,"
        " unnest(generate_series(1, k % 5 - 1)) FROM t WHERE k BETWEEN -99 AND 99",
        dialect="duckdb",
    ),
    "selected_of_groups": Case(
        "SELECT g AS k, COUNT(*) AS n, unnest([MAX(id), 0]) + COUNT(*) AS a, unnest([g, 'x', NULL]) AS b FROM t"
        " WHERE k < 9 GROUP BY g HAVING COUNT(*) > 1",
        dialect="duckdb",
    ),
    "selected_beside_over": Case(
        "SELECT DISTINCT g, COUNT(*) OVER (PARTITION BY g) AS n, unnest([k, id % 3]) AS a FROM t WHERE k IN (0, 2, 5)",
        dialect="duckdb",
    ),
    "several_in_from": Case(
        "SELECT t.id, u.x, u.y FROM t, unnest(ARRAY[t.k, t.id], ARRAY[t.g, t.s, 'z']) u(x, y)",
        "SELECT id, unnest([k, id, NULL]), unnest([g, s, 'z']) FROM t",
        dialect="postgres",
    ),
}
