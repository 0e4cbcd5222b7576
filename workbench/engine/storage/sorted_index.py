"""An index of a segment: its rows in the order of some key, in a file beside it that is mapped like it.

It is written when somebody first looks for that key, by whatever process that is, and removed with its segment.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from workbench.files.checked import NewFile
from workbench.files.mapped import MAPPED

Positions = npt.NDArray[np.int64]
Entries = tuple[npt.NDArray[Any], Positions]
"""Keys in order, and where in the segment the row of each stands."""


def sorted_index(segment: str, key: str, make: Callable[[], Entries]) -> Entries:
    """A segment's index.

    Args:
        segment: its path.
        key: what tells the index from the segment's others.
        make: gives its entries, in any order, when there is no such index yet.
    """
    file = f"{os.path.splitext(segment)[0]}.{_name(key)}.index"
    try:
        entries = MAPPED.batch(file)
    except FileNotFoundError:
        _write(file, *make())
        entries = MAPPED.batch(file)
    return entries.column(0).to_numpy(), entries.column(1).to_numpy()


@lru_cache(maxsize=4_096)
def _name(key: str) -> str:
    return sha256(key.encode()).hexdigest()[:16]


def _write(file: str, keys: npt.NDArray[Any], rows: Positions) -> None:
    order = np.argsort(keys, kind="stable")
    entries = pa.RecordBatch.from_arrays([pa.array(keys[order]), pa.array(rows[order])], names=["key", "row"])
    # Two tasks may do this at a time; they write the same.
    part = Path(f"{file}.{uuid.uuid4().hex}")
    try:
        with NewFile(part) as out, pa.ipc.new_file(out, entries.schema) as writer:
            writer.write_batch(entries)
        os.replace(part, file)
    except BaseException:
        part.unlink(missing_ok=True)  # on a full disk every byte counts
        raise
