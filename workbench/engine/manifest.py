"""The engine's state in the catalog: which files hold it. The files themselves are written once and never changed.

Plans of trees are not stored: they follow from the network and the bits of its nodes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import is_
from pathlib import Path
from typing import TypeVar

from workbench.catalog.codec import decode, encode
from workbench.catalog.database import Database
from workbench.engine.event_time import EventTimeVectors
from workbench.engine.physical.plans import TreePlan
from workbench.engine.spark.jobs import JobRunner
from workbench.engine.state import EngineState, empty_stream, empty_tree
from workbench.engine.storage.buckets import EVERY_BUCKET
from workbench.engine.storage.changelog import Changelog, ChangelogEntry
from workbench.engine.storage.indexes.key_index import bucket_hashing
from workbench.engine.storage.relation import Delta, Relation
from workbench.engine.storage.retention import RetentionBound
from workbench.engine.storage.segments import Run, Segment, open_segment
from workbench.engine.tree import Tree
from workbench.files.inside import name_inside, path_inside
from workbench.network.nodes import Columns, NodeId
from workbench.sql.windows.stream_time import EventTimeVector

T = TypeVar("T")

ARRIVED, ROWS, STATE, LOG = "arrived", "rows", "state", "log"
"""The parts of what is stored: rows of a stream that have arrived; rows, state and changelog of a tree."""


@dataclass(frozen=True)
class StoredSegment:
    """A segment that the catalog names, with its stream or tree and the part of it."""

    owner: str
    part: str
    run: int
    segment: Segment


class Manifest:
    """Writes and reads the manifest of a session.

    Args:
        database: of the catalog.
        directory: the session's folder; paths in the catalog are relative to it, so that it can be moved.
    """

    def __init__(self, database: Database, directory: Path) -> None:
        self._database = database
        self._directory = directory

    def write(self, before: EngineState, after: EngineState) -> None:
        """Bring the manifest from one state to the next; what did not change is not written again."""
        for name, relation in after.arrived.items():
            if (known := before.arrived.get(name)) is not relation:
                self._write_runs(name, ARRIVED, relation.runs, () if known is None else known.runs)
        for name in before.arrived.keys() - after.arrived.keys():
            self._database.run("DELETE FROM segments WHERE owner = ? AND part = ?", (name, ARRIVED))
        for name in before.trees.keys() - after.trees.keys():
            for table, column in (("lineage_bits", "tree"), ("log_entries", "tree"), ("retained", "tree"),
                                  ("standing", "tree"), ("segments", "owner")):  # fmt: skip
                self._database.run(f"DELETE FROM {table} WHERE {column} = ?", [name])
        for name, tree in after.trees.items():
            if before.trees.get(name) is not tree:
                self._write_tree(name, before.trees.get(name), tree)
        if before.clock is not after.clock:
            self._write_vectors(before.clock.vectors, after.clock.vectors)

    def bits(self) -> dict[str, dict[NodeId, int]]:
        """The bit of every node in the lineage of its tree, by the names of the trees."""
        bits: dict[str, dict[NodeId, int]] = {}
        for tree, node, bit in self._database.rows("SELECT tree, node, bit FROM lineage_bits"):
            bits.setdefault(tree, {})[node] = bit
        return bits

    def vectors(self) -> EventTimeVectors:
        """The event-time vectors; none where an older version wrote the catalog."""
        rows = self._database.rows("SELECT batch, vector FROM event_times ORDER BY batch")
        return tuple((batch, decode(vector, EventTimeVector)) for batch, vector in rows)

    def segments(self) -> Iterator[StoredSegment]:
        """All segments, in the order in which their rows are read."""
        directory = str(self._directory)
        for owner, part, run, file, rows, size, checksum, buckets, hashing in self._database.rows(
            "SELECT owner, part, run, file, rows, bytes, checksum, buckets, hashing FROM segments "
            "ORDER BY owner, part, run, position"
        ):
            path = name_inside(directory, file)
            by, hashed = divmod(hashing, 1 << 32)
            known = (buckets, by) if hashed == bucket_hashing() else ()
            yield StoredSegment(owner, part, run, Segment(path, rows, checksum, size, *known))

    def trees(self, jobs: JobRunner, state: Path, plans: Mapping[str, TreePlan]) -> dict[str, Tree]:
        """The trees of some plans, whose rows are below the folder ``state``."""
        runs = self._runs()
        retained = {
            tree: decode(bounds, tuple[RetentionBound, ...])
            for tree, bounds in self._database.rows("SELECT tree, bounds FROM retained")
        }
        suspended = dict(self._database.rows("SELECT tree, batch FROM standing"))
        logs: dict[str, list[ChangelogEntry]] = {}
        for tree, entry, batch, whole in self._database.rows(
            "SELECT tree, entry, batch, whole FROM log_entries ORDER BY tree, entry"
        ):
            delta = Delta(runs.get((tree, LOG), {}).get(entry, ()))
            logs.setdefault(tree, []).append(ChangelogEntry(batch, delta, bool(whole)))
        trees = {}
        for name, plan in plans.items():
            rows, log = runs.get((name, ROWS), {}), tuple(logs.get(name, ()))
            empty = empty_tree(jobs, _over_files(plan, rows, log), path_inside(state, name))
            trees[name] = replace(
                empty,
                relation=_filled(empty.relation, rows),
                state=None if empty.state is None else _filled(empty.state, runs.get((name, STATE))),
                log=log,
                bounds=retained.get(name),
                suspended_at=suspended.get(name),
            )
        return trees

    def arrived(self, jobs: JobRunner, state: Path, streams: Mapping[str, Columns]) -> dict[str, Relation]:
        """The rows of streams that have arrived."""
        runs = self._runs()
        return {
            name: _filled(
                empty_stream(jobs, columns, state / f"stream-{position}"),
                runs.get((name, ARRIVED)),
            )
            for position, (name, columns) in enumerate(streams.items())
        }

    def _runs(self) -> dict[tuple[str, str], dict[int, Run]]:
        """The segments of each run, by owner and part."""
        runs: dict[tuple[str, str], dict[int, Run]] = {}
        for stored in self.segments():
            of_part = runs.setdefault((stored.owner, stored.part), {})
            of_part[stored.run] = (*of_part.get(stored.run, ()), stored.segment)
        return runs

    def _write_vectors(self, old: EventTimeVectors, new: EventTimeVectors) -> None:
        ((last,),) = self._database.rows("SELECT MAX(batch) FROM event_times")
        same = _same_beginning(old, new)
        if last is None or (same and last < new[same - 1][0]):  # the catalog is as an older version wrote it
            same = 0
        self._database.run("DELETE FROM event_times WHERE batch > ?", [new[same - 1][0] if same else -1])
        self._database.insert("event_times", ((batch, encode(vector, EventTimeVector)) for batch, vector in new[same:]))

    def _write_tree(self, name: str, old: Tree | None, tree: Tree) -> None:
        if old is None or old.plan.bits != tree.plan.bits:
            self._database.run("DELETE FROM lineage_bits WHERE tree = ?", [name])
            self._database.insert("lineage_bits", ((name, node, bit) for node, bit in tree.plan.bits.items()))
        if old is None or old.relation is not tree.relation:
            self._write_runs(name, ROWS, tree.relation.runs, () if old is None else old.relation.runs)
        if tree.state is not None and (old is None or old.state is not tree.state):
            known = () if old is None or old.state is None else old.state.runs
            self._write_runs(name, STATE, tree.state.runs, known)
        if old is None or old.bounds != tree.bounds:
            self._database.run("DELETE FROM retained WHERE tree = ?", [name])
            if tree.bounds is not None:
                self._database.insert("retained", [(name, encode(tree.bounds, tuple[RetentionBound, ...]))])
        if old is None or old.suspended_at != tree.suspended_at:
            self._database.run("DELETE FROM standing WHERE tree = ?", [name])
            if tree.suspended_at is not None:
                self._database.insert("standing", [(name, tree.suspended_at)])
        same = _same_beginning(() if old is None else old.log, tree.log)
        if old is None or same < max(len(old.log), len(tree.log)):
            self._database.run("DELETE FROM log_entries WHERE tree = ? AND entry >= ?", (name, same))
            entries = ((name, i, entry.batch, int(entry.whole)) for i, entry in enumerate(tree.log[same:], same))
            self._database.insert("log_entries", entries)
            logs = [[entry.delta.segments for entry in log] for log in (tree.log, () if old is None else old.log)]
            self._write_runs(name, LOG, *logs)

    def _write_runs(self, owner: str, part: str, runs: Sequence[Run], known: Sequence[Run]) -> None:
        """Say which files hold a part; ``known`` are the runs that are written already."""
        first = _same_beginning(known, runs)
        if not known or first < len(known):  # of a damaged part the catalog may name more than is known
            self._database.run("DELETE FROM segments WHERE owner = ? AND part = ? AND run >= ?", (owner, part, first))
        rows = (
            (owner, part, run, position, self._inside(s.path), s.rows, s.bytes, s.checksum, s.buckets, _hashing(s))
            for run, segments in enumerate(runs[first:], first)
            for position, s in enumerate(segments)
        )
        self._database.insert("segments", rows)

    def _inside(self, path: str) -> str:
        """The path relative to the session's folder."""
        inside = path.removeprefix(f"{self._directory}{os.sep}")
        return os.path.relpath(path, self._directory) if inside == path else inside


def _hashing(segment: Segment) -> int:
    """How rows were told apart by buckets, and above 32 bits by which key: 0 where they were not."""
    return 0 if segment.buckets == EVERY_BUCKET else bucket_hashing() + (segment.by << 32)


def _over_files(plan: TreePlan, rows: Mapping[int, Run], log: Changelog) -> TreePlan:
    """A plan as it was for the rows that are stored: it computes no column that a file lacks which still grows.

    Of the changelog these are the files from the last entry with all rows on; earlier ones are not merged any more.
    """
    if not plan.computed.keys() - plan.keys.keys():
        return plan
    whole = max((i for i, entry in enumerate(log) if entry.whole), default=0)
    runs = [*rows.values(), *(entry.delta.segments for entry in log[whole:])]
    columns = [set(open_segment(segment.path).schema.names) for run in runs for segment in run]
    return plan.over(set(plan.stored).intersection(*columns))


def _filled(empty: Relation, runs: Mapping[int, Run] | None) -> Relation:
    return replace(empty, runs=tuple((runs or {}).values()))


def _same_beginning(old: Sequence[T], new: Sequence[T]) -> int:
    """How many entries from the start are the same; mostly all of the old ones are, of which there may be many."""
    if all(map(is_, old, new)):
        return min(len(old), len(new))
    return next(i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a is not b)
