"""The rows of the cost matrix that are off the fast path are those that are known to be; a third in each run."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from long import LONG

from benchmarks.gate.matrix import load, off_the_fast_path, slowed_down, write
from benchmarks.query_sets.kinds import kinds
from workbench.engine.spark.in_process import NeedsSparkError
from workbench.session.query import Query
from workbench.session.session import Session


def test_no_row_is_off_that_was_not() -> None:
    rows = kinds() if LONG else kinds()[int(os.environ["ARGUS_SEED"]) % 3 :: 3]
    assert not set(off_the_fast_path(rows)) - set(load()), "these fell off the fast path"


def test_no_query_costs_another_its_fast_path() -> None:
    """Of all pairs, in both orders, some in each run."""
    chosen, rows = random.Random(int(os.environ["ARGUS_SEED"])), kinds()
    few = rows if LONG else chosen.sample(rows, 5)
    assert slowed_down(few, rows if LONG else chosen.sample(rows, 8)) == []


def test_a_query_that_costs_another_its_fast_path_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planner whose shared aggregates need Spark wherever one of their readers has a median."""
    first, second = (
        next(kind for kind in kinds() if kind.name == name) for name in ("MEDIAN INTEGER, few", "COUNT *, few")
    )
    register = Session.register

    def spoiled(self: Session, sql: str, name: str) -> Query:
        if sql == second.sql and "stays" in self.queries and "MEDIAN" in self.query("stays").sql:
            raise NeedsSparkError("a node of both reads all rows")
        return register(self, sql, name)

    monkeypatch.setattr(Session, "register", spoiled)
    assert slowed_down([first, second], [first, second]) == [(first.name, second.name)]


def test_the_list_names_rows_of_the_matrix() -> None:
    assert set(load()) <= {kind.name for kind in kinds()}


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write(["MODE, few"], tmp_path / "off.json")
    assert load(tmp_path / "off.json") == ["MODE, few"]
