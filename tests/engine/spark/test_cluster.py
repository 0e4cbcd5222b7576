"""A real cluster: Spark's standalone master and two workers on this machine, one of which is lost on the way."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark
import pytest
from long import rare
from pyspark.sql import SparkSession

from workbench.engine.spark.cluster import prepare_workers, unready
from workbench.engine.spark.java import use_java

PROJECT = Path(__file__).parents[3]
SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
MASTER, WORKER = "org.apache.spark.deploy.master.Master", "org.apache.spark.deploy.worker.Worker"


@contextmanager
def spark_process(folder: Path, name: str, *arguments: str) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """A master or worker with its log; it knows nothing of this project, and ends with the block."""
    log = folder / f"{name}.log"
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    with log.open("wb") as out:
        process = subprocess.Popen(
            [SPARK_CLASS, *arguments], cwd=folder, env=clean | {"SPARK_WORKER_DIR": str(folder)}, stdout=out, stderr=out
        )
    try:
        yield process, log
    finally:
        process.kill()
        process.wait()


def logged(log: Path, pattern: str, seconds: float = 180) -> re.Match[str]:
    """Wait until something is in a log."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := re.search(pattern, log.read_text(errors="replace")):
            return found
        time.sleep(0.1)
    raise AssertionError(f"{log.name} has no {pattern}:\n{log.read_text(errors='replace')[-2000:]}")


@rare
@pytest.mark.spark
@pytest.mark.timeout(900)
def test_queries_on_a_cluster_that_loses_a_worker(tmp_path: Path) -> None:
    use_java()
    local = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
    with spark_process(tmp_path, "master", MASTER, *local) as (_, master_log):
        address = logged(master_log, r"Starting Spark master at (spark://\S+)")[1]
        worker = (WORKER, *local, "--cores", "1", "--memory", "1g", address)
        with (
            spark_process(tmp_path, "kept", *worker) as (_, kept_log),
            spark_process(tmp_path, "lost", *worker) as (
                lost,
                lost_log,
            ),
        ):
            logged(kept_log, "Successfully registered with master")
            logged(lost_log, "Successfully registered with master")
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
