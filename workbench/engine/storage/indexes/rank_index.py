"""Ranks: the value at a place in the order of a group's values, found without reading the group.

The counts of a group's values are spread over the runs of a relation, each of which has changes of some of them. An
index of a segment has its rows by group and, within a group, by value, with the sum of the counts so far. So how many
of the group's values are at most *v* is a binary search in each run, and the value at a place is found by searching for
it among the values of all runs: the logarithm of the group's size in steps, whatever was added or taken back.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from workbench.engine.storage.comparable import Orders, comparable, has_order_numbers
from workbench.engine.storage.grouping import Positions, not_distinct, with_equal_bits
from workbench.engine.storage.indexes.key_index import Hashes, key_hashes
from workbench.engine.storage.indexes.sorted_index import index_columns
from workbench.engine.storage.segments import open_segment


@dataclass(frozen=True)
class RankKey:
    """The value that is ranked, and the groups within which it is.

    Attributes:
        columns: of a group.
        value: the column whose values are in order; rows where it is NULL are not ranked.
        count: the column with the change of how often a value is there.
    """

    columns: tuple[str, ...]
    value: str
    count: str


def sums_between(through: Positions, first: Positions, end: Positions) -> Positions:
    """The sums of ranges of entries, of the sums up to and with each entry."""
    if not len(through):
        return np.zeros(len(first), dtype=np.int64)
    up_to_end, up_to_first = (np.where(at > 0, through[at - 1], 0) for at in (end, first))
    return np.asarray(up_to_end - up_to_first)


@dataclass(frozen=True)
class CountedRun:
    """Entries in order, each with how often it counts.

    Attributes:
        orders: what they are in order of.
        through: the sum of the counts up to and with each entry.
        rows: where the row of each entry stands.
    """

    orders: npt.NDArray[Any]
    through: Positions
    rows: Positions

    def count(self, first: int, end: int) -> int:
        """The sum of the counts of the entries from ``first`` until before ``end``."""
        return self.up_to(end) - self.up_to(first) if end > first else 0

    def order(self, at: int) -> Any:
        """The value that orders an entry."""
        return self.orders[at]

    def end(self, first: int, end: int, pivot: Any, side: Literal["left", "right"]) -> int:
        """Of the entries from ``first`` until before ``end``, where those below a pivot end, or those up to it."""
        return first + int(np.searchsorted(self.orders[first:end], pivot, side=side))

    def up_to(self, end: int) -> int:
        """The sum of the counts of the entries before ``end``."""
        return int(self.through[end - 1]) if end else 0


@dataclass(frozen=True)
class GroupedRun(CountedRun):
    """Entries group by group, in order within a group.

    Attributes:
        hashes: of the groups; two groups of one hash cannot be told apart (``None`` is given instead of such a run).
    """

    hashes: Hashes

    def slices(self, hashes: Hashes) -> tuple[Positions, Positions]:
        """Where the entries of each group begin and end."""
        return np.searchsorted(self.hashes, hashes, side="left"), np.searchsorted(self.hashes, hashes, side="right")


R = TypeVar("R", bound=CountedRun)


@dataclass(frozen=True)
class Ranked(Generic[R]):
    """Entries that are spread over several runs: of each run those from a position until before another."""

    parts: tuple[tuple[R, int, int], ...]

    @property
    def total(self) -> int:
        """How many there are, each as often as it counts."""
        return sum(run.count(first, end) for run, first, end in self.parts)

    def place_at(self, rank: int) -> tuple[R, int]:
        """Find the entry with ``rank`` entries before it in the order: its run, and its position there.

        Args:
            rank: at least 0 and less than ``total``.
        """
        ranges = [(first, end) for _, first, end in self.parts]
        found: tuple[R, int] | None = None
        while True:
            widest = max(range(len(ranges)), key=lambda at: ranges[at][1] - ranges[at][0])
            low, high = ranges[widest]
            if low >= high:
                break
            run, middle = self.parts[widest][0], (low + high) // 2
            pivot = run.order(middle)
            up_to = self._ends(ranges, pivot, "right")
            if sum(r.count(first, end) for (r, first, _), end in zip(self.parts, up_to, strict=True)) > rank:
                found = run, middle
                below = self._ends(ranges, pivot, "left")
                ranges = [(first, end) for (first, _), end in zip(ranges, below, strict=True)]
            else:
                ranges = [(end, last) for (_, last), end in zip(ranges, up_to, strict=True)]
        assert found is not None, f"nothing has the rank {rank}"
        return found

    def _ends(self, ranges: Sequence[tuple[int, int]], pivot: Any, side: Literal["left", "right"]) -> list[int]:
        """In each run, where the entries up to a pivot end, or those below it."""
        return [run.end(low, high, pivot, side) for (run, _, _), (low, high) in zip(self.parts, ranges, strict=True)]


@dataclass(frozen=True)
class SortedRun(GroupedRun):
    """Rows by group, and by value within a group.

    Attributes:
        values: of the rows where they stand.
    """

    values: pa.Array

    @staticmethod
    def of_segment(segment: str, key: RankKey) -> SortedRun | None:
        """The rows of a segment; ``None`` where two of its groups have one hash."""
        rows = open_segment(segment)
        name = "\x00".join(("ranks", *key.columns, key.value, key.count))
        hashes, orders, through, at = index_columns(segment, name, lambda: _sorted(rows, key))
        collided = len(hashes) == 0 and pc.count(rows.column(key.value)).as_py() > 0
        return None if collided else SortedRun._of(hashes, orders, through, at, rows.column(key.value))

    @staticmethod
    def of_rows(rows: pa.RecordBatch, key: RankKey) -> SortedRun | None:
        """Rows that are in memory."""
        hashes, orders, through, at = _sorted(rows, key)
        some = len(at) or not rows.num_rows
        return SortedRun._of(hashes, orders, through, at, rows.column(key.value)) if some else None

    @staticmethod
    def _of(hashes: Hashes, orders: Orders, through: Positions, at: Positions, values: pa.Array) -> SortedRun:
        return (SortedRun if has_order_numbers(values.type) else RunOfValues)(orders, through, at, hashes, values)


class RunOfValues(SortedRun):
    """Rows whose values no 64-bit numbers order, as texts: the values themselves are compared."""

    def order(self, at: int) -> Any:
        """The value of an entry."""
        return self.values[int(self.rows[at])].as_py()

    def end(self, first: int, end: int, pivot: Any, side: Literal["left", "right"]) -> int:
        """See ``CountedRun``."""
        bisect = bisect_left if side == "left" else bisect_right
        return first + bisect(range(first, end), pivot, key=self.order)


class RankedGroup(Ranked[SortedRun]):
    """The values of one group in order: its part of each run."""

    def value_at(self, rank: int) -> pa.Scalar:
        """Find the value with ``rank`` values before it in the order; see ``place_at``."""
        run, at = self.place_at(rank)
        return run.values[int(run.rows[at])]


def values_at_end(
    slices: Sequence[tuple[SortedRun, Positions, Positions]], number: int, last: bool
) -> Iterator[tuple[pa.Array, Positions, Positions]]:
    """Values at an end of the order of groups, the groups that have them, and how often; equal ones once for each run.

    A few entries at the end of each run are looked at. Those beyond the last one of a run that has more tell all of
    their values; where too many of these were taken back, more are looked at.

    Args:
        slices: the runs, and where the entries of each group begin and end there.
        number: of different values at least; a group that has fewer gives all.
        last: whether they are the greatest ones.
    """
    some, groups = number + 1, np.arange(len(slices[0][1]))
    while len(groups):
        found = [_taken(run, first[groups], end[groups], some, last) for run, first, end in slices]
        values = with_equal_bits(pa.concat_arrays([one[0] for one in found]))
        owner, counts, has_more = (np.concatenate([one[at] for one in found]) for at in (1, 2, 3))
        order = pc.sort_indices(
            pa.table({"owner": owner, "value": values}), [("owner", "ascending"), ("value", "ascending")]
        )
        at = order.to_numpy()[::-1] if last else order.to_numpy()
        values, owner = values.take(pa.array(at)), owner[at]
        new = np.ones(len(at), dtype=bool)
        new[1:] = (owner[1:] != owner[:-1]) | ~not_distinct(values[1:], values[:-1])
        starts = np.flatnonzero(new)
        owner, counts = owner[starts], np.add.reduceat(counts[at], starts) if len(at) else counts
        unsure = np.cumsum(np.logical_or.reduceat(has_more[at], starts)) if len(at) else starts
        before = np.append(0, unsure)[np.searchsorted(-owner if last else owner, -owner if last else owner)]
        sure = (unsure == before) & (counts > 0)
        enough = np.bincount(owner[sure], minlength=len(groups)) >= number
        enough[np.setdiff1d(np.arange(len(groups)), owner[unsure > before])] = True
        left = sure & enough[owner]
        yield values.take(pa.array(starts[left])), groups[owner[left]], counts[left]
        some, groups = some * 4, groups[~enough]


def _taken(
    run: SortedRun, first: Positions, end: Positions, some: int, last: bool
) -> tuple[pa.Array, Positions, Positions, npt.NDArray[np.bool_]]:
    """Some entries at an end of ranges of a run: values, number of the range, counts, and whether more are behind."""
    low = np.maximum(first, end - some) if last else first
    high = end if last else np.minimum(end, first + some)
    sizes = high - low
    owner = np.repeat(np.arange(len(first)), sizes)
    at = np.arange(len(owner)) + np.repeat(low - (np.cumsum(sizes) - sizes), sizes)
    innermost = at == (low[owner] if last else high[owner] - 1)
    counts = sums_between(run.through, at, at + 1)
    return run.values.take(pa.array(run.rows[at])), owner, counts, innermost & (sizes < end - first)[owner]


def _sorted(rows: pa.RecordBatch, key: RankKey) -> tuple[Hashes, Orders, Positions, Positions]:
    """Hashes, orders, sums and positions of the rows with a value; none where two groups have one hash."""
    at = np.flatnonzero(np.asarray(rows.column(key.value).is_valid()))
    rows = rows.select([*dict.fromkeys((*key.columns, key.value, key.count))]).take(pa.array(at))
    hashes, _ = key_hashes([rows.column(name) for name in key.columns], nulls=True)
    values = rows.column(key.value)
    if has_order_numbers(values.type):
        orders = comparable(with_equal_bits(values))
        order = np.lexsort((orders, hashes))
    else:
        orders = np.zeros(len(hashes), dtype=np.int8)  # see RunOfValues
        table = pa.table({"hash": hashes, "value": values})
        order = pc.sort_indices(table, [("hash", "ascending"), ("value", "ascending")]).to_numpy()
    hashes, orders, through = hashes[order], orders[order], rows.column(key.count).to_numpy()[order]
    if _collide(rows.select([*key.columns]).take(pa.array(order)), hashes, key):
        return hashes[:0], orders[:0], through[:0], at[:0]
    return hashes, orders, np.cumsum(through), at[order]


def _collide(rows: pa.RecordBatch, hashes: Hashes, key: RankKey) -> bool:
    """Whether two neighbours of one hash are of different groups."""
    same = hashes[1:] == hashes[:-1]
    return any(not not_distinct(c[1:], c[:-1])[same].all() for c in (rows.column(name) for name in key.columns))
