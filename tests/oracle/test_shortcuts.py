"""Whichever way the engine computes an answer, the answer is the same: every limit that chooses a way is forced.

The engine computes small amounts otherwise than large ones: in the driver, in one task, by a plan that is kept. The
oracle's rows are few, so what is meant for many would hardly run there.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from long import LONG
from oracle.class_queries import ALL
from oracle.combined_queries import COMBINED
from oracle.harness import Oracle
from oracle.test_combinations import ALWAYS, feeds
from pyspark.sql import SparkSession

from workbench.engine.physical.row_tests import RowTests, over_pairs
from workbench.limits import Limits
from workbench.sql.algebra.expressions import Column

MOST = 10**9
CHOICES = (
    "values_evaluated_in_process", "rows_filtered_in_process", "rows_found_in_process", "rows_scanned_in_process",
    "rows_stepped_in_process", "rows_merged_in_process", "rows_per_task", "rows_grouped_together",
    "rows_hydrated_in_process", "rows_logged_in_process", "rows_checked_in_process", "rows_kept_open",
)  # fmt: skip
"""Limits of numbers of rows or pairs: up to it one way, beyond it another."""
BESIDE = "own workers step beside the driver"
MERGED_SOON = {"runs_per_merge": 2, "runs_merged_later": 1}
LIMITS = {
    "rows are few": Limits(**dict.fromkeys(CHOICES, MOST), **MERGED_SOON),
    "rows are many": Limits(**dict.fromkeys(CHOICES, 0), **MERGED_SOON),
    "Spark evaluates all rows": Limits(pairs_tested_early=0),  # few candidates are tested as many are
    "one segment a row": Limits(rows_per_segment=1, bytes_per_segment=0, rows_handed_on=1),
    BESIDE: Limits(milliseconds_stepped_alone=0, **MERGED_SOON),
    "threads step over them": Limits(rows_stepped_in_process=1, times_stepped_by_threads=MOST, rows_per_task=MOST),
}
WAYS: dict[str, dict[str, object]] = {
    **{way: {} for way in LIMITS},
    "Spark tests all pairs": {"residual_tests": lambda tested, paths: RowTests(by_spark=over_pairs(tested))},
    "Spark evaluates all rows": {"needs_no_spark": lambda expression: isinstance(expression, Column)},
}
"""Functions of the engine that decide otherwise, beside ``LIMITS``."""
SHORT = ["rows are many", "Spark tests all pairs", "Spark evaluates all rows", "threads step over them", BESIDE]
FIRST = {name for name in ALL if name.startswith(("join", "outer", "subquery"))}
"""Of the classes, those that are joined: most of the limits are about pairs."""


def force(monkeypatch: pytest.MonkeyPatch, values: dict[str, object]) -> None:
    """Set names in every module of the engine that has them."""
    modules = [module for name, module in sys.modules.items() if name.startswith("workbench.engine.")]
    for name, value in values.items():
        own = [module for module in modules if hasattr(module, name)]
        assert own, name
        for module in own:
            monkeypatch.setattr(module, name, value)


@pytest.mark.parametrize("way", WAYS if LONG else SHORT)
def test_all_ways_give_the_same(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, way: str
) -> None:
    force(monkeypatch, WAYS[way])
    if way == BESIDE:
        request.getfixturevalue("own_worker")
    asked = {**ALL, **COMBINED}
    order = sorted(asked) if LONG else [*sorted(ALWAYS)[::6], *sorted(FIRST)[::20]]
    with Oracle(spark, feeds(7), path=tmp_path / "session", limits=LIMITS.get(way, Limits())) as oracle:
        oracle.register({name: asked[name] for name in order[::2]})
        oracle.run(2)
        oracle.register({name: asked[name] for name in order[1::2]})
        oracle.run(1)
        oracle.check_changes()
