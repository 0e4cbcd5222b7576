"""What an operator sees of a parent node in one batch: its rows before, the change, and the rows after."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame

from workbench.engine.lineage import WORD
from workbench.engine.relation import SMALL_ROWS, Relation
from workbench.engine.shared_pass import Delta, word_column


@dataclass(frozen=True)
class NodeRows:
    """One node's rows, told from the other rows of its local tree by its bit.

    ``relation`` is the tree's before the batch, ``delta`` the tree's change. At initialization a node's whole content
    is the change and nothing was before (``from_nothing``).
    """

    relation: Relation
    delta: Delta
    bit: int
    monotone: bool
    from_nothing: bool = False

    @property
    def changed_rows(self) -> int:
        """How many rows the change has for this node."""
        return self.relation.rows if self.from_nothing else self.delta.count(self.bit)

    @property
    def small(self) -> bool:
        """Whether the change is small enough to be sent to every task of a join."""
        return self.changed_rows <= SMALL_ROWS

    @property
    def before(self) -> DataFrame | None:
        """The node's rows before the batch; ``None`` when there were none."""
        return None if self.from_nothing or not self.relation.rows else self._own(self.relation.dataframe)

    @property
    def change(self) -> DataFrame | None:
        """The change; ``None`` when nothing changed."""
        if not self.changed_rows:
            return None
        rows = self.relation.dataframe if self.from_nothing else self.relation.delta_frame(self.delta)
        return self._own(rows)

    @property
    def after(self) -> DataFrame | None:
        """The node's rows after the batch."""
        before, change = self.before, self.change
        if before is None or change is None:
            return change if before is None else before
        return before.unionByName(change)

    def _own(self, rows: DataFrame) -> DataFrame:
        return rows.where(has_bit(self.bit))


def has_bit(bit: int) -> str:
    """SQL: the row's lineage has the bit."""
    return f"getbit({word_column(bit // WORD)}, {bit % WORD}) = 1"
