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
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from workbench.engine.clock import Clock
from workbench.engine.discarded import Discarded
from workbench.engine.durable import force_to_disk
from workbench.engine.explained import explained
from workbench.engine.held import Held, empty_tree, narrowed, unknown_files
from workbench.engine.layout import BATCH, RESERVED_NAME, WEIGHT, Layout
from workbench.engine.node_rows import NodeRows
from workbench.engine.operators import arrived, arriving, change
from workbench.engine.relation import Relation
from workbench.engine.runner import Runner, Work
from workbench.engine.schedule import in_order
from workbench.engine.segments import write_segments
from workbench.engine.shared_pass import NO_CHANGE, Delta
from workbench.engine.timings import BatchReport, OperatorReport
from workbench.engine.tree import LogEntry, Tree, TreePlan, plan_trees
from workbench.errors import StreamError
from workbench.network.network import Network
from workbench.network.nodes import NodeId, Source
from workbench.network.projection import Columns
from workbench.sql.now import ROW

TREES_AT_A_TIME = 8
"""At most so many local trees run at a time, and no more than there are cores."""


class Engine:
    """Runs one network on Spark.

    Args:
        spark: the Spark session to use.
        folder: where rows are kept; every worker must reach it.
        discarded: takes files that nobody needs any more.
        durable: whether rows must survive that the machine loses its power.
        incremental_aggregates: see ``Options``.
    """

    def __init__(
        self,
        spark: SparkSession,
        folder: Path,
        discarded: Discarded,
        durable: bool = True,
        incremental_aggregates: bool = True,
    ) -> None:
        self.spark = spark
        self.folder = folder
        self.incremental_aggregates = incremental_aggregates
        self._discarded = discarded
        self._durable = durable
        self.runner = Runner(spark, folder)
        trees_at_a_time = min(TREES_AT_A_TIME, max(1, spark.sparkContext.defaultParallelism))
        self._pool = ThreadPoolExecutor(trees_at_a_time, thread_name_prefix="argus-tree")
        self.held = Held()
        """All rows there are; ``arrived`` is what later queries start from."""

    @property
    def trees(self) -> Mapping[NodeId, Tree]:
        """The trees by the ids of their roots."""
        return self.held.trees

    def hold(self, held: Held) -> None:
        """Go on from rows that are there."""
        self.held = held
        self.runner.forget()

    def undo(self, before: Held) -> None:
        """Go back to what was held; files that came since, also those of operators that failed on the way, go."""
        self.hold(before)
        self._discarded.add(unknown_files(self.folder, before.files))

    def settle(self, before: Held) -> None:
        """What is held now is committed: files that only ``before`` needed go."""
        self._discarded.add(before.files_beyond(self.held))

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
        for column in columns:
            if RESERVED_NAME.fullmatch(column):
                message = f"stream {name}: the column name {column} is used by the workbench itself"
                raise StreamError(message, hint="rename the column in the source")
        layout = Layout({**columns, ROW.name: ROW.type})
        folder = self.runner.folder(f"stream-{len(self.held.arrived)}")
        clock = self.held.clock if time is None else self.held.clock.with_stream(name, time)
        deltas = []
        with explained("read the history"):
            for batch, table in rows:
                deltas.append(self._write(table, layout, folder, batch, clock.rows(name)))
                clock = clock.with_rows(batch, {name: table})
            together = Delta(tuple(segment for delta in deltas for segment in delta.segments))
            relation = Relation(self.spark, layout, folder).append(together)
        self._replace(Held(self.trees, {**self.held.arrived, name: relation}, clock))

    @contextmanager
    def aside(
        self, network: Network, arrived: Mapping[str, Relation], clock: Clock, batch: int
    ) -> Iterator[Mapping[NodeId, Tree]]:
        """The trees of another network for as long as they are looked at.

        Args:
            network: what to compute.
            arrived: the rows of the streams.
            clock: what time it is for it.
            batch: the last batch that was run.

        Raises:
            EngineError: Spark could not evaluate a node.
        """
        # All workers reach the session's folder; who may not write there has no cluster.
        place = self.folder if os.access(self.folder, os.W_OK) else None
        with TemporaryDirectory(prefix="aside-", dir=place) as folder:
            other = Engine(self.spark, Path(folder), self._discarded, False, self.incremental_aggregates)
            other.held = Held({}, arrived, clock)
            try:
                other.adopt(network, batch)
                yield other.trees
            finally:
                other.close()

    def adopt(self, network: Network, batch: int) -> None:
        """Bring the trees to what the network asks for, new nodes computed from all data so far.

        Args:
            network: the new network.
            batch: the last batch that was run; 0 after the history alone.

        Raises:
            EngineError: Spark could not evaluate a node; nothing has changed then.
        """
        plans = self.plans(network, {root: tree.plan.bits for root, tree in self.trees.items()})
        trees: dict[NodeId, Tree] = {}

        def bring(root: NodeId) -> None:
            plan, old = plans[root], self.trees.get(root)
            if old is not None and old.plan.covers(plan):
                trees[root] = narrowed(old, plan)
                return
            with explained(f"initialize node {root}"):
                trees[root] = self._made(network, plan, trees, old, batch)

        in_order(_parent_roots(network), bring, self._pool)
        self._replace(Held({root: trees[root] for root in plans}, self.held.arrived, self.held.clock))

    def run_batch(self, network: Network, batch: int, arriving: Mapping[str, pa.Table]) -> BatchReport:
        """Evaluate the network for rows that arrive.

        Raises:
            EngineError: Spark could not evaluate an operator; no tree has changed then.
        """
        started = time.perf_counter()
        clock = self.held.clock.after(batch, arriving)
        with explained(f"write down the rows of batch {batch}"):
            logged = {
                name: self._write(table, *self._place_of(name), batch, self.held.clock.rows(name))
                for name, table in arriving.items()
                if table.num_rows
            }
        deltas, operators = self._evaluate_all(network, logged, batch, clock)
        with explained(f"keep the rows of batch {batch}"):
            arrived = {n: r.append(logged[n]) if n in logged else r for n, r in self.held.arrived.items()}
            grown = self._pool.map(lambda root: self.trees[root].grown(*deltas[root], batch), self.trees)
            trees = dict(zip(self.trees, grown, strict=True))
        self._replace(Held(trees, arrived, clock))
        self._discard_merged(deltas, logged)
        changes = {
            name: deltas[plan.read.root][0].count(self.trees[plan.read.root].plan.counted(plan.nodes))
            for name, plan in network.queries.items()
        }
        rows = {name: table.num_rows for name, table in arriving.items()}
        total, seconds = sum(rows.values()), time.perf_counter() - started
        return BatchReport(batch, total, seconds, tuple(operators), changes, rows)

    def _evaluate_all(
        self, network: Network, logged: Mapping[str, Delta], batch: int, clock: Clock
    ) -> tuple[dict[NodeId, tuple[Delta, Delta]], list[OperatorReport]]:
        """The change of every tree and of its state, and the reports of those that had work."""
        deltas: dict[NodeId, tuple[Delta, Delta]] = {}

        def evaluate(root: NodeId) -> float:
            begun = time.perf_counter()
            with explained(f"evaluate node {root} in batch {batch}"):
                deltas[root] = self._evaluate(network, self.trees[root], deltas, logged, batch, clock)
            return time.perf_counter() - begun

        seconds = in_order(_parent_roots(network), evaluate, self._pool)
        worked = [root for root in seconds if deltas[root][0].rows_in or deltas[root][1].rows]
        return deltas, [_report(self.trees[root].plan, deltas[root][0], seconds[root]) for root in worked]

    def close(self) -> None:
        """End its threads and views; files stay."""
        self._pool.shutdown()
        self.runner.forget()
        self.held = Held()

    def plans(self, network: Network, bits_before: Mapping[NodeId, Mapping[NodeId, int]]) -> dict[NodeId, TreePlan]:
        """What every tree of a network must do; see ``plan_trees``."""
        return plan_trees(network, bits_before, self.incremental_aggregates)

    def _discard_merged(self, deltas: Mapping[NodeId, tuple[Delta, Delta]], logged: Mapping[str, Delta]) -> None:
        """Remove what a batch wrote and merged with older rows at once: no commit will ever speak of it."""
        for root, written in deltas.items():
            if paths := {segment.path for delta in written for segment in delta.segments}:
                self._discarded.add(paths - self.trees[root].files)
        for name, delta in logged.items():
            self._discarded.add({segment.path for segment in delta.segments} - self.held.arrived[name].files)

    def _replace(self, held: Held) -> None:
        if self._durable:
            with explained("write the rows to the disk"):
                force_to_disk(held.files_beyond(self.held))
        self.held = held
        self.runner.forget(keep=lambda root: root in held.trees)

    def _place_of(self, stream: str) -> tuple[Layout, Path]:
        return self.held.arrived[stream].layout, self.held.arrived[stream].folder

    def _write(self, table: pa.Table, layout: Layout, folder: Path, batch: int, before: int) -> Delta:
        """Log rows of a stream before they are evaluated, numbered after those that were there before."""
        rows = table.num_rows
        table = table.append_column(ROW.name, pa.array(np.arange(before + 1, before + rows + 1)))
        table = table.append_column(BATCH, pa.array([batch] * rows, type=pa.int32()))
        table = table.append_column(WEIGHT, pa.array([1] * rows, type=pa.int64()))
        return Delta(write_segments(table.cast(layout.arrow), folder))

    def _made(
        self, network: Network, plan: TreePlan, trees: Mapping[NodeId, Tree], old: Tree | None, batch: int
    ) -> Tree:
        """A tree computed from all data so far; ``trees`` has its parents."""
        delta, state_delta = self._from_nothing(network, plan, trees, batch, old)
        empty = empty_tree(self.spark, plan, self.runner.folder(plan.root))
        state = empty.state.append(state_delta) if empty.state is not None else None
        log = _log_of(plan, delta, old, batch)
        return replace(empty, relation=empty.relation.append(delta), state=state, log=log)

    def _evaluate(
        self,
        network: Network,
        tree: Tree,
        deltas: Mapping[NodeId, tuple[Delta, Delta]],
        logged: Mapping[str, Delta],
        batch: int,
        clock: Clock,
    ) -> tuple[Delta, Delta]:
        """The change of a tree in a batch, and of its state; ``deltas`` has its parents'."""
        node = network.nodes[tree.plan.root]
        if isinstance(node, Source):
            logged_rows = logged.get(node.stream)
            if logged_rows is None:
                return NO_CHANGE, NO_CHANGE
            return arriving(self.runner, tree.plan, self.held.arrived[node.stream], logged_rows, batch), NO_CHANGE
        inputs = tuple(self._rows_of(network, p, self.trees, deltas[network.roots[p]][0]) for p in node.parents)
        return change(self.runner, Work(node, tree.plan, inputs, batch, clock, tree))

    def _rows_of(
        self, network: Network, node: NodeId, trees: Mapping[NodeId, Tree], delta: Delta, from_nothing: bool = False
    ) -> NodeRows:
        """What an operator sees of a node."""
        root = network.roots[node]
        plan = trees[root].plan
        return NodeRows(self.runner.views, root, trees[root].relation, delta, plan.bits[node], from_nothing)

    def _from_nothing(
        self,
        network: Network,
        plan: TreePlan,
        trees: Mapping[NodeId, Tree],
        batch: int,
        told: Tree | None,
    ) -> tuple[Delta, Delta]:
        """All rows of a tree, and all of its state, as changes of nothing."""
        node = network.nodes[plan.root]
        if isinstance(node, Source):
            return arrived(self.runner, plan, self.held.arrived[node.stream]), NO_CHANGE
        inputs = tuple(self._rows_of(network, p, trees, NO_CHANGE, from_nothing=True) for p in node.parents)
        return change(self.runner, Work(node, plan, inputs, batch, self.held.clock, told=told))


def _log_of(plan: TreePlan, delta: Delta, old: Tree | None, batch: int) -> tuple[LogEntry, ...]:
    """The log goes on for queries that were there; one registered now starts from the rows as they are now."""
    before = old.log if old is not None else ()
    return () if plan.monotone else (*before, LogEntry(batch, delta, whole=True))


def _parent_roots(network: Network) -> dict[NodeId, list[NodeId]]:
    """For every local tree those it reads."""
    return {root: [network.roots[p] for p in network.nodes[root].parents] for root in network.trees}


def _report(plan: TreePlan, delta: Delta, seconds: float) -> OperatorReport:
    node_rows = {node: delta.count(bit) for node, bit in plan.bits.items()}
    return OperatorReport(plan.root, plan.nodes, delta.rows_in, delta.rows, seconds, node_rows)
