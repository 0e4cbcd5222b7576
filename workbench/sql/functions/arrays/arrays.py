"""Functions of arrays, and lambdas.

An array stands inside an expression only, as in ``SPLIT(s, ',')[0]``. A lambda ``x -> x + 1`` is a call of ``lambda``
on its variables and its body. A variable is a call of ``variable`` on its name, and no column: it reads no input.

As all texts of functions they are total: a place that an array does not have is NULL, and so is what Spark raises at,
an array of more elements than ``MOST_ELEMENTS``, or a place 0 where places count from 1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from sqlglot import exp

from workbench.sql.algebra.coercion import TypeClash, as_exactly, coerce, is_null, refuse_maps, unify
from workbench.sql.algebra.expressions import VARIABLE, Call, Constant, Expression
from workbench.sql.algebra.hints import SPLITS, fields_hint
from workbench.sql.algebra.types import BOOLEAN, INTEGER, STRING, DataType, Kind, array_of, common_type
from workbench.sql.functions.calls import call
from workbench.sql.functions.declaration import COMPARED, Arguments, TypeRule, each, function
from workbench.sql.functions.order_of_parts import sorted_parts
from workbench.sql.functions.reading import ExpressionBinder, reads
from workbench.sql.functions.size_limits import MOST_SIZES
from workbench.sql.functions.times.time_series import series_of_times
from workbench.sql.syntax.dialects import ONLY_DUCKDB, SPARK_FAMILY

MOST_ELEMENTS = MOST_SIZES["sequence"]
"""Elements of an array that ``sequence`` or ``array_repeat`` makes."""
_NEAR = f"try_subtract({{1}}, {{0}}) between {1 - MOST_ELEMENTS} and {MOST_ELEMENTS - 1}"
_FEW = f"abs(cast(try_subtract({{1}}, {{0}}) as decimal(20,0))) < {MOST_ELEMENTS} * abs(cast({{2}} as decimal(20,0)))"
"""Whether a sequence with a step, which may be long, has at most as many elements."""
_FORWARD = "({2} > 0 and {0} <= {1} or {2} < 0 and {0} >= {1})"
TEXTS = array_of(STRING)
HAS_PLACE = "has_place"
"""Whether an array has an element at a place from 1 on, by which EXPLODE joins rows with places. SQL text has no such
function. The third argument is how many places there are, where the array may have more elements: see ``sql/checks``.
"""


def variable(number: int, type_: DataType) -> Call:
    """The variable of a lambda, by its number among the variables of the lambdas around it, outer ones first."""
    return Call("variable", (Constant(f"{VARIABLE}{number}", STRING),), type_)


def element_of(array: Expression) -> DataType:
    """The type of an array's elements.

    Raises:
        TypeClash: it is no array.

    Example:
        >>> str(element_of(Constant(None, TEXTS)))
        'string'
    """
    if array.type.element is None or array.type.kind is not Kind.ARRAY:
        hint = "MAP_ENTRIES(m), MAP_KEYS(m) and MAP_VALUES(m) are arrays" if array.type.kind is Kind.MAP else None
        hint = fields_hint(array.type) if array.type.kind is Kind.STRUCT else hint
        if array.type.kind is Kind.STRING:
            hint = f"{SPLITS}; SUBSTRING(s, 1, 3) is a part of one"
        hint = hint or f"{SPLITS}, and ARRAY(a, b) of values"
        raise TypeClash(f"an array is needed, not {array.type}", array, hint)
    return array.type.element


def _array_first(result: Callable[[DataType], DataType], *parameters: DataType | None) -> TypeRule:
    """An array as the first argument, then arguments of these types; ``None`` means the type of the elements."""

    def rule(arguments: Arguments) -> tuple[Arguments, DataType]:
        array, *rest = arguments
        element = element_of(array)
        pairs = zip(rest, parameters, strict=False)
        return (array, *(_as_element(a, element) if t is None else coerce(a, t) for a, t in pairs)), result(element)

    return rule


def _with_order(rule: TypeRule) -> TypeRule:
    """An array first, whose elements are compared with each other."""

    def checked(arguments: Arguments) -> tuple[Arguments, DataType]:
        element = element_of(arguments[0])
        if not element.ordered:
            raise TypeClash(f"elements of type {element.kind} have no order", arguments[0])
        return rule(arguments)

    return checked


def _compared(rule: TypeRule) -> TypeRule:
    """An array whose elements are compared, but have no order."""

    def checked(arguments: Arguments) -> tuple[Arguments, DataType]:
        refuse_maps(arguments[0])
        return rule(arguments)

    return checked


def _as_element(value: Expression, element: DataType) -> Expression:
    if not element.ordered:
        raise TypeClash(f"an element of type {element.kind} is not compared", value)
    return as_exactly(value, element)


def _looked_up(result: DataType | None) -> TypeRule:
    """An array, and a value that is compared with its elements; the result, or an array as the first.

    Of an array whose elements are listed they become as wide as the value.
    """

    def rule(arguments: Arguments) -> tuple[Arguments, DataType]:
        array, value = arguments
        wider = common_type(element_of(array), value.type)
        if isinstance(array, Call) and array.function == "array" and wider not in (None, array.type.element):
            (*elements, value), type_ = unify((*array.arguments, value))
            array = Call("array", tuple(elements), array_of(type_))
        return (array, _as_element(value, element_of(array))), result or array.type

    return rule


def _both_arrays(result: Callable[[DataType], DataType]) -> TypeRule:
    def rule(arguments: Arguments) -> tuple[Arguments, DataType]:
        elements = [element_of(a) for a in arguments]
        refuse_maps(*arguments)
        if elements[0] != elements[1]:
            raise TypeClash(f"arrays of {elements[0]} and of {elements[1]} do not go together", arguments[1])
        return arguments, result(elements[0])

    return rule


def _array_of_common_type(arguments: Arguments) -> tuple[Arguments, DataType]:
    values, type_ = unify(arguments) if arguments else ((), STRING)
    return values, array_of(type_)


def _repeated(arguments: Arguments) -> tuple[Arguments, DataType]:
    return (arguments[0], coerce(arguments[1], INTEGER)), array_of(arguments[0].type)


def _flattened(arguments: Arguments) -> tuple[Arguments, DataType]:
    inner = element_of(arguments[0])
    if inner.kind is not Kind.ARRAY:
        raise TypeClash("FLATTEN needs an array of arrays", arguments[0])
    return arguments, inner


def _joined(arguments: Arguments) -> tuple[Arguments, DataType]:
    """CONCAT_WS: a separator, then texts and arrays of texts."""
    return tuple(a if a.type == TEXTS else coerce(a, STRING) for a in arguments), STRING


def _inserted(arguments: Arguments) -> tuple[Arguments, DataType]:
    array, place, value = arguments
    return (array, coerce(place, INTEGER), _as_element(value, element_of(array))), array.type


def _transformed(arguments: Arguments) -> tuple[Arguments, DataType]:
    return arguments, array_of(arguments[-1].type)


def _tested(result: Callable[[Expression], DataType]) -> TypeRule:
    """An array, and a lambda that is a condition."""

    def rule(arguments: Arguments) -> tuple[Arguments, DataType]:
        array, body = arguments
        if body.type != BOOLEAN and not is_null(body):
            raise TypeClash(f"type clash: a condition is needed, not {body.type}", body)
        return arguments, result(array)

    return rule


def _same(element: DataType) -> DataType:
    return array_of(element)


def _element(element: DataType) -> DataType:
    return element


def _always(type_: DataType) -> Callable[[object], DataType]:
    return lambda of: type_


def _array(call: Call, arguments: Sequence[str]) -> str:
    """ARRAY, also of no elements, of which Spark knows no type."""
    array = f"array({', '.join(arguments)})"
    return array if arguments else f"cast({array} as {call.type.spark})"


def _split(call: Call, arguments: Sequence[str]) -> str:
    """SPLIT with a limit of parts."""
    text, pattern, *limit = arguments
    return f"split({', '.join([text, pattern, *(f'try_cast({n} as int)' for n in limit)])})"


def _sequence(call: Call, arguments: Sequence[str]) -> str:
    """SEQUENCE, whose step must lead from one end to the other."""
    if len(arguments) == 2:
        return f"(case when {_NEAR} then sequence({{0}}, {{1}}) end)".format(*arguments)
    return f"(case when {_FEW} and {_FORWARD} then sequence({{0}}, {{1}}, {{2}}) end)".format(*arguments)


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


@reads(exp.GenerateSeries, parts="start end step is_end_exclusive", dialects=SPARK_FAMILY)
def sequence(b: ExpressionBinder, node: exp.GenerateSeries) -> Expression:
    """SEQUENCE(a, b[, step]); GENERATE_SERIES has no such name in Spark."""
    if node.args.get("is_end_exclusive"):
        b.source.refuse("RANGE but in FROM", node, "SEQUENCE(1, 9) is an array")
    if (b.source.called(node) or "").upper() == "GENERATE_SERIES":
        b.source.refuse(
            "GENERATE_SERIES in spark", node, "SEQUENCE(a, b) is an array, and EXPLODE(SEQUENCE(a, b)) its rows"
        )
    return series_of_times(b, node) or call("sequence", *b.parts(node, "start", "end", "step"))


@reads(exp.RegexpSplit, parts="this expression limit", dialects=SPARK_FAMILY)
def split(b: ExpressionBinder, node: exp.RegexpSplit) -> Expression:
    """SPLIT(text, pattern), whose pattern is a constant of Java."""
    subject, pattern, *limit = b.parts(node, "this", "expression", "limit")
    if not (isinstance(pattern, Constant) and isinstance(pattern.value, str)):
        b.source.refuse("a pattern that is not a constant string", node.expression)
    try:
        re.compile(pattern.value)
    except re.error as error:
        raise b.source.error(f"not a regular expression: {error}", node.expression, "write \\\\| for |") from None
    return call("split", subject, pattern, *limit)


@reads(exp.ArraySort, parts="this expression asc nulls_first", dialects=SPARK_FAMILY | ONLY_DUCKDB)
def sorted_(b: ExpressionBinder, node: exp.ArraySort) -> Expression:
    """SORT_ARRAY(array, ascending), NULLs first when ascending; ARRAY_SORT(array), NULLs last; LIST_SORT in duckdb."""
    if node.expression is not None:
        b.source.refuse("ARRAY_SORT with a lambda", node.expression, "SORT_ARRAY(x, false) sorts down")
    array = b.bind(node.this)
    ascending, nulls_first = node.args.get("asc"), node.args.get("nulls_first")
    element = array.type.element
    if ascending is None and nulls_first is not None and not nulls_first.this and (not element or element.ordered):
        return call("array_sort", array)
    up = b.bind(ascending) if ascending is not None else Constant(True, BOOLEAN)
    if not isinstance(up, Constant) or not isinstance(up.value, bool):
        b.source.refuse("a direction that is no constant", node)
    if nulls_first is None or nulls_first.this == up.value:
        return sorted_parts(array, up.value, b.source)
    known = call("array_compact", array)
    nulls = call("array_repeat", Constant(None, element_of(array)), _difference_of_sizes(array, known))
    parts = (nulls, sorted_parts(known, up.value, b.source))
    return call("flatten", call("array", *(parts if nulls_first.this else parts[::-1])))


def _difference_of_sizes(one: Expression, other: Expression) -> Expression:
    return call("-", call("array_size", one), call("array_size", other))


@reads(exp.Reverse, dialects=SPARK_FAMILY)
def reverse(b: ExpressionBinder, node: exp.Reverse) -> Expression:
    """REVERSE of a text or an array."""
    value = b.bind(node.this)
    return call("array_reverse" if value.type.kind is Kind.ARRAY else "reverse", value)


DECLARED = [
    function("array([value...])", _array, rule=_array_of_common_type, of_null=True),
    function("split(string, string[, integer]): array<string>", _split),
    function("regexp_extract_all(string, string, integer): array<string>", "regexp_extract_all({0}, {1}, {int2})",
             costly=True),
    function("json_object_keys(string): array<string>", costly=True),
    function("sequence(integer, integer[, integer]): array<integer>", _sequence),
    function("array_repeat(value, count)",
             f"(case when {{1}} <= {MOST_ELEMENTS} then array_repeat({{0}}, {{int1}}) end)",
             rule=_repeated, of_null=True, names="array_repeat"),
    function("get(array, place)", "get({0}, {int1})", rule=_array_first(_element, INTEGER), names="get"),
    function("element_at(array, place)", "(case when {1} <> 0 then try_element_at({0}, {int1}) end)",
             rule=_array_first(_element, INTEGER)),
    function("array_max(array)", rule=_with_order(_array_first(_element)), nodes=[exp.ArrayMax],
             dialects=SPARK_FAMILY | ONLY_DUCKDB),
    function("array_min(array)", rule=_with_order(_array_first(_element)), nodes=[exp.ArrayMin],
             dialects=SPARK_FAMILY | ONLY_DUCKDB),
    function("array_size(array)", "cast(array_size({0}) as bigint)", rule=_array_first(_always(INTEGER))),
    function(f"{HAS_PLACE}(array, place[, count])", "({1} <= array_size({0}))",
             rule=_array_first(_always(BOOLEAN), INTEGER, INTEGER)),
    function("array_contains(array, value)", rule=_looked_up(BOOLEAN)),
    function("array_position(array, value)", rule=_looked_up(INTEGER), nodes=[exp.ArrayPosition]),
    function("array_join(array<string>, string[, string]): string"),
    function("sort_array(array, ascending)", rule=_with_order(_array_first(_same, BOOLEAN))),
    function("array_sort(array)", rule=_with_order(_array_first(_same))),
    function("array_distinct(array)", rule=_compared(_array_first(_same)), nodes=[exp.ArrayDistinct]),
    function("array_compact(array)", rule=_array_first(_same), nodes=[exp.ArrayCompact]),
    function("array_reverse(array)", "reverse({0})", rule=_array_first(_same)),
    function("array_append(array, element)", rule=_array_first(_same, None), of_null=True, nodes=[exp.ArrayAppend]),
    function("array_prepend(array, element)", rule=_array_first(_same, None), of_null=True, nodes=[exp.ArrayPrepend]),
    function("array_remove(array, element)", rule=_looked_up(None), nodes=[exp.ArrayRemove]),
    function("array_insert(array, place, element)",
             f"(case when {{1}} <> 0 and abs({{1}}) <= {MOST_ELEMENTS} then array_insert({{0}}, {{int1}}, {{2}}) end)",
             rule=_inserted, of_null=True, nodes=[exp.ArrayInsert]),
    function("array_union(array, array)", rule=_both_arrays(_same), names="array_union"),
    function("array_intersect(array, array)", rule=_both_arrays(_same), nodes=[exp.ArrayIntersect],
             parts="expressions"),
    function("array_except(array, array)", rule=_both_arrays(_same), nodes=[exp.ArrayExcept]),
    function("arrays_overlap(array, array)", rule=_both_arrays(_always(BOOLEAN)), names="arrays_overlap"),
    function("slice(array, start, length)",
             "(case when {1} <> 0 and {2} >= 0 then slice({0}, {int1}, {int2}) end)",
             rule=_array_first(_same, INTEGER, INTEGER), nodes=[exp.ArraySlice]),
    function("flatten(array)", rule=_flattened, nodes=[exp.Flatten]),
    function("concat_ws(separator[, text...])", rule=_joined, of_null=True, nodes=[exp.ConcatWs], parts="expressions",
             dialects=COMPARED),
    # The last argument is a lambda, and the one before it of AGGREGATE a start.
    function("transform(array, lambda)", rule=_transformed, of_null=True),
    function("zip_with(array, array, lambda)", rule=_transformed, of_null=True),
    function("filter(array, lambda)", rule=_tested(lambda array: array.type), of_null=True),
    *each("exists forall", "(array, lambda)", rule=_tested(_always(BOOLEAN)), of_null=True),
    function("aggregate(array, start, lambda)", rule=lambda arguments: (arguments, arguments[1].type), of_null=True),
    function("lambda(variable, body...)", _lambda, rule=lambda arguments: (arguments, arguments[-1].type),
             of_null=True),
    function("variable(name)", _variable, rule=lambda arguments: (arguments, STRING), of_null=True),
]  # fmt: skip
