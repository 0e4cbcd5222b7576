"""Arrays as stored: the text that a column of arrays keeps, and back to an array.

Storage hashes, compares and sorts values, and knows no lists. So it keeps an array's JSON, one text for each value:
-0.0 is written as 0.0 and there is one NaN, dates are days and timestamps microseconds since 1970. Two arrays are equal
where their texts are. ``streams/array_values`` reads the same texts outside Spark.
"""

from __future__ import annotations

from workbench.sql.algebra.types import DataType, Kind

_TO_JSON = {
    Kind.DOUBLE: "({0} + 0D)",  # -0.0 becomes 0.0
    Kind.DATE: "unix_date({0})",
    Kind.TIMESTAMP: "unix_micros(cast({0} as timestamp))",
}
_FROM_JSON = {
    Kind.DATE: "date_from_unix_date({0})",
    Kind.TIMESTAMP: "cast(timestamp_micros({0}) as timestamp_ntz)",
}
_IN_JSON = {Kind.DATE: "int", Kind.TIMESTAMP: "bigint"}


def to_stored(array: str, type_: DataType) -> str:
    """SQL of the stored text of an array.

    Example:
        >>> from workbench.sql.algebra.types import DATE, INTEGER, array_of
        >>> to_stored("x", array_of(INTEGER)), to_stored("x", array_of(DATE))
        ('to_json(x)', 'to_json(transform(x, `e1` -> unix_date(`e1`)))')
    """
    return f"to_json({_changed(array, type_, _TO_JSON, 1)})"


def from_stored(text: str, type_: DataType) -> str:
    """SQL of the array of a stored text.

    Example:
        >>> from workbench.sql.algebra.types import INTEGER, array_of
        >>> from_stored("x", array_of(INTEGER))
        "from_json(x, 'array<bigint>')"
    """
    return _changed(f"from_json({text}, '{_json_type(type_)}')", type_, _FROM_JSON, 1)


def _changed(array: str, type_: DataType, changes: dict[Kind, str], depth: int) -> str:
    """SQL of an array with its elements, and those of arrays in it, changed by their kind."""
    assert type_.element is not None
    name = f"`e{depth}`"
    if type_.element.kind is Kind.ARRAY:
        changed = _changed(name, type_.element, changes, depth + 1)
    else:
        changed = changes.get(type_.element.kind, "{0}").format(name)
    return array if changed == name else f"transform({array}, {name} -> {changed})"


def _json_type(type_: DataType) -> str:
    if type_.element is not None:
        return f"array<{_json_type(type_.element)}>"
    return _IN_JSON.get(type_.kind, type_.spark)
