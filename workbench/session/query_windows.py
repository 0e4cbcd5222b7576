"""The instants of a windowed query, and where its windows were at each: its answer is a sequence of sets.

Source: TelegraphCQ 4.1.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from workbench.errors import QueryError, shown
from workbench.sql.algebra.expressions import Call, Column, Constant, Expression, Value, walk
from workbench.sql.algebra.types import Kind
from workbench.sql.functions.calls import NOW
from workbench.sql.logical import Block, LogicalQuery, StreamInput, StreamWindow, output_columns, parts_of, streams_of
from workbench.sql.predicates.cnf import Operator
from workbench.sql.schema import Schema
from workbench.sql.windows.bounds import time_and_end
from workbench.sql.windows.evaluation import loop_instants, value_at
from workbench.sql.windows.past import as_of_rows, up_to
from workbench.sql.windows.stream_time import INSTANT, ROW, EventTimeVector, common_time, row_number_key

if TYPE_CHECKING:
    from workbench.engine.event_time import EventTimeClock

_ANSWER = "result() is the answer"

_COLUMNS = ("instant", "stream", "begin", "end")


def windows_of(query: LogicalQuery, declared: Sequence[StreamWindow]) -> tuple[StreamWindow, ...]:
    """The windows of a query: those of its clause, or those that follow from its conditions."""
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
    """One row for each instant so far and each window: columns ``_COLUMNS``; an open end is NULL."""
    # Each loop has instants of its own.
    rows = [
        (instant, w.stream, *(None if e is None else value_at(e, moment) for e in (w.left, w.right)))
        for loop in dict.fromkeys(window.loop for window in windows)
        for moved in [[window for window in windows if window.loop == loop]]
        for instant, moment in instants(moved, clock, registered)
        for w in moved
    ]
    return pd.DataFrame(rows, columns=list(_COLUMNS))


def instants(
    windows: Sequence[StreamWindow], clock: EventTimeClock, registered: int
) -> Iterator[tuple[Value, EventTimeVector]]:
    """The instants so far, in order: the loop's that are due, or without a loop the times since registration."""
    loop = _loop(windows)
    if loop is not None:
        for value in loop_instants(loop).due(clock.now):
            yield value, {**clock.now, INSTANT: value}
        return
    now, before = _now(windows), object()
    passed = [moment for batch, moment in clock.vectors if batch > registered]
    for moment in (clock.after_batch(registered), *passed):
        value = None if now is None else value_at(now, moment)
        if value != before:
            yield value, moment
        before = value


def query_at_instant(
    query: LogicalQuery, windows: Sequence[StreamWindow], clock: EventTimeClock, at: object, schema: Schema, name: str
) -> tuple[LogicalQuery, EventTimeVector]:
    """A query as of one instant, and the event times that it sees there.

    The set of an instant of a loop is told by its windows alone. At any other instant now is that instant, and the
    query is asked of the rows up to then: those whose event time is not later, or that have none.

    Raises:
        QueryError: there is no such instant (yet), or times of the streams do not compare.
    """
    loop = _loop(windows)
    if len({window.loop for window in windows} - {None}) > 1:
        raise QueryError(f"{name} has several loops, so an instant of one says nothing of the others", hint=_ANSWER)
    if loop is not None:
        wanted, due = _as(at, loop.type.kind, query, name), loop_instants(loop).due(clock.now)
        if wanted not in due:
            last = f"the last is {due[-1]}" if due else "there is none yet"
            raise QueryError(f"{wanted} is no instant of {name} so far", hint=f"windows() lists them; {last}")
        return query, {**clock.now, INSTANT: wanted}
    times = _times(query, schema, name)
    if counted := _counted(windows) & {row_number_key(stream) for stream, time in times.items() if time != ROW}:
        message = f"{name} counts the {min(counted)}, and its instants are event times"
        raise QueryError(message, hint=f"{_ANSWER}, and result(batch=…) that after a batch")
    type_ = common_time(time.type for time in times.values())
    if type_ is None:
        clashing = ", ".join(f"{stream} {time.type}" for stream, time in sorted(times.items()))
        raise QueryError(f"{name} has no instants: {clashing or 'it reads no stream'}", hint=_ANSWER)
    wanted = _as(at, type_.kind, query, name)
    keys = {row_number_key(stream) if time == ROW else stream.lower() for stream, time in times.items()}
    ends = {stream: (time, Constant(wanted, type_)) for stream, time in times.items()}
    return up_to(query, ends), {**clock.now, **dict.fromkeys(keys, wanted)}


def query_at_batch(query: LogicalQuery, clock: EventTimeClock, batch: int) -> tuple[LogicalQuery, EventTimeVector]:
    """A query over the rows that there were after a batch, and the event times that it saw: none is run again."""
    moment = clock.after_batch(batch)
    return as_of_rows(query, moment), moment


def _times(query: LogicalQuery, schema: Schema, name: str) -> dict[str, Column]:
    """The time of each stream that a query reads: its event times, or the numbers of its rows."""
    times = {stream: schema.time(stream) or ROW for stream in streams_of(query) - schema.tables}
    counted = sorted(stream for stream, time in times.items() if time == ROW)
    if counted and len(counted) < len(times):
        other = min(times.keys() - counted)
        message = f"{name} has no instants: {other} has event times, and the rows of {counted[0]} are only counted"
        raise QueryError(message, hint=f"add {counted[0]} with time=…, the column that has its event times")
    if taken_back := sorted(schema.corrected.intersection(counted)):
        message = f"{name} has no instants: {taken_back[0]} has no event times, and takes rows back"
        raise QueryError(message, hint=f"add {taken_back[0]} with time=…, the column that has its event times")
    return times


def _loop(windows: Sequence[StreamWindow]) -> Call | None:
    return next((window.loop for window in windows if window.loop is not None), None)


def _now(windows: Sequence[StreamWindow]) -> Expression | None:
    ends = (end for window in windows for end in (window.left, window.right) if end is not None)
    return next((p for end in ends for p in walk(end) if isinstance(p, Call) and p.function == NOW), None)


def _counted(windows: Sequence[StreamWindow]) -> set[str]:
    """The clocks that windows follow."""
    ends = (end for window in windows for end in (window.left, window.right) if end is not None)
    calls = (part for end in ends for part in walk(end) if isinstance(part, Call) and part.function == NOW)
    return {str(name.value) for call in calls for name in call.arguments if isinstance(name, Constant)}


_LIKE = {Kind.INTEGER: "42", Kind.DATE: "'2024-05-06'", Kind.TIMESTAMP: "'2024-05-06 07:30'"}
"""How instants are written."""


def _as(at: object, kind: Kind, query: LogicalQuery, name: str) -> Value:
    """A given instant, converted to the type of the query's instants.

    Raises:
        QueryError: it is of another kind.
    """
    given = at.item() if isinstance(at, np.integer) else at
    try:
        if isinstance(given, str):
            given = int(given) if kind is Kind.INTEGER else dt.datetime.fromisoformat(given)
        if isinstance(given, pd.Timestamp | np.datetime64) or given is pd.NaT:
            moment = pd.Timestamp(given).floor("us")
            given = None if moment is pd.NaT else moment.to_pydatetime()
    except ValueError:
        given = None
    match given, kind:
        case bool(), _:
            pass
        case int(), Kind.INTEGER:
            return given
        case dt.datetime(tzinfo=None), Kind.DATE if given.time() == dt.time():
            return given.date()
        case dt.datetime(tzinfo=None), Kind.TIMESTAMP:
            return given
        case dt.datetime(), _:
            pass
        case dt.date(), Kind.DATE:
            return given
        case dt.date(), Kind.TIMESTAMP:
            return dt.datetime.combine(given, dt.time())
    batch = given if isinstance(given, int) and not isinstance(given, bool) and given >= 0 else 3
    hint = (
        f"result(batch={batch}) is its answer after that batch, head({batch}) are its first rows"
        if batch is given
        else "result(batch=0) is its answer after the history, and batches are counted from it"
        if isinstance(given, int)
        else f"as in {_LIKE[kind]}; %argus results {name} --batch 3 is its answer after a batch"
    )
    if isinstance(at, str) and at in dict(output_columns(query)):
        hint = f"a column of its answer is result()[{at!r}]"
    raise QueryError(f"{shown(at)} is no instant of {name}, which are {kind.value}s", hint=hint)
