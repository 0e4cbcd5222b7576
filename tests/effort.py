"""What a call costs on any machine: a ratio to a fixed piece of work in the same run, or a number of calls."""

from __future__ import annotations

import sys
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
    """What a call gives, and how many Python functions it calls: the same in every run."""
    count = 0

    def on_event(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(on_event)
    try:
        return call(), count
    finally:
        sys.setprofile(before)


def _unit() -> float:
    begun, total = time.process_time(), 0
    for number in range(1_000_000):
        total += number
    return time.process_time() - begun
