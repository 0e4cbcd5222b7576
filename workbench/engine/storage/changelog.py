"""The changelog of a local tree: what every batch changed, for who asks for changes or comes back after a while.

Rows carry their batch, so the changes of several batches can stand in one file. They come to do so by the rule by which
a relation's runs become fewer (``relation``): there are few files, however many batches there were.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from workbench.engine.operators.filter_and_write import Delta
from workbench.engine.storage.relation import Relation


@dataclass(frozen=True)
class LogEntry:
    """Changes of a tree: of a batch, and of those before it since the entry before.

    ``whole``: all of its rows instead, since the tree was made (again) after that batch.
    """

    batch: int
    delta: Delta
    whole: bool = False


def with_change(log: tuple[LogEntry, ...], batch: int, delta: Delta, tree: Relation) -> tuple[LogEntry, ...]:
    """A log with what another batch changed.

    An entry with all rows stays as it is, and what came before it stays apart from what comes after: queries begin to
    read there.

    Args:
        log: the entries so far.
        batch: its number.
        delta: what it changed.
        tree: how the tree's rows are stored, and where.
    """
    first = max((i for i, entry in enumerate(log, start=1) if entry.whole), default=0)
    runs = tuple(entry.delta.segments for entry in log[first:])
    changes = replace(tree, runs=runs, merge=None).append(delta)
    same = first + len(changes.runs) - 1
    return (*log[:same], LogEntry(batch, Delta(changes.runs[-1])))
