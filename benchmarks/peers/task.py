"""Read by the scripts of peers, under their own Pythons: the task that ``live.py`` wrote, and where answers go."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet


@dataclass(frozen=True)
class Task:
    """What a script is to do.

    Attributes:
        folder: of the task.
        stream: the name of the rows in texts.
        history: rows of it.
        batch: rows of a batch.
        queries: each with ``name``, ``variant``, ``threshold`` and ``sql``.
    """

    folder: Path
    stream: str
    history: int
    batch: int
    queries: list[dict[str, Any]]

    def parts(self) -> Iterator[pa.Table]:
        """The history, then each batch."""
        rows = parquet.read_table(self.folder / "rows.parquet")
        yield rows.slice(0, self.history)
        for start in range(self.history, rows.num_rows, self.batch):
            yield rows.slice(start, self.batch)

    def answer(self, query: str, rows: pa.Table) -> None:
        """Write the answer of a query."""
        parquet.write_table(rows, self.folder / "answers" / f"{query}.parquet")

    def took(self, seconds: list[float]) -> None:
        """Write the seconds of the history and of each batch; the last thing a script does."""
        text = json.dumps({"begin_seconds": seconds[0], "batch_seconds": seconds[1:]})
        (self.folder / "took.json").write_text(text)


def read(folder: str) -> Task:
    """The task in a folder."""
    return Task(Path(folder), **json.loads((Path(folder) / "task.json").read_text()))
