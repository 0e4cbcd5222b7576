"""Segments that a task writes in one step of a job, and answers for in its last step.

The steps run in different Python processes, between which rows go through Spark. They know each other by the task: its
number goes into the names of the files. What a failed or repeated task wrote is named by no answer, and never read.
"""

from __future__ import annotations

from pathlib import Path

from pyspark import TaskContext

from workbench.engine.spark.job_input import Note
from workbench.engine.storage.segments import Segment, open_segment
from workbench.files.checked import checksum_of


def mark_of_task(note: Note) -> str:
    """What the names of the files of the running task begin with: no other task, and no other attempt, has the same."""
    context = TaskContext.get()
    assert context is not None
    return f"{note.token()}-{context.taskAttemptId()}-"


def written_under(mark: str, folder: str) -> list[Segment]:
    """The segments that were written under a mark, a moment ago by the same task."""
    paths = map(str, sorted(Path(folder).glob(f"{mark}*.arrow")))
    return [Segment(path, open_segment(path).num_rows, checksum_of(path)) for path in paths]
