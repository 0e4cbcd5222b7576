"""HASH and XXHASH64 as Spark computes them: Murmur3 of 32 bits, and xxHash of 64, of one value after the other.

The hash of a number is that of its bytes: 4 of a DATE, a BOOLEAN and an INTEGER of 32 bits, 8 of others, and as many as
it needs of a DECIMAL of more than 18 digits.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from decimal import Context
from typing import Any

import pyarrow as pa

from workbench.arrow.python_values import over_columns
from workbench.engine.physical.stored.kernels.kernel import Kernel, of_kinds
from workbench.sql.algebra.expressions import Call
from workbench.sql.algebra.types import MAX_PRECISION, DataType, Kind
from workbench.sql.functions.hashes import HASHED_KINDS, MAX_LONG_DIGITS, is_hashed_as_int

_32, _64 = 2**32 - 1, 2**64 - 1
_SEED = 42
_DIGITS = Context(MAX_PRECISION)
_P1, _P2, _P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
_P4, _P5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5


def _mixed(h: int, k: int) -> int:
    k = k * 0xCC9E2D51 & _32
    k = (k << 15 | k >> 17) * 0x1B873593 & _32
    h ^= k
    return ((h << 13 | h >> 19) * 5 + 0xE6546B64) & _32


def _murmur3(data: bytes, seed: int) -> int:
    """Murmur3 in which each byte at the end is mixed in as a separate number."""
    h, whole = seed & _32, len(data) & ~3
    for at in range(0, whole, 4):
        h = _mixed(h, int.from_bytes(data[at : at + 4], "little"))
    for byte in data[whole:]:
        h = _mixed(h, (byte - 256 * (byte > 127)) & _32)
    h ^= len(data)
    h = (h ^ h >> 16) * 0x85EBCA6B & _32
    h = (h ^ h >> 13) * 0xC2B2AE35 & _32
    return _signed(h ^ h >> 16, 32)


def _turned(x: int, by: int) -> int:
    x &= _64
    return (x << by | x >> (64 - by)) & _64


def _round(total: int, lane: int) -> int:
    return _turned(total + lane * _P2, 31) * _P1 & _64


def _xxhash64(data: bytes, seed: int) -> int:
    seed &= _64
    at, h = 0, (seed + _P5) & _64
    if len(data) >= 32:
        lanes = [seed + _P1 + _P2, seed + _P2, seed, seed - _P1]
        while at <= len(data) - 32:
            words = (int.from_bytes(data[at + 8 * n : at + 8 * n + 8], "little") for n in range(4))
            lanes = [_round(total, word) for total, word in zip(lanes, words, strict=True)]
            at += 32
        h = sum(_turned(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True)) & _64
        for lane in lanes:
            h = ((h ^ _round(0, lane)) * _P1 + _P4) & _64
    h += len(data)
    while at + 8 <= len(data):
        h = (_turned(h ^ _round(0, int.from_bytes(data[at : at + 8], "little")), 27) * _P1 + _P4) & _64
        at += 8
    if at + 4 <= len(data):
        h = (_turned(h ^ int.from_bytes(data[at : at + 4], "little") * _P1, 23) * _P2 + _P3) & _64
        at += 4
    for byte in data[at:]:
        h = _turned(h ^ byte * _P5, 11) * _P1 & _64
    h = (h & _64 ^ (h & _64) >> 33) * _P2 & _64
    h = (h ^ h >> 29) * _P3 & _64
    return _signed(h ^ h >> 32, 64)


def _signed(number: int, bits: int) -> int:
    return number - (number >> (bits - 1) << bits)


def _to_bytes(type_: DataType) -> Callable[[Any], bytes]:
    match type_.kind:
        case Kind.STRING:
            return str.encode
        case Kind.DOUBLE:
            return lambda value: struct.pack("<d", math.nan if math.isnan(value) else value or 0.0)
        case Kind.DECIMAL if type_.precision > MAX_LONG_DIGITS:
            return lambda value: _shortest(int(value.scaleb(type_.scale, _DIGITS)))
        case Kind.DECIMAL:
            return lambda value: int(value.scaleb(type_.scale)).to_bytes(8, "little", signed=True)
    length = 4 if is_hashed_as_int(type_) else 8
    return lambda value: int(value).to_bytes(length, "little", signed=True)


def _shortest(number: int) -> bytes:
    """As few bytes as have the number and its sign, the highest first."""
    return number.to_bytes((number if number >= 0 else ~number).bit_length() // 8 + 1, "big", signed=True)


def _hashed(of_bytes: Callable[[bytes, int], int]) -> Kernel:
    """The hash of each value begins with that of the one before; NULL is passed over."""

    def compute(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
        to_bytes = [_to_bytes(argument.type) for argument in call.arguments]

        def of_row(*values: Any) -> int:
            found = _SEED
            for value, convert in zip(values, to_bytes, strict=True):
                found = found if value is None else of_bytes(convert(value), found)
            return found

        return over_columns(of_row, False, arguments, pa.int64())

    return Kernel(compute, of_kinds(*HASHED_KINDS))


HASH_KERNELS = {"hash": _hashed(_murmur3), "xxhash64": _hashed(_xxhash64)}
"""By the name of the function."""
