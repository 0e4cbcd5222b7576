"""Estimates from samples: unbiased, and their bounds hold as often as they say."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from workbench.engine.estimates.horvitz_thompson import Totals, scaled
from workbench.streams.cut import share

ROWS, GAP, RUNS = 4_000, 3_000, 400
"""The first rows arrive all, the others are sampled; every run has other positions, and so another sample."""


def sums(batch: int, group: str, values: NDArray[np.float64]) -> dict[str, object]:
    known = values[~np.isnan(values)]
    numbers = {"n": float(len(values)), "n0": float(len(known)), "s0": known.sum(), "q0": (known**2).sum()}
    return {"batch": batch, "g0": group, **numbers}


@pytest.mark.parametrize("kept", [0.05, 0.3])
def test_bounds_hold_nineteen_times_of_twenty(kept: float) -> None:
    chosen = np.random.default_rng(7)
    values = chosen.lognormal(1.0, 0.7, ROWS) - 1.0
    values[chosen.random(ROWS) < 0.1] = np.nan
    group = np.where(chosen.random(ROWS) < 0.3, "a", "b")
    held, errors = dict[tuple[str, str], int](), dict[tuple[str, str], list[float]]()
    for run in range(RUNS):
        drawn = np.arange(ROWS) >= ROWS - GAP
        drawn &= share(np.arange(ROWS) + run * ROWS) < kept
        parts = [
            sums(batch, name, values[chosen_rows & (group == name)])
            for name in "ab"
            for batch, chosen_rows in ((0, np.arange(ROWS) < ROWS - GAP), (3, drawn))
        ]
        totals = Totals(scaled(pa.Table.from_pylist(parts), 1, {3: kept}), 1)
        assert totals.groups.column("g0").to_pylist() == ["a", "b"]
        for function in ("count", "sum", "average"):
            found = totals.estimate(function, 0)
            for place, name in enumerate("ab"):
                known = values[(group == name) & ~np.isnan(values)]
                true = {"count": float(len(known)), "sum": known.sum(), "average": known.mean()}[function]
                key = (function, name)
                held[key] = held.get(key, 0) + bool(found.low[place] <= true <= found.high[place])
                errors.setdefault(key, []).append((found.value[place] - true) / abs(true))
    # Of 400 runs 380 are expected; 356 are four standard deviations fewer, and skewed values cost some more.
    assert min(held.values()) >= 352 and max(held.values()) <= 398, held
    for key, all_errors in errors.items():
        assert abs(np.mean(all_errors)) < 4 * np.std(all_errors) / RUNS**0.5 + 0.002, key


def test_what_arrived_whole_is_exact() -> None:
    totals = Totals(scaled(pa.Table.from_pylist([sums(0, "a", np.array([1.5, np.nan, 2.5]))]), 1, {}), 1)
    for function, value in (("count", 2.0), ("sum", 4.0), ("average", 2.0)):
        found = totals.estimate(function, 0)
        assert (found.value.tolist(), found.low.tolist(), found.high.tolist()) == ([value], [value], [value])
    assert totals.estimate("count", None).value.tolist() == [3.0]


def test_nothing_drawn_says_nothing() -> None:
    null = pa.table({"batch": [0], "g0": ["a"], "n": [2.0], "n0": [0.0], "s0": [None], "q0": [None]})
    null = null.cast(pa.schema([*list(null.schema)[:4], ("s0", pa.float64()), ("q0", pa.float64())]))
    totals = Totals(scaled(null, 1, {}), 1)
    assert totals.estimate("count", 0).value.tolist() == [0.0]
    assert np.isnan(totals.estimate("sum", 0).value).all() and np.isnan(totals.estimate("average", 0).value).all()
    nothing = pa.table({"batch": pa.array([], pa.int32()), "n": pa.array([], pa.float64())})
    assert Totals(scaled(nothing, 0, {}), 0).estimate("count", None).value.tolist() == [0.0]
