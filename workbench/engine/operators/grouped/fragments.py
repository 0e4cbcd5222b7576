"""Fragments: partial statistics of rows with equal groups and equal lineage, for any reader.

Hundreds of fused aggregates read overlapping rows. Handing a row on once for each of them would cost rows times
readers. Instead rows with the same lineage are aggregated once (``stored_fragments``): a *fragment*
has the parts of the statistics of rows that are in the same group and are read by the same operators. Only then is it
told whose it is: the parts of an operator's group are those of all fragments of the group that the operator reads.

In: rows, each once for each grouping (``storage.scan.LineageScan``). Out: a row for each dirty group of each member.

Source: Krishnamurthy, Wu, Franklin, On-the-fly sharing for streamed aggregation (SIGMOD 2006), whose fragments are by
signature of selections; here the signature is the lineage.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.types import Mask
from workbench.engine.physical.accumulators import StatePart
from workbench.engine.physical.aggregate_plan import GroupedPlan
from workbench.engine.physical.value_statistics import VALUES, DistinctPart
from workbench.engine.storage.grouping import Positions, group_rows
from workbench.engine.storage.layout import BATCH, BRANCH, GROUPING_SET, MEMBER, WEIGHT, Layout, conform, one_batch
from workbench.engine.storage.lineage import word_values
from workbench.engine.storage.reduction import Cells
from workbench.engine.storage.scan import Readers, read_by
from workbench.limits import LIMITS, Limits


@dataclass(frozen=True)
class Fragments:
    """How fragments are read.

    Attributes:
        groups: names of the columns of a group, or of a value in it.
        parts: columns of the statistics' parts.
        readers: for each grouping and each branch the members that group so, and the bits of the nodes they read.
        words: the words of lineage that fragments have; none where they are rows of the state, of the only member.
        layout: of the dirty groups.
        limits: of what is merged together.
    """

    groups: tuple[str, ...]
    parts: tuple[StatePart, ...]
    readers: tuple[tuple[Readers, ...], ...]
    words: tuple[int, ...]
    layout: Layout
    limits: Limits = LIMITS

    @staticmethod
    def of(plan: GroupedPlan, limits: Limits = LIMITS) -> Fragments:
        """The fragments of a grouped operator."""
        by_branch = [plan.readers(branch) for branch in range(len(plan.branches))]
        readers = tuple(zip(*by_branch, strict=True))
        groups = tuple(name for name in plan.state_keys if name != MEMBER)
        return Fragments(groups, plan.parts, readers, plan.words, plan.state_layout, limits)

    def dirty_groups(self, batches: Sequence[pa.RecordBatch], of_pieces: bool = False) -> pa.RecordBatch:
        """The change of the state: a row for each group of each member that reads one of the fragments.

        Args:
            batches: all fragments of these groups.
            of_pieces: whether the fragments of a batch differ in their groups, as those of one piece do.

        Returns:
            Columns of ``layout``; the batch is 0 and the weight 1.
        """
        filled = [batch for batch in batches if batch.num_rows]
        together = _one_batch(filled)
        if together is not None and not self.words:
            differ = of_pieces and self._differ(filled)
            return together if differ else merge_groups(together, self.key_columns, self.parts)
        pieces = [] if together is None else [[*self._of_grouping(n, together)] for n in range(len(self.readers))]
        dirty = _one_batch([piece for own in pieces for piece in own if piece.num_rows])
        if dirty is None:
            return conform(pa.RecordBatch.from_pydict({}), self.layout.arrow)
        # A group whose fragments were looked at in several pieces has several rows.
        once = all(len(own) <= 1 for own in pieces)
        return dirty if once else merge_groups(dirty, self.key_columns, self.parts)

    @property
    def key_columns(self) -> tuple[str, ...]:
        """The key of a row of the state."""
        return (MEMBER, *self.groups)

    def _differ(self, batches: Sequence[pa.RecordBatch]) -> bool:
        """Whether batches of one piece each are of other groups or values than the others: one is for each kind."""
        kinds = {batch.column(VALUES)[0].as_py() for batch in batches} if VALUES in self.groups else {None}
        return len(kinds) == len(batches)

    def _of_grouping(self, number: int, fragments: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """The rows of the members that group alike."""
        if len(self.readers) > 1:
            fragments = fragments.filter(pa.array(fragments.column(GROUPING_SET).to_numpy() == number))
        if not fragments.num_rows:
            return
        order, starts = group_rows([fragments.column(name) for name in self.groups], fragments.num_rows)
        fragments = fragments.take(pa.array(order))
        at_once = max(1, self.limits.values_merged_together // max(1, len(self.readers[number][0])))
        for first in range(0, fragments.num_rows, at_once):
            piece = fragments.slice(first, at_once)
            within = starts[(starts > first) & (starts < first + piece.num_rows)] - first
            yield self._of_piece(number, piece, np.concatenate([np.zeros(1, dtype=np.int64), within]))

    def _of_piece(self, number: int, fragments: pa.RecordBatch, starts: Positions) -> pa.RecordBatch:
        cells = Cells(starts, self._read(number, fragments))
        present = cells.present()
        reader, group = np.nonzero(present)
        members = np.array([member for member, _ in self.readers[number][0]], dtype=np.int64)
        columns = {MEMBER: pa.array(members[reader])}
        first = pa.array(starts[group])
        columns |= {name: fragments.column(name).take(first) for name in self.groups}
        columns |= {part.name: cells.reduce(fragments.column(part.name), part.combine, present) for part in self.parts}
        return conform(_with_marks(columns, len(group)), self.layout.arrow)

    def _read(self, number: int, fragments: pa.RecordBatch) -> Mask:
        """Which member reads which fragment, as a mask of shape (members, fragments)."""
        lineage = np.stack([word_values(fragments, word) for word in self.words], axis=1)
        read = np.zeros((len(self.readers[number][0]), fragments.num_rows), dtype=bool)
        branches = fragments.column(BRANCH).to_numpy()
        for branch, readers in enumerate(self.readers[number]):
            rows = np.flatnonzero(branches == branch)
            read[:, rows] = read_by(lineage[rows], self.words, readers).T
        return read


def merge_groups(
    rows: pa.RecordBatch, keys: Sequence[str], parts: Sequence[StatePart | DistinctPart]
) -> pa.RecordBatch:
    """Merge parts of groups to one row for each group; the other columns must be those of ``Fragments.layout``."""
    if not rows.num_rows:
        return rows
    order, starts = group_rows([rows.column(name) for name in keys], rows.num_rows)
    cells, at, first = Cells.of_one_reader(starts, rows.num_rows), pa.array(order), pa.array(order[starts])
    columns = {name: rows.column(name).take(first) for name in keys}
    for part in parts:
        columns[part.name] = cells.reduce(rows.column(part.name).take(at), part.combine, cells.every)
    return conform(_with_marks(columns, len(starts)), rows.schema)


def merged_state(plan: GroupedPlan, rows: pa.RecordBatch, whole: bool) -> pa.RecordBatch:
    """A state with one row for each group, without the groups of fused operators that have left.

    Args:
        plan: how the operator runs.
        rows: of the state.
        whole: whether these are all rows of the state. If so, groups without rows go too; in a part of the state the
            changes of a group may cancel in the number of rows and not in a sum.
    """
    merged = merge_groups(of_members(plan, rows), tuple(plan.state_keys), plan.state_parts)
    if not whole or not merged.num_rows:
        return merged
    live = [pc.not_equal(pc.fill_null(merged.column(name), 0), 0) for name in plan.counts]
    return merged.filter(reduce(pc.or_, live))


def of_members(plan: GroupedPlan, rows: pa.RecordBatch) -> pa.RecordBatch:
    """The rows of the operators that are fused now, without rows of operators that have left."""
    own = pc.is_in(rows.column(MEMBER), pa.array(plan.members, pa.int64()))
    return rows if own.true_count == rows.num_rows else rows.filter(own)


def _with_marks(columns: dict[str, pa.Array], rows: int) -> pa.RecordBatch:
    marks = {BATCH: pa.array(np.zeros(rows, dtype=np.int32)), WEIGHT: pa.array(np.ones(rows, dtype=np.int64))}
    return pa.RecordBatch.from_pydict(columns | marks)


def _one_batch(filled: Sequence[pa.RecordBatch]) -> pa.RecordBatch | None:
    """Batches with rows as one; ``None`` where there are none."""
    return one_batch(filled) if filled else None
