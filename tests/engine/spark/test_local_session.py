"""The Spark that the workbench starts: for this user alone."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from long import rare
from pyspark.sql import SparkSession

from workbench.engine.spark.class_archive import ClassArchive
from workbench.engine.spark.java import find_java
from workbench.engine.spark.local_session import engine_session


def test_nobody_else_on_the_machine_can_talk_to_it(spark: SparkSession) -> None:
    settings = spark.sparkContext.getConf()
    assert settings.get("spark.authenticate") == "true"
    assert settings.get("spark.authenticate.secret") is None, "the secret is random, and in no setting"
    assert spark.sparkContext.uiWebUrl is None
    assert {settings.get(f"spark.driver.{where}") for where in ("host", "bindAddress")} == {"127.0.0.1"}
    sockets = settings.get("spark.python.unix.domain.socket.dir")
    assert sockets is not None and stat.S_IMODE(os.stat(sockets).st_mode) == 0o700


def test_python_workers_work_all_the_same(spark: SparkSession) -> None:
    context = spark.sparkContext
    sent, counted = context.broadcast(10), context.accumulator(0)
    rows = context.parallelize(range(4), 2)
    rows.foreach(lambda value: counted.add(value))
    assert rows.map(lambda value: value + sent.value).collect() == [10, 11, 12, 13]
    assert counted.value == 6
    assert spark.range(100).repartition(3).groupBy("id").count().count() == 100


def test_a_job_may_read_the_environment_of_workers_while_an_engine_starts(spark: SparkSession) -> None:
    """PySpark passes it to the JVM key by key, in whatever thread starts a job."""
    spark.sparkContext.environment.pop("SPARK_SIMPLIFIED_TRACEBACK", None)
    keys = iter(spark.sparkContext.environment)
    first = next(keys)
    engine_session(spark)
    assert [first, *keys]
    assert spark.sparkContext.environment["SPARK_SIMPLIFIED_TRACEBACK"] == "1"


CLASSES_OF_A_THREAD = """
from concurrent.futures import ThreadPoolExecutor
from workbench.engine.spark.local_session import local_spark

def compiled():
    spark.sparkContext.union(plans).count()
    return spark._jvm.org.apache.spark.metrics.source.CodegenMetrics.METRIC_COMPILATION_TIME().getCount()

def plan(number):
    return spark.range(1).selectExpr(*(f"id {'+' if number >> bit & 1 else '-'} 1" for bit in range(7))).rdd

spark = local_spark(cores=2)
with ThreadPoolExecutor(1) as other:
    plans = list(other.map(plan, range(110)))
first, second = compiled(), compiled()
print(first > 100, second - first)
"""


@pytest.mark.spark
def test_classes_that_a_thread_without_a_session_generates_are_kept() -> None:
    """A network has hundreds, and Spark keeps 100 unless it is told otherwise before it generates the first."""
    command = [sys.executable, "-c", CLASSES_OF_A_THREAD]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    assert run.stdout == "True 0\n"


TWO_AT_ONCE = """
from concurrent.futures import ThreadPoolExecutor
from workbench.engine.spark.local_session import local_spark

with ThreadPoolExecutor(2) as threads:
    one, two = threads.map(lambda _: local_spark(cores=1), range(2))
print(one.sparkContext is two.sparkContext, one.range(3).count(), two.range(4).count())
"""


@rare
def test_two_threads_start_one_and_a_damaged_archive_of_classes_does_not_matter(tmp_path: Path) -> None:
    java = find_java()
    assert java is not None
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    folder = tmp_path / "argus"
    folder.mkdir(0o700)
    damaged = folder / f"{ClassArchive.of(java).key}-{0:08x}.jsa"
    damaged.write_bytes(b"damaged")
    command = [sys.executable, "-c", TWO_AT_ONCE]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120, env=environment)
    assert run.stdout == "True 3 4\n" and run.stderr == "" and not damaged.exists()
