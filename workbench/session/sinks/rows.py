"""The changes of a batch with their types, and as rows to put and to remove by key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import pyarrow as pa

from workbench.errors import SessionError, nearest
from workbench.sql.algebra.types import DOUBLE, INTEGER, DataType
from workbench.streams.arrow_types import to_arrow, to_data_type, to_shown
from workbench.streams.stored_values import to_texts

Row = Mapping[str, object]
Key = tuple[object, ...]


def typed_changes(batch: int, changes: pd.DataFrame, types: Sequence[DataType], nan: bool = True) -> pa.Table:
    """Changes as Arrow: ``batch``, ``weight`` and the query's columns, each of its type whatever values there are.

    Args:
        batch: its number.
        changes: as ``Query.exact_changes`` gives them.
        types: of the query's columns.
        nan: whether the target can hold NaN; if not it is NULL.
    """
    arrays = [
        pa.array(column, to_shown(type_), from_pandas=not (nan and _has_nulls_as_none(column, type_)))
        for column, type_ in ((changes.iloc[:, place], type_) for place, type_ in enumerate([INTEGER, *types]))
    ]
    numbers = pa.array([batch] * len(changes), pa.int64())
    return pa.Table.from_arrays([numbers, *arrays], names=["batch", *changes.columns])


def stored_changes(changes: pd.DataFrame, types: Sequence[DataType]) -> pa.Table:
    """The weight and the query's columns of changes as a session stores them: equal rows have equal values there."""
    rows = typed_changes(0, changes, types).drop_columns(["batch"])
    arrays = [rows.column(0), *(_stored(rows.column(i), type_) for i, type_ in enumerate(types, start=1))]
    return pa.Table.from_arrays(arrays, names=rows.column_names)


def _stored(column: pa.ChunkedArray, type_: DataType) -> pa.Array | pa.ChunkedArray:
    if type_.is_text_when_stored:
        return to_texts(column.combine_chunks(), type_)
    return column.cast(to_arrow(type_))


def _has_nulls_as_none(column: pd.Series, type_: DataType) -> bool:
    """Whether a NaN in a column of changes is none of pandas' NULLs."""
    return column.dtype == object and (type_ == DOUBLE or type_.is_text_when_stored)


@dataclass(frozen=True)
class Upserts:
    """What a batch does to rows that are known by their keys.

    Attributes:
        removed: keys that have no row any more.
        changed: the new rows of keys that had one before.
        added: rows of new keys.
    """

    removed: Sequence[Key]
    changed: Mapping[Key, Row]
    added: Mapping[Key, Row]


def upserts(changes: pa.Table, key: Sequence[str]) -> Upserts:
    """The changes of a batch by key.

    Args:
        changes: as ``typed_changes`` gives them.
        key: names of columns.

    Raises:
        SessionError: there is no such column, or two rows come with one key.

    Example:
        >>> changes = pa.table({"batch": [1, 1], "weight": [-1, 1], "id": [7, 7], "n": [1, 2]})
        >>> upserts(changes, ["id"]).changed
        {(7,): {'id': 7, 'n': 2}}
    """
    names = changes.column_names[2:]
    for name in key:
        if name not in names:
            hint = nearest(name, names) or f"one of {', '.join(names)}"
            raise SessionError(f"the query has no column {name} for key=…", hint=hint)
        if pa.types.is_nested(changes.column(name).type):
            kind = to_data_type(changes.column(name).type).kind
            raise SessionError(f"the {kind} {name} cannot be the key of a sink", hint="take a plain column as key=…")
    before, after = set[Key](), dict[Key, Row]()
    values = changes.select(names).to_pylist(maps_as_pydicts="strict")
    for row, weight in zip(values, changes.column("weight").to_pylist(), strict=True):
        found = tuple(row[name] for name in key)
        if weight < 0:
            before.add(found)
        elif weight > 1 or found in after:
            values = ", ".join(f"{name} {value}" for name, value in zip(key, found, strict=True))
            hint = "name a key that is unique in the answer, or leave key=… out: changes have their weights then"
            raise SessionError(f"the answer has two rows with {values}", hint=hint)
        else:
            after[found] = row
    return Upserts(
        removed=[found for found in before if found not in after],
        changed={found: row for found, row in after.items() if found in before},
        added={found: row for found, row in after.items() if found not in before},
    )
