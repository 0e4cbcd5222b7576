"""The questions of the analyst's day: what they cover, and that DuckDB understands its texts."""

from __future__ import annotations

import datetime as dt

import duckdb
import pyarrow as pa

from benchmarks.query_sets.flights import day

NOON = dt.datetime(2013, 1, 8, 12)
FLIGHTS = pa.table(
    {
        "id": [1, 2, 3],
        "flight_date": [NOON.date()] * 3,
        "scheduled": [NOON - dt.timedelta(days=9), NOON, NOON],
        "time_hour": [NOON] * 3,
        "hour": [12] * 3,
        "carrier": ["UA", "UA", "B6"],
        "flight": [1, 2, 3],
        "tailnum": ["N1", "N2", None],
        "origin": ["JFK", "JFK", "EWR"],
        "dest": ["SFO", "LAX", "LAX"],
        "dep_delay": [100, -5, None],
        "arr_delay": [90, -9, None],
        "air_time": [300, 310, None],
        "distance": [2586, 2475, 2454],
    }
)
WEATHER = pa.table(
    {
        "origin": ["JFK"],
        "time_hour": [NOON],
        "temp": [30.0],
        "wind_speed": [25.0],
        "precip": [0.1],
        "visib": [1.0],
    }
)
PLANES = pa.table({"tailnum": ["N1"], "manufacturer": ["A"], "model": ["M"], "engines": [2], "seats": [350]})


def answers() -> dict[str, list[tuple[object, ...]]]:
    with duckdb.connect() as database:
        for name, table in {"flights": FLIGHTS, "weather": WEATHER, "planes": PLANES}.items():
            database.register(name, table)
        return {query.name: database.execute(query.duckdb_sql).fetchall() for query in day()}


def test_duckdb_answers_all_of_them() -> None:
    got = answers()
    assert len(got) == 25
    assert got["late_departures"] == [(1, "UA", "JFK", "SFO", 100)]
    assert set(got["last_week"]) == {("UA", 1, -5, -5), ("B6", 1, None, None)}
    assert got["in_fog"] == [(1, 100, 1.0, 0.1)]
    assert got["late_carriers"] == [("UA", 1, 100)]


def test_the_most_frequent_value_is_the_smallest_of_several() -> None:
    assert sorted(answers()["airports"]) == [("EWR", 0, "LAX", 0), ("JFK", 2, "LAX", 1)]
