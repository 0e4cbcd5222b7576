"""Known values of a query's rows moved down to where these are stored: below groups, partitions and set operators.

A row of an ANTIJOIN, EXCEPT or INTERSECT is compared with rows of the other branches that are equal to it in all
columns, so only those that have the known values matter there as well. What is tested above stays there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import Column, Expression, column_name
from workbench.sql.algebra.types import Kind
from workbench.sql.logical import Block, Input, Ordered, SetQuery, as_query, output_columns
from workbench.sql.predicates.canonical import canonical
from workbench.sql.predicates.cnf import (
    FALSE,
    TRUE,
    ORPred,
    PredSet,
    conjunction,
    map_predicates,
    pred_set,
    predicate_columns,
)

_SAME = frozenset({Kind.BOOLEAN, Kind.INTEGER, Kind.DECIMAL, Kind.STRING, Kind.DATE, Kind.TIMESTAMP})
"""Kinds of which equal values are the same in every test; 0.0 and -0.0 are equal and not the same."""


def with_inner_tests(block: Block) -> Block:
    """A block that gives the same rows, of inputs that have fewer.

    Each condition on one input alone is tested inside this too, if it can be, and HAVING on groups alone in WHERE.
    """
    if block.grouping is not None and block.having:
        groups = {Column(column_name(group), group.type): group for group in block.grouping.groups}
        block = replace(block, where=conjunction(block.where, _over(block.having, groups)))
    return replace(block, inputs=tuple(_inside(item, _of_input(block.where, i)) for i, item in enumerate(block.inputs)))


def _of_input(tests: PredSet, source: int) -> PredSet:
    """Those that read one input alone, over its columns."""
    own = pred_set(test for test in tests if {column.source for column in predicate_columns(test)} == {source})
    return map_predicates(own, lambda column: replace(column, source=0))


def _inside(part: Input, tests: PredSet) -> Input:
    """A part of a query without some of the rows that do not pass tests over its columns."""
    match part:
        case Block() if tests:
            return _tested(part, tests)
        case SetQuery(rules=()) if tests and part.beyond is None:
            branches = tuple(as_query(_inside(branch, _of_branch(part, branch, tests))) for branch in part.branches)
            if part.operator == "union":  # a row without partner has NULL where a known row has a value
                branches = tuple(branch for branch in branches if not _is_empty(branch)) or branches[:1]
            return replace(part, branches=branches)
    return part


def _is_empty(part: Input) -> bool:
    return isinstance(part, Block) and FALSE.or_preds[0] in part.where.or_preds


def _of_branch(query: SetQuery, branch: Block | SetQuery | Ordered, tests: PredSet) -> PredSet:
    """Tests of a set operator's rows over a branch; without those of values that the operator makes wider."""
    names = {
        Column(stored_name(name), type_): Column(stored_name(own), type_)
        for name, type_, (own, of_branch) in zip(query.names, query.types, output_columns(branch), strict=True)
        if of_branch == type_ and [stored_name(other) for other in query.names].count(stored_name(name)) == 1
    }
    return _over(tests, names)


def _tested(block: Block, tests: PredSet) -> Block:
    shown = [(stored_name(output.name), output.expression) for output in block.outputs]
    names = [name for name, _ in shown]
    values: dict[Column, Expression] = {
        Column(name, value.type): value
        for name, value in shown
        if names.count(name) == 1 and all(value in analyzed.call.over.partition for analyzed in block.analytics)
    }
    own = _over(tests, values)
    if block.grouping is not None:
        return with_inner_tests(replace(block, having=conjunction(block.having, own))) if own else block
    return with_inner_tests(replace(block, where=conjunction(block.where, own))) if own else block


def _over(tests: PredSet, meaning: Mapping[Column, Expression]) -> PredSet:
    """The tests that read no other columns, over what these mean."""

    def is_known(test: ORPred) -> bool:
        read = predicate_columns(test)
        return bool(read) and read <= meaning.keys() and all(column.type.kind in _SAME for column in read)

    known = pred_set(filter(is_known, tests))
    return canonical(map_predicates(known, meaning.__getitem__)) if known else TRUE
