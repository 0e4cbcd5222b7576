"""Checks of queries: subqueries as values must have one row at most, which only their rows can say.

A check is a query of its own over the groups that the value is read from, and so a selection below them. It has rows
where a group has several. Then the query that it belongs to does not go on, as after a function that raised.
"""

from __future__ import annotations

from dataclasses import replace

from workbench.sql.algebra.expressions import AggregateCall, Column, Constant, column_name
from workbench.sql.algebra.functions import call
from workbench.sql.algebra.types import BOOLEAN, INTEGER
from workbench.sql.logical import Block, LogicalQuery, Output, parts_of
from workbench.sql.predicates.normal_form import normal_form

ROWS = AggregateCall("count", (), INTEGER)
"""The statistic of a group that says how many rows it has."""
SEVERAL_ROWS = "a subquery that is a value has several rows"


def checks_of(query: LogicalQuery) -> tuple[LogicalQuery, ...]:
    """The checks of a query: it may go on while all of them have no rows."""
    several = normal_form(call(">", Column(column_name(ROWS), INTEGER), Constant(1, INTEGER)))
    outputs = (Output("several", Constant(True, BOOLEAN)),)
    parts = (part for part in parts_of(query) if isinstance(part, Block) and part.single)
    return tuple(dict.fromkeys(replace(part, outputs=outputs, having=several, single=False) for part in parts))
