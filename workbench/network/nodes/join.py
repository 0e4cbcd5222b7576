"""Pairs of rows of two roots."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Self

from workbench.network.join_names import JoinNames, join_names
from workbench.network.nodes.base import BaseNode, Checked, Columns, NodeId, Read, StoredColumns, columns_of
from workbench.network.sides import SIDES, side_of
from workbench.network.sql_text import Words, predicate_texts, predicates_sql
from workbench.sql.algebra.expressions import Column, Expression, map_columns, substituted
from workbench.sql.predicates.cnf import PredSet, map_expressions, predicate_columns, predicate_expressions


@dataclass(frozen=True)
class Join(BaseNode):
    """Pairs of rows of a left and a right root; columns have source 0 (left) and 1 (right).

    Attributes:
        left_root, right_root: the roots its rows come from (its JVOAs, T6.2.5).
        anchor: tells joins of the same roots apart: a digest of what its first reader required.
        predicates: what holds for every row, over the roots (the JVOA form): the weakest common predicate of its
            readers. Like the columns a node carries it follows from the readers, so it is not part of the identity.
        left, right: the nodes it is evaluated from, in the trees of the roots.
        tested: what is tested on their pairs (the direct form).
        left_leaves, right_leaves: leaves below each side, from which the names of columns follow.
        elements: computed columns, with their expressions over both sides' columns; only in a network as it runs
            (``engine.physical.elements``).
    """

    left_root: NodeId
    right_root: NodeId
    anchor: str
    predicates: PredSet
    left: NodeId
    right: NodeId
    tested: PredSet
    left_leaves: int = 1
    right_leaves: int = 1
    elements: tuple[tuple[str, Expression], ...] = ()

    kind = "join"
    _letter = "J"

    @property
    def parents(self) -> tuple[NodeId, ...]:
        """Ids of the nodes it is evaluated from."""
        return (self.left, self.right)

    @property
    def inputs(self) -> tuple[tuple[NodeId, ...], ...]:
        """The nodes whose common rows are an input, for each input."""
        return ((self.left,), (self.right,))

    @property
    def roots(self) -> tuple[NodeId, NodeId]:
        """The roots its rows come from."""
        return (self.left_root, self.right_root)

    @property
    def leaves(self) -> int:
        """Leaves below both sides."""
        return self.left_leaves + self.right_leaves

    @property
    def names(self) -> JoinNames:
        """The names of its sides' columns in it."""
        return join_names(self.left_leaves, self.right_leaves)

    def _computation(self) -> str:
        return f"join {self.left_root} {self.right_root} on {self.anchor}"

    @property
    def reads(self) -> tuple[Read, ...]:
        """Its reads of each side."""
        return tuple(Read(self.roots[side], side_of(self.predicates, side)) for side in SIDES)

    def carried(self, name: str) -> tuple[NodeId, str] | None:
        """The root of the column's side.

        Raises:
            ValueError: no column of a join has that name.
        """
        side, inner = self.names.input_name(name)
        return self.roots[side], inner

    def computed(self, read: Container[str]) -> Iterable[Expression]:
        """The expressions that the tested predicates compare."""
        return predicate_expressions(self.tested)

    def read_columns(self, columns: Columns) -> Iterable[tuple[NodeId, Column]]:
        """The columns at the sides they come from, and the columns of the tests."""
        made = dict(self.elements)
        carried = (self.names.input(Column(*item)) for item in columns.items() if item[0] not in made)
        operands = columns_of(made[name] for name in columns if name in made)
        for column in (*carried, *operands, *predicate_columns(self.tested)):
            yield self.parents[column.source], column

    def of_carried(self, column: Column) -> Expression:
        """A column of the join as an expression over those that it has of its sides."""
        made = dict(self.elements).get(column.name)
        return column if made is None else map_columns(made, self.names.output)

    def checked_columns(self) -> Checked:
        """The columns of both roots that ``predicates`` or ``tested`` read."""
        read = predicate_columns(self.predicates) | predicate_columns(self.tested)
        return [({side: self.roots[side] for side in SIDES}, read)]

    def with_stored_columns(self, stored: Sequence[StoredColumns]) -> Self:
        """With other tests of pairs."""
        values = {_on_side(value, side): _on_side(c, side) for side in SIDES for value, c in stored[side].items()}
        return replace(self, tested=map_expressions(self.tested, partial(substituted, values=values)))

    def sql(self, words: Words) -> str:
        """The join of its parents."""
        left, right = map(words.node, self.parents)
        on = f" ON {self._tested(words)}" if self.tested else ""
        return f"SELECT * FROM {left} l {'' if on else 'CROSS '}JOIN {right} r{on}"

    def title(self, words: Words) -> str:
        """A join, with its tests."""
        return f"join on {self._tested(words)}" if self.tested else "join of all pairs"

    def label(self, words: Words) -> Iterable[str]:
        """The predicates that are tested."""
        return predicate_texts(words.tested(self.tested, self.roots), words.sides(self.roots))

    def _tested(self, words: Words) -> str:
        return predicates_sql(words.tested(self.tested, self.roots), words.sides(self.roots))


def _on_side(expression: Expression, side: int) -> Expression:
    return map_columns(expression, lambda column: replace(column, source=side))
