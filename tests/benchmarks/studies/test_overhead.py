"""A session that re-plans by itself and one that never does take turns at the same batches."""

from __future__ import annotations

import json
from pathlib import Path

from long import rare
from pyspark.sql import SparkSession

from benchmarks.__main__ import main
from benchmarks.studies.overhead import ADAPTIVE, NEVER, Planning
from workbench.experiments.workload import workload

SMALL = ["--history", "2000", "--batch", "500", "--batches", "2", "--queries", "6"]


def test_batches_are_compared_by_their_median_and_in_all() -> None:
    work = workload("fed-manual", batches=0, history=6)
    measured = Planning(work, {ADAPTIVE: [1.0, 1.5, 11.0], NEVER: [1.0, 1.0, 1.0]}, [3], 2)
    assert (measured.overhead, measured.overhead_in_all) == (1.5, 4.5)


@rare
def test_a_small_run(spark: SparkSession, tmp_path: Path) -> None:
    assert main(["-o", str(tmp_path), "adaptive-overhead", "fed-manual", *SMALL]) == 0
    figures = json.loads((tmp_path / "adaptive-overhead.json").read_text())["fed-manual"]
    assert figures["checked"] == 8 and figures["overhead"] > 0
