"""Which columns the roots of a network have: whatever is computed from a root may read only these, of their types.

Predicates and expressions name columns of the root they are over, and are renamed as they pass through joins. A column
that has got into the relation of another input would be looked up there: it is not there, or it is another one of the
same name. So all that enters a network is checked against the roots it reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from workbench.network.nodes import (
    Columns,
    Node,
    NodeId,
    Source,
)
from workbench.sql.algebra.expressions import Column
from workbench.sql.algebra.types import DataType
from workbench.sql.windows.stream_time import ROW


@dataclass(frozen=True)
class RootColumns:
    """The columns of the roots of a network.

    Attributes:
        nodes: the network's nodes; may be a working copy that grows.
        streams: the columns of sources, by their ids; one that is missing may have any.
    """

    nodes: Mapping[NodeId, Node]
    streams: Mapping[NodeId, Columns]

    def type_of(self, root: NodeId, column: Column) -> DataType | None:
        """The type that a root's column of that name has; ``None`` when the root has no such column."""
        node = self.nodes[root]
        if isinstance(node, Source):
            known = self.streams.get(root, {column.name: column.type})
            return known.get(column.name, ROW.type if column.name == ROW.name else None)
        if column.name in node.types:
            return node.types[column.name]
        try:
            carried = node.carried(column.name)
        except ValueError:
            return None
        return None if carried is None else self.type_of(carried[0], Column(carried[1], column.type))

    def check(self, roots: Mapping[int, NodeId], read: Iterable[Column]) -> None:
        """Check that expressions read columns of the roots that they are over.

        Args:
            roots: by ``source`` of the columns.
            read: the columns.

        Raises:
            ValueError: a root has no such column, or one of another type.

        Example:
            >>> from workbench.sql.algebra.types import INTEGER, STRING
            >>> f = Source("F")
            >>> of_f = RootColumns({f.id: f}, {f.id: {"a": INTEGER}})
            >>> of_f.check({0: f.id}, [Column("a", INTEGER)])
            >>> of_f.check({0: f.id}, [Column("a", STRING)])
            Traceback (most recent call last):
            ...
            ValueError: 'a' string is read from the stream F, where it is integer
        """
        wrong = [c for c in read if c.source not in roots or self.type_of(roots[c.source], c) != c.type]
        if wrong:
            column = min(wrong, key=lambda c: (c.source, c.name))
            root = roots.get(column.source)
            have = None if root is None else self.type_of(root, column)
            where = "an input that is not there" if root is None else _named(self.nodes[root])
            what = "there is no such column" if have is None else f"it is {have}"
            raise ValueError(f"{column.name!r} {column.type} is read from {where}, where {what}")

    def check_node(self, node: Node) -> None:
        """Check that a node reads columns that its roots have.

        Raises:
            ValueError: it reads another one.
        """
        for roots, read in node.checked_columns():
            self.check(roots, read)


def _named(node: Node) -> str:
    return f"the stream {node.stream}" if isinstance(node, Source) else node.id
