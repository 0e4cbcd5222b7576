"""The engine: keeps a tree for every local tree of the network, and takes them through batches.

Nothing here changes until a whole batch, or a whole registration, has succeeded: what the engine holds is one immutable
value, replaced in one assignment. Files that only the old one needed stay until the session has committed the new one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

from workbench.engine.arrivals import layout_of, written
from workbench.engine.event_time import Clock
from workbench.engine.hydration import Deltas, Making
from workbench.engine.incremental_step import Evaluating, report
from workbench.engine.operators.runner import Runner
from workbench.engine.physical.planner import plan_trees
from workbench.engine.physical.plans import TreePlan
from workbench.engine.physical.retention import has_windows, needs_of
from workbench.engine.profile import profiled
from workbench.engine.progress import Meter, Progress, reached
from workbench.engine.reports import BatchReport, OperatorReport, Places
from workbench.engine.schedule import in_order
from workbench.engine.spark.failures import translate_errors
from workbench.engine.state import Held, narrowed, unknown_files
from workbench.engine.storage.file_collection import FileCollector
from workbench.engine.storage.layout import Layout
from workbench.engine.storage.relation import Delta, Relation
from workbench.engine.storage.retention import Expiration
from workbench.engine.tree import Tree
from workbench.files.durable import force_to_disk
from workbench.files.mapped import temporary_folder
from workbench.network.network import Network
from workbench.network.nodes import NodeId
from workbench.network.projection import Columns

TREES_AT_A_TIME = 8
"""At most so many local trees run at a time, and no more than there are cores."""


class Engine:
    """Runs one network on Spark.

    Args:
        spark: the Spark session to use.
        folder: where rows are kept; every worker must reach it.
        collector: removes files that nobody needs any more.
        durable: whether rows must survive that the machine loses its power.
        incremental_aggregates: see ``Options``.
    """

    def __init__(
        self,
        spark: SparkSession,
        folder: Path,
        collector: FileCollector,
        durable: bool = True,
        incremental_aggregates: bool = True,
    ) -> None:
        self.spark = spark
        self.folder = folder
        self.incremental_aggregates = incremental_aggregates
        self._collector = collector
        self._durable = durable
        self.runner = Runner(spark, folder)
        trees_at_a_time = min(TREES_AT_A_TIME, max(1, spark.sparkContext.defaultParallelism))
        self._pool = ThreadPoolExecutor(trees_at_a_time, thread_name_prefix="argus-tree")
        self._meter = Meter()
        self._expiration = Expiration()
        self._places = Places()
        self._freed: set[str] = set()
        """Files whose rows were freed since the last commit, some of them written since then."""
        self.held = Held()
        """All rows there are; ``arrived`` is what later queries start from."""

    @property
    def progress(self) -> Progress | None:
        """How far the batch, or registration, is that is being computed; ``None`` when there is none."""
        return self._meter.now

    @property
    def trees(self) -> Mapping[str, Tree]:
        """The trees by their names."""
        return self.held.trees

    def hold(self, held: Held) -> None:
        """Go on from rows that are there."""
        self.held = held
        self.runner.forget()

    def undo(self, before: Held) -> None:
        """Go back to what was held; files that came since, also those of operators that failed on the way, go."""
        self.hold(before)
        self._freed.clear()
        self._collector.collect(unknown_files(self.folder, before.files))

    def settle(self, before: Held) -> None:
        """What is held now is committed: files that only ``before`` needed go, and those whose rows were freed."""
        self._collector.collect(before.files_beyond(self.held) | self._freed)
        self._freed.clear()
        for name in before.trees.keys() - self.held.trees.keys():
            self.runner.remove(name)

    def add_stream(
        self, name: str, columns: Columns, rows: Iterable[tuple[int, pa.Table]], time: str | None = None
    ) -> None:
        """Take in the rows that a stream has brought so far, each with the batch that brought them.

        Args:
            name: of the stream.
            columns: names and types.
            rows: the rows that are there from the start, each table with the batch that brought it.
            time: the column with event times, if it has one.

        Raises:
            StreamError: a column has a name the engine uses itself.
        """
        layout = layout_of(columns)
        folder = self.runner.folder(f"stream-{len(self.held.arrived)}")
        clock = self.held.clock if time is None else self.held.clock.with_stream(name, time)
        deltas = []
        with translate_errors("read the history"):
            for batch, table in rows:
                deltas.append(written(table, layout, folder, batch, clock.rows(name)))
                clock = clock.with_rows(batch, {name: table})
            together = Delta(tuple(segment for delta in deltas for segment in delta.segments))
            relation = Relation(self.spark, layout, folder).append(together)
        self._replace(Held(self.trees, {**self.held.arrived, name: relation}, clock))

    @contextmanager
    def aside(self, network: Network, arrived: Mapping[str, Relation], clock: Clock, batch: int) -> Iterator[Held]:
        """What another network holds, for as long as it is looked at.

        Args:
            network: what to compute.
            arrived: the rows of the streams.
            clock: what time it is for it.
            batch: the last batch that was run.

        Raises:
            EngineError: Spark could not evaluate a node.
        """
        with self._folder_aside() as folder:
            other = Engine(self.spark, folder, self._collector, False, self.incremental_aggregates)
            other.held = Held({}, arrived, clock)
            try:
                other.adopt(network, batch)
                yield other.held
            finally:
                other.close()

    @contextmanager
    def _folder_aside(self) -> Iterator[Path]:
        """A folder for rows that nobody keeps."""
        # All workers reach the session's folder; who may not write there has no cluster.
        place = self.folder if os.access(self.folder, os.W_OK) else None
        with temporary_folder("aside-", place) as folder:
            yield folder

    def adopt(self, network: Network, batch: int) -> None:
        """Bring the trees to what the network asks for, new nodes computed from all data so far.

        Args:
            network: the new network.
            batch: the last batch that was run; 0 after the history alone.

        Raises:
            EngineError: Spark could not evaluate a node; nothing has changed then.
        """
        plans = self.plans(network, {name: tree.plan.bits for name, tree in self.trees.items()})
        needs = needs_of(network, plans, self.held.clock, batch)
        trees: dict[str, Tree] = {}
        making = Making(self.runner, self.held, network, batch)
        kept = {
            name: old
            for name, old in self.trees.items()
            if name in plans and old.plan.covers(plans[name]) and old.has(needs[name])
        }

        def bring(name: str) -> None:
            plan, old = plans[name], self.trees.get(name)
            if name in kept:
                trees[name] = narrowed(kept[name], plan, batch)
                return
            with translate_errors(f"initialize node {plan.roots[0]}"):
                known = old is not None and old.has(n for n in needs[name] if n.bits <= set(old.plan.bits.values()))
                if old is not None and known and (new := old.extended_by(plan)):
                    made = making.extended(plan, trees, old, new)
                else:
                    made = making.made(plan, trees, old)
            whole = made.needed is None and all(trees[read].needed is None for read, _ in plan.inputs)
            trees[name] = made if whole or not needs[name] else replace(made, needed=tuple(needs[name]))
            self._meter.count(name)

        with self._meter.counting(batch, plans.keys() - kept.keys()):
            in_order(_parents(plans), bring, self._pool)
        before = self.held
        self._replace(Held({name: trees[name] for name in plans}, self.held.arrived, self.held.clock))
        # What the same commit wrote before, such as rows of a query whose function failed, is in no commit at all.
        self._freed |= before.files_beyond(self.held)

    def prune(self, network: Network, batch: int) -> None:
        """Free the rows that are past, when somebody who needed them has gone."""
        trees = self._pruned(network, self.trees, self.held.clock, batch)
        self._replace(replace(self.held, trees=trees))

    def run_batch(
        self, network: Network, batch: int, arriving: Mapping[str, pa.Table], profile: bool = False
    ) -> BatchReport:
        """Evaluate the network for rows that arrive.

        Args:
            network: what to evaluate.
            batch: its number.
            arriving: the rows, by stream.
            profile: whether to measure also what every node costs alone, which takes as long as all of them together.

        Raises:
            EngineError: Spark could not evaluate an operator; no tree has changed then.
        """
        started = time.perf_counter()
        clock = self.held.clock.after(batch, arriving)
        with translate_errors(f"write down the rows of batch {batch}"):
            logged = {
                name: written(table, *self._place_of(name), batch, self.held.clock.rows(name))
                for name, table in arriving.items()
                if table.num_rows
            }
        evaluating = Evaluating(self.runner, self.held, network, batch, clock, logged)
        deltas, operators = self._evaluate_all(evaluating)
        if profile:
            begun = time.perf_counter()
            with translate_errors(f"profile batch {batch}"), self._folder_aside() as folder:
                operators = profiled(evaluating, deltas, operators, folder, self._meter)
            started += time.perf_counter() - begun  # the batch itself took none of that
        with translate_errors(f"keep the rows of batch {batch}"):
            arrived = {n: r.append(logged[n]) if n in logged else r for n, r in self.held.arrived.items()}
            grown = self._pool.map(lambda name: self.trees[name].grown(*deltas[name], batch), self.trees)
            trees = self._pruned(network, dict(zip(self.trees, grown, strict=True)), clock, batch)
        self._replace(Held(trees, arrived, clock))
        self._discard_merged(deltas, logged)
        changes = {}
        for name, plan in network.queries.items():
            running = self.held.by_root[plan.read.root].plan
            changes[name] = deltas[running.name][0].count(running.count_position(plan.nodes))
        rows = {name: table.num_rows for name, table in arriving.items()}
        total, seconds = sum(rows.values()), time.perf_counter() - started
        return BatchReport(batch, total, seconds, tuple(operators), self._places.counts(changes), rows)

    def _pruned(self, network: Network, trees: Mapping[str, Tree], clock: Clock, batch: int) -> Mapping[str, Tree]:
        """The trees without rows that are past."""
        if not has_windows(network):
            return trees
        needs = needs_of(network, {name: tree.plan for name, tree in trees.items()}, clock, batch)
        expiring = self._pool.map(lambda name: trees[name].without_expired(self._expiration, needs[name]), trees)
        left = dict(zip(trees, expiring, strict=True))
        for name, tree in left.items():
            if tree is not trees[name]:
                self._freed |= trees[name].files - tree.files
        return left

    def _evaluate_all(self, evaluating: Evaluating) -> tuple[dict[str, Deltas], list[OperatorReport]]:
        """The change of every tree and of its state, and the reports of those that had work."""
        deltas: dict[str, Deltas] = {}

        def evaluate(name: str) -> float:
            begun = time.perf_counter()
            tree = self.trees[name]
            with translate_errors(f"evaluate node {tree.plan.roots[0]} in batch {evaluating.batch}"):
                deltas[name] = evaluating.changes(tree, deltas)
            self._meter.count(name)
            return time.perf_counter() - begun

        parents = _parents({name: tree.plan for name, tree in self.trees.items()})
        with self._meter.counting(evaluating.batch, reached(parents, evaluating.first)):
            seconds = in_order(parents, evaluate, self._pool)
        worked = [name for name in seconds if deltas[name][0].rows_in or deltas[name][1].rows]
        return deltas, [report(self.trees[name].plan, deltas[name][0], seconds[name]) for name in worked]

    def close(self) -> None:
        """End its threads and views; files stay."""
        self._pool.shutdown()
        self.runner.forget()
        self.held = Held()

    def plans(self, network: Network, bits_before: Mapping[str, Mapping[NodeId, int]]) -> dict[str, TreePlan]:
        """What every tree of a network must do; see ``plan_trees``."""
        return plan_trees(network, bits_before, self.incremental_aggregates)

    def _discard_merged(self, deltas: Mapping[str, Deltas], logged: Mapping[str, Delta]) -> None:
        """Remove what a batch wrote and merged with older rows at once: no commit will ever speak of it."""
        for name, changes in deltas.items():
            if paths := {segment.path for delta in changes for segment in delta.segments}:
                self._collector.collect(paths - self.trees[name].files)
        for name, delta in logged.items():
            self._collector.collect({segment.path for segment in delta.segments} - self.held.arrived[name].files)

    def _replace(self, held: Held) -> None:
        if self._durable:
            with translate_errors("write the rows to the disk"):
                force_to_disk(held.files_beyond(self.held))
        self.held = held
        self.runner.forget(keep=lambda name: name in held.trees)

    def _place_of(self, stream: str) -> tuple[Layout, Path]:
        return self.held.arrived[stream].layout, self.held.arrived[stream].folder


def _parents(plans: Mapping[str, TreePlan]) -> dict[str, list[str]]:
    """For every tree those it reads."""
    return {name: [read for read, _ in plan.inputs] for name, plan in plans.items()}
