"""Flights: made of the files that the package has, and repeated so that questions keep their meaning."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from benchmarks.sample_streams.flights import flights, planes, weather


def test_a_flight_that_did_not_depart_has_no_delay(flight_files: Path) -> None:
    first, last = flights(2, flight_files).to_pylist()
    assert (first["id"], first["scheduled"], first["dep_delay"]) == (1, dt.datetime(2013, 1, 1, 5, 15), 2)
    assert (last["id"], last["scheduled"], last["dep_delay"]) == (2, dt.datetime(2013, 12, 31, 23, 59), None)
    assert last["tailnum"] is None
    assert planes(flight_files).num_rows == 1


def test_a_copy_comes_later_with_its_weather(flight_files: Path) -> None:
    rows = flights(3, flight_files).to_pylist()
    assert [row["id"] for row in rows] == [1, 2, 3]
    assert [row["scheduled"] for row in rows] == sorted(row["scheduled"] for row in rows)
    moved = rows[2]["scheduled"] - rows[0]["scheduled"]
    assert moved % dt.timedelta(days=7) == dt.timedelta(0)
    assert rows[2]["flight_date"] - rows[0]["flight_date"] == moved
    hours = {(row["origin"], row["time_hour"]) for row in weather(3, flight_files).to_pylist()}
    assert hours == {(rows[0]["origin"], rows[0]["time_hour"]), (rows[2]["origin"], rows[2]["time_hour"])}
