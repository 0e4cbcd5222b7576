"""Partners: rows that decide which rows of an input that is joined with them matter.

Where an input of a block has known values, an input that is computed and joined with it matters only in rows of which
it has a partner there: its groups are computed of these alone (magic sets: Bancilhon, Maier, Sagiv, Ullman 1986).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import permutations

from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import Call, Column, Expression, map_columns, sources
from workbench.sql.algebra.types import DataType, Kind
from workbench.sql.functions.calls import call
from workbench.sql.logical import Block, Input, Output, output_columns
from workbench.sql.predicates.cnf import (
    TRUE,
    Literal,
    Operator,
    PredSet,
    conjunction,
    map_predicates,
    pred_set,
    predicate_columns,
)
from workbench.sql.predicates.normal_form import normal_form
from workbench.sql.predicates.null_safe import equal, equal_sides

SAME_KINDS = frozenset({Kind.BOOLEAN, Kind.INTEGER, Kind.DECIMAL, Kind.STRING, Kind.DATE, Kind.TIMESTAMP})
"""Kinds of which equal values are the same in every test; 0.0 and -0.0 are equal and not the same."""


def is_same_where_equal(type_: DataType) -> bool:
    """Whether equal values of a type are the same in every test."""
    if type_.kind is Kind.STRUCT:
        return all(is_same_where_equal(field) for _, field in type_.fields)
    return type_.kind in SAME_KINDS


@dataclass(frozen=True)
class Partners:
    """Rows of which each row that matters has a partner.

    Attributes:
        rows: the partners, each once.
        columns: for each column of them what is equal to it in a row that matters.
        null_safe: for each column whether NULL is a partner of NULL.
    """

    rows: Block
    columns: tuple[Expression, ...]
    null_safe: tuple[bool, ...]

    def over(self, meaning: Mapping[Column, Expression]) -> Partners | None:
        """The same where columns mean something else; ``None`` where it is known of none what they mean."""
        known = [place for place, column in enumerate(self.columns) if column in meaning]
        if not known:
            return None
        outputs = tuple(_outputs(self.rows)[place] for place in known)
        rows = self.rows if len(known) == len(self.columns) else Block((self.rows,), TRUE, outputs, distinct=True)
        own = tuple(column for column in self.columns if isinstance(column, Column) and column in meaning)
        return Partners(rows, tuple(map(meaning.__getitem__, own)), tuple(self.null_safe[place] for place in known))

    def joined_to(self, block: Block) -> Block:
        """A block of the rows that have a partner."""
        own = _outputs(self.rows, len(block.inputs))
        tests = (
            equal(column, output.expression) if safe else normal_form(call("=", column, output.expression))
            for column, output, safe in zip(self.columns, own, self.null_safe, strict=True)
        )
        return replace(block, inputs=(*block.inputs, self.rows), where=conjunction(block.where, *tests))


def _outputs(part: Block, source: int = 0) -> tuple[Output, ...]:
    """The columns of an input, as outputs of what reads it."""
    return tuple(Output(name, Column(stored_name(name), type_, source)) for name, type_ in output_columns(part))


def partners_of(
    block: Block, inputs: Sequence[Input], source: int, known: Set[int], of_value: bool = True
) -> Partners | None:
    """The partners of an input's rows in the inputs that are known, by the columns in which they are equal.

    Args:
        block: joins them.
        inputs: what it reads, as far as they are narrowed.
        source: the place of the input.
        known: the places of those that have known values.
        of_value: whether they are found by known values alone, and not by other conditions as well.

    Returns:
        ``None`` where the input is equal to none of them in a column.
    """
    links = [*column_pairs(block.where)]
    values = [*links, *((own, other, False) for own, other in _computed_partners(block.where))]
    keys = [
        (own, other, safe)
        for own, other, safe in values
        if own.source == source and len(sources(other)) == 1 and sources(other) <= known
    ]
    if not keys:
        return None
    read = [*dict.fromkeys(one for _, other, _ in keys for one in sources(other))]
    for one in read:
        read += dict.fromkeys(b.source for a, b, _ in links if a.source == one and b.source in known - {*read})
    tests = pred_set(
        test
        for test in block.where
        if {column.source for column in predicate_columns(test)} <= {*read}
        and (not of_value or all(x.operator in (Operator.EQ, Operator.IS_NULL) for x in test.literals))
    )

    def renumbered(column: Column) -> Column:
        return replace(column, source=read.index(column.source))

    outputs = tuple(Output(f"k{n}", map_columns(other, renumbered)) for n, (_, other, _) in enumerate(keys))
    rows = Block(tuple(inputs[one] for one in read), map_predicates(tests, renumbered), outputs, distinct=True)
    return Partners(rows, tuple(replace(own, source=0) for own, _, _ in keys), tuple(safe for *_, safe in keys))


def column_pairs(where: PredSet) -> Iterator[tuple[Column, Column, bool]]:
    """Columns that are equal, each pair both ways, and whether NULL is equal to NULL."""
    pairs: list[tuple[Expression, Expression | None, bool]] = [(*sides, True) for sides in equal_sides(where)]
    pairs += [(left, right, False) for left, right in _equal_values(where)]
    for left, right, safe in pairs:
        if isinstance(left, Column) and isinstance(right, Column) and _can_be_equal(left, right):
            yield left, right, safe
            yield right, left, safe


def _computed_partners(where: PredSet) -> Iterator[tuple[Column, Expression]]:
    """Columns that are equal to what is computed, and that."""
    for own, other in (pair for both in _equal_values(where) for pair in permutations(both)):
        if isinstance(own, Column) and isinstance(other, Call) and _can_be_equal(own, other):
            yield own, other


def _equal_values(where: PredSet) -> Iterator[tuple[Expression, Expression]]:
    for predicate in where:
        match predicate.literals:
            case (Literal(left, Operator.EQ, Column() | Call() as right),):
                yield left, right


def _can_be_equal(left: Expression, right: Expression) -> bool:
    return left.type == right.type and left.type.kind in SAME_KINDS
