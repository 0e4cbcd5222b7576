"""What a source looks like once it is open: columns, and rows in chunks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from workbench.sql.algebra.types import DataType
from workbench.streams.log import SetAside


@dataclass(frozen=True)
class Chunk:
    """Some rows in order, the 1-based line (or row) number of each, and what between them was no row at all."""

    rows: pa.RecordBatch
    lines: NDArray[np.int64]
    set_aside: tuple[SetAside, ...] = ()


@dataclass(frozen=True)
class OpenedSource:
    """A source that has been opened: its columns as they are there, types guessed from text, and its rows."""

    schema: pa.Schema
    chunks: Iterator[Chunk]
    guessed: Mapping[str, DataType] = field(default_factory=dict)
