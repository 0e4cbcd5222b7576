"""Constraints as an analyst declares them of a stream: the columns that they name, and which row has broken them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from workbench.errors import StreamError, nearest
from workbench.sql.algebra.column_names import display_name, stored_name
from workbench.sql.algebra.types import DataType, Kind
from workbench.sql.constraints import ArrivalOrder, Constraint, ForeignKey
from workbench.sql.windows.stream_time import is_time
from workbench.streams.lateness import Lateness, LateRows, lateness_of

_TARGET = re.compile(r"\s*([^.()]+?)\s*(?:\.\s*([^.()]+?)|\(([^()]+)\))?(?:\s+within\s+(\d+)\s+rows?)?\s*", re.I)
StreamColumns = Mapping[str, tuple[tuple[str, DataType], ...]]
"""The stored columns of streams by their names."""


@dataclass(frozen=True)
class DeclaredConstraint:
    """A constraint of a stream.

    Attributes:
        constraint: what is declared.
        text: the same in words.
        broken: which row broke it, and how; "" while none has. A constraint that was broken is not relied on any more.
    """

    constraint: Constraint
    text: str
    broken: str = ""

    def __str__(self) -> str:
        return f"{self.text}; not relied on: {self.broken}" if self.broken else self.text


def constraints_of(
    stream: str, references: object, ordered: object, columns: StreamColumns, lateness: Lateness | None = None
) -> tuple[DeclaredConstraint, ...]:
    """The constraints that an analyst declared of a stream.

    Args:
        stream: its name.
        references: for columns what they refer to: ``{"tailnum": "planes.tailnum", "a, b": "other(x, y)"}``; or texts,
            ``"tailnum=planes.tailnum"``. Without columns those of the same names are meant. ``"planes.tailnum within
            100 rows"``: the row that is meant may come later, before 100 further rows of the stream.
        ordered: the columns that are ordered, each with how much a value may be less than one before it:
            ``{"ts": "1 hour"}``; or texts, ``"ts"`` or ``"ts=1 hour"``.
        columns: those of all streams.
        lateness: what the stream leaves out itself, which makes its event times ordered.

    Raises:
        StreamError: there is no such stream or column, or columns are of types that do not go together.

    Example:
        >>> from workbench.sql.algebra.types import DATE, STRING
        >>> known = {"flights": (("tailnum", STRING), ("day", DATE)), "planes": (("tailnum", STRING),)}
        >>> for declared in constraints_of("flights", "tailnum=planes", {"day": "2 days"}, known):
        ...     print(declared)
        flights.tailnum references planes.tailnum
        flights.day is ordered, within 2 days
    """
    found: list[Constraint] = [
        _foreign_key(stream, own, target, columns) for own, target in _pairs("references", references)
    ]
    found += [_order(stream, column, within, dict(columns[stream])) for column, within in _pairs("ordered", ordered)]
    if lateness is not None and all(not isinstance(c, ArrivalOrder) or c.column != lateness.time for c in found):
        found.append(ArrivalOrder(stream, lateness.time, lateness.allowed, str(lateness), kept=True))
    return tuple(DeclaredConstraint(constraint, str(constraint)) for constraint in found)


def first_fall(order: ArrivalOrder, rows: pa.Table, largest: int | None) -> str:
    """The first row whose value is less than its order allows, in words; "" where there is none.

    Args:
        order: of the stream.
        rows: that arrive, in order.
        largest: the greatest value before them.
    """
    kind = {pa.date32(): Kind.DATE, pa.int64(): Kind.INTEGER}.get(rows.schema.field(order.column).type, Kind.TIMESTAMP)
    late = LateRows(Lateness(order.column, kind, order.allowed), largest).among(rows)
    if not late:
        return ""
    at = min(late)
    limit = f"more than {order.shown} " if order.shown else ""
    return f"{display_name(order.column)} {rows.column(order.column)[at]} is {limit}before one that came earlier"


def _pairs(what: str, given: object) -> Iterator[tuple[str, object]]:
    """What is said of some columns, with what is said of them."""
    if isinstance(given, Mapping):
        yield from ((str(column), value) for column, value in given.items())
    elif isinstance(given, str):
        column, _, value = given.partition("=")
        yield column.strip(), value.strip() or None
    elif isinstance(given, Sequence):
        for one in given:
            yield from _pairs(what, one)
    elif given is not None:
        hint = "a mapping from columns, as {'ts': '1 hour'}, or texts, as 'ts=1 hour'"
        raise StreamError(f"{what} is {given!r:.60}", hint=hint)


def _foreign_key(stream: str, own: str, target: object, columns: StreamColumns) -> ForeignKey:
    match = _TARGET.fullmatch(target) if isinstance(target, str) else None
    if match is None:
        hint = "'planes.tailnum', or of several columns 'planes(tailnum, year)'; late: 'planes.tailnum within 100 rows'"
        what = "nothing that is named" if target is None else f"{target!r:.60}"
        raise StreamError(f"{stream}: {own} references {what}", hint=hint)
    known = {name.lower(): name for name in columns}
    name, *keys, late = match.groups()
    if name.lower() not in known:
        hint = nearest(name, columns) or "add the stream or table that is referred to first"
        hint = "what may be late is late by rows: 'planes.tailnum within 100 rows'" if " within " in name else hint
        raise StreamError(f"{stream}: {own} references {name}, and there is no stream {name}", hint=hint)
    name = known[name.lower()]
    refers = _named(stream, own, dict(columns[stream]))
    key = _named(name, next(filter(None, keys), own), dict(columns[name]))
    if len(refers) != len(key):
        raise StreamError(f"{stream}: {own} references {target}", hint="as many columns on both sides")
    for one, other in zip(refers, key, strict=True):
        types = dict(columns[stream])[one], dict(columns[name])[other]
        if types[0] != types[1] or types[0].kind is Kind.DOUBLE or types[0].is_text_when_stored:
            message = f"{stream}.{display_name(one)} is {types[0]}, and {name}.{display_name(other)} is {types[1]}"
            hint = "what is compared as equal has one type, and is no DOUBLE; columns=… declares types"
            raise StreamError(message, hint=hint)
    return ForeignKey(stream, refers, name, key, int(late or 0))


def _order(stream: str, column: str, within: object, columns: Mapping[str, DataType]) -> ArrivalOrder:
    (stored,) = _named(stream, column, columns, most=1)
    type_ = columns[stored]
    if not is_time(type_):
        hint = "dates, timestamps and integers can be ordered"
        raise StreamError(f"{stream}.{column} is {type_}, and has no order of arrival", hint=hint)
    if within is None or within == 0:
        return ArrivalOrder(stream, stored)
    lateness = lateness_of(within, display_name(stored), type_)
    return ArrivalOrder(stream, stored, lateness.allowed, str(lateness))


def _named(stream: str, text: str, columns: Mapping[str, DataType], most: int = 32) -> tuple[str, ...]:
    """The stored names of the columns that a text names."""
    names = [part.strip() for part in text.strip().strip("()").split(",")]
    for name in names:
        if stored_name(name) not in columns:
            known = [display_name(column) for column in columns]
            hint = nearest(name, known) or f"its columns are {', '.join(known)}"
            raise StreamError(f"{stream} has no column {name}", hint=hint)
    if len(names) > most:
        raise StreamError(f"{stream}: {text} are several columns", hint="name each by itself")
    return tuple(map(stored_name, names))
