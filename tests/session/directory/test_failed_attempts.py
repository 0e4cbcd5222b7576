"""Tasks that fail after they have written, and that Spark runs twice: answers are right, and nothing stays of them.

So do tasks that read objects that have landed.

A Spark of its own, in a process of its own, tries a task four times. In its workers a third of the attempts raises when
its rows are written, and others wait until Spark runs them a second time.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from long import rare
from servers import object_store

PROJECT = Path(__file__).parents[3]

IN_WORKERS = """
from pyspark import TaskContext
from workbench.engine.operators.filter_and_write import FilterAndWrite
from workbench.streams.live.landing import LandPart
import time, zlib
def failing(write):
    def attempt(self, given):
        answer, context = write(self, given), TaskContext.get()
        if context is not None:
            name = getattr(self, "tree", "objects")
            chance = zlib.crc32(f"{name} {context.taskAttemptId()}".encode()) % 6
            if chance < 2:
                raise ValueError("an attempt that fails")
            if chance == 2 and context.attemptNumber() == 0:
                time.sleep(1)
        return answer
    return attempt
FilterAndWrite.write = failing(FilterAndWrite.write)
LandPart.__call__ = failing(LandPart.__call__)
"""

DRIVER = """
import io, sys, time
import pyarrow as pa
from pyarrow import parquet
from pyspark.sql import SparkSession
import pytest
from session.directory.test_written_once import QUERIES, rows
from without_kernel import declare
from workbench import Session
from workbench.engine.spark.java import use_java
from workbench.files.store import ObjectStore
from workbench.limits import Limits
from workbench.session.verification.report import Outcome
from workbench.streams.arriving import files_with

use_java()
declare(pytest.MonkeyPatch())
settings = {"spark.ui.enabled": "false", "spark.speculation": "true", "spark.speculation.multiplier": "1.0",
            "spark.speculation.quantile": "0.1", "spark.speculation.interval": "50ms", "spark.task.maxFailures": "9"}
builder = SparkSession.builder.master("local[3,9]")
for name, value in settings.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
spark.sparkContext.setLogLevel("OFF")
limits = Limits(rows_stepped_in_process=0, rows_filtered_in_process=0, milliseconds_until_collected=0, rows_per_task=50,
                bytes_per_part=0, bytes_landed_in_process=1)
path, landing = sys.argv[1:]
with Session(spark, path, limits=limits) as session:
    session.add_stream("t", rows(1_000), history=400, batch=100)
    session.add_function("twice", lambda value: 2 * value, returns="bigint")
    session.register_many(QUERIES)
    session.run(6)
    for name in QUERIES:
        if name != "function":
            assert session.verify(name).outcome is Outcome.SAME, name
    named = session.parts.store.last.engine.files | session.parts.store.kept.files
    there = {str(file) for file in (session.path / "state").rglob("*.arrow")}
    assert named == there, (len(named), len(there))
    store = ObjectStore(landing)
    def land(first, each):
        data = io.BytesIO()
        parquet.write_table(pa.table({"id": range(first, first + each)}), data)
        store.put(f"{first:06}.parquet", data.getvalue())
    land(0, 1)
    session.add_stream("u", f"{landing}/*.parquet", batch=1_000)
    query = session.register("SELECT COUNT(*) AS n, SUM(id) AS s FROM u", name="landed")
    for first in range(1, 61):
        land(first, 1)
        if first % 20 == 0:
            while session.run(1):
                pass
    time.sleep(3)  # Spark does not wait for an attempt that was one too many
    land(61, 1)
    session.run(1)
    assert query.result().to_numpy().tolist() == [[62, 62 * 61 // 2]]
    log = session.parts.store.state.stream("u").log
    named = {file.path for file in files_with(log, range(log.rows))}
    assert named and named == {*log.folder.glob("*.parquet")}, (len(named), [*log.folder.iterdir()])
spark.stop()
print("right, and nothing left")
"""


@rare
@pytest.mark.spark
@pytest.mark.timeout(600)
def test_attempts_that_fail_or_run_twice_leave_nothing(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(IN_WORKERS)
    paths = os.pathsep.join(map(str, (tmp_path, PROJECT, PROJECT / "tests")))
    (tmp_path / "weed").mkdir()
    with object_store(tmp_path / "weed") as bucket:
        driver = subprocess.run(
            [sys.executable, "-c", DRIVER, str(tmp_path / "session"), f"{bucket}/landing"],
            env=os.environ | {"PYTHONPATH": paths, "PYSPARK_PYTHON": sys.executable},
            capture_output=True,
            text=True,
            timeout=580,
            check=False,
        )
    assert driver.returncode == 0, driver.stderr[-4000:]
    assert "right, and nothing left" in driver.stdout
