"""Every experiment at a tiny size: it runs, checks its answers, and puts the thesis's figures beside its own."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest
from long import rare
from pyspark.sql import SparkSession

from workbench.errors import WorkbenchError
from workbench.experiments import runs
from workbench.experiments.registry import find_experiment
from workbench.experiments.report import Chart, Report
from workbench.experiments.studies import aggregates, sharing
from workbench.experiments.workload import workload

SMALL = {
    "aggregates": "aggregate-fed --queries 2 --step 2 --history 1500 --batch 200 --batches 1 --sample 2 --slow 1",
    "sharing": "fed-manual --queries 3 --step 2 --history 1500 --batch 200 --batches 1 --sample 2 --slow 0"
    " --configurations NonJoinS AllSharing",
    "windows": "--batches 4 --batch 60",
}
EXPECTED = {
    "aggregates": ["aggregate-fed: seconds", "T NS-IA / SIA", "unshared / shared"],
    "sharing": ["NonJoinS  AllSharing  DuckDB", "4 answers compared"],
    "windows": ["first 2", "last 2", "9 answers compared"],
}


def ran(name: str) -> Report:
    """An experiment's report at its small size."""
    parser = argparse.ArgumentParser()
    find_experiment(name).add_arguments(parser)
    return find_experiment(name).of(parser.parse_args(SMALL[name].split())).report(runs.silent)


LASTING = {"aggregates", "windows"}
"""Those that take long even when they are small."""


@pytest.mark.parametrize("name", [pytest.param(name, marks=rare if name in LASTING else ()) for name in SMALL])
def test_a_tiny_run(name: str, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "WARM_UP", 1)
    report = ran(name)
    for expected in EXPECTED[name]:
        assert expected in report.text, report.text
    files = report.write(tmp_path)
    assert [file.suffix for file in files] == [".json", ".png", ".svg"]
    figures = json.loads(files[0].read_text())
    assert figures["machine"]["cores"]
    assert len(figures) > 1


def test_the_thesis_has_as_many_figures_as_our_steps() -> None:
    for thesis, step in ((aggregates.THESIS_C4_C5, aggregates.AGGREGATES_STEP), (sharing.THESIS, sharing.STEP)):
        for name, printed in thesis.items():
            number = len(workload(name, batches=0, history=300).queries)
            assert list(printed) == [*range(step, number, step), number]
    assert all(len(figures) == len(sharing.PRINTED) for set_ in sharing.THESIS.values() for figures in set_.values())
    assert set(sharing.PRINTED) <= set(sharing.ALL)


def test_unknown_names_are_told_the_nearest() -> None:
    with pytest.raises(WorkbenchError) as caught:
        find_experiment("sped")
    assert caught.value.hint == "did you mean speed?"


def test_lines_by_number_and_bars_by_name_are_drawn(tmp_path: Path) -> None:
    charts = [
        Chart("lines", "queries", "seconds", {"ours": {1: 0.5, 10: 1.0}, "thesis": {1: 2.0}}, log_x=True),
        Chart("bars", "set", "seconds", {"ours": {"a": 0.5, "b": 1.0}, "others": {"b": 3.0}}, log_y=False),
    ]
    report = Report("drawn", "", {}, charts)
    lines, bars = report.figure().axes
    assert [list(line.get_ydata()) for line in lines.lines] == [[0.5, 1.0], [2.0]]
    assert (lines.get_xscale(), bars.get_yscale()) == ("log", "linear")
    assert [text.get_text() for text in bars.get_xticklabels()] == ["a", "b"]
    assert [patch.get_height() for patch in bars.patches] == [0.5, 1.0, 0.0, 3.0]
    assert Report("alone", "", {"figure": 1}).write(tmp_path) == [tmp_path / "alone.json"]
