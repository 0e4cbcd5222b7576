"""Asks an iterator for rows in a separate thread, so that a blocking one delays no other source.

An analyst's generator often waits: for a message, a line, a minute to pass. It is asked for no more rows than are
wanted, since a generator may also be endless and fast.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import GeneratorType
from typing import TypeAlias

import pandas as pd
import pyarrow as pa

from workbench.arrow.types import to_data_type
from workbench.errors import StreamError, UnexpectedError, with_article
from workbench.sql.algebra.types import Kind
from workbench.streams.convert import convert
from workbench.streams.files.json_records import within_depth
from workbench.streams.files.json_values import JsonRecord
from workbench.streams.readers import too_deep

Given = tuple[object, JsonRecord | str]
"""A value that an iterator gave, and its row, or why it is rejected."""
Piece: TypeAlias = "pa.RecordBatch | list[Given]"
"""Rows that follow each other: Arrow's, which have their types, or others."""

IDLE = 0.2
"""Seconds for which an iterator gives nothing before it is waited for no longer: long for a computation between two
rows, short for who waits for a batch."""

_AT_ONCE = 0.02
"""Seconds within which a row comes at once."""


class Puller:
    """Rows of an iterator, asked for one item after the other.

    Args:
        iterator: of dicts, or of Arrow tables or record batches, pandas DataFrames, or lists of dicts.

    Attributes:
        rows: that it gave and that wait; the caller takes them from the left.
        ended: whether it will give no more.
        problem: what it raised after the last row that it gave; "" if it raised nothing. One that is asked on after an
            error may give more; most, as generators, have ended by it.

    Example:
        >>> puller = Puller({"n": n} for n in range(5))
        >>> puller.want(2)
        >>> puller.waiting, puller.ended
        (2, False)
        >>> puller.want(10)
        >>> puller.waiting, puller.ended
        (5, True)
    """

    def __init__(self, iterator: Iterator[object]) -> None:
        self._iterator = iterator
        self._wanted = 0
        self._closed = False
        self._asked, self._stopped = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None
        self._given = self._taken = 0  # the one is the thread's, the other the caller's
        self.pieces: deque[Piece] = deque()
        self.ended = False
        self.problem = ""

    def want(self, rows: int, patience: float | None = IDLE) -> None:
        """Wait for a number of rows, or those that come without a break.

        Args:
            rows: how many are wanted, with those that are there.
            patience: seconds to wait at most for the next of them, which is asked for on in the background; ``None``:
                for as long as it takes.

        Raises:
            StreamError: the iterator raised something; what it gave before is there.
        """
        self._wanted = rows
        while self.waiting < rows and not self.ended:
            there = self.waiting
            self._stopped.clear()
            self._ask()
            stopped = self._stopped.wait(patience)
            if self.problem or (not stopped and self.waiting == there):
                break
        if self.problem and self.waiting < rows:
            raise StreamError(self.problem)

    def look(self, rows: int) -> None:
        """Ask for more rows, up to a number, while they arrive at once; exceptions are raised later."""
        while (there := self.waiting) < rows and not self.ended and not self.problem:
            with suppress(StreamError):
                self.want(min(rows, 2 * there + 1), _AT_ONCE)
            if self.waiting < min(rows, 2 * there + 1):
                return

    @property
    def waiting(self) -> int:
        """How many rows it gave that are not taken yet."""
        return self._given - self._taken

    def take(self, most: int) -> list[Piece]:
        """The next of these rows."""
        taken = list[Piece]()
        while most > 0 and self.pieces:
            piece = self.pieces.popleft()
            if len(piece) > most:
                self.pieces.appendleft(piece[most:])
            taken.append(piece[:most])
            self._taken += len(taken[-1])
            most -= len(taken[-1])
        return taken

    def close(self) -> None:
        """Ask no more, and end a generator, unless it is waiting for something: then it is left alone."""
        self._closed = True
        self._asked.set()
        if hasattr(self._iterator, "close") and self._idle:
            self._iterator.close()

    @property
    def _idle(self) -> bool:
        return self._thread is None or self._stopped.is_set()

    def _ask(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._pull, name="argus-iterator", daemon=True)
            self._thread.start()
        self._asked.set()

    def _pull(self) -> None:
        """The thread: pulls whenever it is asked."""
        while self._asked.wait() and not self._closed:
            self._asked.clear()
            try:
                while self.waiting < self._wanted and not self._closed:
                    pieces = _pieces(next(self._iterator))
                    self.pieces.extend(pieces)
                    self._given += sum(map(len, pieces))
                    self.problem = ""
            except StopIteration:
                self.ended = True
            except BaseException as problem:  # also SystemExit, which would end this thread without a word
                self.problem = f"the iterator raised {UnexpectedError.of(problem).message}"
                self.ended = isinstance(self._iterator, GeneratorType)
            self._stopped.set()


def _pieces(item: object) -> list[Piece]:
    """The rows of the values that an iterator gave; a value that cannot be read counts as one rejected row."""
    try:
        match item:
            case Mapping():
                return [[(item, within_depth(item))]]
            case list():
                return [[(row, within_depth(row) if isinstance(row, Mapping) else _no_row(row)) for row in item]]
            case pa.RecordBatch():
                return [_with_types_of_streams(item)]
            case pa.Table():
                return [piece for batch in item.to_batches() for piece in _pieces(batch)]
            case pd.DataFrame():
                if reason := too_deep(item):
                    return [[(item, reason)]]
                return _pieces(pa.Table.from_pandas(item, preserve_index=False))
        return [[(item, _no_row(item))]]
    except Exception as problem:  # of an object of the analyst's, or of values that are of no single type
        return [[(item, f"it cannot be read: {UnexpectedError.of(problem).message}")]]


def _with_types_of_streams(rows: pa.RecordBatch) -> Piece:
    """Rows whose numbers, times and texts have one width; as others where a text is no UTF-8 or a time has no year."""
    if len({*rows.schema.names}) < rows.num_columns:
        return [(rows, "two columns of the table have one name")]
    try:
        rows.validate(full=True)
        return pa.RecordBatch.from_arrays([*map(_widened, rows.columns)], rows.schema.names)
    except pa.ArrowInvalid:
        return [(row, row) for row in rows.to_pylist()]


def _widened(values: pa.Array) -> pa.Array:
    try:
        type_ = to_data_type(values.type)
    except StreamError:  # it is said where the columns are checked
        return values
    if type_.is_text_when_stored or type_.kind is Kind.DECIMAL or pa.types.is_null(values.type):
        return values
    fitting, misfit = convert(values, type_)
    if misfit is not None:
        raise pa.ArrowInvalid("a value does not fit")
    return fitting


def _no_row(item: object) -> str:
    return f"the iterator gives {with_article(type(item).__name__)}, and no dict or table"
