"""Runs under the Python that has Flink, not under ours: all queries of a task as one job (``flink.py`` starts it).

The folder given has ``task.json`` (the stream, its columns, the queries in Flink's SQL) and ``rows/``, a CSV file.
Answers go to ``answers/QUERY/`` and what it took to ``took.json``. Nothing of the workbench is imported: it is not
installed there.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

SETTINGS = {
    "parallelism.default": "2",
    "taskmanager.numberOfTaskSlots": "2",
    # A local cluster has few buffers unless told, and a job of many joins needs many.
    "taskmanager.memory.network.min": "1gb",
    "taskmanager.memory.network.max": "1gb",
    "taskmanager.memory.managed.size": "64mb",
}


def main(folder: Path) -> None:
    """Plan the queries as one statement set, run it to the end of the rows, and write down how long that took."""
    from pyflink.common import Configuration
    from pyflink.table import EnvironmentSettings, TableEnvironment

    settings = Configuration()
    for key, value in SETTINGS.items():
        settings.set_string(key, value)
    mode = EnvironmentSettings.new_instance().in_streaming_mode().with_configuration(settings).build()
    environment = TableEnvironment.create(mode)
    task = json.loads((folder / "task.json").read_text())
    columns = ", ".join(f"{name} {type_}" for name, type_ in task["columns"])
    environment.execute_sql(f"CREATE TABLE {task['stream']} ({columns}) {_files(folder / 'rows')}")
    statements = environment.create_statement_set()
    for number, (name, sql) in enumerate(task["queries"].items()):
        answer = environment.sql_query(sql)
        types = answer.get_schema().get_field_data_types()
        fields = ", ".join(f"c{i} {str(type_).removesuffix(' NOT NULL')}" for i, type_ in enumerate(types))
        environment.execute_sql(f"CREATE TABLE answer{number} ({fields}) {_files(folder / 'answers' / name)}")
        statements.add_insert(f"answer{number}", answer)
    started = time.perf_counter()
    job = statements.execute()
    planned = time.perf_counter()
    job.wait()
    took = {"plan_seconds": planned - started, "run_seconds": time.perf_counter() - planned}
    (folder / "took.json").write_text(json.dumps(took))


def _files(folder: Path) -> str:
    return f"WITH ('connector' = 'filesystem', 'path' = '{folder}', 'format' = 'csv', 'csv.null-literal' = '\\N')"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
