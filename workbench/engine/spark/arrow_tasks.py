"""Python steps of Spark jobs over Arrow batches: every ``mapInArrow`` of the engine is made here.

A step is a function from Arrow batches, or from the number of a task, to Arrow batches. It runs in Spark's Python
workers, which are long-lived processes; ``prepare_worker`` runs before each step.
"""

from __future__ import annotations

import gc
import itertools
import math
import os
import resource
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from threading import Thread

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession

from workbench.engine.spark.interrupts import check_cancelled
from workbench.engine.spark.job_properties import SHARED, job_property
from workbench.files.mapped import MAPPED
from workbench.files.shared import share_here

ArrowBatches = Iterator[pa.RecordBatch]

_HERE = threading.local()
"""``attempt``, ``until``: of the task that this thread runs in the driver its number, and the time it may take."""

_ATTEMPTS = itertools.count()

LEAST_MEMORY = 2 * 2**30
"""Bytes that a worker may take on any machine."""


def map_rows(rows: DataFrame, step: Callable[[ArrowBatches], ArrowBatches], schema: str) -> DataFrame:
    """A plan that passes rows through a step.

    Args:
        rows: what the step gets, task by task, in batches.
        step: called once in each task; it must pickle with ``cloudpickle``.
        schema: of the rows that the step gives, in Spark's DDL.
    """

    def run(batches: Iterable[pa.RecordBatch]) -> ArrowBatches:
        prepare_worker()
        yield from step(iter(batches))

    return rows.mapInArrow(run, schema)


def run_tasks(spark: SparkSession, tasks: int, step: Callable[[int], ArrowBatches], schema: str) -> DataFrame:
    """A plan of ``tasks`` tasks whose rows a step reads by itself; it gets the task's number, from 0."""
    return map_rows(task_numbers(spark, tasks), of_task_number(step), schema)


def task_numbers(spark: SparkSession, tasks: int) -> DataFrame:
    """One row with its number for each of some tasks, so a plan that begins so has no exchange and can be run again."""
    return spark.range(0, tasks, 1, tasks)


def of_task_number(step: Callable[[int], ArrowBatches]) -> Callable[[ArrowBatches], ArrowBatches]:
    """A step over ``task_numbers``, from one that gets the task's number."""

    def run(batches: ArrowBatches) -> ArrowBatches:
        for batch in batches:
            for task in batch.column(0).to_pylist():
                yield from step(task)

    return run


def task_attempt() -> int:
    """The number of the attempt of the task that runs in this thread: no other one of a job has the same."""
    context = TaskContext.get()
    return getattr(_HERE, "attempt", -1) if context is None else context.taskAttemptId()


class TakesTooLong(Exception):
    """A task that runs in this process has had its time: Spark's workers are to run it."""


@contextmanager
def attempt_here(seconds: float = math.inf) -> Iterator[None]:
    """Let this thread run a task of which Spark knows nothing, for some seconds of the processor (``go_on``)."""
    _HERE.attempt, _HERE.until = next(_ATTEMPTS), time.thread_time() + seconds
    try:
        yield
    finally:
        del _HERE.attempt, _HERE.until


def go_on() -> None:
    """Raise where the task was cancelled; steps call this now and then. Spark itself stops tasks that are cancelled.

    Raises:
        TakesTooLong: the task runs in this process, and its time is over.
        Cancelled: it runs in this process, and its work was interrupted.
    """
    if (until := getattr(_HERE, "until", None)) is not None:
        check_cancelled()
        if time.thread_time() > until:
            raise TakesTooLong


def prepare_worker() -> None:
    """Bound the memory, exclude what is loaded by now from garbage collection, start to unmap files that were removed.

    PySpark collects garbage after every task, which visits every object there is: numpy and pyarrow alone take 25 ms.
    What a task leaves behind has just been visited and is in use, so it is excluded as well. Each call is free, and
    asking whether it is needed (``gc.get_freeze_count``) takes 7 ms, since that counts all objects.
    """
    gc.freeze()
    share_here(job_property(SHARED))
    _bound()
    _watching()


@cache
def _bound() -> None:
    # There is a worker for each core, and together they have what the machine has.
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    bound_memory(max(LEAST_MEMORY, machine // (os.cpu_count() or 1)))


def bound_memory(most: int) -> None:
    """Limit the memory of this process, in bytes, on Linux: what takes more raises ``MemoryError``, and its job fails.

    Else the system would end some process for it, such as the JVM. Mapped files, as segments are, do not count.
    """
    if sys.platform == "linux":
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


@cache
def _watching() -> Thread:
    """The thread that looks for removed files, also while Spark has no task for this worker."""
    thread = Thread(target=_watch, name="argus-maps", daemon=True)
    thread.start()
    return thread


def _watch() -> None:
    while True:
        time.sleep(max(0.0, MAPPED.look()))
