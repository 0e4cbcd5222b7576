"""The rows of streams as they are written down before anything is computed of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from workbench.engine.storage.layout import BATCH, WEIGHT, Layout
from workbench.engine.storage.relation import Delta
from workbench.engine.storage.segments import write_segments
from workbench.network.projection import Columns
from workbench.sql.windows.stream_time import ROW


def layout_of(columns: Columns) -> Layout:
    """How the rows of a stream are stored: each with its number."""
    return Layout({**columns, ROW.name: ROW.type})


def written(table: pa.Table, layout: Layout, folder: Path, batch: int, before: int) -> Delta:
    """Rows that arrive, written down.

    Args:
        table: the rows.
        layout: how they are stored.
        folder: where.
        batch: that brings them.
        before: how many were there; they are numbered after those.
    """
    rows = table.num_rows
    table = table.append_column(ROW.name, pa.array(np.arange(before + 1, before + rows + 1)))
    table = table.append_column(BATCH, pa.array([batch] * rows, type=pa.int32()))
    table = table.append_column(WEIGHT, pa.array([1] * rows, type=pa.int64()))
    return Delta(write_segments(table.cast(layout.arrow), folder))
