"""How many elements an array has at most, where its expression says so."""

from __future__ import annotations

from workbench.sql.algebra.expressions import Call, Constant, Expression
from workbench.sql.algebra.types import INTEGER
from workbench.sql.functions.calls import call

_AS_LONG = frozenset({
    "transform", "filter", "sort_array", "array_sort", "array_distinct", "array_compact", "array_reverse",
    "array_remove", "array_intersect", "array_except", "map_entries", "map_keys", "map_values", "map_of",
    "map_from_entries",
})  # fmt: skip
"""Functions whose result is at most as long as their first argument."""


ENDED = ("sequence", "array_repeat")
"""The functions of arrays in FROM that ``ended`` changes, so that a check of that array finds those that are longer."""


def longest(array: Expression) -> int | None:
    """The number of elements that an array has at most.

    Args:
        array: an expression of an array.

    Returns:
        ``None`` where its rows decide, as in ``SPLIT(s, ',')``.

    Example:
        >>> from workbench.sql.algebra.expressions import Column, text
        >>> from workbench.sql.functions.calls import call
        >>> from workbench.sql.algebra.types import INTEGER, STRING
        >>> parts = call("split", Column("s", STRING), Constant(",", STRING))
        >>> longest(parts), longest(call("slice", parts, Constant(1, INTEGER), Constant(3, INTEGER)))
        (None, 3)
    """
    if not isinstance(array, Call):
        return None
    arguments = array.arguments
    match array.function:
        case "array":
            return len(arguments)
        case "split":
            limit = _constant(arguments[2]) if len(arguments) == 3 else None
            return limit if limit is not None and limit > 0 else None
        case "slice":
            return _least(longest(arguments[0]), _constant(arguments[2]))
        case "array_repeat":
            return _constant(arguments[1])
        case "sequence":
            return _steps(*map(_constant, arguments))
        case function if function in _AS_LONG:
            return longest(arguments[0])
        case "array_append" | "array_prepend":
            return _sum(longest(arguments[0]), 1)
        case "array_union":
            return _sum(longest(arguments[0]), longest(arguments[1]))
    return None


def ended(array: Expression, most: int) -> Expression:
    """An array that has ``most`` + 1 elements where it would have more.

    SEQUENCE and ARRAY_REPEAT are NULL where they would be very long, and no check could tell that they are too long.

    Args:
        array: an expression of an array; others than these two, and constants, are left as they are.
        most: how many elements it may have.

    Example:
        >>> from workbench.sql.algebra.expressions import Column, text
        >>> from workbench.sql.algebra.types import STRING
        >>> text(ended(call("array_repeat", Constant("x", STRING), Column("n", INTEGER)), 3))
        "array_repeat('x', case((n > 4), 4, n))"
    """
    if not isinstance(array, Call) or longest(array) is not None:
        return array
    if array.function == "array_repeat":
        value, count = array.arguments
        return call("array_repeat", value, _bounded(count, ">", Constant(most + 1, INTEGER)))
    if array.function != "sequence":
        return array
    start, end, *steps = array.arguments
    up = steps[0] if steps else Constant(1, INTEGER)
    last = call("+", start, call("*", up, Constant(most, INTEGER)))
    if not steps:  # it goes to the end, wherever that is
        below = call("-", start, Constant(most, INTEGER))
        return call("sequence", start, _bounded(_bounded(end, ">", last), "<", below))
    is_down = call("<", up, Constant(0, INTEGER))
    return call("sequence", start, call("case", is_down, _bounded(end, "<", last), _bounded(end, ">", last)), up)


def _bounded(value: Expression, beyond: str, bound: Expression) -> Expression:
    return call("case", call(beyond, value, bound), bound, value)


def _constant(expression: Expression) -> int | None:
    """The value of a constant number that is not NULL."""
    value = expression.value if isinstance(expression, Constant) else None
    return value if isinstance(value, int) else None


def _least(*lengths: int | None) -> int | None:
    """The least length of those that are known."""
    return min((length for length in lengths if length is not None), default=None)


def _sum(left: int | None, right: int | None) -> int | None:
    """The length of two arrays after each other."""
    return None if left is None or right is None else left + right


def _steps(start: int | None, end: int | None, step: int | None = 1) -> int | None:
    """The numbers from one end to the other; SEQUENCE goes down by itself."""
    return None if start is None or end is None or not step else abs(end - start) // abs(step) + 1
