"""The blocks that compute the trees of a FROM clause.

When it is known which columns are read and which conditions there are, ``resolved`` makes inner joins and set operators
of the trees::

    l LEFT JOIN r ON c     is  (l ⋈ r) UNION ALL pad(l ANTIJOIN π(l ⋈ r))
    l SEMI JOIN r ON c     is  l SEMIJOIN π(l ⋈ r)        where π keeps the columns of l

SEMIJOIN and ANTIJOIN keep rows of ``l`` as often as they are there; how often they are in the other branch says nothing
but whether they have partners, since that follows from the columns of ``l`` that the condition reads. So both are exact
for bags, with any columns of ``l`` beside these, and only those are kept that are read. The inner join is one like all
others, and is shared with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from workbench.sql.algebra.expressions import Column, Constant, Expression, columns
from workbench.sql.algebra.types import BOOLEAN
from workbench.sql.binder.joins.alternatives import branches, split
from workbench.sql.binder.joins.comparison_joins import with_comparisons_as_joins
from workbench.sql.binder.joins.null_rejection import rejects_nulls
from workbench.sql.binder.joins.one_of_several import with_one_of_several
from workbench.sql.binder.joins.trees import (
    COMPUTED,
    FromTree,
    Leaf,
    OuterJoin,
    Rows,
    SemijoinTree,
    mapped,
    own_sources,
    positions,
)
from workbench.sql.binder.joins.whole_partitions import joined_with_groups_of, with_values_of_groups
from workbench.sql.logical import Block, Input, Output, SetQuery
from workbench.sql.predicates.cnf import (
    TRUE,
    PredSet,
    conjunction,
    map_predicates,
    pred_set,
    predicate_columns,
)

_ALWAYS = Rows(())
"""A condition that always holds."""


def resolved(trees: Iterable[FromTree], block: Block) -> Block:
    """The block with its inputs, and its expressions over columns of these.

    Args:
        trees: what is joined.
        block: without inputs, over the positions of the trees; a column of the outer query is left as it is.
    """
    trees, block = with_values_of_groups(*joined_with_groups_of([*trees], block, resolved))
    trees, block = with_one_of_several(*with_comparisons_as_joins(trees, block))
    return _Resolver(_read(block).union(*map(_read_by_tree, trees))).block(trees, block)


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
    """Rows with the conditions of a block that read nothing else, and the block without these; ``None`` if there are
    none.
    """
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
    """The columns of a tree that have the values of expressions."""
    match tree:
        case Leaf():
            return frozenset()
        case OuterJoin():
            inner = (_computed_in(t) for rows in tree.sides for t in rows.trees)
            return frozenset(tree.computed).union(*inner)
        case SemijoinTree():
            return frozenset().union(*map(_computed_in, tree.left.trees))


def _read_by_tree(tree: FromTree) -> frozenset[Column]:
    """The columns that conditions and expressions of a tree read."""
    match tree:
        case Leaf():
            return frozenset()
        case OuterJoin():
            some: list[Rows] = [*tree.sides, tree.on]
            computed = frozenset().union(*map(columns, tree.computed.values()))
        case SemijoinTree():
            some, computed = [tree.left, *chain.from_iterable(tree.others)], frozenset()
    conditions = frozenset().union(*(predicate_columns(rows.where) | predicate_columns(rows.window) for rows in some))
    if isinstance(tree, OuterJoin) and tree.single:  # what it compares of a value is for itself alone
        own = {inner.position for inner in tree.sides[1].trees if isinstance(inner, Leaf)}
        conditions = frozenset(column for column in conditions if column.source not in own)
    return computed.union(conditions, *(_read_by_tree(inner) for rows in some for inner in rows.trees))


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
            if isinstance(tree, OuterJoin) and (found := split(tree, block.where)) is not None:
                enough, pairs, others = found
                block = replace(block, where=others)
                read = [c for c in self._columns(tree) if c in _read(block)]
                alternatives = branches(tree, enough, pairs, read)
                inputs.append(_set_operation("union", True, [self._select(rows, read) for rows in alternatives]))
                meaning |= {c: Column(_name(i), c.type, place) for i, c in enumerate(read)}
            elif isinstance(tree, Leaf):
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
    """The name of a column of a tree's query."""
    return f"c{place + 1}"
