"""Constraints of streams, declared and verified as rows arrive: which ones do not hold any more, and where that shows.

An order of arrival is verified of the rows themselves, before the batch is evaluated. A foreign key is a query of the
network, the check of each query that reads both streams (``sql/checks``), so that corrections and rows of one batch
count as they do in answers. What is broken is not relied on any more (``transitions``): queries are planned without it,
and what was not stored because of it is computed again from the rows of the streams, which are all there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from workbench.engine.answers import Answers
from workbench.engine.engine import Engine
from workbench.engine.fetching import fetch_first
from workbench.errors import StreamError
from workbench.network.network import check_number, checked_query
from workbench.session.state import State
from workbench.sql.algebra.column_names import display_name
from workbench.sql.checks import Check
from workbench.sql.constraints import ArrivalOrder, Constraint, ForeignKey, largest_key
from workbench.sql.logical import streams_of
from workbench.sql.windows.stream_time import EventTimeVector, as_number
from workbench.streams.arriving import ArrivingRows
from workbench.streams.declared_constraints import constraints_of, first_fall
from workbench.streams.log import CHUNK_ROWS
from workbench.streams.stream import Stream


def constrained(state: State, stream: Stream, references: object, ordered: object) -> Stream:
    """The stream with its declared constraints, and that of its lateness.

    Raises:
        StreamError: a constraint names what is not there, or counts the rows of a stream that takes rows back.
    """
    columns = {name: other.stored_columns for name, other in state.streams.items()}
    columns[stream.name] = stream.stored_columns
    found = constraints_of(stream.name, references, ordered, columns, stream.lateness)
    late = [c.constraint for c in found if isinstance(c.constraint, ForeignKey) and c.constraint.late]
    if late and not stream.append_only:
        message = f"{late[0]}: {stream.name} takes rows back, and its rows are not counted"
        raise StreamError(message, hint="leave 'within … rows' out where the other row comes in the same batch")
    return replace(stream, constraints=found)


def broken_orders(
    streams: Iterable[Stream], arriving: Mapping[str, ArrivingRows], now: EventTimeVector
) -> dict[Constraint, str]:
    """The orders of arrival that rows break, each with the reason.

    Args:
        streams: as they are before the rows.
        arriving: the rows, by stream.
        now: the largest values before them.
    """
    found: dict[Constraint, str] = {}
    for stream in streams:
        rows = arriving.get(stream.name)
        if rows is None or not rows.rows:
            continue
        for order in stream.holding:
            if isinstance(order, ArrivalOrder) and not order.kept:
                largest = as_number(now.get(largest_key(stream.name, order.column)))
                if how := first_fall(order, rows.table([order.column]), largest):
                    found[order] = how
    return found


def broken_keys(engine: Engine, state: State, before: State | None = None) -> dict[Constraint, str]:
    """The foreign keys that do not hold, each with the reason; only those are looked at that plans may rely on.

    Args:
        engine: has the rows.
        state: with the queries, and how far streams have been read.
        before: before these rows arrived, if some did.
    """
    found: dict[Constraint, str] = {}
    looked_at = set[Check]()
    keys = any(isinstance(c, ForeignKey) for declared in state.constraints.values() for c in declared)
    for name, plan in state.network.queries.items() if keys else ():
        query, suspended = checked_query(name), state.suspended
        if query == name or name in suspended:
            continue
        check = state.checks_of(state.queries[query])[check_number(name) - 1]
        key = check.key
        if key is None or key in found or check in looked_at:
            continue
        looked_at.add(check)
        tree, limits = engine.state.by_root[plan.read.root], engine.runner.limits
        rows = fetch_first(Answers(plan, tree, state.batch, engine.state.clock, limits), 0, 1)
        if rows.num_rows:
            *values, partners = (column[0] for column in rows.columns)
            found[key] = _how(key, values, partners.as_py(), state, before)
    return found


def check_droppable(state: State, stream: Stream) -> None:
    """Check that no other stream refers to one that is to go.

    Raises:
        StreamError: one does.
    """
    for name, constraints in state.constraints.items():
        if name != stream.name and (keys := [c for c in constraints if _is_about(c, stream.name, None)]):
            raise StreamError(f"{keys[0]}", hint=f"drop {name} first")


def check_column(state: State, stream: Stream, column: str) -> None:
    """Check that no constraint that is relied on is about a column whose type is to change.

    Raises:
        StreamError: one is.
    """
    for constraint in (c for constraints in state.constraints.values() for c in constraints):
        if _is_about(constraint, stream.name, column):
            hint = "what is compared by a constraint keeps its type; add the stream under another name"
            raise StreamError(f"{stream.name}.{display_name(column)} is in a constraint: {constraint}", hint=hint)


def affected(state: State, broken: Iterable[Constraint]) -> list[str]:
    """The queries whose plans may rely on one of some foreign keys, in the order of registration."""
    keys = [constraint for constraint in broken if isinstance(constraint, ForeignKey)]
    planned = (query for name, query in state.queries.items() if name in state.network.queries)
    return [q.name for q in planned if any({key.stream, key.target} <= streams_of(q.logical) for key in keys)]


def _is_about(constraint: Constraint, stream: str, column: str | None) -> bool:
    """Whether a constraint names a stream, or a column of it."""
    match constraint:
        case ForeignKey():
            own = constraint.stream == stream and (column is None or column in constraint.columns)
            return own or (constraint.target == stream and (column is None or column in constraint.key))
        case ArrivalOrder():
            return constraint.stream == stream and column == constraint.column


def _how(key: ForeignKey, values: list[pa.Scalar], partners: int, state: State, before: State | None) -> str:
    """How a foreign key is broken for the values of its columns: by which row, of which batch."""
    refers = partners == 0
    name, columns = (key.stream, key.columns) if refers else (key.target, key.key)
    stream = state.streams[name]
    # A row that refers came before it was overdue.
    start = 0 if before is None or (refers and key.late) else before.streams[name].position
    what = " and ".join(f"{display_name(c)} {v.as_py()!r:.60}" for c, v in zip(columns, values, strict=True))
    row = _row(stream, columns, values, start, last=not refers)
    when = f" (batch {state.batch})" if before is not None else ""
    if row is None:
        return f"the row of {key.target} with {what} was taken back, and {key.stream} refers to it{when}"
    if refers:
        late = f", {key.late} rows later" if key.late else ""
        return f"row {row:,} of {name} has {what}, and {key.target} has no such row{late}{when}"
    return f"row {row:,} of {name} is another one with {what}{when}"


def _row(stream: Stream, columns: tuple[str, ...], values: list[pa.Scalar], start: int, last: bool) -> int | None:
    """The number of the first or last row from one on that has some values, counted from 1; ``None``: there is none."""
    found: int | None = None
    for at in range(start, stream.position, CHUNK_ROWS):
        rows = stream.log.read(at, min(stream.position, at + CHUNK_ROWS), list(columns))
        equal = (pc.equal(rows.column(c), v) for c, v in zip(columns, values, strict=True))
        places = pc.indices_nonzero(pc.fill_null(reduce(pc.and_, equal), False))
        if len(places):
            found = at + places[-1 if last else 0].as_py() + 1
            if not last:
                return found
    return found
