"""HASH and XXHASH64 of Spark, whose value depends on how many bits a number has there."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.sql.algebra.coercion import TypeClash
from workbench.sql.algebra.expressions import Call, Column
from workbench.sql.algebra.types import INTEGER, DataType, Kind
from workbench.sql.functions.declaration import Arguments, function

HASHED_KINDS = (Kind.STRING, Kind.INTEGER, Kind.DOUBLE, Kind.DECIMAL, Kind.DATE, Kind.TIMESTAMP, Kind.BOOLEAN)
MAX_LONG_DIGITS = 18
"""Digits of a DECIMAL at most that is hashed as its number of 64 bits."""


def is_hashed_as_int(type_: DataType) -> bool:
    """Whether a value is hashed as one of 32 bits; all but texts and large decimals have 32 or 64."""
    return type_.kind in (Kind.DATE, Kind.BOOLEAN) or (type_.kind is Kind.INTEGER and type_.bits <= 32)


def _hashed(arguments: Arguments) -> tuple[Arguments, DataType]:
    for value in arguments:
        if value.type.kind not in HASHED_KINDS:
            raise TypeClash(f"a hash of {value.type}", value, "of texts, numbers and times; an element is x[0]")
        if value.type == INTEGER and not isinstance(value, Column):  # Spark's own may have 32 bits, as of YEAR(d)
            hint = "write HASH(CAST(x AS INT)), or AS BIGINT"
            raise TypeClash("the hash of a whole number depends on its type", value, hint)
    return arguments, INTEGER


def _of_bits(call: Call, arguments: Sequence[str]) -> str:
    """The call over values of the bits that they are said to have; all are stored with 64."""
    cast = [
        f"cast({text} as int)" if value.type.kind is Kind.INTEGER and is_hashed_as_int(value.type) else text
        for value, text in zip(call.arguments, arguments, strict=True)
    ]
    return f"cast({call.function}({', '.join(cast)}) as bigint)"


DECLARED = [
    function(f"{name}(any...)", _of_bits, rule=_hashed, of_null=True, names=name,
             help=f"{name}(expr1, expr2, ...) Returns a hash value of the arguments.")
    for name in ("hash", "xxhash64")
]  # fmt: skip
