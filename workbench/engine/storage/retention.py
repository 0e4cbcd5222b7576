"""Retention: which rows of a tree will still be read, and freeing the others.

A tree is bounded by the largest window that reads it; ``physical.retention`` derives the bounds from the queries.
A segment goes when none of its rows is needed. It is written again, without its expired rows, when half of its rows
have expired. So a tree has at most about twice the rows that are needed, and each time a row is written again, at least
one other has gone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa

from workbench.arrow.types import Mask
from workbench.engine.storage.indexes.sorted_index import count_within, earliest_time, rows_in_intervals
from workbench.engine.storage.job_input import TaskInput
from workbench.engine.storage.layout import Layout, conform
from workbench.engine.storage.lineage import rows_with_bits
from workbench.engine.storage.relation import Relation
from workbench.engine.storage.segments import (
    Run,
    Segment,
    SegmentFields,
    check_segments,
    open_segment,
    segment_fields,
    write_segments,
)
from workbench.limits import Limits
from workbench.sql.windows.bounds import Interval


@dataclass(frozen=True)
class RetentionBound:
    """Rows of a tree that will still be read: those that have all of some bits, with times in their intervals.

    ``times`` has the stored columns in order, each with its interval; without any, all rows are meant.
    """

    bits: frozenset[int]
    times: tuple[tuple[str, Interval], ...] = ()

    def covers(self, other: RetentionBound) -> bool:
        """Whether this bound keeps all rows that the other bound keeps."""
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
        parts = expiring_parts(relation, state, bounds, every_row, groups)
        if not parts:
            return relation, state
        counts = dict(self.last_counts.get(tree, {}))
        freed = {role: _without_expired(part, of_part, counts) for role, (part, of_part) in parts.items()}
        left, state = freed[ROWS], freed.get(STATE, state)
        paths = {segment.path for kept in (left, state) if kept is not None for segment in kept.segments}
        self.last_counts[tree] = {path: rows for path, rows in counts.items() if path in paths}
        return left, state


ROWS, STATE = "rows", "state"
"""The relations of a tree."""

Expiring = Mapping[str, tuple[Relation, tuple[RetentionBound, ...]]]
"""The relations of a tree that may have expired rows, by their roles, with the bounds of those that are read."""


def expiring_parts(
    relation: Relation,
    state: Relation | None,
    bounds: Sequence[RetentionBound],
    every_row: frozenset[int],
    groups: Collection[str] = (),
) -> Expiring:
    """What of a tree may have expired rows; nothing where a bound covers all. Arguments as ``Expiration.free``."""
    if any(not bound.times and bound.bits <= every_row for bound in bounds):
        return {}
    parts = {ROWS: (relation, tuple(bounds))}
    # The state has no lineage. A group whose MIN or MAX of a time has expired may get more rows, and needs what it has
    # counted so far; one that is of an expired time may not.
    of_groups = tuple(RetentionBound(frozenset(), tuple(t for t in b.times if t[0] in groups)) for b in bounds)
    if state is not None and all(bound.times for bound in of_groups):
        parts[STATE] = state, of_groups
    return parts


@dataclass(frozen=True)
class FreeExpired:
    """The work of a task that frees expired rows: its input has all segments as a change, of which it takes some.

    Attributes:
        layout: of the rows that are written.
        folder: where.
        bounds: rows that will be read.
    """

    layout: Layout
    folder: str
    bounds: tuple[RetentionBound, ...]

    def __call__(self, task: TaskInput) -> list[tuple[int, list[SegmentFields]]]:
        """Of each segment that loses rows its place among all, and what is left of it."""
        every = task.inputs[0].change
        left = {at: self.left_of(every[at], task.limits, {}) for at in range(task.task, len(every), task.tasks)}
        return [(at, [*map(segment_fields, run)]) for at, run in left.items() if run != (every[at],)]

    def left_of(self, segment: Segment, limits: Limits, counts: dict[str, int]) -> Run:
        """The rest of a segment. It is read only when at most half as many rows could be needed as last time.

        Args:
            segment: which one.
            limits: of the session.
            counts: how many rows of each segment could be needed when it was last read.
        """
        could_be = min(segment.rows, sum(_most_needed(segment, bound) for bound in self.bounds if bound.times))
        before = counts.get(segment.path)
        known = segment.rows if before is None else before
        worth_it = 1 - limits.percent_expired / 100
        if could_be > known * worth_it or could_be == before:
            return (segment,)
        counts[segment.path] = could_be
        if not self.bounds:
            return ()
        rows = open_segment(segment.path)
        kept = np.logical_or.reduce([needed_rows(rows, bound) for bound in self.bounds])
        left = int(kept.sum())
        if not left:
            return ()
        if left == segment.rows or left > segment.rows * worth_it:
            return (segment,)
        check_segments([segment])
        remaining = pa.Table.from_batches([conform(rows.filter(pa.array(kept)), self.layout.arrow)])
        return write_segments(remaining, Path(self.folder), limits, segment.buckets, segment.by)


def needed_rows(rows: pa.RecordBatch, bound: RetentionBound) -> Mask:
    """Which rows a bound covers."""
    return rows_in_intervals(rows, dict(bound.times)) & rows_with_bits(rows, bound.bits)


def _without_expired(relation: Relation, bounds: tuple[RetentionBound, ...], counts: dict[str, int]) -> Relation:
    free, limits = FreeExpired(relation.layout, str(relation.folder), bounds), relation.jobs.limits
    return with_left(relation, (free.left_of(segment, limits, counts) for segment in relation.segments))


def with_left(relation: Relation, left: Iterable[Run]) -> Relation:
    """A relation with the rest of each of its segments; itself where no segment lost rows."""
    of_segments = iter(left)
    runs = (tuple(chain.from_iterable(next(of_segments) for _ in run)) for run in relation.runs)
    kept = tuple(run for run in runs if run)
    return relation if kept == relation.runs else replace(relation, runs=kept)


def _most_needed(segment: Segment, bound: RetentionBound) -> int:
    """The number of rows of a segment that a bound covers, at most: those with each of their times in its interval."""
    return min(
        segment.rows if _none_before(segment, column, interval.low) else count_within(segment.path, column, interval)
        for column, interval in bound.times
    )


def _none_before(segment: Segment, column: str, low: int) -> bool:
    first = earliest_time(segment.path, column)
    return first is not None and low <= first
