"""The cost matrix: one row is measured, what was measured is not measured again, and the page says all of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from benchmarks.gate import matrix
from benchmarks.query_sets.kinds import kinds
from benchmarks.studies.cost import Cost, Measured, append, costly, page, read
from workbench.experiments import runs

ONE = Measured("COUNT *, few", "aggregates, few groups", 100, 5, 0.0, 0.01, 0.03, 0.02, 1.0, 0.0, 0.02, True)


def test_what_is_appended_is_read_and_the_latest_counts(tmp_path: Path) -> None:
    for seconds in (1.0, 2.0):
        append(Measured(**{**vars(ONE), "driver": seconds}), tmp_path / "new" / "cost.jsonl")
    (one,) = read(tmp_path / "new" / "cost.jsonl")
    assert one.driver == 2.0 and one.key == ONE.key
    assert read(tmp_path / "none") == []


def test_the_page_has_each_family_and_what_is_off_the_fast_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix, "load", lambda: ["bands"])
    text = page([ONE])
    assert "## Aggregates, few groups\n" in text
    assert "| COUNT *, few | 100 | 5 | 0% | 0.01 | 0.03 | 0.02 | 0.06 | 1.2e+04 | – | – | 1 | 0 | 3 | equal |" in text
    assert f"of {len(kinds())}, found without Spark" in text
    assert "bands" in text.split("## Off the fast path")[1]


def test_costly_rows_are_named() -> None:
    dear = Measured(**{**vars(ONE), "kind": "SUM", "jvm": 1.0})
    grown = Measured(**{**vars(ONE), "history": 1_000, "jvm": 0.08})
    others = [Measured(**{**vars(ONE), "kind": name}) for name in "abc"]
    assert costly([ONE, dear, grown, *others]) == {
        "SUM": "17.2 times its family",
        "COUNT *, few": "1.8 times over 10 times the history",
    }


def test_an_answer_that_changes_in_many_rows_costs_them() -> None:
    counted = [Measured(**{**vars(ONE), "kind": name, "changes": 5.0}) for name in "abc"]
    moving = Measured(**{**vars(ONE), "kind": "RANK", "jvm": 1.0, "changes": 500.0})
    assert costly([*counted, moving]) == {}


def test_a_tiny_run(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "WARM_UP", 1)
    asked = Cost(
        ("SUM INTEGER, few",),
        (100,),
        (20,),
        corrected=(0.0, 0.5),
        batches=1,
        results=str(tmp_path / "r"),
        page=str(tmp_path / "page.md"),
    )
    seen: list[str] = []
    text, _, _ = asked.run(seen.append)
    assert len(seen) == 2 and text.count("equal") == 2
    asked.run(seen.append)
    assert len(seen) == 2
    assert (tmp_path / "page.md").read_text().count("| equal |") == 2
