"""Queries over the rows that there were earlier: up to an instant, or up to the numbers of rows of a batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from workbench.sql.algebra.expressions import Column, Constant
from workbench.sql.functions.calls import call
from workbench.sql.logical import Block, LogicalQuery, StreamInput, streams_of, with_blocks
from workbench.sql.predicates.cnf import conjunction
from workbench.sql.predicates.normal_form import normal_form
from workbench.sql.windows.stream_time import ROW, EventTimeVector, row_number_key


def up_to(query: LogicalQuery, ends: Mapping[str, tuple[Column, Constant]]) -> LogicalQuery:
    """A query over the rows of each stream whose time is not later than the end given, or that have none."""

    def change(block: Block) -> Block:
        conditions = [block.where]
        for source, item in enumerate(block.inputs):
            if isinstance(item, StreamInput) and item.stream in ends:
                time, end = ends[item.stream]
                time = replace(time, source=source)
                there = call("or", call("is_null", time), call("<=", time, end))
                conditions.append(normal_form(there))
        return replace(block, where=conjunction(*conditions))

    return with_blocks(query, change)


def as_of_rows(query: LogicalQuery, moment: EventTimeVector) -> LogicalQuery:
    """A query over the rows that had arrived at a moment, by their numbers."""
    ends = {stream: (ROW, Constant(moment.get(row_number_key(stream), 0), ROW.type)) for stream in streams_of(query)}
    return up_to(query, ends)
