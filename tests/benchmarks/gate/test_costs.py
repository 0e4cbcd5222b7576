"""Rows of the cost matrix that are costly: as they were measured, and as they grow."""

from __future__ import annotations

from pathlib import Path

from benchmarks.gate.costs import HISTORY, MEASURED_AGAIN, fallen, growing, load, write
from benchmarks.query_sets.kinds import KindOfQuery, kinds
from benchmarks.studies.cost import RESULTS, Measured, read

ROWS = [KindOfQuery("f", name, "SELECT 1") for name in ("flat", "grows", "busy once")]


def test_nothing_that_was_measured_is_costly_but_what_is_known() -> None:
    measures = read(RESULTS)
    assert measures and fallen(measures, load()) == {}
    assert {one.kind for one in measures} | set(load()) <= {kind.name for kind in kinds()}


def test_a_row_that_grows_is_found_and_a_busy_machine_is_not_one() -> None:
    calls: list[tuple[str, int]] = []

    def measure(kind: KindOfQuery, history: int, batch: int, corrected: float, batches: int) -> Measured:
        calls.append((kind.name, history))
        grown = history > HISTORY and (kind.name == "grows" or (kind.name == "busy once" and len(calls) < 5))
        return Measured(kind.name, "f", history, batch, 0.0, 0.4 if grown else 0.1, 0.0, 0.0, 1, 0, None, None)

    busy, grows, flat = ROWS[2], ROWS[1], ROWS[0]
    assert growing([flat, busy], measure) == {}
    calls.clear()
    assert growing([grows], measure) == {"grows": "4.0 times over 10 times the history"}
    assert len(calls) == 2 * MEASURED_AGAIN


def test_a_row_whose_answer_changes_more_does_not_grow() -> None:
    def measure(kind: KindOfQuery, history: int, batch: int, corrected: float, batches: int) -> Measured:
        times = 1 if history == HISTORY else 4
        changes = 10 * batch * times if kind.name == "flat" else 0
        return Measured(kind.name, "f", history, batch, 0.0, 0.1 * times, 0.0, 0.0, 1, 0, None, None, changes)

    assert growing(ROWS[:2], measure) == {"grows": "4.0 times over 10 times the history"}


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write({"MODE, few": "4.0 times its family"}, tmp_path / "costly.json")
    assert load(tmp_path / "costly.json") == ["MODE, few"]
