"""Joins by a foreign key, made simpler before they are planned (T6.1 leaves that open; T11.1.1).

A foreign key says that each row finds exactly one row of the target, or has a NULL in it and finds none. So::

    L ANTIJOIN π(L ⋈ T)  =  σ[fk IS NULL] L            an outer join needs no state of its own, and no antijoin
    L SEMIJOIN π(L ⋈ T)  =  σ[fk IS NOT NULL] L        EXISTS, IN
    π(L ⋈ T)             =  π(σ[fk IS NOT NULL] L)     where nothing else is read of T: the join preserves cardinality

The rules look at the joins that the binder makes of a text (``binder/joins/trees``), whatever it was. Where the row of
the target may come late, the join says whether it has come, and stays. What a query means stays as it was bound: only
the plan relies on the constraint, and ``checks_of`` has the check of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.sharing.decisions import Record
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import Column, Constant, Expression, columns, map_columns
from workbench.sql.binder.joins.trees import mapped
from workbench.sql.constraints import Constraint, ForeignKey, foreign_keys
from workbench.sql.logical import (
    Block,
    Input,
    LogicalQuery,
    Output,
    SetQuery,
    StreamInput,
    as_query,
    rebuilt,
    streams_of,
)
from workbench.sql.predicates.cnf import (
    TRUE,
    Literal,
    Operator,
    ORPred,
    PredSet,
    conjunction,
    or_pred,
    pred_set,
    predicate_columns,
)

_PAIR = 2
"""The branches of a semijoin, an antijoin or a UNION that the rules look at."""


def simplified_by_keys(query: LogicalQuery, constraints: Collection[Constraint], record: Record) -> LogicalQuery:
    """A query without the joins, and with simpler outer joins, that foreign keys make needless.

    Args:
        query: bound, not yet planned.
        constraints: those that hold.
        record: gets a note of each join that is made simpler.
    """
    keys = tuple(key for key in foreign_keys(constraints, streams_of(query)) if not key.late)
    return as_query(rebuilt(query, _Simplifier(keys, record).part)) if keys else query


@dataclass(frozen=True)
class _Partner:
    """A join of a block with the target of a foreign key: the place of the target, and the key over the block."""

    key: ForeignKey
    place: int
    refers: tuple[Column, ...]
    tests: frozenset[ORPred]

    @property
    def known(self) -> PredSet:
        """The condition that the row refers to some row."""
        return _known(self.refers)


@dataclass(frozen=True)
class _Simplifier:
    keys: tuple[ForeignKey, ...]
    record: Record

    def part(self, part: Input) -> Input:
        """A part of a query whose own parts are simple."""
        match part:
            case Block():
                return self._block(part)
            case SetQuery(operator="semijoin" | "antijoin", branches=(Block() as kept, Block() as pairs)):
                return self._semijoin(part, kept, pairs)
            case SetQuery(operator="union", all=True, branches=(Block() as first, Block() as second)):
                return _united(_merged(first), _merged(second)) or part
        return part

    def _block(self, block: Block) -> Block:
        """A block without the targets of which it reads nothing but the key, which is in the row that refers, too."""
        for place in range(len(block.inputs)):
            known = next((partner for partner in self._partners(block) if partner.place == place), None)
            block = block if known is None else _over_referring(block, known)
        while (unread := next((p for p in self._partners(block) if not _reads(block, p)), None)) is not None:
            key = unread.key
            self.record.note(f"join with {key.target} dropped: {key}, and nothing else is read of it")
            block = _without(block, unread, unread.known)
        return block

    def _semijoin(self, part: SetQuery, kept: Block, pairs: Block) -> Input:
        """The rows of a side with partners in a target, or those without, as a selection."""
        kept, pairs = _merged(kept), _merged(pairs)
        for partner in self._partners(pairs):
            if not _reads(pairs, partner) and _same_rows(_without(pairs, partner, TRUE), kept):
                self.record.note(f"partners in {partner.key.target} are not looked for: {partner.key}")
                return _selected(part, kept, [_renumbered(column, partner.place) for column in partner.refers])
        # A join whose target nothing reads is a selection by now.
        known = frozenset(pairs.where) - frozenset(kept.where)
        if _same_rows(replace(pairs, where=kept.where), kept) and frozenset(kept.where) <= frozenset(pairs.where):
            return _selected(part, kept, _known_columns(known))
        return part

    def _partners(self, block: Block) -> Iterator[_Partner]:
        """The joins of a block whose inputs are found by a foreign key, and by no other condition."""
        for place, item in enumerate(block.inputs):
            own = frozenset(p for p in block.where if place in {c.source for c in predicate_columns(p) if not c.level})
            for key in self.keys:
                named = _key_names(item, key)
                if named is None or len(block.inputs) < _PAIR:
                    continue
                refers = _referring(own, place, named)
                if refers is None:
                    continue
                found = [refers.get(column) for column in key.key]
                sources = {column.source for column in found if column is not None}
                if len(sources) == 1 and self._is(block, sources.pop(), key, found):
                    yield _Partner(key, place, tuple(c for c in found if c is not None), own)

    def _is(self, block: Block, source: int, key: ForeignKey, found: list[Column | None]) -> bool:
        """Whether the columns of an input form a foreign key."""
        item = block.inputs[source]
        names = tuple(column.name for column in found if column is not None)
        return isinstance(item, StreamInput) and item.stream == key.stream and names == key.columns


def _key_names(item: Input, key: ForeignKey) -> Mapping[str, str] | None:
    """For the columns of an input the columns of a key's target: of the target, or of its distinct keys."""
    match item:
        case StreamInput():
            return {column: column for column in key.key} if item.stream == key.target else None
        case Block(inputs=(StreamInput() as inner,), distinct=True, grouping=None, analytics=()):
            plain = not item.window and inner.stream == key.target
            given = {stored_name(o.name): o.expression for o in item.outputs}
            names = {name: e.name for name, e in given.items() if isinstance(e, Column)}
            known = frozenset(item.where) <= {or_pred([Literal(e, Operator.IS_NOT_NULL)]) for e in given.values()}
            return names if plain and known and sorted(names.values()) == sorted(key.key) else None
    return None


def _referring(own: frozenset[ORPred], place: int, named: Mapping[str, str]) -> dict[str, Column] | None:
    """For each column of a key the column that must equal it; ``None`` where the conditions are others."""
    found: dict[str, Column] = {}
    for predicate in own:
        match predicate.literals:
            case (Literal(Column() as left, Operator.EQ, Column() as right),) if left.type == right.type:
                inner, outer = (left, right) if left.source == place else (right, left)
                if inner.source != place or outer.source == place or outer.level or inner.name not in named:
                    return None
                if found.setdefault(named[inner.name], outer) != outer:
                    return None
            case _:
                return None
    return found if len(found) == len(named) else None


def _reads(block: Block, partner: _Partner) -> bool:
    """Whether a block reads more of a target than the key."""
    rest = replace(block, where=pred_set(p for p in block.where if p not in partner.tests))
    return any(c.source == partner.place and not c.level for e in rest.row_expressions() for c in columns(e))


def _without(block: Block, partner: _Partner, known: PredSet) -> Block:
    """A block without a target that it does not read, and with something in place of the conditions on that."""
    where = conjunction(pred_set(p for p in block.where if p not in partner.tests), known)
    inputs = block.inputs[: partner.place] + block.inputs[partner.place + 1 :]
    block = replace(block, inputs=(), where=where)
    read = {c for e in block.row_expressions() for c in columns(e) if not c.level and c.source > partner.place}
    return replace(mapped(block, {c: _renumbered(c, partner.place) for c in read}), inputs=inputs)


def _selected(part: SetQuery, kept: Block, refers: Sequence[Column]) -> Input:
    """The rows of a semijoin that have a partner, or the rows of an antijoin that have none."""
    if not refers or not {*refers} <= {*_results(kept)}:
        return part
    unknown = pred_set([or_pred(Literal(column, Operator.IS_NULL) for column in refers)])
    return replace(kept, where=conjunction(kept.where, unknown if part.operator == "antijoin" else _known(refers)))


def _known(refers: Iterable[Column]) -> PredSet:
    return pred_set(or_pred([Literal(column, Operator.IS_NOT_NULL)]) for column in refers)


def _over_referring(block: Block, partner: _Partner) -> Block:
    """A block that reads the key of a target in the row that refers to it."""
    item = block.inputs[partner.place]
    own = {key: name for name, key in (_key_names(item, partner.key) or {}).items()}
    over = {
        replace(column, name=own[key], source=partner.place): column
        for key, column in zip(partner.key.key, partner.refers, strict=True)
    }
    rest = mapped(replace(block, inputs=(), where=pred_set(p for p in block.where if p not in partner.tests)), over)
    return replace(rest, inputs=block.inputs, where=conjunction(rest.where, pred_set(partner.tests)))


def _renumbered(column: Column, gone: int) -> Column:
    return replace(column, source=column.source - 1) if column.source > gone else column


def _same_rows(one: Block, other: Block) -> bool:
    plain = one.is_plain and other.is_plain and one.window == other.window
    return plain and (one.inputs, one.where, _results(one)) == (other.inputs, other.where, _results(other))


def _results(block: Block) -> list[object]:
    return [output.expression for output in block.outputs]


def _known_columns(predicates: Collection[ORPred]) -> list[Column]:
    """The columns of conditions each of which says that a column is not NULL; none where one says something else."""
    tested = [p.literals[0] for p in predicates if len(p.literals) == 1]
    found = [x.left for x in tested if x.operator is Operator.IS_NOT_NULL and isinstance(x.left, Column)]
    return found if len(found) == len(predicates) else []


def _merged(block: Block) -> Block:
    """A block that only chooses columns of another, as that one with these columns."""
    match block:
        case Block(inputs=(Block() as inner,), where=where, window=window) if (
            block.is_plain and inner.is_plain and not inner.single and not where and not window
        ):
            inner = _merged(inner)
            given = {stored_name(output.name): output.expression for output in inner.outputs}

            def over(column: Column) -> Expression:
                return given.get(column.name, column)

            return replace(inner, outputs=tuple(Output(o.name, map_columns(o.expression, over)) for o in block.outputs))
    return block


def _united(first: Block, second: Block) -> Block | None:
    """Rows that refer to some row, and those that refer to none, as the rows of both; or one of them, if none is in
    the other."""
    if _is_empty(second):
        return first
    only, others = frozenset(first.where) - frozenset(second.where), frozenset(second.where) - frozenset(first.where)
    refers = _known_columns(only)
    if not refers or others != {or_pred(Literal(column, Operator.IS_NULL) for column in refers)}:
        return None
    whole = replace(first, where=pred_set(p for p in first.where if p not in only))
    # What is NULL beside the only column that refers, where that is NULL, is the same as that column.
    alike: dict[Expression, Expression] = {Constant(None, refers[0].type): refers[0]} if len(refers) == 1 else {}
    outputs = tuple(replace(o, expression=alike.get(o.expression, o.expression)) for o in second.outputs)
    return whole if _same_rows(whole, replace(second, where=whole.where, outputs=outputs)) else None


def _is_empty(block: Block) -> bool:
    """Whether a column of the block's rows would have to be NULL and to have a value."""
    tested = [p.literals for p in block.where]
    missing = {x[0].left for x in tested if len(x) == 1 and x[0].operator is Operator.IS_NULL}
    return block.is_plain and any(
        literal.operator is not Operator.IS_NULL and not missing.isdisjoint(literal.expressions)
        for literals in tested
        if len(literals) == 1
        for literal in literals
    )
