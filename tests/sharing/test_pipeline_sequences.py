"""Whatever is registered, replaced and dropped, in whatever order: it is planned, and every plan is right.

``ARGUS_PLANS=20000`` plans about 20,000 registrations, and reports what they were.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from sharing.sequences import Counts, failure, scenario, shrunk

pytestmark = pytest.mark.slow

LARGE = int(os.environ.get("ARGUS_PLANS", "0"))
SAMPLE = 20
"""Sequences that are tried each time."""


def tried(seed: int, folder: Path, counts: Counts) -> None:
    """Fails with the shortest sequence that goes wrong as this one does."""
    found = failure(scenario(seed), folder, counts)
    if found is not None:
        pytest.fail(str(shrunk(found, folder)), pytrace=False)


@pytest.mark.parametrize("start", range(0, SAMPLE, 10))
def test_random_sequences(start: int, tmp_path: Path) -> None:
    for seed in range(start, start + 10):
        tried(seed, tmp_path, Counts())


@pytest.mark.skipif(not LARGE, reason="set ARGUS_PLANS to a number of registrations")
def test_many_random_sequences(tmp_path: Path) -> None:
    counts, seed, started = Counts(), 1_000_000, time.monotonic()
    while counts.registrations < LARGE:
        tried(seed, tmp_path, counts)
        seed += 1
    print(f"\n{seed - 1_000_000} sequences in {time.monotonic() - started:.0f} s\n{counts}")
