"""The session of each row: what a group by sessions says of its rows, as a value that they have.

A row begins a session if no row is at most the gap before it; its session began with the latest such row so far.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from workbench.sql.algebra.analytic import AnalyticCall, Frame, FrameEnd, Over
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import Call, Column, Constant, Expression, Origin
from workbench.sql.algebra.ordering import SortKey
from workbench.sql.algebra.types import INTEGER
from workbench.sql.functions.calls import call
from workbench.sql.logical import Analyzed, Block, Output, output_columns
from workbench.sql.predicates.cnf import TRUE
from workbench.sql.windows.stream_time import is_session

_SO_FAR = Frame("range", None, FrameEnd("0"))
"""Up to the row and its peers, which are in its session."""


def session_of(groups: Sequence[Expression]) -> Call | None:
    """The group that is a session, of which there is at most one."""
    return next((group for group in groups if isinstance(group, Call) and is_session(group)), None)


def with_session_starts(rows: Block, groups: Sequence[Expression]) -> tuple[Block, Mapping[Expression, Expression]]:
    """A block of the same rows in which the groups are columns, a session by its start.

    Args:
        rows: a block without a grouping.
        groups: over its inputs; one of them is a session.

    Returns:
        The block, and for each of its outputs' expressions and each group the column that has it there.
    """
    session = session_of(groups)
    assert session is not None
    time, gap = session.arguments
    plain = [group for group in groups if group != session]
    shown = [*dict.fromkeys([*(output.expression for output in rows.outputs), *plain, time])]
    # What tells a stream's rows apart is no column for functions with OVER.
    named = replace(rows, outputs=numbered_outputs(shown))
    read = dict(zip(shown, _columns_of(named), strict=True))
    partition, time = [read[group] for group in plain], read[time]
    before, previous = _over("lag", (time, Constant(1, INTEGER)), partition, time)
    inner = Block((named,), TRUE, numbered_outputs([*read.values(), previous]), analytics=(before,))
    *_, previous = _columns_of(inner)
    goes_on = call("<=", time, call("add_seconds", previous, gap))
    start, begins = _over("max", (call("case", goes_on, Constant(None, time.type), time),), partition, time, _SO_FAR)
    outer = Block((inner,), TRUE, numbered_outputs([*read.values(), begins]), analytics=(start,))
    *columns, found = _columns_of(outer)
    return outer, {**dict(zip(shown, columns, strict=True)), session: found}


def _over(
    function: str,
    arguments: tuple[Expression, ...],
    partition: Sequence[Expression],
    time: Expression,
    frame: Frame | None = None,
) -> tuple[Analyzed, Column]:
    """A function of the rows of a partition in the order of their times, and the column that has its value."""
    called = AnalyticCall(function, arguments, time.type, Over.of(tuple(partition), [SortKey(time)]), frame)
    return Analyzed(called.name, called), Column(called.name, time.type, Origin.ANALYTIC)


def numbered_outputs(shown: Sequence[Expression]) -> tuple[Output, ...]:
    """Expressions as outputs that are named by their numbers."""
    return tuple(Output(f"c{place}", expression) for place, expression in enumerate(shown))


def _columns_of(block: Block) -> list[Column]:
    return [Column(stored_name(name), type_) for name, type_ in output_columns(block)]
