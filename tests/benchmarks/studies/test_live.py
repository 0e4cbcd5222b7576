"""Live running is measured on a few rows, and their answers are checked."""

from __future__ import annotations

from pathlib import Path

import pytest
from long import LONG
from pyspark.sql import SparkSession

from benchmarks.peers.live import LiveOutcome
from benchmarks.studies import live
from benchmarks.studies.live import Moment, worked_off
from workbench.errors import WorkbenchError
from workbench.experiments import runs
from workbench.experiments.workload import Workload


@pytest.mark.skipif(not LONG, reason="ARGUS_LONG plays live for some seconds")
def test_a_small_run(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "WARM_UP", 1)
    monkeypatch.setattr(live, "join", live.selection)  # one query alone is enough
    monkeypatch.setattr(live, "DEEPHAVEN", _not_installed)
    study = live.LiveRates(queries=2, history=200, rows=900, latency=(30.0,), seconds=1, slow=50, fast=500, burst=1)
    report = study.report(runs.silent)
    figures = report.figures["30 s"]
    assert isinstance(figures, dict) and figures["checked"] == 6 and figures["capacity"] > 0
    assert "kept up" in report.text and len(report.charts) == 2
    alone = report.figures["alone"]
    assert isinstance(alone, dict) and alone["selection"]["Structured Streaming"] > 0
    assert alone["selection"]["Deephaven"] is None


def _not_installed(work: Workload, installed: Path) -> LiveOutcome:
    raise WorkbenchError("no wheel for this machine")


def test_when_a_burst_was_worked_off() -> None:
    moments = [Moment(1, 10, 0.3), Moment(5, 900, 3.0), Moment(7, 500, 2.0), Moment(9, 5, 0.2)]
    assert worked_off(moments, after=4) == 5
    assert worked_off(moments[:3], after=4) is None
