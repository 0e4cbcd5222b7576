"""Gaps of time that are filled: TIME_BUCKET_GAPFILL, LOCF and INTERPOLATE, by key."""

from __future__ import annotations

from oracle.harness import Case

_SMALL = "k BETWEEN 0 AND 11"
_NO_CONSTANT = "NOT ts < TIMESTAMP '2002-11-03' AND NOT ts >= TIMESTAMP '2002-11-20'"
"""Conditions of which the ends are not read."""
_MONTH = "ts >= TIMESTAMP '2002-11-03' AND ts < TIMESTAMP '2002-11-20'"


def _asked(groups: str, series: str, shown: str) -> str:
    """The same by a series of all stretches, beside each the groups before and after it.

    Args:
        groups: select ``key``, ``start``, ``n``, ``m`` and ``x`` of each stretch that has rows.
        series: the stretches of a key, over ``least`` and ``most``, its first and last one.
        shown: selected of ``f``, with ``p`` the group before and ``q`` the one after.
    """
    side = "b IS NOT NULL AND {0}.key IS NOT DISTINCT FROM f.key AND {0}.start = f.{1}"
    return (
        f"WITH g AS MATERIALIZED ({groups}),"
        " keys AS (SELECT key, MIN(start) AS least, MAX(start) AS most FROM g GROUP BY key),"
        f" spine AS (SELECT key, UNNEST({series}) AS b FROM keys),"
        " f AS (SELECT spine.key, b, n, m, x, "
        "MAX(CASE WHEN n > 0 THEN b END) OVER (PARTITION BY spine.key ORDER BY b) AS was,"
        " MIN(CASE WHEN n > 0 THEN b END) OVER (PARTITION BY spine.key ORDER BY b DESC) AS next"
        " FROM spine LEFT JOIN g ON g.key IS NOT DISTINCT FROM spine.key AND g.start = b)"
        f" SELECT {shown} FROM f LEFT JOIN g p ON {side.format('p', 'was')} LEFT JOIN g q ON {side.format('q', 'next')}"
    )


_LINE = "p.x + (q.x - p.x) * EPOCH_US(b - was) / EPOCH_US(next - was)"
_BETWEEN = f"CASE WHEN was = next THEN f.x::DOUBLE ELSE {_LINE} END"
_ALL = "f.key, b, f.n, p.m, " + _BETWEEN


def _groups(key: str, width: str, where: str, having: str = "TRUE") -> str:
    return (
        f"SELECT {key} AS key, TIME_BUCKET(INTERVAL {width}, ts) AS start, COUNT(*) AS n, MAX(id) AS m,"
        f" SUM(k) AS x FROM t WHERE {where} AND {_SMALL} GROUP BY ALL HAVING {having}"
    )


GAPS = {
    "between_ends": Case(
        "SELECT g, TIME_BUCKET_GAPFILL(INTERVAL '1' DAY, ts) AS day, COUNT(*) AS n, COALESCE(COUNT(*), 0) AS z,"
        f" LOCF(MAX(id)) AS m, INTERPOLATE(SUM(k)) AS x FROM t WHERE {_MONTH} AND {_SMALL} GROUP BY g, day",
        _asked(
            _groups("g", "1 DAY", _MONTH),
            "RANGE(TIMESTAMP '2002-11-03', TIMESTAMP '2002-11-20', INTERVAL 1 DAY)",
            f"f.key, b, f.n, COALESCE(f.n, 0), p.m, {_BETWEEN}",
        ),
    ),
    "of_each_key": Case(
        "SELECT g, time_bucket_gapfill('6 hours', ts) AS part, COUNT(*) AS n, locf(MAX(id)), interpolate(SUM(k))"
        f" FROM t WHERE {_NO_CONSTANT} AND {_SMALL} GROUP BY 2, 1",
        _asked(_groups("g", "6 HOURS", _MONTH), "GENERATE_SERIES(least, most, INTERVAL 6 HOURS)", _ALL),
        dialect="postgres",
    ),
    "without_key": Case(
        "SELECT 1 AS one, TIME_BUCKET_GAPFILL(INTERVAL 90 MINUTES, ts, TIMESTAMP '2002-11-05 00:10', NULL) AS part,"
        " COUNT(*) AS n, LOCF(MAX(id)), INTERPOLATE(SUM(k)) FROM t"
        f" WHERE ts < TIMESTAMP '2002-11-09 11:00' AND {_SMALL} AND flag GROUP BY part",
        _asked(
            _groups("1", "90 MINUTES", "ts >= '2002-11-05 00:10' AND ts < '2002-11-09 11:00' AND flag"),
            "RANGE(TIME_BUCKET(INTERVAL 90 MINUTES, TIMESTAMP '2002-11-05 00:10'), TIMESTAMP '2002-11-09 11:00',"
            " INTERVAL 90 MINUTES)",
            _ALL,
        ),
        dialect="duckdb",
    ),
    "from_a_time": Case(
        "SELECT flag, t.g, TIME_BUCKET_GAPFILL(INTERVAL '2' DAY, t.ts) AS days, COUNT(*), LOCF(MAX(t.id)),"
        " INTERPOLATE(SUM(t.k)) FROM t WHERE t.ts > TIMESTAMP '2002-11-02 12:00'"
        f" AND NOT t.ts >= TIMESTAMP '2002-12-01' AND t.{_SMALL} GROUP BY flag, g, days HAVING COUNT(*) < 3",
        _asked(
            _groups("(flag, g)", "2 DAYS", "ts > '2002-11-02 12:00' AND ts < '2002-12-01'", "COUNT(*) < 3"),
            "GENERATE_SERIES(TIME_BUCKET(INTERVAL 2 DAYS, TIMESTAMP '2002-11-02 12:00'), most, INTERVAL 2 DAYS)",
            f"f.key[1], f.key[2], b, f.n, p.m, {_BETWEEN}",
        ),
    ),
    "longer_than_a_page": Case(
        "SELECT k, MIN(hour) AS first, COUNT(*) AS hours, SUM(m) AS sum FROM (SELECT k,"
        " TIME_BUCKET_GAPFILL(INTERVAL '1' HOUR, ts) AS hour, LOCF(MAX(id)) AS m FROM t"
        f" WHERE ts < TIMESTAMP '2002-12-31' AND NOT ts < TIMESTAMP '2002-11-01' AND {_SMALL} AND id % 5 = 0"
        " GROUP BY k, hour) w GROUP BY k",
        "SELECT key, MIN(b), COUNT(*), SUM(m) FROM ("
        + _asked(
            _groups("k", "1 HOUR", "ts < '2002-12-31' AND ts >= '2002-11-01' AND id % 5 = 0"),
            "RANGE(least, TIMESTAMP '2002-12-31', INTERVAL 1 HOUR)",
            "f.key, b, p.m",
        )
        + ") w GROUP BY key",
    ),
}
