"""What a call costs on any machine: a ratio to a fixed piece of work in the same run, or a number of calls."""

from __future__ import annotations

import cProfile
import gc
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def effort(call: Callable[[], T]) -> tuple[T, float]:
    """What a call gives, and its processor time in units of a loop of a million additions."""
    begun = time.process_time()
    value = call()
    spent = time.process_time() - begun
    return value, spent / _unit()


def calls(call: Callable[[], T]) -> tuple[T, int]:
    """What a call gives, and how many functions it calls, also those in C: the same in every run.

    What earlier tests left is freed before, and no garbage is collected meanwhile: that calls functions, too.
    """
    profile = cProfile.Profile()
    gc.collect()
    gc.disable()
    try:
        value = profile.runcall(call)
    finally:
        gc.enable()
    return value, sum(entry.callcount for entry in profile.getstats())


def _unit() -> float:
    begun, total = time.process_time(), 0
    for number in range(1_000_000):
        total += number
    return time.process_time() - begun
