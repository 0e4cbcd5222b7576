"""The input of a job: what changes from batch to batch, while the plan or step stays the same.

A plan is made once (``plan_cache``); its tasks are told the batch's number, the segments of the change and of the rows
before it, and where a window was and is. That travels with the job, as a property that Spark hands to each task. A file
that every batch replaced could be read as it was before: a network's disk may show it so for some seconds, and no
checksum tells. A step that the driver runs by itself is told by the object itself.

Spark sends the property with each task, so a long input, as of ten thousand segments, is a file that each machine reads
once: it is named by its digest, and the digest travels with the job.
"""

from __future__ import annotations

import json
import uuid
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from workbench.engine.spark.job_properties import input_text
from workbench.engine.storage.segments import Run, Segment, SegmentFields, segment_fields, segments_of
from workbench.errors import EngineError
from workbench.files.by_digest import read_by_digest, write_by_digest
from workbench.files.cache import CHECKSUMS
from workbench.files.shared import removed
from workbench.limits import LIMITS, Limits
from workbench.sql.windows.bounds import Interval

_INPUTS_KNOWN = 4
"""Inputs of jobs that a worker keeps as they were read: a task asks for its own several times."""
_LONG_TEXT, _COMPRESSED = 8_192, "z"
"""Characters of an input that are sent as they are, and how another one begins."""
_OF_A_PIECE, _OF_A_SHORT_ONE, _PIECES_KNOWN = 64, 16, 2_048
"""Segments of a piece on average; of one that has no text of its own, at most; texts of pieces that a process keeps."""
_IN_FILE, _SUFFIX = "f", ".input"
"""How the text begins that says which file has an input, and how the names of such files end."""
_BETWEEN = "\n"
"""What is between the texts of an input: that of the job, and those of pieces."""


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
        learnt: what is known of the filter's tests (``Learnt.kept``).
        given: what else a step is told, in terms of JSON.
    """

    batch: int
    inputs: tuple[InputRows, ...] = ()
    extents: tuple[Mapping[str, Interval], ...] = ()
    task: int = 0
    tasks: int = 1
    limits: Limits = LIMITS
    learnt: Mapping[str, Any] = field(default_factory=dict)
    given: Any = None


class JobInput:
    """The input of one operator's jobs.

    Args:
        name: no other input of a job has it.
        limits: of the session.

    Example:
        >>> from workbench.engine.storage.segments import Segment
        >>> job_input = JobInput("G1/now")
        >>> job_input.set(7, [InputRows(change=(Segment("a.arrow", 3),))])
        >>> job_input.read(task=1, tasks=2).batch
        7
    """

    def __init__(self, name: str, limits: Limits = LIMITS) -> None:
        self.name, self.limits = name, limits
        self._kept: TaskInput | None = None
        """What was set in this process; workers have none."""

    def __reduce__(self) -> tuple[type[JobInput], tuple[str, Limits]]:
        return JobInput, (self.name, self.limits)

    def set(
        self,
        batch: int,
        inputs: Sequence[InputRows] = (),
        extents: Sequence[Mapping[str, Interval]] = (),
        learnt: Mapping[str, Any] | None = None,
    ) -> None:
        """Set the input of the next job; see ``TaskInput``."""
        self._kept = TaskInput(batch, tuple(inputs), tuple(extents), limits=self.limits, learnt=learnt or {})

    def tell(self, told: TaskInput) -> None:
        """Set the input of the next job."""
        self._kept = replace(told, limits=self.limits)

    def content(self, places: Callable[[Run], list[int]]) -> dict[str, Any] | None:
        """The last value that was set, ready for JSON; ``None`` where none was.

        Args:
            places: of segments among those that the job names (``_Named``).
        """
        if (kept := self._kept) is None:
            return None
        return {
            "batch": kept.batch,
            "inputs": [[places(rows.change), places(rows.before)] for rows in kept.inputs],
            "extents": [{name: [i.low, i.high] for name, i in extent.items()} for extent in kept.extents],
            "learnt": kept.learnt,
            "given": kept.given,
        }

    def read(self, task: int = 0, tasks: int = 1) -> TaskInput:
        """The input, for one of the job's tasks."""
        if self._kept is not None:
            return self._kept if tasks == 1 else replace(self._kept, task=task, tasks=tasks)
        job = _of_job(input_text())
        content = job["inputs"][self.name]
        inputs = tuple(InputRows(*(_segments_at(job, places) for places in runs)) for runs in content["inputs"])
        extents = tuple({name: Interval(*ends) for name, ends in e.items()} for e in content["extents"])
        told = content["learnt"], content["given"]
        return TaskInput(content["batch"], inputs, extents, task, tasks, self.limits, *told)


class _Named:
    """The segments that a job names, each once, however many operators read it.

    Attributes:
        segments: the number of each that stands alone.
        pieces: the number of each piece, by its text.
    """

    def __init__(self) -> None:
        self.segments: dict[Segment, int] = {}
        self.pieces: dict[str, int] = {}

    def places(self, run: Run) -> list[int]:
        """The numbers of the segments of a run, and of pieces of it; those of pieces are negative."""
        found = list[int]()
        for piece in _pieces(run):
            if len(piece) > _OF_A_SHORT_ONE:
                found.append(~self.pieces.setdefault(_text_of(piece), len(self.pieces)))
            else:
                found += [self.segments.setdefault(segment, len(self.segments)) for segment in piece]
        return found


def inputs_of_job(inputs: Iterable[JobInput]) -> tuple[str, str]:
    """What travels with a job that reads some inputs, and the token that each of its tasks gives back.

    Spark sends the text with each task, so long parts are compressed. A task reads the pieces that its operator needs,
    and not those that an earlier batch has told to its worker.
    """
    token, named = uuid.uuid4().hex, _Named()
    contents = {each.name: each.content(named.places) for each in inputs}
    head = json.dumps({"token": token, "segments": [*map(segment_fields, named.segments)], "inputs": contents})
    return _BETWEEN.join([head if len(head) <= _LONG_TEXT else _compressed(head), *named.pieces]), token


@contextmanager
def sent_text(text: str, folder: Path, most: int) -> Iterator[str]:
    """What is sent of an input with each task: it, or where it is long which file has it until the job has ended.

    Args:
        text: of the input (``inputs_of_job``).
        folder: that workers have, too.
        most: bytes that are sent.
    """
    if len(text) <= most:
        yield text
        return
    path, digest = write_by_digest(folder, text.encode(), _SUFFIX)
    try:
        yield f"{_IN_FILE}{digest} {path}"
    finally:
        path.unlink(missing_ok=True)
        removed([str(path)])


def job_token() -> str:
    """The token of the job that this task belongs to; "" for a step that the driver runs by itself."""
    text = input_text()
    return str(_of_job(text)["token"]) if text else ""


def checked_token(answered: str, token: str, name: str) -> None:
    """Check that a task has answered with the token of its job.

    Args:
        answered: by the task.
        token: of the job; "" for what this process has run by itself.
        name: whose task it is.

    Raises:
        EngineError: it has read the input of another job.
    """
    if answered != token:
        what = f"a task of node {name} has read the input of another job"
        raise EngineError(what, hint="nothing has changed: run it again")


@lru_cache(maxsize=_INPUTS_KNOWN)
def _of_job(text: str) -> Any:
    if text.startswith(_IN_FILE):
        digest, _, path = text.removeprefix(_IN_FILE).partition(" ")
        text = read_by_digest(path, digest).decode()
    head, *pieces = text.split(_BETWEEN)
    content = json.loads(_plain(head))
    return content | {"segments": _segments_with_checksums(content["segments"]), "pieces": pieces}


def _segments_at(job: Mapping[str, Any], places: Iterable[int]) -> Run:
    """The segments of some numbers (``_Named``)."""
    found = list[Segment]()
    for place in places:
        found += (job["segments"][place],) if place >= 0 else _of_text(job["pieces"][~place])
    return tuple(found)


def _pieces(run: Run) -> Iterator[Run]:
    """A run in pieces, which end where a segment's checksum says so: what runs of two batches share are the same ones.

    Source: A. Muthitacharoen, B. Chen, D. Mazieres, A low-bandwidth network file system (SOSP 2001), 3.1.
    """
    ends = (at for at, segment in enumerate(run, 1) if (segment.checksum or 1) % _OF_A_PIECE == 0)
    return (run[first:end] for first, end in pairwise([0, *ends, len(run)]))


@lru_cache(maxsize=_PIECES_KNOWN)
def _text_of(piece: Run) -> str:
    return _compressed(json.dumps([*map(segment_fields, piece)]))


@lru_cache(maxsize=_PIECES_KNOWN)
def _of_text(text: str) -> Run:
    return _segments_with_checksums(json.loads(_plain(text)))


def _segments_with_checksums(fields: Iterable[SegmentFields]) -> Run:
    """The segments of a job input; their checksums are registered in this process."""
    segments = segments_of(fields)
    for segment in segments:
        CHECKSUMS.tell(segment.path, segment.checksum)
    return segments


def _compressed(text: str) -> str:
    return _COMPRESSED + b64encode(zlib.compress(text.encode(), level=1)).decode()


def _plain(text: str) -> str:
    return zlib.decompress(b64decode(text[1:])).decode() if text.startswith(_COMPRESSED) else text
