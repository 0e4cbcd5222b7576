"""Members of a source's records that an analyst makes a column, after the stream has rows.

Nothing that is stored changes: what no column had is with its row as JSON (``drift``), and the column's values are read
from there. So its rows before have the value that was kept, or NULL, however often a session goes back or is opened.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from workbench.arrow.types import Mask, to_column_type, to_field
from workbench.sql.algebra.column_names import display_name, stored_name
from workbench.sql.algebra.types import DataType, Kind
from workbench.streams.convert import convert
from workbench.streams.declared_times import split_form
from workbench.streams.drift import members_of
from workbench.streams.files.json_values import MORE, text_of
from workbench.streams.guessing import declared, read


@dataclass(frozen=True)
class AddedColumn:
    """A column that a stream got later.

    Attributes:
        column: its name, or the path of a member within another column.
        declared: its type, as it is declared; of a time maybe in a form.
        unseen_by: ids of registrations of queries that would have another meaning with it, as ``SELECT *`` has.
    """

    column: str
    declared: str
    unseen_by: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Its stored name."""
        return stored_name(self.column)

    @property
    def type(self) -> DataType:
        """The type of its values."""
        return to_column_type(split_form(self.declared)[0])

    def values(self, more: pa.Array | pa.ChunkedArray) -> tuple[pa.Array, Mask | None]:
        """Its values in rows with these members, and a mask of those that are none of its type (NULL there).

        Example:
            >>> fee = AddedColumn("fee", "decimal(9,2)")
            >>> values, misfit = fee.values(pa.array(['{"Fee": 1.50}', None, '{"fee": "x"}']))
            >>> values.to_pylist(), misfit.tolist()
            ([Decimal('1.50'), None, None], [False, False, True])
        """
        there = np.flatnonzero(more.is_valid())
        texts = [self.text(members_of(text)) for text in more.take(pa.array(there)).to_pylist()]
        found, misfit = self._read(pa.array(texts, pa.string()))
        mask = np.zeros(len(more), np.bool_)
        if misfit is not None:
            mask[there] = misfit
        places = np.full(len(more), len(there))
        places[there] = np.arange(len(there))
        with_null = pa.concat_arrays([found, pa.nulls(1, found.type)])
        return with_null.take(pa.array(places)), mask if mask.any() else None

    def _read(self, texts: pa.Array) -> tuple[pa.Array, Mask | None]:
        type_, form = self.type, split_form(self.declared)[1]
        if type_.kind is Kind.BINARY:
            return _bytes(texts)
        guess = declared(self.name, type_, form, None)
        return convert(texts, type_) if guess is None else read(texts, guess)

    def texts(self, more: pa.Array) -> list[str]:
        """Its values as texts, in rows with these members."""
        return [self.text(members_of(text)) or "" for text in more.to_pylist()]

    def text(self, members: Mapping[str, Any]) -> str | None:
        """The text of its value among the members of a row: a member of its name, or at the path that the name is."""
        return text_of(self.member(members))

    def member(self, members: Mapping[str, Any]) -> Any:
        """The member of a row that the column has."""
        return _member_at(members, display_name(self.name))


def _member_at(members: object, path: str) -> Any:
    if isinstance(members, list):
        return [_member_at(one, path) for one in members]
    if not isinstance(members, Mapping):
        return None
    names = {name.lower(): name for name in reversed([*members])}
    if path in names:
        return members[names[path]]
    ends = [at for at, char in enumerate(path) if char == "."]
    inner = ((members[names[path[:at]]], path[at + 1 :]) for at in ends if path[:at] in names)
    return next((value for part, rest in inner if (value := _member_at(part, rest)) is not None), None)


def _bytes(texts: pa.Array) -> tuple[pa.Array, Mask | None]:
    values, misfit = list[bytes | None](), np.zeros(len(texts), np.bool_)
    for at, text in enumerate(texts.to_pylist()):
        try:
            values.append(None if text is None else b64decode(text, validate=True))
        except ValueError:
            values.append(None)
            misfit[at] = True
    found, _ = convert(pa.array(values, pa.binary()), to_column_type("binary"))
    return found, misfit if misfit.any() else None


def with_added(rows: pa.Table, added: Sequence[AddedColumn], at: int) -> pa.Table:
    """Rows of a log with the columns that were added, and without ``MORE``.

    Args:
        rows: as they are stored, with ``MORE`` where some have such members.
        added: the columns.
        at: the place of the first of them; beyond the others they stand last.
    """
    more = rows[MORE] if MORE in rows.column_names else None
    rows = rows if more is None else rows.drop_columns([MORE])
    for place, column in enumerate(added, min(at, rows.num_columns)):
        field = to_field(column.name, column.type)
        values = pa.nulls(rows.num_rows, field.type) if more is None else column.values(more.combine_chunks())[0]
        rows = rows.add_column(place, field, values)
    return rows


def breaking(rows: pa.Table, added: Sequence[AddedColumn]) -> dict[int, str]:
    """The rows of which a member is none of the type of the column that it is, by their places, with the reason."""
    reasons = dict[int, str]()
    if MORE not in rows.column_names:
        return reasons
    more = rows[MORE].combine_chunks()
    for column in added:
        _, misfit = column.values(more)
        for at in np.flatnonzero(misfit).tolist() if misfit is not None else ():
            value = column.text(members_of(more[at].as_py()))
            reasons.setdefault(at, f"{display_name(column.name)}: {value!r:.60} is no {column.type}")
    return reasons


def stored_names(
    names: Sequence[str] | None, added: Sequence[AddedColumn]
) -> tuple[list[str] | None, list[AddedColumn]]:
    """Which stored columns, and which of the added ones, give the columns of these names (``None``: all)."""
    if names is None:
        return None, [*added]
    wanted = [column for column in added if column.name in names]
    own = [name for name in names if name not in {column.name for column in wanted}]
    return [*own, *([MORE] if wanted else [])], wanted
