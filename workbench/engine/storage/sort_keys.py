"""Several values as one text that orders as they do: the first value first, NULL before all others.

The greatest of some rows by two columns is then the greatest text, rows that are alike have one text, and what keeps
texts keeps tuples. Numbers, dates and times are ten digits to base 128, decimals twenty, all behind a mark that says
whether there is a value. A text is itself where it is the last value; elsewhere it is followed by a character that is
escaped in it. 0.0 is -0.0, and NaN the largest number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.types import Mask, unscaled_integers
from workbench.engine.storage.comparable import order_numbers

DIGITS, BITS = 10, 7
"""A 64-bit number has ten digits of seven bits, so that texts of them are ASCII."""
_SIGN = np.uint64(1 << 63)
_SHIFTS = np.arange(DIGITS - 1, -1, -1, dtype=np.uint64) * np.uint64(BITS)
_NOTHING, _THERE, _END = "\x00", "\x01", "\x00"


def tuple_texts(columns: Sequence[pa.Array], known: Sequence[int]) -> pa.Array:
    """The text of each row.

    Args:
        columns: the values, at least one column; all but the last one tell their own end.
        known: the columns, by position, that must have a value; else the row has no text.

    Example:
        >>> rows = [pa.array([2, -1, 2, None]), pa.array(["b", "c", None, "a"])]
        >>> pc.sort_indices(tuple_texts(rows, known=[0])).to_pylist()
        [1, 2, 0, 3]
    """
    last = len(columns) - 1
    parts = [_field(column, at == last) for at, column in enumerate(columns)]
    keys = parts[0] if not last else pc.binary_join_element_wise(*parts, "")
    for column in (columns[at] for at in known):
        if column.null_count:
            keys = pc.if_else(column.is_valid(), keys, None)
    return keys


def last_values(keys: pa.Array, types: Sequence[pa.DataType]) -> pa.Array:
    """The last values of rows by their texts; NULL also where there is no text.

    Args:
        keys: of ``tuple_texts``.
        types: of all columns.

    Example:
        >>> rows = [pa.array(["a", "a\\x00", None]), pa.array([1.5, None, -0.0])]
        >>> last_values(tuple_texts(rows, []), [column.type for column in rows]).to_pylist()
        [1.5, None, 0.0]
    """
    *before, type_ = types
    filled = keys.fill_null(_NOTHING * (1 + 2 * DIGITS * len(types)))
    offsets = np.frombuffer(filled.buffers()[1], dtype=np.int32)[filled.offset :][: len(filled) + 1].astype(np.int64)
    characters = np.frombuffer(filled.buffers()[2] or b"", dtype=np.uint8)
    starts, ends = offsets[:-1], offsets[1:]
    for skipped in before:
        if _is_text(skipped):
            closing = np.flatnonzero(characters == 0)
            starts = closing[np.searchsorted(closing, starts + 1)] + 1
        else:
            starts = starts + 1 + _width(skipped)
    there = characters[starts] == 1
    if _is_text(type_):
        lengths = np.where(there, ends - starts - 1, 0)
        through = np.append(0, np.cumsum(lengths))
        at = np.repeat(starts + 1 - through[:-1], lengths) + np.arange(through[-1])
        return pc.if_else(pa.array(there), texts_of(characters[at], through), pa.scalar(None, pa.string()))
    digits = characters[(starts + 1)[:, None] + np.arange(_width(type_)) * there[:, None]]
    words = words_of_digits(digits.reshape(-1, DIGITS)).reshape(len(keys), _width(type_) // DIGITS)
    return _numbers(words, there, type_)


def _field(column: pa.Array, last: bool) -> pa.Array:
    if _is_text(column.type):
        texts = column.fill_null("")
        if not last:
            texts = pc.replace_substring(pc.replace_substring(texts, "\x01", "\x01\x02"), "\x00", "\x01\x01")
            texts = pc.binary_join_element_wise(texts, _END, "")
        return pc.binary_join_element_wise(pc.if_else(column.is_valid(), _THERE, _NOTHING), texts, "")
    digits = np.empty((len(column), 1 + _width(column.type)), dtype=np.uint8)
    there = np.asarray(column.is_valid())
    digits[:, 0] = there
    for at, words in enumerate(_words(column)):
        digits[:, 1 + at * DIGITS : 1 + (at + 1) * DIGITS] = digits_of_words(words)
    digits[~there] = 0
    return texts_of(digits.reshape(-1), np.arange(len(column) + 1) * digits.shape[1])


def digits_of_words(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint8]:
    """64-bit numbers as digits to base 128, the highest first; shape (numbers, digits)."""
    digits = np.empty((len(_SHIFTS), len(words)), dtype=np.uint8)
    for own, shift in zip(digits, _SHIFTS, strict=True):
        np.bitwise_and((words >> shift).astype(np.uint8), np.uint8(127), out=own)
    return digits.T


def words_of_digits(digits: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
    """The numbers of ``digits_of_words``."""
    words = np.zeros(len(digits), dtype=np.uint64)
    for column in digits.T:
        words = words << np.uint64(BITS) | column
    return words


def texts_of(characters: npt.NDArray[np.uint8], ends: npt.NDArray[Any]) -> pa.Array:
    """Split concatenated ASCII texts; ``ends`` begins with 0."""
    buffers = [None, pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(np.ascontiguousarray(characters))]
    return pa.Array.from_buffers(pa.string(), len(ends) - 1, buffers)


def _words(column: pa.Array) -> list[npt.NDArray[np.uint64]]:
    """The value of each row as words without sign that order as it does, the highest first."""
    if pa.types.is_decimal(column.type):
        known = column.fill_null(0)
        return [unscaled_integers(known, 1).view(np.uint64) ^ _SIGN, unscaled_integers(known).view(np.uint64)]
    return [order_numbers(column).view(np.uint64) ^ _SIGN]


def _numbers(words: npt.NDArray[np.uint64], there: Mask, type_: pa.DataType) -> pa.Array:
    """The values of ``_words``."""
    words[:, 0] ^= _SIGN
    if pa.types.is_decimal(type_):
        both = pa.py_buffer(np.ascontiguousarray(words[:, ::-1]))
        return pa.Array.from_buffers(type_, len(words), [pa.array(there).buffers()[1], both])
    numbers = np.ascontiguousarray(words[:, 0]).view(np.int64)
    if pa.types.is_floating(type_):
        numbers = numbers ^ (numbers >> 63 & np.int64(2**63 - 1))
        return pa.array(numbers.view(np.float64), mask=~there)
    found = pa.array(numbers, mask=~there)
    return (found.cast(pa.int32()) if pa.types.is_boolean(type_) or pa.types.is_date32(type_) else found).cast(type_)


def _is_text(type_: pa.DataType) -> bool:
    return bool(pa.types.is_string(type_))


def _width(type_: pa.DataType) -> int:
    return DIGITS * (2 if pa.types.is_decimal(type_) else 1)
