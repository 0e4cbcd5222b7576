"""Columns whose values are equal in all rows of a join, since it or one below it requires that.

Of ``a.id = b.id and b.id = c.id and a.id = c.id`` two equalities count, whichever are written. Once a and b are joined,
both equalities that are left compare c with columns that are equal, and one of them says all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from workbench.network.nodes import SIDES, Join, Node, NodeId
from workbench.optimizer.selectivity import compared_columns
from workbench.sql.algebra.expressions import Column
from workbench.sql.predicates.cnf import PredSet

Classes = tuple[frozenset[Column], ...]
"""Sets of columns of one root that are equal; a column is in one at most."""


def columns_equal_by_joins(nodes: Mapping[NodeId, Node], root: NodeId, required: PredSet) -> Classes:
    """The columns that are equal in the rows of a root that satisfy what is required of them.

    Example:
        >>> from workbench.network.nodes import Source
        >>> from workbench.sql.algebra.types import INTEGER
        >>> from workbench.sql.predicates.cnf import Literal, Operator, or_pred, pred_set
        >>> a, b, c = (Column(name, INTEGER) for name in "abc")
        >>> same = pred_set(or_pred([Literal(left, Operator.EQ, right)]) for left, right in [(a, b), (b, c)])
        >>> source = Source("F")
        >>> classes = columns_equal_by_joins({source.id: source}, source.id, same)
        >>> [sorted(column.name for column in own) for own in classes]
        [['a', 'b', 'c']]
    """
    return _united([*_below(nodes, root), *map(frozenset, _compared(required))])


def _below(nodes: Mapping[NodeId, Node], root: NodeId) -> Iterator[frozenset[Column]]:
    node = nodes[root]
    if not isinstance(node, Join):
        return
    for pair in _compared(node.predicates):
        yield frozenset(map(node.names.output, pair))
    for side in SIDES:
        for own in _below(nodes, node.roots[side]):
            yield frozenset(node.names.output(Column(column.name, column.type, side)) for column in own)


def _compared(predicates: PredSet) -> Iterator[tuple[Column, Column]]:
    for p in predicates:
        if len(p.literals) == 1 and (pair := compared_columns(p.literals[0])):
            yield pair


def _united(classes: Iterable[frozenset[Column]]) -> Classes:
    united = list[frozenset[Column]]()
    for own in classes:
        met = [other for other in united if other & own]
        united = [other for other in united if other not in met] + [own.union(*met)]
    return tuple(united)
