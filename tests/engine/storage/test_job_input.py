"""What a task of a job reads is what was set for that job."""

from __future__ import annotations

import pickle
import uuid
from pathlib import Path
from random import Random

import pytest

from workbench.engine.spark.job_properties import inputs_here
from workbench.engine.storage.job_input import InputRows, JobInput, TaskInput, inputs_of_job, job_token, sent_text
from workbench.engine.storage.segments import Segment
from workbench.files.cache import CHECKSUMS
from workbench.sql.windows.bounds import Interval


def test_a_worker_reads_what_travels_with_its_job() -> None:
    rows, tests = JobInput("G1/now"), JobInput("G1/tests")
    first, second, extent = Segment("a", 1), Segment("b", 2), {"day": Interval(1, None)}
    jobs = []
    for batch, inputs in (3, (InputRows((first,), (second, first)),)), (4, ()):
        rows.set(batch, inputs, [extent])
        tests.set(0, learnt={"rows": batch})
        assert rows.read(1, 2) == TaskInput(batch, inputs, (extent,), 1, 2)
        jobs.append((batch, inputs, inputs_of_job([rows, tests])))
    of_worker, tests_of_worker = pickle.loads(pickle.dumps((rows, tests)))
    for batch, inputs, (text, token) in jobs:
        with inputs_here(text):
            assert of_worker.read(1, 2) == TaskInput(batch, inputs, (extent,), 1, 2)
            assert tests_of_worker.read().learnt == {"rows": batch} and job_token() == token
    assert job_token() == ""


def test_segments_that_several_operators_read_travel_once() -> None:
    many = tuple(Segment(f"state/packs/{uuid.uuid4().hex}.arrow", n, n, n) for n in range(2_000))
    inputs = [JobInput(f"G{at}/now") for at in range(6)]
    for at, each in enumerate(inputs):
        each.set(1, [InputRows(many[at:], many), InputRows()])
    of_worker = pickle.loads(pickle.dumps(inputs))
    text, _ = inputs_of_job(inputs)
    assert len(text) < 60 * len(many)
    with inputs_here(text):
        for at, each in enumerate(of_worker):
            assert each.read().inputs == (InputRows(many[at:], many), InputRows())


def test_a_task_reads_the_segments_of_its_operator_and_of_these_what_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    read = list[str]()
    monkeypatch.setattr(CHECKSUMS, "tell", lambda path, checksum: read.append(path))
    chance = Random(7)  # by other checksums pieces begin elsewhere, and one in thirty runs reads more
    first, other = (tuple(new_segment(chance) for _ in range(2_000)) for _ in range(2))
    inputs = JobInput("G1/now"), JobInput("G2/now")
    of_worker = pickle.loads(pickle.dumps(inputs[0]))
    for batch, (before, most) in enumerate([(first, 2_100), ((*first, new_segment(chance)), 600), (first[300:], 600)]):
        read.clear()
        for each, rows in zip(inputs, (before, other), strict=True):
            each.set(batch, [InputRows((), rows)])
        with inputs_here(inputs_of_job(inputs)[0]):
            assert of_worker.read().inputs == (InputRows((), before),)
        assert len(read) < most


def test_a_long_input_is_a_file_that_goes_with_its_job(tmp_path: Path) -> None:
    rows, many = JobInput("G1/now"), (InputRows(tuple(Segment(f"{n}.arrow", n) for n in range(100))),)
    rows.set(3, many)
    text, token = inputs_of_job([rows])
    of_worker = pickle.loads(pickle.dumps(rows))
    with sent_text(text, tmp_path, len(text)) as short:
        assert short == text and not [*tmp_path.iterdir()]
    with sent_text(text, tmp_path, 500) as short, inputs_here(short):
        (file,) = tmp_path.iterdir()
        assert len(short) < 500 and of_worker.read().inputs == many and job_token() == token
    assert not file.exists()
    rows.set(4, many)
    with sent_text(inputs_of_job([rows])[0], tmp_path, 0) as short, inputs_here(short):
        (file,) = tmp_path.iterdir()
        file.write_text(text)
        with pytest.raises(ValueError, match="was changed by another program"):
            of_worker.read()


def new_segment(chance: Random) -> Segment:
    identity = uuid.UUID(int=chance.getrandbits(128))
    return Segment(f"state/packs/{identity.hex}.arrow", 1, identity.int >> 96)


def test_a_worker_reads_no_input_that_is_not_its_jobs() -> None:
    of_worker = pickle.loads(pickle.dumps(JobInput("G1/now")))
    with inputs_here(inputs_of_job([])[0]), pytest.raises(KeyError):
        of_worker.read()
