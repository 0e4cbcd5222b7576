"""The questions that lead from rows of an answer back to the rows of the streams that they are computed from.

For rows of a query that are known, a *step back* asks which rows of its inputs made them: those that satisfy WHERE and
belong to the rows' groups, or to their partitions where there are functions with OVER. It is a query over the same
inputs, so what an input itself is computed from is asked in the next step, down to the streams (lineage tracing: Cui,
Widom, Wiener 2000). Nothing is kept for it while batches run.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import IntEnum
from itertools import accumulate
from math import isfinite

from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import (
    AggregateCall,
    Call,
    Column,
    Constant,
    Expression,
    Origin,
    Value,
    column_name,
)
from workbench.sql.algebra.types import BOOLEAN, Kind
from workbench.sql.functions.calls import call
from workbench.sql.logical import (
    Analyzed,
    Block,
    Grouping,
    Input,
    LogicalQuery,
    Ordered,
    Output,
    SetQuery,
    StreamInput,
    output_columns,
    parts_of,
)
from workbench.sql.narrowing import is_analytic, is_empty, with_inner_tests
from workbench.sql.predicates.cnf import TRUE, Literal, Operator, PredSet, conjunction, or_pred, pred_set
from workbench.sql.session_starts import numbered_outputs, session_of, with_session_starts
from workbench.sql.windows.stream_time import ROW

DECIDING = frozenset({"min", "max"})
"""Statistics that some rows of a group decide, those that have the value."""
_OF_NO_ORDER = frozenset({"count", "sum", "min", "max"})
"""Functions that do not see the order of equal rows."""
_FILLED = Constant(False, BOOLEAN)
"""Whether the value of a function with OVER is NULL, where rows are looked for that have it."""
MOST_LOOKED_UP = 100
"""Values by which rows are looked for; where there are more, all rows are, and those that are meant are chosen then."""

_LOOKED_UP = {
    Kind.BOOLEAN: bool, Kind.INTEGER: int, Kind.DECIMAL: Decimal, Kind.STRING: str, Kind.DATE: dt.date,
    Kind.TIMESTAMP: dt.datetime, Kind.DOUBLE: float,
}  # fmt: skip
"""Kinds of which values are looked for, as Python has them; by others all rows are compared with those that are known.
A time that Python has not is a text, and a value of a set operator may be of a wider type than its branch."""


class Stage(IntEnum):
    """How far one is on the way back through a block: what is known of the rows that one comes from.

    Attributes:
        ROWS: values of the rows.
        PARTITIONS: of functions with OVER the partitions of the rows.
        GROUPS: groups, and the values of statistics that decide them.
    """

    ROWS = 0
    PARTITIONS = 1
    GROUPS = 2


@dataclass(frozen=True)
class StepBack:
    """A question for rows that others are computed from.

    Attributes:
        query: its first outputs are the columns that are asked for; it may find other rows too.
        parts: what is asked for: each part of the query, at which stage, and how many columns are its own.
        compared: places of the outputs that tell which rows are meant: one for each column of the known rows.
        alike: places among the columns of the known rows: a row is meant that is alike one of these in all columns of
            one of the sets.
    """

    query: Block
    parts: tuple[tuple[Input, Stage, int], ...]
    compared: tuple[int, ...]
    alike: tuple[tuple[int, ...], ...]

    @property
    def width(self) -> int:
        """The number of columns of all parts."""
        return sum(width for _, _, width in self.parts)


@dataclass(frozen=True)
class _Level:
    """Expressions that are compared at a stage, and the sets of them in which rows have to be alike."""

    compared: Sequence[Expression]
    alike: tuple[tuple[int, ...], ...]

    @staticmethod
    def of(*sets: Sequence[Expression]) -> _Level:
        compared = tuple(dict.fromkeys(expression for one in sets for expression in one))
        return _Level(compared, tuple(dict.fromkeys(tuple(map(compared.index, one)) for one in sets)))

    def among(self, values: Sequence[Sequence[Value] | None]) -> PredSet:
        """Which rows have known values, each column by itself: all that are meant, and perhaps others."""
        common = set(self.alike[0]).intersection(*self.alike)
        tests = [_among(self.compared[place], values[place]) for place in range(len(self.compared))]
        own = [
            next((tests[place] for place in one if place not in common and tests[place]), TRUE) for one in self.alike
        ]
        either = [pred_set([or_pred(x for test in own for p in test for x in p.literals)])] if all(own) else []
        return conjunction(TRUE, *_worth_planning([tests[place] for place in sorted(common)]), *either)


def _worth_planning(tests: Sequence[PredSet]) -> list[PredSet]:
    """That of most values, which lets fewest rows through, and of the others those of few values.

    Of a hundred rows each column by itself is a long list of values, which says little more and is planned each time.
    What is computed, of all rows, is compared with the rows that are found where columns are known that find them.
    """
    by_values = sorted(filter(None, tests), key=_values_of)
    by_values = by_values if not any(map(_finds_rows, by_values)) else [*filter(_reads_columns, by_values)]
    most = accumulate(map(_values_of, by_values))
    return [*(test for test, of_all in zip(by_values, most, strict=True) if of_all <= MOST_LOOKED_UP), *by_values[-1:]]


def _finds_rows(test: PredSet) -> bool:
    """Whether a test is of a column, of which rows have more than two values."""
    return _reads_columns(test) and all(x.left.type != BOOLEAN for predicate in test for x in predicate.literals)


def _reads_columns(test: PredSet) -> bool:
    return all(_is_column(x.left) for predicate in test for x in predicate.literals)


def _is_column(expression: Expression) -> bool:
    """Whether an expression is a column, or a field of one."""
    match expression:
        case Call("field", (of, _)):
            return _is_column(of)
    return isinstance(expression, Column)


def _values_of(test: PredSet) -> int:
    return sum(len(predicate.literals) for predicate in test)


def picked(block: Block, stage: Stage, width: int) -> tuple[Stage, tuple[int, ...]] | None:
    """The next stage, and which of the known columns are what is to be known there; ``None``: they are to be asked for.

    Args:
        block: one steps back through it.
        stage: where one is.
        width: how many columns are known.
    """
    if (next_ := _next(block, stage)) is None or (stage is Stage.PARTITIONS and _deciding_in_partition(block)):
        return None
    known, wanted = _level(block, stage, width).compared, _level(block, next_, 0).compared
    return (next_, tuple(map(known.index, wanted))) if set(wanted) <= set(known) else None


def renamed(block: Block, stage: Stage, width: int) -> tuple[int, ...] | None:
    """Which of the known columns of a block are the first of its only input, where its rows are those of the input.

    ``None``: it does more than name columns, or shows others than the first. The arguments are those of ``picked``.
    """
    if stage is not Stage.ROWS or not block.is_plain or block.where != TRUE or block.window != TRUE:
        return None
    if len(block.inputs) != 1 or isinstance(block.inputs[0], StreamInput):
        return None
    shown = [output.expression for output in block.outputs[:width]]
    first = _columns_of(block.inputs[0], 0)[: len(shown)]
    return tuple(map(shown.index, first)) if len(first) == len(shown) and {*first} == {*shown} else None


def only_stream(block: Block, stage: Stage) -> StreamInput | None:
    """The stream that a block reads, and nothing else, if the next step leads from it to its inputs' rows."""
    (first, *others) = block.inputs or (None,)
    by_session = block.grouping is not None and session_of(block.grouping.groups) is not None
    is_last = not others and not by_session and block.window == TRUE and _next(block, stage) is None
    return first if is_last and isinstance(first, StreamInput) else None


def whole_inputs(block: Block, stage: Stage, width: int) -> tuple[Input, ...]:
    """Of what known rows of a block come from all rows, if they do: its only input, or the branches of its union.

    The arguments are those of ``picked``.
    """
    (first, *others) = block.inputs or (None,)
    tests = [block.where, block.window, *([block.qualify] if stage is Stage.ROWS else [])]
    if block.grouping is not None and stage is not Stage.GROUPS:
        if _deciding(block.grouping):
            return ()
        tests += [block.having, block.having_window]
    if others or any(test != TRUE for test in tests) or _level(block, stage, width).compared:
        return ()
    if isinstance(first, SetQuery):
        return first.branches if first.operator == "union" and first.all and not first.rules else ()
    return (first,) if isinstance(first, StreamInput | Block) else ()


def step_back(part: Input, stage: Stage, values: Sequence[Sequence[Value] | None]) -> StepBack:
    """The question for what is to be known next: at the next stage of a block, of its inputs, or of a stream's rows.

    Args:
        part: what the rows are of: a block, a stream, or a query with OFFSET, of which what it skips is found.
        stage: where on the way back through it one is.
        values: what is known of the rows there, column by column: the different values as they are stored, ``None``
            for more than ``MOST_LOOKED_UP``; of the last columns of a block's rows nothing may be known. Without any
            column all rows of a stream are meant.
    """
    if isinstance(part, StreamInput):
        own, level = _columns_of(part, 0), _Level.of(_row_of(part, 0)[: len(values)])
        query = Block((part,), level.among(values), numbered_outputs(own))
        return _step(query, ((part, Stage.ROWS, len(own)),), level)
    if isinstance(part, Ordered):
        first = replace(part, columns=len(output_columns(part.query)), limit=part.offset, offset=0, with_ties=False)
        shown = _columns_of(first, 0)
        query = Block((first,), TRUE, numbered_outputs(shown))
        return _step(query, ((part.query, Stage.ROWS, len(shown)),), _Level.of(()))
    assert isinstance(part, Block)
    level = _level(part, stage, len(values))
    if (next_ := _next(part, stage)) is not None:
        shown = [*_level(part, next_, 0).compared]
        if stage is Stage.ROWS and part.analytics:
            known = dict(zip(level.compared, values, strict=True))
            part = in_partitions(part, [known.get(e) for e in _partitions(part).compared])
        level = _of_arguments(part, level, stage)
        query = _asked(part, stage, level.among(values), numbered_outputs(shown))
        return _step(query, ((part, next_, len(shown)),), level)
    level = _of_arguments(part, level, stage)
    groups = part.grouping.groups if part.grouping is not None else ()
    if part.grouping is not None:
        arguments = [statistic.arguments[0] for statistic in _deciding(part.grouping)]
        level = replace(level, compared=[*groups, *arguments])
    row_of = _columns_of if only_stream(part, stage) else _row_of
    inputs = [(item, row_of(item, source)) for source, item in enumerate(part.inputs)]
    shown = [column for _, own in inputs for column in own]
    query = Block(part.inputs, part.where, numbered_outputs(shown), window=part.window)
    if (session := session_of(groups)) is not None:
        plain = {group: of for group, of in zip(groups, values, strict=True) if group != session}
        query = replace(query, where=conjunction(query.where, having_values([*plain], [*plain.values()])))
        rows, read = with_session_starts(query, groups)
        level = replace(level, compared=[read[group] for group in groups])
        query = Block((rows,), TRUE, numbered_outputs([read[column] for column in shown]))
    query = replace(query, where=conjunction(query.where, level.among(values)))
    return _step(query, tuple((item, Stage.ROWS, len(own)) for item, own in inputs), level)


def _step(query: Block, parts: tuple[tuple[Input, Stage, int], ...], level: _Level) -> StepBack:
    """A step whose query tells in what its rows are compared."""
    places = {output.expression: place for place, output in reversed([*enumerate(query.outputs)])}
    others = [expression for expression in dict.fromkeys(level.compared) if expression not in places]
    places |= {expression: len(query.outputs) + place for place, expression in enumerate(others)}
    shown = [*(output.expression for output in query.outputs), *others]
    return StepBack(
        replace(query, outputs=numbered_outputs(shown)),
        parts,
        tuple(places[expression] for expression in level.compared),
        level.alike,
    )


def having_values(expressions: Sequence[Expression], values: Sequence[Sequence[Value] | None]) -> PredSet:
    """That each expression has one of some values; true of those where these are unknown, as ``None`` says."""
    return conjunction(TRUE, *(_among(e, v) for e, v in zip(expressions, values, strict=True)))


def possible_partitions(part: Input, stage: Stage, values: Sequence[Sequence[Value] | None]) -> Block | None:
    """The question for the partitions in which known rows may be, by what no function with OVER computes of them.

    ``None``: the rows tell their partitions themselves, or may be in all. The arguments are those of ``step_back``.
    """
    if not isinstance(part, Block) or stage is not Stage.ROWS or not _is_in_partitions(part):
        return None
    level, wanted = _level(part, stage, len(values)), _partitions(part).compared
    tests = [_among(e, v) for e, v in zip(level.compared, values, strict=True) if not is_analytic(e)]
    if set(wanted) <= set(level.compared) or not any(tests):
        return None
    query = replace(part, outputs=numbered_outputs(wanted), distinct=True, analytics=(), qualify=TRUE)
    return with_inner_tests(_tested(query, conjunction(TRUE, *tests)))


def in_partitions(block: Block, values: Sequence[Sequence[Value] | None]) -> Block:
    """The block of the rows of some partitions alone, whose functions have the values that they have among all rows.

    Args:
        block: has functions with OVER.
        values: for each expression that some are partitioned by its different values, ``None`` where these are unknown.
    """
    if not _is_in_partitions(block):
        return block
    level = _partitions(block)
    each = conjunction(TRUE, *(_among(e, v) for e, v in zip(level.compared, values, strict=True)))
    return _tested(replace(block, qualify=conjunction(block.qualify, each)), level.among(values))


def _is_in_partitions(block: Block) -> bool:
    """Whether functions have the same values where only the partitions of some rows are there.

    Of several partitions only those whose order does not matter: peers are in the order of other functions' values.
    """
    overs = [analyzed.call.over for analyzed in block.analytics]
    alike = len({over.partition for over in overs}) == 1
    in_any_order = all(a.call.function in _OF_NO_ORDER and a.call.frame is None for a in block.analytics)
    by_rows = not any(is_analytic(e) for over in overs for e in over.partition)
    return by_rows and all(over.partition for over in overs) and (alike or in_any_order)


def _tested(block: Block, test: PredSet) -> Block:
    """A block of which a test lets only some rows, or groups, come to its functions with OVER."""
    if block.grouping is None:
        return replace(block, where=conjunction(block.where, test))
    return replace(block, having=conjunction(block.having, test))


def _next(block: Block, stage: Stage) -> Stage | None:
    """The stage after another; ``None``: that of the inputs."""
    if stage is Stage.ROWS and block.analytics:
        return Stage.PARTITIONS
    return Stage.GROUPS if stage is not Stage.GROUPS and block.grouping is not None else None


def _level(block: Block, stage: Stage, width: int) -> _Level:
    match stage:
        case Stage.PARTITIONS:
            if (function := _deciding_in_partition(block)) is None:
                return _partitions(block)
            value = Column(function.name, function.call.type, Origin.ANALYTIC)
            return _Level.of(_rows_seen(block), (*function.call.over.partition, value, _FILLED))
        case Stage.GROUPS:
            assert block.grouping is not None
            groups, deciding = block.grouping.groups, _deciding(block.grouping)
            own = tuple(range(len(groups)))
            alike = tuple((*own, len(own) + place) for place in range(len(deciding)))
            named = [Column(column_name(part), part.type) for part in (*groups, *deciding)]
            return _Level(named, alike or (own,))
    shown = [output.expression for output in block.outputs][:width]
    return _Level(shown, (tuple(range(len(shown))),))


def _partitions(block: Block) -> _Level:
    """The partitions of a block's functions with OVER; where one is of all rows, all are meant, whatever they are."""
    partitions = [analyzed.call.over.partition for analyzed in block.analytics]
    return _Level.of(*partitions) if all(partitions) else _Level.of(())


def _deciding_in_partition(block: Block) -> Analyzed | None:
    """The only function with OVER of a block, where the row itself and those that have its value decide it."""
    (analyzed, *others) = block.analytics
    frame = analyzed.call.frame
    is_any = analyzed.call.function in DECIDING and (frame is None or frame.unit == "range")
    return analyzed if (is_any or analyzed.call.passes_over_nulls) and not others else None


def _rows_seen(block: Block) -> list[Expression]:
    """What tells the rows apart that a block's functions with OVER see: those of its inputs, or the groups."""
    if block.grouping is not None:
        return [Column(column_name(group), group.type) for group in block.grouping.groups]
    return [column for source, item in enumerate(block.inputs) for column in _columns_of(item, source)]


def _of_arguments(block: Block, level: _Level, stage: Stage) -> _Level:
    """What is known of a partition, compared with what a function reads of the rows."""
    if stage is not Stage.PARTITIONS or (deciding := _deciding_in_partition(block)) is None:
        return level
    (argument,) = deciding.call.arguments
    read = {Column(deciding.name, deciding.call.type, Origin.ANALYTIC): argument, _FILLED: call("is_null", argument)}
    return replace(level, compared=[read.get(expression, expression) for expression in level.compared])


def _deciding(grouping: Grouping) -> tuple[AggregateCall, ...]:
    """The statistics of groups, if the rows that have its value decide each, as of MAX; else none.

    Of a session all rows decide where it begins.
    """
    statistics = () if session_of(grouping.groups) is not None else grouping.statistics
    return statistics if all(statistic.function in DECIDING for statistic in statistics) else ()


def _asked(block: Block, stage: Stage, test: PredSet, outputs: tuple[Output, ...]) -> Block:
    """A block that is asked for other outputs, of rows that a test at some stage lets through."""
    changed = replace(block, outputs=outputs, distinct=False)
    if stage is Stage.ROWS and block.analytics:
        return replace(changed, qualify=conjunction(block.qualify, test))
    return replace(changed, having=conjunction(block.having, test), analytics=(), qualify=TRUE)


def comes_from_rows(part: Input) -> bool:
    """Whether rows of streams are behind a part: VALUES, and what else is written out, are totals of no rows."""
    found = set[int]()
    for inner in parts_of(part):
        is_read = isinstance(inner, StreamInput) or (not is_empty(inner) and found & {*map(id, inner.children())})
        found |= {id(inner)} if is_read else set()
    return id(part) in found


def searched_branches(query: SetQuery) -> tuple[LogicalQuery, ...]:
    """The branches in which a row of a set operator is looked for: what is not there has no rows to show."""
    return query.branches[:1] if query.operator in ("except", "antijoin") else query.branches


def _row_of(item: Input, source: int) -> list[Expression]:
    """What tells the rows of an input apart: of a stream that takes none back their numbers, else all columns."""
    if isinstance(item, StreamInput) and item.append_only:
        return [replace(ROW, source=source)]
    return _columns_of(item, source)


def _columns_of(item: Input, source: int) -> list[Expression]:
    if isinstance(item, StreamInput):
        return [Column(name, type_, source) for name, type_ in item.columns]
    return [Column(stored_name(name), type_, source) for name, type_ in output_columns(item)]


def _among(expression: Expression, values: Sequence[Value] | None) -> PredSet:
    """That a column has one of the known values; true where these are too many, or cannot be looked for."""
    kind = expression.type.kind
    if values is None or any(type(v) not in (_LOOKED_UP.get(kind), type(None)) for v in values):
        return TRUE
    if any(isinstance(value, float) and not isfinite(value) for value in values):
        return TRUE
    return pred_set([or_pred(_same(expression, value) for value in values)])


def _same(expression: Expression, value: Value) -> Literal:
    if value is None:
        return Literal(expression, Operator.IS_NULL)
    return Literal(expression, Operator.EQ, Constant(value, expression.type))
