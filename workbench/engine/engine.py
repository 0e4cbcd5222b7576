"""The engine: keeps a tree for every local tree of the network, and takes them through batches.

Nothing here changes until a whole batch, or a whole registration, has succeeded: trees are immutable, and the new ones
replace the old in one assignment.
"""

from __future__ import annotations

import shutil
import time
import uuid
from collections.abc import Iterable, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from workbench.engine.compile_filter import compile_filter
from workbench.engine.grouped import grouped_change, merged_state, state_change
from workbench.engine.join import join_change
from workbench.engine.node_rows import NodeRows
from workbench.engine.relation import SMALL_ROWS, Layout, Relation, consolidate
from workbench.engine.shared_pass import BATCH, NO_CHANGE, WEIGHT, Delta, run_pass
from workbench.engine.timings import BatchReport, OperatorReport
from workbench.engine.tree import LogEntry, Tree, TreePlan, passed_rows, plan_trees
from workbench.engine.union_all import union_change
from workbench.errors import EngineError
from workbench.network.network import Network
from workbench.network.nodes import Aggregate, Join, NodeId, SetOperation, Source
from workbench.network.projection import Columns
from workbench.sql.predicates import PredSet

_EVERY_ROW = compile_filter({0: PredSet()}, [0], [0]).filter


class Engine:
    """Runs one network on Spark.

    Args:
        spark: the Spark session to use.
        folder: where rows are kept; every worker must reach it.
    """

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark = spark
        self.folder = folder
        self.tasks = max(1, spark.sparkContext.defaultParallelism)
        self.trees: Mapping[NodeId, Tree] = {}
        self.arrived: Mapping[str, Relation] = {}
        """All rows of every stream so far, all columns: what later queries start from."""

    def add_stream(self, name: str, columns: Columns, history: Iterable[pa.Table]) -> None:
        """Take in a stream's history as batch 0."""
        layout = Layout(columns)
        folder = self._folder(f"stream-{len(self.arrived)}")
        deltas = [self._write(table, layout, folder, batch=0) for table in history]
        relation = Relation(self.spark, layout, folder, cached=False)
        together = Delta(tuple(f for d in deltas for f in d.files), sum(d.rows for d in deltas))
        with _explained("read the history"):
            self.arrived = {**self.arrived, name: relation.append(together)}

    def adopt(self, network: Network, batch: int) -> None:
        """Bring the trees to what the network asks for, new nodes computed from all data so far.

        Args:
            network: the new network.
            batch: the last batch that was run; 0 after the history alone.

        Raises:
            EngineError: Spark could not evaluate a node; nothing has changed then.
        """
        trees: dict[NodeId, Tree] = {}
        remade: dict[NodeId, Tree] = {}
        try:
            for root, plan in plan_trees(network, self.trees).items():
                old = self.trees.get(root)
                if old is not None and old.plan.covers(plan):
                    trees[root] = old.narrowed(plan)
                else:
                    with _explained(f"initialize node {root}"):
                        trees[root] = self._made(network, plan, trees, old, batch)
                    remade[root] = trees[root]
        except BaseException:
            for tree in remade.values():
                tree.release()
            raise
        for root, old in self.trees.items():
            if root not in trees or root in remade:
                old.release()
        self._replace_trees(trees)

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
        deltas: dict[NodeId, tuple[Delta, Delta]] = {}
        operators: list[OperatorReport] = []
        for root, tree in self.trees.items():
            begun = time.perf_counter()
            with _explained(f"evaluate node {root} in batch {batch}"):
                delta, state_delta = self._evaluate(network, tree, deltas, logged, batch)
            deltas[root] = delta, state_delta
            if delta.rows_in or state_delta.rows:
                operators.append(_report(tree.plan, delta, time.perf_counter() - begun))
        with _explained(f"keep the rows of batch {batch}"):
            arrived = {n: r.append(logged[n]) if n in logged else r for n, r in self.arrived.items()}
            trees = {root: tree.grown(*deltas[root], batch) for root, tree in self.trees.items()}
        self._replace_trees(trees)
        self.arrived = arrived
        changes = {
            name: deltas[network.roots[plan.node]][0].count(self._bit(network, plan.node))
            for name, plan in network.queries.items()
        }
        rows = {name: table.num_rows for name, table in arriving.items()}
        return BatchReport(batch, rows, time.perf_counter() - started, tuple(operators), changes)

    def close(self) -> None:
        """Give back the memory Spark holds; files stay."""
        for tree in self.trees.values():
            tree.release()
        self.trees = {}

    def _replace_trees(self, trees: Mapping[NodeId, Tree]) -> None:
        """Make new trees the engine's, and remove the files only the old ones needed."""
        old, self.trees = self.trees, trees
        for root, tree in old.items():
            kept = trees[root].files if root in trees else frozenset()
            for file in tree.files - kept:
                _remove(Path(file))

    def _bit(self, network: Network, node: NodeId) -> int:
        return self.trees[network.roots[node]].plan.bits[node]

    def _folder(self, name: str) -> Path:
        folder = self.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _write(self, table: pa.Table, layout: Layout, folder: Path, batch: int) -> Delta:
        """Log rows of a stream before they are evaluated."""
        rows = table.num_rows
        table = table.append_column(BATCH, pa.array([batch] * rows, type=pa.int32()))
        table = table.append_column(WEIGHT, pa.array([1] * rows, type=pa.int64()))
        path = folder / f"arrived-{uuid.uuid4().hex}.parquet"
        pq.write_table(table.cast(layout.arrow), path, compression="zstd")
        return Delta((str(path),), rows, rows, path.stat().st_size)

    def _made(
        self, network: Network, plan: TreePlan, trees: Mapping[NodeId, Tree], old: Tree | None, batch: int
    ) -> Tree:
        """A tree computed from all data so far; ``trees`` has its parents."""
        node = network.nodes[plan.root]
        folder = self._folder(plan.root)
        inputs = tuple(
            NodeRows(
                trees[network.roots[p]].relation,
                NO_CHANGE,
                trees[network.roots[p]].plan.bits[p],
                trees[network.roots[p]].plan.monotone,
                from_nothing=True,
            )
            for p in node.parents
        )
        state: Relation | None = None
        rows: DataFrame | None
        match node:
            case Source():
                rows = self.arrived[node.stream].dataframe
            case Join():
                rows = join_change(node, inputs[0], inputs[1], plan.made)
            case Aggregate() | SetOperation() if plan.grouped is not None:
                state_layout = Layout(plan.grouped.state_columns, words=1)
                state = Relation(self.spark, state_layout, folder, merge=partial(merged_state, plan.grouped))
                rows, state_delta = self._grouped(plan, inputs, None, state, batch)
                state = state.append(state_delta)
            case SetOperation():
                rows = union_change(node, inputs, plan.made)
            case _:
                raise AssertionError(f"{node} roots no tree")
        delta = NO_CHANGE if rows is None else self._pass(rows, plan, folder, batch)
        merge = None if plan.monotone else partial(consolidate, layout=plan.layout)
        relation = Relation(self.spark, plan.layout, folder, merge=merge).append(delta)
        return Tree(plan, relation, state, self._log_of(plan, delta, old, batch))

    def _log_of(self, plan: TreePlan, delta: Delta, old: Tree | None, batch: int) -> tuple[LogEntry, ...]:
        """The log goes on for queries that were there; one registered now starts from the rows as they are now."""
        before = old.log if old is not None else ()
        return () if plan.monotone else (*before, LogEntry(batch, delta, whole=True))

    def _evaluate(
        self,
        network: Network,
        tree: Tree,
        deltas: Mapping[NodeId, tuple[Delta, Delta]],
        logged: Mapping[str, Delta],
        batch: int,
    ) -> tuple[Delta, Delta]:
        """The change of a tree in a batch, and of its state; ``deltas`` has its parents'."""
        plan = tree.plan
        node = network.nodes[plan.root]
        inputs = tuple(
            NodeRows(
                self.trees[network.roots[p]].relation,
                deltas[network.roots[p]][0],
                self._bit(network, p),
                self.trees[network.roots[p]].plan.monotone,
            )
            for p in node.parents
        )
        rows: DataFrame | None
        state_delta = NO_CHANGE
        match node:
            case Source():
                delta = logged.get(node.stream)
                rows = None if delta is None else self.arrived[node.stream].delta_frame(delta)
            case Join():
                rows = join_change(node, inputs[0], inputs[1], plan.made)
            case Aggregate() | SetOperation() if plan.grouped is not None:
                assert tree.state is not None
                rows, state_delta = self._grouped(plan, inputs, tree, tree.state, batch)
            case SetOperation():
                rows = union_change(node, inputs, plan.made)
            case _:
                raise AssertionError(f"{node} roots no tree")
        return (NO_CHANGE if rows is None else self._pass(rows, plan, self._folder(plan.root), batch)), state_delta

    def _grouped(
        self, plan: TreePlan, inputs: tuple[NodeRows, ...], tree: Tree | None, state: Relation, batch: int
    ) -> tuple[DataFrame | None, Delta]:
        """The change of a grouped operator's rows and of its state; ``tree`` is ``None`` when it is made."""
        assert plan.grouped is not None
        change = state_change(plan.grouped, inputs)
        if change is None:
            return None, NO_CHANGE
        columns = plan.grouped.state_columns
        written = run_pass(change, _EVERY_ROW, columns, self._folder(plan.root), self.tasks, batch)
        if not written.rows:
            return None, NO_CHANGE
        touched = state.delta_frame(written)
        before = state.dataframe if tree is not None and state.rows else None
        sizes = [written.rows, state.rows, tree.relation.rows if tree is not None else 0]
        small = all(rows <= SMALL_ROWS for rows in sizes)
        stored = tree.relation.dataframe if tree is not None and tree.relation.rows else None
        rows = grouped_change(plan.grouped, inputs, touched, before, stored, plan.made, small)
        return rows, written

    def _pass(self, rows: DataFrame, plan: TreePlan, folder: Path, batch: int) -> Delta:
        # Rows of a grouped root all belong to this batch; others bring their own.
        number = None if plan.grouped is None else batch
        return run_pass(passed_rows(rows, plan), plan.filter.filter, plan.kept, folder, self.tasks, number)


def _report(plan: TreePlan, delta: Delta, seconds: float) -> OperatorReport:
    node_rows = {node: delta.count(bit) for node, bit in plan.bits.items()}
    return OperatorReport(plan.root, plan.nodes, delta.rows_in, delta.rows, seconds, node_rows)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def _explained(doing: str) -> Any:
    """Turn what Spark raises into an error of ours; the whole of it stays its cause."""
    try:
        yield
    except PySparkException as problem:
        first = str(problem).strip().splitlines()[0][:300]
        raise EngineError(f"Spark could not {doing}: {first}", hint="`%argus last-error` shows all of it") from problem
