"""Retention: which rows of a tree will still be read, and freeing the others.

A tree is bounded by the largest window that reads it; ``physical.retention`` derives the bounds from the queries.
A segment goes when none of its rows is needed. It is written again, without its expired rows, when half of its rows
have expired. So a tree has at most about twice the rows that are needed, and each time a row is written again, at least
one other has gone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from workbench.arrow.types import Mask
from workbench.engine.storage.indexes.sorted_index import count_within, earliest_time, rows_in_intervals
from workbench.engine.storage.layout import conform
from workbench.engine.storage.lineage import rows_with_bits
from workbench.engine.storage.relation import Relation
from workbench.engine.storage.segments import Run, Segment, check_segments, open_segment, write_segments
from workbench.sql.windows.bounds import Interval


@dataclass(frozen=True)
class RetentionBound:
    """Rows of a tree that will still be read: those that have all of some bits, with times in their intervals.

    ``times`` has the stored columns in order, each with its interval; without any, all rows are meant.
    """

    bits: frozenset[int]
    times: tuple[tuple[str, Interval], ...] = ()

    def covers(self, other: RetentionBound) -> bool:
        """Whether all rows of the other bound are among those of this one."""
        theirs = dict(other.times)
        return self.bits <= other.bits and all(
            column in theirs and interval.intersected(theirs[column]) == theirs[column]
            for column, interval in self.times
        )


class Expiration:
    """Frees expired rows, and remembers how many rows of each segment could be needed when it was last read.

    Attributes:
        last_counts: tree -> segment -> these rows, of segments that were read.
    """

    def __init__(self) -> None:
        self.last_counts: dict[str, Mapping[str, int]] = {}

    def forget(self, keep: Callable[[str], bool]) -> None:
        """Forget the trees whose name is not to be kept."""
        self.last_counts = {tree: counts for tree, counts in self.last_counts.items() if keep(tree)}

    def free(
        self,
        tree: str,
        relation: Relation,
        state: Relation | None,
        bounds: Sequence[RetentionBound],
        every_row: frozenset[int],
        groups: Collection[str] = (),
    ) -> tuple[Relation, Relation | None]:
        """A tree's relation and state without the rows that no bound covers; the same objects where none goes.

        Args:
            tree: its name.
            relation, state: its rows, and the state of its root if it has one.
            bounds: rows that will be read.
            every_row: bits that all of its rows have.
            groups: the columns of the state that say which group a row of it is.
        """
        if any(not bound.times and bound.bits <= every_row for bound in bounds):
            return relation, state
        counts = dict(self.last_counts.get(tree, {}))
        left = _without_expired(relation, bounds, counts)
        kept = [*left.segments]
        if state is not None:
            # The state has no lineage. A group whose MIN or MAX of a time has expired may get more rows, and needs what
            # it has counted so far; one that is of an expired time may not.
            of_groups = [RetentionBound(frozenset(), tuple(t for t in b.times if t[0] in groups)) for b in bounds]
            state = _without_expired(state, of_groups, counts) if all(b.times for b in of_groups) else state
            kept += state.segments
        paths = {segment.path for segment in kept}
        self.last_counts[tree] = {path: rows for path, rows in counts.items() if path in paths}
        return left, state


def needed_rows(rows: pa.RecordBatch, bound: RetentionBound) -> Mask:
    """Which rows a bound covers."""
    return rows_in_intervals(rows, dict(bound.times)) & rows_with_bits(rows, bound.bits)


def _without_expired(relation: Relation, bounds: Sequence[RetentionBound], counts: dict[str, int]) -> Relation:
    runs = (sum((_left_of(segment, relation, bounds, counts) for segment in run), start=()) for run in relation.runs)
    left = tuple(run for run in runs if run)
    return relation if left == relation.runs else replace(relation, runs=left)


def _left_of(segment: Segment, relation: Relation, bounds: Sequence[RetentionBound], counts: dict[str, int]) -> Run:
    """What is left of a segment. It is only read when at most half as many rows could be needed as last time."""
    could_be = min(segment.rows, sum(_most_needed(segment, bound) for bound in bounds if bound.times))
    before = counts.get(segment.path)
    known = segment.rows if before is None else before
    worth_it = 1 - relation.jobs.limits.percent_expired / 100
    if could_be > known * worth_it or could_be == before:
        return (segment,)
    counts[segment.path] = could_be
    if not bounds:
        return ()
    rows = open_segment(segment.path)
    kept = np.logical_or.reduce([needed_rows(rows, bound) for bound in bounds])
    left = int(kept.sum())
    if not left:
        return ()
    if left == segment.rows or left > segment.rows * worth_it:
        return (segment,)
    check_segments([segment])
    remaining = conform(rows.filter(pa.array(kept)), relation.layout.arrow)
    of_buckets = segment.buckets, segment.by
    return write_segments(pa.Table.from_batches([remaining]), relation.folder, relation.jobs.limits, *of_buckets)


def _most_needed(segment: Segment, bound: RetentionBound) -> int:
    """The number of rows of a segment that a bound covers, at most: those with each of their times in its interval."""
    return min(
        segment.rows if _none_before(segment, column, interval.low) else count_within(segment.path, column, interval)
        for column, interval in bound.times
    )


def _none_before(segment: Segment, column: str, low: int) -> bool:
    first = earliest_time(segment.path, column)
    return first is not None and low <= first
