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

from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import Column, Constant, Expression, Value, column_name
from workbench.sql.algebra.types import Kind
from workbench.sql.logical import Block, Input, LogicalQuery, Output, SetQuery, StreamInput, output_columns
from workbench.sql.predicates.cnf import TRUE, Literal, Operator, PredSet, conjunction, or_pred, pred_set

Known = Sequence[Sequence[Value]]
"""Columns of rows that are known, as they are stored; of the last ones nothing may be told."""

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


@dataclass(frozen=True)
class StepBack:
    """A question for rows that others are computed from.

    Attributes:
        query: its outputs are the columns that are asked for and then those in which the rows that are meant are alike
            the known ones; it may find others too.
        inputs: each input, and how many of the columns that are asked for are its own, one input after the other.
        alike: how many columns are compared with those of the known rows, the first ones of these.
        deciding: how many columns follow of which one at least is alike, the next ones of the known rows.
    """

    query: Block
    inputs: tuple[tuple[Input, int], ...]
    alike: int
    deciding: int = 0


def to_groups(block: Block, known: Known) -> StepBack | None:
    """The question for what is to be known of rows before one steps back from them: their groups, or partitions.

    Returns:
        ``None`` where the values of the rows themselves are enough.
    """
    if block.grouping is not None:
        parts = (*block.grouping.groups, *block.grouping.statistics)
        shown: list[Expression] = [Column(column_name(part), part.type) for part in parts]
    elif block.analytics:
        shown = _partition(block)
    else:
        shown = []
    if not shown:
        return None
    own = [output.expression for output in block.outputs][: len(known)]
    asked, changed = _among(own, known), replace(block, outputs=_named([*shown, *own]), distinct=False)
    if block.analytics:
        changed = replace(changed, qualify=conjunction(block.qualify, asked))
    else:
        changed = replace(changed, having=conjunction(block.having, asked))
    return StepBack(changed, ((block, len(shown)),), len(own))


def to_inputs(block: Block, known: Known) -> StepBack:
    """The question for the rows of the inputs that some rows are computed from.

    Args:
        block: the query they are rows of.
        known: the columns that ``to_groups`` asks for; where that is ``None``, those of the rows themselves.
    """
    inputs = [(item, _columns_of(item, source)) for source, item in enumerate(block.inputs)]
    deciding: list[Expression] = []
    if block.grouping is not None:
        compared = list(block.grouping.groups)
        if is_decided(block):
            deciding = [statistic.arguments[0] for statistic in block.grouping.statistics]
    elif block.analytics:
        compared = _partition(block)
    else:
        compared = [output.expression for output in block.outputs][: len(known)]
    shown = [*(column for _, own in inputs for column in own), *compared, *deciding]
    where = conjunction(block.where, _among(compared, known))
    query = Block(block.inputs, where, _named(shown), window=block.window)
    return StepBack(query, tuple((item, len(own)) for item, own in inputs), len(compared), len(deciding))


def to_stream(stream: StreamInput, known: Known) -> StepBack:
    """The question for the rows of a stream that are alike known ones."""
    columns = _columns_of(stream, 0)
    query = Block((stream,), _among(columns, known), _named([*columns, *columns]))
    return StepBack(query, ((stream, len(columns)),), len(columns))


def searched_branches(query: SetQuery) -> tuple[LogicalQuery, ...]:
    """The branches in which a row of a set operator is looked for: what is not there has no rows to show."""
    return query.branches[:1] if query.operator in ("except", "antijoin") else query.branches


def is_decided(block: Block) -> bool:
    """Whether of each group the rows that have the greatest or least value are all that decides it."""
    statistics = () if block.grouping is None else block.grouping.statistics
    return bool(statistics) and all(statistic.function in DECIDING for statistic in statistics)


def _partition(block: Block) -> list[Expression]:
    return list(dict.fromkeys(e for analyzed in block.analytics for e in analyzed.call.over.partition))


def _named(shown: Sequence[Expression]) -> tuple[Output, ...]:
    return tuple(Output(f"c{place}", expression) for place, expression in enumerate(shown))


def _columns_of(item: Input, source: int) -> list[Expression]:
    if isinstance(item, StreamInput):
        return [Column(name, type_, source) for name, type_ in item.columns]
    return [Column(stored_name(name), type_, source) for name, type_ in output_columns(item)]


def _among(expressions: Sequence[Expression], known: Known) -> PredSet:
    """Which rows have, in each column by itself, one of the known values: all that are alike, and perhaps others."""
    tests = [TRUE]
    for expression, values in zip(expressions, known, strict=False):
        different = list(dict.fromkeys(values))
        kind = expression.type.kind
        if len(different) <= MOST_LOOKED_UP and all(type(v) in (_LOOKED_UP.get(kind), type(None)) for v in different):
            tests.append(pred_set([or_pred(_same(expression, value) for value in different)]))
    return conjunction(*tests)


def _same(expression: Expression, value: Value) -> Literal:
    if value is None:
        return Literal(expression, Operator.IS_NULL)
    return Literal(expression, Operator.EQ, Constant(value, expression.type))
