"""Runs in a process of its own, as the driver of a real cluster: many queries, a worker lost, the oracle's answers.

``python cluster_driver.py MASTER PID [ADDRESS]``: the master's address; the process of the worker to kill between
batches; where the session lives, and the driver's temporary folder is one that the workers do not see. Then they also
lose between batches what they have fetched.
The workers find the package in no other way than that the session sends it to them.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from pathlib import Path

from long import LONG
from oracle.harness import Case, Feed, Oracle
from pyarrow import parquet
from pyspark.sql import SparkSession

from workbench import Session
from workbench.engine.spark.java import use_java
from workbench.experiments.workload import spread, workload
from workbench.limits import LIMITS, Limits

SAMPLES = Path(__file__).parents[3] / "sample_data"
QUERIES = int(os.environ.get("ARGUS_CLUSTER_QUERIES", "50" if LONG else "10"))
QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""For JVMs that end after a minute."""
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executor.memory": "512m",
    "spark.driver.extraJavaOptions": QUICK_START,
    "spark.executor.extraJavaOptions": QUICK_START,
    "spark.locality.wait": "0s",
    # A worker that is lost should be missed at once, not after two minutes.
    "spark.network.timeout": "20s",
    "spark.network.timeoutInterval": "5s",
    "spark.executor.heartbeatInterval": "2s",
}
BY_SPARK = Limits(rows_stepped_in_process=0, rows_filtered_in_process=0, rows_hydrated_in_process=0, rows_per_task=500)


def lose_files(task: int) -> int:
    """Remove what this worker's executor has of the store; how many folders that were."""
    folders = [*Path(os.environ["SPARK_LOCAL_DIRS"].partition(",")[0]).glob("argus-*")]
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    return len(folders)


def main(master: str, victim: int, address: str | None = None) -> None:
    use_java()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(master).appName("argus-cluster-test")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    spark.sparkContext.environment.update({name: os.environ[name] for name in os.environ if name.startswith("AWS_")})
    rows = parquet.read_table(SAMPLES / "fed.parquet").slice(0, 3_000)
    chosen = spread(workload("fed-manual", batches=0, history=6).queries, QUERIES)
    cases = {query.name: Case(query.sql, query.duckdb_sql, query.dialect) for query in chosen}
    feeds = {"FedWireTrans": Feed(rows, 1_500, 500)}
    with Oracle(spark, feeds, path=address, limits=LIMITS if address is None else BY_SPARK) as oracle:
        path = oracle.session.path
        seen = spark.sparkContext.parallelize([0], 1).map(lambda _: path.exists()).collect()
        print(f"workers see the folder: {seen[0]}", flush=True)
        where = spark.sparkContext.parallelize([0], 1).map(lambda _: __import__("workbench").__file__).collect()[0]
        print(f"workers import {where}", flush=True)
        oracle.register(cases, check=False)
        oracle.run(1, check=False)
        if address is not None:
            print(f"workers lose {sum(spark.sparkContext.parallelize(range(8), 8).map(lose_files).collect())} folders")
        os.kill(victim, signal.SIGKILL)
        print("a worker is gone", flush=True)
        oracle.run(1, check=False)
        oracle.check_changes()
        if address is not None:  # from the store alone
            oracle.session.close()
            oracle.follow(Session.open(address, spark, limits=BY_SPARK))
            oracle.check_results()
            oracle.run(1, check=False)
            oracle.check_results()
        answered = sum(bool(watched.expected[oracle.batch]) for watched in oracle.watched.values())
        print(f"{len(oracle.watched)} queries equal the oracle's in every batch, {answered} with answers", flush=True)
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
