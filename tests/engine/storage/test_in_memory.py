"""What a process keeps in its memory, within a number of bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from workbench.engine.storage.in_memory import InMemory
from workbench.limits import SESSION_LIMITS, Limits


def test_what_is_kept_takes_no_more_than_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SESSION_LIMITS, "otherwise", Limits(bytes_indexed_in_process=10_000))
    indexes = InMemory[list[npt.NDArray[Any]]](lambda columns: sum(column.nbytes for column in columns))
    made = {f"s{at}": [np.arange(100), np.arange(100)] for at in range(9)}
    for segment, columns in made.items():
        assert indexes.add((segment, "k"), columns) is columns
        assert indexes.get(("s0", "k")) is made["s0"]  # asked for all the time, so it stays
    there = [segment for segment in made if indexes.get((segment, "k")) is not None]
    assert there == ["s0", "s5", "s6", "s7", "s8"]  # 1,800 bytes each
    assert indexes.get(("s8", "other")) is None
    indexes.forget("another")
    assert indexes.get(("s8", "k")) is not None
    indexes.forget("")
    assert indexes.get(("s8", "k")) is None
    kept = indexes.add(("s8", "k"), made["s0"])  # in the place of another
    assert indexes.get(("s8", "k")) is kept is made["s0"]
