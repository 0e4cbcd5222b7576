"""The column of event time: whether it holds times, and how its texts are read as times where they are texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain

import pyarrow as pa

from workbench.errors import StreamError, nearest
from workbench.sql.algebra.column_names import display_name, stored_name
from workbench.sql.algebra.types import DATE, TIMESTAMP, DataType, Kind
from workbench.streams.convert import is_text
from workbench.streams.declared_times import declaration
from workbench.streams.guessing import guess
from workbench.streams.source import OpenedSource

TIME_KINDS = (Kind.DATE, Kind.TIMESTAMP, Kind.INTEGER)


def read_as_times(
    time: str | None, given: Mapping[str, str], source: OpenedSource
) -> tuple[OpenedSource, Mapping[str, str]]:
    """Declare a column of texts to be what its first texts are, where it is that of event time.

    Args:
        time: the column of event time.
        given: what is declared of columns; what is declared of this one stays.
        source: whose first rows say it, or what was noted of them.

    Returns:
        The source, which says how the column is read, and what is declared then. Nothing has changed where the texts
        are no times, or could be several.
    """
    field = next((field for field in source.schema if stored_name(field.name) == stored_name(time or "")), None)
    if field is None or stored_name(field.name) in map(stored_name, given) or not is_text(field.type):
        return source, given
    if (seen := source.inferred.get(field.name)) is not None and seen.type.kind is not Kind.STRING:
        return source, given
    notes = [*source.notes, *([f"{field.name}: {seen.why}"] if seen is not None else [])]
    reads = _suggested(field.name, notes)
    if reads is None and (chunk := next(source.chunks, None)) is not None:
        source = replace(source, chunks=chain([chunk], source.chunks))
        found = guess(field.name, chunk.rows.column(field.name).cast(pa.string()))
        is_time = found.type in (DATE, TIMESTAMP)
        said = f"{found.type} {found.form}".strip()
        reads = said if is_time else _suggested(field.name, [f"{field.name}: {found.why}"])
    if reads is None:
        return source, given
    other = [note for note in source.notes if _suggested(field.name, [note]) is None]
    said = f"{field.name}: its texts are read as {reads}, since it is the event time"
    return replace(source, notes=(*other, said)), {**given, field.name: reads}


def check_time(time: str | None, types: Mapping[str, DataType], notes: Iterable[str]) -> None:
    """Check that the column of event time is there, and holds times.

    Args:
        time: the column; ``None``: the stream has no event time.
        types: of the columns, by their stored names.
        notes: what was found out about the columns.

    Raises:
        StreamError: it is not there, or holds something else.
    """
    if time is None:
        return
    type_ = types.get(stored_name(time))
    usable = [display_name(name) for name, other in types.items() if other.kind in TIME_KINDS]
    if type_ is None:
        known = usable or [*map(display_name, types)]
        hint = nearest(time, known) or f"one of {', '.join(known)}"
        whole = types.get(stored_name(time.partition(".")[0]))
        if whole is not None and whole.kind is Kind.STRUCT:
            hint = "it is inside a struct, and event times are columns: pandas.json_normalize(records) makes one of it"
        raise StreamError(f"no column {time} to take event time from", hint=hint)
    if type_.kind in TIME_KINDS:
        return
    hint = f"one of {', '.join(usable)}" if usable else "no column holds such values; convert one in the source"
    if type_.kind is Kind.STRING:
        given = f'{declaration(time, "timestamp")}, columns={{"{time}": "timestamp"}} in Python'
        hint = f"if its texts are as 2026-01-31 10:30, say {given}; else convert it with pandas and give the DataFrame"
        begins = f"{time}: texts, of ".lower()
        hint = next((note for note in notes if note.lower().startswith(begins)), hint)
    raise StreamError(f"column {time} is {type_}; event time is a date, a timestamp or an integer", hint=hint)


def _suggested(name: str, notes: Iterable[str]) -> str | None:
    """The type of times that notes suggest for a column of texts, where they suggest one alone.

    Example:
        >>> _suggested("day", ["day: texts, of dates: --type day=date reads them"])
        'date'
    """
    pattern = re.compile(
        rf'{re.escape(name)}: texts, of (?:dates|times): --type ("?){re.escape(name)}=(.*)\1 reads them'
    )
    return next((found[2] for note in notes if (found := pattern.fullmatch(note)) is not None), None)
