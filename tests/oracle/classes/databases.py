"""What postgres and duckdb mean alike, and what postgres alone means: functions, rows of values, names of functions."""

from __future__ import annotations

from oracle.harness import Case

_TEXTS = (
    "SELECT id, ascii(s) AS a, repeat(s, id % 4 - 1) AS b, translate(s, 'lpp', 'xy') AS c, split_part(s, '_', 1) AS e,"
    " split_part(s, 'l', 2) AS f, right(s, 2) AS h, right(s, 0) AS i, starts_with(s, 'p') AS j, md5(s) AS l,"
    " concat(s, '-', g, id, NULL) AS m, concat(s || g, s) || s AS n, concat_ws('-', s, NULL, g) AS o,"
    " concat_ws(g, s, s) AS p FROM t"
)
_NUMBERS = (
    "SELECT id, k & 6 AS a, k | 9 AS b, ~k AS c, greatest(k, id, NULL) AS d, least(big, id, k) AS e,"
    " greatest(x, y) AS f, least(amount, k, NULL) AS h, log(id + 1) AS i FROM t"
)
_JSON = (
    '(SELECT id, \'{"g": "\' || g || \'", "k": \' || k || \', "in": {"f": \' || (id % 90) || \'.5\''
    " || CASE id % 3 WHEN 0 THEN '0' ELSE '' END || ', \"a\": [' || id || ', \"x\", true, null]},'"
    " || ' \"a.b\": ' || (id % 4) || '.00}' AS j FROM t) q"
)
_WHOLE = "SELECT id, CAST(amount AS BIGINT) AS a, CAST(x AS BIGINT) AS b, CAST(x * 4 AS BIGINT) AS c FROM t"
_DAYS = (
    "SELECT id, extract(dow FROM d) AS a, extract(isodow FROM ts) AS b, extract(week FROM d) AS c,"
    " date_trunc('week', ts) AS e FROM t WHERE d BETWEEN DATE '1969-01-01' AND DATE '2003-12-31'"
)

_BUCKETS = (
    "SELECT id, {0}(INTERVAL '15 minutes', ts, TIMESTAMP '2001-01-01') AS a, {0}(INTERVAL '7 hours', ts,"
    " TIMESTAMP '2000-01-03') AS b, {0}(INTERVAL '1 day 1 hour', ts, TIMESTAMP '2024-05-06 00:00:01') AS c FROM t"
    " WHERE ts > TIMESTAMP '1900-01-01'"
)
DATABASES = {
    "buckets": Case(_BUCKETS.format("time_bucket"), dialect="duckdb"),
    "buckets_of_postgres": Case(_BUCKETS.format("date_bin"), _BUCKETS.format("time_bucket"), dialect="postgres"),
    "buckets_grouped": Case(
        "SELECT time_bucket(INTERVAL '9 hours', ts) AS b, COUNT(*) AS n FROM t WHERE ts > TIMESTAMP '1900-01-01'"
        " GROUP BY ALL ORDER BY b",
        dialect="duckdb",
    ),
    "formats": Case(
        "SELECT id, strftime(ts, '%c %-d %b %B %a %A %I %p %j at %x') AS a, strftime(ts, 'of %H o''clock %f %g %y %%')"
        " AS b, try_strptime(' ' || (id * 7 % 30) || (id % 97) || '-' || (id % 14) || '-' || (id % 32) || '  ' || (id %"
        " 26) || ':' || (id % 61), '%Y-%m-%d %H:%M') AS c, try_strptime('' || (1900 + id) || (id % 13) || (id % 30),"
        " '%Y%m%d') AS e, try_strptime('2020/1/1 ' || (id % 14) || 'pm', '%Y/%m/%d %I%p') AS f FROM t",
        dialect="duckdb",
    ),
    "patterns_of_rows": Case(
        "SELECT id, s LIKE g || '%' AS a, s NOT LIKE '%' || left(s, 1) AS b, s ILIKE '%P%' || g AS c,"
        " s || '\\' LIKE '%' || left('\\x', 1) AS e, s LIKE left(s, 2) || '_%' AS f FROM t",
        dialect="duckdb",
    ),
    "names_of_days": Case("SELECT id, dayname(ts) AS a, monthname(d) AS b, dayname(d) AS c FROM t", dialect="duckdb"),
    "rounded": Case(
        "SELECT id, ROUND(x, 1) AS a, ROUND(x / 3, 2) AS b, ROUND(x) AS c, ROUND(y, 15) AS e, ROUND(y / 7, 4) AS f,"
        " ROUND(-x / 8) AS g FROM t",
        dialect="duckdb",
    ),
    "rounded_averages": Case("SELECT g, ROUND(AVG(amount), 2) AS a FROM t GROUP BY g", dialect="duckdb"),
    "lambdas": Case(
        "SELECT id, list_transform(string_split(s, 'a'), lambda p: upper(p) || g) AS a,"
        " list_filter([k, id], lambda v: v > 3) AS b, len(string_split(s, 'b')) AS n FROM t",
        dialect="duckdb",
    ),
    "parts_in_postgres": Case(
        "SELECT id, STRING_TO_ARRAY(g || ',' || s, ',') AS a, (STRING_TO_ARRAY(g || ',x', ','))[2] AS b,"
        " STRING_TO_ARRAY(g, ',') AS c FROM t",
        "SELECT id, CASE WHEN g || s IS NOT NULL THEN string_split(g || ',' || s, ',') END,"
        " CASE WHEN g IS NOT NULL THEN 'x' END, CASE WHEN g = '' THEN [] ELSE string_split(g, ',') END FROM t",
        dialect="postgres",
    ),
    "texts": Case(_TEXTS, dialect="duckdb"),
    "texts_of_postgres": Case(_TEXTS, dialect="postgres"),
    "numbers": Case(_NUMBERS, dialect="duckdb"),
    "numbers_of_postgres": Case(
        _NUMBERS.replace(" FROM", ", k # id AS j FROM"),
        _NUMBERS.replace(" FROM", ", xor(k, id) AS j FROM"),
        dialect="postgres",
    ),
    "json_of_duckdb": Case(
        "SELECT id, j->>'g' AS a, j->>'k' AS b, j->'in'->>'f' AS c, j->>'$.in.a[0]' AS d, j->'in'->'a'->>2 AS e,"
        " json_extract_string(j, '$.in.a[1]') AS f, j->>'a.b' AS h, j->>'missing' AS i, j->'in'->'a'->>3 AS l,"
        f" CAST(j->>'k' AS TEXT) || '!' AS m FROM {_JSON} WHERE j IS NULL OR j->>'a.b' <> '0.0'",
        dialect="duckdb",
    ),
    "whole_numbers": Case(_WHOLE, dialect="duckdb"),
    "whole_numbers_of_postgres": Case(_WHOLE, dialect="postgres"),
    "days": Case(_DAYS, dialect="duckdb"),
    "days_of_postgres": Case(_DAYS, dialect="postgres"),
    "numbers_of_texts": Case(
        "SELECT id, n::bigint AS n FROM (SELECT id, CASE id % 7 WHEN 0 THEN '' WHEN 1 THEN ' ' || k || '\n' WHEN 2 THEN"
        " '+' || abs(k) WHEN 3 THEN k || '.5' WHEN 4 THEN k || '0000000000000000000' WHEN 5 THEN s ELSE '' || k END"
        " AS n FROM t) q",
        "SELECT id, CASE id % 7 WHEN 1 THEN k WHEN 2 THEN CASE WHEN k > -9e18 THEN abs(k) END WHEN 4 THEN CASE WHEN"
        " k = 0 THEN 0 END WHEN 6 THEN k END FROM t",
        dialect="postgres",
    ),
    "trimmed": Case(
        "SELECT id, trim(g) AS a, ltrim(' ' || s) AS b, btrim(s || ' \t ') AS c FROM t",
        "SELECT id, trim(g, ' '), ltrim(' ' || s, ' '), ltrim(rtrim(s || ' \t ', ' '), ' ') FROM t",
        dialect="postgres",
    ),
    "order_and_truth_in_aggregates": Case(
        "SELECT g, SUM(k > 3) AS a, SUM(DISTINCT flag) AS b, SUM(k % 9 ORDER BY id DESC) AS c,"
        " COUNT(k ORDER BY s) AS e, MAX(s ORDER BY id) AS f, STRING_AGG(amount, ';' ORDER BY id) AS h,"
        " STRING_AGG(flag, ',' ORDER BY id) AS i"
        " FROM t GROUP BY g",
        dialect="duckdb",
    ),
    "series_of_dates": Case(
        "SELECT id, ARRAY_JOIN(TRANSFORM(SEQUENCE(d, d + 30, INTERVAL '7' DAY), e -> CAST(e AS STRING)), ',') AS a,"
        " ELEMENT_AT(SEQUENCE(d, d - 2), 3) AS b, SIZE(SEQUENCE(d, d + 3)) AS c,"
        " ELEMENT_AT(SEQUENCE(LAST_DAY(d), d + 99, INTERVAL '1' MONTH), 3) AS e,"
        " SIZE(SEQUENCE(d, d + id % 90, INTERVAL '1' MONTH)) AS f, ELEMENT_AT(SEQUENCE(CAST(d AS TIMESTAMP_NTZ),"
        " CAST(d AS TIMESTAMP_NTZ) + INTERVAL '5' HOUR, INTERVAL '90' MINUTE), -1) AS h"
        " FROM t WHERE YEAR(d) BETWEEN 1900 AND 2200",
        "SELECT id, array_to_string([strftime(d + i, '%Y-%m-%d') FOR i IN [0, 7, 14, 21, 28]], ','), d - 2, 4,"
        " (last_day(d) + INTERVAL 2 MONTH)::DATE, len([i FOR i IN range(0, 4) IF (d + to_months(i::INTEGER))::DATE <="
        " d + (id % 90)::INTEGER]), d::TIMESTAMP + INTERVAL 270 MINUTE FROM t WHERE YEAR(d) BETWEEN 1900 AND 2200",
    ),
    "functions_behind_values": Case(
        "SELECT g.upper() AS g, k.sum().abs() AS a, (k % 9).max() + 1 AS b, SUM(k)::BIGINT AS c,"
        " any_value(k ORDER BY id DESC) AS e, any_value(s ORDER BY id) FILTER (WHERE k > 3) AS f"
        " FROM t WHERE k BETWEEN -999 AND 999 GROUP BY g",
        dialect="duckdb",
    ),
    "geometric_means": Case(
        "SELECT g, GEOMEAN(k % 4) AS a, GEOMEAN(ABS(k % 4)) AS b FROM t GROUP BY g",
        dialect="duckdb",
    ),
    "columns_called_like_types": Case(
        "SELECT id, ref['lo'] AS a, text[1] AS b, date[2:3] AS c FROM (SELECT id, {'lo': k} AS ref,"
        " [s, g] AS text, s AS date FROM t) AS v",
        dialect="duckdb",
    ),
    "intervals": Case(
        "SELECT id, ts + interval '1 day -2 hours 30 minutes' AS a, ts - interval '1 year 1 month 3 days' AS b,"
        " d + '2 months 1 day'::interval AS c, ts + interval '1 day 01:30:10' * (id % 3) AS e,"
        " d - interval '3 days' AS f, d + interval '1 day' - DATE '2002-11-01' AS h FROM t"
        " WHERE ts - interval '00:01' > TIMESTAMP '1980-01-01' AND d BETWEEN DATE '1980-01-01' AND DATE '2003-12-31'"
        " AND ts < TIMESTAMP '2003-12-31' AND ts - TIMESTAMP '2002-11-01' > '1 hour 1 minute'::interval"
        " AND d + interval '20 days' > ts AND d - interval '1 month' < DATE '2002-12-01'",
        dialect="duckdb",
    ),
    "rows": Case(
        "SELECT id, (k, g) = (3, 'a') AS a, (k, s) <> (id, g) AS b, (k, g) IN ((3, 'a'), (4, NULL), (5, s)) AS c,"
        " k IN (VALUES (1), (id)) AS e FROM t WHERE (k, g) NOT IN ((1, 'b'), (2, 'c'))",
        "SELECT id, k = 3 AND g = 'a', NOT (k = id AND s = g), (k = 3 AND g = 'a') OR (k = 4 AND NULL)"
        " OR (k = 5 AND g = s), k IN (1, id) FROM t WHERE NOT ((k = 1 AND g = 'b') OR (k = 2 AND g = 'c'))",
        dialect="postgres",
    ),
    "symmetric": Case(
        "SELECT id, k BETWEEN SYMMETRIC 9 AND id % 11 AS b FROM t WHERE big NOT BETWEEN SYMMETRIC 5 AND k",
        "SELECT id, (k >= 9 AND k <= id % 11) OR (k >= id % 11 AND k <= 9) FROM t"
        " WHERE NOT ((big >= 5 AND big <= k) OR (big >= k AND big <= 5))",
        dialect="postgres",
    ),
    "in_order_of_bytes": Case(
        'SELECT g, max(s COLLATE "C") AS a, min(s COLLATE "C") AS b, string_agg(s, \',\' ORDER BY s COLLATE "C" DESC)'
        " AS c, count(*) FILTER (WHERE s COLLATE \"C\" < 'p') AS n FROM t GROUP BY g",
        "SELECT g, max(s), min(s), string_agg(s, ',' ORDER BY s DESC), count(*) FILTER (WHERE s < 'p') FROM t"
        " GROUP BY g",
        dialect="postgres",
    ),
    "ordered_by_function": Case(
        "SELECT g, count(*), max(id) FROM t GROUP BY 1 ORDER BY count DESC, max LIMIT 3",
        "SELECT g, count(*), max(id) FROM t GROUP BY g ORDER BY count(*) DESC, max(id) LIMIT 3",
        dialect="postgres",
    ),
    "grouped_by_place_of_star": Case(
        "SELECT q.*, count(*) AS n FROM (SELECT g, k % 3 AS m FROM t) q GROUP BY 2, 1",
        "SELECT g, k % 3, count(*) FROM t GROUP BY ALL",
        dialect="postgres",
    ),
}
