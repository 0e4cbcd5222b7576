"""Workers are started once for each Spark, in the background."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Iterator

import psutil
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from workbench.engine.spark import worker_daemon, worker_start
from workbench.engine.spark.arrow_tasks import run_tasks
from workbench.engine.spark.worker_start import start_workers


def test_workers_are_started_once(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_start, "_STARTED", set[str]())
    thread = start_workers(spark)
    assert thread is not None and thread.daemon
    assert start_workers(spark.newSession()) is None
    thread.join(60)
    assert not thread.is_alive()


def test_all_operators_are_imported() -> None:
    text = f"import sys, {worker_start.OPERATORS}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout.split()
    for name in ("index_join", "filter_and_write", "grouped.state_update", "analytic.job", "union_all", "window"):
        assert f"workbench.engine.operators.{name}" in loaded


def test_what_goes_wrong_is_told_by_nobody(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_start, "_STARTED", set[str]())
    monkeypatch.setattr(worker_start, "OPERATORS", "workbench.engine.no_such_module")
    thread = start_workers(spark)
    assert thread is not None
    thread.join(60)
    assert not thread.is_alive()


def test_a_worker_has_the_operators_when_it_starts(spark: SparkSession) -> None:
    """It is a fork of a process that has imported them; so is one that starts after an idle minute."""

    def modules(task: int) -> Iterator[pa.RecordBatch]:
        daemon = psutil.Process().parent()
        command = "" if daemon is None else " ".join(daemon.cmdline())
        yield pa.RecordBatch.from_pydict({"daemon": [command], "frozen": [gc.get_freeze_count()]})

    (row,) = run_tasks(spark, 1, modules, "daemon string, frozen bigint").collect()
    assert worker_daemon.__name__ in row.daemon and row.frozen > 100_000
