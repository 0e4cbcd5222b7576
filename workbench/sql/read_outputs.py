"""Which outputs of the queries inside a query are read: the others have no part in its answer.

A query reads all of its own outputs. What nothing reads need not be computed, and what is wrong with it is no concern
of the outer query: as in PostgreSQL and DuckDB, which do not evaluate it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from workbench.sql.algebra.analytic import AnalyticCall
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import Column, Expression, Origin, column_name, columns
from workbench.sql.logical import (
    Block,
    Input,
    LogicalQuery,
    Ordered,
    SetQuery,
    StreamInput,
    output_columns,
    parts_of,
)
from workbench.sql.predicates.cnf import predicate_columns


def read_blocks(query: LogicalQuery) -> dict[int, Block]:
    """The blocks of a query as far as they are read, by the identity of the whole ones.

    Example:
        >>> from workbench.sql.algebra.types import INTEGER
        >>> from workbench.sql.logical import Output
        >>> from workbench.sql.predicates.cnf import TRUE
        >>> inner = Block((), TRUE, (Output("a", Column("a", INTEGER)), Output("b", Column("b", INTEGER))))
        >>> outer = Block((inner,), TRUE, (Output("a", Column("a", INTEGER)),))
        >>> [output.name for output in read_blocks(outer)[id(inner)].outputs]
        ['a']
    """
    read: defaultdict[int, set[str]] = defaultdict(set)
    read[id(query)] |= _outputs(query)
    blocks: dict[int, Block] = {}
    # Outer queries first: only then is it known what all readers of an inner one read.
    for part in reversed(parts_of(query)):
        match part:
            case Block():
                block = blocks[id(part)] = _read_of(part, read[id(part)])
                for column in _input_columns(block):
                    if 0 <= column.source < len(part.inputs):
                        read[id(part.inputs[column.source])].add(column.name)
            case SetQuery():
                names = [stored_name(name) for name in part.names]
                keeps = part.operator == "union" and part.all
                wanted = [place for place, name in enumerate(names) if not keeps or name in read[id(part)]]
                for branch in part.branches:
                    own = [stored_name(name) for name, _ in output_columns(branch)]
                    # Branches that rules join have columns of their own.
                    read[id(branch)] |= set(own) if part.rules else {own[place] for place in wanted}
            case Ordered():
                keys = (key.expression for key in part.keys)
                ordered_by = {column.name for e in (*keys, *part.on) for column in columns(e)}
                read[id(part.query)] |= read[id(part)] | ordered_by
            case StreamInput():
                pass
    return blocks


def _outputs(query: Input) -> set[str]:
    return set() if isinstance(query, StreamInput) else {stored_name(name) for name, _ in output_columns(query)}


def _read_of(block: Block, names: Iterable[str]) -> Block:
    """A block with only those outputs, analytic calls and statistics that are read."""
    wanted = set(names)
    outputs = tuple(o for o in block.outputs if block.distinct or stored_name(o.name) in wanted)
    conditions = (block.having, block.having_window, block.qualify)
    late = _columns(o.expression for o in outputs).union(*map(predicate_columns, conditions))
    called = {column.name for column in late if column.source == Origin.ANALYTIC}
    analytics = tuple(analyzed for analyzed in block.analytics if analyzed.name in called)
    late |= _columns(e for analyzed in analytics for e in _of_call(analyzed.call))
    block = replace(block, outputs=outputs, analytics=analytics)
    if block.grouping is None:
        return block
    collected = {column.name for column in late}
    statistics = tuple(s for s in block.grouping.statistics if column_name(s) in collected)
    return replace(block, grouping=replace(block.grouping, statistics=statistics))


def _input_columns(block: Block) -> frozenset[Column]:
    """The columns of its inputs that a block reads."""
    read = predicate_columns(block.where) | predicate_columns(block.window)
    if block.grouping is not None:
        arguments = (argument for statistic in block.grouping.statistics for argument in statistic.arguments)
        return read | _columns([*block.grouping.groups, *arguments])
    over = (e for analyzed in block.analytics for e in _of_call(analyzed.call))
    return read | predicate_columns(block.qualify) | _columns([*(o.expression for o in block.outputs), *over])


def _of_call(call: AnalyticCall) -> tuple[Expression, ...]:
    """The columns that a call reads, without those of the order of peers, which SQL leaves open."""
    return (*call.arguments, *call.over.partition, *(key.expression for key in call.over.order))


def _columns(expressions: Iterable[Expression]) -> frozenset[Column]:
    return frozenset().union(*map(columns, expressions))
