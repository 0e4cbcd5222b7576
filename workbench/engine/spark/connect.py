"""A Spark whose driver is another process, often on another machine: Spark Connect.

There are no RDDs, no properties of jobs and no accumulators. Steps of Python run as ``mapInArrow`` over a frame with a
number for each task, and what travels with a job are settings of the engine's Spark session, which Spark brings to
each task (``job_properties``). A plan of Spark's own is sent, analyzed and compiled anew each time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, reduce
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.accumulators import AccumulatorParam
from pyspark.sql import DataFrame, SparkSession

from workbench.engine.spark.arrow_tasks import ArrowBatches, map_rows, task_numbers
from workbench.engine.spark.cluster import packed, refuse, refused_by_spark, unready
from workbench.engine.spark.in_process import LocalAccumulator
from workbench.engine.spark.interrupts import tag_jobs
from workbench.engine.spark.job_properties import INPUT, NO_PROPERTIES, SHARED, STEPS
from workbench.engine.spark.jobs import Job, PlanJob, StepJob, job_parts
from workbench.engine.spark.local_session import RECORDS_PER_BATCH, connect_session
from workbench.engine.spark.python_steps import named_steps, step_answers
from workbench.errors import EngineError
from workbench.limits import LIMITS

T = TypeVar("T")
R = TypeVar("R")


class ConnectHandle:
    """Runs the jobs of a session by Spark Connect; ``JobRunner`` has what its methods mean.

    Args:
        given: the analyst's session of Spark Connect.
    """

    given, number = True, 0

    def __init__(self, given: SparkSession) -> None:
        self.limits = LIMITS
        self.on_start: Sequence[Callable[[], None]] = ()
        self.analyst = given
        self.session = connect_session(given)
        self._one = threading.Lock()
        """What travels with a job is the session's, so one job is started at a time."""

    def prepare(self, folder: Path, writing: bool, store: str = "") -> None:
        """Send the package to the workers, which must reach the folder, or the store instead."""
        with refused_by_spark():
            # The server has files for each session of its own.
            self.session.addArtifacts(str(packed()), pyfile=True)
            problems = unready(self._ask, self.cores, folder, writing or bool(store), store=store)
        refuse(problems)

    def _ask(self, look: Callable[[int], R], tasks: int) -> list[R]:
        def answers(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                found = [cloudpickle.dumps(look(task)) for task in batch.column(0).to_pylist()]
                yield pa.RecordBatch.from_pydict({"answer": pa.array(found, pa.binary())})

        rows = task_numbers(self.session, tasks).mapInArrow(answers, "answer binary").toArrow()
        return [cloudpickle.loads(answer) for answer in rows.column(0).to_pylist()]

    @cached_property
    def cores(self) -> int:
        """How many tasks run at a time: as many as a frame has by default."""
        return self.session.range(1_000).selectExpr("spark_partition_id() AS task").distinct().count()

    def run(self, jobs: Sequence[Job], expected: Sequence[float], sent: Mapping[str, str] = NO_PROPERTIES) -> list[str]:
        """The answers of some jobs, by one query of Spark; see ``JobRunner``."""
        steps = [(job, seconds) for job, seconds in zip(jobs, expected, strict=True) if isinstance(job, StepJob)]
        lists = [part.steps for part in job_parts([job for job, _ in steps], [of for _, of in steps], self.cores)]
        frames = [map_rows(task_numbers(self.session, len(lists)), _run_steps, "answer string")] if lists else []
        frames += [job.plan for job in jobs if isinstance(job, PlanJob)]
        if not frames:
            return []
        tag_jobs(self.session)
        with self._sending({INPUT: sent.get(INPUT, ""), STEPS: named_steps(lists)}):
            answers: list[str] = reduce(DataFrame.unionAll, frames).toArrow().column(0).to_pylist()
        return answers

    @contextmanager
    def _sending(self, properties: Mapping[str, str]) -> Iterator[None]:
        with self._one:
            for name, text in properties.items():
                self.session.conf.set(name, text)
            try:
                yield
            finally:
                for name in properties:
                    self.session.conf.unset(name)

    def accumulator(self, param: AccumulatorParam[T], start: T) -> LocalAccumulator[T]:
        """One of this process; workers have none, so functions of the analyst are refused."""
        return LocalAccumulator(param, start)

    def register(self, name: str, function: Callable[..., pa.Array], returns: str) -> NoReturn:
        """Refused.

        Raises:
            EngineError: always.
        """
        raise EngineError(
            f"{name.rstrip('?')} cannot be called by Spark Connect: workers could not say where it fails",
            hint="write it in SQL, or give the session a Spark whose driver is this process",
        )

    def lost(self, number: int, problem: BaseException | None = None) -> str | None:
        """Why it does not run any more; ``None`` when it does."""
        session: Any = self.session
        return "the session of Spark Connect was stopped" if session.is_stopped else None

    def start_again(self, number: int) -> None:
        """Who has given it starts it again."""

    def set_rows_together(self, rows: int) -> None:
        """Set the most rows that come together between Spark and a worker."""
        self.session.conf.set(RECORDS_PER_BATCH, str(rows))

    def share(self, text: str) -> None:
        """Let tasks know the folder that they have through a store."""
        self.session.conf.set(SHARED, text)

    def add_tag(self, tag: str) -> None:
        """Give the queries that this thread starts a tag."""
        self.session.addTag(tag)

    def remove_tag(self, tag: str) -> None:
        """Give them the tag no longer."""
        self.session.removeTag(tag)

    def cancel(self, tag: str) -> None:
        """Stop the queries with a tag."""
        self.session.interruptTag(tag)


def _run_steps(batches: ArrowBatches) -> ArrowBatches:
    """The answers of the steps that a job says for the tasks whose numbers come."""
    for batch in batches:
        for task in batch.column(0).to_pylist():
            yield pa.RecordBatch.from_pydict({"answer": pa.array(step_answers(task), pa.string())})
