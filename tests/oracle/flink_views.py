"""Runs under a Python that has Flink: makes views in batch mode, and writes the answers of queries.

Its folder has ``task.json``: statements to run, and queries by name, each with its columns as they are quoted. Answers
are texts, since times of PyFlink have milliseconds alone. Many queries are one job, which takes seconds to begin; of
one that fails each half runs by itself. After each job it writes ``answers.json``: of each query so far its rows, or
what Flink said.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

TOGETHER = 24
"""Queries of a job."""

Answers = dict[str, Any]


def main(folder: Path) -> None:
    """Run the statements, and ask the queries."""
    from pyflink.table import EnvironmentSettings, TableEnvironment

    task = json.loads((folder / "task.json").read_text())
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    environment.get_config().set("parallelism.default", "1")
    refused: Answers = {}
    for statement in task["statements"]:
        try:
            environment.execute_sql(statement)
        except Exception as raised:
            refused[statement] = _said(raised)
    answers: Answers = {}
    queries = list(task["queries"].items())
    for at in range(0, len(queries), TOGETHER):
        _ask(environment, queries[at : at + TOGETHER], answers)
        (folder / "answers.json").write_text(json.dumps({"answers": answers, "refused": refused}))


def _ask(environment: Any, queries: list[tuple[str, list[str]]], answers: Answers) -> None:
    """Ask some queries as one job, or each half of them where that fails."""
    widest = max(len(columns) for _, (_, *columns) in queries)
    parts = []
    for at, (_, (view, *columns)) in enumerate(queries):
        shown = [f"CAST({column} AS STRING)" for column in columns] + ["CAST(NULL AS STRING)"] * (widest - len(columns))
        parts.append(f"SELECT {at}, {', '.join(shown)} FROM {view}")
    found: list[list[list[str | None]]] = [[] for _ in queries]
    try:
        with environment.execute_sql(" UNION ALL ".join(parts)).collect() as rows:
            for row in rows:
                at, *values = row
                found[at].append(values[: len(queries[at][1]) - 1])
    except Exception as raised:
        if len(queries) == 1:
            answers[queries[0][0]] = _said(raised)
            return
        half = len(queries) // 2
        _ask(environment, queries[:half], answers)
        _ask(environment, queries[half:], answers)
        return
    answers.update((name, rows) for (name, _), rows in zip(queries, found, strict=True))


def _said(raised: Exception) -> str:
    """The causes that Flink tells, without where in its code they were."""
    lines = str(raised).splitlines()
    causes = [line.strip() for line in lines if "Caused by: " in line] or lines[:1]
    return "; ".join(causes[-2:])[:600]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
