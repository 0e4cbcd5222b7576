"""The thesis's query sets over the samples, many queries together, against DuckDB (T10.1.3).

Here a few of every variant run under the default options. ``ARGUS_SET_QUERIES=100`` takes a hundred of each set, and
``ARGUS_LONG=all`` every configuration of the network-size experiment: an hour on two cores.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from long import LONG
from oracle.harness import Case, Feed, Oracle
from pyarrow import parquet
from pyspark.sql import SparkSession

from workbench import Options
from workbench.experiments.query_sets import query_set
from workbench.experiments.sample_streams.zipcodes import zipdistance
from workbench.experiments.studies.network_size import CONFIGURATIONS

SAMPLES = Path(__file__).parents[2] / "sample_data"
MANY = int(os.environ.get("ARGUS_SET_QUERIES", "0"))
QUERIES = {"fed-manual": MANY or 16, "med": MANY or 8, "aggregate-fed": MANY or 12, "aggregate-med": MANY or 6}
if MANY:
    QUERIES |= {"fed-uniform": MANY, "fed-normal": MANY, "fed-gaussian": MANY}
OPTIONS = CONFIGURATIONS if LONG else {"Restructuring": Options()}


@pytest.mark.timeout(3600 if MANY else 300)
@pytest.mark.parametrize("configuration", OPTIONS)
@pytest.mark.parametrize("name", QUERIES)
def test_many_together(spark: SparkSession, name: str, configuration: str) -> None:
    stream, file = ("FedWireTrans", "fed") if "fed" in name else ("MHDCFY01A", "med")
    rows = parquet.read_table(SAMPLES / f"{file}.parquet").slice(0, 6_000)
    queries = list(query_set(name).values())
    # Spread over the set, so that constants differ as well as variants.
    step = max(1, len(queries) // QUERIES[name]) | 1
    chosen = [queries[i * step % len(queries)] for i in range(QUERIES[name])]
    cases = {query.name: Case(query.sql, query.duckdb_sql, query.dialect) for query in chosen}
    functions = {"zipdistance": (zipdistance, ["VARCHAR", "VARCHAR"], "DOUBLE")}
    with Oracle(spark, {stream: Feed(rows, 4_000, 1_000)}, OPTIONS[configuration], functions) as oracle:
        oracle.register(cases, check=False)
        oracle.run(2, check=False)
        oracle.check_results()
        oracle.check_changes()
