"""Sessions that differ in one thing take turns at the same batches: with re-planning or without, in which order."""

from __future__ import annotations

import json
from pathlib import Path

from long import rare
from pyspark.sql import SparkSession

from workbench.experiments.__main__ import main
from workbench.experiments.studies.replanning.orders import TOGETHER
from workbench.experiments.studies.replanning.orders import Measured as Order
from workbench.experiments.studies.replanning.overhead import ADAPTIVE, NEVER
from workbench.experiments.studies.replanning.overhead import Measured as Overhead
from workbench.experiments.workload import workload

SMALL = ["--history", "2000", "--batch", "500", "--batches", "2", "--queries", "6"]


def test_batches_are_compared_by_their_median_and_in_all() -> None:
    work = workload("fed-manual", batches=0, history=6)
    measured = Overhead(work, {ADAPTIVE: [1.0, 1.5, 11.0], NEVER: [1.0, 1.0, 1.0]}, [3], 2)
    assert (measured.overhead, measured.overhead_in_all) == (1.5, 4.5)
    order = Order({}, {}, {TOGETHER: [2.0, 2.0, 9.0], "order 1": [3.0, 3.0, 1.0]})
    assert order.ratio("order 1") == 1.5


@rare
def test_small_runs(spark: SparkSession, tmp_path: Path) -> None:
    assert main(["-o", str(tmp_path), "adaptive-overhead", "fed-manual", *SMALL]) == 0
    figures = json.loads((tmp_path / "adaptive-overhead.json").read_text())["fed-manual"]
    assert figures["checked"] == 8 and figures["overhead"] > 0
    assert main(["-o", str(tmp_path), "order-batches", "--orders", "2", *SMALL]) == 0
    figures = json.loads((tmp_path / "order-batches-fed-manual.json").read_text())
    assert figures["checked"] == 12
    sizes = [one["size"] for one in figures["planned_anew"].values()]
    assert sizes == [sizes[0]] * 3
