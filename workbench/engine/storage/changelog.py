"""The changelog of a local tree: what every batch changed, for queries whose changes are asked for.

Rows carry their batch, so the changes of several batches can stand in one file. Runs of changes are merged by the rule
by which a relation's runs are merged (``relation``), so there are few files however many batches there were.

When rows come to have other bits, the changelog is rewritten, so that what was emitted stays as it was. That happens
when one of several fused operators leaves, since it is computed in another way now or gets a statistic that the others
do not have; and when a join tests less than before, so that its former root is a selection now (T Figure 6.8b).

Where batches have passed over a tree, what they would have changed together is one entry, of the batch after which the
tree goes on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.engine.storage.layout import BATCH, WEIGHT, conform
from workbench.engine.storage.lineage import mask, rows_with_bits, word_arrays, word_column
from workbench.engine.storage.relation import Delta, Relation, consolidate
from workbench.engine.storage.segments import (
    Segment,
    SegmentWriter,
    check_segments,
    open_segment,
    write_segments,
)
from workbench.limits import LIMITS, Limits

Remapping = list[tuple[frozenset[int], frozenset[int]]]
"""Rows that have all bits of the first set get those of the second."""


@dataclass(frozen=True)
class ChangelogEntry:
    """The change of a tree's rows up to a batch, since the entry before.

    Attributes:
        batch: the last batch whose changes these are.
        delta: the changes, summed.
        whole: ``delta`` has all rows of the tree instead, which was hydrated after the batch.
    """

    batch: int
    delta: Delta
    whole: bool = False


Changelog = tuple[ChangelogEntry, ...]


def append_change(log: Changelog, batch: int, delta: Delta) -> Changelog:
    """A changelog with what another batch changed.

    An entry with all rows stays as it is, and is not merged with later ones: queries begin to read there.

    Args:
        log: the entries so far.
        batch: its number.
        delta: what it changed.
    """
    return (*log, ChangelogEntry(batch, Delta(delta.segments)))


def changes_of(log: Changelog, tree: Relation) -> Relation:
    """The changes of a tree as a relation: what came after the last entry with all rows."""
    return replace(tree, runs=tuple(entry.delta.segments for entry in log[_first(log) :]), merge=None, by=None)


def since_hydration(log: Changelog) -> Changelog:
    """A changelog from its last entry with all rows on: what was added to a network later reads from there."""
    return log[max(0, _first(log) - 1) :]


def with_changes(log: Changelog, changes: Relation) -> Changelog:
    """A changelog whose newest entries are one, as the newest runs of its changes are by now."""
    same = _first(log) + len(changes.runs) - 1
    return (*log[:same], ChangelogEntry(log[-1].batch, Delta(changes.runs[-1])))


def _first(log: Changelog) -> int:
    return max((i for i, entry in enumerate(log, start=1) if entry.whole), default=0)


def remap_changelog(
    log: Changelog, remapping: Remapping, words: int, folder: Path, limits: Limits = LIMITS
) -> Changelog:
    """A copy of a changelog with remapped lineage; rows that get no bit are left out.

    Args:
        log: the entries of the old tree.
        remapping: the bits of its rows in the new tree.
        words: of lineage in the new tree.
        folder: of the new tree's rows.
        limits: of what is written together.
    """
    entries = []
    for entry in log:
        check_segments(entry.delta.segments)
        writer = SegmentWriter(str(folder), limits=limits)
        for segment in entry.delta.segments:
            for rows in _remapped_rows(segment, remapping, words, limits.rows_handed_on):
                writer.add(rows)
        entries.append(ChangelogEntry(entry.batch, Delta(tuple(writer.close())), entry.whole))
    return tuple(entries)


def taken_back(relation: Relation, batch: int) -> ChangelogEntry:
    """All rows of a relation, each retracted by a batch: how a tree leaves its present rows (``passed_over``)."""
    rows = _as_changes_of(batch, relation.segments, relation.layout.arrow, sign=-1)
    return ChangelogEntry(batch, Delta(write_segments(rows, relation.folder, relation.jobs.limits)))


def with_difference(log: Changelog, rows: Delta, relation: Relation) -> Changelog:
    """A changelog in which the last entry, which takes all rows back, becomes the difference to other rows.

    Rows that are in both are left out, as far as the driver can compare them at once.

    Args:
        log: its last entry is ``taken_back``.
        rows: all rows there are now.
        relation: how they are stored, and where.
    """
    *before, gone = log
    schema = relation.layout.arrow
    changes = _as_changes_of(gone.batch, (*gone.delta.segments, *rows.segments), schema)
    if changes.num_rows <= relation.jobs.limits.rows_merged_in_process:
        changes = pa.Table.from_batches(map(consolidate, changes.combine_chunks().to_batches()), schema)
    return (*before, ChangelogEntry(gone.batch, Delta(write_segments(changes, relation.folder, relation.jobs.limits))))


def _as_changes_of(batch: int, segments: Sequence[Segment], schema: pa.Schema, sign: int = 1) -> pa.Table:
    """Rows as changes of one batch; only the columns with their batches and weights are in memory."""
    check_segments(segments)
    rows = pa.Table.from_batches((conform(open_segment(segment.path), schema) for segment in segments), schema)
    marks = {BATCH: pa.repeat(pa.scalar(batch, pa.int32()), rows.num_rows), WEIGHT: pc.multiply(rows[WEIGHT], sign)}
    for name, values in marks.items():
        rows = rows.set_column(rows.schema.get_field_index(name), name, values)
    return rows


def _remapped_rows(segment: Segment, remapping: Remapping, words: int, most: int) -> Iterator[pa.RecordBatch]:
    batch = open_segment(segment.path)
    names = [name for name in batch.schema.names if not name.startswith("_bits")]
    for first in range(0, batch.num_rows, most):
        rows = batch.slice(first, most)
        bits = np.zeros((rows.num_rows, words), dtype=np.uint64)
        for old, new in remapping:
            bits[rows_with_bits(rows, old)] |= mask(new, words)
        kept = bits.any(axis=1)
        if kept.any():
            values = rows.select(names).filter(pa.array(kept))
            columns = [*values.columns, *word_arrays(bits[kept])]
            yield pa.RecordBatch.from_arrays(columns, names=[*names, *map(word_column, range(words))])
