"""Freeing past rows: which segments go, which are written again, and when one is looked at, without Spark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from workbench.engine.spark.in_process import InProcess
from workbench.engine.storage import retention as pruning
from workbench.engine.storage.layout import Layout
from workbench.engine.storage.relation import Relation
from workbench.engine.storage.retention import Expiration, RetentionBound
from workbench.engine.storage.segments import open_segment, write_segments
from workbench.engine.tree import Tree
from workbench.sql.algebra.types import INTEGER
from workbench.sql.windows.bounds import MOST, Interval

LAYOUT = Layout({"t": INTEGER}, words=1)
ROOT, RICH = 1, 2
"""Words of lineage of a row that is only in the root, and of one that is in a selection too."""


def tree(folder: Path, *runs: Sequence[tuple[int | None, int]]) -> Tree:
    """A tree of rows, each with its time and its word of lineage, run by run."""
    made = []
    for rows in runs:
        batch = {"t": [t for t, _ in rows], "_batch": [0] * len(rows), "_weight": [1] * len(rows)}
        table = pa.table({**batch, "_bits0": [bits for _, bits in rows]}, LAYOUT.arrow)
        made.append(write_segments(table, folder))
    plan: Any = SimpleNamespace(name="F", roots=("F",), bits={"F": 0, "S": 1})
    return Tree(plan, Relation(InProcess(), LAYOUT, folder, tuple(made)), None)


def times(of: Tree) -> list[list[int | None]]:
    return [[t for s in run for t in open_segment(s.path).column("t").to_pylist()] for run in of.relation.runs]


def from_(low: int, *bits: int) -> RetentionBound:
    return RetentionBound(frozenset(bits or [0]), (("t", Interval(low, MOST)),))


def rows(*numbers: int | None) -> list[tuple[int | None, int]]:
    return [(number, ROOT) for number in numbers]


def test_runs_go_and_halves_are_written_again(tmp_path: Path) -> None:
    before = tree(tmp_path, rows(1, 2, 3, None), rows(4, 5, None, 7), rows(6, 7, 8, 5), rows(9, 9))
    after = before.without_expired(Expiration(), [from_(6)])
    assert times(after) == [[7], [6, 7, 8, 5], [9, 9]]
    assert after.relation.runs[1:] == before.relation.runs[2:]
    assert after.bounds == (from_(6),)
    assert times(before)[0] == [1, 2, 3, None]  # what was there is as it was


def test_nothing_past_changes_nothing(tmp_path: Path) -> None:
    before = tree(tmp_path, rows(1, 2, None), rows(4))
    assert before.without_expired(Expiration(), [from_(1)]) is before
    assert before.without_expired(Expiration(), [from_(6), RetentionBound(frozenset([0]))]) is before
    assert before.without_expired(Expiration(), [from_(6), RetentionBound(frozenset())]) is before


def test_rows_that_somebody_needs_for_good_stay(tmp_path: Path) -> None:
    before = tree(tmp_path, [(1, ROOT), (2, ROOT | RICH), (3, ROOT), (None, ROOT | RICH), (None, ROOT)])
    after = before.without_expired(Expiration(), [from_(9), RetentionBound(frozenset([0, 1]))])
    assert times(after) == [[2, None]]
    assert after.has([from_(9), RetentionBound(frozenset([1, 0]))])
    assert not after.has([from_(8)])
    assert not after.has([RetentionBound(frozenset([0]))])


def test_a_segment_is_looked_at_when_half_as_much_may_be_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[int] = []
    real = pruning.needed_rows
    monkeypatch.setattr(pruning, "needed_rows", lambda rows, need: looked.append(rows.num_rows) or real(rows, need))
    # All rows are needed for good, so nothing ever goes; it is looked at a logarithmic number of times.
    now, pruner = tree(tmp_path, [(t, ROOT | RICH) for t in range(64)]), Expiration()
    for clock in range(80):
        now = now.without_expired(pruner, [from_(clock), RetentionBound(frozenset([0, 1]))])
    assert now.relation.rows == 64
    assert len(looked) // 2 == 7  # half, a quarter, …, none of 64


def test_nothing_is_remembered_of_trees_that_are_gone(tmp_path: Path) -> None:
    expiration = Expiration()
    tree(tmp_path, rows(1, 2, 3), rows(4, 5, 9)).without_expired(expiration, [from_(3), from_(8)])
    expiration.forget(lambda name: name == "F")
    assert list(expiration.last_counts) == ["F"]
    expiration.forget(lambda name: name != "F")
    assert not expiration.last_counts
