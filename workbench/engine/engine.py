"""The engine: keeps a tree for every local tree of the network, and takes them through batches.

Nothing here changes until a whole batch, or a whole registration, has succeeded: trees are immutable, and the new ones
replace the old in one assignment.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from workbench.engine.explained import explained
from workbench.engine.frames import arriving_frame, write_frame
from workbench.engine.grouped import as_told, grouped_change, merged_state, state_change
from workbench.engine.join import join_change, probe_of, tested_pairs
from workbench.engine.layout import BATCH, RESERVED_NAME, WEIGHT, Layout
from workbench.engine.node_rows import NodeRows
from workbench.engine.note import Input, Note
from workbench.engine.relation import ROWS_A_TASK, SMALL_ROWS, Relation, consolidate
from workbench.engine.schedule import in_order
from workbench.engine.segments import remove_segment, write_segments
from workbench.engine.shared_pass import NO_CHANGE, Delta, passing, run_pass
from workbench.engine.timings import BatchReport, OperatorReport
from workbench.engine.tree import LogEntry, Tree, TreePlan, passed_rows, plan_trees
from workbench.engine.union_all import union_change
from workbench.engine.views import Views
from workbench.errors import StreamError
from workbench.network.network import Network
from workbench.network.nodes import Join, NodeId, SetOperation, Source
from workbench.network.projection import Columns

PAIRS_A_ROW = 30
"""Where many rows each find more rows than that, Spark's own join is faster: it makes pairs some ten times as fast."""

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
        self.tasks = max(1, spark.sparkContext.defaultParallelism)
        self.views = Views(spark)
        self._pool = ThreadPoolExecutor(min(TREES_AT_A_TIME, self.tasks), thread_name_prefix="argus-tree")
        self.trees: Mapping[NodeId, Tree] = {}
        self.arrived: Mapping[str, Relation] = {}
        """All rows of every stream so far, all columns: what later queries start from."""
        self._prepared: dict[NodeId, tuple[object, DataFrame]] = {}
        """For a tree the plan that runs in every batch, and what it depends on."""

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
        folder = self._folder(f"stream-{len(self.arrived)}")
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
            for tree in remade.values():
                _remove(tree.files)
            raise
        self._replace_trees({root: trees[root] for root in plans})

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
                trees = {root: tree.grown(*deltas[root], batch) for root, tree in self.trees.items()}
        except BaseException:
            for delta in logged.values():
                _remove(segment.path for segment in delta.segments)
            raise
        self._replace_trees(trees)
        old, self.arrived = self.arrived, arrived
        for name, relation in old.items():
            _remove(relation.files - arrived[name].files)
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

    def forget_plans(self) -> None:
        """Plan every tree anew in its next batch: a function was given another meaning."""
        self._prepared = {}

    def close(self) -> None:
        """End its threads and views; files stay."""
        self._pool.shutdown()
        self.views.forget()
        self._prepared = {}
        self.trees = {}

    def _replace_trees(self, trees: Mapping[NodeId, Tree]) -> None:
        """Make new trees the engine's, and remove the files only the old ones needed."""
        old, self.trees = self.trees, trees
        for root, tree in old.items():
            _remove(tree.files - (trees[root].files if root in trees else frozenset()))
        self._prepared = {root: prepared for root, prepared in self._prepared.items() if root in trees}
        self.views.forget(keep=lambda role: role.split("_")[0] in trees)

    def _folder(self, name: str) -> Path:
        folder = self.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

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
        folder = self._folder(plan.root)
        parents = network.nodes[plan.root].parents
        inputs = tuple(self._rows_of(network, p, trees, NO_CHANGE, from_nothing=True) for p in parents)
        state: Relation | None = None
        if plan.grouped is not None:
            layout = Layout(plan.grouped.state_columns)
            state = Relation(self.spark, layout, folder, merge=partial(merged_state, plan.grouped))
        delta, state_delta = self._change(network, plan, inputs, None, state, batch, told=old)
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
        node = network.nodes[tree.plan.root]
        if isinstance(node, Source):
            return self._arrival(node, tree.plan, logged.get(node.stream), batch), NO_CHANGE
        inputs = tuple(self._rows_of(network, p, self.trees, deltas[network.roots[p]][0]) for p in node.parents)
        return self._change(network, tree.plan, inputs, tree, tree.state, batch)

    def _arrival(self, node: Source, plan: TreePlan, delta: Delta | None, batch: int) -> Delta:
        if delta is None:
            return NO_CHANGE
        note = self._note(plan, batch, Input(delta.segments))
        layout = self.arrived[node.stream].layout

        def arriving() -> DataFrame:
            view = self.views.name(f"{plan.root}_arriving", plan, lambda: arriving_frame(self.spark, note, layout))
            return self._passing(f"SELECT * FROM {view}", plan)

        return self._run_prepared(plan.root, (plan,), arriving)

    def _rows_of(
        self, network: Network, node: NodeId, trees: Mapping[NodeId, Tree], delta: Delta, from_nothing: bool = False
    ) -> NodeRows:
        root = network.roots[node]
        plan = trees[root].plan
        return NodeRows(self.views, root, trees[root].relation, delta, plan.bits[node], plan.monotone, from_nothing)

    def _change(
        self,
        network: Network,
        plan: TreePlan,
        inputs: tuple[NodeRows, ...],
        tree: Tree | None,
        state: Relation | None,
        batch: int,
        told: Tree | None = None,
    ) -> tuple[Delta, Delta]:
        """The change of a tree's rows and of its state.

        ``tree`` is ``None`` when it is being made; ``told`` is then the tree it replaces, if any.
        """
        rows: str | None
        state_delta = NO_CHANGE
        read = sum(i.relation.rows + i.changed_rows for i in inputs)
        match network.nodes[plan.root]:
            case Source(stream):
                arrived = self.arrived[stream]
                read = arrived.rows
                rows = f"SELECT * FROM {self.views.name(f'{plan.root}_arrived', arrived, lambda: arrived.dataframe)}"
            case Join() as join:
                if not any(i.changed_rows for i in inputs):
                    return NO_CHANGE, NO_CHANGE
                if (found := self._probed(join, plan, inputs, batch)) is not None:
                    return found, NO_CHANGE
                rows = join_change(join, inputs[0], inputs[1], plan.made)
            case SetOperation() as union if plan.grouped is None:
                rows = union_change(union, inputs, plan.made)
            case _:
                assert state is not None
                rows, state_delta = self._grouped(plan, inputs, tree, state, batch, told)
        return (NO_CHANGE if rows is None else self._pass(rows, plan, batch, read)), state_delta

    def _probed(self, join: Join, plan: TreePlan, inputs: tuple[NodeRows, ...], batch: int) -> Delta | None:
        """The change of a join whose pairs are found by key; ``None`` where Spark had better find them."""
        left, right = inputs
        note = self._note(plan, batch, left.input, right.input)
        probe = probe_of(join, left, right, plan.made, note)
        if probe is None:
            return None
        changed = left.changed_rows + right.changed_rows
        tasks = self._tasks(changed)
        if changed > ROWS_A_TASK and probe.count(self.spark, tasks) > PAIRS_A_ROW * changed:
            return None

        def joined() -> DataFrame:
            view = self.views.name(f"{plan.root}_pairs", (plan, probe, tasks), lambda: probe.frame(self.spark, tasks))
            return self._passing(tested_pairs(join, view, plan.made), plan)

        return self._run_prepared(plan.root, (plan, probe, tasks), joined)

    def _grouped(
        self,
        plan: TreePlan,
        inputs: tuple[NodeRows, ...],
        tree: Tree | None,
        state: Relation,
        batch: int,
        told: Tree | None,
    ) -> tuple[str | None, Delta]:
        """SQL of the change of a grouped operator's rows, and the change of its state."""
        assert plan.grouped is not None
        change = state_change(plan.grouped, inputs)
        if change is None:
            return None, NO_CHANGE
        tasks = self._tasks(sum(i.changed_rows for i in inputs))
        written = Delta(write_frame(self.spark.sql(change).coalesce(tasks), self._folder(plan.root)))
        if not written.rows:
            return None, NO_CHANGE
        relation = tree.relation if tree is not None else None
        small = all(rows <= SMALL_ROWS for rows in (written.rows, state.rows, relation.rows if relation else 0))
        touched = self.views.name(f"{plan.root}_touched", written, lambda: state.delta_frame(written))
        before = stored = None
        if relation is not None and state.rows:
            before = self.views.name(f"{plan.root}_state", state, lambda: state.dataframe)
        if relation is not None and relation.rows:
            stored = self.views.name(f"{plan.root}_rows", relation, lambda: relation.dataframe)
        rows = grouped_change(plan.grouped, inputs, touched, before, stored, plan.made, small)
        if told is not None and told.relation.rows and (inexact := plan.grouped.inexact & set(told.plan.kept)):
            old = self.views.name(
                f"{plan.root}_told", told, lambda: consolidate(told.relation.dataframe, told.plan.layout)
            )
            rows = as_told(rows, old, plan.grouped, plan.made, inexact)
        return rows, written

    def _pass(self, rows: str, plan: TreePlan, batch: int, read: int) -> Delta:
        """Run a root's rows, computed from ``read`` rows, through the tree's filter."""
        self._note(plan, batch)
        return run_pass(self._passing(rows, plan, self._tasks(read)))

    def _passing(self, rows: str, plan: TreePlan, tasks: int | None = None) -> DataFrame:
        """The plan that computes a root's rows and takes them through the tree's filter."""
        ready = self.spark.sql(passed_rows(rows, plan))
        # Rows of a grouped root all belong to the batch that runs; others bring their own.
        now = None if plan.grouped is None else self._note_of(plan)
        folder = str(self._folder(plan.root))
        return passing(ready if tasks is None else ready.coalesce(tasks), plan.filter.filter, plan.stored, folder, now)

    def _run_prepared(self, root: NodeId, depends_on: object, make: Callable[[], DataFrame]) -> Delta:
        """Run a tree's plan, made when it has to be: Spark plans it once, and it reads what is new from its note."""
        known = self._prepared.get(root)
        if known is None or known[0] != depends_on:
            known = self._prepared[root] = (depends_on, make())
        return run_pass(known[1])

    def _note_of(self, plan: TreePlan) -> Note:
        return Note.of(self._folder(plan.root), "now")

    def _note(self, plan: TreePlan, batch: int, *inputs: Input) -> Note:
        """Tell the tasks of a tree's next job what they work on."""
        note = self._note_of(plan)
        note.write(batch, inputs)
        return note

    def _tasks(self, rows: int) -> int:
        """Tasks for a job that reads so many rows: a second one costs more than it saves on few."""
        return 1 if rows <= ROWS_A_TASK else self.tasks


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


def _remove(files: Iterable[str]) -> None:
    for file in files:
        remove_segment(file)
