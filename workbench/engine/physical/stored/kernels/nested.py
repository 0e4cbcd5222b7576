"""Kernels of arrays and structs: they take lists and structs of Arrow.

Stored are these as texts, which the walk of ``table`` reads before, and writes after the outermost of such functions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.nested import arrow_in_json, offsets, with_elements
from workbench.arrow.python_values import over_columns
from workbench.engine.physical.stored.kernels.kernel import (
    ComputeValues,
    Kernel,
    constant_integer,
)
from workbench.engine.physical.stored.kernels.lists import (
    arrays_of_columns,
    both_known,
    chosen_elements,
    codes_of,
    different_lists,
    element_at,
    first_equal,
    has_compared_elements,
    has_encoded_elements,
    kept,
    nested_kernel,
    owners_of,
    spans_of,
    values_of_rows,
    whole_numbers,
)
from workbench.engine.storage.grouping import Positions
from workbench.sql.algebra.expressions import Call
from workbench.sql.algebra.types import DataType, Kind
from workbench.sql.functions.arrays.arrays import MOST_ELEMENTS
from workbench.sql.functions.json_writers import IN_SPARK

_INT = 2**31


def _of_one_place(compute: ComputeValues) -> Kernel:
    """A kernel that looks at one place of each list, so that lists that rows share need not be copied for each."""
    return Kernel(compute, lambda call: True, nested=True, shares_lists=True)


def _element(lists: pa.ListArray | pa.DictionaryArray, places: Positions) -> pa.Array:
    return element_at(lists, pc.list_flatten(different_lists(lists)), places)


def _field(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    return pc.struct_field(arguments[0], [constant_integer(call, 1) or 0])


def _get(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    lists, places = arguments
    return _element(lists, whole_numbers(places, -1))


def _element_at(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """From 1 on, or from the end."""
    lists, places = arguments
    asked = whole_numbers(places, 0)
    return _element(lists, np.where(asked < 0, spans_of(lists)[1] + asked, asked - 1))


def _size(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    return pc.list_value_length(arguments[0]).cast(pa.int64())


def _has_place(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    lists, places, *_ = arguments
    return pc.less_equal(places, values_of_rows(lists, _size(call, [different_lists(lists)])))


def _contains(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """NULL where only a NULL may be the value."""
    lists, values = arguments
    elements = pc.list_flatten(lists)
    found = first_equal(lists, elements, values) >= 0
    unknown = np.zeros(len(lists), bool)
    unknown[owners_of(lists)[np.asarray(elements.is_null())]] = True
    return pc.if_else(both_known(lists, values), pa.array(found, mask=unknown & ~found), None)


def _position(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    lists, values = arguments
    return pc.if_else(both_known(lists, values), pa.array(first_equal(lists, pc.list_flatten(lists), values) + 1), None)


def _as_set(*known: bool) -> ComputeValues:
    """The elements of an array, each once; of two arrays those that the other one has, or has not (``known``)."""

    def compute(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
        lists, *others = arguments
        own, *further = codes_of(*arguments)
        keeps = np.zeros(len(own), bool)
        keeps[np.unique(own, return_index=True)[1]] = True
        for codes, has in zip(further, known, strict=True):
            keeps &= np.isin(own, codes) == has
        for other in others:
            keeps &= np.asarray(other.is_valid())[owners_of(lists)]
        missing = pc.invert(both_known(lists, *others)) if others else None
        return chosen_elements(
            lists, np.flatnonzero(keeps), np.bincount(owners_of(lists)[keeps], minlength=len(lists)), missing
        )

    return compute


def _overlap(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """NULL where only a NULL may be in both."""
    both = [owners_of(lists) for lists in arguments]
    codes = codes_of(*arguments)
    found, unknown = np.zeros(len(arguments[0]), bool), np.zeros(len(arguments[0]), bool)
    found[both[0][np.isin(codes[0], codes[1][codes[1] >= 0])]] = True
    for owners, own in zip(both, codes, strict=True):
        unknown[owners[own < 0]] = True
    for lists in arguments:
        unknown &= np.diff(offsets(lists)) > 0
    return pc.if_else(both_known(*arguments), pa.array(found, mask=unknown & ~found), None)


def _ordered(lists: pa.ListArray) -> pa.ListArray:
    """Lists with their elements in order, NaN after all numbers, NULL last."""
    table = pa.table({"of": owners_of(lists), "value": pc.list_flatten(lists)})
    order = pc.sort_indices(table, [("of", "ascending"), ("value", "ascending")])
    return chosen_elements(lists, order.to_numpy().astype(np.int64), np.diff(offsets(lists)))


def _least(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    ordered = _ordered(arguments[0])
    return element_at(ordered, pc.list_flatten(ordered), np.zeros(len(ordered), np.int64))


def _greatest(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    ordered = _ordered(_compact(call, arguments))
    return element_at(ordered, pc.list_flatten(ordered), np.diff(offsets(ordered)) - 1)


def _reverse(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    (lists,) = arguments
    begins = offsets(lists).astype(np.int64)
    owners = owners_of(lists)
    return chosen_elements(lists, begins[owners] + begins[owners + 1] - 1 - np.arange(len(owners)), np.diff(begins))


def _compact(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    return kept(arguments[0], np.asarray(pc.list_flatten(arguments[0]).is_valid()))


def _sequence(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """Numbers from one to another; NULL where there would be too many, or the step does not lead there."""
    known = np.logical_and.reduce([np.asarray(argument.is_valid()) for argument in arguments])
    start, end, *steps = (whole_numbers(argument, 0) for argument in arguments)
    distance = end - start
    known &= (distance < 0) == (end < start)  # it fits
    step = steps[0] if steps else np.where(distance < 0, -1, 1)
    known &= ((step > 0) & (distance >= 0)) | ((step < 0) & (distance <= 0))
    whole = np.abs(distance).view(np.uint64) // np.maximum(np.abs(step).view(np.uint64), np.uint64(1))
    known &= whole < MOST_ELEMENTS
    counts = np.where(known, whole.astype(np.int64) + 1, 0)
    ends = np.cumsum(counts)
    places = np.arange(counts.sum()) - np.repeat(ends - counts, counts)
    values = pa.array(np.repeat(start, counts) + places * np.repeat(step, counts))
    return pa.ListArray.from_arrays(pa.array(np.append(0, ends).astype(np.int32)), values, mask=pa.array(~known))


def _flatten(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """The elements of all arrays of an array; NULL where one of these is."""
    (lists,) = arguments
    inner, owners = pc.list_flatten(lists), owners_of(lists)
    lengths = np.bincount(owners, np.diff(offsets(inner)), len(lists)).astype(np.int32)
    missing = np.bincount(owners, np.asarray(inner.is_null()), len(lists)) > 0
    begins = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    mask = pa.array(missing | np.asarray(lists.is_null()))
    return pa.ListArray.from_arrays(pa.array(begins), pc.list_flatten(inner), mask=mask)


def _slice(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """Elements from a place on, from 1 or from the end; NULL from 0 on, or of less than no elements."""
    lists, starts, counts = arguments
    begins = offsets(lists).astype(np.int64)
    lengths, start, count = np.diff(begins), whole_numbers(starts, 0), whole_numbers(counts, -1)
    # Positions are numbers of 32 bits in Spark.
    known = np.asarray(lists.is_valid()) & (start != 0) & (start >= -_INT) & (start < _INT)
    known &= (count >= 0) & (count < _INT)
    first = np.where(start > 0, start - 1, lengths + start)
    taken = np.where(known & (first >= 0) & (first < lengths), np.minimum(count, lengths - first), 0)
    ends = np.cumsum(taken)
    places = np.repeat(begins[:-1] + first - (ends - taken), taken) + np.arange(taken.sum())
    return chosen_elements(lists, places, taken, pa.array(~known))


def _union(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """The elements of both arrays, each once, in their order."""
    return _as_set()(call, [_flatten(call, [arrays_of_columns(arguments)])])


def _join(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """NULL among the elements is left out, or has a text."""
    lists, separators, *instead = arguments
    if instead:
        texts = pc.coalesce(pc.list_flatten(lists), instead[0].take(pa.array(owners_of(lists))))
        lists, separators = with_elements(lists, texts), pc.if_else(instead[0].is_valid(), separators, None)
    else:
        lists = _compact(call, [lists])
    return pc.binary_join(lists, separators)


def _concat_ws(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """Texts, and those of lists, with another between each two of them; NULLs are left out."""
    separators, *parts = (argument.to_pylist() for argument in arguments)
    of_rows = zip(*parts, strict=True) if parts else ((),) * len(separators)
    several = ([text for part in row for text in (part if isinstance(part, list) else [part])] for row in of_rows)
    joined = (
        None if between is None else between.join(text for text in texts if text is not None)
        for between, texts in zip(separators, several, strict=True)
    )
    return pa.array(joined, pa.string())


def _array(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    assert call.type.element is not None
    element = arrow_in_json(call.type.element)
    return arrays_of_columns([argument.cast(element) for argument in arguments])


def _struct(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    arrow = arrow_in_json(call.type)
    parts = [argument.cast(field.type) for argument, field in zip(arguments, arrow, strict=True)]
    return pa.StructArray.from_arrays(parts, fields=[*arrow])


def _to_json(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    write = IN_SPARK.of(str(call.arguments[0].type))
    return over_columns(write, True, arguments, pa.string())


def _has_json_of_spark(type_: DataType) -> bool:
    """Whether values of a type are written as Spark writes them."""
    return not any(part.kind is Kind.BINARY or part.zoned or part.counted for part in type_.walk())


NESTED_KERNELS = {
    "field": nested_kernel(_field),
    "get": _of_one_place(_get),
    "element_at": _of_one_place(_element_at),
    "array_size": nested_kernel(_size),
    "has_place": _of_one_place(_has_place),
    "array_contains": nested_kernel(_contains, has_compared_elements),
    "array_position": nested_kernel(_position, has_compared_elements),
    "array_distinct": nested_kernel(_as_set(), has_encoded_elements),
    "array_intersect": nested_kernel(_as_set(True), has_encoded_elements),
    "array_except": nested_kernel(_as_set(False), has_encoded_elements),
    "arrays_overlap": nested_kernel(_overlap, has_encoded_elements),
    "array_union": nested_kernel(_union, has_encoded_elements),
    "array_min": nested_kernel(_least, has_compared_elements),
    "array_max": nested_kernel(_greatest, has_compared_elements),
    "array_reverse": nested_kernel(_reverse),
    "array_compact": nested_kernel(_compact),
    "flatten": nested_kernel(_flatten),
    "array_join": nested_kernel(_join),
    "concat_ws": nested_kernel(_concat_ws, lambda call: call.arguments[0].type.kind is Kind.STRING),
    "slice": nested_kernel(_slice),
    "sequence": nested_kernel(_sequence),
    "array": nested_kernel(_array),
    "struct": nested_kernel(_struct),
    "to_json": nested_kernel(_to_json, lambda call: _has_json_of_spark(call.arguments[0].type)),
}
"""By the name of the function."""
