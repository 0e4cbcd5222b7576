"""Look-up of a segment's rows by key: the dictionary inside a SteM (CACQ 2.2; Raman, Deshpande, Hellerstein 2003).

A segment's index (``sorted_index``) has the keys of its rows as sorted 64-bit hashes, and where each row stands. A
look-up finds *candidates*: rows with an equal hash. The caller, or Spark, compares the values, so a collision costs
time, and never a wrong answer.

Within a key rows may be in the order of a value, so that a look-up for a range of values finds what is in it by two
binary searches. With the greatest second value so far beside each row, one more search leaves out the first rows of the
range that end too early: of intervals that are disjoint, or about as long, those that contain a point are found so, and
hardly another.

Source: for the greatest end so far, T. Cormen and others, Introduction to algorithms, 14.3 (interval trees); in a
sorted run the tree is the order itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Literal, Protocol
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from workbench.arrow.types import Mask, filled
from workbench.engine.storage.buckets import BUCKETS, BucketNumbers
from workbench.engine.storage.comparable import Orders, comparable
from workbench.engine.storage.grouping import GOLDEN, Positions, group_sizes
from workbench.engine.storage.indexes.slots import Hashes as Hashes
from workbench.engine.storage.indexes.slots import ShortPositions, first_entries, starts_of_slots
from workbench.engine.storage.indexes.sorted_index import index_columns
from workbench.engine.storage.segments import open_segment

AT_ONCE = 64
"""The most candidates of one key that are tried at a time where one match is enough."""

MOST_PIECES = 4_194_304
"""Pieces of ranges that are looked at, at most; ranges that overlap more than that do not cancel."""

_MIXING = (np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)), (np.uint64(27), np.uint64(0x94D049BB133111EB))
_LAST_SHIFT = np.uint64(31)
_FEW_TEXTS = 256
"""Texts that are hashed in less time than it takes to find those that are equal."""
_PIECE = 8_192
"""Numbers that are mixed together."""


class Order(Protocol):
    """A value that rows of a key are in the order of."""

    @property
    def name(self) -> str:
        """Tells it apart from others."""
        ...

    def orders(self, rows: pa.RecordBatch) -> tuple[Orders, Mask]:
        """The order of each row, and which rows have one."""
        ...


@dataclass(frozen=True)
class Key:
    """The key that rows are looked up by.

    Attributes:
        columns: that must be equal.
        nulls: whether NULL is a value like others, as in GROUP BY; if not, a row with a NULL has no key, as in a join.
        orders: by what the rows of a key are in order: at most two values, of the second of which lower bounds alone
            are looked up. A row without one of them is not found.
    """

    columns: tuple[str, ...]
    nulls: bool = False
    orders: tuple[Order, ...] = ()

    @cached_property
    def name(self) -> str:
        """Names the index among those of a segment."""
        return "\x00".join(("keys", *self.columns, str(self.nulls), *(f"by {order.name}" for order in self.orders)))


@dataclass(frozen=True)
class KeyRanges:
    """The ranges of a look-up: for each position a hash and, for each order of the key, its bounds.

    Attributes:
        hashes: of the keys.
        bounds: for each order the least and the greatest one that are asked for; ``None`` where there is no bound.
    """

    hashes: Hashes
    bounds: tuple[tuple[Orders | None, Orders | None], ...] = ()


def key_hashes(columns: Sequence[pa.Array], nulls: bool = False) -> tuple[Hashes, Mask]:
    """The hash of each row's key, and which rows have a key.

    Values of one type that are equal have equal hashes, in every process; 0.0 equals -0.0 and NaN equals NaN, as Spark
    groups them.

    Args:
        columns: the key's, at least one.
        nulls: see ``Key``.
    """
    has_key, bits = np.ones(len(columns[0]), dtype=bool), []
    for column in columns:
        own = value_bits(column)
        if column.null_count:
            missing = np.asarray(column.is_null())
            own = np.where(missing, GOLDEN, own)
            has_key &= nulls | ~missing
        bits.append(own)
    return _mixed_together(bits), has_key


def row_hashes(rows: pa.RecordBatch, names: Sequence[str], nulls: bool = False) -> tuple[Hashes, Mask]:
    """``key_hashes`` of some columns; without columns all rows have one key."""
    if not names:
        return np.zeros(rows.num_rows, dtype=np.uint64), np.ones(rows.num_rows, dtype=bool)
    return key_hashes([rows.column(name) for name in names], nulls)


def row_buckets(rows: pa.RecordBatch, names: Sequence[str]) -> BucketNumbers:
    """The bucket of each row by the columns of its group.

    Columns count alike, and NULL counts nothing: fused operators that come or leave bring columns with them, which are
    NULL in the groups of the others, and a group stays in its bucket.
    """
    hashes = np.zeros(rows.num_rows, dtype=np.uint64)
    for column in map(rows.column, names):
        bits = value_bits(column)
        values = bits if pa.types.is_string(column.type) else _mixed_together([bits])
        hashes += np.where(np.asarray(column.is_null()), np.uint64(0), values) if column.null_count else values
    mixed = _mixed_together([hashes])
    mixed &= np.uint64(BUCKETS - 1)  # to divide takes five times as long as the hashes
    return mixed.view(np.int64)


@cache
def bucket_hashing() -> int:
    """A number that changes with how values are hashed: a catalog names buckets, and outlives libraries."""
    numbers = pa.array([*range(100), None])
    types = (pa.int64(), pa.float64(), pa.string(), pa.decimal128(24, 2), pa.timestamp("us"), pa.bool_())
    columns = {str(type_): numbers.cast(type_) for type_ in types}
    rows = pa.RecordBatch.from_pydict(columns)
    return crc32(b"".join(row_buckets(rows, [name]).tobytes() for name in columns))


def candidates(
    segment: str, key: Key, ranges: KeyRanges, at_a_time: int, weights: Positions | None = None
) -> Iterator[tuple[Positions, Positions]]:
    """Rows of a segment that may have one of the keys: positions in ``ranges`` and in the segment, pair by pair.

    About ``at_a_time`` pairs come together; more only where one key alone has more rows.

    Args:
        segment, key, ranges: what is looked up.
        at_a_time: see above.
        weights: 1 or -1 for each position. Then a row of the segment comes with as many positions as their weights
            come to, of the sign of that: those that cancel each other are not even looked at.
    """
    asked, first, counts, rows = _matches(segment, key, ranges)
    if weights is not None:
        asked, first, counts = _uncancelled(asked, first, counts, weights)
    if not len(asked):
        return
    through, every = np.cumsum(counts), np.arange(len(asked))
    few = through[-1] <= at_a_time  # nearly always: splitting takes longer than a look-up of few rows
    if few and through[-1] == len(asked):  # one each
        yield asked, rows[first].astype(np.int64)
        return
    for some in [every] if few else np.split(every, np.flatnonzero(np.diff(through // at_a_time)) + 1):
        repeated, within = expanded(some, counts[some])
        yield asked[repeated], rows[first[repeated] + within].astype(np.int64)


def one_match(
    segment: str, key: Key, ranges: KeyRanges, matches: Callable[[Positions, Positions], Mask]
) -> tuple[Positions, Positions]:
    """For each position in ``ranges`` one of its candidates that matches, if there is any: pair by pair.

    Args:
        segment, key, ranges: as of ``candidates``.
        matches: which of some pairs match.
    """
    asked, first, counts, rows = _matches(segment, key, ranges)
    left = np.arange(len(asked))
    parts = [(asked[:0], asked[:0])]
    tried, more = 0, 1
    while len(left):
        which, within = expanded(left, np.minimum(counts[left] - tried, more))
        candidate = rows[first[which] + tried + within].astype(np.int64)
        good = matches(asked[which], candidate)
        served, at = np.unique(which[good], return_index=True)
        parts.append((asked[served], candidate[good][at]))
        tried, more = tried + more, min(2 * more, AT_ONCE)
        left = left[(counts[left] > tried) & ~np.isin(left, served)]
    return np.concatenate([asked for asked, _ in parts]), np.concatenate([row for _, row in parts])


def count_candidates(segment: str, key: Key, ranges: KeyRanges, weights: Positions | None = None) -> int:
    """How many pairs ``candidates`` would find."""
    asked, first, counts, _ = _matches(segment, key, ranges)
    if weights is not None:
        counts = _uncancelled(asked, first, counts, weights)[2]
    return int(counts.sum())


def candidates_of_each(segment: str, key: Key, ranges: KeyRanges) -> Positions:
    """How many of these pairs there are for each position in ``ranges``."""
    asked, _, counts, _ = _matches(segment, key, ranges)
    of_each = np.zeros(len(ranges.hashes), dtype=np.int64)
    of_each[asked] = counts
    return of_each


def value_bits(column: pa.Array) -> Hashes:
    """64 bits of each value of a column, equal where values are: of a text its hash; of NULL they are arbitrary."""
    if not pa.types.is_string(column.type):
        numbers = comparable(column)
        if pa.types.is_floating(column.type):
            numbers = np.where(np.isnan(numbers), np.nan, np.add(numbers, 0.0))
        return numbers.view(np.uint64)
    if len(column) <= _FEW_TEXTS:
        texts = filled(column, "").to_numpy(zero_copy_only=False)
        return np.asarray(pd.util.hash_array(texts, categorize=False))
    encoded = column.dictionary_encode()
    values = np.append(encoded.dictionary.to_numpy(zero_copy_only=False), "")
    hashes = pd.util.hash_array(values.astype(object), categorize=False)
    indices = encoded.indices.fill_null(len(values) - 1) if column.null_count else encoded.indices
    return np.asarray(hashes[indices.to_numpy(zero_copy_only=False)])


def expanded(positions: Positions, counts: Positions) -> tuple[Positions, Positions]:
    """Each position repeated by its count, with the numbers 0, 1, 2, … of its repetitions."""
    return np.repeat(positions, counts), np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)


def weights_left(weights: Positions, of: Positions) -> Positions:
    """The entries that stay after entries of opposite weight of the same item cancel, as many as the sum of its
    weights.

    Args:
        weights: 1 or -1 for each entry.
        of: the item of each entry, at least 0.

    Example:
        >>> weights_left(np.array([1, -1, 1, 1, -1]), np.array([7, 7, 7, 8, 9])).tolist()
        [0, 3, 4]
    """
    total = np.bincount(of, weights)[of] if len(of) else weights
    # Of the entries of an item those stay that have the sign of the sum.
    order = np.lexsort([weights * -np.sign(total), of])
    first = np.flatnonzero(np.diff(of[order], prepend=-1))
    number = np.arange(len(order)) - np.repeat(first, group_sizes(first, len(order)))
    return order[number < np.abs(total[order])]


def _uncancelled(
    asked: Positions, first: Positions, counts: Positions, weights: Positions
) -> tuple[Positions, Positions, Positions]:
    """Ranges of an index in which weights come to more than 0: who asks, where each begins, and its rows.

    Where they begin and end, ranges cut each other to pieces; a piece has as many as its weights come to.
    """
    points = np.unique(np.concatenate([first, first + counts]))
    begin, end = np.searchsorted(points, first), np.searchsorted(points, first + counts)
    change = np.bincount(begin, weights[asked], len(points)) - np.bincount(end, weights[asked], len(points))
    left = np.cumsum(change) != 0
    # Ranges in which nothing is left need not be cut.
    pieces_left = np.concatenate([[0], np.cumsum(left)])
    some = np.flatnonzero(pieces_left[end] > pieces_left[begin])
    if (end - begin)[some].sum() > MOST_PIECES:
        return asked, first, counts
    which, within = expanded(some, (end - begin)[some])
    pieces = begin[which] + within
    which, pieces = which[left[pieces]], pieces[left[pieces]]
    kept = weights_left(weights[asked[which]], pieces)
    which, pieces = which[kept], pieces[kept]
    return asked[which], points[pieces], points[pieces + 1] - points[pieces]


def _matches(segment: str, key: Key, ranges: KeyRanges) -> tuple[Positions, Positions, Positions, ShortPositions]:
    """The positions in ``ranges`` that have rows, where these begin in the index and how many there are; its rows."""
    if key.orders:
        return _ordered_matches(segment, key, ranges)
    hashes, rows, starts = index_of_keys(segment, key)
    asked, first = first_entries(hashes, ranges.hashes, starts)
    known, counts = ranges.hashes[asked], np.ones(len(first), dtype=np.int64)
    several = np.flatnonzero(hashes.take(first + 1, mode="clip") == known) if len(hashes) else first
    counts[several] = hashes.searchsorted(known[several], side="right") - first[several]
    return asked, first, counts, rows


def index_of_keys(segment: str, key: Key) -> tuple[Hashes, ShortPositions, ShortPositions]:
    """The hashes of a segment's keys in order, their rows, and the starts of slots (``slots``).

    It is made when it is not there yet.
    """

    def entries() -> tuple[Hashes, ShortPositions, ShortPositions]:
        hashes, rows, _ = _keyed(segment, key)
        order = np.argsort(hashes)  # twice as fast as a stable one; equal keys may stand in any order
        hashes = hashes[order]
        return hashes, rows[order].astype(np.int32), starts_of_slots(hashes)

    hashes, rows, starts = index_columns(segment, key.name, entries)
    return hashes, rows, starts


def _ordered_matches(
    segment: str, key: Key, ranges: KeyRanges
) -> tuple[Positions, Positions, Positions, ShortPositions]:
    """``_matches`` where rows of a key are in order.

    An entry's place is the first entry of its key times the number of entries, plus the rank of its value among those
    of all keys. So places are in order as entries are, and one search finds a key and a value. A position whose range
    has none of the segment's values costs no search: most rows of a stream are looked up near the latest.
    """
    hashes, rows, places, values, *greatest = index_columns(segment, key.name, lambda: _ordered_entries(segment, key))
    if not len(hashes):
        none = np.empty(0, dtype=np.int64)
        return none, none, none, rows
    (low, high), *others = ranges.bounds
    possible = np.ones(len(ranges.hashes), dtype=bool)
    if low is not None:
        possible &= low <= values[-1]
    if high is not None:
        possible &= high >= values[0]
    asked = np.flatnonzero(possible)
    known, begin = first_entries(hashes, ranges.hashes[asked])
    asked = asked[known]
    begins, least = begin * (len(hashes) + 1), begin
    ranks = len(hashes) if high is None else _ranks(values, high[asked], "right")
    end = np.searchsorted(places, begins + ranks)
    if low is not None:
        least = np.searchsorted(places, begins + _ranks(values, low[asked]))
    for (at_least, _), (places_so_far, of_second) in zip(others, [greatest], strict=False):
        assert at_least is not None
        reaching = np.searchsorted(places_so_far, begins + _ranks(of_second, at_least[asked]))
        least = np.maximum(least, reaching)
    some = np.flatnonzero(end > least)
    return asked[some], least[some], (end - least)[some], rows


def _keyed(segment: str, key: Key) -> tuple[Hashes, Positions, list[Orders]]:
    """Hashes and positions of the rows that have a key, in their own order, and their orders."""
    batch = open_segment(segment)
    hashes, has_key = row_hashes(batch, key.columns, key.nulls)
    orders = []
    for order in key.orders:
        numbers, known = order.orders(batch)
        orders.append(numbers)
        has_key = has_key & known
    rows = np.flatnonzero(has_key)
    return hashes[rows], rows, [numbers[rows] for numbers in orders]


def _ordered_entries(segment: str, key: Key) -> list[npt.NDArray[np.generic]]:
    """Hashes, rows and places in order, and the values in order; for a second order the same of the greatest so far."""
    hashes, rows, (by, *others) = _keyed(segment, key)
    by_hash = np.argsort(hashes)
    hashes = hashes[by_hash]
    begin = _first_alike(hashes) * (len(hashes) + 1)
    values, ranks = _ranked(by)
    places = begin + ranks[by_hash]
    order = np.argsort(places)  # two sorts of numbers take a third of ``np.lexsort``, whose sorts are stable
    at = by_hash[order]
    columns: list[npt.NDArray[np.generic]] = [hashes, rows[at].astype(np.int32), places[order], values]
    for second in others:
        values, ranks = _ranked(second)
        columns += [np.maximum.accumulate(begin + ranks[at]), values]
    return columns


def _ranked(numbers: Orders) -> tuple[Orders, Positions]:
    """Numbers in order, and of each, where it was, the rank: how many are less."""
    order = np.argsort(numbers)
    ordered, ranks = numbers[order], np.empty(len(numbers), dtype=np.int64)
    ranks[order] = _first_alike(ordered)
    return ordered, ranks


def _first_alike(ordered: npt.NDArray[Any]) -> Positions:
    """The position of the first value that is equal, for each of some values in order."""
    begins = np.ones(len(ordered), dtype=bool)
    begins[1:] = ordered[1:] != ordered[:-1]
    starts = np.flatnonzero(begins)
    return np.repeat(starts, group_sizes(starts, len(ordered)))


def _ranks(ordered: Orders, asked: Orders, side: Literal["left", "right"] = "left") -> Positions:
    """``np.searchsorted``: asked for in their order, numbers find what they need in the cache."""
    order = np.argsort(asked)
    ranks = np.empty(len(asked), dtype=np.int64)
    ranks[order] = np.searchsorted(ordered, asked[order], side=side)
    return ranks


def _mixed_together(columns: Sequence[Hashes]) -> Hashes:
    """A hash of the numbers of each row: those of all columns are mixed at once, and added up with odd factors.

    It goes through the rows by pieces that stay in the cache of a core, which takes a third of the time.
    """
    hashes, factors = np.empty(len(columns[0]), dtype=np.uint64), _factors(len(columns))
    for first in range(0, len(hashes), _PIECE):
        piece = np.array([column[first : first + _PIECE] for column in columns])
        _mix(piece)
        np.matmul(factors, piece, out=hashes[first : first + _PIECE])
    return hashes


@cache
def _factors(columns: int) -> Hashes:
    """1 and powers of an odd number, by which equal numbers of several columns come to something else than 0."""
    return np.array([pow(int(GOLDEN), power, 1 << 64) for power in range(columns)], dtype=np.uint64)


def _mix(numbers: Hashes) -> None:
    """The finalizer of splitmix64, in place: numbers next to each other get hashes far apart."""
    for shift, factor in _MIXING:
        numbers ^= numbers >> shift
        numbers *= factor
    numbers ^= numbers >> _LAST_SHIFT
