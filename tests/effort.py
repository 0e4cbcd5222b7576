"""What a call costs, as a ratio to a fixed piece of work in the same run: the same on a fast machine and a busy one."""

from __future__ import annotations

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


def _unit() -> float:
    begun, total = time.process_time(), 0
    for number in range(1_000_000):
        total += number
    return time.process_time() - begun
