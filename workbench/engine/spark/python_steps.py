"""Steps that Spark's Python workers run by themselves, as many as a task has to.

A plan of Spark costs each task some milliseconds, however few rows there are: the JVM reads the plan, generates its
code, and hands it to a Python worker, which unpickles its step. A step that needs nothing of the JVM needs no plan of
its own. It lies in a file that each worker reads once, and one kept RDD runs all such steps of a job. It is an RDD of
Python's alone: the least job takes two thirds of the time of one with a plan of ``mapInArrow``. The file is named by
what it has, so it is never replaced.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from pyspark import RDD, SparkContext, cloudpickle
from pyspark.serializers import BatchedSerializer, CPickleSerializer
from pyspark.sql import Row

from workbench.engine.spark.arrow_tasks import ArrowBatches, prepare_worker
from workbench.engine.spark.job_properties import STEPS, job_property
from workbench.engine.spark.placement import placed_numbers
from workbench.files.by_digest import read_by_digest, write_by_digest
from workbench.files.packs import PACKING

ANSWER = "answer string"
"""The rows that every such step gives, in Spark's DDL."""

STEP_SUFFIX = ".step"
"""The end of the names of the files."""

_LOADED = 1024
"""The most steps that stay loaded in a worker."""


@dataclass(frozen=True)
class StepFile:
    """A step from the number of a task to answers, in a file that all workers reach.

    Attributes:
        path: of the file.
        digest: SHA-256 of its bytes, by which it is named. A worker runs no bytes but those that its driver wrote.
    """

    path: str
    digest: str

    @staticmethod
    def write(folder: Path, step: Callable[[int], ArrowBatches]) -> StepFile:
        """Write a step, which must pickle with ``cloudpickle``, to a folder."""
        path, digest = write_by_digest(folder, pickled(step), STEP_SUFFIX)
        return StepFile(str(path), digest)

    def load(self) -> Callable[[int], ArrowBatches]:
        """The step.

        Raises:
            ValueError: the file is not the one that was written.
        """
        step: Callable[[int], ArrowBatches] = cloudpickle.loads(read_by_digest(self.path, self.digest))
        return step


def pickled(step: Callable[[int], ArrowBatches]) -> bytes:
    """The bytes of a step, which shares parts of plans with other threads.

    A value that another thread computes and keeps (``cached_property``) may enter the dictionary that is being pickled.
    """
    while True:
        try:
            return bytes(cloudpickle.dumps(step))
        except RuntimeError as problem:
            if "changed size during iteration" not in str(problem):
                raise


def steps_rdd(context: SparkContext, first: int, places: Sequence[str]) -> RDD[Row]:
    """An RDD whose tasks run the steps of ``named_steps``, each time it is evaluated.

    Args:
        context: of the Spark that runs it.
        first: the number of the first task.
        places: where each of them had best run (``placement``).
    """
    tasks = len(places)
    numbers = placed_numbers(context, first, places) if any(places) else context.range(first, first + tasks, 1, tasks)
    answers = numbers.mapPartitions(_run)
    # As the rows of plans are serialized: a union would else take all of those through Python once more.
    return answers._reserialize(BatchedSerializer(CPickleSerializer()))


def named_steps(lists: Sequence[Sequence[tuple[StepFile, int]]]) -> str:
    """The property of a job that says which steps each of its tasks runs.

    Args:
        lists: for each task of ``steps_rdd`` steps, each with the number of a task among those of the step.
    """
    return json.dumps([[(step.path, step.digest, task) for step, task in steps] for steps in lists])


def _run(numbers: Iterable[int]) -> Iterator[Row]:
    """The answers of all steps of a task, one after the other."""
    prepare_worker()
    for number in numbers:
        yield from (Row(answer=text) for text in step_answers(number))


def step_answers(number: int) -> list[str]:
    """The answers of all steps of a task of this job, one after the other."""
    named: list[Any] = json.loads(job_property(STEPS) or "[]")
    answers: list[str] = []
    with PACKING.collecting():
        for path, digest, task in named[number]:
            for batch in _loaded(StepFile(path, digest))(task):
                answers += batch.column(0).to_pylist()
        PACKING.seal()
    return answers


@lru_cache(maxsize=_LOADED)
def _loaded(step: StepFile) -> Callable[[int], ArrowBatches]:
    return step.load()
