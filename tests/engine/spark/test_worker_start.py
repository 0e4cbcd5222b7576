"""Workers are started once for each Spark, in the background."""

from __future__ import annotations

import subprocess
import sys

import pytest
from pyspark.sql import SparkSession

from workbench.engine.spark import worker_start
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
