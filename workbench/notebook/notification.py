"""Rows that a query comes to have, said in the notebook: a sink whose target is the output of a cell."""

from __future__ import annotations

import datetime as dt
from collections import deque

import pandas as pd

from workbench.explain.text import counted, short
from workbench.notebook.display import ProgressLine

LINES = 5
"""So many batches are shown, the newest first."""
ROWS = 3
"""So many rows of each."""


class Notification:
    """Says below its cell what each batch changed in the answer of a query; a callable for ``Session.add_sink``.

    Args:
        query: its name.
        after: batches up to this one are known already.
    """

    def __init__(self, query: str, after: int) -> None:
        self._query, self._after = query, after
        self._lines: deque[str] = deque(maxlen=LINES)
        self._shown = ProgressLine(f"{query}: nothing new since batch {after}")

    def __call__(self, batch: int, changes: pd.DataFrame) -> None:
        """A batch was brought; called by the thread of the sink."""
        if batch <= self._after:
            return
        self._lines.appendleft(change_line(batch, changes, dt.datetime.now()))
        self._shown.update("\n".join([f"{self._query}, newest first", *self._lines]))


def change_line(batch: int, changes: pd.DataFrame, at: dt.datetime) -> str:
    """What a batch changed, in one line.

    Example:
        >>> changes = pd.DataFrame({"weight": [1, -1, 1], "state": ["MA", "NY", "NY"], "fees": [6.5, 1.0, 2.0]})
        >>> change_line(7, changes, dt.datetime(2026, 1, 2, 12, 3))
        '12:03:00  batch 7: 2 rows new, 1 gone · MA, 6.5 · NY, 2.0'
    """
    new, gone = (int(changes["weight"].clip(0, None).sum()), -int(changes["weight"].clip(None, 0).sum()))
    counts = [f"{counted(new, 'row')} new"] if new else []
    counts += [f"{gone if new else counted(gone, 'row')} gone"] if gone else []
    rows = changes[changes["weight"] > 0].drop(columns="weight").head(ROWS).itertuples(index=False, name=None)
    shown = [short(", ".join(map(str, row)), 60) for row in rows]
    more = [] if new <= ROWS else ["…"]
    return " · ".join([f"{at:%H:%M:%S}  batch {batch}: {', '.join(counts)}", *shown, *more])
