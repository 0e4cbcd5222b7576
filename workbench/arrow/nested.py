"""Arrays, structs and maps column by column: the JSON in which they are stored (``sql/functions/stored_values``), and
the lists and structs of Arrow that have the same values.

Here a map is a list of its entries, a date its days, a time its microseconds. All is done a column at a time, by
Arrow's reader of JSON and its joins of texts: values in Python cost ten times as much.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from workbench.arrow.types import filled, to_shown
from workbench.sql.algebra.types import DataType, Kind
from workbench.sql.functions.json_texts import quoted_json
from workbench.sql.functions.stored_values import INFINITE, NAN

_AS_NUMBERS = {Kind.DATE: pa.int32(), **dict.fromkeys((Kind.TIMESTAMP, Kind.INTERVAL, Kind.TIME), pa.int64())}
_ESCAPED = r'[\x00-\x1f"\\]'
_BITS, _LEAST = 53, -1074
"""Of a DOUBLE: digits of the mantissa, and the exponent of the smallest number."""


def arrow_in_json(type_: DataType) -> pa.DataType:
    """The Arrow type of values as they are here.

    Example:
        >>> from workbench.sql.algebra.types import DATE, array_of
        >>> arrow_in_json(array_of(DATE))
        ListType(list<item: int32>)
    """
    if type_.element is not None:
        return pa.list_(arrow_in_json(type_.element))
    if type_.fields:
        return pa.struct([(name, arrow_in_json(field)) for name, field in type_.fields])
    return _AS_NUMBERS.get(type_.kind, to_shown(type_))


class _TextsRead(threading.local):
    """What this thread has read, while it is in ``texts_read_once``.

    Attributes:
        depth: how often it is in it.
        values: by the places of texts in memory and their type; with the texts, so that no others come there.
    """

    def __init__(self) -> None:
        self.depth, self.values = 0, dict[tuple[object, ...], tuple[pa.Array, pa.Array]]()


_READ = _TextsRead()


@contextmanager
def texts_read_once() -> Iterator[None]:
    """Within the context ``read_stored`` reads a column once, however many expressions it is in."""
    _READ.depth += 1
    try:
        yield
    finally:
        _READ.depth -= 1
        if not _READ.depth:
            _READ.values.clear()


def read_stored(texts: pa.StringArray, type_: DataType) -> pa.Array:
    """The values of stored texts, NULL for NULL.

    Raises:
        ArrowInvalid: a text is not what ``write_stored`` writes of the type.

    Example:
        >>> from workbench.sql.algebra.types import DOUBLE, array_of
        >>> read_stored(pa.array(["[[3,-1],null]", None]), array_of(DOUBLE)).to_pylist()
        [[1.5, None], None]
    """
    if not _READ.depth:
        return _read(texts, type_)
    buffers = (None if buffer is None else buffer.address for buffer in texts.buffers())
    place = (*buffers, texts.offset, len(texts), type_)
    if place not in _READ.values:
        _READ.values[place] = texts, _read(texts, type_)
    return _READ.values[place][1]


def _read(texts: pa.StringArray, type_: DataType) -> pa.Array:
    if type_.kind is Kind.BINARY:
        return pa.array([None if text is None else bytes.fromhex(text) for text in texts.to_pylist()], pa.binary())
    if not len(texts):
        return pa.array([], arrow_in_json(type_))
    lines = pc.binary_join_element_wise('{"v":', filled(texts, "null"), "}\n", "").cast(pa.large_string())
    _, ends, characters = lines.buffers()
    size = int(np.frombuffer(ends, np.int64)[lines.offset + len(lines)])
    table = pa.json.read_json(
        pa.BufferReader(characters.slice(0, size)),
        pa.json.ReadOptions(use_threads=False, block_size=size + 1),
        pa.json.ParseOptions(pa.schema([("v", _type_in_text(type_))]), unexpected_field_behavior="error"),
    )
    return _converted(table.column("v").combine_chunks(), type_)


def write_stored(values: pa.Array, type_: DataType) -> pa.StringArray:
    """The stored texts of values, NULL for NULL: JSON as Spark writes it, without blanks, with as few escapes as there
    must be; fields are called by their places.

    Raises:
        ArrowInvalid: a map has a key twice, or NULL as a key.

    Example:
        >>> from workbench.sql.algebra.types import DOUBLE, array_of
        >>> write_stored(pa.array([[1.5, None], None]), array_of(DOUBLE)).to_pylist()
        ['[[6755399441055744,-52],null]', None]
    """
    return _hexadecimal(values) if type_.kind is Kind.BINARY else _json(values, type_)


def with_elements(lists: pa.ListArray, elements: pa.Array) -> pa.ListArray:
    """Lists of the same lengths, and NULL where they are, of other elements: as many as ``pc.list_flatten`` gives.

    Example:
        >>> with_elements(pa.array([[1, 2], None, [3]]), pa.array(["a", "b", "c"])).to_pylist()
        [['a', 'b'], None, ['c']]
    """
    return pa.ListArray.from_arrays(pa.array(offsets(lists)), elements, mask=_missing(lists))


def offsets(lists: pa.ListArray) -> npt.NDArray[np.int32]:
    """Where the elements of each list begin among all that ``pc.list_flatten`` gives, and where the last ones end.

    Example:
        >>> offsets(pa.array([[1, 2], None, [3]])).tolist()
        [0, 2, 2, 3]
    """
    lengths = filled(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)


_PARTS = np.dtype([("months", "<i4"), ("days", "<i4"), ("nanoseconds", "<i8")])
"""Of an interval in Arrow."""


def intervals_of(months: pa.Array) -> pa.Array:
    """Numbers of months as intervals, which Arrow does not cast.

    Example:
        >>> intervals_of(pa.array([14, None])).to_pylist()
        [MonthDayNano(months=14, days=0, nanoseconds=0), None]
    """
    parts = np.zeros(len(months), _PARTS)
    parts["months"] = filled(months, 0).to_numpy(zero_copy_only=False)
    values = pa.Array.from_buffers(pa.month_day_nano_interval(), len(months), [None, pa.py_buffer(parts)])
    return values if not months.null_count else pc.if_else(months.is_valid(), values, pa.scalar(None, values.type))


def months_of(intervals: pa.Array) -> pa.Array:
    """The numbers of months of intervals.

    Example:
        >>> months_of(pa.array([pa.MonthDayNano([14, 0, 0]), None])).to_pylist()
        [14, None]
    """
    parts = np.frombuffer(intervals.buffers()[1], _PARTS, len(intervals), intervals.offset * _PARTS.itemsize)
    return pa.array(parts["months"].astype(np.int64), mask=np.asarray(intervals.is_null()))


def _type_in_text(type_: DataType) -> pa.DataType:
    """The Arrow type of a value as it is written in JSON."""
    if type_.element is not None:
        return pa.list_(_type_in_text(type_.element))
    if type_.fields:
        return pa.struct([(f"f{place}", _type_in_text(field)) for place, (_, field) in enumerate(type_.fields)])
    if type_.kind is Kind.DOUBLE:
        return pa.list_(pa.int64())
    if type_.kind is Kind.MONTHS:
        return pa.int64()
    return pa.string() if type_.kind is Kind.BINARY else arrow_in_json(type_)


def _converted(read: pa.Array, type_: DataType) -> pa.Array:
    """Convert values that were read from JSON to their type."""
    if read.type == (arrow := arrow_in_json(type_)):
        return read
    if type_.element is not None:
        return with_elements(read, _converted(pc.list_flatten(read), type_.element))
    if type_.fields:
        fields = [_converted(pc.struct_field(read, [at]), field) for at, (_, field) in enumerate(type_.fields)]
        return pa.StructArray.from_arrays(fields, fields=[*arrow], mask=_missing(read))
    if type_.kind is Kind.DOUBLE:
        return _doubles_of_parts(read)
    if type_.kind is Kind.MONTHS:
        return intervals_of(read)
    return pa.array([None if text is None else bytes.fromhex(text) for text in read.to_pylist()], arrow)


def _json(values: pa.Array, type_: DataType) -> pa.StringArray:
    match type_.kind:
        case Kind.ARRAY | Kind.MAP:
            assert type_.element is not None
            texts = filled(_json(elements := pc.list_flatten(values), type_.element), "null")
            if type_.kind is Kind.MAP:
                _check_keys(values, pc.struct_field(elements, [0]), type_.key_and_value[0])
            return _around("[", pc.binary_join(with_elements(values, texts), ","), "]", values)
        case Kind.STRUCT:
            parts: list[pa.Array | str] = []
            for place, (_, field) in enumerate(type_.fields):
                texts = filled(_json(pc.struct_field(values, [place]), field), "null")
                parts += [f'{"," if place else ""}"f{place}":', texts]
            return _around("{", pc.binary_join_element_wise(*parts, ""), "}", values)
        case Kind.STRING:
            return _around('"', _escaped(values), '"', values)
        case Kind.BINARY:
            return _around('"', _hexadecimal(values), '"', values)
        case Kind.DOUBLE:
            m, e = _parts_of_doubles(values)
            return _around("[", pc.binary_join_element_wise(m.cast(pa.string()), e.cast(pa.string()), ","), "]", values)
        case Kind.MONTHS:
            return months_of(values).cast(pa.string())
        case Kind.DECIMAL:
            return pa.array([None if value is None else str(value) for value in values.to_pylist()], pa.string())
    return values.cast(pa.string())


def _hexadecimal(values: pa.BinaryArray) -> pa.StringArray:
    return pa.array([None if value is None else value.hex().upper() for value in values.to_pylist()], pa.string())


def _around(before: str, texts: pa.Array, after: str, values: pa.Array) -> pa.StringArray:
    """Texts with something before and after each, NULL where there is no value."""
    found = pc.binary_join_element_wise(before, texts, after, "")
    return pc.if_else(values.is_valid(), found, pa.scalar(None, pa.string())) if values.null_count else found


def _missing(values: pa.Array) -> pa.BooleanArray | None:
    return values.is_null() if values.null_count else None


def _escaped(texts: pa.StringArray) -> pa.StringArray:
    odd = filled(pc.match_substring_regex(texts, _ESCAPED), False)
    if not pc.any(odd).as_py():
        return texts
    escaped = pa.array([quoted_json(text)[1:-1] for text in texts.filter(odd).to_pylist()], pa.string())
    return pc.replace_with_mask(texts, odd, escaped)


def _parts_of_doubles(values: pa.DoubleArray) -> tuple[pa.Int64Array, pa.Int64Array]:
    """m and e of each DOUBLE, which is m * 2^e, with the lowest e that leaves its digits whole; 0 of NULL."""
    numbers = filled(values, 0.0).to_numpy(zero_copy_only=False)
    finite = np.isfinite(numbers)
    known = np.where(finite, numbers, 0.0)
    e = np.where(known == 0, 0, np.maximum(np.frexp(known)[1].astype(np.int64) - _BITS, _LEAST))
    # 2^1074 is no DOUBLE: the exponent is taken in two steps, and each is exact.
    m = np.ldexp(np.ldexp(known, -(e // 2)), -(e - e // 2)).astype(np.int64)
    m = np.where(np.isinf(numbers), np.sign(numbers, where=~np.isnan(numbers), out=np.zeros_like(numbers)), m)
    e = np.where(finite, e, np.where(np.isnan(numbers), int(NAN), int(INFINITE)))
    return pa.array(m.astype(np.int64)), pa.array(e)


def _doubles_of_parts(parts: pa.ListArray) -> pa.DoubleArray:
    pairs = pc.list_flatten(parts).to_numpy(zero_copy_only=False).reshape(-1, 2)
    m, e = pairs[:, 0], pairs[:, 1]
    numbers = np.ldexp(m.astype(np.float64), np.where(e == int(INFINITE), 0, e).astype(np.int32))
    numbers = np.where(e == int(INFINITE), np.copysign(np.inf, m), numbers)
    numbers = np.where((m == 0) & (e == int(NAN)), np.nan, numbers)
    known = np.asarray(parts.is_valid())
    found = np.zeros(len(parts))
    found[known] = numbers
    return pa.array(found, mask=~known)


def _check_keys(maps: pa.ListArray, keys: pa.Array, type_: DataType) -> None:
    """Refuse a map with a key twice, or without one."""
    of = np.repeat(np.arange(len(maps)), np.diff(offsets(maps)))
    table = pa.table({"map": of, "key": write_stored(keys, type_)})
    if keys.null_count or len(table.group_by(["map", "key"]).aggregate([])) < len(keys):
        raise pa.ArrowInvalid("a key stands twice in a map, or is NULL")
