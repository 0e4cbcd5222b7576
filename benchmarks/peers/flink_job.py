"""Runs under the Python that has Flink: all queries as one job, whose changes are collected.

Flink has no notion of a batch, so the time of the job is divided by its rows. Changes are gathered for as many rows as
a batch has before an answer is told of them (mini-batches). All queries are one union: each row has the number of its
query, and the columns it has not are NULL.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.peers.task import Task

COLUMNS = {"view": ("bank", "total", "n"), "selection": ("payment", "bank", "amount"), "join": ("received", "made")}
_WIDEST = max(map(len, COLUMNS.values()))
SETTINGS = {
    "parallelism.default": "2",
    "taskmanager.numberOfTaskSlots": "2",
    "taskmanager.memory.network.min": "1gb",
    "taskmanager.memory.network.max": "1gb",
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.allow-latency": "1 s",
}


def main(task: Task) -> None:
    """Plan the union, run it to the end of the rows, and add up its changes."""
    import pyarrow as pa
    from pyarrow import csv
    from pyflink.common import Configuration, RowKind
    from pyflink.table import EnvironmentSettings, TableEnvironment

    settings = Configuration()
    for key, value in (SETTINGS | {"table.exec.mini-batch.size": str(task.batch)}).items():
        settings.set_string(key, value)
    mode = EnvironmentSettings.new_instance().in_streaming_mode().with_configuration(settings).build()
    environment = TableEnvironment.create(mode)
    rows = pa.concat_tables(task.parts())
    (task.folder / "csv").mkdir()
    csv.write_csv(rows, task.folder / "csv" / "rows.csv", csv.WriteOptions(include_header=False))
    columns = ", ".join(f"{name} BIGINT" for name in rows.column_names)
    files = f"'connector' = 'filesystem', 'path' = '{task.folder / 'csv'}', 'format' = 'csv'"
    environment.execute_sql(f"CREATE TABLE {task.stream} ({columns}) WITH ({files})")
    parts = []
    for number, query in enumerate(task.queries):
        own = COLUMNS[query["variant"]]
        padded = [*own, *["CAST(NULL AS BIGINT)"] * (_WIDEST - len(own))]
        chosen = ", ".join(f"{column} AS c{i}" for i, column in enumerate(padded))
        parts.append(f"SELECT {number} AS query, {chosen} FROM ({query['sql']}) AS q{number}")
    started = time.perf_counter()
    result = environment.execute_sql(" UNION ALL ".join(parts))
    planned = time.perf_counter()
    changes: Counter[tuple[int | None, ...]] = Counter()
    with result.collect() as collected:
        for change in collected:
            added = change.get_row_kind() in (RowKind.INSERT, RowKind.UPDATE_AFTER)
            changes[tuple(change)] += 1 if added else -1
    seconds = (time.perf_counter() - planned) * task.batch / rows.num_rows
    answers: list[list[tuple[int | None, ...]]] = [[] for _ in task.queries]
    for row in changes.elements():
        answers[row[0] or 0].append(row[1:])
    for query, answer in zip(task.queries, answers, strict=True):
        names = COLUMNS[query["variant"]]
        task.answer(query["name"], pa.table({name: [row[i] for row in answer] for i, name in enumerate(names)}))
    task.took([planned - started, seconds])


if __name__ == "__main__":
    from task import read  # beside this file; the workbench is not installed here

    main(read(sys.argv[1]))
