"""The instants of a windowed query, and where its windows were at each: its answer is a sequence of sets.

Source: TelegraphCQ 4.1.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from workbench.errors import QueryError
from workbench.sql.algebra.expressions import Call, Column, Expression, Value, walk
from workbench.sql.algebra.types import Kind
from workbench.sql.logical import Block, LogicalQuery, StreamInput, StreamWindow, parts_of
from workbench.sql.predicates.cnf import Operator
from workbench.sql.windows.bounds import time_and_end
from workbench.sql.windows.evaluation import sequence, value_at
from workbench.sql.windows.stream_time import INSTANT, NOW, EventTimeVector

if TYPE_CHECKING:
    from workbench.engine.event_time import EventTimeClock

COLUMNS = ("instant", "stream", "begin", "end")


def windows_of(query: LogicalQuery, declared: Sequence[StreamWindow]) -> tuple[StreamWindow, ...]:
    """The windows of a query: those of its clause, or else those that its conditions amount to."""
    return tuple(declared) or tuple(_conditions(query))


def _conditions(query: LogicalQuery) -> Iterator[StreamWindow]:
    for block in parts_of(query):
        if isinstance(block, Block):
            yield from _conditions_of(block)


def _conditions_of(query: Block) -> Iterator[StreamWindow]:
    for end in (*query.window, *query.having_window):
        time, operator, bound = time_and_end(end)
        source = next((part.source for part in walk(time) if isinstance(part, Column)), 0)
        item = query.inputs[source] if end in query.window else query
        below = operator in (Operator.LT, Operator.LE)
        name = item.stream if isinstance(item, StreamInput) else "groups"
        sides = (None, bound) if below else (bound, bound) if operator is Operator.EQ else (bound, None)
        yield StreamWindow(name, *sides)


def instants_and_windows(windows: Sequence[StreamWindow], clock: EventTimeClock, registered: int) -> pd.DataFrame:
    """One row for each instant so far and each window: columns ``COLUMNS``; an open end is NULL."""
    rows = [
        (instant, w.stream, *(None if e is None else value_at(e, moment) for e in (w.left, w.right)))
        for instant, moment in instants(windows, clock, registered)
        for w in windows
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def instants(
    windows: Sequence[StreamWindow], clock: EventTimeClock, registered: int
) -> Iterator[tuple[Value, EventTimeVector]]:
    """The instants so far, in order: those of the loop that are due, or else the times since registration."""
    loop = _loop(windows)
    if loop is not None:
        for value in sequence(loop).due(clock.now):
            yield value, {**clock.now, INSTANT: value}
        return
    now, before = _now(windows), object()
    passed = [moment for batch, moment in clock.vectors if batch > registered]
    for moment in (clock.after_batch(registered), *passed):
        value = None if now is None else value_at(now, moment)
        if value != before:
            yield value, moment
        before = value


def time_at(windows: Sequence[StreamWindow], clock: EventTimeClock, at: object, name: str) -> EventTimeVector:
    """The moment of one instant.

    Raises:
        QueryError: the query has no windows, or there is no such instant (yet).
    """
    loop, now = _loop(windows), _now(windows)
    kind = loop.type.kind if loop is not None else None if now is None else now.type.kind
    if kind is None:
        raise QueryError(
            f"{name} has no instants", hint="a query with now or a window clause has; result() is the answer"
        )
    wanted = _as(at, kind)
    if wanted is None:
        raise QueryError(f"{at!r} is no instant of {name}, which are {kind.value}s", hint="windows() lists them")
    if loop is not None:
        due = sequence(loop).due(clock.now)
        if wanted not in due:
            last = f"the last is {due[-1]}" if due else "there is none yet"
            raise QueryError(f"{at} is no instant of {name} so far", hint=f"windows() lists them; {last}")
        return {**clock.now, INSTANT: wanted}
    return dict.fromkeys(clock.now, wanted)


def _loop(windows: Sequence[StreamWindow]) -> Call | None:
    return next((window.loop for window in windows if window.loop is not None), None)


def _now(windows: Sequence[StreamWindow]) -> Expression | None:
    ends = (end for window in windows for end in (window.left, window.right) if end is not None)
    return next((p for end in ends for p in walk(end) if isinstance(p, Call) and p.function == NOW), None)


def _as(at: object, kind: Kind) -> Value:
    """What was given as an instant, of the kind that instants are of."""
    try:
        if isinstance(at, str):
            at = dt.datetime.fromisoformat(at) if kind is not Kind.INTEGER else int(at)
        if isinstance(at, pd.Timestamp):
            at = at.to_pydatetime()
    except ValueError:
        return None
    match at, kind:
        case bool(), _:
            return None
        case int(), Kind.INTEGER:
            return at
        case dt.datetime(), Kind.DATE:
            return at.date() if at.time() == dt.time() else None
        case dt.datetime(), Kind.TIMESTAMP:
            return at
        case dt.date(), Kind.DATE:
            return at
        case dt.date(), Kind.TIMESTAMP:
            return dt.datetime.combine(at, dt.time())
    return None
