"""A Python iterator or generator as a live source: of dicts, or of tables with many rows each.

An iterator cannot be asked twice. Its offset is the number of rows that it gave. One that is attached again after a
crash, and begins from its beginning, is read past the rows that are in the log already.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd
import pyarrow as pa

from workbench.errors import StreamError
from workbench.streams.json_lines import rows_of, schema_of
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
        self._iterator = iterator
        self._waiting: list[Mapping[str, object]] = []
        self._given = 0
        self._ended = False
        if schema is None:
            self._pull(1)
            if not self._waiting:
                message = "the iterator gives no row, and so says nothing of its columns"
                raise StreamError(message, hint="add the stream when it has a first row")
            schema = schema_of(self._waiting)
        super().__init__(schema, f"a {type(iterator).__name__}")

    def fetch(self, offsets: Offsets, most: int) -> Fetched:
        """The next rows; as an iterator is asked for them, it may take as long as it likes."""
        start = int(offsets.get(_WHOLE, "0"))
        if start < self._given:
            message = f"the iterator has given {self._given} rows, and the log has {start}"
            raise StreamError(message, hint="attach an iterator that begins at its beginning")
        while not self._ended and self._given + len(self._waiting) < start + most:
            self._pull(start + most - self._given - len(self._waiting))
        skipped = min(start - self._given, len(self._waiting))
        taken = self._waiting[skipped : skipped + most]
        numbered = [(place, record, record) for place, record in enumerate(taken, start + 1)]
        rows, _, quarantined = rows_of(numbered, self._schema)
        self._given += skipped + len(taken)
        self._waiting = self._waiting[skipped + len(taken) :]
        offset = {_WHOLE: str(max(start, self._given))} if taken else {}
        return Fetched(rows, offset, tuple(quarantined), self._ended and not self._waiting)

    def close(self) -> None:
        """End a generator."""
        if hasattr(self._iterator, "close"):
            self._iterator.close()

    def _pull(self, rows: int) -> None:
        wanted = len(self._waiting) + rows
        while len(self._waiting) < wanted:
            try:
                self._waiting += _records(next(self._iterator))
            except StopIteration:
                self._ended = True
                return


def _records(item: object) -> list[Mapping[str, object]]:
    match item:
        case Mapping():
            return [item]
        case pa.Table() | pa.RecordBatch():
            rows: list[Mapping[str, object]] = item.to_pylist()
            return rows
        case pd.DataFrame():
            return _records(pa.Table.from_pandas(item, preserve_index=False))
        case list() if all(isinstance(row, Mapping) for row in item):
            return item
    raise StreamError(f"the iterator gives a {type(item).__name__}", hint="it must give dicts, or tables")
