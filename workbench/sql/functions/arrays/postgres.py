"""Arrays of PostgreSQL: texts that are arrays, ``||``, ``@>``, and functions that find NULL as any value.

n || 3   n || m   n @> ARRAY[1]   n && '{1,2}'   ARRAY_POSITION(n, 3)   ARRAY_REMOVE(n, NULL)

A NULL before or behind ``||`` is an array of no elements, and one of two is NULL only where both are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import reduce

from sqlglot import exp

from workbench.sql.algebra.coercion import TypeClash, empty_array, is_null, unify
from workbench.sql.algebra.expressions import Call, Constant, Expression
from workbench.sql.algebra.types import BOOLEAN, INTEGER, DataType, Kind, array_of, common_type
from workbench.sql.functions.arrays.arrays import element_of
from workbench.sql.functions.calls import call, cast
from workbench.sql.functions.reading import ExpressionBinder, reads, reads_name
from workbench.sql.syntax.dialects import ONLY_POSTGRES

_ZERO, _ONE = Constant(0, INTEGER), Constant(1, INTEGER)
_TOKEN = re.compile(r'\s*(?:([{},])|"((?:[^"\\]|\\.)*)"|((?:[^{},"\\\s]|\\.)(?:[^{},"\\]|\\.)*))\s*', re.DOTALL)
"""A brace or comma of a text that is an array, an element in quotes, or one without."""
ArrayElements = list["str | ArrayElements | None"]
"""Elements of an array in a text: texts, NULL, and arrays of these."""


def elements_of_text(text: str) -> ArrayElements | None:
    """The elements of a text that is an array, NULL as ``None``; ``None`` of any other text, and where it has bounds.

    Example:
        >>> elements_of_text('{{1,2},{3,NULL}}'), elements_of_text('{"a,b", NULL, "NULL"}'), elements_of_text("{1")
        ([['1', '2'], ['3', None]], ['a,b', None, 'NULL'], None)
    """
    outermost: ArrayElements = []
    open_, at, expects = [outermost], 0, True
    while at < len(text) or at == 0:
        match = _TOKEN.match(text, at)
        if match is None:
            return None
        at, (sign, quoted, plain) = match.end(), match.groups()
        if sign == "{" and expects:
            inner: ArrayElements = []
            open_[-1].append(inner)
            open_.append(inner)
        elif sign == "}" and len(open_) > 1 and (not expects or not open_[-1]):
            open_.pop()
            expects = False
        elif sign == "," and not expects and len(open_) > 1:
            expects = True
        elif sign is None and expects and len(open_) > 1:
            is_none = plain is not None and plain.strip().upper() == "NULL"
            value = quoted if quoted is not None else plain.rstrip()
            open_[-1].append(None if is_none else re.sub(r"\\(.)", r"\1", value, flags=re.DOTALL))
            expects = False
        else:
            return None
    whole = outermost[0] if len(outermost) == 1 and len(open_) == 1 else None
    return whole if isinstance(whole, list) and _depth(whole) is not None else None


def _depth(elements: ArrayElements) -> int | None:
    """How many arrays are in each other; ``None`` where some elements are arrays and others not."""
    depths = {_depth(part) if isinstance(part, list) else 0 for part in elements}
    return None if len(depths) > 1 or None in depths else 1 + (depths or {0}).pop()  # type: ignore[operator]  # no None is left


def array_of_text(b: ExpressionBinder, node: exp.Expr, element: exp.DataType) -> Expression:
    """The array that a constant text is, of elements of a type.

    Raises:
        UnsupportedError: the text is no such array, or an element is not of the type.
    """
    written = elements_of_text(node.name) if isinstance(node, exp.Literal) and node.is_string else None
    if written is None:
        looked_for = f"; {node.sql()} = ANY (x) looks for an element" if isinstance(node, exp.Literal) else ""
        b.source.refuse("a text as an array", node, f"write the array, as in ARRAY[1, 2]{looked_for}")
    type_ = b.bind(exp.cast(exp.Null(), element.copy())).type
    for _ in range((_depth(written) or 1) - 1):
        type_ = array_of(type_)

    def made(elements: ArrayElements, type_: DataType) -> Expression:
        inner = type_.element
        parts = [value(part, inner) for part in elements]
        return call("array", *parts) if parts else empty_array(type_)

    def value(part: str | ArrayElements | None, type_: DataType | None) -> Expression:
        assert type_ is not None
        if isinstance(part, list):
            return made(part, type_)
        if part is None:
            return Constant(None, type_)
        found = b.bind(exp.cast(exp.Literal.string(part), element.copy()))
        found = found if found.type.kind is Kind.DECIMAL else cast(found, type_)
        if is_null(found):
            raise b.source.error(f"'{part}' is no {type_}", node)
        return found

    return made(written, array_of(type_))


def innermost(of: exp.DataType) -> exp.DataType:
    """The type of the elements of an array, which is not an array itself."""
    while of.this == exp.DType.ARRAY and of.expressions:
        of = of.expressions[0]
    return of


def as_array(b: ExpressionBinder, node: exp.Expr, element: DataType) -> Expression:
    """An argument that must be an array: a constant text is read as one, and NULL becomes an array of the element
    type.
    """
    bare = node.unnest()
    if isinstance(bare, exp.Literal) and bare.is_string:
        return array_of_text(b, bare, exp.DataType.build(element.spark, dialect="spark"))
    value = b.bind(bare)
    return Constant(None, array_of(element)) if is_null(value) and value.type.kind is not Kind.ARRAY else value


def is_array(b: ExpressionBinder, node: exp.Expr) -> bool:
    """Whether a side of an operator is an array, which JSON in a text is not."""
    node = node.unnest()
    if isinstance(node, exp.Cast):
        return bool(node.args["to"].this == exp.DType.ARRAY)
    made = isinstance(node, exp.Array | exp.ArrayAgg | exp.StringToArray | exp.ArrayConcat)
    return made or (isinstance(node, exp.Column | exp.Bracket) and b.bind(node).type.kind is Kind.ARRAY)


def _sides(b: ExpressionBinder, left: exp.Expr, right: exp.Expr) -> tuple[Expression, Expression]:
    """Two arrays of one type, of which one may be a constant text."""
    first, second = (left, right) if is_array(b, left) else (right, left)
    array = b.bind(first)
    other = as_array(b, second, element_of(array))
    (array, other), _ = _alike(array, other)
    return (array, other) if first is left else (other, array)


def _alike(*arrays: Expression) -> tuple[tuple[Expression, ...], DataType]:
    """Arrays with elements of their common type.

    Raises:
        TypeClash: there is none.
    """
    wider = _common_type_of(element_of(array) for array in arrays)
    if wider is None:
        raise TypeClash(
            f"arrays of {element_of(arrays[0])} and of {element_of(arrays[1])} do not go together", arrays[1]
        )
    type_ = array_of(wider)
    return tuple(array if array.type == type_ else _of_type(array, type_) for array in arrays), type_


def _common_type_of(types: Iterable[DataType]) -> DataType | None:
    """The common type of one or more; ``None`` where two have none."""
    common, *others = types
    for type_ in others:
        wider = common_type(common, type_)
        if wider is None:
            return None
        common = wider
    return common


def _of_type(array: Expression, type_: DataType) -> Expression:
    assert type_.element is not None
    if is_null(array):
        return Constant(None, type_)
    if array == empty_array(array.type):
        return empty_array(type_)
    known = getattr(array, "function", "") == "array"
    if not known:
        raise TypeClash(f"an array of {element_of(array)} beside one of {type_.element}", array, "CAST it AS an array")
    assert isinstance(array, Call)
    return call("array", *(cast(part, type_.element) for part in array.arguments))


def contains_all(b: ExpressionBinder, left: exp.Expr, right: exp.Expr, is_contained: bool) -> Expression:
    """``n @> m``, and ``n <@ m`` where it is contained: whether each element of one is in the other; NULL is none."""
    whole, part = _sides(b, left, right)
    if is_contained:
        whole, part = part, whole
    found = spelled(b, "FORALL(m, e -> e IS NOT NULL AND ARRAY_CONTAINS(n, e))", m=part, n=call("array_compact", whole))
    return call("case", call("is_null", whole), Constant(None, BOOLEAN), found)


@reads(exp.ArrayOverlaps, parts="this expression", dialects=ONLY_POSTGRES)
def overlaps(b: ExpressionBinder, node: exp.ArrayOverlaps) -> Expression:
    """``n && m``: whether a value that is not NULL is in both."""
    if not (is_array(b, node.this) or is_array(b, node.expression)):
        b.source.refuse("&& of what are no arrays", node, "as in n && ARRAY[1, 2]; between conditions write AND")
    one, other = _sides(b, node.this, node.expression)
    found = spelled(b, "EXISTS(m, e -> e IS NOT NULL AND ARRAY_CONTAINS(n, e))", m=other, n=call("array_compact", one))
    return call("case", call("is_null", one), Constant(None, BOOLEAN), found)


def concatenation_of(b: ExpressionBinder, nodes: list[exp.Expr], values: list[Expression]) -> Expression:
    """``||`` of values at least one of which is an array: of arrays, or of arrays and elements."""
    result, node = values[0], nodes[0]
    for value, its in zip(values[1:], nodes[1:], strict=True):
        if result.type.kind is not Kind.ARRAY and value.type.kind is not Kind.ARRAY:
            raise TypeClash("|| of values before an array", value, "put the array into parentheses: a || (b || n)")
        element = element_of(result if result.type.kind is Kind.ARRAY else value)
        left, right = (_side_as_array(b, *side, element) for side in ((result, node), (value, its)))
        result, node = _concatenated(left, right), its
    return result


def _side_as_array(b: ExpressionBinder, value: Expression, node: exp.Expr, element: DataType) -> Expression:
    """A side of ``||`` as an array: a text in quotes is one, and NULL without a type."""
    node = node.unnest()
    if isinstance(node, exp.Null) or (isinstance(node, exp.Literal) and node.is_string):
        return as_array(b, node, element)
    if value.type.kind is Kind.ARRAY and value.type.element != element.element:
        return value
    return call("array", value)


def _concatenated(left: Expression, right: Expression) -> Expression:
    (left, right), type_ = _alike(left, right)
    if is_null(left) or is_null(right):
        return right if is_null(left) else left
    empty = empty_array(type_)
    filled = [
        side if getattr(side, "function", "") == "array" else call("coalesce", side, empty) for side in (left, right)
    ]
    both = call("flatten", call("array", *filled))
    if filled[0] is left or filled[1] is right:
        return both
    none = call("and", call("is_null", left), call("is_null", right))
    return call("case", none, Constant(None, type_), both)


@reads(exp.ArrayConcat, parts="this expressions", dialects=ONLY_POSTGRES)
@reads(exp.ArrayAppend, parts="this expression", dialects=ONLY_POSTGRES)
def concatenated(b: ExpressionBinder, node: exp.ArrayConcat | exp.ArrayAppend) -> Expression:
    """ARRAY_CAT(n, m) and ARRAY_APPEND(n, v)."""
    nodes = [node.this, *(node.expressions or [node.expression])]
    values = b.parts(node, "this", "expressions", "expression")
    if isinstance(node, exp.ArrayAppend):
        return _appended(values[0], values[1])
    if len(values) < 2:
        raise TypeClash("ARRAY_CAT takes 2 arrays, not 1", values[0], "as in ARRAY_CAT(n, ARRAY[1, 2])")
    return concatenation_of(b, nodes, values)


reads(exp.ArrayPrepend, parts="this expression", dialects=ONLY_POSTGRES)(
    lambda b, node: _appended(b.bind(node.this), b.bind(node.expression), first=True)
)


def _appended(array: Expression, value: Expression, first: bool = False) -> Expression:
    if is_null(array) and array.type.kind is not Kind.ARRAY:
        array = Constant(None, array_of(value.type))
    one = call("array", Constant(None, element_of(array)) if is_null(value) else value)
    return _concatenated(one, array) if first else _concatenated(array, one)


# ---- functions -------------------------------------------------------------------------------------------------------


def spelled(b: ExpressionBinder, sql: str, **values: Expression) -> Expression:
    """An expression over values, as spark writes it."""
    return b.bind_text(sql, values, aggregates=False)


def _compared(array: Expression, *values: Expression) -> tuple[Expression, ...]:
    """An array, and values of the type of its elements."""
    element = element_of(array)
    typed = [Constant(None, element) if is_null(value) else value for value in values]
    wider = _common_type_of([element, *(value.type for value in typed)])
    if wider is None or (wider != element and getattr(array, "function", "") != "array"):
        clash = next(value for value in typed if value.type != element)
        raise TypeClash(f"a value of {clash.type} and elements of {element}", clash, f"CAST it AS {element}")
    return (array if wider == element else _of_type(array, array_of(wider)), *unify(typed)[0])


@reads(exp.ArrayPosition, parts="this expression", dialects=ONLY_POSTGRES)
def position(b: ExpressionBinder, node: exp.ArrayPosition) -> Expression:
    """ARRAY_POSITION(n, v)."""
    return place_in_array(b, *_compared(*b.parts(node, "this", "expression")))


def place_in_array(b: ExpressionBinder, array: Expression, value: Expression) -> Expression:
    """The first place of a value in an array, from 1, also of NULL; NULL where the array does not have it."""
    if is_null(array):
        return Constant(None, INTEGER)
    of_null = spelled(b, "ARRAY_POSITION(TRANSFORM(n, e -> e IS NULL), TRUE)", n=array)
    found = of_null if is_null(value) else call("array_position", array, value)
    if not isinstance(value, Constant):
        found = call("case", call("is_null", value), of_null, found)
    return call("nullif", found, _ZERO)


@reads_name("array_positions", takes=2, dialects=ONLY_POSTGRES)
def positions(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """ARRAY_POSITIONS(n, v): all places, from 1."""
    array, value = _compared(*arguments)
    places = spelled(b, "FILTER(SEQUENCE(1, ARRAY_SIZE(n)), i -> GET(n, i - 1) <=> v)", n=array, v=value)
    is_empty = call("=", call("array_size", array), _ZERO)
    return call("case", is_empty, empty_array(places.type), places)


@reads(exp.ArrayRemove, parts="this expression", dialects=ONLY_POSTGRES)
def removed(b: ExpressionBinder, node: exp.ArrayRemove) -> Expression:
    """ARRAY_REMOVE(n, v): without all elements that are the value, which may be NULL."""
    array, value = _compared(*b.parts(node, "this", "expression"))
    return spelled(b, "FILTER(n, e -> NOT e <=> v)", n=array, v=value)


@reads_name("array_replace", takes=3, dialects=ONLY_POSTGRES)
def replaced(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """ARRAY_REPLACE(n, v, w): w in place of all elements that are v."""
    array, value, by = _compared(*arguments)
    return spelled(b, "TRANSFORM(n, e -> CASE WHEN e <=> v THEN w ELSE e END)", n=array, v=value, w=by)


@reads_name("trim_array", takes=2, dialects=ONLY_POSTGRES)
def shortened(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """TRIM_ARRAY(n, k): without the last k elements, a constant number."""
    array, many = arguments
    if not isinstance(many, Constant) or not isinstance(many.value, int) or many.value < 0:
        raise TypeClash("TRIM_ARRAY takes an array and a constant number, 0 or more", many)
    size = call("array_size", array)
    rest = call("greatest", call("-", size, many), _ZERO)
    return call("case", call("is_null", array), Constant(None, array.type), call("slice", array, _ONE, rest))


@reads_name("array_upper", takes=2, dialects=ONLY_POSTGRES)
def last_place(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """ARRAY_UPPER(n, 1), which is the length, and NULL of no elements."""
    return call("nullif", call("array_size", _outer(arguments)), _ZERO)


@reads_name("array_lower", takes=2, dialects=ONLY_POSTGRES)
def first_place(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """ARRAY_LOWER(n, 1), which is 1, and NULL of no elements."""
    return call("case", call(">", call("array_size", _outer(arguments)), _ZERO), _ONE, Constant(None, INTEGER))


def _outer(arguments: list[Expression]) -> Expression:
    if arguments[1] != _ONE:
        raise TypeClash("the bounds of an inner array", arguments[1], "1 stands for the array")
    return arguments[0]


@reads_name("array_ndims", takes=1, dialects=ONLY_POSTGRES)
def dimensions(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """ARRAY_NDIMS(n), NULL of no elements."""
    depth = 0
    type_: DataType | None = arguments[0].type
    while type_ is not None and type_.kind is Kind.ARRAY:
        depth, type_ = depth + 1, type_.element
    some = call(">", call("array_size", arguments[0]), _ZERO)
    return call("case", some, Constant(depth, INTEGER), Constant(None, INTEGER))


@reads_name("array_fill", takes=2, dialects=ONLY_POSTGRES)
def filled(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """ARRAY_FILL(v, ARRAY[k]): k times the value, a constant number; ARRAY[k, l] is k arrays of l."""
    value, sizes = arguments
    counts = getattr(sizes, "arguments", ()) if getattr(sizes, "function", "") == "array" else ()
    if not counts or not all(isinstance(count, Constant) and isinstance(count.value, int) for count in counts):
        raise TypeClash("ARRAY_FILL takes a value and constant numbers, as in ARRAY_FILL(0, ARRAY[3])", sizes)
    return reduce(lambda inner, count: call("array_repeat", inner, count), reversed(counts), value)
