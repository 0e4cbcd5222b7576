"""Dataclasses as rows of the catalog's relations: a column for each field, by the field's name.

Texts, numbers, bytes and ``None`` are stored as they are, types by their names, everything else as JSON (``codec``).
A session stores its streams, functions, queries and reports this way. Planning does not look at any of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import cache
from types import NoneType, UnionType
from typing import Any, Generic, TypeVar, Union, get_args, get_origin, get_type_hints

from workbench.catalog.codec import decode, encode, type_of
from workbench.catalog.database import Database
from workbench.sql.algebra.types import DataType

T = TypeVar("T")

_STORED_AS_THEY_ARE = {str, int, float, bytes, bool, NoneType}


class RecordRows(Generic[T]):
    """The rows of the objects of one dataclass.

    Args:
        record: the dataclass.
        omitted: fields that are stored elsewhere; who reads a row gives them.
    """

    def __init__(self, record: type[T], *omitted: str) -> None:
        annotations = get_type_hints(record)
        self._types = {
            field.name: annotations[field.name]
            for field in fields(record)  # type: ignore[arg-type]
            if field.name not in omitted
        }
        self.columns = ", ".join(self._types)

    def row(self, record: T) -> tuple[object, ...]:
        """The values of the columns."""
        return tuple(
            _stored(value, annotation) for name, annotation in self._types.items() for value in [getattr(record, name)]
        )

    def fields(self, row: tuple[Any, ...]) -> dict[str, Any]:
        """The fields of a record from the values of its columns."""
        return {
            name: _decoded(value, annotation)
            for (name, annotation), value in zip(self._types.items(), row, strict=True)
        }


class StoredRecords(Generic[T]):
    """The objects of one dataclass in one relation, each with a name, in the order in which they were added.

    Args:
        database: of the catalog.
        relation: its name; it has the columns ``name`` and ``position``.
        record: the dataclass; it has the field ``name``.
        omitted: fields that are stored elsewhere.
    """

    def __init__(self, database: Database, relation: str, record: type[T], *omitted: str) -> None:
        self._database = database
        self._relation = relation
        self._record = record
        self._rows = RecordRows(record, *omitted)

    def put(self, record: T) -> None:
        """Add an object, or replace the one of its name, which keeps its place."""
        row, columns = self._rows.row(record), self._rows.columns
        changes = ", ".join(f"{column} = excluded.{column}" for column in columns.split(", "))
        self._database.run(
            f"INSERT INTO {self._relation} ({columns}, position) SELECT {', '.join('?' * len(row))},"
            f" coalesce(max(position), 0) + 1 FROM {self._relation} WHERE true"
            f" ON CONFLICT (name) DO UPDATE SET {changes}",
            row,
        )

    def remove(self, name: str) -> None:
        """Remove the object of a name; nothing happens if there is none."""
        self._database.run(f"DELETE FROM {self._relation} WHERE name = ?", [name])

    def all(self, omitted: Callable[[str], dict[str, Any]] = lambda name: {}) -> Iterator[T]:
        """All objects in their order; ``omitted`` gives for a name the fields that are stored elsewhere."""
        for name, *row in self._database.rows(
            f"SELECT name, {self._rows.columns} FROM {self._relation} ORDER BY position"
        ):
            yield self._record(**self._rows.fields(tuple(row)), **omitted(name))


class Settings:
    """Single values of a session by their names, as JSON."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, name: str, value: object) -> None:
        """Set a value."""
        self._database.run("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, json.dumps(value)))

    def get(self, name: str, default: Any = None) -> Any:
        """The value of that name, if there is one."""
        stored = self._database.first("SELECT value FROM settings WHERE name = ?", name)
        return json.loads(stored[0]) if stored else default

    def remove(self, name: str) -> None:
        """Remove a value."""
        self._database.run("DELETE FROM settings WHERE name = ?", [name])


def _classes(annotation: Any) -> tuple[type, ...]:
    return get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)


@cache
def _is_plain(annotation: Any) -> bool:
    return set(_classes(annotation)) <= _STORED_AS_THEY_ARE


def _stored(value: Any, annotation: Any) -> Any:
    if annotation is DataType:
        return str(value)
    if value == {}:
        return "{}"  # as most of an operator's report, in a tenth of the time
    return value if _is_plain(annotation) else encode(value, annotation)


def _decoded(value: Any, annotation: Any) -> Any:
    """Decode a value of a column and check its type, since SQLite accepts any value in any column.

    Raises:
        Exception: the text does not fit the annotation.
    """
    if annotation is DataType:
        return type_of(value)
    if not _is_plain(annotation):
        return decode(value, annotation)
    classes = _classes(annotation)
    if bool in classes and value in (0, 1):
        return bool(value)
    if float in classes and isinstance(value, int):
        return float(value)
    if not isinstance(value, classes):
        raise TypeError(f"{value!r:.50} is no {annotation}")
    return value
