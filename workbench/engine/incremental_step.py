"""The incremental step of a batch: every operator computes its change.

The changes are computed against the state before the batch, and nothing of that state changes here.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import dataclass

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from workbench.engine.arrival import Logged
from workbench.engine.event_time import EventTimeClock
from workbench.engine.node_times import node_microseconds
from workbench.engine.operators.evaluate import prepare, run_prepared
from workbench.engine.operators.operator_input import Exchange, OperatorInput, Prepared
from workbench.engine.operators.runner import Runner
from workbench.engine.operators.side_steps import SideStep, run_side_steps
from workbench.engine.operators.source import source_change
from workbench.engine.physical.plans import SourcePlan, TreePlan, WindowPlan
from workbench.engine.reports import Counts, OperatorReport
from workbench.engine.schedule import Meter, operators_by_depth, reachable
from workbench.engine.spark.failures import StepError, translate_errors
from workbench.engine.spark.side_by_side import run_all
from workbench.engine.state import Deltas, EngineState
from workbench.engine.storage.job_input import InputRows, TaskInput
from workbench.engine.storage.relation import NO_CHANGE, Delta, tasks_for
from workbench.engine.tree import Tree
from workbench.errors import NotEmittedError


@dataclass(frozen=True)
class IncrementalStep:
    """Evaluates the operators of a network for one batch.

    Attributes:
        runner: runs Spark plans.
        state: before the batch.
        batch: its number.
        clock: the event times after the batch.
        logged: the rows that arrived, and what tasks have found of the network as they logged them.
        passed_over: operators that do nothing in this batch (``schedule``).
    """

    runner: Runner
    state: EngineState
    batch: int
    clock: EventTimeClock
    logged: Logged
    passed_over: frozenset[str] = frozenset()

    def evaluate_all(self, threads: Executor, meter: Meter) -> tuple[dict[str, Deltas], list[OperatorReport]]:
        """The change of every tree, and the reports of the operators that had work.

        Of each depth, operators over few rows are run by this process, and all others by one job of Spark.

        Args:
            threads: prepare several operators at a time.
            meter: counts the operators that are done.

        Raises:
            NotEmittedError: an operator takes back rows that it has not emitted.
        """
        trees = {name: tree for name, tree in self.state.trees.items() if name not in self.passed_over}
        deltas: dict[str, Deltas] = dict.fromkeys(self.passed_over, (NO_CHANGE, NO_CHANGE))
        seconds: dict[str, float] = {}
        parents = {name: [read for read, _ in tree.plan.inputs] for name, tree in trees.items()}
        plans = (tree.plan for tree in trees.values())
        first = {plan.name for plan in plans if isinstance(plan, SourcePlan) and plan.stream in self.logged.rows}

        def reads_few(name: str) -> bool:
            return self._reads_few(trees[name].plan, deltas)

        def prepared(name: str) -> Prepared:
            begun = time.perf_counter()
            with self._translated(name):
                operator = self._going_on(trees[name], deltas)
            seconds[name] = time.perf_counter() - begun
            return operator

        with meter.counting(self.batch, reachable(parents, first)):
            depths = operators_by_depth(parents)
            for depth, names in enumerate(depths, start=1):
                self.runner.doing = f"batch {self.batch}, depth {depth} of {len(depths)}"
                operators = run_all(names, prepared, threads, reads_few)
                deltas |= self._run(operators, threads)
                for name in names:
                    seconds[name] += deltas[name][0].seconds
                    meter.count(name)
        self._check_emitted(trees, deltas, threads)
        worked = [name for name in trees if deltas[name][0].rows_in or deltas[name][1].rows]
        return deltas, [operator_report(trees[name].plan, deltas[name][0], seconds[name]) for name in worked]

    def looked_up(self, deltas: Mapping[str, Deltas]) -> frozenset[str]:
        """The trees in which operators have looked up rows from before the batch, given the changes of all trees."""
        plans = (tree.plan for name, tree in self.state.trees.items() if name not in self.passed_over)
        read = ((plan, [name for name, _ in plan.inputs]) for plan in plans)
        found = (
            zip(names, plan.looks_up([deltas[name][0].rows > 0 for name in names]), strict=True) for plan, names in read
        )
        return frozenset(name for of_plan in found for name, looks_up in of_plan if looks_up)

    def _run(self, operators: Mapping[str, Prepared], threads: Executor) -> dict[str, Deltas]:
        """The changes of some trees side by side. Where it fails, each is run alone, to tell which one it is."""
        try:
            return run_prepared(self.runner, operators, threads)
        except StepError as failed:
            with self._translated(failed.tree):
                raise
        except (PySparkException, Py4JError, OSError, pa.ArrowException):
            deltas: dict[str, Deltas] = {}
            for name, operator in operators.items():
                with self._translated(name):
                    deltas |= run_prepared(self.runner, {name: operator})
            return deltas

    def _check_emitted(self, trees: Mapping[str, Tree], deltas: Mapping[str, Deltas], threads: Executor) -> None:
        """Check that a change takes back emitted rows only: the rows that it leaves must be a bag."""

        def rows(name: str) -> TaskInput:
            runs = (InputRows((), run) for run in trees[name].relation.runs)
            change = InputRows(deltas[name][0].segments)
            return TaskInput(self.batch, (change, *runs), limits=self.runner.limits)

        def unknown_rows(name: str) -> int:
            with self._translated(name):
                return trees[name].unknown_rows(rows(name))

        most, jobs = self.runner.limits.rows_checked_in_process, self.runner.jobs
        changed = {name: deltas[name][0] for name in trees if any(deltas[name][0].removed) and trees[name].is_whole}
        here = [name for name, delta in changed.items() if delta.rows <= most]
        unknown = run_all(here, unknown_rows, threads, lambda name: self.are_few(deltas[name]))
        if others := changed.keys() - unknown.keys():
            steps = {
                name: SideStep(name, trees[name].unknown_rows, rows(name), tasks_for(changed[name].rows, jobs))
                for name in others
            }
            with translate_errors(f"check the changes of batch {self.batch}"):
                unknown |= {name: sum(found) for name, found in run_side_steps(self.runner, steps, "check").items()}
        if wrong := {name: rows for name, rows in unknown.items() if rows}:
            roots = [root for name in wrong for root in trees[name].plan.roots]
            what = f"{sum(wrong.values()):,} of the rows that node {', '.join(roots)} takes back in batch {self.batch}"
            raise NotEmittedError(f"{what} were never emitted", frozenset(roots))

    def are_few(self, deltas: Iterable[Delta]) -> bool:
        """Whether changes are few enough to be processed in this thread."""
        return sum(delta.rows for delta in deltas) <= self.runner.limits.rows_stepped_in_process

    def _reads_few(self, plan: TreePlan, deltas: Mapping[str, Deltas]) -> bool:
        """Whether the changes that an operator reads are few."""
        if isinstance(plan, SourcePlan):
            return self.are_few((self.logged.rows.get(plan.stream, NO_CHANGE),))
        return all(self.are_few(deltas[name]) for name, _ in plan.inputs)

    def _translated(self, name: str) -> AbstractContextManager[None]:
        root = self.state.trees[name].plan.roots[0]
        return translate_errors(f"evaluate node {root} in batch {self.batch}")

    def delta(self, tree: Tree, deltas: Mapping[str, Deltas]) -> Deltas:
        """Compute the change of a tree in a separate job; ``deltas`` has the changes of the trees that it reads."""
        name = tree.plan.name
        return run_prepared(self.runner, {name: self.prepare(tree, deltas)})[name]

    def _going_on(self, tree: Tree, deltas: Mapping[str, Deltas]) -> Prepared:
        """The job of a tree, or what is left of it where the tasks that logged the rows have begun with it."""
        name, first, exchanges = tree.plan.name, self.logged.first, self.runner.exchanges
        if name in first.of_sources:
            return Prepared(None, first.of_sources[name])
        operator = self.prepare(tree, deltas)
        before = exchanges.pop(name, None)
        if not isinstance(operator.job, Exchange):
            return operator
        work = exchanges[name] = operator.job.step.work
        if name not in first.exchanged or work != before:
            return operator
        return operator.job.then(first.exchanged[name])

    def prepare(self, tree: Tree, deltas: Mapping[str, Deltas]) -> Prepared:
        """The job of a tree; ``deltas`` has the changes of the trees it reads."""
        plan = tree.plan
        if isinstance(plan, SourcePlan):
            rows = self.logged.rows.get(plan.stream)
            if rows is None:
                return Prepared(None)
            layout = self.state.arrived[plan.stream].layout
            return source_change(self.runner, plan, layout, rows.segments, self.batch)
        if not isinstance(plan, WindowPlan) and not any(deltas[name][0].rows for name, _ in plan.inputs):
            return Prepared(None)  # time alone changes windows only
        parents = tuple(self.state.trees[name].rows_of(nodes, deltas[name][0]) for name, nodes in plan.inputs)
        operator = OperatorInput(
            plan=plan,
            parents=parents,
            batch=self.batch,
            time=self.clock.now,
            time_before=self.clock.after_batch(self.batch - 1),
            relation=tree.relation,
            state=tree.state,
            read_as_logged={name for name, _ in plan.inputs} in ({name} for name in self.logged.first.of_sources),
        )
        return prepare(self.runner, operator)


def operator_report(plan: TreePlan, delta: Delta, seconds: float) -> OperatorReport:
    """The report of an operator in a batch."""
    node_rows = Counts(plan.bits, delta.counts)
    counts = delta.rows_in, delta.rows
    estimated = Counts(plan.bits, node_microseconds(plan, delta, seconds))
    return OperatorReport(
        plan.name, plan.nodes, *counts, seconds, node_rows, tests=delta.tests, here=delta.here, microseconds=estimated
    )
