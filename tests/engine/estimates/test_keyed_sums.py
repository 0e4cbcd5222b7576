"""Estimates from samples by a key: their bounds hold as often as they say."""

from __future__ import annotations

import numpy as np
import pytest
from engine.estimates.keyed_reference import reference

from workbench.engine.estimates.horvitz_thompson import NORMAL_95

RUNS, ACCOUNTS = 400, 500


@pytest.mark.slow
def test_bounds_hold_nineteen_times_of_twenty() -> None:
    """Accounts have different numbers of rows in three gaps, of which each draws with another chance."""
    chosen = np.random.default_rng(5)
    chances = (0.5, 0.2, 0.35)
    counts = chosen.poisson(chosen.lognormal(0.5, 0.6, ACCOUNTS)[:, None], (ACCOUNTS, 3)).astype(float)
    sums = counts * chosen.lognormal(2.0, 0.4, (ACCOUNTS, 3))
    true = {"count": counts.sum(), "sum": sums.sum(), "average": sums.sum() / counts.sum()}
    held, errors = dict.fromkeys(true, 0), {name: list[float]() for name in true}
    for _ in range(RUNS):
        number = chosen.random(ACCOUNTS)  # one for each account, in all gaps
        drawn = {
            account: [
                (p, counts[account, gap], sums[account, gap]) for gap, p in enumerate(chances) if number[account] < p
            ]
            for account in range(ACCOUNTS)
        }
        for name, (value, variance) in reference(drawn).items():
            held[name] += abs(value - true[name]) <= NORMAL_95 * variance**0.5
            errors[name].append((value - true[name]) / true[name])
    # 380 are expected; 356 are four standard deviations fewer.
    assert min(held.values()) >= 352 and max(held.values()) <= 398, held
    for name, all_errors in errors.items():
        assert abs(np.mean(all_errors)) < 4 * np.std(all_errors) / RUNS**0.5 + 0.002, name
