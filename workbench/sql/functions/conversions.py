"""CAST, structs and their fields, and values as JSON."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.sql.algebra.coercion import TypeClash, is_integer_of
from workbench.sql.algebra.expressions import Call, Constant
from workbench.sql.algebra.types import BINARY, DOUBLE, INTEGER, STRING, DataType, Kind, struct_of
from workbench.sql.functions.calls import WITHIN
from workbench.sql.functions.declaration import Arguments, function
from workbench.sql.functions.stored_values import with_names

_OF_BITS = {8: "tinyint", 16: "smallint", 32: "int"}


def _struct_type(arguments: Arguments) -> tuple[Arguments, DataType]:
    """STRUCT; the binder names the fields."""
    return arguments, struct_of([(f"col{place}", a.type) for place, a in enumerate(arguments, start=1)])


def _field_type(arguments: Arguments) -> tuple[Arguments, DataType]:
    """A field of a struct, by its place."""
    place = arguments[1]
    assert isinstance(place, Constant) and isinstance(place.value, int)
    return arguments, arguments[0].type.fields[place.value][1]


def _json_type(arguments: Arguments) -> tuple[Arguments, DataType]:
    """TO_JSON of a struct, an array or a map."""
    (value,) = arguments
    if value.type.kind not in (Kind.STRUCT, Kind.ARRAY, Kind.MAP):
        raise TypeClash(
            f"a struct, an array or a map is needed, not {value.type}", value, "as in TO_JSON(STRUCT(a, b))"
        )
    return arguments, STRING


def _cast(expression: Call, arguments: Sequence[str]) -> str:
    """CAST, which is NULL where the type has no such value."""
    value = arguments[0]
    if is_integer_of(expression.arguments[0].type, expression.type):
        return value
    if expression.type == INTEGER and expression.arguments[0].type == DOUBLE:
        # Spark compares with the DOUBLE next to 2^63 - 1, which is 2^63, and makes 2^63 - 1 of it.
        value = f"nullif({value}, 9.223372036854775808E18D)"
    if expression.type.kind is Kind.INTEGER and expression.type.bits < 64:
        return f"cast(try_cast({value} as {_OF_BITS[expression.type.bits]}) as bigint)"
    if expression.arguments[0].type == BINARY and expression.type == STRING:
        return f"try_validate_utf8(cast({value} as string))"  # bytes that are no text are NULL
    return f"try_cast({value} as {expression.type.spark})"


def _struct(expression: Call, arguments: Sequence[str]) -> str:
    """STRUCT, whose fields are called by their places."""
    fields = (f"'f{place}', {argument}" for place, argument in enumerate(arguments))
    return f"named_struct({', '.join(fields)})"


DECLARED = [
    # The binder says the type; ``calls.cast`` makes the call.
    function("cast(any): string", _cast),
    function(f"{WITHIN}(any): integer", _cast, inner=True),
    function("struct(field...)", _struct, rule=_struct_type, of_null=True),
    function("field(struct, place)", lambda call, arguments: f"({arguments[0]}).f{arguments[1].removesuffix('L')}",
             rule=_field_type),
    function("to_json(value)",
             lambda call, arguments: f"to_json({with_names(arguments[0], call.arguments[0].type)})", rule=_json_type),
]  # fmt: skip
