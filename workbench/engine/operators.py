"""Operators: how the rows of a local tree's root change when its parents' rows do, and the one job that computes it.

An operator is one SQL text over named views, run through the tree's shared pass. Those without an exchange are planned
once and run again in every batch (``note``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from workbench.engine.clock import Clock
from workbench.engine.frames import arriving_frame, write_frame
from workbench.engine.grouped import as_told, grouped_change, state_change
from workbench.engine.join import join_change, probe_of, tested_pairs
from workbench.engine.node_rows import NodeRows
from workbench.engine.note import Input, Note
from workbench.engine.relation import ROWS_A_TASK, SMALL_ROWS, Relation, consolidate
from workbench.engine.shared_pass import NO_CHANGE, Delta, passing, run_pass
from workbench.engine.tree import Tree, TreePlan, passed_rows
from workbench.engine.union_all import union_change
from workbench.engine.views import Views
from workbench.engine.window import extent, passing_of
from workbench.network.network import Network
from workbench.network.nodes import Join, NodeId, SetOperation, Window

PAIRS_A_ROW = 30
"""Where many rows each find more rows than that, Spark's own join is faster: it makes pairs some ten times as fast."""


class Operators:
    """Runs operators on Spark.

    Args:
        spark: the Spark session to use.
        folder: where rows are kept; every worker must reach it.
    """

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark = spark
        self._folder = folder
        self._tasks_at_most = max(1, spark.sparkContext.defaultParallelism)
        self._views = Views(spark)
        self._prepared: dict[NodeId, tuple[object, DataFrame]] = {}
        """For a tree the plan that runs in every batch, and what it depends on."""

    def forget(self, keep: Callable[[NodeId], bool] = lambda root: False) -> None:
        """Forget plans and views of the trees that are not to be kept."""
        self._prepared = {root: prepared for root, prepared in self._prepared.items() if keep(root)}
        self._views.forget(keep=lambda role: keep(role.split("_")[0]))

    def forget_plans(self) -> None:
        """Plan every tree anew in its next batch: a function was given another meaning."""
        self._prepared = {}

    def folder(self, root: NodeId) -> Path:
        """Where a tree keeps its rows."""
        folder = self._folder / root
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def rows_of(
        self, network: Network, node: NodeId, trees: Mapping[NodeId, Tree], delta: Delta, from_nothing: bool = False
    ) -> NodeRows:
        """What an operator sees of a node."""
        root = network.roots[node]
        plan = trees[root].plan
        return NodeRows(self._views, root, trees[root].relation, delta, plan.bits[node], plan.monotone, from_nothing)

    def arrived(self, plan: TreePlan, rows: Relation, batch: int) -> Delta:
        """The rows of a source's tree, from all rows that its stream has brought."""
        view = self._views.name(f"{plan.root}_arrived", rows, lambda: rows.dataframe)
        return self._pass(f"SELECT * FROM {view}", plan, batch, rows.rows)

    def arriving(self, plan: TreePlan, rows: Relation, delta: Delta, batch: int) -> Delta:
        """The change of a source's tree when rows arrive; ``rows`` has those before."""
        note = self._note(plan, batch, Input(delta.segments))

        def planned() -> DataFrame:
            view = self._views.name(
                f"{plan.root}_arriving", plan, lambda: arriving_frame(self._spark, note, rows.layout)
            )
            return self._passing(f"SELECT * FROM {view}", plan)

        return self._run_prepared(plan.root, (plan,), planned)

    def change(
        self,
        network: Network,
        plan: TreePlan,
        inputs: tuple[NodeRows, ...],
        tree: Tree | None,
        state: Relation | None,
        batch: int,
        clock: Clock,
        told: Tree | None = None,
    ) -> tuple[Delta, Delta]:
        """The change of a tree's rows and of its state.

        ``tree`` is ``None`` when it is being made; ``told`` is then the tree it replaces, if any. ``clock`` says
        what time it is after the batch.
        """
        rows: str | None
        state_delta = NO_CHANGE
        read = sum(i.relation.rows + i.changed_rows for i in inputs)
        match network.nodes[plan.root]:
            case Join() as join:
                if not any(i.changed_rows for i in inputs):
                    return NO_CHANGE, NO_CHANGE
                if (found := self._probed(join, plan, inputs, batch)) is not None:
                    return found, NO_CHANGE
                rows = join_change(join, inputs[0], inputs[1], plan.made)
            case Window() as window:
                return self._windowed(window, plan, inputs[0], batch, clock, tree is None), NO_CHANGE
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
        if changed > ROWS_A_TASK and probe.count(self._spark, tasks) > PAIRS_A_ROW * changed:
            return None

        def planned() -> DataFrame:
            view = self._views.name(f"{plan.root}_pairs", (plan, probe, tasks), lambda: probe.frame(self._spark, tasks))
            return self._passing(tested_pairs(join, view, plan.made), plan)

        return self._run_prepared(plan.root, (plan, probe, tasks), planned)

    def _windowed(self, window: Window, plan: TreePlan, rows: NodeRows, batch: int, clock: Clock, new: bool) -> Delta:
        """The change of a window's rows: those that arrive in it, and those that time lets in or out."""
        before = extent(window.within, None if new else clock.after_batch(batch - 1))
        after = extent(window.within, clock.now)
        if not rows.changed_rows and before == after:
            return NO_CHANGE
        note = self._note_of(plan)
        note.write(batch, [rows.input], [before, after])
        passing = passing_of(window, rows.relation.layout, sorted(plan.made), rows.bit, note)

        def planned() -> DataFrame:
            view = self._views.name(f"{plan.root}_passing", (plan, passing), lambda: passing.frame(self._spark))
            return self._passing(f"SELECT * FROM {view}", plan)

        return self._run_prepared(plan.root, (plan, passing), planned)

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
        written = Delta(write_frame(self._spark.sql(change).coalesce(tasks), self.folder(plan.root)))
        if not written.rows:
            return None, NO_CHANGE
        relation = tree.relation if tree is not None else None
        small = all(rows <= SMALL_ROWS for rows in (written.rows, state.rows, relation.rows if relation else 0))
        touched = self._views.name(f"{plan.root}_touched", written, lambda: state.delta_frame(written))
        before = stored = None
        if relation is not None and state.rows:
            before = self._views.name(f"{plan.root}_state", state, lambda: state.dataframe)
        if relation is not None and relation.rows:
            stored = self._views.name(f"{plan.root}_rows", relation, lambda: relation.dataframe)
        rows = grouped_change(plan.grouped, inputs, touched, before, stored, plan.made, small)
        if told is not None and told.relation.rows and (inexact := plan.grouped.inexact & set(told.plan.kept)):
            old = self._views.name(
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
        ready = self._spark.sql(passed_rows(rows, plan))
        # Rows of a grouped root all belong to the batch that runs; others bring their own.
        now = None if plan.grouped is None else self._note_of(plan)
        folder = str(self.folder(plan.root))
        return passing(ready if tasks is None else ready.coalesce(tasks), plan.filter.filter, plan.stored, folder, now)

    def _run_prepared(self, root: NodeId, depends_on: object, make: Callable[[], DataFrame]) -> Delta:
        """Run a tree's plan, made when it has to be: Spark plans it once, and it reads what is new from its note."""
        known = self._prepared.get(root)
        if known is None or known[0] != depends_on:
            known = self._prepared[root] = (depends_on, make())
        return run_pass(known[1])

    def _note_of(self, plan: TreePlan) -> Note:
        return Note.of(self.folder(plan.root), "now")

    def _note(self, plan: TreePlan, batch: int, *inputs: Input) -> Note:
        """Tell the tasks of a tree's next job what they work on."""
        note = self._note_of(plan)
        note.write(batch, inputs)
        return note

    def _tasks(self, rows: int) -> int:
        """Tasks for a job that reads so many rows: a second one costs more than it saves on few."""
        return 1 if rows <= ROWS_A_TASK else self._tasks_at_most
