"""What changes from batch to batch, in a small file beside a plan that does not change.

Spark needs 100 to 300 ms of the driver to plan a join. So a plan is made once, reads what it works on from its note,
and is run again in every batch. (A plan with an exchange cannot be: Spark keeps what was exchanged.)
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.engine.storage.segments import Segment
from workbench.files.checked import write_file
from workbench.sql.windows.bounds import Interval


@dataclass(frozen=True, slots=True)
class Input:
    """A parent's rows in one batch: the change, and what was there before it."""

    change: tuple[Segment, ...] = ()
    before: tuple[Segment, ...] = ()


@dataclass(frozen=True)
class Note:
    """The place of a note; written by the driver before a job, read by its tasks."""

    path: str

    @staticmethod
    def of(folder: Path, role: str) -> Note:
        """The note of what has this role among all that uses a folder."""
        return Note(str(folder / f"{role}.note"))

    def write(self, batch: int, inputs: Sequence[Input] = (), extents: Sequence[Mapping[str, Interval]] = ()) -> None:
        """Say what the next job works on; of a window also where it was and is."""
        said: dict[str, Any] = {"batch": batch, "token": uuid.uuid4().hex}
        said["inputs"] = [[_plain(i.change), _plain(i.before)] for i in inputs]
        said["extents"] = [{name: [i.low, i.high] for name, i in extent.items()} for extent in extents]
        part = f"{self.path}.{uuid.uuid4().hex}"
        write_file(Path(part), json.dumps(said).encode())
        os.replace(part, self.path)

    def read(self) -> tuple[int, tuple[Input, ...]]:
        """The number of the batch, and the inputs."""
        said = json.loads(Path(self.path).read_text())
        return said["batch"], tuple(Input(_segments(change), _segments(before)) for change, before in said["inputs"])

    def token(self) -> str:
        """What tells this writing of the note from all others."""
        return str(json.loads(Path(self.path).read_text())["token"])

    def extents(self) -> tuple[Mapping[str, Interval], ...]:
        """Where a window was, and where it is."""
        said = json.loads(Path(self.path).read_text())["extents"]
        return tuple({name: Interval(*ends) for name, ends in extent.items()} for extent in said)


def _plain(segments: Sequence[Segment]) -> list[Any]:
    return [[segment.path, segment.rows] for segment in segments]


def _segments(plain: Sequence[Any]) -> tuple[Segment, ...]:
    return tuple(Segment(path, rows) for path, rows in plain)
