"""Values of columns as Python has them, and functions of Python over columns.

A date is its days, a time its microseconds: Python has none beyond the year 9999. A struct, and an entry of a map, is
the tuple of its fields.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import pyarrow as pa
import pyarrow.compute as pc

from workbench.sql.functions.calls import FUNCTIONS
from workbench.sql.functions.declaration import Function

_NUMBERS = {pa.date32(): pa.int32(), pa.timestamp("us"): pa.int64()}


def to_python(values: pa.Array) -> list[Any]:
    """The values of a column.

    Example:
        >>> to_python(pa.array([[{"a": 1, "b": "x"}, None], None]))
        [[(1, 'x'), None], None]
    """
    if isinstance(values, pa.MapArray):
        values = pa.ListArray.from_arrays(values.offsets, pa.StructArray.from_arrays(
            [values.keys, values.items], ["key", "value"]), mask=values.is_null())  # fmt: skip
    if pa.types.is_list(values.type):
        elements = to_python(pc.list_flatten(values))
        ends, lists = 0, list[Any]()
        for length in pc.list_value_length(values).to_pylist():
            lists.append(None if length is None else elements[ends : ends + length])
            ends += length or 0
        return lists
    if pa.types.is_struct(values.type):
        fields = [to_python(pc.struct_field(values, [at])) for at in range(values.type.num_fields)]
        rows = zip(*fields, strict=True)
        return [row if valid else None for row, valid in zip(rows, values.is_valid().to_pylist(), strict=True)]
    number = _NUMBERS.get(values.type)
    return (values if number is None else values.cast(number)).to_pylist()


def over_columns(
    function: Callable[..., Any], strict: bool, columns: Sequence[pa.Array], type_: pa.DataType
) -> pa.Array:
    """The values of a function of Python for the rows of some columns; called once for arguments that come again.

    Args:
        function: of the values of a row.
        strict: whether it is NULL as soon as one argument is.
        columns: of its arguments.
        type_: of its values.

    Example:
        >>> over_columns(max, True, [pa.array([1, 2, None]), pa.array([3, 1, 1])], pa.int64()).to_pylist()
        [3, 2, None]
    """
    rows = zip(*map(to_python, columns), strict=True)
    if any(pa.types.is_nested(c.type) or pa.types.is_floating(c.type) for c in columns):  # -0.0 is 0.0 as a key
        found = [None if strict and None in row else function(*row) for row in rows]
        return pa.array(found, type_)
    known: dict[tuple[Any, ...], Any] = {}
    values = []
    for row in rows:
        if row not in known:
            known[row] = None if strict and None in row else function(*row)
        values.append(known[row])
    return pa.array(values, type_)


def values_in_python(function: Function, columns: Sequence[pa.Array], type_: pa.DataType) -> pa.Array:
    """The values of a declared function of Python for the rows of its arguments.

    Args:
        function: one that Python evaluates.
        columns: of its arguments.
        type_: of its values.
    """
    assert function.python is not None
    if function.vectorized:
        return cast("pa.Array", function.python(*columns)).cast(type_)
    return over_columns(function.python, function.strict, columns, type_)


def call_in_python(names: pa.Array, columns: Sequence[pa.Array], type_: pa.DataType) -> pa.Array:
    """``values_in_python`` the declared function of a name.

    Args:
        names: the function's, in every row.
        columns: of its arguments.
        type_: of its values.

    Example:
        >>> call_in_python(pa.array(["json_valid"] * 2), [pa.array(["[1]", None])], pa.bool_()).to_pylist()
        [True, None]
    """
    if not len(names):
        return pa.nulls(0, type_)
    return values_in_python(FUNCTIONS[names[0].as_py()], columns, type_)
