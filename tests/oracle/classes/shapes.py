"""Other shapes of a query, and functions."""

from __future__ import annotations

from oracle.harness import Case

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
