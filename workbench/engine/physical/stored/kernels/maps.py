"""Kernels of maps, which are lists of their entries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.nested import arrow_in_json, with_elements
from workbench.arrow.types import Mask
from workbench.engine.physical.stored.expressions import COMPARABLE_KINDS
from workbench.engine.physical.stored.kernels.kernel import ComputeValues
from workbench.engine.physical.stored.kernels.lists import (
    both_known,
    codes_of,
    element_at,
    first_equal,
    has_compared_elements,
    nested_kernel,
    owners_of,
)
from workbench.sql.algebra.expressions import Call
from workbench.sql.algebra.types import Kind


def _map_value(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    maps, keys = arguments
    entries = pc.list_flatten(maps)
    place = first_equal(maps, pc.struct_field(entries, [0]), keys)
    return element_at(maps, pc.struct_field(entries, [1]), place)


def _contains_key(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    maps, keys = arguments
    found = first_equal(maps, pc.struct_field(pc.list_flatten(maps), [0]), keys) >= 0
    return pc.if_else(both_known(maps, keys), pa.array(found), None)


def _side(place: int) -> ComputeValues:
    """The keys, or the values, of maps."""
    return lambda call, arguments: with_elements(arguments[0], pc.struct_field(pc.list_flatten(arguments[0]), [place]))


def _map_of(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """The map of entries that have each key once."""
    (entries,) = arguments
    assert call.type.element is not None
    arrow = arrow_in_json(call.type.element)
    sides = [pc.struct_field(pc.list_flatten(entries), [at]).cast(arrow[at].type) for at in (0, 1)]
    return with_elements(entries, pa.StructArray.from_arrays(sides, fields=[*arrow]))


def _no_map(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """Whether entries have a key that is NULL, or one twice; false where an entry is NULL itself, NULL of NULL."""
    (entries,) = arguments
    invalid, odd = _checked_entries(entries)
    return pc.if_else(entries.is_valid(), pa.array(~odd & invalid), None)


def _checked_entries(entries: pa.ListArray) -> tuple[Mask, Mask]:
    """Which entries have a key that is NULL, or one twice, and which are NULL in part."""
    owners, keys = owners_of(entries), pc.struct_field(pc.list_flatten(entries), [0])
    odd, invalid = np.zeros(len(entries), bool), np.zeros(len(entries), bool)
    odd[owners[np.asarray(pc.list_flatten(entries).is_null())]] = True
    invalid[owners[np.asarray(keys.is_null())]] = True
    (codes,) = codes_of(with_elements(entries, keys))
    again = np.ones(len(codes), bool)
    again[np.unique(codes, return_index=True)[1]] = False
    invalid[owners[again]] = True
    return invalid, odd


def _map_from_entries(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """The map of entries, NULL where they are none."""
    (entries,) = arguments
    invalid, odd = _checked_entries(entries)
    known = pa.array(~(invalid | odd))
    none = pa.scalar(None, entries.type)
    return _map_of(call, [pc.if_else(known, entries, none)])


def _is_keyed(call: Call) -> bool:
    """Whether keys are equal in the kernel exactly where they are equal in Spark."""
    element = call.arguments[0].type.element
    key = element.fields[0][1] if element is not None and element.fields else None
    return key is not None and key.kind in COMPARABLE_KINDS and key.kind is not Kind.DOUBLE


MAP_KERNELS = {
    "map_value": nested_kernel(_map_value, has_compared_elements),
    "map_contains_key": nested_kernel(_contains_key, has_compared_elements),
    "map_keys": nested_kernel(_side(0)),
    "map_values": nested_kernel(_side(1)),
    "map_of": nested_kernel(_map_of),
    "no_map": nested_kernel(_no_map, _is_keyed),
    "map_from_entries": nested_kernel(_map_from_entries, _is_keyed),
    "map_entries": nested_kernel(lambda call, arguments: arguments[0]),
}
"""By the name of the function."""
