"""Objects that land are read by tasks: each reads one as a whole, and writes its rows as a file of the stream's log.

So their rows do not pass the driver, which is told how many they are, what of them was quarantined, and what drifts. It
takes them in by one transaction, in the order of the objects. One that cannot be read so as a whole is read by the
driver, which says why; so are few bytes, and streams whose rows depend on those before.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from itertools import accumulate, takewhile
from pathlib import Path
from typing import Any

import pyarrow as pa

from workbench.files.durable import force_to_disk
from workbench.files.shared import all_stored, local_path
from workbench.files.store import Stored
from workbench.files.writing import make_folder
from workbench.streams.arriving import without_rows
from workbench.streams.drift import Drift, drifts_of, without_empty_more
from workbench.streams.live.folder import FolderReader
from workbench.streams.live.reader import Landed
from workbench.streams.live.stored_objects import StoredObjects
from workbench.streams.live.take_in import fitted_rows
from workbench.streams.log import StreamLog
from workbench.streams.row_groups import write_rows
from workbench.streams.source import QuarantinedRow
from workbench.streams.tail import later_file

ByTasks = Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]
"""Runs work by tasks, each of which is told one of some things; the answers in their order. What is told
and answered is in terms of JSON."""

Objects = Sequence[tuple[str, Stored]]
"""Objects by what they are called in offsets."""
_LARGEST = 128_000_000
"""Bytes of an object that a task reads as a whole: it has all of its rows in memory."""
_TOGETHER = 4 * _LARGEST
"""Bytes of objects that are read at a time: a batch waits for them."""


@dataclass(frozen=True)
class LandObject:
    """Reads an object and writes its rows, for tasks, which are told which one.

    Attributes:
        log: how its rows are made those of the stream.
        pattern, schema: of the reader.
    """

    log: StreamLog
    pattern: str
    schema: pa.Schema

    def __call__(self, task: Any) -> dict[str, Any] | None:
        """What a task has written; ``None`` where an object was not read as a whole."""
        place, stored = task.given[task.task]
        reader = FolderReader(self.pattern, self.schema, files=StoredObjects(self.pattern, {place: Stored(*stored)}))
        try:
            fetched = reader.fetch({}, sys.maxsize)
        finally:
            reader.close()
        if fetched.problem or fetched.offsets.get(place, "0").isdigit():
            return None
        fitting = fitted_rows(self.log, fetched, 0, {})
        drifts = drifts_of(fitting.rows, fitting.found, dict(self.log.source_columns), 0)
        return {
            "offsets": dict(fetched.offsets),
            "file": self._log_file(fitting.rows) if fitting.rows.num_rows else None,
            "last": fitting.last,
            "quarantined": [[*map(asdict, entries)] for entries in (fitting.of_reader, fitting.quarantined)],
            "drifts": [*map(astuple, drifts)],
            "gone": [*fitting.found.gone],
        }

    def _log_file(self, rows: pa.Table) -> tuple[str, int, int]:
        """The name, the rows and the checksum of a file that all machines have."""
        path = str(later_file(self.log.folder))
        local = Path(local_path(path))
        make_folder(local.parent)
        checksum = write_rows(local, without_empty_more(rows))
        force_to_disk([str(local)])
        all_stored([path])
        return Path(path).name, rows.num_rows, checksum


def lands(log: StreamLog, reader: FolderReader, by_tasks: ByTasks, objects: Objects) -> list[Landed]:
    """What tasks have read of some objects, up to the first one that is not read as a whole.

    Args:
        log: of the stream.
        reader: of its source.
        by_tasks: runs tasks.
        objects: that were not read before, in their order.
    """
    if log.corrections is not None or log.transactions is not None or log.lateness is not None:
        return []
    totals = accumulate(stored.bytes for _, stored in objects)
    some = takewhile(lambda one: one[0][1].bytes <= _LARGEST and one[1] <= _TOGETHER, zip(objects, totals, strict=True))
    told = [(place, [*stored]) for (place, stored), _ in some]
    work = LandObject(replace(without_rows(log), guesses=log.guesses), reader.description, reader.schema)
    answers = by_tasks(work, told) if told else []
    return [_landed(answer) for answer in takewhile(lambda answer: answer is not None, answers)]


def _landed(answer: Mapping[str, Any]) -> Landed:
    of_reader, others = ([QuarantinedRow(**entry) for entry in entries] for entries in answer["quarantined"])
    drifts = [Drift(*drift) for drift in answer["drifts"]]
    return Landed(answer["offsets"], answer["file"], answer["last"], of_reader, others, drifts, answer["gone"])
