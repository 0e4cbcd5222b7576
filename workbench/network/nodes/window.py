"""The rows in a window at the current moment."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass

from workbench.network.nodes.base import Checked, Columns, NodeId, Read, Unary
from workbench.network.sql_text import Words, window_sql
from workbench.sql.algebra.expressions import Column, Expression
from workbench.sql.predicates.cnf import PredSet, pred_set, predicate_columns
from workbench.sql.windows.bounds import window_times


@dataclass(frozen=True)
class Window(Unary):
    """The rows read that are in a window at the current moment: as time passes rows enter and leave.

    Its columns are those of the root that is read.

    Attributes:
        read: the rows it is a window on.
        within: comparisons of times of a row with now (``workbench.sql.windows.bounds``), over the same columns.
        parent: the node it is evaluated from.
    """

    read: Read
    within: PredSet
    parent: NodeId

    kind = "window"
    _letter = "W"

    def _computation(self) -> str:
        return f"window {self.read.identity} within {self.within.identity}"

    def is_monotone(self, inputs: bool) -> bool:
        """Rows leave the window."""
        return False

    def computed(self, read: Container[str]) -> Iterable[Expression]:
        """The times that are compared with now."""
        return window_times(self.within)

    def read_columns(self, columns: Columns) -> Iterable[tuple[NodeId, Column]]:
        """The columns that it carries, and those of the times."""
        yield from ((self.parent, Column(*item)) for item in columns.items())
        yield from ((self.parent, column) for column in predicate_columns(self.within))

    def checked_columns(self) -> Checked:
        """The columns that are required, and those of the times."""
        return [self.read.checked_columns, ({0: self.read.root}, predicate_columns(self.within))]

    def sql(self, words: Words) -> str:
        """The parent's rows in the window."""
        return f"SELECT * FROM {words.node(self.parent)} WHERE {self._within(words)}"

    def title(self, words: Words) -> str:
        """A window, with its ends."""
        return f"window {self._within(words)}"

    def label(self, words: Words) -> Iterable[str]:
        """The ends of the window."""
        return [window_sql(pred_set([end]), words.columns(self.parent)) for end in self.within]

    def _within(self, words: Words) -> str:
        return window_sql(self.within, words.columns(self.parent))
