"""Every benchmark at a tiny size: it runs, and checks its answers."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest
from long import rare
from pyspark.sql import SparkSession

from benchmarks.registry import BENCHMARKS
from workbench.experiments import runs

SMALL = {
    "peers": "workbench DuckDB --views 1 2 --history 200 --batch 40 --batches 1",
    "workers": "--views 1 --history 200 --batch 400 --batches 1",
    "nexmark": "--size 300 --batches 1 --share 0.2 --queries q00 q12 --alone",
}
EXPECTED = {
    "peers": ["kept up", "queries run again", "14 answers compared"],
    "nexmark": ["nexmark: 2 queries", "DuckDB again", "2 answers compared"],
    "workers": ["3 queries over payments, batches of 400; 6 answers equal", "workers of one core"],
}
LASTING = {"workers"}
"""Those that take long even when they are small."""


@pytest.mark.parametrize("name", [pytest.param(name, marks=rare if name in LASTING else ()) for name in SMALL])
def test_a_tiny_run(name: str, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "WARM_UP", 1)
    parser = argparse.ArgumentParser()
    BENCHMARKS[name].add_arguments(parser)
    report = BENCHMARKS[name].of(parser.parse_args(SMALL[name].split())).report(runs.silent)
    for expected in EXPECTED[name]:
        assert expected in report.text, report.text
    files = report.write(tmp_path)
    assert [file.suffix for file in files] == [".json", ".png", ".svg"]
    assert len(json.loads(files[0].read_text())) > 1
