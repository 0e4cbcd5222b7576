"""Kernels of arrays that are sorted, repeated, and have more elements or fewer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.nested import arrow_in_json, offsets, with_elements
from workbench.arrow.types import Mask, filled
from workbench.engine.physical.stored.expressions import compare
from workbench.engine.physical.stored.kernels.kernel import ComputeValues, constant_truth
from workbench.engine.physical.stored.kernels.lists import (
    both_known,
    chosen_elements,
    has_compared_elements,
    kept,
    nested_kernel,
    owners_of,
    whole_numbers,
)
from workbench.engine.storage.grouping import Positions
from workbench.sql.algebra.expressions import Call
from workbench.sql.functions.arrays.arrays import MOST_ELEMENTS
from workbench.sql.predicates.cnf import Operator

_INT = 2**31


def _is_sorted(call: Call) -> bool:
    return has_compared_elements(call) and constant_truth(call, 1) is not None


def _sorted(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """SORT_ARRAY: NULLs come first where the least do, else last."""
    lists, *directions = arguments
    up = not directions or bool(constant_truth(call, 1))
    elements = pc.list_flatten(lists)
    table = pa.table({"of": owners_of(lists), "missing": elements.is_null(), "value": elements})
    missing = "descending" if up and directions else "ascending"
    direction = "ascending" if up else "descending"
    keys = [("of", "ascending"), ("missing", missing), *([("nan", direction)]), ("value", direction)]
    if pa.types.is_floating(elements.type):
        table = table.append_column("nan", pc.is_nan(elements))
    else:
        keys = [key for key in keys if key[0] != "nan"]
    order = pc.sort_indices(table, keys)
    return chosen_elements(lists, order.to_numpy().astype(np.int64), np.diff(offsets(lists)))


def _spliced(lists: pa.ListArray, values: pa.Array, places: Positions, sizes: Positions, missing: Mask) -> pa.ListArray:
    """Lists of other sizes, with a value at a place of each, and their elements around it in their order.

    Args:
        lists: with the elements; beyond these there is NULL.
        values: one for each list.
        places: where it stands, from 0 on.
        sizes: of the new lists.
        missing: which are NULL.
    """
    begins = offsets(lists).astype(np.int64)
    counts = np.where(missing, 0, sizes)
    ends = np.append(0, np.cumsum(counts))
    owners = np.repeat(np.arange(len(lists)), counts)
    at = np.arange(len(owners)) - ends[owners]
    place, shift = places[owners], np.maximum(sizes - np.diff(begins) - 1, 0)[owners] * (places[owners] == 0)
    from_list = at - (at > place) - shift
    own = at == place
    beyond = ~own & ((from_list < 0) | (from_list >= np.diff(begins)[owners]))
    every = pa.concat_arrays([pc.list_flatten(lists), values.cast(lists.type.value_type)])
    chosen = np.where(own, begins[-1] + owners, np.where(beyond, 0, begins[owners] + from_list))
    taken = every.take(pa.array(chosen, mask=beyond))
    return pa.ListArray.from_arrays(pa.array(ends.astype(np.int32)), taken, mask=pa.array(missing))


def _with_value(at_end: bool) -> ComputeValues:
    """ARRAY_APPEND and ARRAY_PREPEND, of NULL too."""

    def compute(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
        lists, values = arguments
        lengths = np.diff(offsets(lists)).astype(np.int64)
        places = lengths if at_end else np.zeros_like(lengths)
        return _spliced(lists, values, places, lengths + 1, np.asarray(lists.is_null()))

    return compute


def _insert(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """At a place from 1 on, or from the end, -1 being behind the last; NULLs fill what is between."""
    lists, asked, values = arguments
    lengths, number = np.diff(offsets(lists)).astype(np.int64), whole_numbers(asked, 0)
    missing = np.asarray(lists.is_null()) | (number == 0) | (number > MOST_ELEMENTS) | (number < -MOST_ELEMENTS)
    number = np.where(missing, 1, number)
    places = np.where(number > 0, number - 1, np.maximum(lengths + number + 1, 0))
    sizes = np.where(number > 0, np.maximum(lengths + 1, number), np.maximum(lengths + 1, -number))
    return _spliced(lists, values, places, sizes, missing)


def _remove(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    lists, values = arguments
    elements, owners = pc.list_flatten(lists), owners_of(lists)
    equal = compare(Operator.EQ, elements, values.cast(elements.type).take(pa.array(owners)))
    left = kept(lists, ~np.asarray(filled(equal, False)))
    return pc.if_else(both_known(lists, values), left, None)


def _repeat(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """A value several times; NULL of more than an array may have."""
    values, counts = arguments
    number = whole_numbers(counts, 0)
    missing = np.asarray(counts.is_null()) | (number > MOST_ELEMENTS) | (number < -_INT)
    sizes = np.where(missing, 0, np.maximum(number, 0))
    ends = np.append(0, np.cumsum(sizes)).astype(np.int32)
    assert call.type.element is not None
    values = values.cast(arrow_in_json(call.type.element))
    taken = values.take(pa.array(np.repeat(np.arange(len(values)), sizes)))
    return pa.ListArray.from_arrays(pa.array(ends), taken, mask=pa.array(missing))


def _with_places(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """Structs of each element and its place, from 1 on."""
    (lists,) = arguments
    places = np.arange(len(owners_of(lists))) - offsets(lists)[owners_of(lists)] + 1
    assert call.type.element is not None
    parts = [pc.list_flatten(lists), pa.array(places.astype(np.int64))]
    return with_elements(lists, pa.StructArray.from_arrays(parts, fields=[*arrow_in_json(call.type.element)]))


CHANGED_LIST_KERNELS = {
    "array_append": nested_kernel(_with_value(at_end=True)),
    "array_prepend": nested_kernel(_with_value(at_end=False)),
    "array_insert": nested_kernel(_insert),
    "array_remove": nested_kernel(_remove, has_compared_elements),
    "array_repeat": nested_kernel(_repeat),
    "sort_array": nested_kernel(_sorted, _is_sorted),
    "array_sort": nested_kernel(_sorted, has_compared_elements),
    "with_places": nested_kernel(_with_places),
}
"""By the name of the function."""
