"""Lists that functions of duckdb make of numbers and of other lists.

RANGE(a)   GENERATE_SERIES(a, b, step)   LIST_RESIZE(n, 3)   ARRAY_PUSH_BACK(n, x)   FLATTEN(n)   MAP_EXTRACT(m, k)
LIST_HAS_ALL(n, m)   LIST_DISTANCE(n, m)   BIT_COUNT(a)   LIST_APPEND(n, x)   n @> m
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from sqlglot import exp

from workbench.sql.algebra.coercion import TypeClash, empty_array, is_null
from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.types import BOOLEAN, DOUBLE, INTEGER, Kind, array_of
from workbench.sql.functions.arrays.arrays import element_of
from workbench.sql.functions.arrays.postgres import spelled
from workbench.sql.functions.calls import call, cast
from workbench.sql.functions.declaration import function
from workbench.sql.functions.reading import ExpressionBinder, reads, reads_name
from workbench.sql.functions.times.time_series import numbers_between, series_of_times
from workbench.sql.syntax.dialects import ONLY_DUCKDB

_ONE, _ZERO = Constant(1, INTEGER), Constant(0, INTEGER)


@reads(exp.GenerateSeries, parts="start end step is_end_exclusive", dialects=ONLY_DUCKDB)
def series(b: ExpressionBinder, node: exp.GenerateSeries) -> Expression:
    """RANGE(first, end, step) without the end, and GENERATE_SERIES with it."""
    if (times := series_of_times(b, node)) is not None:
        return times
    start, end, *step = b.parts(node, "start", "end", "step")
    if any(value.type.kind is not Kind.INTEGER and not is_null(value) for value in (start, end, *step)):
        b.source.refuse("a series of what is no whole number, as a value", node, "as in RANGE(1, 5)")
    past = Constant(bool(node.args.get("is_end_exclusive")), BOOLEAN)
    return call("series", start, end, *(step or [_ONE]), past)


@reads_name("list_resize", "array_resize", dialects=ONLY_DUCKDB)
def resized(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """LIST_RESIZE(n, size[, value]): shorter, or longer by NULLs or a value."""
    if not 2 <= len(arguments) <= 3:
        raise TypeClash(f"LIST_RESIZE takes 2 to 3 arguments, not {len(arguments)}")
    array, size, *value = arguments
    fill = value[0] if value else Constant(None, element_of(array))
    missing = call("greatest", call("-", size, call("array_size", array)), _ZERO)
    longer = call("flatten", call("array", array, call("array_repeat", fill, missing)))
    return call("slice", longer, _ONE, call("greatest", size, _ZERO))


@reads_name("array_push_back", takes=2, dialects=ONLY_DUCKDB)
def pushed_back(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """ARRAY_PUSH_BACK(n, x): the list with a value behind it; a NULL list has no elements."""
    return call("array_append", _or_empty(arguments[0]), arguments[1])


@reads_name("array_push_front", takes=2, dialects=ONLY_DUCKDB)
def pushed_front(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """ARRAY_PUSH_FRONT(n, x)."""
    return call("array_prepend", _or_empty(arguments[0]), arguments[1])


def _or_empty(array: Expression) -> Expression:
    return array if is_null(array) else call("coalesce", array, empty_array(array.type))


@reads(exp.ArrayAppend, exp.ArrayPrepend, parts="this expression", dialects=ONLY_DUCKDB)
def pushed(b: ExpressionBinder, node: exp.ArrayAppend | exp.ArrayPrepend) -> Expression:
    """LIST_APPEND(n, x) and LIST_PREPEND(x, n)."""
    array, value = b.parts(node, "this", "expression")
    return (pushed_back if isinstance(node, exp.ArrayAppend) else pushed_front)(b, [array, value])


@reads_name("array_pop_back", takes=1, dialects=ONLY_DUCKDB)
def without_last(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """ARRAY_POP_BACK(n)."""
    size = call("array_size", arguments[0])
    return call("slice", arguments[0], _ONE, call("greatest", call("-", size, _ONE), _ZERO))


@reads_name("array_pop_front", takes=1, dialects=ONLY_DUCKDB)
def without_first(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """ARRAY_POP_FRONT(n)."""
    return call("slice", arguments[0], Constant(2, INTEGER), call("array_size", arguments[0]))


@reads(exp.Flatten, dialects=ONLY_DUCKDB)
def flat(b: ExpressionBinder, node: exp.Flatten) -> Expression:
    """FLATTEN(n): lists that are NULL have no elements."""
    return call("flatten", call("array_compact", b.bind(node.this)))


@reads_name("map_extract", "element_at", takes=2, dialects=ONLY_DUCKDB)
def extracted(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """MAP_EXTRACT(m, k): a list of the value, or of nothing."""
    map_, key = arguments
    if map_.type.kind is not Kind.MAP:
        raise TypeClash(f"a map is needed, not {map_.type}", map_, "as in MAP_EXTRACT(MAP {'a': x}, 'a')")
    found = call("array", call("map_value", map_, key))
    known = call("is_null", map_)
    has = call("coalesce", call("map_contains_key", map_, key), Constant(False, BOOLEAN))
    nothing, none = Constant(None, found.type), empty_array(array_of(found.type.element or INTEGER))
    return call("case", known, nothing, has, found, none)


@reads_name("list_has_all", "array_has_all", takes=2, dialects=ONLY_DUCKDB)
def has_all(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """LIST_HAS_ALL(n, m): whether all values of the second list that are no NULL are in the first."""
    whole, part = arguments
    rest = call("array_except", call("array_compact", part), whole)
    return call("=", call("array_size", rest), _ZERO)


def _pairs(one: Sequence[float | None], other: Sequence[float | None]) -> list[tuple[float, float]] | None:
    """The values of two lists by their places; ``None`` of lists of other lengths, or with a NULL."""
    pairs = [(x, y) for x, y in zip(one, other, strict=False) if x is not None and y is not None]
    return pairs if len(pairs) == len(one) == len(other) else None


def _distance(one: Sequence[float | None], other: Sequence[float | None]) -> float | None:
    pairs, total = _pairs(one, other), 0.0
    for x, y in pairs or ():  # one after the other, as DuckDB adds them
        total += (x - y) * (x - y)
    return None if pairs is None else math.sqrt(total)


def _product(one: Sequence[float | None], other: Sequence[float | None]) -> float | None:
    pairs, total = _pairs(one, other), 0.0
    for x, y in pairs or ():
        total += x * y
    return None if pairs is None else total


def _cosine(one: Sequence[float | None], other: Sequence[float | None]) -> float | None:
    """The cosine of the angle between two lists; NULL of a list of zeros, of which there is no angle."""
    dot, one_squared, other_squared = _product(one, other), _product(one, one), _product(other, other)
    if dot is None or not one_squared or not other_squared:
        return None
    return max(-1.0, min(1.0, dot / math.sqrt(one_squared * other_squared)))


def _as_doubles(b: ExpressionBinder, array: Expression) -> Expression:
    """A list of numbers as one of DOUBLEs."""
    if array.type.kind is not Kind.ARRAY or element_of(array) == DOUBLE or not element_of(array).numeric:
        return array
    return spelled(b, "TRANSFORM(n, e -> CAST(e AS DOUBLE))", n=array)


def _of_vectors(b: ExpressionBinder, name: str, vectors: list[Expression]) -> Expression:
    if len(vectors) != 2:
        raise TypeClash(f"{name.upper()} takes 2 arguments, not {len(vectors)}")
    return call(name, *(_as_doubles(b, vector) for vector in vectors))


def _reads_vectors(name: str, *more: str) -> None:
    reads_name(name, *more, dialects=ONLY_DUCKDB)(lambda b, vectors: _of_vectors(b, name, vectors))


_reads_vectors("list_inner_product", "list_dot_product")
_reads_vectors("list_cosine_similarity")


@reads(exp.EuclideanDistance, exp.CosineDistance, parts="this expression", dialects=ONLY_DUCKDB)
def distance(b: ExpressionBinder, node: exp.EuclideanDistance | exp.CosineDistance) -> Expression:
    """LIST_DISTANCE(n, m), and LIST_COSINE_DISTANCE(n, m), which is 1 less the cosine."""
    vectors = b.parts(node, "this", "expression")
    if isinstance(node, exp.EuclideanDistance):
        return _of_vectors(b, "list_distance", vectors)
    return call("-", cast(_ONE, DOUBLE), _of_vectors(b, "list_cosine_similarity", vectors))


@reads(exp.ArrayContainsAll, exp.ArrayContainedBy, parts="this expression", dialects=ONLY_DUCKDB)
def contained(b: ExpressionBinder, node: exp.ArrayContainsAll | exp.ArrayContainedBy) -> Expression:
    """``n @> m``, which is LIST_HAS_ALL(n, m), and ``m <@ n``."""
    sides = b.parts(node, "this", "expression")
    if any(side.type.kind is not Kind.ARRAY for side in sides):
        b.source.refuse("@> and <@ of what is no list", node, "as in n @> [1, 2]")
    return has_all(b, sides if isinstance(node, exp.ArrayContainsAll) else sides[::-1])


@reads_name("list_select", "array_select", takes=2, dialects=ONLY_DUCKDB)
def selected(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """LIST_SELECT(n, places): the elements at places from 1; NULL at places that the list does not have."""
    array, places = arguments
    some = spelled(b, "TRANSFORM(p, i -> CASE WHEN i > 0 THEN ELEMENT_AT(n, i) END)", n=array, p=places)
    has_null = spelled(b, "EXISTS(p, i -> i IS NULL)", p=places)
    return call("case", call("or", has_null, call("is_null", array)), Constant(None, some.type), some)


@reads_name("bit_count", takes=1, dialects=ONLY_DUCKDB)
def ones(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """BIT_COUNT(a): the ones among the bits of the type."""
    if arguments[0].type.kind is not Kind.INTEGER:
        raise TypeClash(f"a whole number is needed, not {arguments[0].type}", arguments[0], "BIT_COUNT(a)")
    return call("ones_of_bits", arguments[0], Constant(arguments[0].type.bits, INTEGER))


DECLARED = [
    function("series(integer, integer, integer, boolean): array<integer>", python=numbers_between),
    function("ones_of_bits(integer, integer): integer", python=lambda value, bits: (value % 2**bits).bit_count()),
    function("list_distance(array<double>, array<double>): double", python=_distance),
    function("list_inner_product(array<double>, array<double>): double", python=_product),
    function("list_cosine_similarity(array<double>, array<double>): double", python=_cosine),
]  # fmt: skip
