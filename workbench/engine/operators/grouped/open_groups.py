"""Groups that stay open: a state of few groups as one table in memory, which has one row for each group.

A state is stored as runs of changes. To look up a few groups in each of these, and to merge them every few batches,
takes longer than all else that a batch does with them. So a process keeps the state as the last batch has left it. It
is known by the segments that it stands for: where a state has others, after a batch that failed or in another process,
it is read from these.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from workbench.engine.operators.grouped.fragments import merge_groups
from workbench.engine.operators.grouped.state_lookup import same_groups
from workbench.engine.physical.aggregate_plan import GroupedPlan
from workbench.engine.storage.grouping import Positions
from workbench.engine.storage.in_memory import InMemory
from workbench.engine.storage.indexes.key_index import Hashes, expanded, key_hashes
from workbench.engine.storage.layout import conform, only
from workbench.engine.storage.relation import rows_stored
from workbench.engine.storage.segments import Run, open_segment
from workbench.limits import Limits

_STALE = 1_000
"""Rows that groups have left behind at least, and as many as there are groups, before they are dropped."""


def stay_open(plan: GroupedPlan, state: Run, limits: Limits) -> bool:
    """Whether the groups of a state stay open: few, and without values that are looked up in order."""
    return not plan.counted and rows_stored(state) <= limits.rows_kept_open


@dataclass(frozen=True)
class GroupMatches:
    """The result of a look-up of groups.

    Attributes:
        hashes: of the keys of all that were looked up.
        group: the positions of those that are there.
        at: where the row of each stands.
    """

    hashes: Hashes
    group: Positions
    at: Positions


@dataclass(frozen=True)
class OpenGroups:
    """All groups of a state, in memory.

    Attributes:
        segments: what it stands for.
        rows: keys and parts of the groups, among rows that groups have left behind.
        hashes: of the keys, in order.
        places: where among the rows the group of each hash is.
    """

    segments: Run
    rows: pa.RecordBatch
    hashes: Hashes
    places: Positions

    @staticmethod
    def of(plan: GroupedPlan, folder: str, segments: Run) -> OpenGroups:
        """The groups of a state as they are kept, or else as its segments have them.

        Args:
            plan: how they are grouped.
            folder: of the tree.
            segments: of the state.
        """
        known, stored_as = OPEN_GROUPS.get(_name(folder)), plan.state_layout.arrow
        schema = only(stored_as, [*plan.state_columns])
        if known is not None and known.segments == segments and known.rows.schema == schema:
            return known
        stored = [conform(open_segment(segment.path), stored_as) for segment in segments]
        merged = merge_groups(pa.concat_batches(stored), tuple(plan.state_keys), plan.state_parts)
        rows = conform(merged, schema)
        hashes = _hashes(rows, plan)
        order = np.argsort(hashes)
        return OpenGroups(segments, rows, hashes[order], order)

    def look_up(self, plan: GroupedPlan, groups: pa.RecordBatch) -> GroupMatches:
        """Look up groups; gives those that the state has."""
        hashes, names = _hashes(groups, plan), tuple(plan.state_keys)
        first = self.hashes.searchsorted(hashes)
        group, within = expanded(np.arange(len(hashes)), self.hashes.searchsorted(hashes, side="right") - first)
        at = self.places[first[group] + within]
        same = same_groups(groups, names, group, self.rows, names, at)
        return GroupMatches(hashes, group[same], at[same])

    def keep(self, folder: str, written: Run, changed: pa.RecordBatch, found: GroupMatches) -> None:
        """Keep the groups as some that were looked up have become.

        Args:
            folder: of the tree.
            written: the segments with the change.
            changed: their rows.
            found: where they are.
        """
        before = self.rows.num_rows
        moved, new = np.arange(before), np.ones(changed.num_rows, dtype=bool)
        moved[found.at], new[found.group] = before + found.group, False
        rows = pa.concat_batches([self.rows, conform(changed, self.rows.schema)])
        hashes, places = self.hashes, moved[self.places]
        if new.any():
            entering = np.flatnonzero(new)
            entering = entering[np.argsort(found.hashes[entering])]
            at = hashes.searchsorted(own := found.hashes[entering])
            hashes, places = np.insert(hashes, at, own), np.insert(places, at, before + entering)
        if rows.num_rows > 2 * len(places) + _STALE:
            rows, places = rows.take(pa.array(places)), np.arange(len(places))
        OPEN_GROUPS.add(_name(folder), OpenGroups((*self.segments, *written), rows, hashes, places))


OPEN_GROUPS = InMemory[OpenGroups](
    lambda groups: groups.rows.get_total_buffer_size() + groups.hashes.nbytes + groups.places.nbytes
)
"""Those of this process, of all its sessions."""


def _name(folder: str) -> tuple[str, str]:
    """The name of the groups of a tree among what its session keeps in memory."""
    return f"{folder}/groups", ""


def _hashes(groups: pa.RecordBatch, plan: GroupedPlan) -> Hashes:
    return key_hashes([groups.column(name) for name in plan.state_keys], nulls=True)[0]
