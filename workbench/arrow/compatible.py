"""Types of Arrow that are one type in the workbench: files that differ in these alone have the same columns."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def widest_type(type_: pa.DataType) -> pa.DataType:
    """The widest of the types that are one in the workbench, so that later files may have any of them."""
    is_ = pa.types
    if is_.is_struct(type_):
        return pa.struct([field_.with_type(widest_type(field_.type)) for field_ in type_])
    if is_.is_list(type_) or is_.is_large_list(type_):
        return pa.list_(pa.field("item", widest_type(type_.value_type), metadata=type_.value_field.metadata))
    if is_.is_dictionary(type_):
        return widest_type(type_.value_type)
    if is_.is_integer(type_) and type_ != pa.uint64():
        return pa.int64()
    if is_.is_floating(type_):
        return pa.float64()
    if is_.is_map(type_):
        return pa.map_(widest_type(type_.key_type), widest_type(type_.item_type))
    if is_.is_binary_view(type_) or is_.is_large_binary(type_):
        return pa.binary()
    return pa.string() if is_.is_null(type_) or is_.is_large_string(type_) or is_.is_string_view(type_) else type_


def is_compatible(found: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether values of a type are read as one of ``widest_type``, and none is changed unless it says so."""
    is_, wide = pa.types, widest_type(found)
    if is_.is_struct(wide) and is_.is_struct(wanted):
        types = {field_.name: field_.type for field_ in wide}
        same_names = types.keys() == {field_.name for field_ in wanted}
        return same_names and all(is_compatible(types[field_.name], field_.type) for field_ in wanted)
    if is_.is_list(wide) and is_.is_list(wanted):
        return is_compatible(wide.value_type, wanted.value_type)
    is_exact = (is_.is_integer(wide) and is_.is_floating(wanted)) or (is_.is_decimal(wide) and is_.is_decimal(wanted))
    return wide == wanted or is_.is_null(found) or is_exact


def cast_compatible(values: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Values of a type that fits; the fields of a struct are found by their names."""
    if pa.types.is_struct(wanted) and pa.types.is_struct(values.type):
        fields = [cast_compatible(pc.struct_field(values, field_.name), field_.type) for field_ in wanted]
        return pa.StructArray.from_arrays(fields, fields=list(wanted), mask=values.is_null())
    if pa.types.is_list(wanted) and values.type != wanted and not pa.types.is_null(values.type):
        lengths = pc.list_value_length(values).fill_null(0)
        ends = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
        elements = cast_compatible(values.flatten(), wanted.value_type)
        return pa.ListArray.from_arrays(ends, elements, mask=values.is_null())
    return values.cast(wanted)
