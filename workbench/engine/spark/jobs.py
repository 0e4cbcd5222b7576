"""Jobs of Spark: the work of several operators is run by one.

A job costs the driver some ten milliseconds, however little it does, and a network has dozens of operators. A plan that
is run as an RDD needs no planning when it is run again, and RDDs of different plans are put together at no cost: a
union of DataFrames would be planned anew for every combination of operators that happen to have work. Work that is
Python's alone has no plan of its own (``python_steps``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pyarrow as pa
from pyspark import RDD
from pyspark.accumulators import AccumulatorParam
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.util import _load_from_socket

from workbench.engine.spark.arrow_tasks import ArrowBatches, attempt_here
from workbench.engine.spark.interrupts import CancellableJobs, tag_jobs
from workbench.engine.spark.job_properties import NO_PROPERTIES, STEPS, with_properties
from workbench.engine.spark.placement import ANYWHERE, Executors, owners_by_rendezvous
from workbench.engine.spark.python_steps import StepFile, named_steps, steps_rdd
from workbench.limits import Limits

T = TypeVar("T")

_MOST_KEPT = 256
"""RDDs that run steps."""


@dataclass(frozen=True, eq=False)
class PlanJob:
    """A plan whose few rows are answers; it can be run again and again where it has no exchange."""

    plan: DataFrame

    @cached_property
    def answers(self) -> RDD[Row]:
        """The plan as an RDD. Its tasks see the settings of the plan's Spark session."""
        return self.plan.rdd

    @cached_property
    def tasks(self) -> int:
        """How many tasks run it alone; none where Spark knows that there are no rows, as of WHERE FALSE."""
        return self.answers.getNumPartitions()


@dataclass(frozen=True, eq=False)
class StepJob:
    """A step of Python alone, which gives answers as a plan does; it can be run again and again.

    Attributes:
        step: from the number of a task, from 0; it must pickle with ``cloudpickle``.
        tasks: how many there are.
        folder: of a file for it.
        calls: whether it calls functions of the analyst.
    """

    step: Callable[[int], ArrowBatches]
    tasks: int
    folder: Path
    calls: bool = False

    @cached_property
    def file(self) -> StepFile:
        """The step as Spark's Python workers load it, written when they first run it."""
        return StepFile.write(self.folder, self.step)

    @property
    def written(self) -> Path | None:
        """The file that was written for it, if one was."""
        return Path(self.file.path) if "file" in vars(self) else None

    def run_here(self) -> list[str]:
        """The answers of all tasks, one after the other, by this thread."""
        answers: list[str] = []
        for task in range(self.tasks):
            with attempt_here():
                for batch in self.step(task):
                    answers += batch.column(0).to_pylist()
        return answers


Job = PlanJob | StepJob


@dataclass
class TaskPart:
    """The steps of a task, one after the other; a single plan may have several tasks.

    Attributes:
        steps: each with the number of the task among those of the step.
        plans: those of Spark.
        tasks: how many tasks the step has, where it is the only one, and one of several.
    """

    steps: list[tuple[StepFile, int]] = field(default_factory=list)
    plans: list[PlanJob] = field(default_factory=list)
    tasks: int = 0

    def place(self, executors: tuple[str, ...]) -> str:
        """Where it had best run: what the task of a number reads is where that one ran before."""
        if not self.tasks or not executors:
            return ANYWHERE
        return executors[owners_by_rendezvous(self.tasks, executors)[self.steps[0][1]]]

    def add(self, job: Job) -> None:
        """Add a job of one task."""
        if isinstance(job, StepJob):
            self.steps.append((job.file, 0))
        else:
            self.plans.append(job)


class Accumulated(Protocol[T]):
    """An accumulator, as Spark's: tasks add to it, the driver reads the sum. It can be pickled."""

    @property
    def value(self) -> T:
        """The sum so far."""

    def add(self, term: T) -> None:
        """Add a term to the sum."""


class JobRunner(CancellableJobs, Protocol):
    """Runs the jobs of a session's engines. Every caller asks it for the Spark that is there now.

    Attributes:
        given: whether an analyst gave it, who alone may start it again.
        number: how many there were before the present one, which died.
        on_start: is called when another one has taken the place of one that died.
        limits: the amounts from which on a session's engines take another way.
    """

    given: bool
    number: int
    on_start: Sequence[Callable[[], None]]
    limits: Limits

    def prepare(self, folder: Path, writing: bool, store: str = "") -> None:
        """Make sure that workers can read a folder, or also write to it, or reach the store that they have it through.

        Raises:
            EnvironmentProblem: they cannot.
        """

    @property
    def analyst(self) -> SparkSession:
        """The Spark session that an analyst may use."""

    @property
    def session(self) -> SparkSession:
        """The Spark session of the engines: it plans, and reads large answers. It may be another one the next time."""

    @property
    def cores(self) -> int:
        """The number of tasks that run at a time."""

    def run(self, jobs: Sequence[Job], expected: Sequence[float], sent: Mapping[str, str] = NO_PROPERTIES) -> list[str]:
        """The answers of some jobs, which may run as one; in no order that means anything.

        Args:
            jobs: some; a plan that Spark has found to be empty has no tasks, and answers nothing.
            expected: seconds that each may take, so that all cores are done at about the same time.
            sent: properties that travel with the job (``job_properties``).
        """

    def accumulator(self, param: AccumulatorParam[T], start: T) -> Accumulated[T]:
        """Gathers in this process what tasks add, wherever they run."""

    def register(self, name: str, function: Callable[..., pa.Array], returns: str) -> None:
        """Make a function over Arrow's columns callable in Spark's SQL; the type is in Spark's DDL."""

    def lost(self, number: int, problem: BaseException | None = None) -> str | None:
        """Why the one of a number does not run any more; ``None`` when it runs.

        Args:
            number: of the one that was used.
            problem: what was raised while it was used.
        """

    def start_again(self, number: int) -> None:
        """Start another one in the place of one that has died, unless another thread has.

        Args:
            number: of the one that died.

        Raises:
            EnvironmentProblem: it did not start.
        """

    def set_rows_together(self, rows: int) -> None:
        """Set the most rows that come together between Spark and a worker."""

    def share(self, text: str) -> None:
        """Let plans of Spark SQL tell workers the folder that they have through a store (``shared_text``)."""


class SparkJobs:
    """Runs jobs on one Spark session, several as one.

    Each call of the JVM costs it a tenth of a ms, and a job of few rows some ten: so it is asked as little as can be.

    Args:
        spark: the session.

    Attributes:
        cores: how many tasks run at a time, as of the last job.
    """

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._java: Any = spark.sparkContext._jsc.sc()
        self._executors = Executors(spark)
        self.cores = self._cores()
        self._of_steps: dict[tuple[int, tuple[str, ...]], RDD[Row]] = {}
        """What runs steps, by the number of the first task and the places of all."""

    def run(self, jobs: Sequence[Job], expected: Sequence[float], sent: Mapping[str, str] = NO_PROPERTIES) -> list[str]:
        """The answers of some jobs, by one job of Spark; see ``JobRunner``."""
        context = self._spark.sparkContext
        tag_jobs(self._spark)
        self.cores = self._cores()
        with with_properties(context, sent):  # a plan with an exchange runs while its tasks are counted
            parts = job_parts(jobs, expected, self.cores)
            if not parts:
                return []
            with_steps = [part for part in parts if part.steps]
            together = self._union(with_steps, [part for part in parts if not part.steps])
            with with_properties(context, {STEPS: named_steps([part.steps for part in with_steps])}):
                return [row.answer for row in _collected(together)]

    def _cores(self) -> int:
        return max(1, int(self._java.defaultParallelism()))

    def _union(self, with_steps: Sequence[TaskPart], others: Sequence[TaskPart]) -> RDD[Row]:
        """Some parts as one RDD, in which those with steps are numbered."""
        union, rdds = self._spark.sparkContext.union, list[RDD[Row]]()
        if not any(part.plans for part in with_steps):
            rdds += [self._steps(0, with_steps)] if with_steps else []
        else:
            for at, part in enumerate(with_steps):
                rdds.append(_in_turn([self._steps(at, [part]), *(job.answers for job in part.plans)]))
        rdds += [_in_turn([job.answers for job in part.plans]) for part in others]
        return rdds[0] if len(rdds) == 1 else union(rdds)

    def _steps(self, first: int, parts: Sequence[TaskPart]) -> RDD[Row]:
        there = self._executors.places() if any(part.tasks for part in parts) else ()
        places = tuple(part.place(there) for part in parts)
        if (first, places) not in self._of_steps:
            if len(self._of_steps) == _MOST_KEPT:  # executors have come and gone
                self._of_steps.clear()
            self._of_steps[first, places] = steps_rdd(self._spark.sparkContext, first, places)
        return self._of_steps[first, places]


def _collected(rows: RDD[Row]) -> list[Row]:
    """The rows of an RDD, as ``RDD.collect`` gives them, for two thirds of the JVM's time.

    Before each job Spark reads the code of the class whose function it runs, since that may hold more than it needs:
    for ``collect`` all of ``RDD`` and of ``SparkContext``, 10 ms, and for an asynchronous action a small class.
    """
    java: Any = rows._jrdd
    utils, of_python = _java_classes(rows.ctx._jvm)
    found = utils.toSeq(java.collectAsync().get())
    served = of_python.serveIterator(found.iterator(), "argus-answers")
    with _load_from_socket(served, rows._jrdd_deserializer) as answers:
        return list(answers)


@lru_cache(maxsize=1)
def _java_classes(jvm: Any) -> tuple[Any, Any]:
    """``PythonUtils`` and ``PythonRDD``: to find one by its name the JVM opens all of Spark's archives, half a ms."""
    return jvm.PythonUtils, jvm.PythonRDD


def _in_turn(answers: Sequence[RDD[Row]]) -> RDD[Row]:
    """Some RDDs as one of a single task, and one RDD as it is."""
    return answers[0] if len(answers) == 1 else answers[0].context.union(list(answers)).coalesce(1)


def job_parts(jobs: Sequence[Job], expected: Sequence[float], cores: int) -> list[TaskPart]:
    """What the tasks of some jobs do.

    Each task reads all plans before it runs its own: many plans of one task would be read as often as there are plans.
    So jobs of one task share a task for each core. A job of several tasks keeps its own: what two of them hand over is
    told apart by the task (``handed_over``).
    """
    parts = []
    small = [at for at, job in enumerate(jobs) if job.tasks == 1]
    for of_core in balanced([expected[at] for at in small], min(cores, len(small))):
        part = TaskPart()
        for at in of_core:
            part.add(jobs[small[at]])
        parts.append(part)
    for job in jobs:
        match job:
            case StepJob() if job.tasks > 1:
                parts += [TaskPart([(job.file, task)], tasks=job.tasks) for task in range(job.tasks)]
            case PlanJob() if job.tasks > 1:
                parts.append(TaskPart(plans=[job]))
    return parts


def balanced(expected: Sequence[float], parts: int) -> list[list[int]]:
    """Positions in some parts whose sums are about equal: the longest first, each to the part with least so far.

    The longest part takes at most 4/3 of the least time there is (Graham, Bounds on multiprocessing timing anomalies,
    1969).

    Args:
        expected: how long each takes; at least as many as there are parts.
        parts: how many; none only of nothing.

    Example:
        >>> balanced([1, 5, 2, 2, 1], 2)
        [[1, 4], [2, 3, 0]]
    """
    sums, chosen = [0.0] * parts, list[list[int]]([] for _ in range(parts))
    for at in sorted(range(len(expected)), key=lambda at: -expected[at]):
        least = min(range(parts), key=lambda part: (sums[part], len(chosen[part])))
        sums[least] += expected[at]
        chosen[least].append(at)
    return chosen
