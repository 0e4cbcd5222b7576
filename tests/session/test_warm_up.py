"""Warming up runs every kind of query once, on a Spark that it leaves as it was."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from workbench.session.session import Session
from workbench.session.startup import warm_up as module
from workbench.session.startup.warm_up import WARM_UP_QUERIES, warm_up


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The texts that sessions register; their temporary folders are in one of the test."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    texts: list[str] = []

    class Watched(Session):
        def register(self, sql, *args, **kwargs):  # type: ignore[no-untyped-def]
            texts.append(sql)
            return super().register(sql, *args, **kwargs)

    monkeypatch.setattr(module, "Session", Watched)
    return texts


def test_all_kinds_of_queries_run_and_nothing_stays(spark: SparkSession, registered: list[str], tmp_path: Path) -> None:
    warm_up(spark)
    assert registered == list(WARM_UP_QUERIES)
    assert not list(tmp_path.iterdir()) and not spark.catalog.listTables()
    assert spark.range(3).count() == 3


def test_it_ends_when_it_is_not_to_go_on(spark: SparkSession, registered: list[str], tmp_path: Path) -> None:
    answers = iter([True, False, False])
    warm_up(spark, lambda: next(answers))
    assert registered == [WARM_UP_QUERIES[0]]
    assert not list(tmp_path.iterdir())
