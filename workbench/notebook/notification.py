"""Alerts in the notebook: a sink that shows the new rows of a query in the output of a cell.

With a condition it is an alert. Its rows are those of a query of its own over the answer, so they are found as a batch
finds its changes, and never by reading the answer. A group that satisfied the condition before the batch, and still
does with other numbers, is not new.
"""

from __future__ import annotations

import datetime as dt
import re
import weakref
from collections import deque
from collections.abc import Callable, Sequence

import pandas as pd

from workbench.explain.cells import value_text
from workbench.explain.text import counted, short
from workbench.notebook.display import ProgressLine, Shown, frame_table, plain
from workbench.session.player import Player
from workbench.session.sinks.target import Delivery

LINES = 5
"""Batches that are shown, the newest first."""
_ROWS = 3
"""Rows that are shown of each."""
_CELL = "a cell's output"


class Noticed:
    """The latest notifications of a session's answers, for its panel."""

    def __init__(self) -> None:
        self.lines: deque[str] = deque(maxlen=LINES)
        self._listeners: list[weakref.WeakMethod[Callable[[], None]]] = []
        self.cells: weakref.WeakSet[Notification] = weakref.WeakSet()
        """What says it below cells."""

    def listen(self, listener: Callable[[], None]) -> None:
        """Call a method whenever something is noticed, for as long as its object lives."""
        self._listeners.append(weakref.WeakMethod(listener))

    def add(self, line: str) -> None:
        """Something was noticed; called by the thread of a sink."""
        self.lines.appendleft(line)
        self._listeners = [listener for listener in self._listeners if listener() is not None]
        for listener in self._listeners:
            if (heard := listener()) is not None:
                heard()


def noticed(player: Player) -> Noticed:
    """The notifications of a player's session."""
    return _noticed.setdefault(player, Noticed())


_noticed: weakref.WeakKeyDictionary[Player, Noticed] = weakref.WeakKeyDictionary()


class Notification:
    """Says below its cell what each batch changed in an answer; a callable for ``Session.add_sink``.

    Args:
        title: the query, with its condition if there is one.
        after: batches up to this one are known already.
        panel: is told too.
        least: fewer new rows than these are not said.
        alert: whether only rows are meant that newly came to satisfy a condition.
        identity: places of the columns that tell rows apart over time; ``None``: all columns do.
    """

    def __init__(
        self,
        title: str,
        after: int,
        panel: Noticed,
        least: int = 0,
        alert: bool = False,
        identity: Sequence[int] | None = None,
    ) -> None:
        self._title, self._after, self._panel = title, after, panel
        self._least, self._alert, self._identity = least, alert, identity
        self._told: deque[tuple[str, pd.DataFrame]] = deque(maxlen=LINES)
        self._shown = ProgressLine(f"{title}: nothing new since batch {after}")
        panel.cells.add(self)

    def __str__(self) -> str:
        """What the list of sinks calls it, by which ``least_of`` knows how many rows it says at least."""
        return _CELL + (f", of at least {self._least:,} new rows" if self._least > 1 else "")

    def __call__(self, batch: int, changes: pd.DataFrame) -> None:
        """A batch was brought."""
        self.take(Delivery(batch, 0, batch), changes)

    def take(self, delivery: Delivery, changes: pd.DataFrame) -> None:
        """A delivery was brought; called by the thread of the sink. Its batch is the number that is said."""
        if delivery.number <= self._after:
            return
        if self._alert:
            changes = newly(changes, self._identity)
        new = int(changes["weight"].clip(0, None).sum())
        if new < self._least or changes.empty:
            return
        at = dt.datetime.now()
        added = changes[changes["weight"] > 0].drop(columns="weight")
        rows = added.head(_ROWS)
        rows.insert(0, "batch", delivery.batch, allow_duplicates=True)
        only = f", {_ROWS} of them below" if len(added) > _ROWS else ""
        self._told.appendleft((counted_changes(delivery.batch, changes, at) + only, rows))
        self._shown.update(self._said("newest first"))
        self._panel.add(f"{self._title}: {change_line(delivery.batch, changes, at)}")

    def stop(self, how_to_go_on: str) -> None:
        """Say below the cell that nothing more will be said there."""
        self._shown.update(self._said(f"stopped; {how_to_go_on}"))

    def _said(self, state: str) -> Shown:
        """What was noticed: the batches, and the first new rows of each under the names of the answer's columns."""
        title = "\n".join([f"{self._title}: {state}", *(line for line, _ in self._told)])
        frames = [rows for _, rows in self._told if len(rows)]
        return frame_table(pd.concat(frames), title) if frames else plain(title)


def least_of(target: str) -> int:
    """How many new rows of a batch a notification says at least, by what the list of sinks calls it.

    Example:
        >>> least_of("a cell's output, of at least 1,200 new rows"), least_of("a cell's output")
        (1200, 0)
    """
    least = re.search(r"of at least ([\d,]+) new rows$", target)
    return int(least[1].replace(",", "")) if least else 0


def newly(changes: pd.DataFrame, identity: Sequence[int] | None) -> pd.DataFrame:
    """The rows that were added, without those that took the place of a row with the same identity.

    Args:
        changes: of one batch: weight, then the columns of an answer.
        identity: places of the columns that tell rows apart over time; ``None``: all columns do.

    Example:
        >>> changes = pd.DataFrame({"weight": [-1, 1, 1], "bank": ["x", "x", "y"], "n": [600, 650, 501]})
        >>> newly(changes, [0])["bank"].to_list()
        ['y']
    """
    added = changes[changes["weight"] > 0]
    if identity is None:
        return added
    keys = [tuple(str(row[1 + place]) for place in identity) for row in changes.itertuples(index=False)]
    gone = {key for key, weight in zip(keys, changes["weight"], strict=True) if weight < 0}
    fresh = [key not in gone and weight > 0 for key, weight in zip(keys, changes["weight"], strict=True)]
    return changes[fresh]


def change_line(batch: int, changes: pd.DataFrame, at: dt.datetime) -> str:
    """The changes of a batch, in one line.

    Example:
        >>> changes = pd.DataFrame({"weight": [1, -1, 1], "state": ["MA", "NY", "NY"], "fees": [6.5, 1.0, 2.0]})
        >>> change_line(7, changes, dt.datetime(2026, 1, 2, 12, 3))
        '12:03:00  batch 7: 2 rows new, 1 gone · state MA, fees 6.5 · state NY, fees 2.0'
    """
    rows = changes[changes["weight"] > 0].drop(columns="weight")
    shown = [short(", ".join(map(_named, rows.columns, row)), 60) for row in rows.head(_ROWS).itertuples(False, None)]
    more = [] if len(rows) <= _ROWS else ["…"]
    return " · ".join([counted_changes(batch, changes, at), *shown, *more])


def counted_changes(batch: int, changes: pd.DataFrame, at: dt.datetime) -> str:
    """A line with the numbers of added and removed rows of a batch.

    Example:
        >>> counted_changes(7, pd.DataFrame({"weight": [1, -1, 1]}), dt.datetime(2026, 1, 2, 12, 3))
        '12:03:00  batch 7: 2 rows new, 1 gone'
    """
    new, gone = (int(changes["weight"].clip(0, None).sum()), -int(changes["weight"].clip(None, 0).sum()))
    counts = [f"{counted(new, 'row')} new"] if new else []
    counts += [f"{gone if new else counted(gone, 'row')} gone"] if gone else []
    return f"{at:%H:%M:%S}  batch {batch}: {', '.join(counts)}"


def _named(column: object, value: object) -> str:
    return f"{column} {value_text(value)}"
