"""Look-up of a segment's rows by key: the dictionary inside a SteM (CACQ 2.2; Raman, Deshpande, Hellerstein 2003).

A segment's index (``sorted_index``) has the keys of its rows as sorted 64-bit hashes, and where each row stands. A
look-up finds *candidates*: rows with an equal hash. The caller, or Spark, compares the values, so a collision costs
time, and never a wrong answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from workbench.arrow.types import Mask
from workbench.engine.storage.comparable import comparable
from workbench.engine.storage.grouping import Positions
from workbench.engine.storage.indexes.sorted_index import sorted_index
from workbench.engine.storage.segments import open_segment

Hashes = npt.NDArray[np.uint64]

AT_ONCE = 64
"""The most candidates of one key that are tried at a time where one match is enough."""

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)

_FIRST_DAY = -(1 << 23)
"""The first day that an index can tell from others; the last one is as far from 1970."""
_DAYS = np.uint64((1 << 24) - 1)


@dataclass(frozen=True)
class Key:
    """The key that rows are looked up by: its columns and, within a key, the day in a column of dates if any.

    With ``nulls`` NULL is a value like others, as in GROUP BY; without, a row with a NULL has no key, as in a join.
    """

    columns: tuple[str, ...]
    day: str | None = None
    nulls: bool = False


@dataclass(frozen=True)
class KeyRanges:
    """The ranges of a look-up: for each position the first and the last hash; they differ where it asks for days."""

    low: Hashes
    high: Hashes
    by_day: bool = False

    @staticmethod
    def equal(hashes: Hashes) -> KeyRanges:
        """Rows with just these hashes."""
        return KeyRanges(hashes, hashes)

    @staticmethod
    def within_days(hashes: Hashes, days: Positions, first: float, last: float) -> KeyRanges:
        """Rows of the same key some days later.

        Args:
            hashes: of the keys.
            days: since 1970, one for each hash.
            first, last: how many days later, at least and at most; may be negative, or infinite.
        """
        low = _FIRST_DAY if first == -np.inf else days + int(first)
        high = -_FIRST_DAY if last == np.inf else days + int(last)
        return KeyRanges(_with_day(hashes, low), _with_day(hashes, high), True)


def key_hashes(columns: Sequence[pa.Array], nulls: bool = False) -> tuple[Hashes, Mask]:
    """The hash of each row's key, and which rows have a key.

    Values of one type that are equal have equal hashes, in every process; 0.0 equals -0.0 and NaN equals NaN, as Spark
    groups them.

    Args:
        columns: the key's, at least one.
        nulls: see ``Key``.
    """
    hashes = np.zeros(len(columns[0]), dtype=np.uint64)
    has_key = np.ones(len(columns[0]), dtype=bool)
    for column in columns:
        values = value_hashes(column)
        if column.null_count:
            missing = np.asarray(column.is_null())
            values = np.where(missing, _GOLDEN, values)
            has_key &= nulls | ~missing
        hashes = _mixed(hashes * _GOLDEN + values)
    return hashes, has_key


def row_hashes(rows: pa.RecordBatch, names: Sequence[str], nulls: bool = False) -> tuple[Hashes, Mask]:
    """``key_hashes`` of some columns; without columns all rows have one key."""
    if not names:
        return np.zeros(rows.num_rows, dtype=np.uint64), np.ones(rows.num_rows, dtype=bool)
    return key_hashes([rows.column(name) for name in names], nulls)


def candidates(segment: str, key: Key, ranges: KeyRanges, at_a_time: int) -> Iterator[tuple[Positions, Positions]]:
    """Rows of a segment that may have one of the keys: positions in ``ranges`` and in the segment, pair by pair.

    About ``at_a_time`` pairs come together; more only where one key alone has more rows.
    """
    first, counts, rows = _matches(segment, key, ranges)
    asked = np.flatnonzero(counts)
    if not len(asked):
        return
    through = np.cumsum(counts[asked])
    few = through[-1] <= at_a_time  # nearly always: splitting takes longer than a look-up of few rows
    for some in [asked] if few else np.split(asked, np.flatnonzero(np.diff(through // at_a_time)) + 1):
        repeated, within = _expanded(some, counts[some])
        yield repeated, rows[first[repeated] + within]


def one_match(
    segment: str, key: Key, ranges: KeyRanges, matches: Callable[[Positions, Positions], Mask]
) -> tuple[Positions, Positions]:
    """For each position in ``ranges`` one of its candidates that matches, if there is any: pair by pair.

    Args:
        segment, key, ranges: as of ``candidates``.
        matches: which of some pairs match.
    """
    first, counts, rows = _matches(segment, key, ranges)
    left = np.flatnonzero(counts)
    parts = [(left[:0], rows[:0])]
    tried, more = 0, 1
    while len(left):
        asked, within = _expanded(left, np.minimum(counts[left] - tried, more))
        candidate = rows[first[asked] + tried + within]
        good = matches(asked, candidate)
        served, at = np.unique(asked[good], return_index=True)
        parts.append((served, candidate[good][at]))
        tried, more = tried + more, min(2 * more, AT_ONCE)
        left = left[(counts[left] > tried) & ~np.isin(left, served)]
    return np.concatenate([asked for asked, _ in parts]), np.concatenate([row for _, row in parts])


def count_candidates(segment: str, key: Key, ranges: KeyRanges) -> int:
    """How many pairs ``candidates`` would find."""
    return int(candidates_of_each(segment, key, ranges).sum())


def candidates_of_each(segment: str, key: Key, ranges: KeyRanges) -> Positions:
    """How many of these pairs there are for each position in ``ranges``."""
    return _matches(segment, key, ranges)[1]


def value_hashes(column: pa.Array) -> Hashes:
    """The hash of each value of a column; what stands for NULL is arbitrary."""
    if not pa.types.is_string(column.type):
        numbers = comparable(column)
        if pa.types.is_floating(column.type):
            numbers = np.where(np.isnan(numbers), np.nan, np.add(numbers, 0.0))
        return _mixed(numbers.view(np.uint64))
    encoded = column.dictionary_encode()
    values = np.append(encoded.dictionary.to_numpy(zero_copy_only=False), "")
    hashes = pd.util.hash_array(values.astype(object), categorize=False)
    indices = encoded.indices.fill_null(len(values) - 1) if column.null_count else encoded.indices
    return np.asarray(hashes[indices.to_numpy(zero_copy_only=False)])


def _expanded(positions: Positions, counts: Positions) -> tuple[Positions, Positions]:
    """Each position as often as its count says, and beside it 0, 1, 2, ..."""
    return np.repeat(positions, counts), np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)


def _matches(segment: str, key: Key, ranges: KeyRanges) -> tuple[Positions, Positions, Positions]:
    """For each position in ``ranges`` where its rows begin in the index and how many there are; the index's rows."""
    assert ranges.by_day == (key.day is not None)
    hashes, rows = _index(segment, key)
    first = np.searchsorted(hashes, ranges.low, side="left")
    return first, np.maximum(0, np.searchsorted(hashes, ranges.high, side="right") - first), rows


def _index(segment: str, key: Key) -> tuple[Hashes, Positions]:
    def entries() -> tuple[Hashes, Positions]:
        batch = open_segment(segment)
        hashes, has_key = row_hashes(batch, key.columns, key.nulls)
        if key.day is not None:
            days = batch.column(key.day)
            has_key &= ~np.asarray(days.is_null())
            hashes = _with_day(hashes, comparable(days))
        rows = np.flatnonzero(has_key)
        return hashes[rows], rows

    return sorted_index(segment, "\x00".join(("key", *key.columns, str(key.nulls), f"by {key.day}")), entries)


def _with_day(hashes: Hashes, days: npt.NDArray[np.generic] | int) -> Hashes:
    """Hashes whose last bits are days, so that rows of one key are in the order of their days."""
    # Days beyond these are the first or the last one, so they are found too often, and never too seldom.
    placed = (np.clip(days, _FIRST_DAY, -_FIRST_DAY - 1) - _FIRST_DAY).astype(np.uint64)
    return (hashes & ~_DAYS) | placed


def _mixed(x: Hashes) -> Hashes:
    """The finalizer of splitmix64: numbers next to each other get hashes far apart."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
