"""Averages of what batches did: they follow a drift within a few batches, and count missing reports as no rows."""

from __future__ import annotations

import pytest

from workbench.engine.averages import HALF_LIFE, RECENT_BATCHES, averages, averages_since_turns
from workbench.engine.reports import BatchReport, OperatorReport


def batch(number: int, **rows: int) -> BatchReport:
    operators = tuple(OperatorReport(name, (name,), 10, n, 0.1 * n, {name: n}) for name, n in rows.items())
    return BatchReport(number, 10, 1.0, operators, arrived={"F": 10})


def test_what_stays_the_same_is_its_own_average() -> None:
    mean = averages([batch(number, J=4) for number in range(1, 9)])
    assert mean.node_rows == pytest.approx({"J": 4})
    assert mean.seconds == pytest.approx({"J": 0.4})
    assert mean.arrived == pytest.approx({"f": 10})


def test_a_drift_is_half_seen_after_the_half_life() -> None:
    before = [batch(number, J=0) for number in range(1, 100)]
    mean = averages([*before, *(batch(100 + number, J=100) for number in range(HALF_LIFE))])
    assert 50 < mean.node_rows["J"] < 60


def test_no_report_is_no_rows_since_the_first() -> None:
    reports = [batch(1), batch(2, J=6), batch(3), batch(4)]
    assert 0 < averages(reports).node_rows["J"] < 3
    assert averages(reports[:2]).node_rows == pytest.approx({"J": 6})


def test_no_batches_have_no_averages() -> None:
    assert not averages([]).node_rows


@pytest.mark.parametrize(("before", "after"), [(6_000, 100), (100, 6_000), (100, 0), (0, 100)])
def test_a_turn_is_seen_after_the_recent_batches(before: int, after: int) -> None:
    reports = [batch(number, J=before) for number in range(1, 30)]
    for number in range(1, RECENT_BATCHES):
        turning = [*reports, *(batch(30 + n, J=after) for n in range(number))]
        assert averages_since_turns(turning) == averages(turning)
    for number in range(RECENT_BATCHES, 3 * HALF_LIFE):
        turned = [*reports, *(batch(30 + n, J=after) for n in range(number))]
        assert averages_since_turns(turned).node_rows["J"] == pytest.approx(after, rel=0.9)
        assert averages_since_turns(turned).seconds == averages(turned).seconds


@pytest.mark.parametrize("rows", [(100, 1_000), (40, 50, 60), (0, 2, 9), (1_000, 1_000, 100)])
def test_what_swings_is_little_or_chance_is_no_turn(rows: tuple[int, ...]) -> None:
    reports = [batch(number, J=rows[number % len(rows)]) for number in range(1, 31)]
    assert averages_since_turns(reports) == averages(reports)


def test_a_node_that_is_new_has_not_turned() -> None:
    reports = [
        *(batch(number, J=50) for number in range(1, 9)),
        *(batch(number, J=50, K=70) for number in range(9, 12)),
    ]
    assert averages_since_turns(reports) == averages(reports)
    assert averages_since_turns([]) == averages([])
