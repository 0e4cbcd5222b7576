"""Side steps: work of a batch besides its operators, done by tasks: logging rows, merging runs, checking changes.

All side steps of one moment are one job. So the driver's work follows the number of tasks and segments, not of rows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from workbench.engine.operators.runner import Runner
from workbench.engine.spark.arrow_tasks import ArrowBatches
from workbench.engine.spark.failures import translate_errors
from workbench.engine.spark.jobs import StepJob
from workbench.engine.storage.job_input import JobInput, TaskInput, checked_token, job_token

Work = Callable[[TaskInput], Any]
"""What a task does with its input; it answers in terms of JSON, and must pickle with ``cloudpickle``."""


@dataclass(frozen=True)
class SideStep:
    """A step that runs at the same time as the operators.

    Attributes:
        owner: the tree or stream whose rows it reads or writes.
        work: what each task does.
        told: the input of its tasks.
        tasks: how many there are.
    """

    owner: str
    work: Work
    told: TaskInput
    tasks: int


@dataclass(frozen=True)
class _Answering:
    """A step whose tasks answer with their numbers and with the results of their work."""

    name: str
    work: Work
    job_input: JobInput
    tasks: int

    def __call__(self, task: int) -> ArrowBatches:
        answer = self.work(self.job_input.read(task, self.tasks))
        yield pa.RecordBatch.from_pydict({"answer": [json.dumps([self.name, task, job_token(), answer])]})


def answers_by_tasks(runner: Runner, owner: str, work: Work, told: Sequence[Any], doing: str) -> list[Any]:
    """The answers of tasks, in their order, each of which gets one of some values.

    Args:
        runner: runs them.
        owner: the tree or stream whose rows they write.
        work: what each does; the input has what all are told.
        told: the things, in terms of JSON.
        doing: what for, as Spark's pages say it.

    Raises:
        EngineError: they could not.
    """
    runner.doing = doing
    step = SideStep(owner, work, TaskInput(0, given=[*told]), len(told))
    with translate_errors(doing):
        return run_side_steps(runner, {owner: step}, "land")[owner]


def run_side_steps(runner: Runner, steps: Mapping[str, SideStep], role: str) -> dict[str, list[Any]]:
    """The answers of the tasks of some steps, in the order of the tasks, by the names of the steps.

    Args:
        runner: runs them as one job.
        steps: by name, which begins with that of the owner.
        role: of all of them among the jobs of their owners.

    Raises:
        EngineError: a task has read the input of another job.
    """
    jobs, inputs = dict[str, StepJob](), list[JobInput]()
    for name, step in steps.items():
        job_input = JobInput(f"{name}/{role}", runner.limits)
        job_input.tell(step.told)
        answering = _Answering(name, step.work, job_input, step.tasks)
        jobs[name] = StepJob(answering, step.tasks, runner.folder(step.owner))
        inputs.append(job_input)
    texts, token = runner.run_by_spark(jobs, dict.fromkeys(jobs, 1.0), role, inputs)
    answers: dict[str, dict[int, Any]] = {name: {} for name in steps}
    for name, task, of_job, answer in map(json.loads, texts):
        checked_token(of_job, token, name)
        answers[name][task] = answer
    return {name: [of_tasks[task] for task in sorted(of_tasks)] for name, of_tasks in answers.items()}
