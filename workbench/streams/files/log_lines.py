"""Files of raw lines, as programs write their logs: one column ``line`` of texts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa

from workbench.streams.files.encodings import UTF_8, encoding_of, lines_of
from workbench.streams.files.opening import SourceFile
from workbench.streams.files.urls import UrlFile
from workbench.streams.log import CHUNK_ROWS
from workbench.streams.source import Chunk, OpenedSource, QuarantinedRow

_LONGEST = 1 << 24
"""Bytes of a line; a longer one is quarantined, and not all of it is ever in memory."""
_SCHEMA = pa.schema([("line", pa.string())])


def open_log_lines(path: Path | UrlFile, stack: ExitStack, growing: bool = False) -> OpenedSource:
    """Opens a file of raw lines; an empty line is a row, too.

    Args:
        path: of the file.
        stack: closes it.
        growing: whether its last line, without an end, is still being written.
    """
    file = stack.enter_context(SourceFile(path))
    encoding = encoding_of(file.peek(1))
    notes = () if encoding == UTF_8 else (f"it is no UTF-8, and is read as {encoding}",)
    return OpenedSource(_SCHEMA, _chunks(file, encoding, growing), notes=notes, share=lambda: file.share)


def _chunks(file: SourceFile, encoding: str, growing: bool) -> Iterator[Chunk]:
    lines = enumerate(lines_of(file, encoding, _LONGEST), 1)
    while some := [*islice(lines, CHUNK_ROWS)]:
        texts, numbers, quarantined = list[str](), list[int](), list[QuarantinedRow]()
        for number, line in some:
            if growing and not line.endswith(b"\n"):
                continue
            try:
                if len(line) >= _LONGEST:
                    raise ValueError(f"its line has more than {_LONGEST:,} bytes")
                texts.append(line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8-sig" if number == 1 else UTF_8))
                numbers.append(number)
            except ValueError as error:
                is_text = isinstance(error, UnicodeDecodeError)
                reason = f"not {encoding.upper()} text" if is_text else str(error)
                quarantined.append(QuarantinedRow(number, line[:1_000].decode(errors="replace").strip(), reason))
        rows = pa.RecordBatch.from_arrays([pa.array(texts, pa.string())], schema=_SCHEMA)
        yield Chunk(rows, np.array(numbers, dtype=np.int64), tuple(quarantined))
