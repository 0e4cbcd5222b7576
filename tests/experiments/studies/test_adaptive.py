"""Re-planning is measured on a few rows: the selections swap, and answers are checked after each half."""

from __future__ import annotations

import argparse

import pytest
from long import rare
from pyspark.sql import SparkSession

from workbench.experiments import runs
from workbench.experiments.studies import adaptive
from workbench.experiments.studies.adaptive import ADAPTIVE, BEST, END, NEVER, Taken, streams


def test_selections_swap_half_way() -> None:
    rows = streams(history=2_000, batch=100, batches=10, keys=50)
    assert {table.num_rows for table in rows.values()} == {4_000}
    parts = {
        name: [sum(rows[name]["chosen"].to_pylist()[half]) / size for half, size in halves]
        for name in ("clicks", "refunds")
        for halves in [((slice(0, 3_000), 3_000), (slice(3_000, None), 1_000))]
    }
    assert parts["clicks"][0] < 0.05 < 0.5 < parts["clicks"][1]
    assert parts["refunds"][1] < 0.05 < 0.5 < parts["refunds"][0]


def test_halves_and_their_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "WARM_UP", 1)
    taken = Taken([9.0, 1.0, 1.0, 5.0, 5.0, 2.0])
    assert (taken.first(), taken.second(), taken.end()) == (1.0, 5.0, 2.0) and round(3 * END) == 1


@rare
def test_a_small_run(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "WARM_UP", 1)
    parser = argparse.ArgumentParser()
    adaptive.add_arguments(parser)
    words = "--history 200 --batch 40 --batches 3 --keys 20"
    report = adaptive.report(parser.parse_args(words.split()), lambda line: None)
    assert report.figures["checked"] == 6
    assert report.figures["replanned_after"][NEVER] == []  # type: ignore[index]
    ratios = report.figures["ratios"]
    assert isinstance(ratios, dict) and [*ratios] == [f"{ADAPTIVE} / {NEVER}", f"{ADAPTIVE} / {BEST}"]
    assert "its end" in report.text and report.charts
