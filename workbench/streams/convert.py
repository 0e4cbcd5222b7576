"""Values of a source to the workbench's types, and which of them do not fit.

Arrow's casts do the work on whole columns. Only where a cast fails is the column halved until the failing values stand
alone, so good rows are never looked at one by one.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.stored_values import to_texts
from workbench.arrow.types import Mask, to_arrow, to_shown
from workbench.sql.algebra.types import TIMESTAMP, DataType, Kind

Cast = Callable[[pa.Array], pa.Array]

NULL_MARKS = r"^\s*(?i:null|none|na|n/a|#n/a|-|\\N)?\s*$"
"""What stands where there is no value, among numbers, dates, times, and true and false; in a text it is a text."""
NAN_MARKS = r"^\s*(?i:nan)\s*$"
"""NaN, which is no value either where a column is not of DOUBLE."""


def _at_most(largest: int) -> str:
    """A pattern of the whole numbers from 0 to one, with its number of digits."""
    digits = str(largest)
    less = (
        f"{digits[:place]}[0-{int(digit) - 1}]\\d{{{len(digits) - place - 1}}}"
        for place, digit in enumerate(digits)
        if int(digit)
    )
    return "|".join((*less, digits))


_DAY = (
    r"(?:\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
    r"|(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)"
)
_CLOCK = r"(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?"
_BESIDE_UTC = r"(?:Z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)"
_SYNTAX = {
    Kind.BOOLEAN: r"^(?i:true|false|0|1)$",
    Kind.INTEGER: rf"^[+-]?0*(?:\d{{1,18}}|{_at_most(2**63 - 1)})$|^-0*{2**63}$",
    Kind.DOUBLE: r"^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|(?i:inf|infinity|nan))$",
    Kind.DATE: rf"^{_DAY}$",
    Kind.TIME: rf"^{_CLOCK}$",
    Kind.TIMESTAMP: rf"^{_DAY}(?:[ T]{_CLOCK}{_BESIDE_UTC}?)?$",
}
"""Texts of values that there are: no cast refuses one. What a cast refuses is looked for by halves, which took 20 s for
80,000 dates that were tried with day and month the wrong way round."""
_ZONE = r":\d\d(?:\.\d+)?(?:Z|[+-]\d\d(?::?\d\d)?)$"
_APART = {r"(:\d\d(?:\.\d+)?) ?(?:UTC|GMT)$": r"\1Z", r"(:\d\d(?:\.\d+)?) (Z|[+-]\d\d(?::?\d\d)?)$": r"\1\2"}
"""Offsets that stand apart from a time, and UTC, and how they are written elsewhere."""
_YEARS = (datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31, 23, 59, 59, 999_999))


def convert(values: pa.Array, type_: DataType) -> tuple[pa.Array, Mask | None]:
    """Values as ``type_``, and a mask of those that cannot be (their places hold NULL), ``None`` when all fit.

    NULL always fits, and what stands for it among numbers and times (``NULL_MARKS``). Timestamps lose their zone (they
    become UTC), and they, times of a day and durations what is finer than a microsecond. Nothing else is rounded,
    except binary floats to a decimal's scale. Dates and timestamps lie in the years 1 to 9999, as in SQL.

    Example:
        >>> from workbench.sql.algebra.types import INTEGER
        >>> fitting, misfit = convert(pa.array([1.0, 2.5, None]), INTEGER)
        >>> fitting.to_pylist(), misfit.tolist()
        ([1, None, None], [False, True, False])
    """
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if type_.kind is Kind.STRING:
        return cast_each(values, lambda part: part.cast(pa.string()))
    if type_.is_text_when_stored:
        return cast_each(values, lambda part: to_texts(_with_parts(part, type_), type_))
    if is_text(values.type):
        fitting, misfit = _parse(values.cast(pa.string()), type_)
    else:
        fitting, misfit = cast_each(values, lambda part: _cast(part, type_))
    return _within_years(fitting, misfit) if type_.kind in (Kind.DATE, Kind.TIMESTAMP) else (fitting, misfit)


def cast_each(values: pa.Array, cast: Cast) -> tuple[pa.Array, Mask | None]:
    """``cast`` of each value, NULL where it fails, with a mask of the failures (``None``: no failures)."""
    try:
        return cast(values), None
    except pa.ArrowInvalid:
        misfit = np.zeros(len(values), dtype=np.bool_)
        parts: list[pa.Array] = []
        _cast_halves(values, 0, cast, parts, misfit)
        return pa.concat_arrays(parts), misfit


def _cast_halves(values: pa.Array, start: int, cast: Cast, parts: list[pa.Array], misfit: Mask) -> None:
    try:
        parts.append(cast(values))
    except pa.ArrowInvalid:
        if len(values) == 1:
            misfit[start] = True
            parts.append(cast(pa.nulls(1, values.type)))
            return
        middle = len(values) // 2
        _cast_halves(values.slice(0, middle), start, cast, parts, misfit)
        _cast_halves(values.slice(middle), start + middle, cast, parts, misfit)


def _with_parts(values: pa.Array, type_: DataType) -> pa.Array:
    """Lists, structs, maps as lists of entries, or bytes, or texts of JSON that are such; an empty text is NULL."""
    if is_text(values.type):
        if type_.kind is Kind.BINARY:
            raise pa.ArrowNotImplementedError("a text may have bytes in many ways")
        try:
            values = pa.array([_of_json(text, type_) for text in values.to_pylist()])
        except (ValueError, OverflowError, RecursionError, pa.ArrowTypeError) as error:
            raise pa.ArrowInvalid(str(error)) from error
    try:
        return _named(values, type_).cast(to_shown(type_, of_entries=True))
    except pa.ArrowNotImplementedError as error:
        if not len(values):
            raise
        if values.null_count < len(values):
            raise pa.ArrowInvalid(str(error)) from error
        return pa.nulls(len(values), to_shown(type_, of_entries=True))  # NULL fits always


def _named(values: pa.Array, type_: DataType) -> pa.Array:
    """Values whose fields are called as ``type_`` says, in lower case."""
    return values.view(_renamed(values.type, type_)) if pa.types.is_nested(values.type) else values


def _renamed(arrow: pa.DataType, type_: DataType) -> pa.DataType:
    """The type with names in lower case, and maps as lists of their entries.

    Raises:
        ArrowNotImplementedError: it has a field that ``type_`` has not, which Arrow would leave out.
    """
    is_ = pa.types
    if is_.is_struct(arrow) and type_.fields:
        types = dict(type_.fields)
        if more := [field.name for field in arrow if field.name.lower() not in types]:
            raise pa.ArrowNotImplementedError(f"there is no field {', '.join(more)}")
        return pa.struct([(f.name.lower(), _renamed(f.type, types[f.name.lower()])) for f in arrow])
    if is_.is_map(arrow) and type_.kind is Kind.MAP:
        key, value = type_.key_and_value
        named = [("key", _renamed(arrow.key_type, key)), ("value", _renamed(arrow.item_type, value))]
        return pa.list_(pa.struct(named))
    if type_.element is None or not (is_.is_list(arrow) or is_.is_large_list(arrow) or is_.is_fixed_size_list(arrow)):
        return arrow
    element = _renamed(arrow.value_type, type_.element)
    if is_.is_fixed_size_list(arrow):
        return pa.list_(element, arrow.list_size)
    return pa.large_list(element) if is_.is_large_list(arrow) else pa.list_(element)


def _of_json(text: str | None, type_: DataType) -> object:
    return None if text is None or not text.strip() else _parts(json.loads(text, parse_float=Decimal), type_)


def _parts(value: object, type_: DataType) -> object:
    """A value of JSON, ready for Arrow: a struct has all of its fields.

    Raises:
        ValueError: a list or struct is something else, or a struct has a member without a field. Arrow would accept it.
    """
    if value is None:
        return None
    if type_.kind is Kind.MAP:
        if not isinstance(value, dict):
            raise ValueError("it is no object")
        return [{"key": key, "value": _parts(each, type_.key_and_value[1])} for key, each in value.items()]
    if type_.element is not None:
        if not isinstance(value, list):
            raise ValueError("it is no list")
        return [_parts(each, type_.element) for each in value]
    if type_.kind is Kind.DECIMAL and type(value) is int:
        return Decimal(value)  # Arrow would want a decimal of 21 digits for any integer
    if type_.kind is Kind.STRING and not isinstance(value, str):
        return _text(value)
    if not type_.fields:
        return value
    members = {name.lower(): each for name, each in value.items()} if isinstance(value, dict) else {"": None}
    if not members.keys() <= dict(type_.fields).keys():
        raise ValueError("it is no struct of these fields")
    return {name: _parts(members.get(name), field) for name, field in type_.fields}


def _text(value: object) -> str:
    """A value of JSON that is no text, as it is written."""
    return f"{value:f}" if isinstance(value, Decimal) else json.dumps(value, ensure_ascii=False, default=str)


def _cast(values: pa.Array, type_: DataType) -> pa.Array:
    if type_.kind in (Kind.TIMESTAMP, Kind.TIME, Kind.INTERVAL) and pa.types.is_temporal(values.type):
        if getattr(values.type, "unit", "") == "ns":
            values = _in_microseconds(values)
        values = values.cast(to_shown(type_) if type_.kind is not Kind.TIMESTAMP else to_arrow(type_))
    return values.cast(to_arrow(type_))


def _in_microseconds(values: pa.Array) -> pa.Array:
    """Values of nanoseconds. Arrow refuses to drop these, or truncates towards 0; SQL engines round down."""
    is_ = pa.types
    unit = pa.duration if is_.is_duration(values.type) else pa.time64 if is_.is_time(values.type) else pa.timestamp
    floored = pc.floor_temporal(values.cast(pa.int64()).cast(pa.timestamp("ns")), unit="microsecond")
    return floored.cast(pa.timestamp("us")).cast(pa.int64()).cast(unit("us"))


def _parse(text: pa.Array, type_: DataType) -> tuple[pa.Array, Mask | None]:
    """Text as ``type_``. The syntax is checked first: Arrow's own casts take 0x1F, and wrap decimals of 39 digits."""
    if type_.kind is Kind.INTERVAL:
        raise pa.ArrowNotImplementedError("a text may say an interval in many ways")
    text = pc.utf8_trim_whitespace(without_marks(text, type_))
    well_formed = _well_formed(text, type_)
    if type_.kind is Kind.TIMESTAMP and not pc.all(well_formed).as_py():
        for pattern, plain in _APART.items():
            text = pc.replace_substring_regex(text, pattern, plain)
        well_formed = _well_formed(text, type_)
    malformed = pc.invert(pc.fill_null(well_formed, True))
    text = pc.if_else(malformed, pa.scalar(None, pa.string()), text)
    fitting, misfit = cast_each(text, lambda part: _parse_well_formed(part, type_))
    mask = malformed.to_numpy(zero_copy_only=False)
    if misfit is not None:
        mask = mask | misfit
    if type_.kind is Kind.DOUBLE:
        overflow = pc.and_(pc.is_inf(fitting), pc.match_substring_regex(text, r"\d"))
        mask = mask | pc.fill_null(overflow, False).to_numpy(zero_copy_only=False)
    return fitting, mask if mask.any() else None


def without_marks(text: pa.Array, type_: DataType) -> pa.Array:
    """Texts of numbers, times or booleans, with NULL for texts such as N/A that mean no value.

    Example:
        >>> from workbench.sql.algebra.types import INTEGER
        >>> without_marks(pa.array(["7", "n/a", "-", "NaN", "-1"]), INTEGER).to_pylist()
        ['7', None, None, None, '-1']
    """
    marks = NULL_MARKS if type_.kind is Kind.DOUBLE else f"{NULL_MARKS}|{NAN_MARKS}"
    return pc.if_else(pc.match_substring_regex(text, marks), pa.scalar(None, pa.string()), text)


def _well_formed(text: pa.Array, type_: DataType) -> pa.Array:
    if type_.kind is not Kind.DECIMAL:
        return pc.match_substring_regex(text, _SYNTAX[type_.kind])
    whole = type_.precision - type_.scale
    number = pc.match_substring_regex(text, r"^[+-]?(?:\d+\.?\d*|\.\d+)$")
    fits = pc.match_substring_regex(text, rf"^[+-]?0*\d{{0,{whole}}}(?:\.\d{{0,{type_.scale}}}0*)?$")
    return pc.and_(number, fits)


def _parse_well_formed(text: pa.Array, type_: DataType) -> pa.Array:
    match type_.kind:
        case Kind.INTEGER:
            return pc.replace_substring_regex(text, r"^\+", "").cast(pa.int64())
        case Kind.DECIMAL:
            # Arrow counts zeros after the last digit that says something as digits too many.
            text = pc.replace_substring_regex(text, r"^([+-]?)\.", r"\10.")
            text = pc.replace_substring_regex(text, r"\.0*$", "")
            text = pc.replace_substring_regex(text, r"(\.\d*[1-9])0+$", r"\1")
            return text.cast(to_arrow(type_))
        case Kind.TIME:
            return _cast(_parse_well_formed(pc.binary_join_element_wise("1970-01-01", text, " "), TIMESTAMP), type_)
        case Kind.TIMESTAMP:
            return _parse_timestamp(pc.replace_substring_regex(text, r"(\.\d{6})\d+", r"\1"))
        case _:
            return text.cast(to_arrow(type_))


def _parse_timestamp(text: pa.Array) -> pa.Array:
    zoned = pc.match_substring_regex(text, _ZONE)
    nothing = pa.scalar(None, pa.string())
    plain = pc.if_else(zoned, nothing, text).cast(pa.timestamp("us"))
    utc = pc.if_else(zoned, text, nothing).cast(pa.timestamp("us", "UTC")).cast(pa.timestamp("us"))
    return pc.coalesce(plain, utc)


def beyond_years(values: pa.Array | pa.ChunkedArray) -> bool:
    """Whether there is a date or a timestamp outside of the years 1 to 9999."""
    return (pa.types.is_date(values.type) or pa.types.is_timestamp(values.type)) and bool(
        pc.any(_outside_years(values)).as_py()
    )


def _outside_years(values: pa.Array | pa.ChunkedArray) -> pa.Array:
    first, last = (pa.scalar(limit, pa.timestamp("us")).cast(values.type) for limit in _YEARS)
    return pc.or_(pc.less(values, first), pc.greater(values, last))


def _within_years(values: pa.Array, misfit: Mask | None) -> tuple[pa.Array, Mask | None]:
    outside = _outside_years(values)
    if not pc.any(outside).as_py():
        return values, misfit
    beyond = pc.fill_null(outside, False).to_numpy(zero_copy_only=False)
    return pc.if_else(outside, pa.scalar(None, values.type), values), beyond if misfit is None else beyond | misfit


def is_numeric(arrow: pa.DataType) -> bool:
    """Whether values of a type of Arrow are numbers."""
    return pa.types.is_integer(arrow) or pa.types.is_floating(arrow) or pa.types.is_decimal(arrow)


def is_text(arrow: pa.DataType) -> bool:
    """Whether values of a type of Arrow are texts."""
    return pa.types.is_string(arrow) or pa.types.is_large_string(arrow) or pa.types.is_string_view(arrow)
