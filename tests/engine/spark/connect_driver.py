"""Runs in a process of its own, whose Spark is a Connect server on the loopback interface: the oracle's answers.

``python connect_driver.py ADDRESS SET COUNT``: of the server, as ``local[2]``, which starts one, or ``sc://host:port``;
queries of a set of the experiments, or of an analyst's ``day``, and how many. A process that has used Spark Connect has
no other Spark.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence

from engine.spark.cluster_driver import QUICK_START, SAMPLES
from long import LONG
from oracle.harness import Case, Feed, Oracle
from pyarrow import parquet
from pyspark.sql import SparkSession

from benchmarks.studies import day
from workbench.engine.spark.java import use_java
from workbench.errors import EngineError, WorkbenchError
from workbench.experiments.query_sets import GeneratedQuery
from workbench.experiments.workload import spread, workload
from workbench.limits import Limits

SERVER = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.python.unix.domain.socket.enabled": "true",
}
BY_SPARK = Limits(rows_stepped_in_process=0, rows_filtered_in_process=0, rows_hydrated_in_process=0, rows_per_task=500)


Asked = tuple[dict[str, Feed], Sequence[GeneratedQuery]]
"""Streams, and the queries over them."""


def set_of(name: str) -> Asked:
    rows = parquet.read_table(SAMPLES / "fed.parquet").slice(0, 3_000)
    return {"FedWireTrans": Feed(rows, 1_500, 500)}, workload(name, batches=0, history=6).queries


def day_of_an_analyst() -> Asked:
    work = day.workload(1_500, 500, 3)
    tables = {name: Feed(table, static=True) for name, table in work.tables.items()}
    return {work.stream: Feed(work.table, work.history, work.batch, time=work.time)} | tables, work.queries


def main(address: str, set_: str, count: int) -> None:
    warnings.simplefilter("ignore")
    use_java()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_TESTING"] = "1"  # any free port
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"--driver-java-options '{QUICK_START}' pyspark-shell"
    builder = SparkSession.builder.remote(address)
    for key, value in SERVER.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    print(f"the Spark is of {type(spark).__module__}", flush=True)
    feeds, queries = day_of_an_analyst() if set_ == "day" else set_of(set_)
    cases = {query.name: Case(query.sql, query.duckdb_sql, query.dialect) for query in spread(queries, count)}
    with Oracle(spark, feeds, limits=BY_SPARK) as oracle:
        refused = dict[str, str]()
        for name, case in cases.items():
            try:
                oracle.register({name: case}, check=False)
            except WorkbenchError as problem:
                refused[name] = str(problem)
        oracle.run(3 if LONG else 2, check=False)
        oracle.check_changes()
        oracle.check_results()
        print(
            f"{len(oracle.watched)} queries equal the oracle's in every batch, {len(refused)} are refused", flush=True
        )
        for name, why in refused.items():
            print(f"{name}: {why}", flush=True)
        try:
            oracle.session.add_function("twice", lambda value: 2 * value, returns="bigint")
        except EngineError as problem:
            print(f"functions: {problem.message}", flush=True)
    # Clients of Connect say goodbye at the end of the process, and ask a server that has stopped for minutes.
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
