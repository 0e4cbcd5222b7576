"""The order of arrays and structs: ORDER BY n, ``n < m``, MAX(s).

The first element, or field, that differs decides, and of two arrays of which one begins the other the shorter one comes
first. They are stored as texts of another order, so what orders them is a text that is made of them: its parts are as
wide as any value, or hexadecimal with an end that comes before all digits.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from typing import Any

from workbench.sql.algebra.coercion import TypeClash, comparable_sides, is_null
from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.types import BOOLEAN, DOUBLE, INTEGER, STRING, DataType, Kind, parse_expression_type
from workbench.sql.dialect import Dialect
from workbench.sql.functions.calls import call, cast
from workbench.sql.functions.declaration import Arguments, function
from workbench.sql.syntax.source_text import SourceText

_SIGN = 1 << 63
_END, _END_OF_ARRAY = " ", "!"
"""What ends a text, and an array: both come before all that may follow."""
_ORDERS = ("<", "<=", ">", ">=")


def placed(value: Expression, source: SourceText) -> Expression:
    """What orders values: they themselves, or of arrays and structs a text, where their order was compared."""
    if value.type.ordered or not _has_order(value.type, source):
        return value
    return call("order_of_parts", value, Constant(str(value.type), STRING), _nulls_last(source))


def sorted_parts(array: Expression, ascending: bool, source: SourceText) -> Expression:
    """SORT_ARRAY of an array, in spark also of structs and arrays: NULLs are the smallest elements."""
    element, up = array.type.element, Constant(ascending, BOOLEAN)
    if element is None or element.ordered or not (source.rules.explodes and _has_order(element, source)):
        return call("sort_array", array, up)
    return call("sort_parts", array, up, Constant(str(element), STRING))


def placed_sides(symbol: str, left: Expression, right: Expression, source: SourceText) -> tuple[Expression, Expression]:
    """The sides of a comparison, arrays and structs of ``<`` and its like by what orders them."""
    kinds = {left.type.kind, right.type.kind}
    if symbol not in _ORDERS or Kind.MAP in kinds or not kinds & {Kind.ARRAY, Kind.STRUCT}:
        return left, right
    one, other = comparable_sides(left, right)
    return placed(one, source), placed(other, source)


def numbers_of_truths(rules: Dialect, *sides: Expression) -> tuple[Expression, ...]:
    """The sides of a comparison; a BOOLEAN that is compared with integers becomes 0 or 1 where the dialect does so."""
    numbers = [side for side in sides if side.type.numeric and not is_null(side)]
    exact = all(n.type.kind is Kind.INTEGER or (isinstance(n, Constant) and n.type != DOUBLE) for n in numbers)
    if not (rules.truth_is_number and numbers and exact):
        return sides
    return tuple(cast(side, INTEGER) if side.type == BOOLEAN else side for side in sides)


def _nulls_last(source: SourceText) -> Constant:
    """NULL within a value is its largest part, in spark the smallest, wherever NULLS FIRST puts NULL itself."""
    return Constant(not source.rules.explodes, BOOLEAN)


def _has_order(type_: DataType, source: SourceText) -> bool:
    """Whether it was compared: jsonb has one of its own, and postgres compares arrays of arrays by all elements."""
    if not source.rules.exact or not type_.comparable:
        return False
    if source.rules.arrays_have_dimensions and any(part.json or part.element is not None for part in type_.inner):
        return False
    return all(part.ordered or _has_order(part, source) for part in type_.inner)


def _order(value: Any, type_text: str, nulls_last: bool) -> str:
    return _writer(type_text, nulls_last)(value)


@lru_cache(maxsize=1_024)
def _writer(type_text: str, nulls_last: bool) -> Callable[[Any], str]:
    return _writer_of(parse_expression_type(type_text), "2" if nulls_last else "0")


def _sorted(values: list[Any], ascending: bool, type_text: str) -> list[Any]:
    order = _writer(type_text, False)
    return sorted(values, key=lambda value: "" if value is None else order(value), reverse=not ascending)


def _writer_of(type_: DataType, null: str) -> Callable[[Any], str]:
    """What makes the text of a value that is no NULL."""
    if type_.element is not None:
        element = _writer_of(type_.element, null)
        return lambda values: "".join(null if v is None else f"1{element(v)}" for v in values) + _END_OF_ARRAY
    if type_.fields:
        fields = [_writer_of(of, null) for _, of in type_.fields]
        return lambda row: "".join(null if v is None else f"1{field(v)}" for field, v in zip(fields, row, strict=True))
    match type_.kind:
        case Kind.DOUBLE:
            return _order_of_double
        case Kind.DECIMAL:
            return lambda value: _order_of_decimal(value, type_.scale)
        case Kind.STRING:
            return lambda text: text.encode().hex() + _END
        case Kind.BINARY:
            return lambda data: data.hex() + _END
    return lambda number: f"{int(number) + _SIGN:016x}"


def _order_of_double(value: float) -> str:
    """Its bits, turned over below zero; NaN is the largest number.

    Example:
        >>> numbers = [-math.inf, -1.5, -0.0, 5e-324, 2.0, math.inf, math.nan]
        >>> sorted(map(_order_of_double, numbers)) == [_order_of_double(number) for number in numbers]
        True
    """
    (bits,) = struct.unpack(">Q", struct.pack(">d", math.nan if math.isnan(value) else value or 0.0))
    return f"{(~bits if bits & _SIGN else bits | _SIGN) % (2 * _SIGN):016x}"


def _order_of_decimal(value: Decimal, scale: int) -> str:
    sign, digits, exponent = value.as_tuple()
    number = int("".join(map(str, digits))) * 10 ** (scale + int(exponent))
    return f"{(-number if sign else number) + 10**38:039d}"


def _same_array(arguments: Arguments) -> tuple[Arguments, DataType]:
    if arguments[0].type.element is None:
        raise TypeClash(f"an array is needed, not {arguments[0].type}", arguments[0])
    return arguments, arguments[0].type


DECLARED = [
    function("order_of_parts(value, type, nulls_last)", rule=lambda arguments: (arguments, STRING), returns=STRING,
             python=_order),
    function("sort_parts(array, ascending, type)", "sort_array({0}, {1})", python=_sorted,
             rule=_same_array),
]  # fmt: skip
