"""The changes of a batch with its number, as they are stored, and as rows to put and to remove by key."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from workbench.arrow.stored_values import as_rows, to_texts, with_plain_months
from workbench.arrow.types import to_arrow, to_data_type
from workbench.errors import SessionError, nearest
from workbench.sql.algebra.types import DataType

Row = Mapping[str, object]
_Key = tuple[object, ...]


def numbered_changes(batch: int, changes: pa.Table) -> pa.Table:
    """Changes with the number of their delivery in front, in the column ``batch``."""
    return changes.add_column(0, "batch", pa.array([batch] * len(changes), pa.int64()))


def stored_changes(changes: pa.Table, types: Sequence[DataType]) -> pa.Table:
    """The weight and the query's columns of changes as a session stores them: equal rows have equal values there."""
    weights, *columns = changes.columns
    arrays = [_stored(column, type_) for column, type_ in zip(columns, types, strict=True)]
    return pa.Table.from_arrays([weights, *arrays], names=changes.column_names)


def _stored(column: pa.ChunkedArray, type_: DataType) -> pa.Array | pa.ChunkedArray:
    if type_.is_text_when_stored:
        return to_texts(column.combine_chunks(), type_)
    return with_plain_months(pa.table([column], ["c"])).column(0).cast(to_arrow(type_))


@dataclass(frozen=True)
class Upserts:
    """The effect of a batch on rows with keys: upserts and deletes.

    Attributes:
        removed: keys that have no row any more.
        changed: the new rows of keys that had one before.
        added: rows of new keys.
    """

    removed: Sequence[_Key]
    changed: Mapping[_Key, Row]
    added: Mapping[_Key, Row]


def upserts(changes: pa.Table, key: Sequence[str]) -> Upserts:
    """The changes of a batch by key.

    Args:
        changes: the column ``weight``, then the query's.
        key: names of columns.

    Raises:
        SessionError: there is no such column, or two rows come with one key.

    Example:
        >>> changes = pa.table({"weight": [-1, 1], "id": [7, 7], "n": [1, 2]})
        >>> upserts(changes, ["id"]).changed
        {(7,): {'id': 7, 'n': 2}}
    """
    names = changes.column_names[1:]
    for name in key:
        if name not in names:
            hint = nearest(name, names) or f"one of {', '.join(names)}"
            raise SessionError(f"the query has no column {name} for key=…", hint=hint)
        if pa.types.is_nested(changes.column(name).type):
            kind = to_data_type(changes.column(name).type).kind
            raise SessionError(f"the {kind} {name} cannot be the key of a sink", hint="take a plain column as key=…")
    before, after = set[_Key](), dict[_Key, Row]()
    for row, weight in zip(as_rows(changes.select(names)), changes.column("weight").to_pylist(), strict=True):
        # One object for all NaN, so that they are one key.
        found = tuple(math.nan if row[name] != row[name] else row[name] for name in key)
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
