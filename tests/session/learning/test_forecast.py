"""What planning anew saves in batches to come, beside what it costs now: decisions over numbers alone."""

from __future__ import annotations

import math

import pytest

from workbench.engine.reports import BatchReport
from workbench.session.learning.forecast import (
    DETECTION_DELAY,
    EXPECTED,
    FORECAST_BATCHES,
    LEAST,
    Forecast,
    Persistence,
    forecast,
)


def reports(*seconds: float) -> list[BatchReport]:
    return [BatchReport(batch, 10, each, ()) for batch, each in enumerate(seconds, start=1)]


@pytest.mark.parametrize(
    ("hydration", "saving", "batches", "pays"),
    [(5, 0.5, 11, True), (5, 0.5, 10, False), (5, 0, 1e9, False), (5, -1, 1e9, False), (0, 0.1, 1, True)],
)
def test_it_pays_where_batches_save_more_than_hydrating_takes(
    hydration: float, saving: float, batches: float, pays: bool
) -> None:
    assert Forecast(100, 50, hydration, saving).pays_within(batches) is pays


def test_seconds_of_a_batch_follow_its_predicted_cost() -> None:
    assert forecast(reports(0.4), 1_000, 250, 3.0) == Forecast(1_000, 250, 3.0, pytest.approx(0.3))
    assert forecast(reports(0.4), 1_000, 1_500, 3.0).saving == pytest.approx(-0.2)


def test_one_slow_batch_says_nothing_and_old_ones_neither() -> None:
    now = [0.4, 0.4, 9.0, 0.4, 0.4]
    assert len(now) == FORECAST_BATCHES
    assert forecast(reports(2, 2, 2, *now), 100, 50, 1.0).saving == pytest.approx(0.2)


def test_before_the_first_batch_nothing_is_known_to_be_saved() -> None:
    unknown = forecast([], 1_000, 10, 3.0)
    assert math.isinf(unknown.pays_after) and not unknown.pays_within(1e9)
    assert str(unknown) == "hydrating takes about 3.0 s, predicted, and no batch is known to get shorter"


def test_it_says_the_whole_batches_until_it_pays() -> None:
    assert str(Forecast(100, 50, 5.0, 0.3)).endswith("it pays after 17 batches")
    assert str(Forecast(100, 50, 0.3, 0.3)).endswith("it pays after 1 batch")


def lasting(*looks: bool, batches: int = 3) -> Persistence:
    """What is known after looks, each a number of batches after the one before."""
    seen = Persistence()
    for better in looks:
        seen.observe(batches, better)
    return seen


def test_until_something_turns_it_is_expected_to_last() -> None:
    left = [EXPECTED - 3 * looks - DETECTION_DELAY for looks in (1, 2, 10)]
    assert [lasting(*[True] * looks).horizon for looks in (1, 2, 10, 40)] == [*left, 120]


def test_what_turned_is_expected_to_last_as_long_as_what_was_before() -> None:
    mean = (EXPECTED + 30) / 2
    assert lasting(*[False] * 10, True).horizon == mean - 3 - DETECTION_DELAY
    assert lasting(*[False] * 10, True, True).horizon == mean - 6 - DETECTION_DELAY


def test_what_outlasts_what_was_before_is_expected_to_last_as_long_again() -> None:
    mean = (EXPECTED + 9) / 2
    assert lasting(*[False] * 3, *[True] * 18).horizon == LEAST
    assert mean < 57 == lasting(*[False] * 3, *[True] * 19).horizon


def test_what_turns_to_and_fro_is_expected_to_turn_back() -> None:
    seen = lasting(*([False] * 4 + [True] * 4) * 5)
    assert seen.lasted == 12 and seen.horizon == pytest.approx((EXPECTED + 9 * 12) / 10 - 12 - DETECTION_DELAY)
    seen.observe(3, False)
    assert seen.horizon == (EXPECTED + 10 * 12) / 11 - 3 - DETECTION_DELAY


def test_old_turns_are_forgotten() -> None:
    seen = lasting(*[False, True] * 20)
    assert len(seen.earlier) == 10
    for _ in range(100):
        seen.observe(3, True)
    assert seen.horizon == 303


def test_that_the_better_network_was_taken_is_no_turn() -> None:
    seen = lasting(*[False] * 10, True, True)
    seen.replanned()
    seen.observe(3, False)
    assert seen.earlier == [30] and seen.lasted == 9
    seen.observe(3, True)
    assert seen.earlier == [30, 9]
