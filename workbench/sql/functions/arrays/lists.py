"""Lists of duckdb, parts of arrays, and casts of arrays: what their calls mean in functions that are there.

LIST_REDUCE(n, (x, y) -> x + y)   LIST_SUM(n)   n[2:3]   [x * 2 FOR x IN n IF x > 1]   n::INT[]   '{1,2}'::INT[]
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from workbench.sql.algebra.coercion import TypeClash, empty_array, is_null
from workbench.sql.algebra.expressions import Call, Constant, Expression
from workbench.sql.algebra.types import DOUBLE, INTEGER, MAX_PRECISION, STRING, Kind, array_of, decimal
from workbench.sql.functions.arrays.arrays import element_of
from workbench.sql.functions.arrays.lambdas import over_pair
from workbench.sql.functions.arrays.postgres import array_of_text, innermost, place_in_array
from workbench.sql.functions.calls import call, cast
from workbench.sql.functions.declaration import COMPARED
from workbench.sql.functions.reading import ExpressionBinder, reads, reads_call, reads_name
from workbench.sql.functions.structs import field
from workbench.sql.functions.texts_of_duckdb import character
from workbench.sql.syntax.dialects import ONLY_DUCKDB

_ZERO, _ONE = Constant(0, INTEGER), Constant(1, INTEGER)


def array_cast(b: ExpressionBinder, node: exp.Cast | exp.TryCast, to: exp.DataType) -> Expression:
    """CAST of an array, element by element; of NULL, and in postgres of a text ``{1,2}``.

    Args:
        b: the text.
        node: the cast.
        to: the type of the elements.

    Raises:
        UnsupportedError: it is of a text that is no such array.
    """
    given: exp.Expr = node.this
    if isinstance(given, exp.Literal) and given.is_string:
        if not b.rules.arrays_have_dimensions:
            b.source.refuse("a text as an array", node, "write the array, as in ARRAY[1, 2]")
        return array_of_text(b, given, innermost(to))
    if to.this == exp.DType.DECIMAL and not to.expressions and isinstance(given, exp.Array) and given.expressions:
        return call("array", *(b.bind(exp.cast(part.copy(), to.copy())) for part in given.expressions))
    element = b.bind(exp.cast(exp.Null(), to.copy())).type
    value = b.bind(given) if not isinstance(given, exp.Array) or not given.expressions else None
    if value is None:
        return call("array", *(cast(b.bind(exp.cast(part.copy(), to.copy())), element) for part in given.expressions))
    if is_null(value):
        return Constant(None, array_of(element))
    if value == empty_array(value.type):
        return empty_array(array_of(element))
    if value.type == array_of(element):
        return value
    if value.type.kind is not Kind.ARRAY:
        b.source.refuse(
            f"the type {node.args['to'].sql()} for a {value.type}", node, "write the array, as in ARRAY(a, b)"
        )
    x = exp.to_identifier("x")
    lambda_ = exp.Lambda(this=exp.cast(x, to.copy()), expressions=[x.copy()])
    return call("transform", value, b.function_body(lambda_, element_of(value)))


@reads(exp.Array, parts="expressions")
def listed(b: ExpressionBinder, node: exp.Array) -> Expression:
    """ARRAY[a, b], and a list comprehension."""
    if len(node.expressions) == 1 and isinstance(node.expressions[0], exp.Comprehension):
        return _comprehension(b, node.expressions[0])
    return call("array", *b.parts(node, "expressions"))


@reads(
    exp.Bracket, parts="this expressions offset returns_list_for_maps", dialects=COMPARED, what="an element of an array"
)
def element(b: ExpressionBinder, node: exp.Bracket) -> Expression:
    """``array[0]``, ELEMENT_AT(array, 1), and ``map['k']``."""
    inner = node.this.unnest()
    if (
        b.rules.arrays_have_dimensions
        and isinstance(node.this, exp.Bracket)
        and _is_slice(inner) is not _is_slice(node)
    ):
        b.source.refuse("a part of an array beside a place", node, "postgres takes [2] for [1:2] there: write both")
    if b.rules.arrays_have_dimensions and isinstance(node.this, exp.Bracket) and _is_slice(node):
        b.source.refuse("a part of an inner array", node, "n[1:2] is a part of the array")
    if b.rules.texts_have_places and len(node.expressions) == 1 and (text := b.bind(node.this)).type == STRING:
        return character(b, text, node)
    if len(node.expressions) == 1 and isinstance(node.expressions[0], exp.Slice) and b.rules.places_from_one:
        return _part_of(b, b.bind(node.this), node.expressions[0])
    array, *place = b.parts(node, "this", "expressions")
    if len(place) != 1:
        b.source.refuse("a part of an array, [...]", node, "SLICE(x, 1, 2) are the first two elements")
    if array.type.kind is Kind.MAP:
        return call("map_value", array, place[0])
    if array.type.kind is Kind.STRUCT:
        return _field_at(b, array, place[0], node)
    if not b.rules.places_from_one:
        return call("element_at" if node.args.get("offset") else "get", array, place[0])
    number = place[0].value if isinstance(place[0], Constant) else None
    if number == 0 and array.type.kind is Kind.ARRAY:
        b.source.note("elements are counted from 1, and [0] is NULL", node, "write [1] for the first")
    if b.rules.arrays_have_dimensions or (isinstance(number, int) and number > 0):
        return call("get", array, call("-", place[0], _ONE))
    return call("element_at", array, place[0])


def _field_at(b: ExpressionBinder, struct: Expression, place: Expression, node: exp.Bracket) -> Expression:
    """``s['x']`` and ``s[1]``: a field of a struct, by its name or its place."""
    if isinstance(place, Constant) and isinstance(place.value, str):
        return field(b, struct, place.value, node)
    if not isinstance(place, Constant) or not isinstance(place.value, int):
        b.source.refuse("a field of a struct by what is no constant", node, "as in s['x'], or s.x")
    if not 1 <= place.value <= len(struct.type.fields):
        raise b.source.error(f"the struct has {len(struct.type.fields)} fields", node, "the first one is s[1]")
    return call("field", struct, Constant(place.value - 1, INTEGER))


def _is_slice(node: exp.Expr) -> bool:
    return any(isinstance(part, exp.Slice) for part in node.expressions)


def _part_of(b: ExpressionBinder, array: Expression, bounds: exp.Slice) -> Expression:
    """``n[2:3]``: the elements from a place to another, both included; in duckdb places below 0 count from the end."""
    if bounds.args.get("step") is not None:
        b.source.refuse("a part of an array in steps", bounds, "n[2:3] has all elements between two places")
    size = call("array_size", array)
    first, last = (None if side is None else b.bind(side) for side in (bounds.this, bounds.expression))
    return _between(b, array, _ONE if first is None else first, size if last is None else last)


def _between(b: ExpressionBinder, array: Expression, first: Expression, last: Expression) -> Expression:
    size = call("array_size", array)

    def place(bound: Expression) -> Expression:
        if b.rules.arrays_have_dimensions:
            return bound
        return call("case", call("<", bound, _ZERO), call("+", call("+", size, bound), _ONE), bound)

    begin, end = call("greatest", place(first), _ONE), call("least", place(last), size)
    length = call("+", call("-", end, begin), _ONE)
    within = call("slice", array, begin, length)
    known = call("not", call("or", *(call("is_null", part) for part in (array, first, last))))
    some = call("case", call(">", length, _ZERO), within, empty_array(array.type))
    return call("case", known, some, Constant(None, array.type))


def _comprehension(b: ExpressionBinder, node: exp.Comprehension) -> Expression:
    """``[x * 2 FOR x IN n IF x > 1]``: TRANSFORM of what FILTER leaves."""
    b.source.refuse_others(node, {"this", "expression", "position", "iterator", "condition"}, "a list comprehension")
    variables = [part for part in (node.expression, node.args.get("position")) if part is not None]
    array = b.bind(node.args["iterator"])
    condition = node.args.get("condition")
    if len(variables) == 1:
        if condition is not None:
            array = call("filter", array, b.function_body(_lambda(variables, condition), element_of(array)))
        return call("transform", array, b.function_body(_lambda(variables, node.this), element_of(array)))
    pairs, types = call("with_places", array), (element_of(array), INTEGER)
    for function, body in (("filter", condition), ("transform", node.this)):
        if body is not None:
            *bound, value = b.function_body(_lambda(variables, body), *types).arguments
            pairs = call(function, pairs, over_pair(bound, value, pairs))
    return pairs


def _lambda(variables: list[exp.Expr], body: exp.Expr) -> exp.Lambda:
    """A lambda over variables that the text calls as it calls columns."""
    names = [variable.name.lower() for variable in variables]

    def named(part: exp.Expr) -> exp.Expr:
        is_one = isinstance(part, exp.Column) and not part.table and part.name.lower() in names
        return part.this if is_one else part

    return exp.Lambda(this=body.transform(named), expressions=[exp.to_identifier(name) for name in names])


for _function, *_names in (("array", "list_pack"), ("element_at", "list_extract", "list_element", "array_extract")):
    reads_name(*_names, dialects=ONLY_DUCKDB)(lambda b, arguments, name=_function: call(name, *arguments))


@reads_call("list_reduce", "array_reduce", "reduce", dialects=ONLY_DUCKDB)
def reduced(b: ExpressionBinder, node: exp.Anonymous) -> Expression:
    """LIST_REDUCE(n, (sum, x[, place]) -> …[, start]); without a start the first element is it."""
    if not 2 <= len(node.expressions) <= 3 or not isinstance(node.expressions[1], exp.Lambda):
        raise b.source.error("LIST_REDUCE takes a list, a lambda of two or three variables and maybe a start", node)
    lambda_ = node.expressions[1]
    array = b.bind(node.expressions[0])
    has_place = len(lambda_.expressions) == 3
    element = element_of(array)
    array = call("with_places", array) if has_place else array
    if len(node.expressions) == 3:
        start, rest = b.bind(node.expressions[2]), array
    else:
        start = call("element_at", array, _ONE)
        start = call("field", start, _ZERO) if has_place else start
        rest = call("slice", array, Constant(2, INTEGER), call("greatest", call("array_size", array), _ONE))
    if start.type.kind is Kind.INTEGER:
        start = cast(start, INTEGER)
    body = b.function_body(lambda_, start.type, element, *[INTEGER] * has_place)
    if has_place:
        total, *variables, value = body.arguments
        pair, value = over_pair(variables, value, array).arguments
        body = Call("lambda", (total, pair, value), value.type)
    if body.type != start.type:
        *variables, value = body.arguments
        if (body.type.kind, body.type.scale) != (start.type.kind, start.type.scale):
            raise b.source.error(f"the start is {start.type}, and the lambda gives {body.type}", lambda_)
        body = Call("lambda", (*variables, cast(value, start.type)), start.type)
    return call("aggregate", rest, start, body)


@reads_name("list_sum", "array_sum", takes=1, dialects=ONLY_DUCKDB)
def summed(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """LIST_SUM(n): NULLs do not count, and the sum of nothing is NULL."""
    total = _sum(b, known := call("array_compact", arguments[0]))
    return cast(total, INTEGER) if element_of(known).kind is Kind.INTEGER else total


@reads_name("list_avg", "array_avg", takes=1, dialects=ONLY_DUCKDB)
def averaged(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """LIST_AVG(n), a DOUBLE."""
    known = call("array_compact", arguments[0])
    return call("/", cast(_sum(b, known), DOUBLE), cast(call("array_size", known), DOUBLE))


def _sum(b: ExpressionBinder, known: Expression) -> Expression:
    """The sum of elements none of which is NULL, with the digits that it may have."""
    element = element_of(known)
    is_exact = element.kind in (Kind.INTEGER, Kind.DECIMAL)
    type_ = decimal(MAX_PRECISION, element.scale) if is_exact else DOUBLE
    names = [exp.to_identifier(name) for name in ("total", "x")]
    added = exp.Add(this=names[0].copy(), expression=names[1].copy())
    *variables, value = b.function_body(exp.Lambda(this=added, expressions=names), type_, element).arguments
    body = Call("lambda", (*variables, cast(value, type_)), type_)
    total = call("aggregate", known, cast(_ZERO, type_), body)
    return call("case", call(">", call("array_size", known), _ZERO), total, Constant(None, total.type))


def _of(make: Callable[[Expression], Expression], *names: str) -> None:
    """Functions of one list."""
    reads_name(*names, takes=1, dialects=ONLY_DUCKDB)(lambda b, arguments: make(arguments[0]))


def _known(array: Expression) -> Expression:
    return call("array_compact", array)


def _at(place: int) -> Callable[[Expression], Expression]:
    return lambda array: call("element_at", array, Constant(place, INTEGER))


_of(lambda array: call("array_size", _known(array)), "list_count", "array_count")
_of(lambda array: call("array_size", call("array_distinct", _known(array))), "list_unique", "array_unique")
_of(lambda array: call("array_reverse", array), "list_reverse", "array_reverse")
_of(_at(1), "list_first", "array_first")
_of(_at(-1), "list_last", "array_last")
_of(lambda array: _at(1)(_known(array)), "list_any_value")


@reads_name("list_slice", "array_slice", takes=3, dialects=ONLY_DUCKDB)
def sliced(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """LIST_SLICE(n, first, last), which is ``n[first:last]``."""
    return _between(b, arguments[0], arguments[1], arguments[2])


@reads_name("list_position", "list_indexof", "array_position", "array_indexof", takes=2, dialects=ONLY_DUCKDB)
def position(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """LIST_POSITION(n, x)."""
    array, value = arguments
    return place_in_array(b, array, value)


@reads(exp.ArrayPosition, parts="this expression", dialects=ONLY_DUCKDB)
def place(b: ExpressionBinder, node: exp.ArrayPosition) -> Expression:
    """ARRAY_POSITION(n, x), which is LIST_POSITION."""
    return place_in_array(b, *b.parts(node, "this", "expression"))


@reads(exp.ArrayDistinct, parts="this check_null", dialects=ONLY_DUCKDB)
def distinct(b: ExpressionBinder, node: exp.ArrayDistinct) -> Expression:
    """LIST_DISTINCT(n): each value once, and no NULL; their order, which duckdb leaves open, is that of the list."""
    return call("array_distinct", _known(b.bind(node.this)))


@reads_name("list_intersect", takes=2, dialects=ONLY_DUCKDB)
def in_both(b: ExpressionBinder, arrays: list[Expression]) -> Expression:
    """LIST_INTERSECT(n, m): the values in both, once; of a NULL behind a list none."""
    one, other = arrays
    if is_null(one) or is_null(other):
        return (
            one if is_null(one) else call("case", call("is_null", one), Constant(None, one.type), empty_array(one.type))
        )
    return call("array_intersect", _known(one), call("coalesce", _known(other), empty_array(other.type)))


@reads(exp.ArrayIntersect, parts="expressions", dialects=ONLY_DUCKDB)
def in_both_by_node(b: ExpressionBinder, node: exp.ArrayIntersect) -> Expression:
    """ARRAY_INTERSECT(n, m), which is LIST_INTERSECT."""
    arrays = b.parts(node, "expressions")
    if len(arrays) != 2:
        raise TypeClash(f"ARRAY_INTERSECT takes 2 arguments, not {len(arrays)}")
    return in_both(b, arrays)


@reads(exp.ArrayOverlaps, parts="this expression", dialects=ONLY_DUCKDB)
def has_any(b: ExpressionBinder, node: exp.ArrayOverlaps) -> Expression:
    """LIST_HAS_ANY(n, m): whether a value that is not NULL is in both."""
    return call("arrays_overlap", *map(_known, b.parts(node, "this", "expression")))


@reads(exp.ArrayConcat, parts="this expressions", dialects=ONLY_DUCKDB)
def concatenated(b: ExpressionBinder, node: exp.ArrayConcat) -> Expression:
    """LIST_CONCAT(n, m, …): a NULL among them has no elements."""
    return _chained(b.parts(node, "this", "expressions"))


@reads_name("list_cat", "array_cat", dialects=ONLY_DUCKDB)
def concatenated_by_name(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """LIST_CAT(n, m, …), which is LIST_CONCAT."""
    if not arguments:
        raise TypeClash("LIST_CAT takes arrays", hint="as in LIST_CAT(a, b)")
    return _chained(arguments)


def _chained(arrays: list[Expression]) -> Expression:
    type_ = next((array.type for array in arrays if not is_null(array)), None)
    if type_ is None:
        return Constant(None, array_of(INTEGER))
    typed = [Constant(None, type_) if is_null(array) else array for array in arrays]
    return call("flatten", call("array", *(call("coalesce", array, empty_array(type_)) for array in typed)))
