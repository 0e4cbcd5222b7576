"""Freeing the rows that are past: a tree is bounded by the largest window that anyone reads of it (``needs``).

A segment none of whose rows is needed goes; one half of whose rows are past is written again, without them. So a tree
has at most about twice the rows that are needed, and a row is written again once for every time that as many others go.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from workbench.engine.operators.window import within
from workbench.engine.physical.grouped_filter import WORD
from workbench.engine.storage.layout import conform, word_column
from workbench.engine.storage.relation import Relation
from workbench.engine.storage.retention import Need
from workbench.engine.storage.scan import has
from workbench.engine.storage.segments import Segment, check_segments, open_segment, write_segments
from workbench.engine.storage.time_index import count_within, earliest
from workbench.engine.tree import Tree
from workbench.streams.arrow_types import Mask

PAST_SHARE = 0.5
"""The share of past rows from which on a segment is written again."""


class Pruner:
    """Frees past rows, and remembers how much of each segment might be needed when it was looked at."""

    def __init__(self) -> None:
        self._looked: dict[str, dict[str, int]] = {}

    def pruned(self, tree: Tree, needs: Sequence[Need]) -> Tree:
        """A tree without rows that are past."""
        roots = tree.plan.roots
        everything = frozenset(tree.plan.bits[root] for root in roots if len(roots) == 1)
        if not needs or any(not need.times and need.bits <= everything for need in needs):
            return tree
        looked = self._looked.get(tree.plan.name, {})
        relation = _without_past(tree.relation, needs, looked)
        state = tree.state
        if state is not None:
            # What is kept of a group has no bits, and of its times those that are groups.
            keys = state.layout.columns
            groups = [Need(frozenset(), tuple(t for t in need.times if t[0] in keys)) for need in needs]
            state = _without_past(state, groups, looked) if all(need.times for need in groups) else state
        files = relation.files if state is None else relation.files | state.files
        self._looked[tree.plan.name] = {path: rows for path, rows in looked.items() if path in files}
        if relation is tree.relation and state is tree.state:
            return tree
        return replace(tree, relation=relation, state=state, needed=tuple(needs))


def _without_past(relation: Relation, needs: Sequence[Need], looked: dict[str, int]) -> Relation:
    runs = []
    for run in relation.runs:
        parts = [_left_of(segment, relation, needs, looked) for segment in run]
        if left := tuple(segment for part in parts for segment in part):
            runs.append(left)
    return relation if tuple(runs) == relation.runs else replace(relation, runs=tuple(runs))


def _left_of(
    segment: Segment, relation: Relation, needs: Sequence[Need], looked: dict[str, int]
) -> tuple[Segment, ...]:
    """What is left of a segment. To look costs reading it, so that is done when half as much may be needed."""
    may_be = min(segment.rows, sum(_may_be_needed(segment, need) for need in needs if need.times))
    before = looked.get(segment.path)
    known = segment.rows if before is None else before
    if may_be > known * (1 - PAST_SHARE) or may_be == before:
        return (segment,)
    looked[segment.path] = may_be
    rows = open_segment(segment.path)
    kept = np.logical_or.reduce([_needed(rows, need) for need in needs])
    left = int(kept.sum())
    if left and (left == segment.rows or left > segment.rows * (1 - PAST_SHARE)):
        return (segment,)
    if not left:
        return ()
    check_segments([segment])
    there = conform(rows.filter(pa.array(kept)), relation.layout.arrow)
    return write_segments(pa.Table.from_batches([there]), relation.folder)


def _may_be_needed(segment: Segment, need: Need) -> int:
    """How many rows of a segment have each of their times in its interval: at most so many are needed."""
    return min(
        segment.rows if _none_before(segment, column, interval.low) else count_within(segment.path, column, interval)
        for column, interval in need.times
    )


def _none_before(segment: Segment, column: str, low: int) -> bool:
    first = earliest(segment.path, column)
    return first is not None and low <= first


def _needed(rows: pa.RecordBatch, need: Need) -> Mask:
    """Which rows are needed."""
    return within(rows, dict(need.times)) & _has_bits(rows, need.bits)


def _has_bits(rows: pa.RecordBatch, bits: Iterable[int]) -> Mask:
    found = np.ones(rows.num_rows, dtype=bool)
    for bit in bits:
        at = rows.schema.get_field_index(word_column(bit // WORD))
        if at < 0:  # written before there was such a word
            return np.zeros(rows.num_rows, dtype=bool)
        found &= has(rows.column(at), bit)
    return found
