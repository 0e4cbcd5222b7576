"""Converts values of Kafka Connect and Debezium to what they mean, one by one, after Avro or Protobuf was read.

A schema names the type of a value (``connect.name``). In JSON such values are read column by column
(``connect_schema``); both ways give the same.
Source: Debezium documentation, "Data type mappings" of its connectors; Kafka Connect, package ``connect.data``.
"""

from __future__ import annotations

import datetime as dt
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa

from workbench.arrow.types import to_arrow
from workbench.sql.algebra.types import MAX_PRECISION
from workbench.streams.files.connect_schema import (
    DAY_NUMBERS,
    ISO,
    TICKS,
    UNITS,
    VARIABLE_SCALE,
    YEAR_NUMBER,
    ZONED,
    number_of_bytes,
    time_text,
)
from workbench.streams.files.json_values import text_of

Convert = Callable[[Any], Any]
"""Of a value that is not NULL."""
EPOCH = dt.datetime(1970, 1, 1)
_DAY = EPOCH.date()
_PER_SECOND = {"ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


@dataclass(frozen=True)
class ReadAs:
    """How values are read.

    Attributes:
        type: of the column.
        convert: makes what the value stands for of what was read; ``None``: it is that.
    """

    type: pa.DataType
    convert: Convert | None = None


def of_name(name: str) -> ReadAs | None:
    """How values of a named type are read; ``None``: by the type that has the name.

    Example:
        >>> date = of_name("io.debezium.time.Date")
        >>> date.type, date.convert(19000)
        (DataType(date32[day]), datetime.date(2022, 1, 8))
    """
    if name in DAY_NUMBERS:
        return ReadAs(pa.date32(), _date)
    if name in UNITS:
        return ReadAs(pa.timestamp("us"), lambda ticks: moment(ticks, UNITS[name]))
    if name in TICKS:
        return ReadAs(pa.string(), lambda ticks: time_of(ticks, TICKS[name]))
    if name == ZONED:
        return ReadAs(pa.timestamp("us", "UTC"), lambda text: pa.scalar(text).cast(pa.timestamp("us", "UTC")).as_py())
    if name in ISO:
        type_ = to_arrow(ISO[name])
        return ReadAs(type_, lambda text: pa.scalar(text.removesuffix("Z")).cast(type_).as_py())
    if name == VARIABLE_SCALE:
        return ReadAs(pa.string(), lambda parts: f"{number_of_bytes(parts['value'], parts['scale']):f}")
    if name == YEAR_NUMBER:
        return ReadAs(pa.int64())
    return None


def decimals(precision: int, scale: int) -> ReadAs:
    """How decimals are read; those of more digits than a column has are texts, where the scale says so."""
    if not 0 <= scale <= MAX_PRECISION:
        return ReadAs(pa.string(), lambda value: f"{value:f}")
    return ReadAs(pa.decimal128(min(max(precision, scale, 1), MAX_PRECISION), scale))


def moment(ticks: int | dt.datetime, unit: str) -> dt.datetime:
    """A time without a zone of a number since 1970.

    Raises:
        ValueError: it has a part that microseconds do not keep.
    """
    if isinstance(ticks, dt.datetime):
        return ticks.replace(tzinfo=None)
    microseconds, left = divmod(ticks * 1_000_000, _PER_SECOND[unit])
    if left:
        raise ValueError(f"{ticks} {unit} is no number of microseconds")
    return EPOCH + dt.timedelta(microseconds=microseconds)


def time_of(ticks: int | dt.time, per_second: int) -> str:
    """The text of a time of the day."""
    if isinstance(ticks, dt.time):
        text = ticks.isoformat()
        return text.rstrip("0").rstrip(".") if "." in text else text
    return time_text(ticks, per_second)


def _date(days: int | dt.date) -> dt.date:
    return days if isinstance(days, dt.date) else _DAY + dt.timedelta(days=days)


def text_in_json(value: Any) -> str | None:
    """A value of which no column has the type, as a text of JSON; bytes are in Base64, as Connect writes them."""
    return text_of(_plain(value))


def _plain(value: Any) -> Any:
    match value:
        case bytes():
            return b64encode(value).decode()
        case dt.date() | dt.time():
            return value.isoformat()
        case Mapping():
            return {str(name): _plain(member) for name, member in value.items()}
        case list() | tuple():
            return [_plain(one) for one in value]
        case Decimal():
            return value
        case _ if isinstance(value, bool | int | float | str) or value is None:
            return value
    return str(value)
