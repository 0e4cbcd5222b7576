"""Types of every kind, their values at the ends of their ranges, and these as JSON."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa

from workbench.sql.algebra.types import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    INSTANT,
    INTEGER,
    INTERVAL,
    MONTHS,
    STRING,
    TIME,
    TIMESTAMP,
    DataType,
    array_of,
    decimal,
    map_of,
    struct_of,
)

KINDS: dict[str, DataType] = {
    "i": INTEGER,
    "x": DOUBLE,
    "m": decimal(9, 2),
    "s": STRING,
    "p": BOOLEAN,
    "d": DATE,
    "t": TIMESTAMP,
    "z": INSTANT,
    "b": BINARY,
    "a": array_of(INTEGER),
    "r": struct_of([("u", INTEGER), ("v", STRING)]),
    "h": map_of(STRING, INTEGER),
    "n": INTERVAL,
}
"""A type of each kind, by a letter."""
Values = list[Any]
MOMENTS = [dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59, 999999), dt.datetime(1969, 12, 31, 23, 0, 0, 1)]
PLAIN: list[tuple[DataType, Values]] = [
    (BOOLEAN, [True, False]),
    (INTEGER, [2**63 - 1, -(2**63), 2**53 + 1, 0]),
    (decimal(38, 2), [Decimal(f"{'9' * 36}.99"), Decimal(f"-{'9' * 36}.99"), Decimal("9007199254740993.07")]),
    (decimal(38, 38), [Decimal(f"0.{'9' * 38}"), Decimal(f"0.{'0' * 37}1")]),
    (decimal(5, 0), [Decimal(99999), Decimal(0)]),
    (DOUBLE, [0.1 + 0.2, 5e-324, 1.7976931348623157e308, -0.0, 1e22, math.nan, math.inf, -math.inf]),
    (STRING, ["", " ", 'é\u2028\U0001f600"\\\n\t\x7f', "NULL", "null", "NaN", "a" * 10_000]),
    (DATE, [dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(1970, 1, 1)]),
    (TIMESTAMP, MOMENTS),
    (INSTANT, [moment.replace(tzinfo=ZoneInfo("UTC")) for moment in MOMENTS]),
    (INTERVAL, [dt.timedelta(days=1, microseconds=1), dt.timedelta(0), -dt.timedelta(microseconds=1)]),
    (MONTHS, [pa.MonthDayNano([months, 0, 0]) for months in (14, 0, -1)]),
    (TIME, [dt.time(0), dt.time(23, 59, 59, 999999), dt.time(1, 2)]),
    (BINARY, [b"", b"\xff\x00", bytes(range(256))]),
]
NESTED: list[tuple[DataType, Values]] = [
    *((array_of(type_), [[], [None], [*values, None]]) for type_, values in PLAIN),
    (array_of(array_of(INTEGER)), [[], [[1, 2], [3, None]]]),
    (struct_of([(f"f{i}", type_) for i, (type_, _) in enumerate(PLAIN)]),
     [{f"f{i}": values[at % len(values)] for i, (_, values) in enumerate(PLAIN)} for at in range(8)]
     + [{f"f{i}": None for i in range(len(PLAIN))}]),
    (map_of(STRING, DOUBLE), [{}, {"a": None, "": 0.1, "n": math.nan, "i": -math.inf}]),
    (map_of(DATE, array_of(TIMESTAMP)), [{dt.date(1, 1, 1): MOMENTS, dt.date(9999, 12, 31): None}]),
    (array_of(struct_of([("code", BINARY), ("m", decimal(5, 2))])), [[{"code": b"\x00", "m": Decimal("1.50")}, None]]),
    (array_of(map_of(STRING, INTEGER)), [[{"a": 1}, {}, None]]),
]  # fmt: skip
TYPES = [*PLAIN, *NESTED]


def in_json(value: Any) -> Any:
    """A value as topics and webhooks have it."""
    match value:
        case dict():
            return {name if isinstance(name, str) else str(in_json(name)): in_json(v) for name, v in value.items()}
        case list():
            return [in_json(each) for each in value]
        case float() if math.isnan(value):
            return None
        case float() if math.isinf(value):
            return "inf" if value > 0 else "-inf"
        case Decimal():
            return format(value, "f")
        case bytes():
            return value.hex().upper()
        case dt.date() | dt.time():
            return value.isoformat()
        case pa.MonthDayNano():
            years, months = divmod(abs(value.months), 12)
            return f"INTERVAL '{'-' if value.months < 0 else ''}{years}-{months}' YEAR TO MONTH"
        case dt.timedelta():
            sign, length = ("-", -value) if value < dt.timedelta(0) else ("", value)
            seconds, micros = length.seconds, length.microseconds
            time = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
            fraction = f".{micros:06}".rstrip("0") if micros else ""
            return f"INTERVAL '{sign}{length.days} {time}{fraction}' DAY TO SECOND"
    return value
