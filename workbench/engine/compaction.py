"""Compaction of packs: where most rows of some are not needed any more, those that are go to the pack that is filled.

A pack has what one batch wrote for all trees. Most of that is merged with other rows some batches later, and a little
stays, which keeps all of the file. Moved is only what is left of packs that are mostly empty, and only when these take
more room than all rows that are needed, so a row is moved seldom.

Source: M. Rosenblum, J. Ousterhout, The design and implementation of a log-structured file system (SOSP 1991), whose
cleaner chooses segments by what is live in them.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable

from workbench.engine.state import EngineState
from workbench.engine.storage.segments import Segment, segment_copied_to
from workbench.files.packs import extent_of
from workbench.limits import Limits


class PackEnds:
    """How far packs go, as far as this process was told: other machines have written some, which are not here."""

    def __init__(self) -> None:
        self._ends: dict[str, int] = {}

    def tell(self, segments: Iterable[Segment]) -> None:
        """There are some segments, or there were."""
        for segment in segments:
            file, first, size = extent_of(segment.path)
            if size is not None:
                self._ends[file] = max(first + size, self._ends.get(file, 0))

    def of(self, files: Collection[str]) -> dict[str, int]:
        """The size in bytes of each pack among some files; sizes of other packs are forgotten."""
        self._ends = {file: end for file, end in self._ends.items() if file in files}
        return {file: os.path.getsize(file) if os.path.exists(file) else end for file, end in self._ends.items()}


def compacted(state: EngineState, limits: Limits, ends: PackEnds) -> EngineState:
    """Move the rows of mostly empty packs to the pack that is being filled; returns the same state where there are
    none.
    """
    needed = Counter[str]()
    for segment in state.segments:
        file, _, size = extent_of(segment.path)
        needed[file] += size or 0
    ends.tell(state.segments)
    sizes = ends.of(needed)
    room, full = sum(sizes.values()), sum(needed[file] for file in sizes)
    needed_share = limits.percent_needed_in_packs / 100
    if room - full < max(limits.bytes_empty_in_packs, (1 - needed_share) * room):
        return state
    empty = {file for file, size in sizes.items() if needed[file] < needed_share * size}
    moved: dict[str, Segment] = {}

    def place(segment: Segment, folder: str) -> Segment:
        if segment.file not in empty:
            return segment
        if segment.path not in moved:  # rows and changelog of a tree may share it
            moved[segment.path] = segment_copied_to(segment, folder)
        return moved[segment.path]

    trees = {name: tree.placed(place) for name, tree in state.trees.items()}
    arrived = {name: relation.placed(place) for name, relation in state.arrived.items()}
    return EngineState(trees, arrived, state.clock)
