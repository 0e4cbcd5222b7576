"""A CSV file as chunks of text columns, with line numbers, and the types its first chunk suggests.

Columns are read as text: a value that is no number is then a matter of one row and never stops the reading.
An empty field is NULL, a quoted empty one is the empty string.
"""

from __future__ import annotations

import codecs
import json
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pc_csv
from numpy.typing import NDArray

from workbench.sql.algebra.column_names import stored_name
from workbench.streams.files.csv_layout import CsvLayout, CsvOptions, layout_of
from workbench.streams.files.encodings import UTF_8
from workbench.streams.files.opening import SourceFile
from workbench.streams.files.urls import UrlFile
from workbench.streams.guessing import guess_columns
from workbench.streams.source import Chunk, OpenedSource, QuarantinedRow

_CHUNK = 1 << 20
_BLANK_LINE = re.compile(rb"^\r?\n", re.MULTILINE)
_BLOCK_BYTES = 1 << 22
# A line break in a value and the blank lines after it: blank lines are counted elsewhere.
_LINE_BREAKS = r"\n(?:\r?\n)*"


def open_csv(path: Path | UrlFile, stack: ExitStack, options: CsvOptions) -> OpenedSource:
    """Opens a CSV file, which may be compressed.

    How it is written is found out (``csv_layout``) where the options do not say it.

    Raises:
        StreamError: no line names the columns.
    """
    layout = layout_of(path, options)
    lines = stack.enter_context(WholeLines(path, layout, options.growing, options.passed))
    chunks = _CsvReader(layout, lines).chunks()
    first = next(chunks, None)
    schema = pa.schema([(name, pa.string()) for name in layout.names], metadata=stored_options(options))
    if first is None:
        return OpenedSource(schema, iter(()), notes=layout.notes, goes_on=lines.passed > 0)
    named = zip(layout.names, first.rows.columns, strict=True)
    columns = {name: values for name, values in named if stored_name(name) not in options.typed}
    guesses = guess_columns(columns, layout.separator, options.decimal)
    rows = chain([first], chunks)
    return OpenedSource(schema, rows, guesses, layout.notes, lambda: lines.share, lines.passed > 0)


_OPTIONS = b"csv"


def stored_options(options: CsvOptions) -> dict[bytes, bytes] | None:
    """The declared options as metadata of a schema."""
    return {_OPTIONS: json.dumps(options.declared).encode()} if options.declared else None


def options_of(schema: pa.Schema) -> CsvOptions:
    """The options that were declared when a file with these columns was opened."""
    return CsvOptions(**json.loads((schema.metadata or {}).get(_OPTIONS, b"{}")))


def _parsing(separator: str, malformed: Callable[[Any], str]) -> pc_csv.ParseOptions:
    """Options of the parser; ``malformed`` is called for rows with too few or too many values."""
    return pc_csv.ParseOptions(delimiter=separator, newlines_in_values=True, invalid_row_handler=malformed)


class _CsvReader:
    """Reads chunks and works out the line each row began on, from the rows' order and the line breaks in values."""

    def __init__(self, layout: CsvLayout, lines: WholeLines) -> None:
        self._lines = lines
        self._next_record = 2  # the numbers of the columns, which WholeLines puts there, are record 1
        self._next_line = 1
        self._schema = pa.schema([(name, pa.string()) for name in layout.names])
        self._last_height = 1
        self._malformed: list[Any] = []  # in order; Arrow reads ahead, so some lie beyond the current chunk
        self._reader = pc_csv.open_csv(
            lines,
            read_options=pc_csv.ReadOptions(block_size=_BLOCK_BYTES, use_threads=False),
            parse_options=_parsing(layout.separator, self._malformed_row),
            convert_options=pc_csv.ConvertOptions(
                column_types={str(number): pa.string() for number in range(len(layout.names))},
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )

    def chunks(self) -> Iterator[Chunk]:
        """All chunks; the last one has no rows when something at the end is quarantined."""
        stopped = None
        while True:
            try:
                batch = self._reader.read_next_batch()
            except StopIteration:
                break
            except (pa.ArrowException, OSError) as error:
                stopped = f"the file cannot be read from about here on, perhaps as a quote is not closed: {error}"
                break
            if batch.num_rows:
                yield self._chunk(pa.RecordBatch.from_arrays(batch.columns, schema=self._schema))
        ending = tuple(self._ending(stopped))
        if ending:
            yield Chunk(_no_rows(self._schema), np.array([], dtype=np.int64), ending)

    def _malformed_row(self, row: Any) -> str:
        self._malformed.append(row)
        return "skip"

    def _chunk(self, batch: pa.RecordBatch) -> Chunk:
        numbers = np.array([row.number for row in self._malformed], dtype=np.int64)
        good = np.arange(self._next_record, self._next_record + batch.num_rows)
        good += np.searchsorted(numbers - np.arange(len(numbers)), good, side="right")
        among = int(np.searchsorted(numbers, good[-1]))
        malformed, self._malformed = self._malformed[:among], self._malformed[among:]

        heights = np.ones(good[-1] + 1 - self._next_record, dtype=np.int64)
        heights[good - self._next_record] += _breaks(batch)
        for row in malformed:
            heights[row.number - self._next_record] += row.text.count("\n")
        starts = self._next_line + np.cumsum(heights) - heights
        lines = self._lines.physical(starts)
        quarantined = [_wrong_fields(row, int(lines[row.number - self._next_record])) for row in malformed]
        quarantined += self._not_text(before=int(lines[-1]))
        place = good - self._next_record
        self._next_record, self._next_line = int(good[-1]) + 1, int(starts[-1] + heights[-1])
        self._last_height = int(heights[-1])
        return Chunk(batch, lines[place], tuple(quarantined))

    def _ending(self, stopped: str | None) -> Iterator[QuarantinedRow]:
        if self._lines.quotes % 2 and self._last_height > 1:
            line = int(self._lines.physical(np.array([self._next_line - self._last_height]))[0])
            yield QuarantinedRow(line, "", "a quote is not closed: the rest of the file is one value of this row")
        for row in self._malformed:
            yield _wrong_fields(row, self._line())
            self._next_line += 1 + row.text.count("\n")
        yield from self._not_text()
        if stopped is not None:
            yield QuarantinedRow(self._line(), "", stopped)
        elif self._lines.cut is not None:
            text = self._lines.rest.decode(errors="replace")
            yield QuarantinedRow(self._line(), text, f"the file is cut short or damaged here: {self._lines.cut}")

    def _not_text(self, before: int | None = None) -> Iterator[QuarantinedRow]:
        """Takes the lines left out so far, or those before a line of the file."""
        waiting = self._lines.not_text
        while waiting and (before is None or waiting[0][0] < before):
            line, text = waiting.pop(0)
            yield QuarantinedRow(
                line, text.decode(errors="replace").rstrip("\r\n"), f"not {self._lines.encoding.upper()} text"
            )

    def _line(self) -> int:
        return int(self._lines.physical(np.array([self._next_line]))[0])


def _breaks(batch: pa.RecordBatch) -> NDArray[np.int64]:
    """How many line breaks the values of each row hold."""
    total = np.zeros(batch.num_rows, dtype=np.int64)
    for column in batch.columns:
        if pc.any(pc.match_substring(column, "\n")).as_py():
            counts = pc.count_substring_regex(column, _LINE_BREAKS)
            total += pc.fill_null(counts, 0).to_numpy(zero_copy_only=False)
    return total


def _wrong_fields(row: Any, line: int) -> QuarantinedRow:
    return QuarantinedRow(line, row.text, f"{row.actual_columns} fields instead of {row.expected_columns}")


def _no_rows(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)


class WholeLines:
    """A readable file that ends after the last whole line when its gzip data are truncated or damaged.

    A cut line could look like a good one with a shorter number in it, so it is held back; ``cut`` then says why the
    file ended and ``rest`` holds that line. Lines that are not UTF-8 would stop Arrow; they are left out and kept, with
    their numbers, in ``not_text``. Blank lines Arrow skips without a word. Both are counted, for `physical`.

    It begins with a line of the columns' numbers, instead of the lines before the file's first row, or of those that
    were read before: ``passed`` says how many lines these were, where a row begins after them.
    """

    def __init__(self, path: Path | UrlFile, layout: CsvLayout, growing: bool = False, passed: int = 0) -> None:
        self.cut: str | None = None
        self.rest = b""
        self.not_text: list[tuple[int, bytes]] = []
        self.quotes = 0
        self.closed = False
        self.encoding, self._newline = layout.encoding, layout.newline.encode()
        self._file = SourceFile(path)
        # A line cannot be cut from bytes where the end of one has several.
        by_parts = "\n".encode(layout.encoding) != b"\n"
        self._decoder = codecs.getincrementaldecoder(layout.encoding)() if by_parts else None
        header = layout.separator.join(map(str, range(len(layout.names)))) + "\n"
        self._ready = memoryview(header.encode())
        self._ended, self._growing = False, growing
        of_lines = isinstance(path, Path) and not (by_parts or self._file.compressed or self._newline != b"\n")
        self.passed = self._pass_over(passed) if passed and of_lines else 0
        self._before = 0 if self.passed else layout.before
        self._lines = self.passed
        self._skipped: list[int] = []

    def __enter__(self) -> WholeLines:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def read(self, size: int) -> bytes:
        """``size`` bytes; fewer at the end, and none after it."""
        parts = list[memoryview]()
        while size and (self._ready or not self._ended):
            if not self._ready:  # gzip gives some kilobytes at a time, of which Arrow would make a chunk each
                self._ready = memoryview(self._next_lines())
            parts.append(self._ready[:size])
            self._ready = self._ready[size:]
            size -= len(parts[-1])
        return b"".join(parts)

    @property
    def share(self) -> float:
        """The share of the file that is read, from 0 to 1."""
        return self._file.share

    def close(self) -> None:
        """Closes the file."""
        self.closed = True
        self._file.close()

    def physical(self, lines: NDArray[np.int64]) -> NDArray[np.int64]:
        """Line numbers in the file, from ones that count neither blank lines nor those that were left out."""
        skipped, lines = np.array(self._skipped, dtype=np.int64), lines + self.passed
        return lines + np.searchsorted(skipped - np.arange(len(skipped)), lines, side="right")

    def _pass_over(self, size: int) -> int:
        """Goes on behind some bytes; how many lines they have, 0 where a value may go on behind them."""
        lines = quotes = 0
        while size and (data := self._file.read1(min(size, _CHUNK))):
            size, lines, quotes = size - len(data), lines + data.count(b"\n"), quotes + data.count(b'"')
        if size or quotes % 2:
            self._file.seek(0)
            return 0
        return lines

    def _next_lines(self) -> bytes:
        try:
            data = self._file.read1(_CHUNK)
            if self._decoder is not None:
                data = self._utf_8(data)
            if self._newline == b"\r":
                data = data.replace(b"\r", b"\n")
        except (EOFError, OSError, zlib.error, UnicodeError) as error:
            self.cut = str(error)
            data = b""
        if not data:
            self._ended = True
            if self.cut is not None or self._growing or not self.rest:
                return b""
            data = b"\n"
        data = self.rest + data
        end = data.rfind(b"\n") + 1
        self.rest = data[end:]
        return self._readable(data[:end])

    def _utf_8(self, data: bytes) -> bytes:
        """Some of a file in UTF-16 or the like, in UTF-8; as much as gives something, unless it has ended."""
        assert self._decoder is not None
        while data:
            if text := self._decoder.decode(data):
                return text.encode()
            data = self._file.read1(_CHUNK)
        return self._decoder.decode(b"", final=True).encode()

    def _readable(self, lines: bytes) -> bytes:
        """The lines in UTF-8, without those that are no text; only a chunk with such is looked at line by line."""
        if not self._lines:
            lines = lines.removeprefix(codecs.BOM_UTF8)
        while self._before and lines:
            self._before -= 1
            self._lines += 1
            self._skipped.append(self._lines)
            lines = lines[lines.index(b"\n") + 1 :]
        try:
            lines = self._text(lines)
        except UnicodeDecodeError:
            return b"".join(self._line(line + b"\n") for line in lines.split(b"\n")[:-1])
        self._count(lines)
        return lines

    def _text(self, lines: bytes) -> bytes:
        if self.encoding == UTF_8 or self._decoder is not None:
            lines.decode()
            return lines
        return lines if lines.isascii() else lines.decode(self.encoding).encode()

    def _line(self, line: bytes) -> bytes:
        try:
            line = self._text(line)
        except UnicodeDecodeError:
            self._lines += 1
            self._skipped.append(self._lines)
            self.not_text.append((self._lines, line))
            return b""
        self._count(line)
        return line

    def _count(self, lines: bytes) -> None:
        if b"\n\n" in lines or b"\n\r\n" in lines or lines.startswith((b"\n", b"\r\n")):
            before = position = 0
            for match in _BLANK_LINE.finditer(lines):
                before += lines.count(b"\n", position, match.start())
                position = match.start()
                self._skipped.append(self._lines + before + 1)
        self._lines += lines.count(b"\n")
        self.quotes += lines.count(b'"')
