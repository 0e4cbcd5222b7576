"""What kernels of arrays have in common: which list an element is of, elements that are chosen, and equal ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.nested import offsets
from workbench.arrow.types import filled
from workbench.engine.physical.stored.expressions import COMPARABLE_KINDS, compare
from workbench.engine.physical.stored.kernels.kernel import ComputeValues, Kernel
from workbench.engine.storage.grouping import Positions
from workbench.sql.algebra.expressions import Call
from workbench.sql.algebra.types import Kind
from workbench.sql.predicates.cnf import Operator


def nested_kernel(compute: ComputeValues, accepts: Callable[[Call], bool] = lambda call: True) -> Kernel:
    """A kernel of values with parts."""
    return Kernel(compute, accepts, nested=True)


def has_compared_elements(call: Call) -> bool:
    """Whether the elements of the first argument are compared as Spark compares them."""
    element = call.arguments[0].type.element
    compared = element.fields[0][1] if element is not None and call.arguments[0].type.kind is Kind.MAP else element
    return compared is not None and compared.kind in COMPARABLE_KINDS and not compared.zoned


def has_encoded_elements(call: Call) -> bool:
    """Whether equal elements are the same: of DOUBLE, 0.0 and -0.0 are two."""
    element = call.arguments[0].type.element
    return has_compared_elements(call) and element is not None and element.kind is not Kind.DOUBLE


def owners_of(lists: pa.ListArray) -> Positions:
    """The list that each element is of, as a place among them.

    Example:
        >>> owners_of(pa.array([[1, 2], None, [3]])).tolist()
        [0, 0, 2]
    """
    return np.repeat(np.arange(len(lists)), np.diff(offsets(lists)))


def whole_numbers(values: pa.Array, nothing: int) -> Positions:
    """Whole numbers, ``nothing`` of NULL."""
    return filled(values, nothing).to_numpy(zero_copy_only=False)


def chosen_elements(
    lists: pa.ListArray, chosen: Positions, lengths: Positions, missing: pa.Array | None = None
) -> pa.ListArray:
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


def kept(lists: pa.ListArray, keeps: npt.NDArray[np.bool_]) -> pa.ListArray:
    """Lists without the elements that are not kept."""
    return chosen_elements(lists, np.flatnonzero(keeps), np.bincount(owners_of(lists)[keeps], minlength=len(lists)))


def both_known(lists: pa.ListArray, values: pa.Array) -> pa.Array:
    """Whether neither is NULL."""
    return pc.and_(lists.is_valid(), values.is_valid())


def first_equal(lists: pa.ListArray, elements: pa.Array, values: pa.Array) -> Positions:
    """The place of the first element that is equal to the value of its list, from 0 on; -1 where none is."""
    owners = owners_of(lists)
    equal = filled(compare(Operator.EQ, elements, values.cast(elements.type).take(pa.array(owners))), False)
    at = np.flatnonzero(equal.to_numpy(zero_copy_only=False))
    found = np.full(len(lists), -1, np.int64)
    found[owners[at[::-1]]] = at[::-1] - offsets(lists)[owners[at[::-1]]]
    return found


def codes_of(*lists: pa.ListArray) -> list[Positions]:
    """A number for each element of arrays: the same for equal ones of one row, also of NULLs, which are below 0."""
    encoded = pa.concat_arrays([pc.list_flatten(own) for own in lists]).dictionary_encode()
    owners = np.concatenate([owners_of(own) for own in lists])
    known = owners * len(encoded.dictionary) + whole_numbers(encoded.indices.cast(pa.int64()), 0)
    codes = np.where(np.asarray(encoded.is_null()), -1 - owners, known)
    return np.split(codes, np.cumsum([len(pc.list_flatten(own)) for own in lists[:-1]]))


def arrays_of_columns(arguments: Sequence[pa.Array]) -> pa.ListArray:
    """The values of each row as an array."""
    count, rows = len(arguments), len(arguments[0])
    every = pa.concat_arrays(arguments)
    turned = np.arange(count * rows).reshape(count, rows).T.ravel()
    ends = np.arange(rows + 1, dtype=np.int32) * count
    return pa.ListArray.from_arrays(pa.array(ends), every.take(pa.array(turned)))


def different_lists(lists: pa.ListArray | pa.DictionaryArray) -> pa.ListArray:
    """The lists that there are, of which rows may share one."""
    return lists.dictionary if isinstance(lists, pa.DictionaryArray) else lists


def values_of_rows(lists: pa.ListArray | pa.DictionaryArray, values: pa.Array) -> pa.Array:
    """The value of each row, which is that of its list."""
    return values.take(lists.indices) if isinstance(lists, pa.DictionaryArray) else values


def spans_of(lists: pa.ListArray | pa.DictionaryArray) -> tuple[Positions, Positions]:
    """For each row where the elements of its list begin, and how many there are."""
    ends = offsets(different_lists(lists)).astype(np.int64)
    begins, lengths = (values_of_rows(lists, pa.array(values)).to_numpy() for values in (ends[:-1], np.diff(ends)))
    return begins, lengths


def element_at(lists: pa.ListArray, elements: pa.Array, places: Positions) -> pa.Array:
    """The element at a place of each list, counted from 0; NULL where the list is shorter."""
    begins, lengths = spans_of(lists)
    has = (places >= 0) & (places < lengths)
    return elements.take(pa.array(np.where(has, begins + places, 0), mask=~has))
