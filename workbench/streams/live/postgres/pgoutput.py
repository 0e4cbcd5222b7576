"""Messages of PostgreSQL's logical replication (plugin ``pgoutput``, version 1 of its protocol), decoded.

Source: PostgreSQL documentation, "Logical Replication Message Formats".
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TypeAlias


class Unsent:
    """A long value (TOAST) that is not sent, since an update did not change it."""


UNSENT = Unsent()
RowTexts: TypeAlias = "tuple[str | Unsent | None, ...]"
"""Texts of a row's values, ``None`` for NULL."""


@dataclass(frozen=True)
class Begin:
    """A transaction begins.

    Attributes:
        commit: the position (LSN) of its commit, which orders transactions.
    """

    commit: int


@dataclass(frozen=True)
class Commit:
    """A transaction has ended.

    Attributes:
        end: the position (LSN) in the log after it.
    """

    end: int


@dataclass(frozen=True)
class RelationMessage:
    """The columns of a table, sent before its first change and whenever it is altered.

    Attributes:
        id: its number (OID).
        schema, name: its name.
        columns: the name, type (OID) and type modifier of each.
    """

    id: int
    schema: str
    name: str
    columns: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True)
class RowChange:
    """A row is inserted, updated or deleted.

    Attributes:
        table: the number of its table.
        old: the row before: its key alone, or all of it where ``whole_old``; ``None``: it is not sent.
        new: the row after; ``None``: it is deleted.
        whole_old: whether the table sends whole rows (REPLICA IDENTITY FULL).
    """

    table: int
    old: RowTexts | None
    new: RowTexts | None
    whole_old: bool = False


@dataclass(frozen=True)
class Truncate:
    """Tables are emptied; the numbers of them."""

    tables: tuple[int, ...]


ReplicationMessage: TypeAlias = "Begin | Commit | RelationMessage | RowChange | Truncate"


def decoded(data: bytes) -> ReplicationMessage | None:
    """A message; ``None`` for one without rows (origins, types, messages of programs).

    Example:
        >>> decoded(b"C" + struct.pack(">Bqqq", 0, 100, 120, 0))
        Commit(end=120)
        >>> decoded(b"D" + struct.pack(">Ic", 7, b"K") + b"\\x00\\x01t" + struct.pack(">I", 2) + b"42")
        RowChange(table=7, old=('42',), new=None, whole_old=False)
    """
    message = _Message(data)
    match message.sign():
        case "B":
            return Begin(message.numbers(">q")[0])
        case "C":
            message.numbers(">Bq")
            return Commit(message.numbers(">q")[0])
        case "R":
            (number,) = message.numbers(">I")
            schema, name, (_, count) = message.text(), message.text(), message.numbers(">ch")
            return RelationMessage(number, schema or "pg_catalog", name, tuple(message.column() for _ in range(count)))
        case "I":
            (table,), _ = message.numbers(">I"), message.sign()
            return RowChange(table, None, message.values())
        case "U":
            (table,), kind = message.numbers(">I"), message.sign()
            old = message.values() if kind in "KO" else None
            if old is not None:
                message.sign()
            return RowChange(table, old, message.values(), kind == "O")
        case "D":
            (table,), kind = message.numbers(">I"), message.sign()
            return RowChange(table, message.values(), None, kind == "O")
        case "T":
            count, _ = message.numbers(">IB")
            return Truncate(message.numbers(f">{count}I"))
    return None


class _Message:
    """Reads the parts of a message, one after the other."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def sign(self) -> str:
        self._at += 1
        return chr(self._data[self._at - 1])

    def numbers(self, form: str) -> tuple[int, ...]:
        found = struct.unpack_from(form, self._data, self._at)
        self._at += struct.calcsize(form)
        return found

    def text(self) -> str:
        end = self._data.index(0, self._at)
        found, self._at = self._data[self._at : end].decode(), end + 1
        return found

    def column(self) -> tuple[str, int, int]:
        self.sign()  # whether it is part of the key
        name, (type_, modifier) = self.text(), self.numbers(">Ii")
        return name, type_, modifier

    def values(self) -> RowTexts:
        (count,) = self.numbers(">h")
        return tuple(self._value() for _ in range(count))

    def _value(self) -> str | Unsent | None:
        match self.sign():
            case "t":
                (length,) = self.numbers(">I")
                begin, self._at = self._at, self._at + length
                return self._data[begin : self._at].decode()
            case "u":
                return UNSENT
        return None
