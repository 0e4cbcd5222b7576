"""A column that a stream gets after it was added: its rows have the values that were kept with them.

Queries that are registered keep their meaning and their answers: nothing of them is bound or computed anew.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice

from workbench.errors import StreamError, WorkbenchError
from workbench.session.state import QueryRecord, State
from workbench.session.transitions import Runtime
from workbench.sql.algebra.column_names import display_name, stored_name
from workbench.sql.binder.pipeline import bind
from workbench.sql.by_name import LISTED
from workbench.sql.logical import streams_of
from workbench.sql.schema import Schema
from workbench.streams.added_columns import AddedColumn
from workbench.streams.drift import members_of, type_of_values
from workbench.streams.ingest import declared_types
from workbench.streams.stream import Stream

_SEEN = 1_000
"""Values that suggest a type."""
_SHOWN = 3
"""Values that are shown of those that are none of the type."""


@dataclass(frozen=True)
class NewColumn:
    """What became of a column that was added.

    Attributes:
        stream: its name.
        column: the name of the column.
        type: its type.
        kept: how many rows have a value of it.
        misfits: how many had a value that is none of its type: it is NULL there.
        examples: the first of these values.
        stars: queries whose ``*`` has not the column, as it was registered before.
    """

    stream: str
    column: str
    type: str
    kept: int
    misfits: int
    examples: tuple[str, ...]
    stars: tuple[str, ...]

    def __str__(self) -> str:
        rows = f"{self.kept:,} row{'s have' if self.kept != 1 else ' has'} a value, the others NULL"
        lines = [f"{self.stream} has the column {self.column} {self.type}: {rows}; queries go on as they are"]
        if self.misfits:
            values = f"{self.misfits:,} value{'s are' if self.misfits != 1 else ' is'} no {self.type}, and NULL"
            lines.append(f"{values}: {', '.join(self.examples)}")
        if self.stars:
            names = ", ".join(self.stars[:LISTED]) + ", …" * (len(self.stars) > LISTED)
            lines.append(f"SELECT * stays what it was in {names}: register again what shall have it")
        return "\n".join(lines)


def add_column(runtime: Runtime, state: State, name: str, column: str, type_: str | None) -> tuple[State, NewColumn]:
    """Give a stream another column; arguments and errors as ``Session.add_column``."""
    stream = state.stream(name)
    _check_new(stream, column, type_)
    declared = type_ or _suggested(stream, column)
    declared_types({column: declared})
    new = AddedColumn(column, declared)
    wide = _with(stream, new)
    told = state.with_stream(wide)
    readers = [q for q in state.queries.values() if stream.name in streams_of(q.logical) and not means_same(q, told)]
    wide = _with(stream, replace(new, unseen_by=tuple(query.id for query in readers)))
    batches = {report.batch: report.taken.get(stream.name, 0) for report in state.reports}
    runtime.engine.widen_stream(stream.name, dict(wide.stored_columns), wide.arrivals(batches))
    statistics = {**state.statistics, stream.name.lower(): wide.statistics()}
    runtime.planner.streams = statistics
    kept, misfits = _values(wide, new)
    stars = tuple(query.name for query in readers if "*" in query.sql)
    examples = tuple(f"{value:.60}" for value in misfits[:_SHOWN])
    answer = NewColumn(stream.name, display_name(new.name), str(new.type), kept, len(misfits), examples, stars)
    return replace(state.with_stream(wide), statistics=statistics), answer


def _with(stream: Stream, column: AddedColumn) -> Stream:
    return replace(stream, log=replace(stream.log, added=(*stream.log.added, column)))


def _suggested(stream: Stream, column: str) -> str:
    """The type that the values of a member suggest."""
    types = {stored_name(drift.name): drift.type for drift in stream.drifts if drift.is_new}
    if stored_name(column) in types:
        return types[stored_name(column)]
    member = AddedColumn(column, "string")
    values = (member.member(members_of(text)) for more in stream.log.members() for text in more.to_pylist())
    if not (first := [*islice((value for value in values if value is not None), _SEEN)]):
        known = ", ".join(drift.name for drift in stream.drifts if drift.is_new)
        hint = f"new in its rows: {known}" if known else "no row of it has a member that is no column"
        message = f"what type has {column}? No row of {stream.name} has it so far"
        raise StreamError(message, hint=f"{hint}; {_declared(stream, column)} says it")
    return type_of_values(first)


def widened_by(stream: Stream, column: str, type_: str) -> str:
    """How an analyst makes a column another type, in a cell and in Python."""
    line = f"%argus stream {stream.name} --widen {column}={type_}"
    return f'{line}, in Python widen_column("{stream.name}", "{column}", "{type_}")'


def _declared(stream: Stream, column: str) -> str:
    line = f"%argus stream {stream.name} --add {column} --type {column}=string"
    return f'{line}, in Python add_column("{stream.name}", "{column}", "string"),'


def _check_new(stream: Stream, column: str, declared: str | None) -> None:
    if not column.strip():
        raise StreamError("a column needs a name", hint=f'add_column("{stream.name}", "note", "string")')
    known = dict(stream.stored_columns)
    if (has := known.get(stored_name(column))) is not None:
        hint = f"{widened_by(stream, column, declared or 'TYPE')}, makes it another type"
        raise StreamError(f"{stream.name} has the column {display_name(stored_name(column))} {has}", hint=hint)


def means_same(query: QueryRecord, state: State) -> bool:
    """Whether the text of a query means with more columns what it meant when it was registered."""
    try:
        # Logical queries are equal when their streams have equal columns, too, which their texts leave out.
        schema = replace(state, timezone=query.timezone).schema
        return repr(bind(query.sql, query.dialect, schema).named(query.name)[query.name]) == repr(query.logical)
    except WorkbenchError:
        return False


def _values(stream: Stream, column: AddedColumn) -> tuple[int, list[str]]:
    """How many rows have a value of a column, and the values that are none of its type."""
    kept, misfits = 0, list[str]()
    for more in stream.log.members():
        values, misfit = column.values(more)
        kept += len(values) - values.null_count
        misfits += [] if misfit is None else column.texts(more.filter(misfit))
    return kept, misfits


def unseen(state: State, query: QueryRecord) -> list[str]:
    """The columns, with their streams, that the ``*`` of a query has not, as it was registered before."""
    if "*" not in query.sql:
        return []
    columns = ((stream.name, column) for stream in state.streams.values() for column in stream.log.added)
    return [f"{name}.{column.column}" for name, column in columns if query.id in column.unseen_by]


def schema_before(state: State, query: QueryRecord) -> Schema:
    """The names that a query could use when it was registered, as far as columns were added since, and its zone."""
    streams = {name: _before(stream, query) for name, stream in state.streams.items()}
    return replace(state, streams=streams, timezone=query.timezone).schema


def _before(stream: Stream, query: QueryRecord) -> Stream:
    added = tuple(column for column in stream.log.added if query.id not in column.unseen_by)
    return replace(stream, log=replace(stream.log, added=added))
