"""What an analyst does to a session, step by step, as plain data."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from oracle.fuzz.columns import InputColumn
from oracle.fuzz.questions import Question

from workbench.sql.algebra.types import DataType

WEIGHT = "argus weight"
"""The column with weights, of a name that no other column has."""


@dataclass(frozen=True)
class AddInput:
    """A stream or a table.

    Attributes:
        form: what it is read from: arrow, pandas, parquet or csv.
        takes: of a stream whose rows have weights in the column ``WEIGHT``, for each row that takes one back the place
            of that one, else -1; empty for others.
        lateness: by how much rows may be late, in the type of the times.
    """

    name: str
    duck: str
    columns: tuple[InputColumn, ...]
    rows: tuple[tuple[object, ...], ...]
    table: bool
    history: int | None
    batch: int | None
    time: str | None
    form: str
    takes: tuple[int, ...] = ()
    lateness: dt.timedelta | int | None = None


@dataclass(frozen=True)
class AddFunction:
    """A function of the analyst, by the text of a lambda; ``duck`` is the name of this meaning of it in DuckDB."""

    name: str
    duck: str
    text: str
    parameters: tuple[DataType, ...]
    returns: DataType


@dataclass(frozen=True)
class Register:
    """Questions under names (``None``: a number, or the view the text creates); several are registered together."""

    questions: tuple[tuple[str | None, Question], ...]
    results: str = "lazy"


@dataclass(frozen=True)
class Preview:
    """What registering would do; it changes nothing."""

    question: Question


@dataclass(frozen=True)
class Drop:
    """Drop a query, if it is there."""

    name: str


@dataclass(frozen=True)
class Run:
    """Let batches arrive."""

    batches: int


@dataclass(frozen=True)
class SetBatch:
    """Let another number of rows arrive with each batch."""

    name: str
    rows: int


@dataclass(frozen=True)
class Seek:
    """Go back by a number of batches, at most to the history."""

    back: int


@dataclass(frozen=True)
class AddSink:
    """Send the changes of a query to a callable, if the query is there and has no sink."""

    name: str


@dataclass(frozen=True)
class Reoptimize:
    """Plan all queries anew with what batches have shown."""


@dataclass(frozen=True)
class SaveAndOpen:
    """Save a copy, open it, and go on there."""


@dataclass(frozen=True)
class CloseAndOpen:
    """Close the session and open it again."""


Step = (
    AddInput | AddFunction | Register | Preview | Drop | Run | SetBatch | Seek | AddSink | Reoptimize | SaveAndOpen
    | CloseAndOpen
)  # fmt: skip


@dataclass(frozen=True)
class Sequence_:
    """Steps, and the options of the session they are done to."""

    seed: int
    options: tuple[tuple[str, object], ...]
    steps: tuple[Step, ...]
