"""Values that are only compared: which comparisons hold of a row is looked for by joins, and changes where they flip.

    SELECT CASE WHEN x > r.mean THEN … END FROM l LEFT JOIN r ON l.k = r.k
    is  SELECT CASE WHEN found THEN … END FROM l LEFT JOIN r ON l.k = r.k AND l.x > r.mean

where each row has one partner at most, and ``found`` says that it has one. The comparison is a band of the join, so a
batch that moves a mean costs the rows between the old one and the new one; with the mean itself all rows of its group
would come and go. A comparison whose value is shown is TRUE where it holds, FALSE where the opposite does, else NULL.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from workbench.sql.algebra.expressions import Call, Column, Constant, Expression, columns
from workbench.sql.algebra.types import BOOLEAN
from workbench.sql.binder.joins.null_rejection import rejects_nulls
from workbench.sql.binder.joins.one_of_several import Valued
from workbench.sql.binder.joins.trees import COMPUTED, FromTree, Leaf, OuterJoin, Rows, positions, rewritten
from workbench.sql.binder.joins.whole_partitions import keys_compared
from workbench.sql.functions.calls import call
from workbench.sql.logical import Block
from workbench.sql.predicates.cnf import Operator, PredSet, conjunction, map_predicates, predicate_sources
from workbench.sql.predicates.normal_form import normal_form

MOST_COMPARISON_JOINS = 4
"""Comparisons of a clause, at most: each is an outer join."""
_COMPARED = ("=", "<>", "<", "<=", ">", ">=")


def with_comparisons_as_joins(trees: Sequence[FromTree], block: Block) -> tuple[list[FromTree], Block]:
    """The trees and the block over them, each comparison with a value that is not shown being an outer join.

    Args:
        trees: what is joined.
        block: over their positions.
    """
    valued = [Valued.of(tree) for tree in trees]
    values = {leaf.position: (join.on, leaf) for rows in valued for join in rows.values for leaf in _partner(join)}
    # Inner joins with groups stay beside, by their keys alone: of which rows there is a group changes seldom.
    beside = [(tree, keys_compared(tree, block.where)) for tree in trees if isinstance(tree, Leaf)]
    values |= {leaf.position: (Rows((), keys), leaf) for leaf, keys in beside if keys is not None}
    if block.analytics:
        return list(trees), block
    compared = frozenset(values)
    while compared:
        comparisons = _ComparisonJoins(values, compared, 1 + max(place for tree in trees for place in positions(tree)))
        try:
            changed = rewritten(block, comparisons.value)
        except _IsShown as shown:
            compared -= shown.positions
            continue
        if not comparisons.joins or len(comparisons.joins) > MOST_COMPARISON_JOINS:
            break
        # Groups whose key is that of other groups are on the left of the join that looks for these.
        read = {place for join in comparisons.joins.values() for place in predicate_sources(join.on.where)}
        leaves = [leaf for leaf, _ in beside if leaf.position in compared - read]
        rows = Rows(tuple(tree for each in valued for tree in each.joined(changed) if tree not in leaves))
        for join in comparisons.joins.values():
            rows = Rows((replace(join, sides=(rows, join.sides[1])),))
        return [*rows.trees, *leaves], changed
    return list(trees), block


def _partner(join: OuterJoin) -> list[Leaf]:
    return [tree for tree in join.sides[1].trees if isinstance(tree, Leaf)] if len(join.sides[1].trees) == 1 else []


class _IsShown(Exception):
    """Values are read otherwise than by a comparison of which a join finds out whether it holds."""

    def __init__(self, positions: frozenset[int]) -> None:
        self.positions = positions


@dataclass
class _ComparisonJoins:
    """Replaces comparisons with values.

    Attributes:
        values: by position, each with the condition of its join.
        compared: positions of those that are not shown, as far as is known.
        position: the next one for a partner.
        joins: by condition, with what stands for the rows on their left.
    """

    values: dict[int, tuple[Rows, Leaf]]
    compared: frozenset[int]
    position: int
    joins: dict[PredSet, OuterJoin] = field(default_factory=dict)

    def value(self, expression: Expression) -> Expression:
        """An expression of which the value matters."""
        match expression:
            case _ if not (read := self._read(expression)):
                return expression
            case Call("case", parts):
                last = len(parts) - len(parts) % 2
                tested = (self.truth(p) if i < last and i % 2 == 0 else self.value(p) for i, p in enumerate(parts))
                return call("case", *tested)
            case Call("<=>", (condition, Constant(True) as true)):
                return call("<=>", self.truth(condition), true)
            case Call("coalesce", (condition, Constant(False) as false)):
                return call("case", self.truth(condition), Constant(True, BOOLEAN), false)
            case Call(name, arguments) if name in _COMPARED and any(map(self._read, arguments)):
                return self._three_valued(expression)
            case Call("not", (Call(name, _),)) if name in _COMPARED:
                return self._three_valued(expression)
            case Call(name, arguments, type_):
                return Call(name, tuple(map(self.value, arguments)), type_)
        raise _IsShown(read)

    def _three_valued(self, condition: Expression) -> Expression:
        no = self.truth(call("not", condition))
        true, false, unknown = (Constant(value, BOOLEAN) for value in (True, False, None))
        return call("case", self.truth(condition), true, no, false, unknown)

    def truth(self, condition: Expression) -> Expression:
        """A condition of which it matters only where it is true; NULL is as good as FALSE."""
        match condition:
            case _ if not (read := self._read(condition)):
                return condition
            case Call("and" | "or" as name, parts):
                return call(name, *map(self.truth, parts))
            case Call("not", (Call("not", (inner,)),)):
                return self.truth(inner)
            case Call("not", (Call("and" | "or" as name, parts),)):
                return call("or" if name == "and" else "and", *(self.truth(call("not", part)) for part in parts))
            case Call("<=>", (inner, Constant(True))):
                return self.truth(inner)
        tested = normal_form(condition)
        literals = [literal for predicate in tested for literal in predicate.literals]
        if not any(literal.operator is not Operator.IS_NOT_NULL for literal in literals):
            raise _IsShown(read)
        if not all(any(rejects_nulls(p, {place}) for p in tested) for place in read):
            raise _IsShown(read)
        return self._has_partner(tested, sorted(read))

    def _has_partner(self, tested: PredSet, read: Sequence[int]) -> Expression:
        """The condition that a row has a partner for which the tests hold."""
        if tested not in self.joins:
            moved = dict(zip(read, range(self.position, self.position + len(read)), strict=True))
            self.position += len(read)
            joined = [self.values[place] for place in read]

            def over(column: Column) -> Expression:
                return replace(column, source=moved.get(column.source, column.source))

            on = [map_predicates(where, over) for where in (tested, *(by.where for by, _ in joined))]
            windows = [map_predicates(by.window, over) for by, _ in joined]
            partners = Rows(tuple(replace(leaf, position=moved[leaf.position]) for _, leaf in joined))
            found = Column(f"{COMPUTED}found", BOOLEAN, moved[read[0]])
            self.joins[tested] = OuterJoin(
                (Rows(()), partners),
                Rows((), conjunction(*on), conjunction(*windows)),
                frozenset([0]),
                {found: Constant(True, BOOLEAN)},
                single=True,
            )
        (found,) = self.joins[tested].computed
        return call("not", call("is_null", found))

    def _read(self, expression: Expression) -> frozenset[int]:
        return self.compared & {column.source for column in columns(expression) if not column.level}
