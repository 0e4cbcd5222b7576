"""The kinds of value a query can compute with, and how they combine.

Few kinds on purpose: every integer is 64 bit and every binary float a DOUBLE, so that shared expressions do not differ
by width, and overflow is as late as it can be. Exactness of rewrites depends on the kind.

An ARRAY is stored as a text, by which two of them are equal (``render/stored_arrays``), and has no order.
An INTERVAL is of days to microseconds and is computed and stored as the number of its microseconds; no stream has one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from workbench.errors import SqlError, nearest
from workbench.sql.interning import Interned

MAX_PRECISION = 38


class Kind(StrEnum):
    """What a value is."""

    BOOLEAN = "boolean"
    INTEGER = "integer"
    DECIMAL = "decimal"
    DOUBLE = "double"
    STRING = "string"
    DATE = "date"
    TIMESTAMP = "timestamp"
    INTERVAL = "interval"
    ARRAY = "array"


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class DataType(Interned):
    """A kind, with precision and scale for decimals, and the type of the elements for arrays.

    Example:
        >>> str(DataType(Kind.DECIMAL, 15, 2))
        'decimal(15,2)'
    """

    kind: Kind
    precision: int = 0
    scale: int = 0
    element: DataType | None = None

    def __str__(self) -> str:
        if self.element is not None:
            return f"array<{self.element}>"
        return f"decimal({self.precision},{self.scale})" if self.kind is Kind.DECIMAL else self.kind.value

    @property
    def numeric(self) -> bool:
        """Whether arithmetic applies."""
        return self.kind in (Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE)

    @property
    def temporal(self) -> bool:
        """Whether it is a DATE or TIMESTAMP."""
        return self.kind in (Kind.DATE, Kind.TIMESTAMP)

    @property
    def exact(self) -> bool:
        """Whether linear arithmetic on the type has no rounding."""
        return self.kind in (Kind.INTEGER, Kind.DECIMAL, Kind.DATE)

    @property
    def spark(self) -> str:
        """The type's name in an expression of Spark SQL; a timestamp is stream time and has no zone."""
        if self.element is not None:
            return f"array<{self.element.spark}>"
        return _SPARK.get(self.kind, str(self))

    @property
    def stored(self) -> str:
        """The name in Spark SQL of the type of a column that stores it: that of a text for an array."""
        return Kind.STRING.value if self.kind is Kind.ARRAY else self.spark


_SPARK = {Kind.INTEGER: "bigint", Kind.TIMESTAMP: "timestamp_ntz", Kind.INTERVAL: "bigint"}
COLUMN_KINDS = tuple(kind for kind in Kind if kind not in (Kind.ARRAY, Kind.INTERVAL))
"""The kinds of values that a stream's column may have."""
BOOLEAN = DataType(Kind.BOOLEAN)
INTEGER = DataType(Kind.INTEGER)
DOUBLE = DataType(Kind.DOUBLE)
STRING = DataType(Kind.STRING)
DATE = DataType(Kind.DATE)
TIMESTAMP = DataType(Kind.TIMESTAMP)
INTERVAL = DataType(Kind.INTERVAL)


def decimal(precision: int, scale: int) -> DataType:
    """A decimal type, its precision cut to what Spark and DuckDB can hold (38 digits)."""
    precision = max(precision, scale, 1)
    return DataType(Kind.DECIMAL, min(precision, MAX_PRECISION), min(scale, MAX_PRECISION))


def array_of(element: DataType) -> DataType:
    """The type of arrays of a type.

    Example:
        >>> str(array_of(array_of(INTEGER)))
        'array<array<integer>>'
    """
    return DataType(Kind.ARRAY, element=element)


def as_decimal(type_: DataType) -> DataType:
    """The decimal type that holds every value of an integer or decimal type."""
    return decimal(19, 0) if type_.kind is Kind.INTEGER else type_


def common_type(left: DataType, right: DataType) -> DataType | None:
    """The type both can be compared in without loss; ``None`` when there is none.

    Example:
        >>> str(common_type(INTEGER, decimal(15, 2)))
        'decimal(21,2)'
    """
    if left == right:
        return left
    if left.numeric and right.numeric:
        if Kind.DOUBLE in (left.kind, right.kind):
            return DOUBLE
        a, b = as_decimal(left), as_decimal(right)
        scale = max(a.scale, b.scale)
        return decimal(max(a.precision - a.scale, b.precision - b.scale) + scale, scale)
    if {left.kind, right.kind} == {Kind.DATE, Kind.TIMESTAMP}:
        return TIMESTAMP
    return None


_NAMES: dict[str, DataType] = {
    **dict.fromkeys(("boolean", "bool"), BOOLEAN),
    **dict.fromkeys(("integer", "int", "bigint", "long", "smallint", "tinyint", "int64", "int32"), INTEGER),
    **dict.fromkeys(("double", "float", "real", "double precision", "float64"), DOUBLE),
    **dict.fromkeys(("string", "varchar", "varchar2", "char", "text"), STRING),
    "date": DATE,
    **dict.fromkeys(("timestamp", "timestamp_ntz", "datetime"), TIMESTAMP),
}
_DECIMAL_NAMES = ("decimal", "numeric", "number")
_TYPE_TEXT = re.compile(r"\s*([a-z_0-9 ]+?)\s*(?:\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\))?\s*", re.IGNORECASE)


def parse_type(text: str) -> DataType:
    """The type a SQL type name means: every integer width is INTEGER, every binary float DOUBLE.

    ``decimal`` alone is decimal(38,0), as in Oracle and the SQL standard a decimal without scale has none.

    Raises:
        SqlError: no such type, or a decimal's digits are out of range; the hint names the nearest.

    Example:
        >>> str(parse_type("NUMBER(15, 2)")), str(parse_type("varchar(20)"))
        ('decimal(15,2)', 'string')
    """
    text = str(text)
    match = _TYPE_TEXT.fullmatch(text)
    name = " ".join(match[1].lower().split()) if match else text
    if match and name in _DECIMAL_NAMES:
        precision, scale = int(match[2] or MAX_PRECISION), int(match[3] or 0)
        if not (1 <= precision <= MAX_PRECISION and scale <= precision):
            raise SqlError(
                f"{text} is not a decimal type", hint="decimal(15,2): at most 38 digits, 2 of them fractional"
            )
        return DataType(Kind.DECIMAL, precision, scale)
    if match and name in _NAMES and (match[2] is None or _NAMES[name] in (STRING, TIMESTAMP)):
        return _NAMES[name]
    known = [*_NAMES, *_DECIMAL_NAMES]
    raise SqlError(
        f"unknown type {text}", hint=nearest(name, known) or "one of " + ", ".join(k.value for k in COLUMN_KINDS)
    )


def parse_expression_type(text: str) -> DataType:
    """The type of an expression by its name, which may be an array's or an interval's as well.

    Raises:
        SqlError: as ``parse_type``.

    Example:
        >>> str(parse_expression_type("array<varchar>"))
        'array<string>'
    """
    if text == str(INTERVAL):
        return INTERVAL
    match = re.fullmatch(r"\s*array\s*<(.*)>\s*", text, re.IGNORECASE | re.DOTALL)
    return array_of(parse_expression_type(match[1])) if match else parse_type(text)
