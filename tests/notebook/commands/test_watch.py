"""Watching a query below its cell."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from workbench.errors import QueryError
from workbench.notebook import notification
from workbench.notebook.command_line import MagicError


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    texts: list[str] = []

    class Line:
        def __init__(self, text: str) -> None:
            texts.append(text)

        def update(self, text: str) -> None:
            texts.append(text)

    monkeypatch.setattr(notification, "ProgressLine", Line)
    return texts


def test_new_rows_are_said_below_the_cell(run: Any, session: Any, shown: list[str]) -> None:
    run("%%argus big\nSELECT big")
    session.reports += [None, None]
    assert run("%argus notify big").error is None
    target = session.sinks["notify big"]
    target(2, pd.DataFrame({"weight": [1], "tranid": [1]}))  # was there when the line was
    assert shown == ["big: nothing new since batch 2"]
    for batch in range(3, 3 + notification.LINES + 1):
        target(batch, pd.DataFrame({"weight": [1, 2, -1], "tranid": [batch, None, 8]}))
    first, *lines = shown[-1].splitlines()
    assert first == "big, newest first" and len(lines) == notification.LINES
    assert lines[0].endswith("batch 8: 3 rows new, 1 gone · 8.0 · nan") and "batch 4:" in lines[-1]
    target(9, pd.DataFrame({"weight": [-1], "tranid": [8]}))
    assert shown[-1].splitlines()[1].endswith("batch 9: 1 row gone")
    run("%argus notify big")
    assert session.sinks["notify big"] is not target
    run("%argus notify big --stop")
    assert not session.sinks
    assert isinstance(run("%argus notify big --stop").error, MagicError)
    assert isinstance(run("%argus notify bag").error, QueryError)
