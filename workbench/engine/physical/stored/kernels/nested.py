"""Kernels of arrays, structs and maps: they take lists and structs of Arrow, and maps as lists of their entries.

Stored are these as texts, which the walk of ``table`` reads before, and writes after the outermost of such functions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.nested import arrow_in_json, offsets, with_elements
from workbench.arrow.python_values import over_columns
from workbench.arrow.types import filled
from workbench.engine.physical.stored.expressions import COMPARABLE_KINDS, compare
from workbench.engine.physical.stored.kernels.kernel import ComputeValues, Kernel, constant_integer, constant_text
from workbench.engine.storage.grouping import Positions
from workbench.sql.algebra.expressions import VARIABLE, Call, Constant, Expression, columns
from workbench.sql.algebra.types import DataType, Kind
from workbench.sql.functions.arrays.arrays import MOST_ELEMENTS
from workbench.sql.functions.json_writers import IN_SPARK
from workbench.sql.predicates.cnf import Operator

_LITERAL = re.compile(r"(?:[A-Za-z0-9_ \-,;:/@#%&=<>!~\"'`]|\\[.\-+*?()\[\]{}|^$/])+")
"""Patterns that match nothing but one text."""

_INT = 2**31


def _of_parts(compute: ComputeValues, accepts: Callable[[Call], bool] = lambda call: True) -> Kernel:
    """A kernel of values with parts."""
    return Kernel(compute, accepts, nested=True)


def _is_compared(call: Call) -> bool:
    """Whether the elements of the first argument are compared as Spark compares them."""
    element = call.arguments[0].type.element
    compared = element.fields[0][1] if element is not None and call.arguments[0].type.kind is Kind.MAP else element
    return compared is not None and compared.kind in COMPARABLE_KINDS and not compared.zoned


def _owners(lists: pa.ListArray) -> Positions:
    """The list that each element is of."""
    return np.repeat(np.arange(len(lists)), np.diff(offsets(lists)))


def _of_one_place(compute: ComputeValues) -> Kernel:
    """A kernel that looks at one place of each list, so that lists that rows share need not be copied for each."""
    return Kernel(compute, lambda call: True, nested=True, shares_lists=True)


def _distinct(lists: pa.ListArray | pa.DictionaryArray) -> pa.ListArray:
    """The lists that there are, of which rows may share one."""
    return lists.dictionary if isinstance(lists, pa.DictionaryArray) else lists


def _of_rows(lists: pa.ListArray | pa.DictionaryArray, values: pa.Array) -> pa.Array:
    """The value of each row, which is that of its list."""
    return values.take(lists.indices) if isinstance(lists, pa.DictionaryArray) else values


def _spans(lists: pa.ListArray | pa.DictionaryArray) -> tuple[Positions, Positions]:
    """For each row where the elements of its list begin, and how many there are."""
    ends = offsets(_distinct(lists)).astype(np.int64)
    begins, lengths = (_of_rows(lists, pa.array(values)).to_numpy() for values in (ends[:-1], np.diff(ends)))
    return begins, lengths


def _at(lists: pa.ListArray, elements: pa.Array, places: Positions) -> pa.Array:
    """The element at a place of each list, from 0 on; NULL where it has none."""
    begins, lengths = _spans(lists)
    has = (places >= 0) & (places < lengths)
    return elements.take(pa.array(np.where(has, begins + places, 0), mask=~has))


def _element(lists: pa.ListArray | pa.DictionaryArray, places: Positions) -> pa.Array:
    return _at(lists, pc.list_flatten(_distinct(lists)), places)


def _numbers(values: pa.Array, nothing: int) -> Positions:
    """Whole numbers, ``nothing`` of NULL."""
    return filled(values, nothing).to_numpy(zero_copy_only=False)


def _part(lists: pa.ListArray, chosen: Positions, lengths: Positions, missing: pa.Array | None = None) -> pa.ListArray:
    """Lists of chosen elements of other lists.

    Args:
        lists: the others.
        chosen: the places of the elements among those of all lists.
        lengths: how many of them are in each list.
        missing: which are NULL; those of ``lists`` where that is not given.
    """
    ends = pa.array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))
    mask = missing if missing is not None else lists.is_null() if lists.null_count else None
    return pa.ListArray.from_arrays(ends, pc.list_flatten(lists).take(pa.array(chosen)), mask=mask)


def _kept(lists: pa.ListArray, keeps: npt.NDArray[np.bool_]) -> pa.ListArray:
    """Lists without the elements that are not kept."""
    return _part(lists, np.flatnonzero(keeps), np.bincount(_owners(lists)[keeps], minlength=len(lists)))


def _field(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    return pc.struct_field(arguments[0], [constant_integer(call, 1) or 0])


def _get(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    lists, places = arguments
    return _element(lists, _numbers(places, -1))


def _element_at(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """From 1 on, or from the end."""
    lists, places = arguments
    asked = _numbers(places, 0)
    return _element(lists, np.where(asked < 0, _spans(lists)[1] + asked, asked - 1))


def _size(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    return pc.list_value_length(arguments[0]).cast(pa.int64())


def _has_place(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    lists, places, *_ = arguments
    return pc.less_equal(places, _of_rows(lists, _size(call, [_distinct(lists)])))


def _first_equal(lists: pa.ListArray, elements: pa.Array, values: pa.Array) -> Positions:
    """The place of the first element that is equal to the value of its list, from 0 on; -1 where none is."""
    owners = _owners(lists)
    equal = filled(compare(Operator.EQ, elements, values.cast(elements.type).take(pa.array(owners))), False)
    at = np.flatnonzero(equal.to_numpy(zero_copy_only=False))
    found = np.full(len(lists), -1, np.int64)
    found[owners[at[::-1]]] = at[::-1] - offsets(lists)[owners[at[::-1]]]
    return found


def _asked(lists: pa.ListArray, values: pa.Array) -> pa.Array:
    return pc.and_(lists.is_valid(), values.is_valid())


def _contains(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """NULL where only a NULL may be the value."""
    lists, values = arguments
    elements = pc.list_flatten(lists)
    found = _first_equal(lists, elements, values) >= 0
    unknown = np.zeros(len(lists), bool)
    unknown[_owners(lists)[np.asarray(elements.is_null())]] = True
    return pc.if_else(_asked(lists, values), pa.array(found, mask=unknown & ~found), None)


def _position(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    lists, values = arguments
    return pc.if_else(_asked(lists, values), pa.array(_first_equal(lists, pc.list_flatten(lists), values) + 1), None)


def _codes(*lists: pa.ListArray) -> list[Positions]:
    """A number for each element of arrays: the same for equal ones of one row, also of NULLs, which are below 0."""
    encoded = pa.concat_arrays([pc.list_flatten(own) for own in lists]).dictionary_encode()
    owners = np.concatenate([_owners(own) for own in lists])
    known = owners * len(encoded.dictionary) + _numbers(encoded.indices.cast(pa.int64()), 0)
    codes = np.where(np.asarray(encoded.is_null()), -1 - owners, known)
    return np.split(codes, np.cumsum([len(pc.list_flatten(own)) for own in lists[:-1]]))


def _as_set(*known: bool) -> ComputeValues:
    """The elements of an array, each once; of two arrays those that the other one has, or has not (``known``)."""

    def compute(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
        lists, *others = arguments
        own, *further = _codes(*arguments)
        keeps = np.zeros(len(own), bool)
        keeps[np.unique(own, return_index=True)[1]] = True
        for codes, has in zip(further, known, strict=True):
            keeps &= np.isin(own, codes) == has
        for other in others:
            keeps &= np.asarray(other.is_valid())[_owners(lists)]
        missing = pc.invert(_asked(lists, *others)) if others else None
        return _part(lists, np.flatnonzero(keeps), np.bincount(_owners(lists)[keeps], minlength=len(lists)), missing)

    return compute


def _overlap(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """NULL where only a NULL may be in both."""
    both = [_owners(lists) for lists in arguments]
    codes = _codes(*arguments)
    found, unknown = np.zeros(len(arguments[0]), bool), np.zeros(len(arguments[0]), bool)
    found[both[0][np.isin(codes[0], codes[1][codes[1] >= 0])]] = True
    for owners, own in zip(both, codes, strict=True):
        unknown[owners[own < 0]] = True
    for lists in arguments:
        unknown &= np.diff(offsets(lists)) > 0
    return pc.if_else(_asked(*arguments), pa.array(found, mask=unknown & ~found), None)


def _is_encoded(call: Call) -> bool:
    """Whether equal elements are the same: of DOUBLE, 0.0 and -0.0 are two."""
    element = call.arguments[0].type.element
    return _is_compared(call) and element is not None and element.kind is not Kind.DOUBLE


def _map_value(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    maps, keys = arguments
    entries = pc.list_flatten(maps)
    place = _first_equal(maps, pc.struct_field(entries, [0]), keys)
    return _at(maps, pc.struct_field(entries, [1]), place)


def _contains_key(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    maps, keys = arguments
    found = _first_equal(maps, pc.struct_field(pc.list_flatten(maps), [0]), keys) >= 0
    return pc.if_else(_asked(maps, keys), pa.array(found), None)


def _side(place: int) -> ComputeValues:
    """The keys, or the values, of maps."""
    return lambda call, arguments: with_elements(arguments[0], pc.struct_field(pc.list_flatten(arguments[0]), [place]))


def _ordered(lists: pa.ListArray) -> pa.ListArray:
    """Lists with their elements in order, NaN after all numbers, NULL last."""
    table = pa.table({"of": _owners(lists), "value": pc.list_flatten(lists)})
    order = pc.sort_indices(table, [("of", "ascending"), ("value", "ascending")])
    return _part(lists, order.to_numpy().astype(np.int64), np.diff(offsets(lists)))


def _least(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    ordered = _ordered(arguments[0])
    return _at(ordered, pc.list_flatten(ordered), np.zeros(len(ordered), np.int64))


def _greatest(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    ordered = _ordered(_compact(call, arguments))
    return _at(ordered, pc.list_flatten(ordered), np.diff(offsets(ordered)) - 1)


def _reverse(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    (lists,) = arguments
    begins = offsets(lists).astype(np.int64)
    owners = _owners(lists)
    return _part(lists, begins[owners] + begins[owners + 1] - 1 - np.arange(len(owners)), np.diff(begins))


def _compact(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    return _kept(arguments[0], np.asarray(pc.list_flatten(arguments[0]).is_valid()))


def _sequence(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """Numbers from one to another; NULL where these are far apart, or the step does not lead there."""
    known = np.logical_and.reduce([np.asarray(argument.is_valid()) for argument in arguments])
    start, end, *steps = (_numbers(argument, 0) for argument in arguments)
    distance = end - start
    known &= ((distance < 0) == (end < start)) & (distance > -MOST_ELEMENTS) & (distance < MOST_ELEMENTS)  # it fits
    # Longer steps than that lead nowhere, and their number of 64 bits need not have a positive one.
    step = np.clip(steps[0], -MOST_ELEMENTS, MOST_ELEMENTS) if steps else np.where(distance < 0, -1, 1)
    known &= ((step > 0) & (distance >= 0)) | ((step < 0) & (distance <= 0))
    counts = np.where(known, np.abs(distance) // np.maximum(np.abs(step), 1) + 1, 0)
    ends = np.cumsum(counts)
    places = np.arange(counts.sum()) - np.repeat(ends - counts, counts)
    values = pa.array(np.repeat(start, counts) + places * np.repeat(step, counts))
    return pa.ListArray.from_arrays(pa.array(np.append(0, ends).astype(np.int32)), values, mask=pa.array(~known))


def _flatten(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """The elements of all arrays of an array; NULL where one of these is."""
    (lists,) = arguments
    inner, owners = pc.list_flatten(lists), _owners(lists)
    lengths = np.bincount(owners, np.diff(offsets(inner)), len(lists)).astype(np.int32)
    missing = np.bincount(owners, np.asarray(inner.is_null()), len(lists)) > 0
    begins = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    mask = pa.array(missing | np.asarray(lists.is_null()))
    return pa.ListArray.from_arrays(pa.array(begins), pc.list_flatten(inner), mask=mask)


def _slice(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """Elements from a place on, from 1 or from the end; NULL from 0 on, or of less than no elements."""
    lists, starts, counts = arguments
    begins = offsets(lists).astype(np.int64)
    lengths, start, count = np.diff(begins), _numbers(starts, 0), _numbers(counts, -1)
    # Positions are numbers of 32 bits in Spark.
    known = np.asarray(lists.is_valid()) & (start != 0) & (start >= -_INT) & (start < _INT)
    known &= (count >= 0) & (count < _INT)
    first = np.where(start > 0, start - 1, lengths + start)
    taken = np.where(known & (first >= 0) & (first < lengths), np.minimum(count, lengths - first), 0)
    ends = np.cumsum(taken)
    places = np.repeat(begins[:-1] + first - (ends - taken), taken) + np.arange(taken.sum())
    return _part(lists, places, taken, pa.array(~known))


def _join(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """NULL among the elements is left out, or has a text."""
    lists, separators, *instead = arguments
    if instead:
        texts = pc.coalesce(pc.list_flatten(lists), instead[0].take(pa.array(_owners(lists))))
        lists, separators = with_elements(lists, texts), pc.if_else(instead[0].is_valid(), separators, None)
    else:
        lists = _compact(call, [lists])
    return pc.binary_join(lists, separators)


def _split(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    return pc.split_pattern(arguments[0], re.sub(r"\\(.)", r"\1", constant_text(call, 1) or ""))


def _is_split(call: Call) -> bool:
    return len(call.arguments) == 2 and _LITERAL.fullmatch(constant_text(call, 1) or "") is not None


def _array(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    assert call.type.element is not None
    count, rows = len(arguments), len(arguments[0])
    element = arrow_in_json(call.type.element)
    every = pa.concat_arrays([argument.cast(element) for argument in arguments])
    turned = np.arange(count * rows).reshape(count, rows).T.ravel()
    ends = np.arange(rows + 1, dtype=np.int32) * count
    return pa.ListArray.from_arrays(pa.array(ends), every.take(pa.array(turned)))


def _struct(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    arrow = arrow_in_json(call.type)
    parts = [argument.cast(field.type) for argument, field in zip(arguments, arrow, strict=True)]
    return pa.StructArray.from_arrays(parts, fields=[*arrow])


def _map_of(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """The map of entries that have each key once."""
    (entries,) = arguments
    assert call.type.element is not None
    arrow = arrow_in_json(call.type.element)
    sides = [pc.struct_field(pc.list_flatten(entries), [at]).cast(arrow[at].type) for at in (0, 1)]
    return with_elements(entries, pa.StructArray.from_arrays(sides, fields=[*arrow]))


def _to_json(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    write = IN_SPARK.of(str(call.arguments[0].type))
    return over_columns(write, True, arguments, pa.string())


def _is_written(type_: DataType) -> bool:
    """Whether values of a type are written as Spark writes them: no DOUBLE, of which Java has more digits."""
    if type_.kind in (Kind.DOUBLE, Kind.BINARY) or type_.zoned or type_.counted:
        return False
    inner = [type_.element] if type_.element is not None else [of for _, of in type_.fields]
    return all(map(_is_written, inner))


def rows_of_elements(lists: pa.ListArray, of_elements: Call, rows: pa.RecordBatch) -> pa.RecordBatch:
    """The rows over which the body of a lambda is evaluated: one for each element, with the columns that it reads.

    Args:
        lists: one for each row, with the elements.
        of_elements: the lambda, of one variable.
        rows: with the columns, and the variables of the lambdas around.
    """
    variable, body = of_elements.arguments
    read = {column.name for column in columns(body)}
    names = [name for name in rows.schema.names if name in read or name.startswith(VARIABLE)]
    outer = rows.select(names).take(pa.array(_owners(lists)))
    return pa.RecordBatch.from_arrays([*outer.columns, pc.list_flatten(lists)], [*names, variable_name(variable)])


def variable_name(variable: Expression) -> str:
    """The name of a lambda's variable.

    Example:
        >>> from workbench.sql.functions.arrays.arrays import variable
        >>> from workbench.sql.algebra.types import INTEGER
        >>> variable_name(variable(1, INTEGER))
        '->1'
    """
    match variable:
        case Call("variable", (Constant(str(name)),)):
            return name
    raise AssertionError(variable)


def is_lambda_of_one(call: Call) -> bool:
    """Whether a call is of an array and a lambda of one variable, and is among ``LAMBDA_KERNELS``."""
    if call.function not in LAMBDA_KERNELS:
        return False
    of_elements = call.arguments[-1]
    return isinstance(of_elements, Call) and of_elements.function == "lambda" and len(of_elements.arguments) == 2


def _filter(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    lists, tested = arguments
    return _kept(lists, np.asarray(filled(tested, False)))


def _of_all(decides: bool) -> ComputeValues:
    """Whether one element passes, or all do: the first that ``decides`` does, and else NULL may."""

    def compute(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
        lists, tested = arguments
        owners = _owners(lists)
        decided, unknown = np.zeros(len(lists), bool), np.zeros(len(lists), bool)
        decided[owners[np.asarray(filled(pc.equal(tested, decides), False))]] = True
        unknown[owners[np.asarray(tested.is_null())]] = True
        found = pa.array(decided == decides, mask=unknown & ~decided)
        return pc.if_else(lists.is_valid(), found, None)

    return compute


LAMBDA_KERNELS: dict[str, ComputeValues] = {
    "transform": lambda call, arguments: with_elements(*arguments),
    "filter": _filter,
    "exists": _of_all(True),
    "forall": _of_all(False),
}
"""Functions of an array and a lambda, by their names: of the lists, and of the lambda's value for each element."""

NESTED_KERNELS = {
    "field": _of_parts(_field),
    "get": _of_one_place(_get),
    "element_at": _of_one_place(_element_at),
    "array_size": _of_parts(_size),
    "has_place": _of_one_place(_has_place),
    "array_contains": _of_parts(_contains, _is_compared),
    "array_position": _of_parts(_position, _is_compared),
    "array_distinct": _of_parts(_as_set(), _is_encoded),
    "array_intersect": _of_parts(_as_set(True), _is_encoded),
    "array_except": _of_parts(_as_set(False), _is_encoded),
    "arrays_overlap": _of_parts(_overlap, _is_encoded),
    "array_min": _of_parts(_least, _is_compared),
    "array_max": _of_parts(_greatest, _is_compared),
    "array_reverse": _of_parts(_reverse),
    "array_compact": _of_parts(_compact),
    "flatten": _of_parts(_flatten),
    "array_join": _of_parts(_join),
    "slice": _of_parts(_slice),
    "sequence": _of_parts(_sequence),
    "split": _of_parts(_split, _is_split),
    "array": _of_parts(_array),
    "struct": _of_parts(_struct),
    "map_value": _of_parts(_map_value, _is_compared),
    "map_contains_key": _of_parts(_contains_key, _is_compared),
    "map_keys": _of_parts(_side(0)),
    "map_values": _of_parts(_side(1)),
    "map_of": _of_parts(_map_of),
    "to_json": _of_parts(_to_json, lambda call: _is_written(call.arguments[0].type)),
    "map_entries": _of_parts(lambda call, arguments: arguments[0]),
}
"""By the name of the function."""
