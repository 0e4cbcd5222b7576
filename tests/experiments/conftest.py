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
