"""Functions of arrays and maps: the types of their arguments and of their result.

An array stands inside an expression only, as in ``SPLIT(s, ',')[0]``. A lambda ``x -> x + 1`` is a call of ``lambda``
on its variables and its body. A variable is a call of ``variable`` on its name, and no column: it reads no input.

A map is the array of its entries, structs of a key and a value, in the order in which they came. No map has a key
twice, or NULL as a key: Spark raises there. Here ``map_from_entries`` is NULL, and a check (``sql/checks``) stops the
query as long as it has such rows. Of entries that are sure to be a map ``map_of`` makes it.
"""

from __future__ import annotations

from collections.abc import Callable

from workbench.errors import SqlError
from workbench.sql.algebra.coercion import TypeClash, as_exactly, coerce, is_null, refuse_maps, unify
from workbench.sql.algebra.expressions import Call, Constant, Expression
from workbench.sql.algebra.types import BOOLEAN, INTEGER, STRING, DataType, Kind, array_of, common_type, map_of

Arguments = tuple[Expression, ...]
Rule = Callable[[Arguments], tuple[Arguments, DataType]]
Signature = tuple[int, int, Rule, bool]
"""Arguments at least, at most, the types, and whether the result is NULL as soon as one argument is."""

TEXTS = array_of(STRING)
HAS_PLACE = "has_place"
"""Whether an array has an element at a place from 1 on, by which EXPLODE joins rows with places. SQL text has no such
function. The third argument is how many places there are, where the array may have more elements: see ``sql/checks``.
"""
MAP_FROM_ENTRIES, MAP_OF, NO_MAP = "map_from_entries", "map_of", "no_map"
"""The map of an array of entries, NULL where they are none; the map of those that are one; whether they are none."""
_MANY = 10_000


def variable(number: int, type_: DataType) -> Call:
    """The variable of a lambda, by its number among those of the lambdas around it, outer ones first."""
    return Call("variable", (Constant(f"->{number}", STRING),), type_)


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
        hint = hint or "SPLIT(s, ',') makes an array of a text, and ARRAY(a, b) of values"
        raise TypeClash(f"an array is needed, not {array.type}", array, hint)
    return array.type.element


def _array_first(result: Callable[[DataType], DataType], *parameters: DataType | None) -> Rule:
    """An array first, then arguments of these types; ``None`` stands for the type of the elements."""

    def rule(arguments: Arguments) -> tuple[Arguments, DataType]:
        array, *rest = arguments
        element = element_of(array)
        pairs = zip(rest, parameters, strict=False)
        return (array, *(_as_element(a, element) if t is None else coerce(a, t) for a, t in pairs)), result(element)

    return rule


def _with_order(rule: Rule) -> Rule:
    """An array first, whose elements are compared with each other."""

    def checked(arguments: Arguments) -> tuple[Arguments, DataType]:
        element = element_of(arguments[0])
        if not element.ordered:
            raise TypeClash(f"elements of type {element.kind} have no order", arguments[0])
        return rule(arguments)

    return checked


def _compared(rule: Rule) -> Rule:
    """An array whose elements are compared, but have no order."""

    def checked(arguments: Arguments) -> tuple[Arguments, DataType]:
        refuse_maps(arguments[0])
        return rule(arguments)

    return checked


def _as_element(value: Expression, element: DataType) -> Expression:
    if not element.ordered:
        raise TypeClash(f"an element of type {element.kind} is not compared", value)
    return as_exactly(value, element)


def _looked_up(result: DataType | None) -> Rule:
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


def _both_arrays(result: Callable[[DataType], DataType]) -> Rule:
    def rule(arguments: Arguments) -> tuple[Arguments, DataType]:
        elements = [element_of(a) for a in arguments]
        refuse_maps(*arguments)
        if elements[0] != elements[1]:
            raise TypeClash(f"arrays of {elements[0]} and of {elements[1]} do not go together", arguments[1])
        return arguments, result(elements[0])

    return rule


def _texts(result: DataType, *parameters: DataType) -> Rule:
    """Arguments of these types, which may be arrays themselves."""

    def rule(arguments: Arguments) -> tuple[Arguments, DataType]:
        return tuple(coerce(a, t) for a, t in zip(arguments, parameters, strict=False)), result

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


def _tested(result: Callable[[Expression], DataType]) -> Rule:
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


ARRAYS: dict[str, Signature] = {
    "array": (0, _MANY, _array_of_common_type, False),
    "split": (2, 3, _texts(TEXTS, STRING, STRING, INTEGER), True),
    "regexp_extract_all": (3, 3, _texts(TEXTS, STRING, STRING, INTEGER), True),
    "json_object_keys": (1, 1, _texts(TEXTS, STRING), True),
    "sequence": (2, 3, _texts(array_of(INTEGER), INTEGER, INTEGER, INTEGER), True),
    "array_repeat": (2, 2, _repeated, False),
    **dict.fromkeys(("get", "element_at"), (2, 2, _array_first(_element, INTEGER), True)),
    **dict.fromkeys(("array_max", "array_min"), (1, 1, _with_order(_array_first(_element)), True)),
    "array_size": (1, 1, _array_first(_always(INTEGER)), True),
    HAS_PLACE: (2, 3, _array_first(_always(BOOLEAN), INTEGER, INTEGER), True),
    "array_contains": (2, 2, _looked_up(BOOLEAN), True),
    "array_position": (2, 2, _looked_up(INTEGER), True),
    "array_join": (2, 3, _texts(STRING, TEXTS, STRING, STRING), True),
    "sort_array": (2, 2, _with_order(_array_first(_same, BOOLEAN)), True),
    "array_sort": (1, 1, _with_order(_array_first(_same)), True),
    "array_distinct": (1, 1, _compared(_array_first(_same)), True),
    **dict.fromkeys(("array_compact", "array_reverse"), (1, 1, _array_first(_same), True)),
    **dict.fromkeys(("array_append", "array_prepend"), (2, 2, _array_first(_same, None), False)),
    "array_remove": (2, 2, _looked_up(None), True),
    "array_insert": (3, 3, _inserted, False),
    **dict.fromkeys(("array_union", "array_intersect", "array_except"), (2, 2, _both_arrays(_same), True)),
    "arrays_overlap": (2, 2, _both_arrays(_always(BOOLEAN)), True),
    "slice": (3, 3, _array_first(_same, INTEGER, INTEGER), True),
    "flatten": (1, 1, _flattened, True),
    "concat_ws": (1, _MANY, _joined, False),
    "transform": (2, 2, _transformed, False),
    "zip_with": (3, 3, _transformed, False),
    "filter": (2, 2, _tested(lambda array: array.type), False),
    **dict.fromkeys(("exists", "forall"), (2, 2, _tested(_always(BOOLEAN)), False)),
    "aggregate": (3, 3, lambda arguments: (arguments, arguments[1].type), False),
}  # fmt: skip
"""Function -> its signature; the last argument of those from ``transform`` on is a lambda."""


# ---- maps  ----------------------------------------------------------------------------------------------------------


def _of_entries(arguments: Arguments) -> tuple[Arguments, DataType]:
    (entries,) = arguments
    element = entries.type.element if entries.type.kind is Kind.ARRAY else None
    if element is None or len(element.fields) != 2:
        hint = "as in MAP_FROM_ENTRIES(ARRAY(STRUCT('a', 1), STRUCT('b', 2)))"
        raise TypeClash(f"an array of structs of a key and a value is needed, not {entries.type}", entries, hint)
    (_, key), (_, value) = element.fields
    try:
        return arguments, map_of(key, value)
    except SqlError as error:
        raise TypeClash(error.message, entries, error.hint) from None


def _tested_entries(arguments: Arguments) -> tuple[Arguments, DataType]:
    return _of_entries(arguments)[0], BOOLEAN


def _of_map(result: Callable[[DataType, DataType], DataType], with_key: bool = False) -> Rule:
    """A map, and maybe a key; the result from the types of keys and values."""

    def rule(arguments: Arguments) -> tuple[Arguments, DataType]:
        whole = arguments[0]
        if whole.type.kind is not Kind.MAP:
            raise TypeClash(f"a map is needed, not {whole.type}", whole, "MAP('a', 1, 'b', 2) makes one")
        key, value = whole.type.key_and_value
        return (whole, *(as_exactly(a, key) for a in arguments[1:] if with_key)), result(key, value)

    return rule


def _entries(arguments: Arguments) -> tuple[Arguments, DataType]:
    arguments, _ = _of_map(lambda key, value: value)(arguments)
    entry = arguments[0].type.element
    assert entry is not None
    return arguments, array_of(entry)


MAPS: dict[str, tuple[int, int, Rule, bool]] = {
    **dict.fromkeys((MAP_FROM_ENTRIES, MAP_OF), (1, 1, _of_entries, True)),
    NO_MAP: (1, 1, _tested_entries, True),
    "map_entries": (1, 1, _entries, True),
    "map_keys": (1, 1, _of_map(lambda key, value: array_of(key)), True),
    "map_values": (1, 1, _of_map(lambda key, value: array_of(value)), True),
    "map_value": (2, 2, _of_map(lambda key, value: value, with_key=True), True),
    "map_contains_key": (2, 2, _of_map(lambda key, value: BOOLEAN, with_key=True), True),
}
"""Function -> arguments at least, at most, the types, and whether the result is NULL as soon as one argument is."""
