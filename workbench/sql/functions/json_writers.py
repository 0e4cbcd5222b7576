"""Values as JSON, as Spark, DuckDB and PostgreSQL write them: one writer, with what differs."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any

from workbench.sql.algebra.time_patterns import date_of_days
from workbench.sql.algebra.types import DataType, Kind, parse_expression_type
from workbench.sql.functions.java_digits import text_of_double
from workbench.sql.functions.json_texts import compact_json, double_text, is_json, quoted_json, read_json

_DIGITS_OF_DOUBLE = 15


@dataclass(frozen=True)
class JsonWriter:
    """Writes values as JSON, NULL as null; a struct is the tuple of its fields, a map of its entries.

    Attributes:
        keeps_nulls: whether a field that is NULL is written.
        double: a DOUBLE.
        decimal: a DECIMAL of some digits.
        timestamp: a TIMESTAMP.
        quoted: a text.
        date: a DATE.
        keeps_json: whether JSON in it stays as it is written.

    Example:
        >>> IN_DUCKDB.of("struct<a:integer,b:array<string>>")((1, ["x", None]))
        '{"a":1,"b":["x",null]}'
        >>> IN_SPARK.of("struct<a:integer,b:integer>")((None, 1))
        '{"b":1}'
    """

    keeps_nulls: bool
    double: Callable[[float], str]
    decimal: Callable[[DataType], Callable[[Decimal], str]]
    timestamp: Callable[[int], str]
    quoted: Callable[[str], str] = quoted_json
    date: Callable[[int], str] = lambda days: date_text(days)
    keeps_json: bool = False

    def of(self, type_text: str) -> Callable[[Any], str]:
        """What writes values of a type."""
        return _writer(self, type_text)

    def of_type(self, type_: DataType) -> Callable[[Any], str]:
        """A function that writes a value of a type, NULL included."""
        write = self._of_values(type_)
        return lambda value: "null" if value is None else write(value)

    def _of_values(self, type_: DataType) -> Callable[[Any], str]:
        if type_.kind is Kind.MAP:
            key, value = type_.key_and_value
            name, each = self._text(key), self.of_type(value)
            return lambda entries: f"{{{','.join(f'{self.quoted(name(k))}:{each(v)}' for k, v in entries)}}}"
        if type_.element is not None:
            element = self.of_type(type_.element)
            return lambda values: f"[{','.join(map(element, values))}]"
        if type_.fields:
            parts, keeps = (
                [(f"{self.quoted(field)}:", self.of_type(of)) for field, of in type_.fields],
                self.keeps_nulls,
            )

            def members(row: tuple[Any, ...]) -> str:
                written_ = (n + w(v) for (n, w), v in zip(parts, row, strict=True) if keeps or v is not None)
                return f"{{{','.join(written_)}}}"

            return members
        if type_.kind is Kind.DECIMAL:
            return self.decimal(type_)
        if type_.kind in (Kind.INTEGER, Kind.DOUBLE, Kind.BOOLEAN):
            return self._text(type_)
        if type_.json and self.keeps_json:
            return str
        if type_.json:
            return lambda text: compact_json(read_json(text)) if is_json(text) else "null"
        text = self._text(type_)
        return lambda value: self.quoted(text(value))

    def _text(self, type_: DataType) -> Callable[[Any], str]:
        """What writes a value of a plain type as text."""
        plain: dict[Kind, Callable[[Any], str]] = {
            Kind.BOOLEAN: lambda value: "true" if value else "false",
            Kind.DOUBLE: self.double,
            Kind.DECIMAL: lambda value: f"{value:f}",
            Kind.DATE: self.date,
            Kind.TIMESTAMP: self.timestamp,
        }
        return plain.get(type_.kind, str)


@lru_cache(maxsize=1_024)
def _writer(writer: JsonWriter, type_text: str) -> Callable[[Any], str]:
    return writer.of_type(parse_expression_type(type_text))


def date_text(days: int) -> str:
    """A date, of days since 1970.

    Example:
        >>> date_text(-1)
        '1969-12-31'
    """
    year, month, day = date_of_days(days)
    return f"{year if year > 0 else 1 - year:04}-{month:02}-{day:02}{' (BC)' * (year <= 0)}"


def timestamp_text(micros: int) -> str:
    """A timestamp, of microseconds since 1970.

    Example:
        >>> timestamp_text(1_500_000)
        '1970-01-01 00:00:01.5'
    """
    days, rest = divmod(micros, 86_400_000_000)
    seconds, fraction = divmod(rest, 1_000_000)
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{date_text(days)} {clock}{f'.{fraction:06}'.rstrip('0') if fraction else ''}"


def _decimal_in_duckdb(type_: DataType) -> Callable[[Decimal], str]:
    if type_.precision <= _DIGITS_OF_DOUBLE:
        return lambda value: double_text(float(value))
    return lambda value: f"{value:f}"


def _iso_text(micros: int) -> str:
    """As Spark writes a timestamp in JSON: to milliseconds."""
    text = timestamp_text(micros // 1_000 * 1_000).replace(" ", "T")
    return f"{text}{'' if '.' in text else '.'}".ljust(23, "0")


def double_in_postgres(value: float) -> str:
    """The shortest digits, with an exponent from 15 digits on.

    Example:
        >>> [double_in_postgres(x) for x in (1.0, 1e15, 0.00001, float("inf"))]
        ['1', '1e+15', '1e-05', 'Infinity']
    """
    if not math.isfinite(value):
        return double_text(value)
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    point = len(digits) + exponent
    if value and not -4 < point <= _DIGITS_OF_DOUBLE:
        figures = "".join(map(str, digits))
        return f"{'-' * sign}{figures[0]}{'.' * (len(figures) > 1)}{figures[1:]}e{point - 1:+03}"
    return f"{Decimal(repr(value)).normalize():f}"


def _quoted_in_postgres(text: str) -> str:
    return quoted_json(text) if text.isprintable() else re.sub(r"\\u00[01][0-9A-F]", _lower, quoted_json(text))


def _lower(found: re.Match[str]) -> str:
    return found[0].lower()


def _day_in_postgres(days: int) -> str:
    return date_text(days).replace(" (BC)", " BC")


def _iso_in_postgres(micros: int) -> str:
    day, _, clock = timestamp_text(micros).rpartition(" ")
    return f"{day.removesuffix(' (BC)')}T{clock}{' BC' * day.endswith(')')}"


def _double_in_json_of_postgres(value: float) -> str:
    return double_in_postgres(value) if math.isfinite(value) else f'"{double_text(value)}"'


def _double_in_json_of_spark(value: float) -> str:
    return text_of_double(value) if math.isfinite(value) else f'"{text_of_double(value)}"'


IN_POSTGRES = JsonWriter(True, _double_in_json_of_postgres, lambda type_: lambda value: f"{value:f}", _iso_in_postgres,
                         _quoted_in_postgres, _day_in_postgres, True)  # fmt: skip
IN_DUCKDB = JsonWriter(True, double_text, _decimal_in_duckdb, timestamp_text)
IN_SPARK = JsonWriter(False, _double_in_json_of_spark, lambda type_: str, _iso_text)
"""But of dates beyond the year 9999."""
