"""The output of a source of rows: columns, and rows in chunks, each row with its offset in the source.

A new kind of source is a module that returns an ``OpenedSource``, and a case in ``readers.open_source``. Ingestion asks
for nothing else, so a source may be a file, a DataFrame or anything that can number its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from workbench.streams.drift import Differences
from workbench.streams.guessing import Guess

_TEXT_LENGTH, _REASON_LENGTH = 200, 1_000
"""Characters that are kept of a quarantined row, and of the reason."""


@dataclass(frozen=True, slots=True)
class QuarantinedRow:
    """A row that no query sees: it does not fit the stream's columns, or it is a late row.

    Its texts can always be stored: they are cut, and half a surrogate pair, which UTF-8 lacks, is written as an escape.

    Attributes:
        line: its 1-based line (CSV) or row number in the source.
        text: the row.
        reason: why it was quarantined.
        row: the 0-based position of a late row in the log; ``None`` for a row that does not fit, which the log lacks.
        record: the whole row as the text of a JSON object, where it is to be tried again once a column is widened.
        number: of such a row, its number among those of its source; of one that a reader quarantines, how many rows
            that are read with it came before it.
    """

    line: int
    text: str
    reason: str
    row: int | None = None
    record: str | None = field(default=None, compare=False, repr=False)
    number: int = field(default=0, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", _storable(self.text, _TEXT_LENGTH))
        object.__setattr__(self, "reason", _storable(self.reason, _REASON_LENGTH))


def _storable(text: str, most: int) -> str:
    return text[:most].encode(errors="backslashreplace").decode()


@dataclass(frozen=True)
class Chunk:
    """Some rows in order, the 1-based line (or row) of each, the lines between that are no rows, and what drifts.

    Members that are no columns are in the column ``MORE``, which the schema of the source has not.
    """

    rows: pa.RecordBatch
    lines: NDArray[np.int64]
    quarantined: tuple[QuarantinedRow, ...] = ()
    found: Differences = field(default_factory=Differences)


@dataclass(frozen=True)
class OpenedSource:
    """An open source.

    Attributes:
        schema: its columns with their own types.
        chunks: its rows.
        inferred: what its columns of text seem to be.
        notes: what else was found out about how it is written.
        share: gives how much of it is read, of 1; 0 where that is unknown.
        goes_on: whether its rows are those after the bytes that were read before (``CsvOptions.passed``).
    """

    schema: pa.Schema
    chunks: Iterator[Chunk]
    inferred: Mapping[str, Guess] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    share: Callable[[], float] = lambda: 0.0
    goes_on: bool = False
