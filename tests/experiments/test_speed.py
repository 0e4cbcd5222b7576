"""The speed experiment: it runs, says what was scaled, and gives no figure for an answer that is wrong."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from workbench.errors import WorkbenchError
from workbench.experiments import speed


def test_a_small_run(spark: SparkSession) -> None:
    measured = speed.measure("fed-manual", history=2_000, queries=4, batches=1, sample=2)
    assert (measured.queries, measured.history, len(measured.batch_seconds)) == (4, 2_000, 1)
    assert measured.sampled == {"unshared": 2, "Spark": 2}
    assert set(measured.competitors) == {"DuckDB", "unshared", "Spark"}
    assert all(seconds > 0 for seconds in measured.competitors.values())
    assert "from 2 queries" in str(measured)


def test_a_wrong_answer_gives_no_figure(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    right = speed._duckdb

    def wrong(*arguments: object) -> object:
        seconds, digests = right(*arguments)  # type: ignore[arg-type]
        return seconds, {name: (rows, digest + 1) for name, (rows, digest) in digests.items()}

    monkeypatch.setattr(speed, "_duckdb", wrong)
    with pytest.raises(WorkbenchError, match="2 answers are not DuckDB's"):
        speed.measure("fed-manual", history=1_000, queries=2, batches=1, sample=0)
