"""Outer joins, semijoins and antijoins of a FROM clause, as a tree over its inputs; and the blocks that compute them.

While a SELECT is bound its inputs keep their positions, and trees say how they are joined. At the end, when it is known
which columns are read and which conditions there are, ``resolved`` makes inner joins and set operators of the trees::

    l LEFT JOIN r ON c     is  (l ⋈ r) UNION ALL pad(l ANTIJOIN π(l ⋈ r))
    l SEMI JOIN r ON c     is  l SEMIJOIN π(l ⋈ r)        where π keeps the columns of l

SEMIJOIN and ANTIJOIN keep rows of ``l`` as often as they are there; how often they are in the other branch says nothing
but whether they have partners, since that follows from the columns of ``l`` that the condition reads. So both are exact
for bags, with any columns of ``l`` beside these, and only those are kept that are read. The inner join is one like all
others, and is shared with them.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from workbench.sql.algebra.expressions import Column, Constant, Expression, column_name, columns, map_columns
from workbench.sql.algebra.types import BOOLEAN
from workbench.sql.binder.joins.null_rejection import rejects_nulls
from workbench.sql.logical import Block, Grouping, Input, Output, SetQuery
from workbench.sql.predicates.cnf import (
    TRUE,
    ORPred,
    PredSet,
    conjunction,
    map_predicates,
    pred_set,
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
        """Both joined."""
        return Rows(
            (*self.trees, *other.trees),
            conjunction(self.where, other.where),
            conjunction(self.window, other.window),
        )


_ALWAYS = Rows(())
"""A condition that always holds."""


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
    """

    sides: tuple[Rows, Rows]
    on: Rows
    kept: frozenset[int]
    computed: Mapping[Column, Expression] = field(default_factory=dict)

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


def tied(trees: Iterable[FromTree], predicates: PredSet) -> list[frozenset[int]]:
    """Positions of inputs in groups: those of one group are joined by a tree, or by predicates that read them.

    Rows of two groups are joined each with each.
    """
    groups = [positions(tree) for tree in trees]
    for predicate in predicates:
        read = [group for group in groups if group & predicate_sources(predicate)]
        groups = [*(group for group in groups if group not in read), *([frozenset().union(*read)] if read else [])]
    return groups


def resolved(trees: Iterable[FromTree], block: Block) -> Block:
    """The block with its inputs, and what it reads as columns of these.

    Args:
        trees: what is joined.
        block: without inputs, over the positions of the trees; a column of the outer query is left as it is.
    """
    trees = list(trees)
    return _Resolver(_read(block).union(*map(_read_by_tree, trees))).block(trees, block)


def mapped(block: Block, meaning: Mapping[Column, Expression]) -> Block:
    """The block without inputs over other columns; those that are not named stay."""

    def over(column: Column) -> Expression:
        return meaning.get(column, column)

    block = replace(block, where=map_predicates(block.where, over), window=map_predicates(block.window, over))
    if block.grouping is None:
        return with_results_over(block, over)
    groups = {g: map_columns(g, over) for g in block.grouping.groups}
    statistics = {
        s: replace(s, arguments=tuple(map_columns(a, over) for a in s.arguments)) for s in block.grouping.statistics
    }
    # Columns of groups are called by what they stand for, and belong to the one relation after grouping.
    named = {
        Column(column_name(old), old.type): Column(column_name(new), new.type)
        for old, new in chain(groups.items(), statistics.items())
    }
    grouping = Grouping(tuple(groups.values()), tuple(statistics.values()))
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

    def expression(one: Expression) -> Expression:
        return map_columns(one, over)

    return replace(
        block,
        outputs=tuple(replace(o, expression=expression(o.expression)) for o in block.outputs),
        having=map_predicates(block.having, over),
        having_window=map_predicates(block.having_window, over),
        analytics=tuple(replace(analyzed, call=analyzed.call.map(expression)) for analyzed in block.analytics),
        qualify=map_predicates(block.qualify, over),
    )


def own_sources(predicate: ORPred) -> frozenset[int]:
    """Positions of the inputs that a predicate reads, those of the outer query left out."""
    return frozenset(column.source for column in predicate_columns(predicate) if not column.level)


def _simplified(trees: list[FromTree], block: Block) -> tuple[list[FromTree], Block]:
    """Outer joins made inner where a condition rejects their NULLs, and conditions moved below the others.

    It goes on until nothing changes: a condition of a join that has become inner may reject NULLs of the next one.
    """
    while True:
        for place, tree in enumerate(trees):
            changed = None
            match tree:
                case OuterJoin():
                    changed = _simpler_outer_join(tree, block)
                case SemijoinTree():
                    changed = _below(tree, block)
            if changed is not None:
                others, block = changed
                trees[place : place + 1] = others
                break
        else:
            return trees, block


def _simpler_outer_join(join: OuterJoin, block: Block) -> tuple[Sequence[FromTree], Block] | None:
    conditions = [*block.where, *block.window]
    kept = frozenset(
        side for side in join.kept if not any(rejects_nulls(p, join.sides[1 - side].positions) for p in conditions)
    )
    if not kept:
        rows = join.sides[0].and_(join.sides[1]).and_(join.on)
        block = mapped(block, join.computed)
        where, window = conjunction(block.where, rows.where), conjunction(block.window, rows.window)
        return rows.trees, replace(block, where=where, window=window)
    if len(kept) == 1:
        (side,) = kept
        rows, below = _with_conditions(join.sides[side], block, join.computed)
        if below is not None:
            sides = (rows, join.sides[1]) if side == 0 else (join.sides[0], rows)
            return [replace(join, sides=sides, kept=kept)], below
    return ([replace(join, kept=kept)], block) if kept != join.kept else None


def _below(join: SemijoinTree, block: Block) -> tuple[Sequence[FromTree], Block] | None:
    left, below = _with_conditions(join.left, block, {})
    return None if below is None else ([replace(join, left=left)], below)


def _with_conditions(rows: Rows, block: Block, computed: Mapping[Column, Expression]) -> tuple[Rows, Block | None]:
    """Rows with those conditions of a block that read nothing else, and the block without; ``None`` if it has none."""
    own = rows.positions

    def own_predicates(predicates: PredSet) -> PredSet:
        return pred_set(p for p in predicates if own_sources(p) and own_sources(p) <= own)

    where, window = own_predicates(block.where), own_predicates(block.window)
    if not where and not window:
        return rows, None

    def over(column: Column) -> Expression:
        return computed.get(column, column)

    more = Rows((), map_predicates(where, over), map_predicates(window, over))
    rest = replace(
        block,
        where=pred_set(p for p in block.where if p not in where.or_preds),
        window=pred_set(p for p in block.window if p not in window.or_preds),
    )
    return rows.and_(more), rest


def _read(block: Block) -> frozenset[Column]:
    """The columns of inputs that a block reads."""
    return frozenset(c for e in block.row_expressions() for c in columns(e) if c.source >= 0 and not c.level)


def _computed_in(tree: FromTree) -> frozenset[Column]:
    """The columns that stand for expressions in a tree."""
    match tree:
        case Leaf():
            return frozenset()
        case OuterJoin():
            inner = (_computed_in(t) for rows in tree.sides for t in rows.trees)
            return frozenset(tree.computed).union(*inner)
        case SemijoinTree():
            return frozenset().union(*map(_computed_in, tree.left.trees))


def _read_by_tree(tree: FromTree) -> frozenset[Column]:
    """The columns that conditions of a tree read, and what is computed in it."""
    match tree:
        case Leaf():
            return frozenset()
        case OuterJoin():
            some: list[Rows] = [*tree.sides, tree.on]
            computed = frozenset().union(*map(columns, tree.computed.values()))
        case SemijoinTree():
            some, computed = [tree.left, *chain.from_iterable(tree.others)], frozenset()
    conditions = (predicate_columns(rows.where) | predicate_columns(rows.window) for rows in some)
    return computed.union(*conditions, *(_read_by_tree(inner) for rows in some for inner in rows.trees))


@dataclass
class _Resolver:
    """Makes blocks of trees.

    Attributes:
        needed: the columns that anything reads. A tree gives those of them that it has, wherever it stands: the rows of
            a join and the rows without partner are of the same tree, which so is computed once.
        known: the trees that are queries by now. Equal ones are one object, which is translated once.
    """

    needed: frozenset[Column]
    known: list[tuple[FromTree, SetQuery]] = field(default_factory=list)

    def block(self, trees: Iterable[FromTree], block: Block, on: Rows = _ALWAYS) -> Block:
        """The block with these trees as its inputs, and more conditions that stay above them."""
        simple, block = _simplified(list(trees), block)
        where, window = conjunction(block.where, on.where), conjunction(block.window, on.window)
        block = replace(block, where=where, window=window)
        if all(isinstance(tree, Leaf) and tree.position == place for place, tree in enumerate(simple)):
            return replace(block, inputs=tuple(tree.input for tree in simple if isinstance(tree, Leaf)))
        inputs: list[Input] = []
        meaning: dict[Column, Expression] = {}
        for place, tree in enumerate(simple):
            if isinstance(tree, Leaf):
                inputs.append(tree.input)
                meaning |= {c: replace(c, source=place) for c in _read(block) if c.source == tree.position}
            else:
                inputs.append(self._query(tree))
                meaning |= {c: Column(_name(i), c.type, place) for i, c in enumerate(self._columns(tree))}
        return replace(mapped(block, meaning), inputs=tuple(inputs))

    def _columns(self, tree: FromTree) -> list[Column]:
        """The columns that a tree's query has."""
        there, computed = positions(tree), _computed_in(tree)
        own = (
            column
            for column in self.needed
            if column.source in there and (column in computed or not column.name.startswith(COMPUTED))
        )
        return sorted(own, key=lambda column: (column.source, column.name))

    def _query(self, tree: OuterJoin | SemijoinTree) -> SetQuery:
        found = next((query for other, query in self.known if other == tree), None)
        if found is None:
            found = self._outer_join(tree) if isinstance(tree, OuterJoin) else self._semijoin(tree)
            self.known.append((tree, found))
        return found

    def _outer_join(self, join: OuterJoin) -> SetQuery:
        """The pairs, and the rows of a side without partner with NULL for the columns of the other side."""
        read = self._columns(join)
        values = [join.over_sides(column) for column in read]
        sides = {}
        for side in sorted(join.kept):
            own = [v for c, v in zip(read, values, strict=True) if c.source in join.sides[side].positions]
            sides[side] = _with_keys(own, join.sides[side], join.on)
        kept = list(dict.fromkeys(chain(values, *sides.values())))
        pairs = self._select(join.sides[0].and_(join.sides[1]).and_(join.on), kept)
        branches = [_part(pairs, kept, values)]
        for side, own in sides.items():
            left = self._select(join.sides[side], own)
            alone = _set_operation("antijoin", False, [left, _part(pairs, kept, own)])
            place = iter(range(len(own)))
            outputs = [
                Column(_name(next(place)), c.type) if c.source in join.sides[side].positions else Constant(None, c.type)
                for c in read
            ]
            branches.append(Block((alone,), TRUE, _outputs(outputs)))
        return _set_operation("union", True, branches)

    def _semijoin(self, join: SemijoinTree) -> SetQuery:
        """The rows that have partners, or none."""
        conditions = [on for _, on in join.others]
        own = _with_keys(self._columns(join), join.left, *conditions)
        # The left side is the same query in all: what a condition says of it alone is tested of its rows, since there
        # would be twice as many of it with each antijoin in it.
        pairs = [self._select(join.left.and_(other), own, on) for other, on in join.others]
        operator = "antijoin" if join.anti else "semijoin"
        return _set_operation(operator, False, [self._select(join.left, own), *pairs])

    def _select(self, rows: Rows, values: Sequence[Expression], on: Rows = _ALWAYS) -> Block:
        return self.block(rows.trees, Block((), rows.where, _outputs(values), window=rows.window), on)


def _with_keys(values: Iterable[Expression], rows: Rows, *conditions: Rows) -> list[Expression]:
    """Values of rows, followed by the columns by which their partners are found."""
    tested = (predicate_columns(on.where) | predicate_columns(on.window) for on in conditions)
    keys = (column for column in frozenset().union(*tested) if column.source in rows.positions)
    return list(dict.fromkeys([*values, *sorted(keys, key=lambda column: (column.source, column.name))]))


def _part(pairs: Block, kept: Sequence[Expression], values: Sequence[Expression]) -> Block:
    """Some values of a block that has them all."""
    places = {value: place for place, value in enumerate(kept)}
    return Block((pairs,), TRUE, _outputs([Column(_name(places[value]), value.type) for value in values]))


def _outputs(values: Sequence[Expression]) -> tuple[Output, ...]:
    """The columns of a query of a tree; one in any case, since the number of rows matters too."""
    return tuple(Output(_name(i), value) for i, value in enumerate(values or [Constant(True, BOOLEAN)]))


def _set_operation(operator: str, all_: bool, branches: Sequence[Block]) -> SetQuery:
    outputs = branches[0].outputs
    names, types = tuple(o.name for o in outputs), tuple(o.type for o in outputs)
    return SetQuery(operator, all_, tuple(branches), names, types)


def _name(place: int) -> str:
    """What a column of a tree's query is called."""
    return f"c{place + 1}"
