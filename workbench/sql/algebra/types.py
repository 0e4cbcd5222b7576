"""The kinds of value a query can compute with, and how they combine.

Few kinds on purpose: every binary float is a DOUBLE, and every integer is computed and stored with 64 bits. The type of
an integer that a cast keeps within fewer bits says how many (``integer(16)``), which is a promise about its values:
wherever an INTEGER is needed it is one. Exactness of rewrites depends on the kind.

ARRAY, STRUCT, MAP and BINARY are stored as texts, by which two of them are equal (``functions/stored_values``). The
order of BINARY is its texts', which are hexadecimal; that of arrays and structs is not (``functions/order_of_parts``).
A MAP is computed and stored as the array of its entries, structs of a key and a value, in the order in which they came;
SQL text cannot compare maps. An INTERVAL of days to microseconds, a TIME of the day and an interval of years and months
are counted: computed and stored as the number of their microseconds, or months (``counted``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from workbench.errors import SqlError, nearest
from workbench.sql.interning import Interned

MAX_PRECISION = 38


class Kind(StrEnum):
    """The kinds of values."""

    BOOLEAN = "boolean"
    INTEGER = "integer"
    DECIMAL = "decimal"
    DOUBLE = "double"
    STRING = "string"
    DATE = "date"
    TIMESTAMP = "timestamp"
    INTERVAL = "interval"
    MONTHS = "interval year to month"
    TIME = "time"
    BINARY = "binary"
    ARRAY = "array"
    STRUCT = "struct"
    MAP = "map"


@dataclass(frozen=True, eq=False)
class DataType(Interned):
    """A kind, with precision and scale for decimals, bits for narrow integers, the type of an array's elements or a
    map's entries, names and types of a struct's fields, whether a TIMESTAMP is an instant, and a STRING is JSON.

    Example:
        >>> str(DataType(Kind.DECIMAL, 15, 2))
        'decimal(15,2)'
    """

    kind: Kind
    precision: int = 0
    scale: int = 0
    element: DataType | None = None
    fields: tuple[tuple[str, DataType], ...] = ()
    zoned: bool = False
    json: bool = False

    def __str__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:
        if self.kind is Kind.MAP:
            return f"map<{','.join(map(str, self.key_and_value))}>"
        if self.element is not None:
            return f"array<{self.element}>"
        if self.fields:
            return f"struct<{','.join(f'{_quoted(name)}:{type_}' for name, type_ in self.fields)}>"
        if self.kind is Kind.INTEGER and self.precision:
            return f"integer({self.precision})"
        if self.zoned:
            return "timestamp with time zone"
        if self.json:
            return "json"
        return f"decimal({self.precision},{self.scale})" if self.kind is Kind.DECIMAL else self.kind.value

    @property
    def numeric(self) -> bool:
        """Whether arithmetic applies."""
        return self.kind in (Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE)

    @property
    def bits(self) -> int:
        """The number of bits of an integer type."""
        return self.precision or 64

    @property
    def temporal(self) -> bool:
        """Whether it is a DATE or TIMESTAMP."""
        return self.kind in (Kind.DATE, Kind.TIMESTAMP)

    @property
    def counted(self) -> bool:
        """Whether it is computed and stored as a number of microseconds or months."""
        return self.kind in COUNTED

    @property
    def exact(self) -> bool:
        """Whether linear arithmetic on the type has no rounding."""
        return self.kind in (Kind.INTEGER, Kind.DECIMAL, Kind.DATE)

    @property
    def ordered(self) -> bool:
        """Whether ``<`` and ORDER BY apply."""
        return self.kind not in (Kind.ARRAY, Kind.STRUCT, Kind.MAP)

    @property
    def comparable(self) -> bool:
        """Whether ``=``, DISTINCT and GROUP BY apply: to all but maps, and what has maps in it."""
        return all(part.kind is not Kind.MAP for part in self.walk())

    @property
    def inner(self) -> tuple[DataType, ...]:
        """The types of its elements or fields."""
        return (self.element,) if self.element is not None else tuple(type_ for _, type_ in self.fields)

    def walk(self) -> Iterator[DataType]:
        """It, and all types within it."""
        yield self
        for part in self.inner:
            yield from part.walk()

    @property
    def key_and_value(self) -> tuple[DataType, DataType]:
        """The types of a map's keys and values."""
        assert self.element is not None
        (_, key), (_, value) = self.element.fields
        return key, value

    @property
    def spark(self) -> str:
        """The type's name in an expression of Spark SQL; a timestamp is stream time and has no zone, an instant is one
        in UTC.

        Fields of a struct are called by their places there: ``f0``, ``f1``. A map is the array of its entries.
        """
        if self.element is not None:
            return f"array<{self.element.spark}>"
        if self.fields:
            return f"struct<{','.join(f'f{place}:{type_.spark}' for place, (_, type_) in enumerate(self.fields))}>"
        return _SPARK.get(self.kind, str(self))

    @property
    def shown(self) -> str:
        """The name in Spark SQL of the type in which answers give its values; fields have their own names there."""
        if self.kind is Kind.MAP:
            return f"map<{','.join(type_.shown for type_ in self.key_and_value)}>"
        if self.element is not None:
            return f"array<{self.element.shown}>"
        if self.fields:
            fields = (f"`{name.replace('`', '``')}`:{type_.shown}" for name, type_ in self.fields)
            return f"struct<{','.join(fields)}>"
        return Kind.TIMESTAMP.value if self.zoned else self.spark

    @property
    def is_text_when_stored(self) -> bool:
        """Whether a stored column of this type has texts that represent the values."""
        return self.kind in (Kind.ARRAY, Kind.STRUCT, Kind.MAP, Kind.BINARY)

    @property
    def stored(self) -> str:
        """The name in Spark SQL of the type of a column that stores it."""
        return Kind.STRING.value if self.is_text_when_stored else self.spark


COUNTED = (Kind.INTERVAL, Kind.MONTHS, Kind.TIME)
"""The kinds of values that are computed and stored as a number."""
_SPARK = {
    Kind.STRING: "string",
    Kind.INTEGER: "bigint",
    Kind.TIMESTAMP: "timestamp_ntz",
    **dict.fromkeys(COUNTED, "bigint"),
}
PLAIN_KINDS = tuple(Kind)[: list(Kind).index(Kind.INTERVAL)]
"""The kinds of values that texts of CSV files and functions of the analyst may give."""
BOOLEAN = DataType(Kind.BOOLEAN)
INTEGER = DataType(Kind.INTEGER)
DOUBLE = DataType(Kind.DOUBLE)
STRING = DataType(Kind.STRING)
DATE = DataType(Kind.DATE)
TIMESTAMP = DataType(Kind.TIMESTAMP)
INSTANT = DataType(Kind.TIMESTAMP, zoned=True)
"""TIMESTAMP WITH TIME ZONE: a moment, which clocks of zones show as different times; computed and stored as the time of
a clock of UTC, by which it is equal and ordered."""
JSON = DataType(Kind.STRING, json=True)
"""A text that is JSON, which is equal and ordered as the text, and stands as it is in other JSON."""
INTERVAL = DataType(Kind.INTERVAL)
"""An interval of days to microseconds, 24 hours to the day."""
MONTHS = DataType(Kind.MONTHS)
"""An interval of years and months, which have no fixed number of days."""
TIME = DataType(Kind.TIME)
"""A time of the day, on a clock without a zone."""
BINARY = DataType(Kind.BINARY)


def decimal(precision: int, scale: int) -> DataType:
    """A decimal type, its precision cut to what Spark and DuckDB can hold (38 digits)."""
    precision = max(precision, scale, 1)
    return DataType(Kind.DECIMAL, min(precision, MAX_PRECISION), min(scale, MAX_PRECISION))


NARROW = (8, 16, 32)
"""Bits of the integers that have fewer than 64."""


def integer(bits: int) -> DataType:
    """The type of integers of a width in bits.

    Example:
        >>> str(integer(16)), str(integer(64))
        ('integer(16)', 'integer')
    """
    return DataType(Kind.INTEGER, bits) if bits in NARROW else INTEGER


def of_any_bits(type_: DataType) -> DataType:
    """The type without a promise about the bits of an integer, as for parts of values and columns of set operators."""
    return INTEGER if type_.kind is Kind.INTEGER else type_


def array_of(element: DataType) -> DataType:
    """The type of arrays of a type.

    Example:
        >>> str(array_of(array_of(INTEGER)))
        'array<array<integer>>'
    """
    return DataType(Kind.ARRAY, element=of_any_bits(element))


def struct_of(fields: Sequence[tuple[str, DataType]]) -> DataType:
    """The type of structs with such fields, whose names are in lower case, as column names are.

    Raises:
        SqlError: there are none, or two of one name.

    Example:
        >>> str(struct_of([("a", INTEGER), ("B c", array_of(STRING))]))
        'struct<a:integer,`b c`:array<string>>'
    """
    named = tuple((name.lower(), of_any_bits(type_)) for name, type_ in fields)
    if not named:
        raise SqlError("a struct without fields", hint="as in STRUCT(a AS x, b AS y)")
    if len(dict(named)) < len(named):
        raise SqlError(f"a struct with two fields of one name: {', '.join(name for name, _ in named)}",
                       hint="give each a name of its own")  # fmt: skip
    return DataType(Kind.STRUCT, fields=named)


KEY_KINDS = (Kind.STRING, Kind.INTEGER, Kind.DECIMAL, Kind.DATE, Kind.TIMESTAMP, Kind.BOOLEAN)
"""The kinds that keys of maps have: values that are equal in one way only."""


def map_of(key: DataType, value: DataType) -> DataType:
    """The type of maps from keys to values.

    Raises:
        SqlError: no map has such keys.

    Example:
        >>> str(map_of(STRING, array_of(INTEGER)))
        'map<string,array<integer>>'
    """
    if key.kind not in KEY_KINDS:
        raise SqlError(f"a map with keys of type {key}", hint="keys are texts, exact numbers, days, times or BOOLEAN")
    return DataType(Kind.MAP, element=struct_of([("key", key), ("value", value)]))


def as_decimal(type_: DataType) -> DataType:
    """The decimal type that holds every value of an integer or decimal type, an integer of any bits."""
    return decimal(19, 0) if type_.kind is Kind.INTEGER else type_


def common_type(left: DataType, right: DataType) -> DataType | None:
    """The type both can be compared in without loss; ``None`` when there is none.

    Example:
        >>> str(common_type(INTEGER, decimal(15, 2)))
        'decimal(21,2)'
    """
    if left == right:
        return left
    if left.kind is right.kind is Kind.INTEGER:
        return integer(max(left.bits, right.bits))
    if left.numeric and right.numeric:
        if Kind.DOUBLE in (left.kind, right.kind):
            return DOUBLE
        a, b = as_decimal(left), as_decimal(right)
        scale = max(a.scale, b.scale)
        return decimal(max(a.precision - a.scale, b.precision - b.scale) + scale, scale)
    if left.kind is right.kind is Kind.STRING:
        return JSON
    if left.temporal and right.temporal:
        return INSTANT if INSTANT in (left, right) else TIMESTAMP
    return None


_NAMES: dict[str, DataType] = {
    **dict.fromkeys(("boolean", "bool"), BOOLEAN),
    **dict.fromkeys(("integer", "int", "bigint", "long", "smallint", "tinyint", "int64", "int32"), INTEGER),
    **dict.fromkeys(("double", "float", "real", "double precision", "float64"), DOUBLE),
    **dict.fromkeys(("string", "varchar", "varchar2", "char", "text"), STRING),
    "date": DATE,
    **dict.fromkeys(("timestamp", "timestamp_ntz", "datetime", "timestamp without time zone"), TIMESTAMP),
    **dict.fromkeys(("timestamp with time zone", "timestamptz", "timestamp_ltz"), INSTANT),
}
_DECIMAL_NAMES = ("decimal", "numeric", "number")
_TYPE_TEXT = re.compile(r"\s*([a-z_0-9 ]+?)\s*(?:\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\))?\s*", re.IGNORECASE)


def refuse_number(text: str) -> None:
    """Refuse ``number`` alone as the type of a column or of a function's values: people take it for one with a
    fraction.

    Raises:
        SqlError: the text is it.
    """
    if text.strip().lower() == "number":
        hint = "double and decimal(15,2) have fractions, bigint has none"
        raise SqlError("number does not say which numbers", hint=hint)


def parse_type(text: str) -> DataType:
    """The type a name means: every integer width is INTEGER, unless it says its bits, and every binary float DOUBLE.

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
    if match and name == "integer" and match[2] and int(match[2]) in NARROW and match[3] is None:
        return integer(int(match[2]))
    if match and name in _NAMES and (match[2] is None or _NAMES[name] in (STRING, TIMESTAMP, INSTANT)):
        return _NAMES[name]
    known = [*_NAMES, *_DECIMAL_NAMES]
    pattern = f"a pattern stands behind its type: date {text}" if re.search("[dM]+[./-][dMyu]", text) else None
    if text.lower().startswith("boolean "):
        pattern = "what stands for true and what for false have a slash between them: boolean yes/no"
    hint = pattern or nearest(name, known) or "one of " + ", ".join(k.value for k in PLAIN_KINDS)
    raise SqlError(f"unknown type {text}", hint=hint)


def parse_expression_type(text: str) -> DataType:
    """The type of an expression by its name, also an array's, a struct's, a map's, BINARY, TIME or an interval's.

    Raises:
        SqlError: as ``parse_type``.

    Example:
        >>> str(parse_expression_type("array<varchar>")), str(parse_expression_type("STRUCT<a: int, `b c`: date>"))
        ('array<string>', 'struct<a:integer,`b c`:date>')
    """
    if text.strip().lower() in _UNPARSED:
        return _UNPARSED[text.strip().lower()]
    match = re.fullmatch(r"\s*(array|struct|map)\s*<(.*)>\s*", text, re.IGNORECASE | re.DOTALL)
    if match is None:
        return parse_type(text)
    if match[1].lower() == "array":
        return array_of(parse_expression_type(match[2]))
    if match[1].lower() == "map":
        parts = _parts(match[2])
        if len(parts) != 2:
            raise SqlError(f"{text} is no type of maps", hint="as in map<string,integer>")
        key, value = map(parse_expression_type, parts)
        return map_of(key, value)
    named = [_FIELD.match(part) for part in _parts(match[2])]
    if None in named:
        raise SqlError(f"{text} is no type of structs", hint="as in struct<name:string,n:integer>")
    fields = [(m[1].replace("``", "`") if m[1] is not None else m[2], m[3]) for m in named if m is not None]
    return struct_of([(name, parse_expression_type(type_)) for name, type_ in fields])


_UNPARSED = {
    "json": JSON,
    **{type_.kind.value: type_ for type_ in (INTERVAL, MONTHS, TIME)},
    "time without time zone": TIME,
    **dict.fromkeys(("binary", "varbinary", "bytea", "blob"), BINARY),
}
_FIELD = re.compile(r"\s*(?:`((?:[^`]|``)*)`|([^\s:`]+))\s*[:\s]\s*(.*)", re.DOTALL)


def _quoted(name: str) -> str:
    return name if re.fullmatch("[a-z_][a-z0-9_]*", name) else "`" + name.replace("`", "``") + "`"


def _parts(text: str) -> list[str]:
    """The fields of a struct, or a map's key and value: what commas separate outside of quotes and brackets."""
    parts, depth, quoted = [""], 0, False
    for char in text:
        quoted ^= char == "`"
        depth += not quoted and (char in "<(") - (char in ">)")
        if char == "," and not depth and not quoted:
            parts.append("")
        else:
            parts[-1] += char
    return parts
