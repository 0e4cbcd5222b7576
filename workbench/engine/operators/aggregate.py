"""Operators that keep something for each group of rows: aggregates, DISTINCT, and set operators except UNION ALL.

All are one scheme (T4.2, Algorithm 4.1, exact under retractions) for a whole family of siblings. The change is grouped
and written down. Then what was stored for the groups it touches is looked up by key and merged with it; the touched
groups' old rows leave and their new rows enter. That is one job where few rows change, whose plan is made once. It is
two where many change, or values are computed anew from the rows of the touched groups.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pyspark.sql import DataFrame

from workbench.engine.operators.aggregate_sql import with_emitted_values, grouped_change, nothing_yet, change_of_found_groups, state_change
from workbench.engine.storage.relation import NO_CHANGE, Delta
from workbench.engine.operators.state_lookup import KeyedLookup
from workbench.engine.operators.state_lookup import StateLookup
from workbench.engine.physical.aggregate_plan import GroupedPlan
from workbench.engine.physical.join_keys import key_column
from workbench.engine.storage.frames import change_frame, segments_frame, run_writing, writing_plan
from workbench.engine.storage.job_input import InputRows
from workbench.engine.operators.runner import Runner
from workbench.engine.operators.operator_input import OperatorInput
from workbench.engine.storage.layout import Layout
from workbench.engine.storage.relation import Run, consolidate, tasks_for
from workbench.engine.storage.scan import Scan, FusedScan
from workbench.engine.tree import Tree


def grouped_delta(runner: Runner, work: OperatorInput, plan: GroupedPlan) -> tuple[Delta, Delta]:
    """The change of a grouped operator's rows, and of its state."""
    # The one group of an aggregate without groups is there from the start, also over no rows.
    starting = work.tree is None and not plan.groups
    if not work.changed and not starting:
        return NO_CHANGE, NO_CHANGE
    tasks = tasks_for(work.changed, runner.spark)
    if work.tree is not None and tasks == 1 and (both := _in_one_job(runner, work, work.tree, plan)) is not None:
        delta = runner.run(both)
        return replace(delta, beside=()), Delta(delta.beside)
    touched = Delta(run_writing(_touching(runner, work, plan, tasks)))
    if not touched.rows and not starting:
        return NO_CHANGE, NO_CHANGE
    if work.tree is None:
        return runner.passed(_made(runner, work, plan, touched, tasks), work.plan, tasks), touched
    return runner.run(_changing(runner, work, work.tree, plan, touched, tasks)), touched


def _in_one_job(runner: Runner, work: OperatorInput, tree: Tree, plan: GroupedPlan) -> DataFrame | None:
    """The plan of both steps in one task; ``None`` where there is none."""
    if plan.reads_rows:
        return None
    places = _places(work, tree, plan)
    note = runner.note(work.plan)
    note.write(work.batch, [*work.notes, *(InputRows((), run) for _, run in places.values())])
    leaves = [_changed(work, plan, at) for at in range(len(plan.branches))]
    kept = [leaf for leaf, _ in places.values()]

    def planned() -> DataFrame:
        frames = [change_frame(runner.spark, note, at, leaf, 1) for at, leaf in enumerate(leaves)]
        changes = [runner.bind(work.plan, f"change{at}", frame) for at, frame in enumerate(frames)]
        touched = runner.spark.sql(state_change(plan, changes, one_task=True)).coalesce(1)
        recall = StateLookup(kept[0], kept[1], note, len(leaves), str(runner.folder(work.plan.name)))
        recalled = runner.bind(work.plan, "recalled", recall.frame(touched))
        return runner.passing(change_of_found_groups(plan, work.plan.made, recalled), work.plan, 1)

    return runner.in_one_task(work.plan, "both", (work.plan, leaves, kept), planned)


def _touching(runner: Runner, work: OperatorInput, plan: GroupedPlan, tasks: int) -> DataFrame:
    """The plan that writes down the change of the state: a row for each touched group."""
    note = runner.tell(work.plan, work.batch, work.notes)
    leaves = [_changed(work, plan, at) for at in range(len(plan.branches))]

    def planned() -> DataFrame:
        frames = [change_frame(runner.spark, note, at, leaf, tasks) for at, leaf in enumerate(leaves)]
        changes = [runner.bind(work.plan, f"change{at}", frame) for at, frame in enumerate(frames)]
        rows = runner.spark.sql(state_change(plan, changes, one_task=tasks == 1))
        return writing_plan(rows.coalesce(tasks), runner.folder(work.plan.name))

    return planned() if tasks > 1 else runner.prepared(work.plan, "touching", (work.plan, leaves), planned)


def _changing(runner: Runner, work: OperatorInput, tree: Tree, plan: GroupedPlan, touched: Delta, tasks: int) -> DataFrame:
    """The plan of the change of a tree's rows, once it is known which groups are touched."""
    places: dict[str, tuple[Scan | FusedScan, Run]] = {**_places(work, tree, plan)}
    if plan.reads_rows:
        (told,) = work.notes
        places["rows"] = (_changed(work, plan, 0), (*told.before, *told.change))
    note = runner.note(work.plan, "touched")
    note.write(work.batch, [InputRows(touched.segments, run) for _, run in places.values()])
    leaves = {role: leaf for role, (leaf, _) in places.items()}

    def planned() -> DataFrame:
        touching = change_frame(runner.spark, note, 0, leaves["state"], tasks)
        frames = {
            role: KeyedLookup(tuple(plan.groups if role == "rows" else plan.keys), leaf, note, at).frame(runner.spark, tasks)
            for at, (role, leaf) in enumerate(leaves.items())
        }
        found = {role: runner.bind(work.plan, role, frame) for role, frame in frames.items()}
        parts = [runner.bind(work.plan, "touched", touching), found["state"]]
        rows = grouped_change(plan, work.plan.made, parts, found["stored"], found.get("rows"), one_task=tasks == 1)
        return runner.passing(rows, work.plan, tasks)

    return planned() if tasks > 1 else runner.prepared(work.plan, "rows", (work.plan, leaves), planned)


def _places(work: OperatorInput, tree: Tree, plan: GroupedPlan) -> Mapping[str, tuple[Scan, Run]]:
    """Where the rows of touched groups are looked up, and what is read of them."""
    assert tree.state is not None
    keys = tuple(plan.keys)
    return {
        "state": (Scan.of(tree.state.layout, tuple(plan.state_columns), keys, None), tree.state.segments),
        "stored": (Scan.of(tree.relation.layout, tuple(work.plan.made), keys, None), tree.relation.segments),
    }


def _changed(work: OperatorInput, plan: GroupedPlan, at: int) -> FusedScan:
    """What is read of a parent."""
    branch, keys = plan.branches[at], tuple(map(key_column, plan.row_keys))
    return FusedScan(Scan.of(work.inputs[at].relation.layout, branch.columns, keys, None), branch.readers)


def _made(runner: Runner, work: OperatorInput, plan: GroupedPlan, touched: Delta, tasks: int) -> str:
    """SQL of a tree's rows when it is made: all groups are touched, and nothing was there before."""
    note = runner.note(work.plan)
    layout = Layout(plan.state_columns)
    groups = segments_frame(runner.spark, touched.segments, layout, layout.arrow.names, tasks)
    parts = [runner.bind(work.plan, "touched", groups), *([] if plan.groups else [nothing_yet(plan)])]
    rows = None
    if plan.reads_rows:
        everything = change_frame(runner.spark, note, 0, _changed(work, plan, 0), tasks)
        rows = runner.bind(work.plan, "rows", everything)
    made = grouped_change(plan, work.plan.made, parts, None, rows, one_task=tasks == 1)
    told = work.told
    if told is None or not told.relation.rows or not (inexact := plan.inexact & set(told.plan.kept)):
        return made
    before = runner.bind(work.plan, "told", consolidate(told.relation.dataframe, told.plan.layout))
    return with_emitted_values(made, before, plan, work.plan.made, inexact)
