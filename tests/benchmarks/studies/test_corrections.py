"""Corrections are measured on a few rows, and answers are checked over the rows as they are at the end."""

from __future__ import annotations

import pytest
from long import rare
from pyspark.sql import SparkSession

from benchmarks.studies import corrections
from workbench.experiments import runs


@rare
def test_a_small_run(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "WARM_UP", 1)
    study = corrections.CorrectedStreams(queries=(3,), history=300, batch=40, batches=1, part=(0.1, 0.5))
    report = study.report(runs.silent)
    figures = report.figures["3"]
    assert isinstance(figures, dict) and figures["checked"] == 3
    assert [*figures["by_part"]] == [0.0, 0.1, 0.5] and "50% updated, ratio" in report.text
