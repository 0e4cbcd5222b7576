"""Finding the rows of a segment by a key: the dictionary inside a SteM (CACQ 2.2; Raman, Deshpande, Hellerstein).

A segment's index (``sorted_index``) is its rows' keys as sorted 64-bit hashes, and where each row stands. What is found
are *candidates*: equal hashes. Spark tests the pairs of a join, and groups the rows of a group, so a collision costs
time and no answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from workbench.engine.physical.grouped_filter import comparable
from workbench.engine.storage.segments import open_segment
from workbench.engine.storage.sorted_index import Positions, sorted_index

Hashes = npt.NDArray[np.uint64]

AT_ONCE = 64
"""At most so many candidates of one key are tried at a time where one is wanted."""

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)

_SOME_DAY = -(1 << 23)
"""The first day that an index tells from others; the last one is as far from 1970."""
_DAYS = np.uint64((1 << 24) - 1)


@dataclass(frozen=True)
class Key:
    """By what rows are found: their key's columns, and within a key the day in a column of dates, if they have one."""

    columns: tuple[str, ...]
    day: str | None = None


@dataclass(frozen=True)
class Wanted:
    """What is looked for: for each key its hash, or with days the first and the last hash."""

    low: Hashes
    high: Hashes
    by_day: bool = False

    @staticmethod
    def keys(hashes: Hashes) -> Wanted:
        """Keys alone."""
        return Wanted(hashes, hashes)


def key_hashes(columns: Sequence[pa.Array], nulls: bool = False) -> tuple[Hashes, npt.NDArray[np.bool_]]:
    """The hash of each row's key, and which rows have a key.

    Values of one type that are equal have equal hashes, in every process; 0.0 equals -0.0 and NaN equals NaN, as Spark
    groups them.

    Args:
        columns: the key's, at least one.
        nulls: whether NULL is a value like others, as in GROUP BY; if not, a row with one has no key, as in a join.
    """
    hashes = np.zeros(len(columns[0]), dtype=np.uint64)
    whole = np.ones(len(columns[0]), dtype=bool)
    for column in columns:
        one = _one_hash(column)
        if column.null_count:
            missing = np.asarray(column.is_null())
            one = np.where(missing, _GOLDEN, one)
            whole &= nulls | ~missing
        hashes = _mixed(hashes * _GOLDEN + one)
    return hashes, whole


def row_hashes(rows: pa.RecordBatch, names: Sequence[str], nulls: bool = False) -> tuple[Hashes, npt.NDArray[np.bool_]]:
    """``key_hashes`` of some columns; without columns all rows have one key."""
    if not names:
        return np.zeros(rows.num_rows, dtype=np.uint64), np.ones(rows.num_rows, dtype=bool)
    return key_hashes([rows.column(name) for name in names], nulls)


def candidates(
    segment: str, key: Key, wanted: Wanted, at_a_time: int, nulls: bool = False
) -> Iterator[tuple[Positions, Positions]]:
    """Rows of a segment whose key may be one of those wanted: positions in ``wanted``, and rows, pair by pair.

    About ``at_a_time`` pairs come together; more only where one key alone has more rows. ``nulls``: see ``key_hashes``.
    """
    first, counts, rows = _found(segment, key, wanted, nulls)
    found = np.flatnonzero(counts)
    portion = np.cumsum(counts[found]) // at_a_time
    for some in np.split(found, np.flatnonzero(np.diff(portion)) + 1):
        repeats = counts[some]
        asked = np.repeat(some, repeats)
        within = np.arange(len(asked)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
        yield asked, rows[first[asked] + within]


def one_candidate(
    segment: str, key: Key, wanted: Wanted, good: Callable[[Positions, Positions], npt.NDArray[np.bool_]]
) -> tuple[Positions, Positions]:
    """For each of those wanted one of its candidates that is good: positions in ``wanted``, and rows, pair by pair.

    Args:
        segment, key, wanted: as of ``candidates``.
        good: tells it of pairs.
    """
    first, counts, rows = _found(segment, key, wanted, nulls=False)
    left = np.flatnonzero(counts)
    parts = [(left[:0], rows[:0])]
    tried, more = 0, 1
    while len(left):
        repeats = np.minimum(counts[left] - tried, more)
        asked = np.repeat(left, repeats)
        within = np.arange(len(asked)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
        found = rows[first[asked] + tried + within]
        fit = good(asked, found)
        served, at = np.unique(asked[fit], return_index=True)
        parts.append((served, found[fit][at]))
        tried, more = tried + more, min(2 * more, AT_ONCE)
        left = left[(counts[left] > tried) & ~np.isin(left, served)]
    return np.concatenate([asked for asked, _ in parts]), np.concatenate([found for _, found in parts])


def count_candidates(segment: str, key: Key, wanted: Wanted) -> int:
    """How many pairs ``candidates`` would find."""
    return int(_found(segment, key, wanted, nulls=False)[1].sum())


def within_days(hashes: Hashes, days: npt.NDArray[np.int64], first: float, last: float) -> Wanted:
    """What is wanted by rows that look for those of the same key some days later.

    Args:
        hashes: of their keys.
        days: theirs, since 1970.
        first, last: how many days later, at least and at most; may be negative, or infinite.
    """
    low = _SOME_DAY if first == -np.inf else days + int(first)
    high = -_SOME_DAY if last == np.inf else days + int(last)
    return Wanted(_with_day(hashes, low), _with_day(hashes, high), True)


def _found(segment: str, key: Key, wanted: Wanted, nulls: bool) -> tuple[Positions, Positions, Positions]:
    """For each of those wanted where its rows begin in the index and how many there are; and the index's rows."""
    assert wanted.by_day == (key.day is not None)
    hashes, rows = _index(segment, key, nulls)
    first = np.searchsorted(hashes, wanted.low, side="left")
    return first, np.maximum(0, np.searchsorted(hashes, wanted.high, side="right") - first), rows


def _index(segment: str, key: Key, nulls: bool) -> tuple[Hashes, Positions]:
    def entries() -> tuple[Hashes, Positions]:
        batch = open_segment(segment)
        hashes, whole = row_hashes(batch, key.columns, nulls)
        if key.day is not None:
            days = batch.column(key.day)
            whole &= ~np.asarray(days.is_null())
            hashes = _with_day(hashes, comparable(days))
        rows = np.flatnonzero(whole)
        return hashes[rows], rows

    return sorted_index(segment, "\x00".join(("key", *key.columns, str(nulls), f"by {key.day}")), entries)


def _with_day(hashes: Hashes, days: npt.NDArray[np.generic] | int) -> Hashes:
    """Hashes whose last bits are days, so that rows of one key are in the order of their days."""
    # Days beyond these are the first or the last one, so they are found too often, and never too seldom.
    placed = (np.clip(days, _SOME_DAY, -_SOME_DAY - 1) - _SOME_DAY).astype(np.uint64)
    return (hashes & ~_DAYS) | placed


def _one_hash(column: pa.Array) -> Hashes:
    if not pa.types.is_string(column.type):
        numbers = comparable(column)
        if pa.types.is_floating(column.type):
            numbers = np.where(np.isnan(numbers), np.nan, np.add(numbers, 0.0))
        return _mixed(numbers.view(np.uint64))
    encoded = column.dictionary_encode()
    values = np.append(encoded.dictionary.to_numpy(zero_copy_only=False), "")
    hashes = pd.util.hash_array(values.astype(object), categorize=False)
    return np.asarray(hashes[encoded.indices.fill_null(len(values) - 1).to_numpy(zero_copy_only=False)])


def _mixed(x: Hashes) -> Hashes:
    """The finalizer of splitmix64: numbers next to each other get hashes far apart."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
