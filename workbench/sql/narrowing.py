"""Known values of a query's rows moved down to where these are stored: below groups, partitions and set operators.

A row of an ANTIJOIN, EXCEPT or INTERSECT is compared with rows of the other branches that are equal to it in all
columns, so only those that have the known values matter there as well. What is tested above stays there.

Where an input has known values, an input that is computed and joined with it matters only in rows of which it has a
partner there: its groups are computed of these alone (magic sets: Bancilhon, Maier, Sagiv, Ullman 1986). Where these
are found first, their values are known ones of that input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import Column, Expression, column_name
from workbench.sql.algebra.types import Kind
from workbench.sql.functions.calls import call
from workbench.sql.logical import (
    Block,
    Input,
    Ordered,
    Output,
    SetQuery,
    StreamInput,
    as_query,
    output_columns,
    parts_of,
)
from workbench.sql.predicates.canonical import canonical
from workbench.sql.predicates.cnf import (
    FALSE,
    TRUE,
    Operator,
    ORPred,
    PredSet,
    conjunction,
    map_predicates,
    pred_set,
    predicate_columns,
)
from workbench.sql.predicates.normal_form import normal_form
from workbench.sql.predicates.null_safe import equal, equal_sides

_SAME = frozenset({Kind.BOOLEAN, Kind.INTEGER, Kind.DECIMAL, Kind.STRING, Kind.DATE, Kind.TIMESTAMP})
"""Kinds of which equal values are the same in every test; 0.0 and -0.0 are equal and not the same."""


@dataclass(frozen=True)
class _Partners:
    """Rows of which each row that matters has a partner.

    Attributes:
        rows: the partners, each once.
        columns: for each column of them what is equal to it in a row that matters.
        null_safe: for each column whether NULL is a partner of NULL.
    """

    rows: Block
    columns: tuple[Expression, ...]
    null_safe: tuple[bool, ...]

    def over(self, meaning: Mapping[Column, Expression]) -> _Partners | None:
        """The same where columns mean something else; ``None`` where it is known of none what they mean."""
        known = [place for place, column in enumerate(self.columns) if column in meaning]
        if not known:
            return None
        outputs = tuple(_outputs(self.rows)[place] for place in known)
        rows = self.rows if len(known) == len(self.columns) else Block((self.rows,), TRUE, outputs, distinct=True)
        own = tuple(column for column in self.columns if isinstance(column, Column) and column in meaning)
        return _Partners(rows, tuple(map(meaning.__getitem__, own)), tuple(self.null_safe[place] for place in known))

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


Find = Callable[[Block, Sequence[Expression]], PredSet]
"""Says which values expressions have in the rows of a block, which has a column for each; TRUE where these are many."""


def with_inner_tests(block: Block, find: Find = lambda rows, columns: TRUE) -> Block:
    """A block that gives the same rows, of inputs that have fewer.

    Each condition on one input alone is tested inside this too, if it can be, and HAVING on groups alone in WHERE.

    Args:
        block: the block.
        find: finds the values that partners have; where it does not, the partners are joined.
    """
    return _narrowed(block, None, find)


def _narrowed(block: Block, partners: int | None, find: Find) -> Block:
    """What ``with_inner_tests`` gives; one of the inputs may be the partners of rows that matter."""
    if block.grouping is not None and block.having:
        groups = {Column(column_name(group), group.type): group for group in block.grouping.groups}
        block = replace(block, where=conjunction(block.where, _over(block.having, groups)))
    block = replace(block, where=_with_equal_columns(block.where))
    tests = [_of_input(block.where, source) for source in range(len(block.inputs))]
    inputs = [_inside(item, own, find) for item, own in zip(block.inputs, tests, strict=True)]
    rows = (
        _over(own, _of_rows(item)) if isinstance(item, Block) else own for item, own in zip(inputs, tests, strict=True)
    )
    known = {source for source, own in enumerate(rows) if source == partners or any(map(_is_known, own))}
    links = [*_links(block.where)]
    known |= {
        own.source for own, other, _ in links if other.source in known and isinstance(inputs[own.source], StreamInput)
    }
    for source, item in enumerate(inputs):
        if source not in known and _is_computed(item) and (joined := _partners(block, inputs, source, known)):
            found = find(joined.rows, joined.columns)
            inputs[source] = _inside(item, found, find) if found else _with_partners(item, joined, find)
    return replace(block, inputs=tuple(inputs))


def _with_equal_columns(where: PredSet) -> PredSet:
    """Conditions with what is tested of a column also of those that are equal to it."""
    links, found = [*_links(where)], [*where]
    for test in found:
        for column, other, _ in links:
            if _is_known(test) and predicate_columns(test) == {column}:
                copied = map_predicates(PredSet((test,)), {column: other}.__getitem__)
                found += [one for one in copied if one not in found]
    return pred_set(found)


def _is_known(test: ORPred) -> bool:
    """Whether a test lets only some values through."""
    return all(x.operator is Operator.IS_NULL or x.operator is Operator.EQ for x in test.literals)


def _is_computed(part: Input) -> bool:
    """Whether something is computed of several rows, or of rows that are compared with others."""
    return any(
        isinstance(inner, SetQuery) or (isinstance(inner, Block) and not inner.is_plain) for inner in parts_of(part)
    )


def _partners(block: Block, inputs: list[Input], source: int, known: set[int]) -> _Partners | None:
    """The partners of an input's rows in the inputs that are known, by the columns in which they are equal."""
    links = [*_links(block.where)]
    keys = [(own, other, safe) for own, other, safe in links if own.source == source and other.source in known]
    if not keys:
        return None
    read = [*dict.fromkeys(other.source for _, other, _ in keys)]
    for one in read:
        read += dict.fromkeys(b.source for a, b, _ in links if a.source == one and b.source in known - {*read})
    tests = pred_set(
        test
        for test in block.where
        if {column.source for column in predicate_columns(test)} <= {*read}
        and all(x.operator in (Operator.EQ, Operator.IS_NULL) for x in test.literals)
    )

    def renumbered(column: Column) -> Column:
        return replace(column, source=read.index(column.source))

    outputs = tuple(Output(f"k{n}", renumbered(other)) for n, (_, other, _) in enumerate(keys))
    rows = Block(tuple(inputs[one] for one in read), map_predicates(tests, renumbered), outputs, distinct=True)
    return _Partners(rows, tuple(replace(own, source=0) for own, _, _ in keys), tuple(safe for *_, safe in keys))


def _links(where: PredSet) -> Iterator[tuple[Column, Column, bool]]:
    """Columns that are equal, each pair both ways, and whether NULL is equal to NULL."""
    pairs: list[tuple[Expression, Expression | None, bool]] = [(*sides, True) for sides in equal_sides(where)]
    pairs += [
        (x.left, x.right, False) for (x, *more) in (p.literals for p in where) if not more and x.operator is Operator.EQ
    ]
    for left, right, safe in pairs:
        if (
            isinstance(left, Column)
            and isinstance(right, Column)
            and left.type == right.type
            and left.type.kind in _SAME
        ):
            yield left, right, safe
            yield right, left, safe


def _of_input(tests: PredSet, source: int) -> PredSet:
    """Those that read one input alone, over its columns."""
    own = pred_set(test for test in tests if {column.source for column in predicate_columns(test)} == {source})
    return map_predicates(own, lambda column: replace(column, source=0))


def _inside(part: Input, tests: PredSet, find: Find) -> Input:
    """A part of a query without some of the rows that do not pass tests over its columns."""
    match part:
        case Block() if tests:
            return _tested(part, tests, find)
        case SetQuery(rules=()) if tests and part.beyond is None:
            branches = tuple(
                as_query(_inside(branch, _over(tests, _of_branch(part, branch)), find)) for branch in part.branches
            )
            if part.operator == "union":  # a row without partner has NULL where a known row has a value
                branches = tuple(branch for branch in branches if not _is_empty(branch)) or branches[:1]
            return replace(part, branches=branches)
    return part


def _with_partners(part: Input, partners: _Partners, find: Find) -> Input:
    """A part of a query without some of the rows that have no partner, where it computes something of rows."""
    match part:
        case Block(inputs=(inner,)) if part.is_plain and not isinstance(inner, StreamInput):
            below = partners.over(_of_rows(part))
            return replace(part, inputs=(_with_partners(inner, below, find),)) if below is not None else part
        case Block():
            own = partners.over(_of_rows(part))
            return _narrowed(own.joined_to(part), len(part.inputs), find) if own is not None else part
        case SetQuery(rules=()) if part.beyond is None:
            of_branches = [partners.over(_of_branch(part, branch)) for branch in part.branches]
            both = zip(part.branches, of_branches, strict=True)
            branches = (
                as_query(_with_partners(branch, own, find)) if own is not None else branch for branch, own in both
            )
            return replace(part, branches=tuple(branches))
    return part


def _is_empty(part: Input) -> bool:
    return isinstance(part, Block) and FALSE.or_preds[0] in part.where.or_preds


def _of_branch(query: SetQuery, branch: Block | SetQuery | Ordered) -> dict[Column, Expression]:
    """The columns of a set operator's rows in a branch; without those whose values the operator makes wider."""
    return {
        Column(stored_name(name), type_): Column(stored_name(own), type_)
        for name, type_, (own, of_branch) in zip(query.names, query.types, output_columns(branch), strict=True)
        if of_branch == type_ and [stored_name(other) for other in query.names].count(stored_name(name)) == 1
    }


def _shown(block: Block) -> dict[Column, Expression]:
    """What a block's columns mean in its rows or groups; without those that differ between rows of a partition."""
    shown = [(stored_name(output.name), output.expression) for output in block.outputs]
    names = [name for name, _ in shown]
    return {
        Column(name, value.type): value
        for name, value in shown
        if names.count(name) == 1 and all(value in analyzed.call.over.partition for analyzed in block.analytics)
    }


def _of_rows(block: Block) -> dict[Column, Expression]:
    """What a block's columns mean in the rows of its inputs."""
    if block.grouping is None:
        return _shown(block)
    groups = {Column(column_name(group), group.type): group for group in block.grouping.groups}
    return {
        column: groups[value]
        for column, value in _shown(block).items()
        if isinstance(value, Column) and value in groups
    }


def _tested(block: Block, tests: PredSet, find: Find) -> Block:
    own = _over(tests, _shown(block))
    if not own:
        return block
    if block.grouping is not None:
        return with_inner_tests(replace(block, having=conjunction(block.having, own)), find)
    return with_inner_tests(replace(block, where=conjunction(block.where, own)), find)


def _over(tests: PredSet, meaning: Mapping[Column, Expression]) -> PredSet:
    """The tests that read no other columns, over what these mean."""

    def is_known(test: ORPred) -> bool:
        read = predicate_columns(test)
        return bool(read) and read <= meaning.keys() and all(column.type.kind in _SAME for column in read)

    known = pred_set(filter(is_known, tests))
    return canonical(map_predicates(known, meaning.__getitem__)) if known else TRUE
