"""An analyst's day: 25 mixed questions about flights, in Spark's SQL and in DuckDB's."""

from __future__ import annotations

import re
from collections.abc import Mapping

from workbench.experiments.query_sets.generated import GeneratedQuery

_TEXTS: Mapping[str, str] = {
    # selections
    "late_departures": "SELECT id, carrier, origin, dest, dep_delay FROM flights WHERE dep_delay > 90",
    "long_haul": "SELECT id, carrier, dest, distance FROM flights WHERE distance > 2400 AND origin = 'JFK'",
    "cancelled": (
        "SELECT id, flight_date, carrier, dest FROM flights WHERE dep_delay IS NULL AND carrier IN ('UA', 'B6', 'EV')"
    ),
    "fast": (
        "SELECT id, tailnum, distance * 60 / air_time AS mph FROM flights"
        " WHERE air_time > 0 AND distance * 60 > 520 * air_time"
    ),
    # groups
    "carriers": "SELECT carrier, COUNT(*), AVG(dep_delay), SUM(distance) FROM flights GROUP BY carrier",
    "routes": "SELECT origin, dest, COUNT(*) AS n, AVG(arr_delay) AS delay FROM flights GROUP BY origin, dest",
    "unsteady_routes": (
        "SELECT origin, dest, COUNT(*), STDDEV_SAMP(arr_delay) FROM flights GROUP BY origin, dest"
        " HAVING COUNT(*) > 100 AND STDDEV_SAMP(arr_delay) > 40"
    ),
    "punctuality": (
        "SELECT carrier, COUNT(*) FILTER (WHERE arr_delay > 15), COUNT(*) FILTER (WHERE arr_delay IS NULL), COUNT(*)"
        " FROM flights GROUP BY carrier"
    ),
    "airports": (
        "SELECT origin, COUNT(DISTINCT tailnum), MODE(dest), COUNT(*) FILTER (WHERE dep_delay > 60) FROM flights"
        " GROUP BY origin"
    ),
    "delays_by_airport": "SELECT origin, MEDIAN(dep_delay), PERCENTILE(dep_delay, 0.9) FROM flights GROUP BY origin",
    "delays_by_carrier": "SELECT carrier, MEDIAN(air_time), PERCENTILE(arr_delay, 0.95) FROM flights GROUP BY carrier",
    "extremes": "SELECT dest, MIN(air_time), MAX(arr_delay) FROM flights GROUP BY dest",
    "hours": "SELECT hour, COUNT(*), COUNT(DISTINCT carrier) FROM flights GROUP BY hour HAVING COUNT(*) > 100",
    "pairs": "SELECT DISTINCT origin, dest FROM flights WHERE distance > 500",
    # joins
    "makers": (
        "SELECT p.manufacturer, COUNT(*), AVG(f.dep_delay) FROM flights f JOIN planes p ON f.tailnum = p.tailnum"
        " GROUP BY p.manufacturer HAVING COUNT(*) > 100"
    ),
    "large_planes": (
        "SELECT f.id, p.model, p.seats, f.dep_delay FROM flights f JOIN planes p ON f.tailnum = p.tailnum"
        " WHERE p.seats > 300 AND f.dep_delay > 30"
    ),
    "in_wind": (
        "SELECT f.origin, COUNT(*), AVG(f.dep_delay), MAX(w.wind_speed) FROM flights f JOIN weather w"
        " ON f.origin = w.origin AND f.time_hour = w.time_hour WHERE w.wind_speed > 20 GROUP BY f.origin"
    ),
    "in_fog": (
        "SELECT f.id, f.dep_delay, w.visib, w.precip FROM flights f, weather w"
        " WHERE f.origin = w.origin AND f.time_hour = w.time_hour AND w.visib < 2 AND f.dep_delay > 60"
    ),
    # windows
    "last_week": (
        "SELECT carrier, COUNT(*), MIN(dep_delay), MAX(dep_delay) FROM flights"
        " WHERE scheduled > now() - INTERVAL '7' DAY GROUP BY carrier"
    ),
    "days": (
        "SELECT window.start, origin, COUNT(*), AVG(dep_delay) FROM flights GROUP BY window(scheduled, '1 day'), origin"
    ),
    # sets
    "either": "SELECT dest FROM flights WHERE carrier = 'UA' UNION SELECT dest FROM flights WHERE carrier = 'B6'",
    "both": "SELECT dest FROM flights WHERE origin = 'JFK' INTERSECT SELECT dest FROM flights WHERE origin = 'EWR'",
    "only": "SELECT dest FROM flights WHERE origin = 'EWR' EXCEPT SELECT dest FROM flights WHERE origin = 'JFK'",
    # over answers that change, and so take rows back
    "busiest": "SELECT origin, MAX(n), MIN(n), MAX(delay), COUNT(*) FROM routes WHERE n > 50 GROUP BY origin",
    "late_carriers": "SELECT carrier, COUNT(*), MAX(dep_delay) FROM late_departures GROUP BY carrier",
}
"""By name, in the order of registration: some read an earlier one."""

_MODE = (
    "SELECT origin, COUNT(DISTINCT tailnum), (SELECT dest FROM flights g WHERE g.origin = f.origin GROUP BY dest"
    " ORDER BY COUNT(*) DESC, dest LIMIT 1), COUNT(*) FILTER (WHERE dep_delay > 60) FROM flights f GROUP BY origin"
)
"""DuckDB's MODE takes any of several most frequent values."""


def day() -> tuple[GeneratedQuery, ...]:
    """The queries of the day.

    Example:
        >>> len(day())
        25
        >>> day()[-1].duckdb_sql.split(") SELECT")[0]
        'WITH late_departures AS (SELECT id, carrier, origin, dest, dep_delay FROM flights WHERE dep_delay > 90'
    """
    return tuple(GeneratedQuery(name, sql, _duckdb(name), name, {}, "spark") for name, sql in _TEXTS.items())


def _duckdb(name: str) -> str:
    """The question in DuckDB's SQL, with the queries it reads in front."""
    sql = _MODE if name == "airports" else _TEXTS[name]
    sql = re.sub(r"PERCENTILE\(", "quantile_cont(", sql)
    sql = sql.replace("now()", "(SELECT MAX(scheduled) FROM flights)")
    sql = sql.replace("window(scheduled, '1 day')", "date_trunc('day', scheduled)")
    sql = sql.replace("window.start", "date_trunc('day', scheduled)::TIMESTAMP")
    read = [other for other in _TEXTS if re.search(rf"FROM {other}\b", sql)]
    return (f"WITH {', '.join(f'{other} AS ({_duckdb(other)})' for other in read)} " if read else "") + sql
