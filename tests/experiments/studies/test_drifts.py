"""Re-planning is measured on a few rows of each drift, and answers are checked half way and at the end."""

from __future__ import annotations

import argparse
from itertools import pairwise

import pytest
from long import rare
from pyspark.sql import SparkSession

from workbench.experiments.studies.drifts import (
    ADAPTIVE,
    BEST,
    DRIFTS,
    NEVER,
    Adaptive,
    MeasuredDrift,
    Taken,
    drifted,
    phases,
    streams,
)


def chosen(words: str) -> Adaptive:
    """What a line of the experiment's options says."""
    parser = argparse.ArgumentParser()
    Adaptive.add_arguments(parser)
    return Adaptive.of(parser.parse_args(words.split()))


@pytest.mark.parametrize(
    ("drift", "parts", "starts"),
    [
        ("stationary", [0] * 12, [0]),
        ("sudden", [0] * 6 + [1] * 6, [0, 6]),
        ("oscillation", [0, 0, 1, 1] * 3, [0, 2, 4, 6, 8, 10]),
    ],
)
def test_rows_turn_at_once_or_to_and_fro_or_never(drift: str, parts: list[float], starts: list[int]) -> None:
    assert drifted(drift, 12) == parts and phases(parts) == starts


def test_rows_turn_slowly_between_two_quarters_without_drift() -> None:
    parts = drifted("slow", 12)
    assert parts[:4] == [0] * 4 and parts[-3:] == [1] * 3 and parts == sorted(parts) and phases(parts) == [0, 6]
    assert max(after - before for before, after in pairwise(parts)) < 0.2


def test_selections_swap_with_the_rows_that_turn() -> None:
    rows = streams(history=2_000, batch=100, parts=drifted("sudden", 20), keys=50)
    assert {table.num_rows for table in rows.values()} == {4_000}
    parts = {
        name: [sum(rows[name]["chosen"].to_pylist()[half]) / size for half, size in halves]
        for name in ("clicks", "refunds")
        for halves in [((slice(0, 3_000), 3_000), (slice(3_000, None), 1_000))]
    }
    assert parts["clicks"][0] < 0.05 < 0.5 < parts["clicks"][1]
    assert parts["refunds"][1] < 0.05 < 0.5 < parts["refunds"][0]


def test_phases_are_compared_once_they_have_settled() -> None:
    taken = {
        NEVER: Taken([9.0] * 5 + [1.0] * 3 + [8.0] * 8, 1.0),
        ADAPTIVE: Taken([9.0] * 5 + [1.0] * 3 + [9.0] * 5 + [2.0] * 3, 9.0),
        BEST: Taken([9.0] * 5 + [1.0] * 3 + [1.0] * 8, 5.0),
    }
    measured = MeasuredDrift([0, 8], taken, 0)
    assert [measured.settled(name) for name in taken] == [[1, 8], [1, 2], [1, 1]]
    assert [*measured.ratios().values()] == [2, 4, 108 / 113, 108 / 61]


def test_a_phase_shorter_than_settling_takes_is_its_last_batch() -> None:
    assert MeasuredDrift([0, 2], {NEVER: Taken([3.0, 2.0, 5.0])}, 0).settled(NEVER) == [2, 5]


def test_every_drift_is_run_unless_some_are_chosen() -> None:
    assert chosen("").drift == (*DRIFTS,) and chosen("--drift slow sudden").drift == ("slow", "sudden")


@rare
def test_a_small_run(spark: SparkSession) -> None:
    report = chosen("--history 200 --batch 40 --batches 6 --keys 20 --drift sudden stationary").report(
        lambda line: None
    )
    assert [*report.figures] == ["options", "sudden", "stationary"] and len(report.charts) == 2
    for drift, starts in (("sudden", [0, 3]), ("stationary", [0])):
        figures = report.figures[drift]
        assert isinstance(figures, dict) and figures["checked"] == 6 and figures["starts"] == starts
        assert figures["taken"][NEVER]["replanned"] == []
        assert (figures["taken"][BEST]["replanned"] == [3]) == (drift == "sudden")
        assert f"{ADAPTIVE} / {BEST}, worst phase" in report.text
