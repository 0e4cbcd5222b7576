"""Runs under the Python that has chDB, ClickHouse in a process: rows are inserted, and every query is run again."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from benchmarks.peers.task import Task

_TYPES = {"int64": "Int64"}


def main(task: Task) -> None:
    """Insert part after part, and run all queries after each."""
    from chdb import session

    database = session.Session(str(task.folder / "chdb"))
    database.query("CREATE DATABASE peers ENGINE = Atomic")
    database.query("USE peers")
    seconds: list[float] = []
    answers: dict[str, pa.Table] = {}
    for part in task.parts():
        if not seconds:
            columns = ", ".join(f"{field.name} {_TYPES[str(field.type)]}" for field in part.schema)
            database.query(f"CREATE TABLE {task.stream} ({columns}) ENGINE = MergeTree ORDER BY tuple()")
        started = time.perf_counter()
        database.query(f"INSERT INTO {task.stream} SELECT * FROM Python(part)")
        for query in task.queries:
            answers[query["name"]] = database.query(query["sql"], "ArrowTable")
        seconds.append(time.perf_counter() - started)
    for name, rows in answers.items():
        task.answer(name, rows)
    database.close()
    task.took(seconds)


if __name__ == "__main__":
    from task import read  # beside this file; the workbench is not installed here

    main(read(sys.argv[1]))
