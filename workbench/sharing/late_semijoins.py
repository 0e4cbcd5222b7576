"""Moves semijoins and antijoins above other joins of the block: only rows that these joins leave are looked up.

The binder ties a subquery's condition to the inputs that it reads, below all other joins, where other queries may share
it. A semijoin keeps rows and adds none, so it may stand above an inner join too, duplicates included::

    σ[c] ((L SEMIJOIN π(L ⋈ R)) ⋈ S)   =   X SEMIJOIN π(X ⋈ R)        X = σ[c] (L ⋈ S)

and likewise an antijoin. Where few rows of ``L`` have a partner in ``S`` that is far less work: in TPC-H's 21st
question one line in a hundred is of an order and a supplier that are asked for. Which of the two forms costs less is
for ``Planner.register`` to decide, by what the network has already.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import Column, Constant, Expression, columns, reading_order
from workbench.sql.algebra.types import BOOLEAN
from workbench.sql.binder.joins.trees import mapped
from workbench.sql.logical import Block, Input, LogicalQuery, Output, SetQuery, as_query
from workbench.sql.predicates.cnf import TRUE, PredSet, conjunction, map_predicates, pred_set, predicate_columns

MOST_MOVED = 8
"""Semijoins of a query that are moved: views that are joined with each other have twice as many with each level."""


def with_late_semijoins(query: LogicalQuery) -> LogicalQuery:
    """A query whose semijoins and antijoins come after the joins of their SELECT; an equal query, if none comes before
    one.

    Args:
        query: bound, not yet planned.
    """
    return as_query(_Placement().part(query))


@dataclass
class _Placement:
    """Moves the semijoins of a query.

    Attributes:
        done: parts with what becomes of them, by their identity: one that is read twice stays one object.
        moved: how many are moved by now.
    """

    done: dict[int, tuple[Input, Input]] = field(default_factory=dict)
    moved: int = 0

    def part(self, part: Input) -> Input:
        """What becomes of a part. Outer ones come first: the branches of a semijoin are compared as they were bound."""
        if id(part) not in self.done:
            moved = self._above_joins(part) if isinstance(part, Block) and self.moved < MOST_MOVED else part
            self.done[id(part)] = part, moved.map(self.part)
        return self.done[id(part)][1]

    def _above_joins(self, block: Block) -> Block:
        """A block whose first semijoin comes after the joins of all its other inputs."""
        for place, item in enumerate(block.inputs):
            match item:
                case SetQuery(operator="semijoin" | "antijoin", branches=(Block() as kept, *others)) if (
                    len(block.inputs) > 1 and kept.is_plain and not kept.single
                ):
                    pairs = [_Pairs(kept, branch) for branch in others if isinstance(branch, Block)]
                    if len(pairs) == len(others) and all(each.are_of_kept for each in pairs):
                        self.moved += 1
                        return _with_semijoin_on_top(block, place, item, pairs)
        return block


@dataclass(frozen=True)
class _Pairs:
    """A branch of a semijoin: the rows of the kept side, joined with where their partners are."""

    kept: Block
    branch: Block

    @property
    def are_of_kept(self) -> bool:
        """Whether it has the rows of the kept side, tied to the partners by columns that this side gives."""
        kept, branch = self.kept, self.branch
        if not branch.is_plain or branch.single or branch.inputs[: len(kept.inputs)] != kept.inputs:
            return False
        given = [output.expression for output in kept.outputs]
        same = [frozenset(kept.where) <= frozenset(branch.where), frozenset(kept.window) <= frozenset(branch.window)]
        return all(same) and self.keys <= {*given} and given == [output.expression for output in branch.outputs]

    @property
    def where(self) -> PredSet:
        """The conditions that do not read the kept side alone."""
        return pred_set(p for p in self.branch.where if p not in self.kept.where.or_preds)

    @property
    def window(self) -> PredSet:
        """The conditions on times that do not read the kept side alone."""
        return pred_set(p for p in self.branch.window if p not in self.kept.window.or_preds)

    @property
    def keys(self) -> frozenset[Expression]:
        """The columns of the kept side that these conditions read."""
        read = (predicate_columns(p) for p in (*self.where, *self.window))
        return frozenset(c for some in read for c in some if c.source < len(self.kept.inputs))

    def of(self, rows: Block) -> Block:
        """The pairs of other rows, which give the keys, too."""
        own = {output.expression: Column(output.name, output.type) for output in rows.outputs}
        number = len(self.kept.inputs)

        def over(column: Column) -> Expression:
            return own[column] if column.source < number else replace(column, source=column.source - number + 1)

        where, window = map_predicates(self.where, over), map_predicates(self.window, over)
        outputs = tuple(Output(o.name, Column(o.name, o.type)) for o in rows.outputs)
        return Block((rows, *self.branch.inputs[number:]), where, outputs, window=window)


def _with_semijoin_on_top(block: Block, place: int, item: SetQuery, pairs: list[_Pairs]) -> Block:
    """The block over one input: the semijoin at a place, of the rows that the block's conditions leave."""
    kept = pairs[0].kept
    given = {stored_name(output.name): output.expression for output in kept.outputs}
    others = [other for other in range(len(block.inputs)) if other != place]
    sources = {other: number for number, other in enumerate(others, start=len(kept.inputs))}

    def over(column: Column) -> Expression:
        """Rewrite a column of the block as an expression over all inputs, the kept side's first."""
        if column.source == place:
            return given[column.name]
        return replace(column, source=sources[column.source]) if column.source in sources else column

    rest = replace(block, inputs=(), where=TRUE, window=TRUE)
    read = {c: over(c) for e in rest.row_expressions() for c in columns(e) if c.source >= 0 and not c.level}
    keys = frozenset().union(*(each.keys for each in pairs))
    results = sorted({*read.values(), *keys}, key=reading_order) or [Constant(True, BOOLEAN)]
    outputs = tuple(Output(f"c{number}", result) for number, result in enumerate(results, start=1))
    where, window = map_predicates(block.where, over), map_predicates(block.window, over)
    rows = Block(
        (*kept.inputs, *(block.inputs[other] for other in others)),
        conjunction(kept.where, where),
        outputs,
        window=conjunction(kept.window, window),
    )
    names, types = tuple(o.name for o in outputs), tuple(o.type for o in outputs)
    late = replace(item, branches=(rows, *(each.of(rows) for each in pairs)), names=names, types=types)
    named = {output.expression: Column(output.name, output.type) for output in outputs}
    return replace(mapped(rest, {column: named[result] for column, result in read.items()}), inputs=(late,))
