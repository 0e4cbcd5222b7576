"""Runs operators on Spark: the folders of trees, the inputs of their jobs, and their plans through filter-and-write."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, cast

import pyarrow as pa
from pyspark.sql import SparkSession

from workbench.engine.operators.filter_and_write import (
    BucketsOfTask,
    FilterAndWrite,
    WrittenRows,
    by_tree,
    delta_of,
    filter_and_write_job,
)
from workbench.engine.operators.steps_beside import StepsBeside
from workbench.engine.operators.too_much_work import TooMuchWork
from workbench.engine.physical.plans import AggregatePlan, RecursionPlan, TreePlan
from workbench.engine.physical.row_inputs import over_rows
from workbench.engine.physical.stored.calls import Functions
from workbench.engine.spark.arrow_tasks import ArrowBatches, TakesTooLong, attempt_here, run_tasks
from workbench.engine.spark.failures import StepError
from workbench.engine.spark.interrupts import Cancelled
from workbench.engine.spark.job_properties import DESCRIPTION, INPUT, SHARED, first_texts
from workbench.engine.spark.jobs import Job, JobRunner, StepJob
from workbench.engine.spark.plan_cache import AnyJob, PlanCache
from workbench.engine.spark.python_steps import STEP_SUFFIX
from workbench.engine.spark.side_by_side import run_all
from workbench.engine.storage.bucketed import readers_of
from workbench.engine.storage.job_input import InputRows, JobInput, TaskInput, inputs_of_job, sent_text
from workbench.engine.storage.layout import BATCH, WEIGHT
from workbench.engine.storage.lineage import mask
from workbench.engine.storage.relation import Delta, Relation, tasks_for
from workbench.engine.storage.segments import Segment, read_share, shares
from workbench.files.packs import PACKING
from workbench.files.shared import removed, shared_text
from workbench.files.writing import make_folder
from workbench.limits import Limits
from workbench.network.nodes import NodeId
from workbench.sql.algebra.expressions import columns

T = TypeVar("T")

_TESTS = "tests"
"""The role of the input with what is known of a tree's tests."""


class Runner:
    """Makes the plans of trees and runs them.

    Args:
        jobs: runs them.
        folder: where rows are kept; every worker must reach it.
        functions: the analyst's, which may become more.
    """

    def __init__(self, jobs: JobRunner, folder: Path, functions: Functions) -> None:
        self.jobs = jobs
        self.functions = functions
        self._folder = folder
        self._folders: dict[str, Path] = {}
        """Those of trees that are known to be there."""
        self._plans = PlanCache()
        self._inputs: dict[str, dict[str, JobInput]] = {}
        """The inputs of each tree's jobs, by their roles."""
        self._seconds: dict[str, float] = {}
        """How long each tree took when it last ran in a batch."""
        self.beside = StepsBeside(jobs, folder)
        self.doing = ""
        """What the next jobs are for, as Spark's pages say it."""
        self.served: Mapping[NodeId, tuple[str, ...]] = {}
        """The queries that read each node."""
        self._roots: dict[str, tuple[NodeId, ...]] = {}
        """Those of each tree that has jobs."""
        self._learnt: dict[str, Mapping[str, Any]] = {}
        """What is known of the tests of each tree that call functions."""
        self._read: dict[str, tuple[TreePlan, object, Any]] = {}
        """What each tree reads of the rows of others, with the plan and layouts that it was made for."""
        self.exchanges: dict[str, Callable[[TaskInput], Any]] = {}
        """What tasks did in the last batch for each tree whose groups met by an exchange."""
        self.hardly_grouped: set[str] = set()
        """Trees whose changes of late had about as many groups as rows."""
        self.passing: set[str] = set()
        """Files that tasks hand on to others in a batch, which no state names."""
        self._steps: dict[str, Path] = {}
        """The file of the last step of each tree that Spark's workers ran, by its role."""

    @property
    def spark(self) -> SparkSession:
        """The Spark session that plans are made in."""
        return self.jobs.session

    @property
    def limits(self) -> Limits:
        """The amounts from which on another way is taken."""
        return self.jobs.limits

    def forget(self, keep: Callable[[str], bool] = lambda tree: False) -> None:
        """Forget the plans of all trees whose name is not to be kept."""
        self._plans.forget(lambda name: keep(name.split("_")[0]))
        self._inputs = {tree: inputs for tree, inputs in self._inputs.items() if keep(tree)}
        self._seconds = {tree: seconds for tree, seconds in self._seconds.items() if keep(tree)}
        self._read = {tree: read for tree, read in self._read.items() if keep(tree)}
        self.exchanges = {tree: work for tree, work in self.exchanges.items() if keep(tree)}
        self.hardly_grouped = set(filter(keep, self.hardly_grouped))
        self.beside.forget(keep)

    def folder(self, tree: str) -> Path:
        """The folder of a tree's rows; it is made when it is missing."""
        if tree not in self._folders:
            make_folder(self._folder / tree)
            self._folders[tree] = self._folder / tree
        return self._folders[tree]

    def remove(self, tree: str) -> None:
        """Remove what jobs of a tree that has gone read, and its folder unless rows that are still read are there."""
        for of_tree in (self._inputs, self._learnt, self._roots, self._read, self._folders):
            of_tree.pop(tree, None)
        self._steps = {role: file for role, file in self._steps.items() if role.split()[0] != tree}
        folder = self._folder / tree
        for file in folder.glob(f"*{STEP_SUFFIX}"):
            _remove_step(file)
        with suppress(OSError):
            folder.rmdir()

    def job_input(self, plan: TreePlan, role: str = "now") -> JobInput:
        """The input of a tree's jobs of one role; the value that is set is sent with the next one that ``run`` runs."""
        roles = self._inputs.setdefault(plan.name, {})
        return roles.get(role) or roles.setdefault(role, JobInput(f"{plan.name}/{role}", self.limits))

    def set_input(self, plan: TreePlan, batch: int, inputs: Sequence[InputRows] = ()) -> JobInput:
        """Set the input of a tree's next job."""
        job_input = self.job_input(plan)
        job_input.set(batch, inputs)
        return job_input

    def cached(self, plan: TreePlan, role: str, depends_on: object, make: Callable[[], AnyJob]) -> AnyJob:
        """A job of a tree.

        Args:
            plan: the tree's. The job is kept while a later plan computes the same, for any readers of the tree.
            role: of the job among those of the tree.
            depends_on: what else the job depends on.
            make: makes it.
        """
        return self._plans.get(
            f"{plan.name}_{role}", (plan.computes, readers_of(plan.looked_up_by, self.jobs), depends_on), make
        )

    def read_once(self, plan: TreePlan, depends_on: object, make: Callable[[], T]) -> T:
        """What a tree reads of the rows of others, made once for a plan.

        Args:
            plan: the tree's.
            depends_on: how these rows are stored.
            make: makes it.
        """
        known = self._read.get(plan.name)
        if known is None or known[0] is not plan or known[1] != depends_on:
            known = self._read[plan.name] = plan, depends_on, make()
        return cast(T, known[2])

    def task_job(
        self,
        step: Callable[[int], ArrowBatches],
        tasks: int,
        schema: str,
        plan: TreePlan,
        calls: bool = False,
        where: str = "",
        buckets: BucketsOfTask | None = None,
    ) -> Job:
        """The job of a step that makes a root's rows, which go through the tree's filter.

        Where Spark has nothing to evaluate in between, all of it is done by its Python workers.

        Args:
            step: gives the rows of a task, by its number.
            tasks: how many tasks run it.
            schema: of the rows, in Spark's DDL.
            plan: the tree's plan.
            calls: whether the step calls functions of the analyst.
            where: what Spark tests of the rows, in SQL.
            buckets: those of the rows of a task, where they are looked up by buckets.
        """
        if where or evaluated(plan):
            rows = run_tasks(self.spark, tasks, step, schema)
            found = (rows.where(where) if where else rows).selectExpr(*_with_tested_expressions(plan))
            return filter_and_write_job(found, self.filter_and_write(plan))
        return self.step_job(step, tasks, plan, calls, buckets)

    def step_job(
        self,
        rows: Callable[[int], ArrowBatches],
        tasks: int,
        plan: TreePlan,
        calls: bool = False,
        buckets: BucketsOfTask | None = None,
    ) -> StepJob:
        """The job of a step that needs nothing of the JVM: it gives a root's rows, which are written; see
        ``task_job``."""
        calls = calls or bool(plan.filter.filter.calls)
        written = WrittenRows(rows, self.filter_and_write(plan), buckets)
        return StepJob(written, tasks, self.folder(plan.name), calls)

    def filtered_again(self, plan: TreePlan, rows: Relation, known: Collection[NodeId]) -> Delta | None:
        """All stored rows of a tree through its filter; ``None`` where that takes more than this process.

        Args:
            plan: the tree's. It has all columns that are stored by it, and the rows all nodes of ``known``.
            rows: as they are stored. They stay changes, each of its batch.
            known: the nodes whose bits the rows have already.
        """
        words = len(plan.filter.filter.always)
        stored = plan.filter.filter.with_known(mask([plan.bits[node] for node in known], words))
        if stored.calls or not set(stored.columns) <= set(rows.layout.columns):
            return None
        write = FilterAndWrite(
            plan.name, stored, tuple(plan.stored), str(self.folder(plan.name)), None, limits=self.limits
        )
        (share,) = shares(rows.segments, 1)
        return delta_of([write.write(read_share(share, rows.layout.arrow, self.limits))])

    def write_here(self, rows: ArrowBatches, plan: TreePlan) -> Delta:
        """Pass a root's rows through the tree's filter in this process: ``needs_no_job`` holds."""
        return delta_of([self.filter_and_write(plan).write(rows)], here=True)

    def filter_and_write(self, plan: TreePlan) -> FilterAndWrite:
        """The last step of a tree's jobs."""
        self._roots[plan.name] = plan.roots
        job_input = self.job_input(plan) if plan.of_batch else None
        cancels = not plan.of_batch and not plan.monotone
        to, grouped = str(self.folder(plan.name)), plan.filter.filter.calling(self.functions)
        kept, learnt = tuple(plan.stored), self.job_input(plan, _TESTS) if grouped.calls else None
        computed, with_state = plan.computed_here, keeps_state(plan)
        write = FilterAndWrite(plan.name, grouped, kept, to, job_input, computed, cancels, learnt, with_state)
        return replace(write, limits=self.limits, readers=readers_of(plan.looked_up_by, self.jobs))

    def is_small(self, rows: int, change: Iterable[Segment], hydrating: bool = False, by_threads: bool = False) -> bool:
        """Whether a step over some changed rows is to be run by this process: it is done before a job has begun.

        Args:
            rows: how many there are.
            change: the segments that have them.
            hydrating: whether they are all rows so far.
            by_threads: whether one of its threads may do it beside others.
        """
        most, most_bytes = self.limits.rows_stepped_in_process, self.limits.bytes_stepped_in_process
        if by_threads:
            most *= self.limits.times_stepped_by_threads
        if hydrating:
            most, most_bytes = self.limits.rows_hydrated_in_process, self.limits.bytes_hydrated_in_process
        return rows <= most and sum(segment.bytes for segment in change) <= most_bytes

    def tasks(self, rows: int, hydrated_here: bool, looked_up: Iterable[Relation] = ()) -> int:
        """Tasks for a job over a number of rows (``tasks_for``): one where this process is to hydrate them."""
        here = hydrated_here and rows <= self.limits.rows_hydrated_in_process
        return 1 if here else tasks_for(rows, self.jobs, looked_up)

    def run(
        self,
        jobs: Mapping[str, Job],
        small: Collection[str] = (),
        by_threads: Collection[str] = (),
        threads: Executor | None = None,
    ) -> dict[str, Delta]:
        """The changes of some trees, by name: steps over few rows in this process, all others as one job of Spark.

        Each is expected to take as long as when it last ran in a batch, and one that never did as long as the longest:
        its plan has just been made, and Spark compiles it. What is run without threads, as in hydration, says nothing
        about a batch.

        Args:
            jobs: by the names of the trees.
            small: the trees with few changed rows (``is_small``).
            by_threads: those with some more.
            threads: step over these side by side, the longest step first, while this thread steps over the others.
        """

        def stepped(tree: str) -> Delta | None:
            return self._stepped_here(tree, jobs[tree])

        names = [*small, *sorted(by_threads, key=lambda tree: -self._seconds.get(tree, 0.0))]
        if threads is None:
            tried = {name: stepped(name) for name in names}
        else:
            asked = self.beside.ask(self._for_own_workers(jobs, names), self._seconds, self._inputs)
            if asked is None:
                tried = run_all(names, stepped, threads, small.__contains__)
            else:
                tried = {tree: stepped(tree) for tree in asked.claimed()}
                tried |= self.beside.answers(asked, self._seconds)
            # What has failed there fails here, too, and says why.
            tried |= {name: stepped(name) for name in names if name not in tried}
        here = {tree: delta for tree, delta in tried.items() if delta is not None}
        others = {tree: job for tree, job in jobs.items() if tree not in here}
        if not others:
            return here
        longest = max(self._seconds.values(), default=1.0)
        expected = {tree: self._seconds.get(tree, longest) for tree in others}
        for tree in others:
            if _TESTS in (inputs := self._inputs.get(tree, {})):
                inputs[_TESTS].set(0, learnt=self._learnt.get(tree, {}))
        texts, token = self.run_by_spark(others, expected)
        answered = by_tree(texts, token)
        self._learnt |= {tree: answers[-1].learnt for tree, answers in answered.items() if answers[-1].learnt}
        deltas = {tree: delta_of(answered[tree]) if tree in answered else Delta() for tree in others}
        if threads is not None:
            self._seconds |= {tree: delta.seconds for tree, delta in deltas.items()}
        return here | deltas

    def run_by_spark(
        self,
        jobs: Mapping[str, Job],
        expected: Mapping[str, float],
        role: str = "rows",
        inputs: Iterable[JobInput] | None = None,
    ) -> tuple[list[str], str]:
        """The answers of jobs of some trees by one job of Spark, and its token.

        Args:
            jobs: by the names of the trees.
            expected: the seconds that each may take.
            role: of the jobs among those of their trees; a later step of a role takes the place of an earlier one.
            inputs: of the jobs; those of their trees unless given.
        """
        PACKING.seal(str(self._folder))  # workers read the rows that wait for it
        of_trees = (own for tree in jobs for own in self._inputs.get(tree, {}).values())
        text, token = inputs_of_job(of_trees if inputs is None else inputs)
        sent = {DESCRIPTION: self._description(jobs, role)}
        sent[SHARED] = shared_text(self._folder, self.limits.bytes_fetched_from_store)
        with sent_text(text, self._folder, self.limits.bytes_sent_with_task) as sent[INPUT]:
            answers = self.jobs.run(list(jobs.values()), [expected[tree] for tree in jobs], sent)
        for tree, job in jobs.items():
            if isinstance(job, StepJob) and (file := job.written) is not None:
                before = self._steps.setdefault(f"{tree} {role}", file)
                if before != file:
                    self._steps[f"{tree} {role}"] = file
                    _remove_step(before)
        return answers, token

    def _description(self, trees: Iterable[str], role: str) -> str:
        """What Spark's pages say of a job: when it runs, and which roots it computes for which queries."""
        if role != "rows":
            return f"{self.doing}, {role}: {first_texts([*trees], '; ')}"
        roots = [root for tree in trees for root in self._roots.get(tree, ())]
        operators = [f"{root} for {first_texts(self.served.get(root, ()), ', ')}" for root in roots]
        return f"{self.doing}: {first_texts(operators, '; ')}"

    def _for_own_workers(self, jobs: Mapping[str, Job], names: Iterable[str]) -> dict[str, StepJob]:
        """The jobs that this process could run, and an own worker as well."""
        most = self.limits.milliseconds_stepped_in_process / 1000
        return {
            name: job
            for name in names
            if isinstance(job := jobs[name], StepJob)
            and job.tasks == 1
            and not job.calls
            and self._seconds.get(name, 0.0) <= most
        }

    def _stepped_here(self, tree: str, job: Job) -> Delta | None:
        """The change of a tree in a batch by this process, unless its step took long before."""
        most = self.limits.milliseconds_stepped_in_process
        if self._seconds.get(tree, 0.0) * 1000 > most:
            return None
        begun = time.thread_time()
        delta, seconds = self.run_here(tree, job, most), time.thread_time() - begun
        if delta is not None or seconds * 1000 > most:
            self._seconds[tree] = seconds
        return delta

    def run_here(self, tree: str, job: Job, milliseconds: int) -> Delta | None:
        """The change of a tree by this process; ``None`` where Spark is to run the job.

        A step that takes long, or more memory than there is, is begun again by Spark's workers: several do more, and
        each has a bound of its memory.

        Raises:
            StepError: the step is wrong, or a file cannot be read or written.
        """
        if not isinstance(job, StepJob) or job.tasks > 1 or job.calls:
            return None
        assert isinstance(job.step, WrittenRows)
        begun = time.thread_time()
        try:
            with attempt_here(milliseconds / 1000):
                return delta_of([job.step.answer(0)], here=True)
        except (TakesTooLong, MemoryError, pa.ArrowCapacityError):
            return None
        except (Cancelled, TooMuchWork):
            raise
        except Exception as problem:
            raise StepError(tree) from problem
        finally:
            self.beside.took(time.thread_time() - begun)


def _remove_step(file: Path) -> None:
    file.unlink(missing_ok=True)
    removed([str(file)])


def evaluated(plan: TreePlan) -> dict[str, str]:
    """SQL that Spark evaluates over a root's rows: the computed columns, and the expressions that the filter tests."""
    computed = {name: over_rows(value) for name, value in plan.computed.items() if name not in plan.computed_here}
    return computed | dict(plan.filter.tests)


def keeps_state(plan: TreePlan) -> bool:
    """Whether the operator's step writes a change of its state."""
    return isinstance(plan, RecursionPlan) or (isinstance(plan, AggregatePlan) and plan.grouped.anew is None)


def needs_no_job(plan: TreePlan) -> bool:
    """Whether a root's rows can be written by the driver: Spark evaluates nothing, nor does the analyst's code run."""
    return not evaluated(plan) and not plan.filter.filter.calls


def _with_tested_expressions(plan: TreePlan) -> list[str]:
    """SQL of the columns of a root's rows that are kept or tested, and of what is evaluated over them."""
    marks = [WEIGHT] if plan.of_batch else [BATCH, WEIGHT]
    expressions = evaluated(plan)
    of_computed = [column.name for name in plan.computed_here for column in columns(plan.computed[name])]
    read = [*plan.filter.filter.columns, *of_computed]
    names = dict.fromkeys([*plan.kept, *(name for name in read if name not in expressions)])
    return [*marks, *(f"`{name}`" for name in names), *(f"{sql} AS {name}" for name, sql in expressions.items())]
