"""A folder, or the files that match a pattern, as a live source: every file that appears brings its rows.

A file must be whole when it has its name, so it is written under another one and renamed. Files are read in the
order of their times, and then of their names. The offset of a file is the number of its rows that were read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pyarrow as pa

from workbench.errors import StreamError
from workbench.sql.algebra.types import DataType
from workbench.streams.files.json_lines import ENDINGS, open_json_lines
from workbench.streams.live.reader import Fetched, Offsets, widened
from workbench.streams.readers import open_source
from workbench.streams.source import Chunk, OpenedSource, QuarantinedRow

_READ = "all"
"""The offset of a file that has been read whole."""
_FILES = ("*.parquet", "*.csv", "*.csv.gz", "*.jsonl", "*.ndjson")


class FolderReader:
    """Reads the files of a folder.

    Args:
        pattern: a folder, or a pattern of paths, such as ``"in/*.csv"``.
        schema: the columns, where the stream has been added before; ``None``: those of the first file.

    Raises:
        StreamError: there is no file yet, which would say what columns there are.
    """

    def __init__(self, pattern: str, schema: pa.Schema | None = None) -> None:
        self._pattern = pattern
        self.inferred: Mapping[str, DataType] = {}
        if schema is None:
            files = self._files()
            if not files:
                hint = "add the stream when there is a first file, which says what columns there are"
                raise StreamError(f"no file matches {pattern}", hint=hint)
            with _opened(files[0]) as first:
                schema, self.inferred = first.schema, first.inferred
        self._schema = schema

    @property
    def schema(self) -> pa.Schema:
        """Its columns."""
        return self._schema

    @property
    def description(self) -> str:
        """What it reads."""
        return self._pattern

    def widen(self, types: Iterable[tuple[str, DataType]]) -> None:
        """Read fractions, too, where the stream has them."""
        self._schema = widened(self._schema, types)

    def fetch(self, offsets: Offsets, most: int) -> Fetched:
        """Rows of files that have not been read whole."""
        rows, quarantined, after = list[pa.RecordBatch](), list[QuarantinedRow](), dict[str, str]()
        count = 0
        for file in self._files():
            known = offsets.get(file.name, "0")
            if known == _READ or count >= most:
                continue
            read = int(known)
            with _opened(file, self._schema) as opened:
                self._check(file, opened.schema)
                ended = True
                for chunk in _from(opened.chunks, read):
                    if count >= most:
                        ended = False
                        break
                    taken = chunk.rows.slice(0, most - count)
                    rows.append(taken.select(self._schema.names).cast(self._schema))
                    quarantined += chunk.quarantined
                    count, read = count + taken.num_rows, read + taken.num_rows
                    ended = taken.num_rows == chunk.rows.num_rows
            after[file.name] = _READ if ended else str(read)
        nothing = pa.RecordBatch.from_pylist([], schema=self._schema)
        return Fetched(pa.concat_batches([nothing, *rows]), after, tuple(quarantined))

    def close(self) -> None:
        """Nothing is open between two fetches."""

    def _files(self) -> list[Path]:
        path = Path(self._pattern)
        patterns = [path / ending for ending in _FILES] if path.is_dir() else [path]
        found = {file for one in patterns for file in one.parent.glob(one.name) if file.is_file()}
        visible = [file for file in found if not file.name.startswith((".", "_"))]
        return sorted(visible, key=lambda file: (file.stat().st_mtime_ns, file.name))

    def _check(self, file: Path, schema: pa.Schema) -> None:
        if set(schema.names) != set(self._schema.names):
            differing = ", ".join(sorted(set(schema.names) ^ set(self._schema.names)))
            message = f"{file} has other columns than the files before: {differing}"
            raise StreamError(message, hint="move it away, or add it as a stream of its own; the others go on then")
        for field in self._schema:
            found = schema.field(field.name).type
            if found != field.type and not (pa.types.is_integer(found) and pa.types.is_floating(field.type)):
                message = f"{file}: column {field.name} is {found}, and was {field.type} before"
                raise StreamError(message, hint="write it again with the same type; the others go on then")


def _from(chunks: Iterator[Chunk], start: int) -> Iterator[Chunk]:
    """The chunks without the first rows."""
    for chunk in chunks:
        skipped = min(start, chunk.rows.num_rows)
        start -= skipped
        left = chunk.quarantined if not skipped else ()
        if skipped < chunk.rows.num_rows or left:
            yield Chunk(chunk.rows.slice(skipped), chunk.lines[skipped:] if skipped else np.asarray(chunk.lines), left)


class _opened:
    """An open file, which is closed at the end of the context.

    Lines of JSON say no types, so those of the stream hold: a file whose lines have only NULL in a column, or leave it
    out, or are no JSON, stops nothing.
    """

    def __init__(self, file: Path, schema: pa.Schema | None = None) -> None:
        self._file, self._schema, self._stack = file, schema, ExitStack()

    def __enter__(self) -> OpenedSource:
        if self._schema is not None and self._file.name.lower().endswith(ENDINGS):
            return open_json_lines(self._file, self._stack, self._schema)
        return open_source(self._file, self._file.parent, self._stack)

    def __exit__(self, *problem: object) -> None:
        self._stack.close()
