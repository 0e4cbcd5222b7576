"""Values as stored: the text that a column of arrays, structs, maps or bytes keeps, and back to the value.

Storage hashes, compares and sorts values, and knows none of these. So it keeps one text for each value: bytes are
hexadecimal, which sorts as they do, and arrays, structs and maps, as arrays of entries, are JSON. In it dates are days,
timestamps microseconds since 1970, and a DOUBLE is ``[m,e]``, which is m * 2^e: no two systems write all of them with
the same digits, and -0.0 is 0.0. Two values are equal where their texts are. ``streams/stored_values`` has the
same texts outside Spark.
"""

from __future__ import annotations

from workbench.sql.algebra.types import DataType, Kind, array_of
from workbench.sql.functions.declaration import let

INFINITE, NAN = "9999", "1"
"""Exponents of infinities, and of NaN, whose *m* is 0."""
_EXPONENT = "cast(floor(log2(abs({0}))) as int)"
# The logarithm may be off at powers of two; 2^-1074 is the smallest number.
_LOWEST_BIT = (
    "greatest({1} + (case when power(2D, {1}) > abs({0}) then -53 when power(2D, {1} + 1) <= abs({0}) then -51"
    " else -52 end), -1074)"
)
_TO_JSON = {
    Kind.DATE: "unix_date({0})",
    Kind.TIMESTAMP: "unix_micros(cast({0} as timestamp))",
    Kind.BINARY: "hex({0})",
}
_FROM_JSON = {
    Kind.DATE: "date_from_unix_date({0})",
    Kind.TIMESTAMP: "cast(timestamp_micros({0}) as timestamp_ntz)",
    Kind.BINARY: "unhex({0})",
    Kind.DOUBLE: f"(case when {{0}}[1] = {INFINITE}L then {{0}}[0] * double('infinity')"
    f" when {{0}}[1] = {NAN}L and {{0}}[0] = 0L then double('nan') else {{0}}[0] * power(2D, {{0}}[1]) end)",
}
_IN_JSON = {
    Kind.DATE: "int",
    Kind.TIMESTAMP: "bigint",
    Kind.BINARY: Kind.STRING.value,
    Kind.DOUBLE: "array<bigint>",
}


def to_stored(value: str, type_: DataType) -> str:
    """SQL of the stored text of an array, a struct, a map or bytes.

    Example:
        >>> from workbench.sql.algebra.types import BINARY, DATE, INTEGER, array_of
        >>> to_stored("x", array_of(INTEGER)), to_stored("x", array_of(DATE)), to_stored("x", BINARY)
        ('to_json(x)', 'to_json(transform(x, `e1` -> unix_date(`e1`)))', 'hex(x)')
    """
    changed = _changed(value, type_, True, 1)
    if type_.kind is Kind.BINARY:
        return changed
    return f"to_json({changed}, map('ignoreNullFields', 'false'))" if _has_structs(type_) else f"to_json({changed})"


def from_stored(text: str, type_: DataType) -> str:
    """SQL of the value of a stored text.

    Example:
        >>> from workbench.sql.algebra.types import INTEGER, array_of
        >>> from_stored("x", array_of(INTEGER))
        "from_json(x, 'array<bigint>')"
    """
    parsed = text if type_.kind is Kind.BINARY else f"from_json({text}, '{_json_type(type_)}')"
    return _changed(parsed, type_, False, 1)


def with_names(value: str, type_: DataType, depth: int = 1) -> str:
    """SQL of a value whose fields, here called by their places, have their names, and whose maps are Spark's.

    Example:
        >>> from workbench.sql.algebra.types import INTEGER, array_of, struct_of
        >>> with_names("s", struct_of([("x", INTEGER)]))
        "transform(array(s), `e1` -> if(`e1` is null, null, named_struct('x', `e1`.f0)))[0]"
    """
    name = f"`e{depth}`"
    if type_.kind is Kind.MAP:
        assert type_.element is not None
        return f"map_from_entries({with_names(value, array_of(type_.element), depth)})"
    if type_.element is not None and _has_structs(type_):
        return f"transform({value}, {name} -> {with_names(name, type_.element, depth + 1)})"
    if not type_.fields:
        return value
    fields = (
        f"{_quoted(field)}, {with_names(f'{name}.f{place}', of, depth + 1)}"
        for place, (field, of) in enumerate(type_.fields)
    )
    return let(name, value, f"if({name} is null, null, named_struct({', '.join(fields)}))")


def _quoted(name: str) -> str:
    return "'" + name.replace("\\", "\\\\").replace("'", "\\'").replace("$", "\\u0024") + "'"


def _changed(value: str, type_: DataType, to_json: bool, depth: int) -> str:
    """SQL of a value with what is in it as JSON has it, or back; variables are called by how deep they are."""
    name = f"`e{depth}`"
    if type_.element is not None:
        changed = _changed(name, type_.element, to_json, depth + 1)
        return value if changed == name else f"transform({value}, {name} -> {changed})"
    if type_.fields:
        fields = [f"{name}.f{place}" for place in range(len(type_.fields))]
        parts = [_changed(f, t, to_json, depth + 1) for f, (_, t) in zip(fields, type_.fields, strict=True)]
        if parts == fields:
            return value
        made = ", ".join(f"'f{place}', {part}" for place, part in enumerate(parts))
        return let(name, value, f"if({name} is null, null, named_struct({made}))")
    if to_json and type_.kind is Kind.DOUBLE:
        return let(name, value, _parts_of_double(name, f"`e{depth + 1}`"))
    return (_TO_JSON if to_json else _FROM_JSON).get(type_.kind, "{0}").format(value)


def _parts_of_double(x: str, e: str) -> str:
    lowest = f"{e[:-1]}b`"
    parts = f"array(cast({x} / power(2D, {lowest}) as bigint), cast({lowest} as bigint))"
    finite = let(e, _EXPONENT.format(x), let(lowest, _LOWEST_BIT.format(x, e), parts))
    return (
        f"(case when {x} is null then null when isnan({x}) then array(0L, {NAN}L) when {x} = 0D then array(0L, 0L)"
        f" when abs({x}) = double('infinity') then array(cast(sign({x}) as bigint), {INFINITE}L) else {finite} end)"
    )


def _has_structs(type_: DataType) -> bool:
    return any(part.fields for part in type_.walk())


def _json_type(type_: DataType) -> str:
    if type_.element is not None:
        return f"array<{_json_type(type_.element)}>"
    if type_.fields:
        return f"struct<{','.join(f'f{place}:{_json_type(field)}' for place, (_, field) in enumerate(type_.fields))}>"
    return _IN_JSON.get(type_.kind, type_.spark)
