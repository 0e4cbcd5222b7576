"""Parts of live sources are read by tasks: each reads one as a whole, and writes its rows as a file of the log.

A part is an object that has landed, or messages of one partition of a topic. So their rows do not pass the driver,
which is told how many they are, what of them was quarantined, and what drifts. It takes them in by one transaction, in
the order of the parts. One that cannot be read so as a whole is read by the driver, which says why; so are few bytes,
and streams whose rows depend on those before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from itertools import accumulate, takewhile
from pathlib import Path
from typing import Any

import pyarrow as pa

from workbench.files.shared import all_stored, local_path
from workbench.files.writing import force_to_disk, make_folder
from workbench.streams.arriving import without_rows
from workbench.streams.drift import Drift, drifts_of, without_empty_more
from workbench.streams.live.reader import LARGEST_PART, Landed, ReadPart, SourcePart
from workbench.streams.live.take_in import fitted_rows, with_places
from workbench.streams.log import StreamLog
from workbench.streams.row_groups import write_rows
from workbench.streams.source import QuarantinedRow
from workbench.streams.tail import later_file

ByTasks = Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]
"""Runs work by tasks, each of which is told one of some things; the answers in their order. What is told
and answered is in terms of JSON."""

_TOGETHER = 4 * LARGEST_PART
"""Bytes of parts that are read at a time: a batch waits for them."""


@dataclass(frozen=True)
class LandPart:
    """Reads a part and writes its rows, in a task, which gets the part.

    Attributes:
        log: how its rows are made those of the stream.
        read: reads it.
    """

    log: StreamLog
    read: ReadPart

    def __call__(self, task: Any) -> dict[str, Any] | None:
        """The files that a task has written; ``None`` where a part was not read as a whole."""
        fetched = self.read(SourcePart(*task.given[task.task]))
        if fetched is None:
            return None
        fitting = fitted_rows(self.log, fetched, 0, {})
        drifts = drifts_of(fitting.rows, fitting.found, dict(self.log.source_columns), 0)
        of_reader, misfits = fitting.of_reader, fitting.quarantined
        if fetched.places:  # the reader says where these are, too
            of_reader, misfits = [*of_reader, *with_places(misfits, fitting.chunk.lines, fetched.places)], []
        return {
            "offsets": dict(fetched.offsets),
            "file": self._log_file(fitting.rows) if fitting.rows.num_rows else None,
            "last": fitting.last,
            "quarantined": [[*map(asdict, entries)] for entries in (of_reader, misfits)],
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


def lands(log: StreamLog, read: ReadPart, by_tasks: ByTasks, parts: Sequence[SourcePart]) -> list[Landed]:
    """What tasks have read of some parts, up to the first one that is not read as a whole.

    Args:
        log: of the stream.
        read: reads a part.
        by_tasks: runs tasks.
        parts: that were not read before, in their order.
    """
    if log.corrections is not None or log.transactions is not None or log.lateness is not None:
        return []
    totals = accumulate(part.bytes for part in parts)
    some = takewhile(lambda one: one[0].bytes <= LARGEST_PART and one[1] <= _TOGETHER, zip(parts, totals, strict=True))
    told = [astuple(part) for part, _ in some]
    answers = by_tasks(LandPart(replace(without_rows(log), guesses=log.guesses), read), told) if told else []
    return [_landed(answer) for answer in takewhile(lambda answer: answer is not None, answers)]


def _landed(answer: Mapping[str, Any]) -> Landed:
    of_reader, others = ([QuarantinedRow(**entry) for entry in entries] for entries in answer["quarantined"])
    drifts = [Drift(*drift) for drift in answer["drifts"]]
    return Landed(answer["offsets"], answer["file"], answer["last"], of_reader, others, drifts, answer["gone"])
