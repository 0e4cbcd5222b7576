"""A Python iterator or generator as a live source: of dicts, or of tables with many rows each.

An iterator cannot be asked twice. Its offset is the number of rows that it gave. One that is attached again after a
crash, and begins from its beginning, is read past the rows that are in the log already. One that waits, for a message
say, holds nobody up.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import pyarrow as pa

from workbench.errors import StreamError, with_article
from workbench.streams.files.json_lines import rows_of, schema_of
from workbench.streams.live.puller import Puller, Record
from workbench.streams.live.reader import Fetched, Offsets, TypedReader

_WHOLE = ""


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
            self._puller.want(1, patience=None)
            if not self._puller.rows:
                message = "the iterator gives no row, and so says nothing of its columns"
                raise StreamError(message, hint="add the stream when it has a first row")
            schema = schema_of([*self._puller.rows])
        super().__init__(schema, with_article(type(iterator).__name__))

    def fetch(self, offsets: Offsets, most: int) -> Fetched:
        """The rows that it gives without a break; where it waits for something, it is asked on in the background."""
        start, rows = int(offsets.get(_WHOLE, "0")), self._puller.rows
        if start < self._given:
            message = f"the iterator has given {self._given} rows, and the log has {start}"
            raise StreamError(message, hint="attach an iterator that begins at its beginning")
        self._puller.want(start - self._given + most)
        self._given += len(_take(rows, start - self._given))
        taken = _take(rows, most) if self._given == start else []
        numbered = [(place, record, record) for place, record in enumerate(taken, start + 1)]
        batch, _, quarantined = rows_of(numbered, self._schema)
        self._given += len(taken)
        offset = {_WHOLE: str(self._given)} if taken else {}
        return Fetched(batch, offset, tuple(quarantined), self._puller.ended and not rows)

    def close(self) -> None:
        """End a generator."""
        self._puller.close()


def _take(rows: deque[Record], most: int) -> list[Record]:
    return [rows.popleft() for _ in range(min(most, len(rows)))]
