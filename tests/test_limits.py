"""Limits are a value: frozen, with units in their names, each explained, and shown by the doctor."""

from __future__ import annotations

import inspect
import re
from dataclasses import FrozenInstanceError, fields

import pytest

from workbench.limits import LIMITS, Limits

UNITS = (
    "rows", "values", "bytes", "pairs", "milliseconds", "runs", "batches", "ranges", "percent", "operators", "paths",
    "outputs", "terms", "times", "latencies", "states", "steps", "choices",
)  # fmt: skip


def test_each_limit_says_its_unit_and_reason() -> None:
    reasons = inspect.getdoc(Limits) or ""
    for limit in fields(Limits):
        assert limit.name.split("_")[0] in UNITS, limit.name
        assert re.search(rf"\b{limit.name}[,:]", reasons), limit.name


def test_a_limit_is_given_and_not_set() -> None:
    with pytest.raises(FrozenInstanceError):
        LIMITS.bytes_fetched = 1  # type: ignore[misc]
    assert Limits(bytes_fetched=1) != LIMITS


def test_limits_are_listed() -> None:
    lines = dict(line.split() for line in str(Limits(pairs_compared_per_batch=1_234)).splitlines())
    assert lines.keys() == {limit.name for limit in fields(Limits)}
    assert lines["pairs_compared_per_batch"] == "1,234"
