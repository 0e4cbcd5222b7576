"""The analyst's day on a few flights: every question is accepted, kept up, and answered as DuckDB answers it."""

from __future__ import annotations

from pathlib import Path

import pytest
from long import rare
from pyspark.sql import SparkSession

from benchmarks.studies import day
from workbench.engine.reports import BatchReport, OperatorReport
from workbench.experiments import runs


@rare
def test_a_short_day(spark: SparkSession, flight_files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "WARM_UP", 1)
    report = day.AnalystsDay(history=20, batch=2, batches=1, folder=str(flight_files)).report(runs.silent)
    assert "25 answers compared with DuckDB's" in report.text
    assert report.figures["checked"] == 25
    assert "jobs a batch" in report.text


def test_the_slowest_operators_are_named_by_their_queries() -> None:
    slow = OperatorReport("S", ("S", "T"), 9, 4, 3.0)
    quick = [OperatorReport(f"Q{i}", (f"Q{i}",), 1, 1, 0.125) for i in range(day.SLOWEST_LISTED + 1)]
    readers = {"S": ["a", "b"], "T": ["c", "b", "d"]}
    text = day.operators([BatchReport(1, 9, 9.0, (*quick, slow))], readers).splitlines()
    assert text[1].split() == ["a,", "b,", "c", "and", "1", "more", "3.00", "0.73", "9"]
    assert text[-1].split()[:3] == ["2", "others", "0.25"]
