"""The Spark that the workbench starts: for this user alone."""

from __future__ import annotations

import os
import stat

from pyspark.sql import SparkSession


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
