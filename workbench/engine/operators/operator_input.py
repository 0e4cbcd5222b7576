"""What an operator sees of a parent in one batch: its rows before, the change, and the rows after, as SQL."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.engine.storage.relation import Delta
from workbench.engine.storage.lineage import WORD_BITS
from workbench.engine.storage.job_input import InputRows
from workbench.engine.spark.plan_cache import Views
from workbench.engine.storage.lineage import word_column
from workbench.engine.storage.relation import SMALL_ROWS, Relation


@dataclass(frozen=True)
class ParentRows:
    """The rows of a node, or of several of one tree, told from the tree's other rows by their bits.

    ``relation`` is the tree's before the batch, ``delta`` the tree's change. At initialization a node's whole content
    is the change and nothing was before (``from_nothing``). Rows have the layout of the relation.
    """

    views: Views
    tree: str
    relation: Relation
    delta: Delta
    bits: tuple[int, ...]
    from_nothing: bool = False

    @property
    def bit(self) -> int:
        """Of the one node that is read."""
        (bit,) = self.bits
        return bit

    @property
    def changed_rows(self) -> int:
        """How many rows the change has, each once for each node it is in; at initialization at most so many."""
        return self.relation.rows if self.from_nothing else sum(map(self.delta.count, self.bits))

    @property
    def small(self) -> bool:
        """Whether the change is small enough to be sent to every task of a join."""
        return self.changed_rows <= SMALL_ROWS

    @property
    def input(self) -> InputRows:
        """The same as segments, with the rows of the tree's other nodes in between."""
        if self.from_nothing:
            return InputRows(self.relation.segments)
        return InputRows(self.delta.segments if self.changed_rows else (), self.relation.segments)

    @property
    def everything(self) -> str:
        """SQL of the tree's relation before the batch, with this node's rows alone."""
        view = self.views.name(f"{self.tree}_rows", self.relation, lambda: self.relation.dataframe)
        return self._own(view)

    @property
    def before(self) -> str | None:
        """SQL of the node's rows before the batch; ``None`` when there were none."""
        return None if self.from_nothing or not self.relation.rows else self.everything

    @property
    def change(self) -> str | None:
        """SQL of the change; ``None`` when nothing changed."""
        if not self.changed_rows:
            return None
        if self.from_nothing:
            return self.everything
        view = self.views.name(f"{self.tree}_change", self.delta, lambda: self.relation.delta_frame(self.delta))
        return self._own(view)

    @property
    def after(self) -> str | None:
        """SQL of the node's rows after the batch."""
        before, change = self.before, self.change
        if before is None or change is None:
            return change if before is None else before
        return f"{before} UNION ALL {change}"

    def _own(self, view: str) -> str:
        return f"SELECT * FROM {view} WHERE {has_bit(self.bit)}"


def has_bit(bit: int) -> str:
    """SQL: the row's lineage has the bit."""
    return f"getbit({word_column(bit // WORD)}, {bit % WORD}) = 1"
