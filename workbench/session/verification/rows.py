"""The stored rows of streams, from their logs, as tables of Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import functions as F

from workbench.arrow.frames import as_shown_table
from workbench.session.state import State
from workbench.session.verification.texts import Texts
from workbench.sql.algebra.column_names import display_name, quoted
from workbench.sql.algebra.expressions import columns
from workbench.sql.algebra.types import DataType
from workbench.sql.logical import Block, LogicalQuery, parts_of, streams_of
from workbench.streams.corrections.declared import WEIGHT
from workbench.streams.log import CHUNK_ROWS
from workbench.streams.stream import Stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def stored_rows(
    state: State,
    queries: Iterable[LogicalQuery],
    texts: Iterable[Texts],
    folder: Path,
    progress: Callable[[float], None],
) -> dict[str, StoredRows]:
    """Write the rows of the streams that some queries read, the columns that they or their texts name, into files.

    Args:
        state: the session.
        queries: read the streams.
        texts: of the queries.
        folder: for the files.
        progress: is told which part of the rows is written.
    """
    queries, texts = list(queries), list(texts)
    read = sorted(frozenset(state.streams).intersection(frozenset().union(*map(streams_of, queries))))
    words = frozenset().union(*map(_names_read, queries), *(text.words for text in texts))
    total, done, made = sum(state.streams[name].position for name in read) or 1, 0, dict[str, StoredRows]()
    for number, name in enumerate(read):
        stream = state.streams[name]
        all_named = any(text.stars for text in texts)
        named = [(n, t) for n, t in stream.stored_columns if all_named or display_name(n) in words]
        named = named or [stream.stored_columns[0]]
        file = folder / f"{number}.parquet"
        with pq.ParquetWriter(file, _shown(stream.log.read(0, 0), named, stream).schema) as writer:
            for table in _arrived(stream, state):
                writer.write_table(_shown(table, named, stream))
                done += table.num_rows
                progress(min(1.0, done / total))
        made[name] = StoredRows(file, not stream.append_only)
    return made


def _names_read(query: LogicalQuery) -> frozenset[str]:
    """The names of all columns of inputs that a query reads."""
    blocks = (part for part in parts_of(query) if isinstance(part, Block))
    return frozenset(display_name(c.name) for block in blocks for e in block.row_expressions() for c in columns(e))


@dataclass(frozen=True)
class StoredRows:
    """The rows of a stream in a file; ``weighted``: with how often each is there."""

    file: Path
    weighted: bool

    def frame(self, spark: SparkSession) -> DataFrame:
        """The rows, each repeated by its multiplicity."""
        rows = spark.read.parquet(str(self.file))
        if not self.weighted:
            return rows
        names = [quoted(name) for name in rows.columns if name != WEIGHT]
        summed = rows.groupBy(*names).agg(F.sum(WEIGHT).alias(WEIGHT)).where(f"{WEIGHT} > 0")
        copies = F.explode(F.expr(f"sequence(1L, {WEIGHT})")).alias("_copy")
        return summed.select(*names, copies).drop("_copy")


def _arrived(stream: Stream, state: State) -> Iterator[pa.Table]:
    """All rows of a stream that have arrived, without late ones and those that were left out."""
    if stream.gaps:
        batches = {report.batch: report.taken.get(stream.name, 0) for report in state.reports}
        yield from (table for _, rows in stream.arrivals(batches) for table in rows.tables())
        return
    for start in range(0, stream.position, CHUNK_ROWS):
        yield stream.log.on_time(start, min(stream.position, start + CHUNK_ROWS))


def _shown(rows: pa.Table, named: Sequence[tuple[str, DataType]], stream: Stream) -> pa.Table:
    """Columns of stored rows as Spark reads them, and their weights, if they have some."""
    names = [name for name, _ in named]
    shown = as_shown_table(rows.select(names), [type_ for _, type_ in named])
    shown = shown.rename_columns([display_name(name) for name in names])
    return shown if stream.append_only else shown.append_column(WEIGHT, rows[WEIGHT].cast(pa.int64()))
