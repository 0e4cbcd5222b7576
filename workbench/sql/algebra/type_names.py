"""Names of types, as SQL writes them: in CAST, for the columns of a file and for what a function returns."""

from __future__ import annotations

import re

from workbench.errors import SqlError, nearest
from workbench.sql.algebra.types import BOOLEAN, DATE, DOUBLE, INTEGER, MAX_PRECISION, STRING, TIMESTAMP, DataType, Kind

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
    raise SqlError(f"unknown type {text}", hint=nearest(name, known) or "one of " + ", ".join(k.value for k in Kind))
