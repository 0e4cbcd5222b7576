"""Conditions whose alternatives read the values of different subqueries: a row passes that has one of several partners.

    σ(b OR a1 OR a2) (l LEFT JOIN r1 LEFT JOIN r2)   is   l SEMIJOIN σ(b) l, l ⋈ r1 ON … AND a1, l ⋈ r2 ON … AND a2

where ``b`` reads ``l`` alone, each row has one partner at most in ``r1`` and in ``r2``, and ``a1`` and ``a2`` are never
true without. Each join has a comparison as its band, so a batch costs the rows between the old value and the new one,
where outer joins have all rows of each group whose value moves. There is one join for each value, however many.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from workbench.sql.algebra.expressions import columns
from workbench.sql.binder.joins.alternatives import MOST_SPLIT
from workbench.sql.binder.joins.null_rejection import rejects_nulls
from workbench.sql.binder.joins.trees import FromTree, OuterJoin, Rows, SemijoinTree, own_sources, positions
from workbench.sql.logical import Block
from workbench.sql.predicates.cnf import (
    Literal,
    Operator,
    ORPred,
    or_pred,
    pred_set,
    predicate_columns,
)

MOST_JOINED = 8
"""Partners of the conditions of a clause, at most: ``a1 AND b1 OR … OR a9 AND b9`` is 512 conditions of nine each."""


def with_one_of_several(trees: Sequence[FromTree], block: Block) -> tuple[list[FromTree], Block]:
    """The trees and the block over them, each such condition being a semijoin below the outer joins.

    Args:
        trees: what is joined.
        block: over their positions. A value that nothing else reads is not joined any more.
    """
    found, joined = list(trees), 0
    for predicate in block.where:
        own = own_sources(predicate)
        taken = [Valued.of(tree) for tree in found if positions(tree) & own]
        rows = Valued(Rows(()), ()) if not taken else taken[0]
        for more in taken[1:]:
            rows = rows.and_(more)
        partners = rows.partners(predicate, of_one_tree=len(taken) == 1)
        if partners and (joined := joined + len(partners)) <= MOST_JOINED:
            block = replace(block, where=pred_set(p for p in block.where if p != predicate))
            left = Rows((SemijoinTree(rows.rows, partners, anti=False),))
            found = [tree for tree in found if not positions(tree) & own]
            found += Valued(left, rows.values).joined(block)
    return found, block


@dataclass(frozen=True)
class Valued:
    """Rows, and the outer joins by each of which they have values of one partner, the innermost first."""

    rows: Rows
    values: tuple[OuterJoin, ...]

    @staticmethod
    def of(tree: FromTree) -> Valued:
        """A tree as rows and the values that they have."""
        match tree:
            case OuterJoin(sides=(left, _), kept=kept, single=True) if kept <= {0}:
                match left:
                    case Rows((inner,), where, window) if not where and not window:
                        below = Valued.of(inner)
                        return replace(below, values=(*below.values, tree))
                return Valued(left, (tree,))
        return Valued(Rows((tree,)), ())

    def and_(self, other: Valued) -> Valued:
        """Both joined, with the values of both."""
        return Valued(self.rows.and_(other.rows), (*self.values, *other.values))

    def joined(self, block: Block) -> tuple[FromTree, ...]:
        """The trees, without values that neither a block nor another value reads."""
        read = {column.source for expression in block.row_expressions() for column in columns(expression)}
        kept = list[OuterJoin]()
        for value in reversed(self.values):
            if value.sides[1].positions & read:
                kept.append(value)
                read |= {column.source for p in (*value.on.where, *value.on.window) for column in predicate_columns(p)}
        rows = self.rows
        for value in reversed(kept):
            rows = Rows((replace(value, sides=(rows, value.sides[1])),))
        return rows.trees

    def partners(self, predicate: ORPred, of_one_tree: bool) -> tuple[tuple[Rows, Rows], ...]:
        """The partners of which a row has one where a condition holds, each with what is said of both.

        None where an alternative may hold of rows without partner, or compares nothing, or where ``alternatives`` has
        branches for them.
        """
        of = {place: value for value in self.values for place in value.sides[1].positions}
        alternatives: defaultdict[tuple[int, ...], list[Literal]] = defaultdict(list)
        for literal in predicate.literals:
            read = sorted(own_sources(or_pred([literal])) & of.keys())
            if not all(rejects_nulls(or_pred([literal]), of[place].sides[1].positions) for place in read):
                return ()
            alternatives[tuple(read)].append(literal)
        compared = any(x.operator is not Operator.IS_NOT_NULL for some in alternatives.values() for x in some)
        are_split = of_one_tree and len(self.values) <= MOST_SPLIT and all(value.kept for value in self.values)
        few = len(alternatives) < 3 and are_split and () in alternatives
        if len(alternatives) < 2 or few or not compared:
            return ()
        found = [self._partner([of[place] for place in read], some) for read, some in alternatives.items()]
        return tuple(partner for partner in found if partner is not None) if None not in found else ()

    def _partner(self, values: Iterable[OuterJoin], literals: Iterable[Literal]) -> tuple[Rows, Rows] | None:
        """Where one alternative looks for partners; ``None`` where their join reads values of others, or a window."""
        rows, on = Rows(()), Rows((), pred_set([or_pred(literals)]))
        for value in values:
            rows, on = rows.and_(value.sides[1]), on.and_(value.on)
        known = self.rows.positions | rows.positions
        return None if on.window or not all(own_sources(p) <= known for p in on.where) else (rows, on)
