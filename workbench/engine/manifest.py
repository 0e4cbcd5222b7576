"""The engine's state as the catalog's manifest, and back.

Rows are in files that are written once, so a manifest is a list of files. Plans are not in it: they follow from the
network and the bits of its nodes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from pyspark.sql import SparkSession

from workbench.catalog.session_rows import FileRow, LogRow, NeedRow, Run, SessionRows, TreeRows
from workbench.engine.physical.plans import TreePlan
from workbench.engine.state import EngineState, empty_stream, empty_tree
from workbench.engine.storage.changelog import ChangelogEntry
from workbench.engine.storage.relation import Delta, Relation
from workbench.engine.storage.retention import RetentionBound
from workbench.engine.storage.segments import Segment
from workbench.engine.tree import Tree
from workbench.network.projection import Columns
from workbench.sql.windows.bounds import Interval


class Manifest:
    """Writes and reads the manifest of a session.

    Args:
        rows: the catalog's relations.
        home: the session's folder; paths in the catalog are seen from there, so that it can be moved.
    """

    def __init__(self, rows: SessionRows, home: Path) -> None:
        self._rows = rows
        self._home = home

    def write(self, before: EngineState, after: EngineState) -> None:
        """Bring the manifest from one state to the next; what did not change is not written again."""
        for name, relation in after.arrived.items():
            if before.arrived.get(name) is not relation:
                self._rows.put_runs(name, "arrived", self._runs(relation))
        for name in before.trees:
            if name not in after.trees:
                self._rows.remove_tree(name)
        for name, tree in after.trees.items():
            old = before.trees.get(name)
            if old is not tree:
                self._write_tree(name, old, tree)

    def trees(self, spark: SparkSession, state: Path, plans: Mapping[str, TreePlan]) -> dict[str, Tree]:
        """The trees of some plans."""
        stored = self._rows.trees()
        return {name: self._tree(empty_tree(spark, plan, state / name), stored[name]) for name, plan in plans.items()}

    def arrived(self, spark: SparkSession, state: Path, streams: Mapping[str, Columns]) -> dict[str, Relation]:
        """The rows of streams that have arrived."""
        stored = self._rows.arrived()
        empty = {
            name: empty_stream(spark, columns, state / f"stream-{position}")
            for position, (name, columns) in enumerate(streams.items())
        }
        return {name: self._filled(relation, stored[name]) for name, relation in empty.items()}

    def _write_tree(self, name: str, old: Tree | None, tree: Tree) -> None:
        if old is None or old.plan.bits != tree.plan.bits:
            self._rows.put_bits(name, tree.plan.bits)
        if old is None or old.relation is not tree.relation:
            self._rows.put_runs(name, "rows", self._runs(tree.relation))
        if tree.state is not None and (old is None or old.state is not tree.state):
            self._rows.put_runs(name, "state", self._runs(tree.state))
        if old is None or old.bounds != tree.bounds:
            self._rows.put_needed(name, None if tree.bounds is None else [_bound_row(bound) for bound in tree.bounds])
        same = _same_entries(() if old is None else old.log, tree.log)
        if old is None or same < max(len(old.log), len(tree.log)):
            entries = [LogRow(e.batch, e.whole, self._run(e.delta.segments)) for e in tree.log[same:]]
            self._rows.put_log(name, entries, first=same)

    def _runs(self, relation: Relation) -> list[Run]:
        return [self._run(run) for run in relation.runs]

    def _run(self, segments: Iterable[Segment]) -> Run:
        return tuple(
            FileRow(os.path.relpath(s.path, self._home), s.rows, os.path.getsize(s.path), s.checksum) for s in segments
        )

    def _tree(self, empty: Tree, stored: TreeRows) -> Tree:
        log = tuple(ChangelogEntry(e.batch, Delta(self._segments(e.files)), e.whole) for e in stored.log)
        state = None if empty.state is None else self._filled(empty.state, stored.state)
        bounds = None if stored.needed is None else tuple(map(_bound, stored.needed))
        return replace(empty, relation=self._filled(empty.relation, stored.rows), state=state, log=log, bounds=bounds)

    def _filled(self, empty: Relation, runs: Iterable[Run]) -> Relation:
        return replace(empty, runs=tuple(map(self._segments, runs)))

    def _segments(self, run: Run) -> tuple[Segment, ...]:
        return tuple(Segment(str(self._home / file.file), file.rows, file.checksum) for file in run)


def _bound_row(bound: RetentionBound) -> NeedRow:
    return NeedRow(tuple(sorted(bound.bits)), tuple((column, i.low, i.high) for column, i in bound.times))


def _bound(row: NeedRow) -> RetentionBound:
    return RetentionBound(frozenset(row.bits), tuple((column, Interval(low, high)) for column, low, high in row.times))


def _same_entries(old: tuple[ChangelogEntry, ...], new: tuple[ChangelogEntry, ...]) -> int:
    """How many entries from the start are the same."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((i for i, (a, b) in pairs if a is not b), min(len(old), len(new)))
