"""The Spark SQL of the functions of ``algebra/array_functions``.

As all texts of functions they are total: a place that an array does not have is NULL, and so is what Spark raises at,
an array of more elements than ``MOST``, or a place 0 where places count from 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from workbench.sql.algebra.array_functions import ARRAYS, HAS_PLACE
from workbench.sql.algebra.expressions import Call, Constant

MOST = 100_000
"""Elements of an array that ``sequence`` or ``array_repeat`` makes."""
_INT = "try_cast({%d} as int)"
_NEAR = f"abs(try_subtract({{1}}, {{0}})) < {MOST}"
_FORWARD = "({2} > 0 and {0} <= {1} or {2} < 0 and {0} >= {1})"


def _called(name: str) -> Callable[[Call, Sequence[str]], str]:
    return lambda call, arguments: f"{name}({', '.join(arguments)})"


def _array(call: Call, arguments: Sequence[str]) -> str:
    """ARRAY, also of no elements, of which Spark knows no type."""
    array = f"array({', '.join(arguments)})"
    return array if arguments else f"cast({array} as {call.type.spark})"


def _split(call: Call, arguments: Sequence[str]) -> str:
    """SPLIT, at most so many times."""
    text, pattern, *limit = arguments
    return f"split({', '.join([text, pattern, *(f'try_cast({n} as int)' for n in limit)])})"


def _sequence(call: Call, arguments: Sequence[str]) -> str:
    """SEQUENCE, whose step must lead from one end to the other."""
    if len(arguments) == 2:
        return f"(case when {_NEAR} then sequence({{0}}, {{1}}) end)".format(*arguments)
    return f"(case when {_NEAR} and {_FORWARD} then sequence({{0}}, {{1}}, {{2}}) end)".format(*arguments)


def _lambda(call: Call, arguments: Sequence[str]) -> str:
    """A lambda; Spark's grammar has no parentheses around one variable."""
    *variables, body = arguments
    head = variables[0] if len(variables) == 1 else f"({', '.join(variables)})"
    return f"{head} -> {body}"


def _variable(call: Call, arguments: Sequence[str]) -> str:
    """A variable, whose name no column has."""
    (name,) = call.arguments
    assert isinstance(name, Constant)
    return "`" + str(name.value).replace("`", "``") + "`"


ARRAY_SQL: dict[str, str | Callable[[Call, Sequence[str]], str]] = {
    **{name: _called(name) for name in ARRAYS},
    "array": _array,
    "split": _split,
    "sequence": _sequence,
    "regexp_extract_all": f"regexp_extract_all({{0}}, {{1}}, {_INT % 2})",
    "array_repeat": f"(case when {{1}} <= {MOST} then array_repeat({{0}}, {_INT % 1}) end)",
    "get": f"get({{0}}, {_INT % 1})",
    "element_at": f"(case when {{1}} <> 0 then try_element_at({{0}}, {_INT % 1}) end)",
    "array_insert": f"(case when {{1}} <> 0 and abs({{1}}) <= {MOST} then array_insert({{0}}, {_INT % 1}, {{2}}) end)",
    "array_size": "cast(array_size({0}) as bigint)",
    HAS_PLACE: "({1} <= array_size({0}))",
    "array_position": "array_position({0}, {1})",
    "array_reverse": "reverse({0})",
    "slice": f"(case when {{1}} <> 0 and {{2}} >= 0 then slice({{0}}, {_INT % 1}, {_INT % 2}) end)",
    "lambda": _lambda,
    "variable": _variable,
}
"""Function -> a format string over the texts of its arguments, or what gives its text."""
