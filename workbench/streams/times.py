"""Times of rows as whole numbers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Times = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


def times_of(column: pa.Array) -> tuple[Times, Mask]:
    """The times of rows as whole numbers (``workbench.sql.windows.stream_time.as_number``), and which rows have one."""
    known = np.asarray(column.is_valid())
    if pa.types.is_date(column.type):
        column = column.cast(pa.int32())
    numbers = column.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    return numbers, known
