"""What a job reads is what was written for it last."""

from __future__ import annotations

import pickle
from pathlib import Path

from workbench.engine.storage.job_input import InputRows, JobInput, TaskInput
from workbench.engine.storage.segments import Segment


def test_a_job_input_has_what_was_set_last(tmp_path: Path) -> None:
    job_input = JobInput.of(tmp_path, "now")
    first, second = Segment("a", 1), Segment("b", 2)
    for batch, inputs in (3, (InputRows((first,), (second, first)),)), (4, ()):
        job_input.set(batch, inputs)
        assert job_input.read(1, 2) == TaskInput(batch, inputs, (), 1, 2)
        job_input.save()
        of_worker = pickle.loads(pickle.dumps(job_input))
        assert of_worker.read(1, 2) == TaskInput(batch, inputs, (), 1, 2)
        assert of_worker.task_mark() == job_input.task_mark()
    assert [file.name for file in tmp_path.iterdir()] == ["now.input"]


def test_a_worker_reads_what_was_saved(tmp_path: Path) -> None:
    job_input = JobInput.of(tmp_path, "now")
    job_input.set(3)
    job_input.save()
    job_input.set(4)
    assert job_input.read().batch == 4 and pickle.loads(pickle.dumps(job_input)).read().batch == 3
