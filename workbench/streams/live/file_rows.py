"""The rows of a file of a folder, from those on that were read before; a file that is half read stays open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa

from workbench.sql.algebra.column_names import stored_name
from workbench.streams.files.csv_layout import CsvOptions
from workbench.streams.files.formats import FileFormat
from workbench.streams.files.json_lines import open_json_lines
from workbench.streams.files.partitions import FolderValues, with_folder_columns
from workbench.streams.files.urls import UrlFile
from workbench.streams.readers import open_source
from workbench.streams.source import Chunk, OpenedSource


def open_file(
    file: Path | UrlFile,
    folders: FolderValues,
    options: CsvOptions,
    stack: ExitStack,
    schema: pa.Schema | None = None,
    passed: int = 0,
) -> OpenedSource:
    """Opens a file, with the columns of its folders.

    Lines of JSON say no types, so those of the stream hold: a file whose lines have only NULL in a column, or leave it
    out, or are no JSON, stops nothing.

    Args:
        file: to open.
        folders: their values in its path.
        options: how CSV files are written.
        stack: closes it.
        schema: the columns of the stream; ``None``: they are those of this file.
        passed: lines of JSON at its beginning that are not read.

    Raises:
        StreamError: it cannot be read.
    """
    known = [] if schema is None else [field for field in schema if field.name in folders]
    if schema is None:
        opened = open_source(file, Path(), stack, options)
    elif FileFormat.named(file.name) is FileFormat.JSON:
        of_file = [field for field in schema if field.name not in folders]
        opened = open_json_lines(file, stack, pa.schema(of_file, schema.metadata), passed=passed)
    else:
        typed = frozenset(map(stored_name, schema.names))
        opened = open_source(file, Path(), stack, replace(options, typed=typed))
    return with_folder_columns(opened, folders, known)


class FileRows:
    """The rows of a file that were not read before.

    A fetch takes some of them, and the next goes on where it ended without reading the file from its beginning.

    Args:
        file, folders, options, schema: see ``open_file``.
        rows: that were read before.
        quarantined: how many records were.
        whole: how many bytes have these alone, where these are lines; 0: it is not known.
        is_widened: whether some of these may be rows now, so that only how many there were of both is known.

    Raises:
        StreamError: it cannot be read.
    """

    def __init__(
        self,
        file: Path | UrlFile,
        folders: FolderValues,
        options: CsvOptions,
        schema: pa.Schema,
        rows: int,
        quarantined: int,
        is_widened: bool,
        whole: int = 0,
    ) -> None:
        self._stack = ExitStack()
        try:
            of_lines = FileFormat.named(file.name) is FileFormat.JSON  # each is a row, or is quarantined
            passed = rows + quarantined if of_lines else 0
            options = replace(options, passed=whole)
            self.source = open_file(file, folders, options, self._stack, schema, passed)
        except BaseException:
            self._stack.close()
            raise
        chunks = self.source.chunks
        self._chunks = chunks if of_lines or self.source.goes_on else _after(chunks, rows, quarantined, is_widened)

    def __iter__(self) -> Iterator[Chunk]:
        return self

    def __next__(self) -> Chunk:
        return next(self._chunks)

    def put_back(self, chunk: Chunk, rows: int = 0, quarantined: int = 0) -> None:
        """Give the rest of a chunk again, of which some rows were taken."""
        self._chunks = chain(_after([chunk], rows, quarantined, False), self._chunks)

    def close(self) -> None:
        """Closes the file."""
        self._stack.close()


def _after(chunks: Iterable[Chunk], rows: int, quarantined: int, is_widened: bool) -> Iterator[Chunk]:
    """The chunks without the first rows, and without the quarantined records among them."""
    for chunk in chunks:
        skipped, passed = min(rows, chunk.rows.num_rows), min(quarantined, len(chunk.quarantined))
        if is_widened:
            others = [entry.line for entry in chunk.quarantined]
            lines = np.sort(np.concatenate([chunk.lines, np.array(others, np.int64)]))[: rows + quarantined]
            skipped, passed = int(np.isin(chunk.lines, lines).sum()), int(np.isin(others, lines).sum())
            rows, quarantined = rows + quarantined - passed, passed
        rows, quarantined = rows - skipped, quarantined - passed
        there = chunk.rows.slice(skipped)
        left = tuple(replace(one, number=max(0, one.number - skipped)) for one in chunk.quarantined[passed:])
        if there.num_rows or left:
            yield replace(chunk, rows=there, lines=chunk.lines[skipped:], quarantined=left)
