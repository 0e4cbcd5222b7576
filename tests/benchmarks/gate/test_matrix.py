"""The rows of the cost matrix that are off the fast path are those that are known to be; a third in each run."""

from __future__ import annotations

import os
import random
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from long import LONG, one_in

from benchmarks.gate.matrix import MATRIX_LIMITS, load, matrix_session, needs_spark, off_the_fast_path, write
from benchmarks.query_sets.kinds import KindOfQuery, kinds
from workbench.engine.spark.in_process import NeedsSparkError
from workbench.limits import Limits
from workbench.options import Options
from workbench.session.query import Query
from workbench.session.session import Session


@pytest.mark.slow
def test_no_row_is_off_that_was_not() -> None:
    rows = one_in(3, kinds())
    assert not set(off_the_fast_path(rows)) - set(load()), "these fell off the fast path"


def slowed_down(chosen: Iterable[KindOfQuery], beside: Sequence[KindOfQuery]) -> list[tuple[str, str]]:
    """The pairs of which one query falls off the fast path beside the other, where both are on it alone.

    Each of the chosen ones stays while one after the other of those beside it is registered, shared with it as far as
    it can be, and dropped. What both read is computed anew then, for both.
    """
    off, found = set(load()), list[tuple[str, str]]()
    with matrix_session(Options()) as session:
        for kind in chosen:
            if kind.name in off:
                session.parts.jobs.limits = Limits()  # what is slow here for many rows has few
            session.register(kind.sql, name="stays")
            session.parts.jobs.limits = MATRIX_LIMITS
            found += [
                (kind.name, other.name) for other in beside if other.name not in off and needs_spark(session, other)
            ]
            session.drop("stays")
    return found


@pytest.mark.slow
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
