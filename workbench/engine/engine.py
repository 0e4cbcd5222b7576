"""The engine: keeps a tree for every local tree of the network, and takes them through batches.

Nothing here changes until a whole batch, or a whole registration, has succeeded: trees are immutable, and the new ones
replace the old in one assignment.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from workbench.engine.discarded import Discarded
from workbench.engine.explained import explained
from workbench.engine.grouped import merged_state
from workbench.engine.layout import BATCH, RESERVED_NAME, WEIGHT, Layout
from workbench.engine.operators import Operators
from workbench.engine.relation import Relation, consolidate
from workbench.engine.schedule import in_order
from workbench.engine.segments import write_segments
from workbench.engine.shared_pass import NO_CHANGE, Delta
from workbench.engine.timings import BatchReport, OperatorReport
from workbench.engine.tree import LogEntry, Tree, TreePlan, plan_trees
from workbench.errors import StreamError
from workbench.network.network import Network
from workbench.network.nodes import NodeId, Source
from workbench.network.projection import Columns

TREES_AT_A_TIME = 8
"""At most so many local trees run at a time, and no more than there are cores."""


class Engine:
    """Runs one network on Spark.

    Args:
        spark: the Spark session to use.
        folder: where rows are kept; every worker must reach it.
        incremental_aggregates: see ``Options``.
    """

    def __init__(self, spark: SparkSession, folder: Path, incremental_aggregates: bool = True) -> None:
        self.spark = spark
        self.folder = folder
        self.incremental_aggregates = incremental_aggregates
        self.operators = Operators(spark, folder)
        trees_at_a_time = min(TREES_AT_A_TIME, max(1, spark.sparkContext.defaultParallelism))
        self._pool = ThreadPoolExecutor(trees_at_a_time, thread_name_prefix="argus-tree")
        self._discarded = Discarded()
        self._committed: tuple[Network, Mapping[NodeId, Tree]] = (Network(), {})
        self.arrived: Mapping[str, Relation] = {}
        """All rows of every stream so far, all columns: what later queries start from."""

    @property
    def trees(self) -> Mapping[NodeId, Tree]:
        """The trees as they were committed last, by the ids of their roots."""
        return self._committed[1]

    @contextmanager
    def reading(self) -> Iterator[tuple[Network, Mapping[NodeId, Tree]]]:
        """The network and its trees as they were committed last, for a reader in any thread.

        Their files stay until the reader is done, also when a batch in another thread has replaced them meanwhile.
        """
        with self._discarded.kept():
            yield self._committed

    def add_stream(self, name: str, columns: Columns, history: Iterable[pa.Table]) -> None:
        """Take in a stream's history as batch 0.

        Raises:
            StreamError: a column has a name the engine uses itself.
        """
        for column in columns:
            if RESERVED_NAME.fullmatch(column):
                message = f"stream {name}: the column name {column} is used by the workbench itself"
                raise StreamError(message, hint="rename the column in the source")
        layout = Layout(columns)
        folder = self.operators.folder(f"stream-{len(self.arrived)}")
        deltas = [self._write(table, layout, folder, batch=0) for table in history]
        together = Delta(tuple(segment for delta in deltas for segment in delta.segments))
        with explained("read the history"):
            self.arrived = {**self.arrived, name: Relation(self.spark, layout, folder).append(together)}

    def adopt(self, network: Network, batch: int) -> None:
        """Bring the trees to what the network asks for, new nodes computed from all data so far.

        Args:
            network: the new network.
            batch: the last batch that was run; 0 after the history alone.

        Raises:
            EngineError: Spark could not evaluate a node; nothing has changed then.
        """
        plans = plan_trees(network, self.trees, self.incremental_aggregates)
        trees: dict[NodeId, Tree] = {}
        remade: dict[NodeId, Tree] = {}

        def bring(root: NodeId) -> None:
            plan, old = plans[root], self.trees.get(root)
            if old is not None and old.plan.covers(plan):
                trees[root] = old.narrowed(plan)
                return
            with explained(f"initialize node {root}"):
                trees[root] = remade[root] = self._made(network, plan, trees, old, batch)

        try:
            in_order(_parent_roots(network), bring, self._pool)
        except BaseException:
            for root, tree in remade.items():
                self._discarded.add(tree.files - (self.trees[root].files if root in self.trees else frozenset()))
            raise
        self._commit(network, {root: trees[root] for root in plans})

    def run_batch(self, network: Network, batch: int, arriving: Mapping[str, pa.Table]) -> BatchReport:
        """Evaluate the network for rows that arrive.

        Raises:
            EngineError: Spark could not evaluate an operator; no tree has changed then.
        """
        started = time.perf_counter()
        logged = {
            name: self._write(table, self.arrived[name].layout, self.arrived[name].folder, batch)
            for name, table in arriving.items()
            if table.num_rows
        }
        try:
            deltas, operators = self._evaluate_all(network, logged, batch)
            with explained(f"keep the rows of batch {batch}"):
                arrived = {n: r.append(logged[n]) if n in logged else r for n, r in self.arrived.items()}
                grown = self._pool.map(lambda root: self.trees[root].grown(*deltas[root], batch), self.trees)
                trees = dict(zip(self.trees, grown, strict=True))
        except BaseException:
            for delta in logged.values():
                self._discarded.add(segment.path for segment in delta.segments)
            raise
        self._commit(network, trees)
        old, self.arrived = self.arrived, arrived
        for name, relation in old.items():
            self._discarded.add(relation.files - arrived[name].files)
        changes = {
            name: deltas[plan.read.root][0].count(self.trees[plan.read.root].plan.counted(plan.nodes))
            for name, plan in network.queries.items()
        }
        rows = {name: table.num_rows for name, table in arriving.items()}
        total, seconds = sum(rows.values()), time.perf_counter() - started
        return BatchReport(batch, total, seconds, tuple(operators), changes, rows)

    def _evaluate_all(
        self, network: Network, logged: Mapping[str, Delta], batch: int
    ) -> tuple[dict[NodeId, tuple[Delta, Delta]], list[OperatorReport]]:
        """The change of every tree and of its state, and the reports of those that had work."""
        deltas: dict[NodeId, tuple[Delta, Delta]] = {}

        def evaluate(root: NodeId) -> float:
            begun = time.perf_counter()
            with explained(f"evaluate node {root} in batch {batch}"):
                deltas[root] = self._evaluate(network, self.trees[root], deltas, logged, batch)
            return time.perf_counter() - begun

        seconds = in_order(_parent_roots(network), evaluate, self._pool)
        worked = [root for root in seconds if deltas[root][0].rows_in or deltas[root][1].rows]
        return deltas, [_report(self.trees[root].plan, deltas[root][0], seconds[root]) for root in worked]

    def close(self) -> None:
        """End its threads and views; files stay."""
        self._pool.shutdown()
        self.operators.forget()
        self._committed = (Network(), {})

    def discard(self) -> None:
        """Close it, and remove its files as soon as nobody reads them."""
        trees = [file for tree in self.trees.values() for file in tree.files]
        rows = [file for relation in self.arrived.values() for file in relation.files]
        self.close()
        self._discarded.add([*trees, *rows])

    def _commit(self, network: Network, trees: Mapping[NodeId, Tree]) -> None:
        """Make a network and its trees the engine's, together, and remove the files only the old ones needed."""
        old = self.trees
        self._committed = (network, trees)
        for root, tree in old.items():
            self._discarded.add(tree.files - (trees[root].files if root in trees else frozenset()))
        self.operators.forget(keep=lambda root: root in trees)

    def _write(self, table: pa.Table, layout: Layout, folder: Path, batch: int) -> Delta:
        """Log rows of a stream before they are evaluated."""
        rows = table.num_rows
        table = table.append_column(BATCH, pa.array([batch] * rows, type=pa.int32()))
        table = table.append_column(WEIGHT, pa.array([1] * rows, type=pa.int64()))
        return Delta(write_segments(table.cast(layout.arrow), folder))

    def _made(
        self, network: Network, plan: TreePlan, trees: Mapping[NodeId, Tree], old: Tree | None, batch: int
    ) -> Tree:
        """A tree computed from all data so far; ``trees`` has its parents."""
        folder = self.operators.folder(plan.root)
        state: Relation | None = None
        if plan.grouped is not None:
            layout = Layout(plan.grouped.state_columns)
            state = Relation(self.spark, layout, folder, merge=partial(merged_state, plan.grouped))
        delta, state_delta = self._from_nothing(network, plan, trees, state, batch, old)
        fewer = None if plan.monotone else partial(_fewer, plan.layout)
        relation = Relation(self.spark, plan.layout, folder, merge=fewer).append(delta)
        return Tree(plan, relation, state.append(state_delta) if state else None, _log_of(plan, delta, old, batch))

    def _evaluate(
        self,
        network: Network,
        tree: Tree,
        deltas: Mapping[NodeId, tuple[Delta, Delta]],
        logged: Mapping[str, Delta],
        batch: int,
    ) -> tuple[Delta, Delta]:
        """The change of a tree in a batch, and of its state; ``deltas`` has its parents'."""
        node, operators = network.nodes[tree.plan.root], self.operators
        if isinstance(node, Source):
            arriving = logged.get(node.stream)
            if arriving is None:
                return NO_CHANGE, NO_CHANGE
            return operators.arriving(tree.plan, self.arrived[node.stream], arriving, batch), NO_CHANGE
        inputs = tuple(operators.rows_of(network, p, self.trees, deltas[network.roots[p]][0]) for p in node.parents)
        return operators.change(network, tree.plan, inputs, tree, tree.state, batch)

    def _from_nothing(
        self,
        network: Network,
        plan: TreePlan,
        trees: Mapping[NodeId, Tree],
        state: Relation | None,
        batch: int,
        told: Tree | None,
    ) -> tuple[Delta, Delta]:
        """All rows of a tree, and all of its state, as changes of nothing."""
        node, operators = network.nodes[plan.root], self.operators
        if isinstance(node, Source):
            return operators.arrived(plan, self.arrived[node.stream], batch), NO_CHANGE
        inputs = tuple(operators.rows_of(network, p, trees, NO_CHANGE, from_nothing=True) for p in node.parents)
        return operators.change(network, plan, inputs, None, state, batch, told)


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


def _fewer(layout: Layout, rows: DataFrame, whole: bool) -> DataFrame:
    """Rows that cancel each other are gone, also when they are a part of all."""
    return consolidate(rows, layout)
