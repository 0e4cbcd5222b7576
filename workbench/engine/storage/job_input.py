"""The input of a job: a small file that the driver writes before the job, beside a plan that stays the same.

A plan is made once (``plan_cache``) and its tasks read from this file what differs between batches: the batch's number,
the segments of the change and of the rows before it, and where a window was and is. A step that the driver runs by
itself needs no file.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from workbench.engine.spark.arrow_tasks import ArrowBatches, run_tasks, task_attempt
from workbench.engine.storage.segments import Run, Segment
from workbench.files.packs import PACKING
from workbench.files.writing import replacing
from workbench.limits import LIMITS, Limits
from workbench.sql.windows.bounds import Interval

INPUT_SUFFIX = ".input"
"""The end of the names of these files."""


@dataclass(frozen=True, slots=True)
class InputRows:
    """A parent's rows in one batch, as segments: the change, and the rows before it."""

    change: Run = ()
    before: Run = ()


@dataclass(frozen=True)
class TaskInput:
    """The input of one task of a job.

    Attributes:
        batch: the number of the batch.
        inputs: the rows of the operator's parents.
        extents: of a window, its interval for each column with times, before and after the batch.
        task: the number of the task, from 0.
        tasks: how many tasks the job has.
        limits: of the session.
    """

    batch: int
    inputs: tuple[InputRows, ...]
    extents: tuple[Mapping[str, Interval], ...] = ()
    task: int = 0
    tasks: int = 1
    limits: Limits = LIMITS


class JobInput:
    """The input of one job: in a file for Spark's workers, and as it is for steps that this process runs.

    Args:
        path: of the file.
        limits: of the session.
    """

    def __init__(self, path: str, limits: Limits = LIMITS) -> None:
        self.path, self.limits = path, limits
        self._kept: tuple[TaskInput, str] | None = None
        """What was set in this process, and its token; workers have none."""
        self._saved = False

    def __reduce__(self) -> tuple[type[JobInput], tuple[str, Limits]]:
        return JobInput, (self.path, self.limits)

    @staticmethod
    def of(folder: Path, role: str, limits: Limits = LIMITS) -> JobInput:
        """The input of the job that has this role among those of a folder."""
        return JobInput(str(folder / f"{role}{INPUT_SUFFIX}"), limits)

    def set(self, batch: int, inputs: Sequence[InputRows] = (), extents: Sequence[Mapping[str, Interval]] = ()) -> None:
        """Set the input of the next job; see ``TaskInput``. Workers read it once it is saved."""
        self._kept, self._saved = (TaskInput(batch, tuple(inputs), tuple(extents)), uuid.uuid4().hex), False

    def save(self) -> None:
        """Write the file, unless it has what was set last, and the rows that wait for that: workers read both."""
        PACKING.seal()
        if self._kept is None or self._saved:
            return
        task, token = self._kept
        content: dict[str, Any] = {"batch": task.batch, "token": token}
        content["inputs"] = [[_plain(rows.change), _plain(rows.before)] for rows in task.inputs]
        content["extents"] = [{name: [i.low, i.high] for name, i in extent.items()} for extent in task.extents]
        with replacing(Path(self.path)) as file:
            file.write(json.dumps(content).encode())
        self._saved = True

    def read(self, task: int = 0, tasks: int = 1) -> TaskInput:
        """The input, for one of the job's tasks."""
        if self._kept is not None:
            return replace(self._kept[0], task=task, tasks=tasks, limits=self.limits)
        content = self._content()
        inputs = tuple(InputRows(_segments(change), _segments(before)) for change, before in content["inputs"])
        extents = tuple({name: Interval(*ends) for name, ends in e.items()} for e in content["extents"])
        return TaskInput(content["batch"], inputs, extents, task, tasks, self.limits)

    def run(self, spark: SparkSession, tasks: int, step: Callable[[TaskInput], ArrowBatches], schema: str) -> DataFrame:
        """A plan whose tasks each read this input and give the rows of a step; ``schema`` is in Spark's DDL."""
        return run_tasks(spark, tasks, lambda task: step(self.read(task, tasks)), schema)

    def task_mark(self) -> str:
        """The prefix of the names of the running task's own files, unique among tasks and attempts.

        The steps of a task run in different Python processes, and find each other's files by this mark.
        """
        token = self._content()["token"] if self._kept is None else self._kept[1]
        return f"{token}-{task_attempt()}-"

    def _content(self) -> Any:
        return json.loads(Path(self.path).read_text())


def _plain(segments: Run) -> list[Any]:
    return [[segment.path, segment.rows] for segment in segments]


def _segments(plain: Sequence[Any]) -> Run:
    return tuple(Segment(path, rows) for path, rows in plain)
