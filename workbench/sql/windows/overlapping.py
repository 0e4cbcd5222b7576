"""GROUP BY windows that overlap, as a query without any: a row belongs to several groups, a slice of time to one.

``window(t, '1 hour', '15 minutes')`` becomes groups of slices of 15 minutes; a UNION ALL repeats them for each of the
four windows that a slice is in, and they are grouped again. Other windows on the same rows share the slices. A
statistic that does not follow from slices (a median) is computed from the rows themselves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from workbench.sql.algebra.expressions import (
    AggregateCall,
    Call,
    Column,
    Constant,
    Expression,
    column_name,
    map_columns,
    reading_order,
)
from workbench.sql.algebra.types import INTEGER
from workbench.sql.functions.aggregate_rules import of_parts, part_of, why_not_from_parts
from workbench.sql.functions.calls import call
from workbench.sql.logical import Block, Grouping, Input, Output, SetQuery
from workbench.sql.predicates.cnf import TRUE, conjunction, map_predicates
from workbench.sql.predicates.normal_form import normal_form
from workbench.sql.windows.stream_time import SLIDING, TUMBLING


def window_start(time: Expression, size: int, slide: int) -> Call:
    """The start of the windows that a time is in; ``size`` and ``slide`` in seconds."""
    if size == slide:
        return Call(TUMBLING, (time, Constant(size, INTEGER)), time.type)
    return Call(SLIDING, (time, Constant(size, INTEGER), Constant(slide, INTEGER)), time.type)


def slice_of(group: Expression) -> Expression:
    """The slice of time that overlapping windows are made of; any other group as it is.

    Example:
        >>> from workbench.sql.algebra.expressions import text
        >>> from workbench.sql.algebra.types import TIMESTAMP
        >>> text(slice_of(window_start(Column("ts", TIMESTAMP), 3_600, 900)))
        'window_start(ts, 900)'
    """
    match group:
        case Call(function, (time, Constant(int() as size), Constant(int() as slide))) if function == SLIDING:
            return window_start(time, common := math.gcd(size, slide), common)
    return group


def without_overlap(block: Block) -> Block:
    """A grouped block with the same answer whose windows do not overlap."""
    assert block.grouping is not None
    groups, statistics = block.grouping.groups, block.grouping.statistics
    start = next((g for g in groups if isinstance(g, Call) and g.function == SLIDING), None)
    if start is None:
        return block
    others = [g for g in groups if g != start]
    if not any(map(why_not_from_parts, statistics)):
        return _of_slices(block, start, others, statistics)
    return _of_rows(block, start, others, statistics)


def _of_slices(block: Block, start: Call, others: list[Expression], statistics: Iterable[AggregateCall]) -> Block:
    slice_ = slice_of(start)
    needed = list(dict.fromkeys(map(part_of, statistics)))
    grouping = Grouping(tuple(sorted([*others, slice_], key=reading_order)), tuple(needed))
    grouped = [*others, slice_, *needed]
    names = _names(others, needed)
    outputs = tuple(
        Output(name, Column(column_name(e), e.type))
        for name, e in zip([*names[0], "slice", *names[1]], grouped, strict=True)
    )
    slices = replace(block, outputs=outputs, grouping=grouping, having=TRUE, having_window=TRUE, distinct=False)
    time = Column("slice", slice_.type)
    columns = [Column(name, e.type) for name, e in zip([*names[0], *names[1]], [*others, *needed], strict=True)]
    union = for_each_window(Block((slices,), TRUE, ()), start, time, columns, [c.name for c in columns])
    column_of = {s: Column(name, s.type) for s, name in zip(needed, names[1], strict=True)}
    parts = {s: of_parts(s, column_of[part_of(s)]) for s in statistics}
    return _grouped(block, union, start, dict(zip(others, names[0], strict=True)), parts)


def _of_rows(block: Block, start: Call, others: list[Expression], statistics: Iterable[AggregateCall]) -> Block:
    arguments = list(dict.fromkeys(a for s in statistics for a in s.arguments if not isinstance(a, Constant)))
    names = _names(others, arguments)
    rows = Block(block.inputs, block.where, (), window=block.window)
    union = for_each_window(rows, start, start.arguments[0], [*others, *arguments], [*names[0], *names[1]])
    named: dict[Expression, Expression] = {a: Column(name, a.type) for a, name in zip(arguments, names[1], strict=True)}
    parts = {s: replace(s, arguments=tuple(named.get(a, a) for a in s.arguments)) for s in statistics}
    return _grouped(block, union, start, dict(zip(others, names[0], strict=True)), parts)


def for_each_window(
    rows: Block, start: Call, time: Expression, columns: Iterable[Expression], names: list[str]
) -> SetQuery:
    """The rows once for each window that they are in: ``columns`` under ``names``, and the window's start."""
    size, slide = (int(str(a.value)) for a in start.arguments[1:] if isinstance(a, Constant))
    first = window_start(time, slide, slide)
    branches = []
    for number in range(-(-size // slide)):
        begin = call("add_seconds", first, Constant(-number * slide, INTEGER)) if number else first
        where = rows.where
        if (number + 1) * slide > size:
            still = call(">", call("add_seconds", begin, Constant(size, INTEGER)), time)
            where = conjunction(where, normal_form(still))
        outputs = (*(Output(n, e) for n, e in zip(names, columns, strict=True)), Output("start", begin))
        branches.append(replace(rows, where=where, outputs=outputs))
    types = tuple(output.type for output in branches[0].outputs)
    return SetQuery("union", True, tuple(branches), (*names, "start"), types)


def _grouped(
    block: Block, rows: Input, start: Call, named: dict[Expression, str], parts: dict[AggregateCall, AggregateCall]
) -> Block:
    """The block over rows that have their windows, its outputs over what groups and statistics are called there."""
    groups: dict[Expression, Expression] = {g: Column(name, g.type) for g, name in named.items()}
    groups[start] = Column("start", start.type)
    grouping = Grouping(tuple(sorted(groups.values(), key=reading_order)), tuple(parts.values()))
    renamed = {column_name(old): Column(column_name(new), new.type) for old, new in (*groups.items(), *parts.items())}

    def over(column: Column) -> Expression:
        return renamed[column.name] if not column.source else column

    outputs = tuple(Output(o.name, map_columns(o.expression, over)) for o in block.outputs)
    having, window = (map_predicates(p, over) for p in (block.having, block.having_window))
    return Block((rows,), TRUE, outputs, grouping, having, block.distinct, TRUE, window)


def _names(groups: Iterable[object], values: Iterable[object]) -> tuple[list[str], list[str]]:
    return [f"g{i}" for i, _ in enumerate(groups, 1)], [f"v{i}" for i, _ in enumerate(values, 1)]
