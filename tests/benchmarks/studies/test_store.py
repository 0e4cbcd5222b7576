"""Sessions in stores and with followers: their answers are DuckDB's, and requests are counted."""

from __future__ import annotations

import pytest
from long import rare

from benchmarks.studies.store import OfStores
from workbench.experiments import runs


@rare
def test_a_few_queries_and_followers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "WARM_UP", 1)
    study = OfStores(queries=3, history=1_000, batches=2, latency=(0, 1), followers=2, requested=2)
    report = study.report(runs.silent)
    assert "30 answers equal DuckDB's" in report.text
    assert {"folder", "store, 0 ms", "store, 1 ms", "store, followed"} < report.figures.keys()
