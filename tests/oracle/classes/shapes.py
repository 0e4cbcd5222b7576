"""Other shapes of a query, and functions."""

from __future__ import annotations

from oracle.harness import Case

_KNOWN = "{0} BETWEEN '1990-01-01' AND '2200-01-01'"
"""A time whose microseconds DuckDB can add up."""
_KNOWN_PAIRS = f"{_KNOWN.format('a.ts')} AND (b.ts IS NULL OR {_KNOWN.format('b.ts')})"
_LENGTH = "to_microseconds(EPOCH_US(b.ts) - EPOCH_US(a.ts))"

SHAPES = {
    "stacked": Case(
        "SELECT id, e.col0, e.col1 FROM t, LATERAL STACK(2, 'k', k, 'big', big) AS e WHERE e.col1 > 3",
        "SELECT id, 'k', k FROM t WHERE k > 3 UNION ALL SELECT id, 'big', big FROM t WHERE big > 3",
    ),
    "stacked_beside": Case(
        "SELECT id, STACK(2, k, g, id) FROM t",
        "SELECT id, k, g FROM t UNION ALL SELECT id, id, NULL FROM t",
    ),
    "json_tuple": Case(
        "SELECT q.id, j.a, j.c FROM (SELECT id, CONCAT('{\"a\": ', CAST(k AS STRING), ', \"b\": {\"c\": \"', g,"
        " '\"}}') AS s FROM t) q, LATERAL JSON_TUPLE(q.s, 'a', 'c') AS j(a, c)",
        "SELECT id, CASE WHEN g IS NOT NULL THEN k::VARCHAR END, NULL FROM t",
    ),
    "columns_by_pattern": Case(
        "SELECT `(k|id)`, SUM(`amoun.`) OVER () AS m FROM t", "SELECT id, k, SUM(amount) OVER () FROM t"
    ),
    "columns": Case(
        "SELECT g, max(COLUMNS('^(k|id|d)$')) AS \"m_\\1\", count(COLUMNS(['x', 's'])),"
        " min(COLUMNS(* EXCLUDE (g, x, y, s, flag, big, wide))) FROM t GROUP BY g",
        dialect="duckdb",
    ),
    "columns_of_all": Case(
        "SELECT COLUMNS(* EXCLUDE (big, wide, x, y, amount) REPLACE (k % 10 AS k)) FROM t WHERE flag", dialect="duckdb"
    ),
    "distinct_on_columns": Case(
        "SELECT DISTINCT ON (COLUMNS('^(g|flag)$')) id, g, flag FROM t ORDER BY g, flag, id DESC", dialect="duckdb"
    ),
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
    "time_between_nearer": Case(
        "SELECT a.id, b.id AS other FROM t a JOIN t b ON a.k = b.k"
        " AND b.ts - a.ts < INTERVAL '30' HOUR AND a.ts < b.ts + INTERVAL '90' MINUTE"
    ),
    "time_moved": Case("SELECT id, d FROM t WHERE ts - INTERVAL '90' MINUTE < d AND ts + INTERVAL '2' DAY >= d"),
    "time_moved_nearer": Case(
        "SELECT id, ts FROM t WHERE d + INTERVAL '1' HOUR > ts"
        " AND ts + INTERVAL '1' DAY > TIMESTAMP '2002-11-16 12:00:00'"
    ),
    "interval_times": Case(
        "SELECT id, ts + INTERVAL '1' MINUTE * k AS a, d - k * INTERVAL '2' DAY AS b FROM t"
        " WHERE k BETWEEN -9 AND 9 AND d > DATE '1990-01-01' AND (ts IS NULL OR ts > TIMESTAMP '1990-01-01')",
        "SELECT id, ts + to_minutes(k), CAST(d - 2 * k::INT AS DATE) FROM t"
        " WHERE k BETWEEN -9 AND 9 AND d > DATE '1990-01-01' AND (ts IS NULL OR ts > TIMESTAMP '1990-01-01')",
    ),
    "intervals_made": Case(
        "SELECT id, ts + INTERVAL k HOUR AS a, TIMESTAMPADD(DAY, k, ts) AS b, ts - MAKE_DT_INTERVAL(k, 1, k) AS c,"
        " ts + MAKE_INTERVAL(0, k, 0, 2) AS e, EXTRACT(HOUR FROM ts - INTERVAL '5' HOUR) AS h,"
        " EXTRACT(YEAR FROM d - 3) AS y, DATEDIFF(DAY, d, CAST(ts AS DATE)) AS days FROM t"
        " WHERE k BETWEEN -9 AND 9 AND ts BETWEEN '1990-01-01' AND '2200-01-01'",
        "SELECT id, ts + to_hours(k), ts + to_days(k::INT), ts - to_days(k::INT) - to_hours(1) - to_minutes(k),"
        " ts + to_months(k::INT) + to_days(2), EXTRACT(HOUR FROM ts - INTERVAL 5 HOUR), EXTRACT(YEAR FROM d - 3),"
        " CAST(ts AS DATE) - d FROM t"
        " WHERE k BETWEEN -9 AND 9 AND ts BETWEEN '1990-01-01' AND '2200-01-01'",
    ),
    # A year and a month are 13 months: in two steps 29 February would become 28 March.
    "intervals_of_years_and_months": Case(
        "SELECT id, DATE '2024-02-29' + MAKE_INTERVAL(k, 1) AS a, DATE '2024-02-29' - MAKE_YM_INTERVAL(1, k) AS b,"
        " DATE '2024-02-29' + MAKE_INTERVAL(-1, 1, 0, k) AS c FROM t WHERE k BETWEEN -9 AND 9",
        "SELECT id, CAST(DATE '2024-02-29' + to_months((12 * k + 1)::INT) AS DATE),"
        " CAST(DATE '2024-02-29' - to_months((12 + k)::INT) AS DATE), DATE '2023-03-29' + k::INT"
        " FROM t WHERE k BETWEEN -9 AND 9",
    ),
    "interval_values": Case(
        "SELECT a.id, b.ts - a.ts AS between_, COALESCE(b.ts - a.ts, INTERVAL '5' MINUTE) AS known,"
        " (a.ts - b.ts) * 2 AS twice, a.ts - b.d AS mixed,"
        " CASE WHEN b.ts - a.ts < INTERVAL '0' SECOND THEN a.ts - b.ts ELSE -(a.ts - b.ts) END AS size,"
        " (b.ts - a.ts) + INTERVAL '90' MINUTE - INTERVAL 1 DAY AS later,"
        f" CASE WHEN {_KNOWN.format('a.d')} THEN a.d + (b.ts - a.ts) END AS moved"
        f" FROM t a LEFT JOIN t b ON a.k = b.k AND b.ts <> a.ts WHERE {_KNOWN_PAIRS}",
        f"SELECT a.id, {_LENGTH}, COALESCE({_LENGTH}, to_minutes(5)),"
        " to_microseconds(2 * (EPOCH_US(a.ts) - EPOCH_US(b.ts))),"
        " to_microseconds(EPOCH_US(a.ts) - EPOCH_US(b.d::TIMESTAMP)),"
        " to_microseconds(ABS(EPOCH_US(b.ts) - EPOCH_US(a.ts))),"
        f" to_microseconds(EPOCH_US(b.ts) - EPOCH_US(a.ts) + 5400000000 - 86400000000),"
        f" CASE WHEN {_KNOWN.format('a.d')} THEN a.d + {_LENGTH} END"
        f" FROM t a LEFT JOIN t b ON a.k = b.k AND b.ts <> a.ts WHERE {_KNOWN_PAIRS}",
    ),
    "interval_differences": Case(
        "SELECT id FROM (SELECT id, ts - CAST(d AS TIMESTAMP) AS x, TIMESTAMP '2002-11-01 00:00:00' - ts AS y FROM t) w"
        " WHERE x - y > INTERVAL '1' HOUR",
        "SELECT id FROM t"
        " WHERE 2 * EPOCH_US(ts) - EPOCH_US(d::TIMESTAMP) - EPOCH_US(TIMESTAMP '2002-11-01') > 3600000000",
    ),
    "interval_groups": Case(
        "WITH w AS (SELECT a.k, b.ts - a.ts AS x FROM t a JOIN t b ON a.k = b.k)"
        " SELECT x, COUNT(*) AS n, EXTRACT(EPOCH FROM x) AS s, EXTRACT(MINUTE FROM x) AS m FROM w"
        " WHERE x > INTERVAL '-40' DAY AND x NOT IN (INTERVAL '1' DAY, INTERVAL '36' HOUR)"
        " GROUP BY x HAVING MAX(x) < INTERVAL '400' DAY",
        "WITH w AS (SELECT a.k, EPOCH_US(b.ts) - EPOCH_US(a.ts) AS x FROM t a JOIN t b ON a.k = b.k)"
        " SELECT to_microseconds(x), COUNT(*), CAST(x::DECIMAL(20,0) / 1000000 AS DECIMAL(20,6)),"
        " x % 3600000000 // 60000000 FROM w WHERE x > -40 * 86400000000 AND x NOT IN (86400000000, 129600000000)"
        " GROUP BY x HAVING MAX(x) < 400 * 86400000000",
    ),
    "interval_aggregates": Case(
        "SELECT k, SUM(x) AS s, AVG(x) AS a, MIN(x) AS least, MAX(x) AS most, COUNT(x) AS n, COUNT(DISTINCT x) AS d,"
        " MEDIAN(x) AS m, SUM(x) / 7 AS part, MIN_BY(x, id) AS first FROM"
        " (SELECT a.id * 1000 + b.id AS id, a.k, b.ts - a.ts AS x FROM t a LEFT JOIN u b ON a.k = b.k"
        f" AND {_KNOWN.format('b.ts')} WHERE {_KNOWN.format('a.ts')}) GROUP BY k",
        "SELECT k, to_microseconds(s), to_microseconds(CAST(SIGN(s) * ((2 * ABS(s) + n) // (2 * n)) AS BIGINT)),"
        " to_microseconds(least), to_microseconds(most), n, d, to_microseconds(CAST(TRUNC(m) AS BIGINT)),"
        " to_microseconds(CAST(SIGN(s) * ((2 * ABS(s) + 7) // 14) AS BIGINT)), to_microseconds(first) FROM (SELECT k,"
        " SUM(x)::BIGINT AS s, MIN(x) AS least, MAX(x) AS most, COUNT(x) AS n, COUNT(DISTINCT x) AS d,"
        " QUANTILE_CONT(x::DOUBLE, 0.5) AS m, FIRST(x ORDER BY id) AS first FROM"
        " (SELECT a.id * 1000 + b.id AS id, a.k, EPOCH_US(b.ts) - EPOCH_US(a.ts) AS x FROM t a LEFT JOIN u b"
        f" ON a.k = b.k AND {_KNOWN.format('b.ts')} WHERE {_KNOWN.format('a.ts')}) GROUP BY k)",
    ),
    "interval_months": Case(
        "SELECT EXTRACT(YEAR FROM m) AS y, EXTRACT(MONTH FROM m) AS n, COUNT(*) AS c,"
        " EXTRACT(MONTH FROM MAX(o)) AS most,"
        " EXTRACT(YEAR FROM SUM(o)) AS s, EXTRACT(MONTH FROM AVG(o)) AS a, MIN(d + m) AS moved,"
        " MAX(ts - o) AS earlier FROM"
        " (SELECT d, ts, INTERVAL '1' MONTH * k AS m, INTERVAL '1-1' YEAR TO MONTH * id AS o"
        f" FROM t WHERE k BETWEEN -99 AND 99 AND id < 9000 AND {_KNOWN.format('d')} AND {_KNOWN.format('ts')})"
        " GROUP BY m HAVING MIN(m) NOT IN (INTERVAL '1' YEAR, INTERVAL '-3' MONTH) AND m > INTERVAL '-4' YEAR",
        "SELECT TRUNC(k / 12)::BIGINT, k % 12, COUNT(*), MAX(13 * id) % 12, SUM(13 * id) // 12,"
        " (2 * SUM(13 * id) + COUNT(id)) // (2 * COUNT(id)) % 12, MIN((d + to_months(k::INT))::DATE),"
        " MAX(ts - to_months(13 * id::INT)) FROM t WHERE k BETWEEN -99 AND 99 AND id < 9000"
        f" AND {_KNOWN.format('d')} AND {_KNOWN.format('ts')} GROUP BY k HAVING k NOT IN (12, -3) AND k > -48",
    ),
    "times_of_day": Case(
        "SELECT a.id, CAST(a.ts AS TIME) AS x, CAST(CAST(a.ts AS TIME) AS STRING) AS s, HOUR(CAST(a.ts AS TIME)) AS h,"
        " TIME_TRUNC('MINUTE', CAST(a.ts AS TIME)) AS m, TIME_DIFF('SECOND', CAST(a.ts AS TIME), TIME '12:00') AS n,"
        " COALESCE(CAST(a.ts AS TIME), TIME '09:30:00.5') AS known, CAST(a.ts AS TIME) - CAST(b.ts AS TIME) AS later"
        " FROM t a LEFT JOIN t b ON a.k = b.k AND CAST(b.ts AS TIME) < CAST(a.ts AS TIME)"
        " WHERE a.k BETWEEN -20 AND 20",
        "SELECT a.id, a.ts::TIME, a.ts::TIME::VARCHAR, HOUR(a.ts), DATE_TRUNC('minute', a.ts)::TIME,"
        " DATE_SUB('second', a.ts::TIME, TIME '12:00'), COALESCE(a.ts::TIME, TIME '09:30:00.5'),"
        " to_microseconds(DATE_SUB('microsecond', b.ts::TIME, a.ts::TIME))"
        " FROM t a LEFT JOIN t b ON a.k = b.k AND b.ts::TIME < a.ts::TIME WHERE a.k BETWEEN -20 AND 20",
    ),
    "times_of_day_grouped": Case(
        "SELECT x, COUNT(*) AS n, MIN(y) AS least, MAX(y) AS most, COUNT(DISTINCT y) AS d FROM"
        " (SELECT id, k % 10 AS x, CAST(ts AS TIME) AS y FROM t) GROUP BY x HAVING MAX(y) > TIME '00:30:00'",
        "SELECT k % 10, COUNT(*), MIN(ts::TIME), MAX(ts::TIME), COUNT(DISTINCT ts::TIME) FROM t"
        " GROUP BY 1 HAVING MAX(ts::TIME) > TIME '00:30:00'",
    ),
    "interval_windows": Case(
        "SELECT id, ts - LAG(ts) OVER (ORDER BY id) AS gap, SUM(ts - d) OVER (PARTITION BY k) AS s,"
        " LAG(ts - d) OVER (ORDER BY id) AS l, RANK() OVER (ORDER BY ts - d) AS r FROM t"
        f" WHERE {_KNOWN.format('ts')} AND {_KNOWN.format('d')}",
        "SELECT id, to_microseconds(EPOCH_US(ts) - LAG(EPOCH_US(ts)) OVER (ORDER BY id)),"
        " to_microseconds((SUM(i) OVER (PARTITION BY k))::BIGINT), to_microseconds(LAG(i) OVER (ORDER BY id)),"
        " RANK() OVER (ORDER BY i) FROM (SELECT *, EPOCH_US(ts) - EPOCH_US(d::TIMESTAMP) AS i FROM t)"
        f" WHERE {_KNOWN.format('ts')} AND {_KNOWN.format('d')}",
    ),
    "time_units": Case(
        "SELECT a.id, b.id AS other, DATEDIFF(HOUR, a.ts, b.ts) AS h, DATEDIFF(DAY, a.ts, b.ts) AS days,"
        " EXTRACT(DAY FROM b.ts - a.ts) AS d, EXTRACT(HOUR FROM (a.ts - b.ts)) AS rest FROM t a JOIN t b ON a.k = b.k"
        " AND b.ts - a.ts BETWEEN INTERVAL '-40' DAY AND INTERVAL '40' DAY",
        "SELECT a.id, b.id, datesub('hour', a.ts, b.ts), datesub('day', a.ts, b.ts), EXTRACT(DAY FROM b.ts - a.ts),"
        " EXTRACT(HOUR FROM a.ts - b.ts) FROM t a JOIN t b ON a.k = b.k"
        " AND b.ts >= a.ts - INTERVAL 40 DAY AND b.ts <= a.ts + INTERVAL 40 DAY",
    ),
    "time_borders": Case(
        "SELECT a.id, b.id AS other, date_diff('year', a.ts, b.ts) AS y, date_diff('quarter', a.ts, b.d) AS q,"
        " date_diff('month', a.d, b.ts) AS m, date_diff('day', a.ts, b.ts) AS d,"
        " date_diff('hour', a.ts, b.ts) AS h, date_diff('minute', a.ts, b.ts) AS mi, datesub('week', a.ts, b.ts) AS ws,"
        " epoch(a.ts) AS e, epoch_ms(a.ts) AS ms, epoch_us(b.ts) AS us, a.ts + to_days(b.id::INT) AS moved"
        " FROM t a JOIN t b ON a.k = b.k AND a.ts > TIMESTAMP '1700-01-01' AND b.ts > TIMESTAMP '1700-01-01'",
        dialect="duckdb",
    ),
    "texts": Case(
        "SELECT id, SPLIT_PART(s, '_', 2) AS a, REGEXP_REPLACE(s, '[aeiou]', '*') AS b, MD5(s) AS c, RIGHT(s, 2) AS e,"
        " k & 6 AS f FROM t",
        "SELECT id, SPLIT_PART(s, '_', 2), REGEXP_REPLACE(s, '[aeiou]', '*', 'g'), MD5(s), RIGHT(s, 2), k & 6 FROM t",
    ),
}  # fmt: skip
