"""A real cluster: Spark's standalone master and two workers on this machine, one of which is lost on the way."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from long import rare
from pyspark.sql import SparkSession

from benchmarks.standalone import cluster
from workbench.engine.spark.cluster import prepare_workers, unready

PROJECT = Path(__file__).parents[3]


@rare
@pytest.mark.spark
@pytest.mark.timeout(900)
def test_queries_on_a_cluster_that_loses_a_worker(tmp_path: Path) -> None:
    with cluster(tmp_path, 2) as (address, (lost, _)):
        driver = subprocess.run(
            [sys.executable, Path(__file__).with_name("cluster_driver.py"), address, str(lost.pid)],
            env=os.environ | {"PYTHONPATH": os.pathsep.join([str(PROJECT), str(PROJECT / "tests")])},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=850,
            check=False,
        )
        assert driver.returncode == 0, driver.stderr[-4000:]
        assert lost.wait(10) == -signal.SIGKILL
        assert re.search(r"workers import \S+workbench\.zip", driver.stdout), driver.stdout
        assert re.search(r"\d\d queries equal the oracle's in every batch, [1-9]\d* with answers", driver.stdout)


def test_a_local_spark_needs_no_preparation(spark: SparkSession, tmp_path: Path) -> None:
    prepare_workers(spark, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_workers_lack_is_named(spark: SparkSession, tmp_path: Path) -> None:
    assert unready(spark.sparkContext, tmp_path) == []
    folder, module = unready(spark.sparkContext, tmp_path / "elsewhere", modules=["numpy", "no_such_module"])
    assert re.fullmatch(r"\S+elsewhere cannot be written on \S+", folder)
    (unread,) = unready(spark.sparkContext, tmp_path / "elsewhere", writing=False)
    assert re.fullmatch(r"\S+elsewhere cannot be read on \S+", unread)
    assert re.fullmatch(r"no_such_module is not installed on \S+", module)
