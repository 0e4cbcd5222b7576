"""A preview of a source: its columns, its first rows, and which columns could say when a row happened."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import pyarrow as pa

from workbench.errors import StreamError, with_article
from workbench.sql.algebra.column_names import display_name
from workbench.sql.algebra.types import DataType, Kind
from workbench.streams.ingest import column_types, fit, guesses_of
from workbench.streams.live.sources import open_live
from workbench.streams.log import log_schema
from workbench.streams.readers import open_source
from workbench.streams.source import Chunk, OpenedSource

_ROWS = 5


@dataclass(frozen=True)
class SourcePreview:
    """A preview of a source's rows and columns.

    Attributes:
        columns: names and types, as ``add_stream`` would take them.
        rows: the first ones that fit.
        misfits: why others of the first rows do not fit.
    """

    columns: tuple[tuple[str, DataType], ...]
    rows: pa.Table
    misfits: tuple[str, ...]

    @property
    def event_time(self) -> str | None:
        """The first column of dates or times, which most likely is the event time."""
        return next((name for name, type_ in self.columns if type_.kind in (Kind.TIMESTAMP, Kind.DATE)), None)

    @property
    def times(self) -> list[str]:
        """The columns that could be the event time: those of dates and times, then those of whole numbers."""
        kinds = ((Kind.TIMESTAMP, Kind.DATE), (Kind.INTEGER,))
        return [name for some in kinds for name, type_ in self.columns if type_.kind in some]


def preview_source(source: object, rows: int = _ROWS) -> SourcePreview:
    """Look at the first rows of a source without copying it.

    Of a live source it reads what is there; a socket does not send that again.

    Args:
        source: as ``ingest`` takes it, or a live one.
        rows: how many to show at most.

    Raises:
        StreamError: it cannot be read, or a column cannot be used.

    Example:
        >>> look = preview_source([{"At": "2026-01-03", "fee": 2.5}, {"At": None, "fee": 4.0}])
        >>> [f"{name} {type_}" for name, type_ in look.columns], look.rows.num_rows, look.times
        (['at string', 'fee double'], 2, [])
    """
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="argus-look-")))
        opened = _live(source, rows, stack) or open_source(source, scratch / "spark", stack)
        types = column_types(opened, {})
        schema = log_schema(types.items())
        first = next(opened.chunks, None)
        if first is None:
            return SourcePreview(_shown(types), schema.empty_table(), ())
        part = Chunk(first.rows.slice(0, rows), first.lines[:rows])
        fitting, _, quarantined = fit(part, types, schema, guesses_of(opened, {}))
    reasons = chain(first.quarantined[:rows], quarantined)
    names = [display_name(name) for name in types]
    return SourcePreview(
        _shown(types),
        fitting.rename_columns(names),
        tuple(f"line {row.line}: {row.reason}" for row in reasons),
    )


def _live(source: object, rows: int, stack: ExitStack) -> OpenedSource | None:
    """The rows that a live source has so far; ``None`` for any other source."""
    if isinstance(source, Iterator) and not isinstance(source, pa.RecordBatchReader):
        what = f"{with_article(type(source).__name__)} cannot be looked at: it would not give its first rows again"
        raise StreamError(what, hint="add it as a stream; its first row says what columns there are")
    reader = open_live(source)
    if reader is None:
        return None
    stack.enter_context(closing(reader))
    fetched = reader.look(rows)
    lines = pa.array(range(1, fetched.rows.num_rows + 1), pa.int64()).to_numpy()
    return OpenedSource(fetched.rows.schema, iter([Chunk(fetched.rows, lines, fetched.quarantined)]), reader.inferred)


def _shown(types: dict[str, DataType]) -> tuple[tuple[str, DataType], ...]:
    return tuple((display_name(name), type_) for name, type_ in types.items())
