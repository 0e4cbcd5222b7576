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

from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import AggregateCall, Column, Constant, Expression, Value, column_name
from workbench.sql.algebra.types import Kind
from workbench.sql.logical import (
    Block,
    Grouping,
    Input,
    LogicalQuery,
    Ordered,
    Output,
    SetQuery,
    StreamInput,
    output_columns,
)
from workbench.sql.predicates.cnf import TRUE, Literal, Operator, PredSet, conjunction, or_pred, pred_set

DECIDING = frozenset({"min", "max"})
"""Statistics that some rows of a group decide, those that have the value."""
MOST_LOOKED_UP = 100
"""Values by which rows are looked for; where there are more, all rows are, and those that are meant are chosen then."""

_LOOKED_UP = {
    Kind.BOOLEAN: bool, Kind.INTEGER: int, Kind.DECIMAL: Decimal, Kind.STRING: str, Kind.DATE: dt.date,
    Kind.TIMESTAMP: dt.datetime,
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
        query: its outputs are the columns that are asked for and then those that tell which rows are meant; it may find
            other rows too.
        parts: what is asked for: each part of the query, at which stage, and how many columns are its own.
        alike: places among the columns of the known rows: a row is meant that is alike one of these in all columns of
            one of the sets.
    """

    query: Block
    parts: tuple[tuple[Input, Stage, int], ...]
    alike: tuple[tuple[int, ...], ...]

    @property
    def width(self) -> int:
        """How many columns are asked for; those that are compared follow."""
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
        tests = [_among(self.compared[place], values[place]) for place in sorted(common)]
        own = [set(one) - common for one in self.alike]
        if len(own) > 1 and all(len(one) == 1 for one in own):
            either = [_among(self.compared[place], values[place]) for (place,) in own]
            if all(either):
                tests.append(pred_set([or_pred(literal for test in either for p in test for literal in p.literals)]))
        return conjunction(TRUE, *tests)


def picked(block: Block, stage: Stage, width: int) -> tuple[Stage, tuple[int, ...]] | None:
    """The next stage, and which of the known columns are what is to be known there; ``None``: they are to be asked for.

    Args:
        block: one steps back through it.
        stage: where one is.
        width: how many columns are known.
    """
    if (next_ := _next(block, stage)) is None:
        return None
    known, wanted = _level(block, stage, width).compared, _level(block, next_, 0).compared
    return (next_, tuple(map(known.index, wanted))) if set(wanted) <= set(known) else None


def whole_stream(block: Block, stage: Stage, width: int) -> StreamInput | None:
    """The stream of which known rows of a block come from all rows; ``None``: these are to be asked for.

    The arguments are those of ``picked``, which comes first.
    """
    if len(block.inputs) > 1 or not isinstance(stream := block.inputs[0], StreamInput):
        return None
    is_whole = block.where == TRUE and block.window == TRUE and not _level(block, stage, width).compared
    return stream if is_whole and _next(block, stage) is None else None


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
        columns = _columns_of(part, 0)
        level = _Level.of(columns[: len(values)])
        query = Block((part,), level.among(values), _named([*columns, *level.compared]))
        return StepBack(query, ((part, Stage.ROWS, len(columns)),), level.alike)
    if isinstance(part, Ordered):
        first = replace(part, columns=len(output_columns(part.query)), limit=part.offset, offset=0, with_ties=False)
        shown = _columns_of(first, 0)
        return StepBack(Block((first,), TRUE, _named(shown)), ((part.query, Stage.ROWS, len(shown)),), ((),))
    assert isinstance(part, Block)
    level = _level(part, stage, len(values))
    if (next_ := _next(part, stage)) is not None:
        shown = [*_level(part, next_, 0).compared]
        query = _asked(part, stage, level.among(values), _named([*shown, *level.compared]))
        return StepBack(query, ((part, next_, len(shown)),), level.alike)
    if part.grouping is not None:
        arguments = [statistic.arguments[0] for statistic in _deciding(part.grouping)]
        level = replace(level, compared=[*part.grouping.groups, *arguments])
    inputs = [(item, _columns_of(item, source)) for source, item in enumerate(part.inputs)]
    shown = [column for _, own in inputs for column in own]
    where = conjunction(part.where, level.among(values))
    query = Block(part.inputs, where, _named([*shown, *level.compared]), window=part.window)
    return StepBack(query, tuple((item, Stage.ROWS, len(own)) for item, own in inputs), level.alike)


def _next(block: Block, stage: Stage) -> Stage | None:
    """The stage after another; ``None``: that of the inputs."""
    if stage is Stage.ROWS and block.analytics:
        return Stage.PARTITIONS
    return Stage.GROUPS if stage is not Stage.GROUPS and block.grouping is not None else None


def _level(block: Block, stage: Stage, width: int) -> _Level:
    match stage:
        case Stage.PARTITIONS:
            return _Level.of(*(analyzed.call.over.partition for analyzed in block.analytics))
        case Stage.GROUPS:
            assert block.grouping is not None
            groups, deciding = block.grouping.groups, _deciding(block.grouping)
            own = tuple(range(len(groups)))
            alike = tuple((*own, len(own) + place) for place in range(len(deciding)))
            columns = [Column(column_name(part), part.type) for part in (*groups, *deciding)]
            return _Level(columns, alike or (own,))
    shown = [output.expression for output in block.outputs][:width]
    return _Level(shown, (tuple(range(len(shown))),))


def _deciding(grouping: Grouping) -> tuple[AggregateCall, ...]:
    """The statistics of groups where rows that have the value of one are all that decides it."""
    statistics = grouping.statistics
    return statistics if all(statistic.function in DECIDING for statistic in statistics) else ()


def _asked(block: Block, stage: Stage, test: PredSet, outputs: tuple[Output, ...]) -> Block:
    """A block that is asked for other outputs, of rows that a test at some stage lets through."""
    changed = replace(block, outputs=outputs, distinct=False)
    if stage is Stage.ROWS and block.analytics:
        return replace(changed, qualify=conjunction(block.qualify, test))
    return replace(changed, having=conjunction(block.having, test), analytics=(), qualify=TRUE)


def searched_branches(query: SetQuery) -> tuple[LogicalQuery, ...]:
    """The branches in which a row of a set operator is looked for: what is not there has no rows to show."""
    return query.branches[:1] if query.operator in ("except", "antijoin") else query.branches


def _named(shown: Sequence[Expression]) -> tuple[Output, ...]:
    return tuple(Output(f"c{place}", expression) for place, expression in enumerate(shown))


def _columns_of(item: Input, source: int) -> list[Expression]:
    if isinstance(item, StreamInput):
        return [Column(name, type_, source) for name, type_ in item.columns]
    return [Column(stored_name(name), type_, source) for name, type_ in output_columns(item)]


def _among(expression: Expression, values: Sequence[Value] | None) -> PredSet:
    """That a column has one of the known values; true where these are too many, or cannot be looked for."""
    kind = expression.type.kind
    if values is None or any(type(v) not in (_LOOKED_UP.get(kind), type(None)) for v in values):
        return TRUE
    return pred_set([or_pred(_same(expression, value) for value in values)])


def _same(expression: Expression, value: Value) -> Literal:
    if value is None:
        return Literal(expression, Operator.IS_NULL)
    return Literal(expression, Operator.EQ, Constant(value, expression.type))
