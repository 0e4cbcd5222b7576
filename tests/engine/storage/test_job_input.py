"""What a job reads is what was written for it last."""

from __future__ import annotations

from pathlib import Path

from workbench.engine.storage.job_input import InputRows, JobInput, TaskInput
from workbench.engine.storage.segments import Segment


def test_a_job_input_has_what_was_written_last(tmp_path: Path) -> None:
    job_input = JobInput.of(tmp_path, "now")
    first, second = Segment("a", 1), Segment("b", 2)
    job_input.write(3, [InputRows((first,), (second, first))])
    assert job_input.read() == TaskInput(3, (InputRows((first,), (second, first)),))
    job_input.write(4)
    assert job_input.read() == TaskInput(4, ())
    assert [file.name for file in tmp_path.iterdir()] == ["now.input"]
