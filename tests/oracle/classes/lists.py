"""Statistics of lists and of groups by their lists, and functions in SQL, in duckdb."""

from __future__ import annotations

from oracle.harness import Case

_WITHIN = "WHERE x BETWEEN -1e9 AND 1e9"
LISTS = {
    **{
        name: Case(sql, dialect="duckdb", zero=1e-6)
        for name, sql in {
            "histogram": "SELECT g, histogram(k) AS h, map_keys(histogram(s)) AS v FROM t GROUP BY g",
            "histogram_of_some": "SELECT g, histogram(k) FILTER (WHERE k > 3) AS h FROM t GROUP BY g",
            "histogram_of_all": "SELECT histogram(g) AS h, histogram(DISTINCT k) AS i FROM t",
            "deviations": f"SELECT g, mad(k) AS a, mad(x) AS b, mad(x * 8) AS c FROM t {_WITHIN} GROUP BY g",
            "middles": f"SELECT id, list_median([x, y]) AS a, list_mad([x, y, 0.1]) AS b FROM t {_WITHIN} AND y < 1e9",
            "of_rows": "SELECT id, list_median([k, id, NULL]) AS a, list_mad([k, 2, id]) AS b, "
            "list_histogram([g, s, g]) AS c FROM t",
            "made": "SELECT id, range(k) AS a, generate_series(k, id, 3) AS b, range(id, k, -2) AS c,"
            " list_resize([k, id], k - 1) AS e, array_push_back([k], id) AS f, array_push_front([g], s) AS h,"
            " array_pop_back([k, id]) AS i, array_pop_front([s, g]) AS j FROM t WHERE k BETWEEN 1 AND 9",
            "tested": "SELECT id, list_has_all([k, id, NULL], [k]) AS a, list_has_all([g, s], [s, 'x']) AS b,"
            " map_extract(MAP {'k': k}, g) AS c, map_extract(MAP {'k': k}, 'k') AS e, flatten([[k], NULL, [id, NULL]])"
            " AS f, bit_count(k) AS h, bit_count(id - 9) AS i, list_distance([x, 1], [y, 2]) AS j FROM t"
            f" {_WITHIN} AND y BETWEEN -1e9 AND 1e9",
            "of_distinct": "SELECT g, list(DISTINCT k ORDER BY k)[-1] AS a, list(DISTINCT k ORDER BY k DESC)[2] AS b,"
            " bit_and(DISTINCT k) AS c, bit_or(DISTINCT k) AS e, sum(DISTINCT k % 9) AS f FROM t GROUP BY g",
            "entropy": "SELECT k, entropy(g) AS a, entropy(s) AS b FROM t GROUP BY k",
            "best": "SELECT g, max(k, 3) AS a, min(id, 2) AS b, max(k, 2) FILTER (WHERE id > 5) AS c,"
            " list_transform(arg_max(id, id, 2), lambda v, i: v + i) AS e FROM t GROUP BY g",
            "moments": "SELECT g, skewness(k % 100) AS a, kurtosis(k % 100) AS b,"
            " sem(k % 1000) AS c, product(k % 5) AS e, weighted_avg(k % 100, id) AS f"
            " FROM t GROUP BY g",
            "moments_of_some": "SELECT g, skewness(DISTINCT k % 9) AS a, sem(DISTINCT k % 9) AS b,"
            " kurtosis_pop(k % 100) FILTER (WHERE id > 5) AS c, entropy(DISTINCT s) AS e,"
            " count(DISTINCT (k % 3, s)) AS f FROM t GROUP BY g",
            "over_partitions": "SELECT id, skewness(k % 100) OVER w AS a, sem(k % 9) OVER w AS b,"
            " kurtosis(DISTINCT k % 9) OVER w AS c, entropy(s) OVER w AS e,"
            " list_sort(list(DISTINCT k % 5) OVER w) AS f, regr_slope(k % 9, id) OVER w AS h,"
            " string_agg(DISTINCT s, ',' ORDER BY s) OVER w AS i FROM t WINDOW w AS (PARTITION BY g)",
            # Rows that are equal in the order have equal values, and MAX_BY has no equal keys of different values.
            "over_frames": "SELECT id, median(k % 100) OVER w AS a, arg_max(k % 7, k) OVER w AS b,"
            " quantile_disc(k, 0.7) OVER w AS c, bit_xor(k) OVER w AS e, regr_slope(k % 9, id) OVER w AS f,"
            " corr(k % 9, id) OVER v AS h, skewness(k % 100) OVER v AS i FROM t"
            " WINDOW w AS (PARTITION BY g ORDER BY id, k ROWS BETWEEN 3 PRECEDING AND 1 FOLLOWING),"
            " v AS (PARTITION BY g ORDER BY id)",
            "places": "SELECT id, [k, id][-1] AS a, [k, id][id % 3 - 1] AS b, MAP {1: k, 2: id}[id % 3] AS c,"
            " [v * i FOR v, i IN [k % 1000, id] IF i <> id] AS e,"
            " list_reduce([k % 1000, id, 3], lambda v, w, i: v + w * i) AS f FROM t",
            "by_name": "SELECT id, list_aggregate([k % 1000, id], 'sum') AS a, list_aggr([k, id], 'max') AS b,"
            " list_aggr([g, s], 'min') AS c, list_aggregate([k, id, NULL], 'median') AS e FROM t",
        }.items()
    },
    "macros": Case(
        "CREATE MACRO net(v) AS v * 4 - 1; CREATE MACRO twice(a, b) AS net(a) + net(net(b));"
        " SELECT g, SUM(twice(k % 1000, id % 1000)) AS a FROM t WHERE net(k % 1000) > 3 GROUP BY g",
        "SELECT g, SUM((k % 1000 * 4 - 1) + ((id % 1000 * 4 - 1) * 4 - 1)) FROM t"
        " WHERE k % 1000 * 4 - 1 > 3 GROUP BY g",
        dialect="duckdb",
    ),
    "functions_of_postgres": Case(
        "CREATE FUNCTION part(v text, n bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT $1 || '-' ||"
        " n::text $$;"
        " SELECT id, part(s, k) AS a, part(g, NULL) AS b FROM t",
        "SELECT id, s || '-' || k::VARCHAR, NULL FROM t",
        dialect="postgres",
    ),
    "functions_of_spark": Case(
        "CREATE OR REPLACE FUNCTION grown(v BIGINT, by BIGINT DEFAULT 2) RETURNS BIGINT RETURN v * by;"
        " SELECT id, grown(k % 100) AS a, grown(grown(k % 100, 3)) AS b FROM t WHERE grown(k % 100) IN (6, 8, 10)",
        "SELECT id, k % 100 * 2, k % 100 * 3 * 2 FROM t WHERE k % 100 * 2 IN (6, 8, 10)",
    ),
}
