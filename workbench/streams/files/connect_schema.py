"""The schema part of Kafka Connect's JSON converter, which says the types of an envelope's columns.

JSON has no bytes, decimals or times. A decimal is the Base64 of its digits, a date the number of days since 1970.
Source: Debezium documentation, "Data type mappings" of its connectors; Kafka Connect, package ``connect.data``.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.types import Mask, to_arrow, to_shown
from workbench.sql.algebra.types import DATE, INSTANT, MAX_PRECISION, TIMESTAMP, DataType, Kind
from workbench.streams.convert import cast_each, convert

SCHEMA_PART = b"connect"
"""Of the field that has the schema part: the part as the first records have it."""

DECIMAL = "org.apache.kafka.connect.data.Decimal"
VARIABLE_SCALE = "io.debezium.data.VariableScaleDecimal"
DAY_NUMBERS = ("io.debezium.time.Date", "org.apache.kafka.connect.data.Date")
UNITS = {
    "io.debezium.time.Timestamp": "ms",
    "org.apache.kafka.connect.data.Timestamp": "ms",
    "io.debezium.time.MicroTimestamp": "us",
    "io.debezium.time.NanoTimestamp": "ns",
}
ZONED = "io.debezium.time.ZonedTimestamp"
YEAR_NUMBER = "io.debezium.time.Year"
ISO = {"io.debezium.time.IsoDate": DATE, "io.debezium.time.IsoTimestamp": TIMESTAMP}
"""Texts that end with a Z, and mean no zone."""
TICKS = {
    "io.debezium.time.Time": 1_000,
    "org.apache.kafka.connect.data.Time": 1_000,
    "io.debezium.time.MicroTime": 1_000_000,
    "io.debezium.time.NanoTime": 1_000_000_000,
}
_PLAIN = {
    **dict.fromkeys(("int8", "int16", "int32", "int64"), pa.int64()),
    **dict.fromkeys(("float", "double", "float32", "float64"), pa.float64()),
    "boolean": pa.bool_(),
}


@dataclass(frozen=True)
class ConnectType:
    """The type that the schema part gives for a column.

    Attributes:
        kind: ``int64``, ``bytes``, ``string``, ``struct`` and so on.
        name: what its values stand for; ``""``: themselves.
        scale: of a decimal.
    """

    kind: str
    name: str
    scale: int = 0

    @property
    def raw(self) -> pa.DataType | None:
        """The type of its values in JSON where that is sure; a text is read as it stands there. ``None``: an array."""
        if self.kind in ("array", "map") or (self.kind == "struct" and not self.name):
            return None
        name = self.name.removeprefix(YEAR_NUMBER)
        return pa.string() if name or self.kind not in _PLAIN else _PLAIN[self.kind]

    @property
    def type(self) -> pa.DataType | None:
        """The type of what its values stand for; ``None``: they are as they stand there."""
        if self.name == DECIMAL and 0 <= self.scale <= MAX_PRECISION:
            return pa.decimal128(MAX_PRECISION, self.scale)
        if self.name in DAY_NUMBERS:
            return pa.date32()
        if self.name in UNITS:
            return pa.timestamp(UNITS[self.name])
        if self.name == ZONED:
            return to_shown(INSTANT)
        if self.name in ISO:
            return to_arrow(ISO[self.name])
        return pa.string() if self.name in (VARIABLE_SCALE, *TICKS) else None

    def decoded(self, texts: pa.Array) -> tuple[pa.Array, Mask]:
        """What texts stand for, and a mask of those that stand for nothing of the type.

        Example:
            >>> cents = ConnectType("bytes", "org.apache.kafka.connect.data.Decimal", 4)
            >>> values, misfit = cents.decoded(pa.array(["BAg=", "?"]))
            >>> values.to_pylist(), misfit.tolist()
            ([Decimal('0.1032'), None], [False, True])
        """
        type_ = self.type
        assert type_ is not None
        if self.name == DECIMAL:
            return _each(texts, lambda text: _number(text, self.scale), type_)
        if self.name == VARIABLE_SCALE:
            return _each(texts, _variable, type_)
        if self.name in TICKS:
            return _each(texts, lambda text: time_text(int(text), TICKS[self.name]), type_)
        if self.name == ZONED:
            values, misfit = convert(texts, INSTANT)
            values = values.cast(type_)
        elif self.name in ISO:
            values, misfit = convert(pc.utf8_rtrim(texts, "Z"), ISO[self.name])
        else:
            whole = pa.int32() if self.name in DAY_NUMBERS else pa.int64()
            values, misfit = cast_each(texts, lambda part: part.cast(whole).cast(type_))
        return values, np.zeros(len(texts), np.bool_) if misfit is None else misfit


BASE64, DIGITS = "base64", "digits"
"""How decimals are written."""


@dataclass(frozen=True)
class DeclaredType:
    """A column of envelopes without a schema part that is declared to have decimals or dates.

    Attributes:
        declared: its type.
        column: its name.
        forms: how the decimals of columns are written, by their names, as soon as a value says it (``BASE64`` or
            ``DIGITS``): all values of a column are written alike, also those that say it not. They are added.
    """

    declared: DataType
    column: str = ""
    forms: dict[str, str] = field(default_factory=dict, compare=False)

    @property
    def name(self) -> str:
        """The type in words, for a reason."""
        return f"{self.declared}" + ", or may be Base64 or not" * (self.declared.kind is Kind.DECIMAL)

    @property
    def type(self) -> pa.DataType:
        """The type of what its values stand for."""
        return to_arrow(self.declared)

    def decoded(self, texts: pa.Array) -> tuple[pa.Array, Mask]:
        """What texts stand for: a number of days, or a decimal in Base64, if they are not written out.

        A text like ``1234`` can be both a number and Base64. What the others of the column are decides, also those
        before; where there are none it is a whole number if the decimal has no fraction, and else nothing.

        Example:
            >>> from workbench.sql.algebra.types import decimal
            >>> cents, digits = DeclaredType(decimal(9, 2)), pa.array(["1234", "BAg="])
            >>> cents.decoded(digits.slice(0, 1))[0].to_pylist(), cents.decoded(digits)[0].to_pylist()
            ([None], [Decimal('-26588.24'), Decimal('10.32')])
            >>> cents.decoded(digits.slice(0, 1))[0].to_pylist()
            [Decimal('-26588.24')]
        """
        values, misfit = convert(texts, self.declared)
        unread = np.zeros(len(texts), np.bool_) if misfit is None else misfit
        if self.declared.kind is Kind.DATE:
            days = np.asarray(pc.match_substring_regex(texts, r"^-?\d{1,7}$").fill_null(False))
            found, _ = cast_each(pc.if_else(days, texts, None), lambda part: part.cast(pa.int32()).cast(pa.date32()))
            return pc.coalesce(found, values), unread & ~days
        bytes_, no_bytes = _each(texts, lambda text: _digits(text, self.declared.scale), self.type)
        is_bytes = np.asarray(bytes_.is_valid())
        is_number = np.asarray(texts.is_valid()) & ~unread
        both, sure_bytes, sure_number = (
            is_bytes & is_number,
            bool((is_bytes & unread).any()),
            bool((is_number & no_bytes).any()),
        )
        if sure_bytes != sure_number:
            self.forms.setdefault(self.column, BASE64 if sure_bytes else DIGITS)
        if form := self.forms.get(self.column):
            is_bytes = is_bytes & (unread | (form == BASE64))
            return pc.if_else(is_bytes, bytes_, values), unread & ~is_bytes
        if sure_bytes or self.declared.scale:
            return pc.if_else(both, None, pc.coalesce(values, bytes_)), (unread & ~is_bytes) | both
        return pc.coalesce(values, bytes_), unread & ~is_bytes


def _each(texts: pa.Array, read: Callable[[str], object], type_: pa.DataType) -> tuple[pa.Array, Mask]:
    values, misfit = list[object](), np.zeros(len(texts), np.bool_)
    for at, text in enumerate(texts.to_pylist()):
        try:
            values.append(None if text is None else pa.scalar(read(text), type_).as_py())
        except (ValueError, TypeError, KeyError, OverflowError, pa.ArrowException):
            values.append(None)
            misfit[at] = True
    return pa.array(values, type_), misfit


def _number(text: str, scale: int) -> Decimal:
    if not text:
        raise ValueError("no digits")
    return number_of_bytes(b64decode(text, validate=True), scale)


def _digits(text: str, scale: int) -> Decimal:
    """The decimal of a text in Base64, or of an object that has it and its scale."""
    return Decimal(_variable(text)) if text.startswith("{") else _number(text, scale)


def _variable(text: str) -> str:
    parts = json.loads(text)
    return f"{_number(parts['value'], parts['scale']):f}"


def number_of_bytes(digits: bytes, scale: int) -> Decimal:
    """The decimal of its digits, a whole number whose first bytes are the greatest.

    Example:
        >>> number_of_bytes(bytes([4, 8]), 2)
        Decimal('10.32')
    """
    return Decimal(f"{int.from_bytes(digits, signed=True)}E{-scale}")


def time_text(ticks: int, per_second: int) -> str:
    """The text of a time of the day, or of a time between two as MySQL has it.

    Example:
        >>> time_text(45_296_500, 1_000), time_text(-1, 1)
        ('12:34:56.5', '-00:00:01')
    """
    seconds, fraction = divmod(abs(ticks), per_second)
    digits = f".{fraction:0{len(str(per_second)) - 1}}".rstrip("0") if fraction else ""
    return f"{'-' * (ticks < 0)}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{digits}"


def is_schema_part(values: Sequence[object]) -> bool:
    """Whether values are schema parts, some of which may be missing."""
    there = [value for value in values if value is not None]
    return bool(there) and all(isinstance(value, Mapping) and value.get("type") == "struct" for value in there)


def connect_types(part: Mapping[str, Any] | None) -> dict[str, ConnectType]:
    """The types that a schema part gives for the columns of an envelope, or of a flattened row, by their names.

    Example:
        >>> day = {"field": "day", "type": "int32", "name": "io.debezium.time.Date"}
        >>> connect_types({"type": "struct", "fields": [{"field": "after", "type": "struct", "fields": [day]}]})
        {'day': ConnectType(kind='int32', name='io.debezium.time.Date', scale=0)}
    """
    own = _fields(part)
    rows = [row for row in own if row.get("field") in ("before", "after")]
    found = dict[str, ConnectType]()
    for one in [one for row in rows for one in _fields(row)] if rows else own:
        scale = str((one.get("parameters") or {}).get("scale", "0"))
        whole = int(scale) if scale.removeprefix("-").isdigit() else -1
        found[str(one.get("field"))] = ConnectType(str(one.get("type")), str(one.get("name") or ""), whole)
    return found


def _fields(part: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    fields = (part or {}).get("fields")
    return [one for one in fields if isinstance(one, Mapping)] if isinstance(fields, list) else []
