"""A CSV file as chunks of text columns, with line numbers, and the types its first chunk suggests.

Columns are read as text: a value that is no number is then a matter of one row and never stops the reading.
An empty field is NULL, a quoted empty one is the empty string.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pc_csv
from numpy.typing import NDArray

from workbench.errors import StreamError
from workbench.streams.guess import guess_type
from workbench.streams.log import SetAside
from workbench.streams.opened import Chunk, OpenedSource
from workbench.streams.whole_lines import WholeLines

_BLOCK_BYTES = 1 << 22
# A line break in a value and the blank lines after it: blank lines are counted elsewhere.
_LINE_BREAKS = r"\n(?:\r?\n)*"


def open_csv(path: Path, stack: ExitStack) -> OpenedSource:
    """Opens a ``.csv`` or ``.csv.gz`` file with a header line, comma separated, in UTF-8.

    Raises:
        StreamError: no header line, or two columns of one name.
    """
    with WholeLines(path) as lines:
        names = _header(path, lines)
    for name in names:
        if names.count(name) > 1:
            raise StreamError(f"two columns of {path} are called {name}", hint="rename one in the file's first line")
    chunks = _CsvReader(path, names, stack.enter_context(WholeLines(path))).chunks()
    first = next(chunks, None)
    schema = pa.schema([(name, pa.string()) for name in names])
    if first is None:
        return OpenedSource(schema, iter(()))
    guessed = {name: guess_type(first.rows.column(name)) for name in names}
    return OpenedSource(schema, chain([first], chunks), guessed)


def _header(path: Path, lines: WholeLines) -> list[str]:
    try:
        parsing = pc_csv.ParseOptions(newlines_in_values=True, invalid_row_handler=lambda row: "skip")
        names = list(pc_csv.open_csv(lines, parse_options=parsing).schema.names)
        if lines.not_text and lines.not_text[0][0] == 1:
            raise pa.ArrowInvalid("its first line is not UTF-8")
        return names
    except (pa.ArrowException, OSError) as error:
        raise StreamError(
            f"{path} cannot be read as CSV: {lines.cut or error}",
            hint="its first line must name the columns, separated by commas, in UTF-8",
        ) from error


class _CsvReader:
    """Reads chunks and works out the line each row began on, from the rows' order and the line breaks in values."""

    def __init__(self, path: Path, names: list[str], lines: WholeLines) -> None:
        self._path = path
        self._lines = lines
        self._next_record = 2  # the header is record 1, on line 1
        self._next_line = 2
        self._last_height = 1
        self._malformed: list[Any] = []  # in order; Arrow reads ahead, so some lie beyond the current chunk
        self._reader = pc_csv.open_csv(
            lines,
            read_options=pc_csv.ReadOptions(block_size=_BLOCK_BYTES, use_threads=False),
            parse_options=pc_csv.ParseOptions(newlines_in_values=True, invalid_row_handler=self._malformed_row),
            convert_options=pc_csv.ConvertOptions(
                column_types={name: pa.string() for name in names},
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )

    def chunks(self) -> Iterator[Chunk]:
        """All chunks; the last one has no rows when something at the end was set aside."""
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
                yield self._chunk(batch)
        ending = tuple(self._ending(stopped))
        if ending:
            yield Chunk(_no_rows(self._reader.schema), np.array([], dtype=np.int64), ending)

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
        set_aside = [_wrong_fields(row, int(lines[row.number - self._next_record])) for row in malformed]
        set_aside += self._not_text(before=int(lines[-1]))
        place = good - self._next_record
        self._next_record, self._next_line = int(good[-1]) + 1, int(starts[-1] + heights[-1])
        self._last_height = int(heights[-1])
        return Chunk(batch, lines[place], tuple(set_aside))

    def _ending(self, stopped: str | None) -> Iterator[SetAside]:
        if self._lines.quotes % 2 and self._last_height > 1:
            line = int(self._lines.physical(np.array([self._next_line - self._last_height]))[0])
            yield SetAside(line, "", "a quote is not closed: the rest of the file is one value of this row")
        for row in self._malformed:
            yield _wrong_fields(row, self._line())
            self._next_line += 1 + row.text.count("\n")
        yield from self._not_text()
        if stopped is not None:
            yield SetAside(self._line(), "", stopped)
        elif self._lines.cut is not None:
            text = self._lines.rest.decode(errors="replace")
            yield SetAside(self._line(), text, f"the file is cut short or damaged here: {self._lines.cut}")

    def _not_text(self, before: int | None = None) -> Iterator[SetAside]:
        """Takes the lines left out so far, or those before a line of the file."""
        waiting = self._lines.not_text
        while waiting and (before is None or waiting[0][0] < before):
            line, text = waiting.pop(0)
            yield SetAside(line, text.decode(errors="replace").rstrip("\r\n"), "not UTF-8 text")

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


def _wrong_fields(row: Any, line: int) -> SetAside:
    return SetAside(line, row.text, f"{row.actual_columns} fields instead of {row.expected_columns}")


def _no_rows(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)
