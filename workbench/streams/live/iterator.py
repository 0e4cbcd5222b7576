"""A Python iterator or generator as a live source: of dicts, or of tables with many rows each.

An iterator cannot be asked twice. Its offset is the number of rows that it gave. One that is attached again after a
crash, and begins from its beginning, is read past the rows that are in the log already. One that waits, for a message
say, holds no other up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import reduce
from itertools import accumulate, chain, groupby

import numpy as np
import pyarrow as pa

from workbench.errors import StreamError, UnexpectedError, with_article
from workbench.streams.drift import Differences, folded, joined
from workbench.streams.drifting_types import common_field, fitted
from workbench.streams.files.json_records import rows_of
from workbench.streams.files.json_schema import first_columns, widest_field
from workbench.streams.files.json_values import JsonRecord
from workbench.streams.live.puller import Piece, Puller
from workbench.streams.live.reader import Fetched, Offsets, TypedReader
from workbench.streams.source import Chunk

_WHOLE = ""
LOOKED_AT = 1_000
"""Rows that may say of what types the columns are, of which the first one that has any says what columns there are."""


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
            schema = self._first_schema()
        super().__init__(schema, with_article(type(iterator).__name__))
        self.gives_records = not any(map(_is_arrow, self._puller.pieces))

    def fetch(self, offsets: Offsets, most: int) -> Fetched:
        """The rows that it gives without a break; where it waits for something, it is asked on in the background."""
        start = int(offsets.get(_WHOLE, "0"))
        if start < self._given:
            message = f"the iterator has given {self._given} rows, and the log has {start}"
            raise StreamError(message, hint="attach an iterator that begins at its beginning")
        with suppress(StreamError):  # what it says is the last of what it gives
            self._puller.want(start - self._given + most)
        self._given += sum(map(len, self._puller.take(start - self._given)))
        chunks = list[Chunk]()
        for is_arrow, pieces in groupby(self._puller.take(most) if self._given == start else [], _is_arrow):
            for piece in pieces if is_arrow else [[*chain.from_iterable(pieces)]]:
                chunks.append(_rows(piece, self._given + 1, self._schema))
                self._given += len(piece)
        offset = {_WHOLE: str(self._given)} if self._given > start else {}
        ended = self._puller.ended and not self._puller.waiting
        problem = "" if self._puller.waiting else self._puller.problem
        rows = joined([chunk.rows for chunk in chunks], self._schema)
        before = [0, *accumulate(len(chunk.rows) for chunk in chunks)]
        quarantined = tuple(
            replace(entry, number=first + entry.number)
            for first, chunk in zip(before, chunks, strict=False)
            for entry in chunk.quarantined
        )
        found = reduce(Differences.and_then, (chunk.found for chunk in chunks), Differences())
        return Fetched(rows, offset, quarantined, ended, problem=problem, found=found)

    def close(self) -> None:
        """End a generator."""
        self._puller.close()

    def _first_schema(self) -> pa.Schema:
        """The columns and types of the first rows with columns, and of the rows that arrive together with them.

        What only later rows have is a member that is new (``drift``).
        """
        message, hint = (
            "the iterator gives no row, and so says nothing of its columns",
            "add it when it has a first row",
        )
        for wanted in range(1, LOOKED_AT + 1):
            self._puller.want(wanted, patience=None)
            if self._records:
                self._puller.look(LOOKED_AT)
                return first_columns(self._records)
            if self._tables:
                self._puller.look(LOOKED_AT)
                return _of_tables(self._tables)
            given = [one for piece in self._puller.pieces for one in piece]
            if len(given) < wanted:
                break
            message, hint = str(given[0][1]), "it must give dicts, or tables"
        raise StreamError(message, hint=hint)

    @property
    def _records(self) -> list[JsonRecord]:
        given = (one for piece in self._puller.pieces if isinstance(piece, list) for one in piece)
        return [record for _, record in given if not isinstance(record, str)]

    @property
    def _tables(self) -> list[pa.RecordBatch]:
        return [piece for piece in self._puller.pieces if not isinstance(piece, list)]


def _is_arrow(piece: Piece) -> bool:
    return not isinstance(piece, list)


def _rows(piece: Piece, first: int, schema: pa.Schema) -> Chunk:
    """Rows with the types of a schema, and those that do not fit; the number of the first is ``first``."""
    if isinstance(piece, list):
        return rows_of([(number, source, record) for number, (source, record) in enumerate(piece, first)], schema)
    lines = np.arange(first, first + len(piece))
    try:
        some, found = folded(piece, schema)
        rows, misfits = fitted(some, lines, schema)
    except Exception as problem:  # Python has not all that Arrow has
        why = f"it cannot be read: {UnexpectedError.of(problem).message}"
        return rows_of([(number, "", why) for number in lines.tolist()], schema)
    good = ~np.isin(lines, [entry.line for entry in misfits])
    return Chunk(rows, lines[good], tuple(misfits), replace(found, tabular=True))


def _of_tables(tables: Sequence[pa.RecordBatch]) -> pa.Schema:
    """The columns of the first of some tables, of types that have the values of all of them, if there are such."""
    names = tables[0].schema.names
    fields = (common_field([t.schema.field(name) for t in tables if name in t.schema.names]) for name in names)
    return _of_envelopes(pa.schema([*map(widest_field, fields)]))


def _of_envelopes(schema: pa.Schema) -> pa.Schema:
    """The columns; an envelope's rows before and after a change have one type, also where none has a row before."""
    places = [schema.get_field_index(name) for name in ("before", "after")]
    if min(places) >= 0 and (rows := [schema.field(at) for at in places if pa.types.is_struct(schema.field(at).type)]):
        for at in places:
            schema = schema.set(at, schema.field(at).with_type(rows[-1].type))
    return schema
