"""A Python iterator or generator as a live source: of dicts, or of tables with many rows each.

An iterator cannot be asked twice. Its offset is the number of rows that it gave. One that is attached again after a
crash, and begins from its beginning, is read past the rows that are in the log already. One that waits, for a message
say, holds no other up.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import pyarrow as pa

from workbench.errors import StreamError, with_article
from workbench.streams.files.json_lines import JsonRecord, rows_of, schema_of
from workbench.streams.live.puller import Given, Puller
from workbench.streams.live.reader import Fetched, Offsets, TypedReader

_WHOLE = ""
_SAMPLE = 1_000
"""First rows of which one must say what columns there are."""


class IteratorReader(TypedReader):
    """Reads an iterator.

    Args:
        iterator: of dicts, or of Arrow tables or record batches, pandas DataFrames, or lists of dicts.
        schema: the columns, where the stream has been added before; ``None``: those of the first item.

    Raises:
        StreamError: it gives nothing, and so says nothing of its columns, or it gives what is no rows.
    """

    def __init__(self, iterator: Iterator[object], schema: pa.Schema | None = None) -> None:
        self._puller = Puller(iterator)
        self._given = 0
        if schema is None:
            schema = schema_of(self._first())
        super().__init__(schema, with_article(type(iterator).__name__))

    def fetch(self, offsets: Offsets, most: int) -> Fetched:
        """The rows that it gives without a break; where it waits for something, it is asked on in the background."""
        start, rows = int(offsets.get(_WHOLE, "0")), self._puller.rows
        if start < self._given:
            message = f"the iterator has given {self._given} rows, and the log has {start}"
            raise StreamError(message, hint="attach an iterator that begins at its beginning")
        problem = ""
        try:
            self._puller.want(start - self._given + most)
        except StreamError as error:
            problem = error.message
        self._given += len(_take(rows, start - self._given))
        taken = _take(rows, most) if self._given == start else []
        numbered = [(place, source, record) for place, (source, record) in enumerate(taken, start + 1)]
        batch, _, quarantined = rows_of(numbered, self._schema)
        self._given += len(taken)
        offset = {_WHOLE: str(self._given)} if taken else {}
        return Fetched(batch, offset, tuple(quarantined), self._puller.ended and not rows, problem=problem)

    def close(self) -> None:
        """End a generator."""
        self._puller.close()

    def _first(self) -> list[JsonRecord]:
        """The first of its rows that say what columns there are."""
        message, hint = (
            "the iterator gives no row, and so says nothing of its columns",
            "add it when it has a first row",
        )
        for wanted in range(1, _SAMPLE):
            self._puller.want(wanted, patience=None)
            given = [*self._puller.rows]
            if found := [record for _, record in given if not isinstance(record, str)]:
                return found
            if len(given) < wanted:
                break
            message, hint = str(given[0][1]), "it must give dicts, or tables"
        raise StreamError(message, hint=hint)


def _take(rows: deque[Given], most: int) -> list[Given]:
    return [rows.popleft() for _ in range(min(most, len(rows)))]
