"""A column that is made wider: its rows are read as the new type, and those that were quarantined for it are taken in.

Queries that read the stream are bound anew to the types that its columns have now, and computed from all data so far:
their answers are those that they would have if the column had been declared so from the start. They keep their names,
ids and places. What is quarantined is taken in afterwards, in a step of its own, so a process that ends in between has
a wider column, and rows that still wait.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np
import pyarrow as pa

from workbench.arrow.types import to_field
from workbench.engine.event_time import recover_clock
from workbench.errors import StreamError
from workbench.session.adding_column import widened_by
from workbench.session.constraints import check_column
from workbench.session.readers_anew import with_readers_anew
from workbench.session.state import State
from workbench.session.transitions import Runtime
from workbench.sql.algebra.column_names import display_name, stored_name
from workbench.sql.algebra.types import DOUBLE, MAX_PRECISION, DataType, Kind, decimal
from workbench.sql.by_name import LISTED, hint_of
from workbench.sql.logical import output_columns
from workbench.streams.declared_times import split_form
from workbench.streams.event_time import TIME_KINDS
from workbench.streams.files.json_values import text_of
from workbench.streams.guessing import guess
from workbench.streams.ingest import declared_types
from workbench.streams.log import CHUNK_ROWS
from workbench.streams.number_forms import to_plain
from workbench.streams.retried_rows import Retried, values_of, waiting_for_column
from workbench.streams.stream import Stream
from workbench.streams.widened_columns import WidenedColumn

_NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE)
_LONG_DIGITS = 18
"""Digits of decimals that are added and multiplied as 64-bit integers."""
_SHOWN = 3
"""Values and reasons that are shown."""


@dataclass(frozen=True)
class WiderColumn:
    """What became of a column that was made wider.

    Attributes:
        stream: its name.
        column: the name of the column.
        before: its type before.
        type: its type.
        taken: how many rows were taken in that had been quarantined for it.
        waits: whether they wait for a batch, behind others.
        left: why other such rows were not, each reason.
        queries: those whose answers have other types now.
    """

    stream: str
    column: str
    before: str
    type: str
    taken: int = 0
    waits: bool = False
    left: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()

    def __str__(self) -> str:
        rows = f"{self.taken:,} quarantined row{'s' * (self.taken != 1)}"
        came = f"{rows} {'wait behind the others' if self.waits else 'came in a batch'}"
        came = came if self.taken else "no quarantined row was taken in"
        lines = [f"{self.stream}: {self.column} is {self.type}, and was {self.before}; {came}"]
        if self.queries:
            lines.append(f"computed anew, with other types in their answers, SELECT * too: {_listed(self.queries)}")
        lines += [f"still quarantined: {reason}" for reason in self.left[:_SHOWN]]
        return "\n".join(lines)

    def retried(self, retried: Retried, waits: bool) -> WiderColumn:
        """With what became of the rows that waited."""
        return replace(self, taken=retried.taken, left=retried.left, waits=waits)


def widen_column(
    runtime: Runtime, state: State, name: str, column: str, declared: str | None
) -> tuple[State, WiderColumn]:
    """Give a column of a stream another type; arguments and errors as ``Session.widen_column``."""
    stream = state.stream(name)
    stored, before = _known(stream, column)
    new = WidenedColumn(stored, declared or _suggested(stream, stored, before))
    declared_types({column: new.declared})
    answer = WiderColumn(stream.name, display_name(stored), str(before), str(new.type))
    if new.type == before:
        if split_form(new.declared)[1]:
            hint = f"string has all: {widened_by(stream, display_name(stored), 'string')}; a query reads them then"
            raise StreamError(
                f"{stream.name}.{display_name(stored)} is {before}, and read in one form alone", hint=hint
            )
        return state, answer
    wide = replace(stream, log=stream.log.with_widened([new]))
    check_column(state, stream, stored)
    _check(stream, wide, new, before)
    after = _with_wider(runtime, state, stream, wide)
    shapes = {q: output_columns(record.logical) for q, record in state.queries.items()}
    changed = (q for q, record in after.queries.items() if output_columns(record.logical) != shapes[q])
    return after, replace(answer, queries=tuple(changed))


def _known(stream: Stream, column: str) -> tuple[str, DataType]:
    columns = dict(stream.log.source_columns)
    stored = stored_name(column)
    if stored in {added.name for added in stream.log.added}:
        hint = "what was kept of it has all its digits; add the member under the type that it is to have"
        raise StreamError(f"{stream.name}.{column} was added to the stream, and is not widened", hint=hint)
    whole, _, field = column.partition(".")
    if field and stored not in columns and stored_name(whole) in columns:
        hint = f"declare all of {whole}, as --type does, and add the stream again with --replace"
        raise StreamError(f"{column} is a field of {whole}, and a field is not widened", hint=hint)
    if stored not in columns:
        names = [display_name(name) for name in columns]
        raise StreamError(
            f"{stream.name} has no column {column}", hint=hint_of(column, "its columns are", dict.fromkeys(names))
        )
    return stored, columns[stored]


def _check(stream: Stream, wide: Stream, new: WidenedColumn, before: DataType) -> None:
    """Check that a type has all stored values, and that the declarations of the stream suit it."""
    name = f"{stream.name}.{display_name(new.name)}"
    if stream.time is not None and stored_name(stream.time) == new.name and new.type.kind not in TIME_KINDS:
        hint = "event time is a date, a timestamp or an integer"
        raise StreamError(f"{name} has the event times, and {new.type} has none", hint=hint)
    log = stream.log
    if new.name in {log.transactions.column if log.transactions is not None else None}:
        raise StreamError(f"{name} says which rows belong together, and stays {before}", hint="add another stream")
    if {before.is_text_when_stored, new.type.is_text_when_stored} - {False}:
        raise StreamError(
            f"{name} is {before}, which is not made {new.type}", hint="structs and lists stay what they are"
        )
    field = to_field(new.name, before)
    for start in range(0, stream.rows, CHUNK_ROWS):
        values = log.read(start, start + CHUNK_ROWS, [new.name]).column(0).combine_chunks().cast(field.type)
        _, misfit = new.values(values)
        if misfit is not None and misfit.any():
            value = values[int(np.flatnonzero(misfit)[0])].as_py()
            hint = f"string has all: {widened_by(stream, display_name(new.name), 'string')}"
            hint = "it stays a text; a query makes a number of it by CAST" if before.kind is Kind.STRING else hint
            raise StreamError(f"{name} has {value!r:.60}, which is no {new.type}", hint=hint)


def _suggested(stream: Stream, column: str, before: DataType) -> str:
    """The type that has the values that are there, and those that wait."""
    values = values_of(waiting_for_column(stream.log, column), column)
    known = stream.log.guesses.get(column)
    texts = pa.array([text_of(value) for value in values if not isinstance(value, bytes)], pa.string())
    if known is not None and known.type.kind in _NUMBERS:
        texts = to_plain(texts, known.form)[0].drop_null()
    name = display_name(column)
    if not values:
        hint = f"say which type it is to have: {widened_by(stream, name, 'TYPE')}"
        raise StreamError(f"what type is {stream.name}.{name} to have? No row waits for it to be another", hint=hint)
    found = guess(name, texts).type
    if before.kind is Kind.DATE and found.kind is Kind.TIMESTAMP:
        return str(found)
    if before.kind in _NUMBERS and found.kind in _NUMBERS:
        return str(_wider(before, found, [Decimal(text) for text in texts.to_pylist() if _is_number(text)]))
    shown = ", ".join(texts.to_pylist()[:_SHOWN])
    raise StreamError(
        f"{stream.name}.{name} is {before}, and no other type has {shown:.60}, too",
        hint=f"string has all: {widened_by(stream, name, 'string')}",
    )


def _is_number(text: str) -> bool:
    try:
        return Decimal(text).is_finite()
    except ArithmeticError:
        return False


def _wider(before: DataType, found: DataType, numbers: Sequence[Decimal]) -> DataType:
    """The type of numbers of two types; a decimal has the digits of all of them."""
    if Kind.DECIMAL not in (before.kind, found.kind):
        return found if before.kind is Kind.INTEGER else DOUBLE
    scale = max([before.scale, *(-int(number.as_tuple().exponent) for number in numbers)])
    digits = max([before.precision - before.scale, *(number.adjusted() + 1 for number in numbers)])
    return decimal(
        _LONG_DIGITS if before.kind is Kind.DECIMAL and digits + scale <= _LONG_DIGITS else MAX_PRECISION, scale
    )


def _with_wider(runtime: Runtime, state: State, stream: Stream, wide: Stream) -> State:
    """The state with wider types of a stream, in which all of its readers are computed again."""
    batches = {report.batch: report.taken.get(stream.name, 0) for report in state.reports}

    def widened(bare: State) -> State:
        engine = runtime.engine
        engine.widen_stream(stream.name, dict(wide.stored_columns), wide.arrivals(batches))
        times = {name: one.time for name, one in state.streams.items()}
        ordered = {name: one.ordered for name, one in state.streams.items()}
        clock = recover_clock(engine.state.arrived, times, [report.batch for report in state.reports], ordered)
        engine.replace_state(replace(engine.state, clock=clock))
        statistics = {**state.statistics, stream.name.lower(): wide.statistics()}
        runtime.planner.streams = statistics
        return replace(bare.with_stream(wide), statistics=statistics)

    return with_readers_anew(runtime, state, stream, widened)


def _listed(names: Iterable[str]) -> str:
    some = [*names]
    return ", ".join(some[:LISTED]) + ", …" * (len(some) > LISTED)
