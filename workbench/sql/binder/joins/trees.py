"""Outer joins, semijoins and antijoins of a FROM clause, as a tree over its inputs.

While a SELECT is bound its inputs keep their positions, and trees say how they are joined;
``resolving`` makes blocks of them.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from workbench.sql.algebra.expressions import Column, Expression, column_name, map_columns
from workbench.sql.logical import Block, Grouping, Input
from workbench.sql.predicates.cnf import (
    TRUE,
    ORPred,
    PredSet,
    conjunction,
    map_expressions,
    map_predicates,
    predicate_columns,
    predicate_sources,
)

COMPUTED = "_of_"
"""How names of columns begin that stand for expressions; stored names begin with a letter."""


@dataclass(frozen=True)
class Leaf:
    """An input at its position."""

    position: int
    input: Input


@dataclass(frozen=True)
class Rows:
    """Trees that are joined, and the conditions on their rows."""

    trees: tuple[FromTree, ...]
    where: PredSet = TRUE
    window: PredSet = TRUE

    @property
    def positions(self) -> frozenset[int]:
        """Positions of the inputs whose columns the rows have."""
        return frozenset().union(*map(positions, self.trees))

    def and_(self, other: Rows) -> Rows:
        """The join of both."""
        return Rows(
            (*self.trees, *other.trees),
            conjunction(self.where, other.where),
            conjunction(self.window, other.window),
        )


def trees_by_side(
    trees: Sequence[FromTree], left: Container[int], right: Container[int]
) -> tuple[list[FromTree], list[FromTree]] | None:
    """The trees of an outer join's left side, and those of its right one, to which what reads neither belongs.

    Args:
        trees: of both sides, some with subqueries that are joined with what they read.
        left, right: the inputs of the sides, without subqueries.

    Returns:
        ``None`` where a tree has inputs of both.
    """
    of_left = [tree for tree in trees if any(p in left for p in positions(tree))]
    if any(p in right for tree in of_left for p in positions(tree)):
        return None
    return of_left, [tree for tree in trees if tree not in of_left]


@dataclass(frozen=True)
class OuterJoin:
    """An outer join of two sides.

    Attributes:
        sides: left and right.
        on: the condition: no trees.
        kept: the sides whose rows without partner are kept: 0 in a LEFT, 1 in a RIGHT, both in a FULL join.
        computed: columns that stand for expressions over one side, which are NULL where that side is missing.
        single: whether a row has one partner at most; where no side is kept, it has one in any case.
    """

    sides: tuple[Rows, Rows]
    on: Rows
    kept: frozenset[int]
    computed: Mapping[Column, Expression] = field(default_factory=dict)
    single: bool = False

    def over_sides(self, column: Column) -> Expression:
        """A column as an expression over the inputs."""
        return self.computed.get(column, column)


@dataclass(frozen=True)
class SemijoinTree:
    """The rows of the left side that have a partner among one of the others, or with ``anti`` among none.

    Attributes:
        left: whose rows are kept.
        others: each with its condition.
    """

    left: Rows
    others: tuple[tuple[Rows, Rows], ...]
    anti: bool


FromTree = Leaf | OuterJoin | SemijoinTree


def positions(tree: FromTree) -> frozenset[int]:
    """Positions of the inputs whose columns a tree's rows have."""
    match tree:
        case Leaf():
            return frozenset([tree.position])
        case OuterJoin():
            return tree.sides[0].positions | tree.sides[1].positions
        case SemijoinTree():
            return tree.left.positions


def leaves_of(tree: FromTree) -> tuple[Leaf, ...]:
    """The inputs all of whose rows are in those of a tree: of inner joins, and of values that each row has."""
    match tree:
        case Leaf():
            return (tree,)
        case OuterJoin(sides=(left, _), single=True, kept=kept) if kept <= {0}:
            return tuple(leaf for inner in left.trees for leaf in leaves_of(inner))
    return ()


def tied(trees: Iterable[FromTree], predicates: PredSet) -> list[frozenset[int]]:
    """Positions of inputs in groups: the inputs of a group are joined by a tree, or by predicates that read them.

    Rows of two groups are joined each with each.
    """
    groups = [positions(tree) for tree in trees]
    for predicate in predicates:
        read = [group for group in groups if group & predicate_sources(predicate)]
        groups = [*(group for group in groups if group not in read), *([frozenset().union(*read)] if read else [])]
    return groups


def mapped(block: Block, meaning: Mapping[Column, Expression]) -> Block:
    """The block without inputs over other columns; those that are not named stay."""

    def over(column: Column) -> Expression:
        return meaning.get(column, column)

    block = replace(block, where=map_predicates(block.where, over), window=map_predicates(block.window, over))
    return rewritten(block, lambda expression: map_columns(expression, over))


def rewritten(block: Block, change: Callable[[Expression], Expression]) -> Block:
    """The block whose groups and statistics are of other expressions; its results, where it does not group."""
    if block.grouping is None:
        return _with_results(block, change)
    groups = {g: change(g) for g in block.grouping.groups}
    statistics = {s: replace(s, arguments=tuple(map(change, s.arguments))) for s in block.grouping.statistics}
    # Columns of groups are called by what they stand for, and belong to the one relation after grouping.
    named = {
        Column(column_name(old), old.type): Column(column_name(new), new.type)
        for old, new in chain(groups.items(), statistics.items())
    }
    grouping = Grouping(tuple(dict.fromkeys(groups.values())), tuple(dict.fromkeys(statistics.values())))
    return with_results_over(replace(block, grouping=grouping), lambda column: named.get(column, column))


def shift(expression: Expression, offset: int) -> Expression:
    """The expression with its inputs counted from ``offset``."""
    return map_columns(expression, lambda c: _shifted(c, offset)) if offset else expression


def _shifted(column: Column, offset: int) -> Column:
    return column if column.level else replace(column, source=column.source + offset)


def shift_predicates(predicates: PredSet, offset: int) -> PredSet:
    """The predicates with their inputs counted from ``offset``."""
    return map_predicates(predicates, lambda c: shift(c, offset)) if offset else predicates


def with_results_over(block: Block, over: Callable[[Column], Expression]) -> Block:
    """The block with what is computed from its rows, or groups, over other columns."""
    return _with_results(block, lambda expression: map_columns(expression, over))


def _with_results(block: Block, change: Callable[[Expression], Expression]) -> Block:
    return replace(
        block,
        outputs=tuple(replace(o, expression=change(o.expression)) for o in block.outputs),
        having=map_expressions(block.having, change),
        having_window=map_expressions(block.having_window, change),
        analytics=tuple(replace(analyzed, call=analyzed.call.map(change)) for analyzed in block.analytics),
        qualify=map_expressions(block.qualify, change),
    )


def own_sources(predicate: ORPred) -> frozenset[int]:
    """Positions of the inputs that a predicate reads, without inputs of the outer query."""
    return frozenset(column.source for column in predicate_columns(predicate) if not column.level)
