"""Flink as a competitor, without Flink: what its job is given, how answers are read, what is said when it fails."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import duckdb
import pytest

from workbench.errors import WorkbenchError
from workbench.experiments.environment import Environment
from workbench.experiments.peers.digests import digest
from workbench.experiments.peers.flink import environment, flink_sql, run_job
from workbench.experiments.workload import Workload, workload

ANSWERS = """
import json, sys
from pathlib import Path
import duckdb
folder = Path(sys.argv[-1])
task = json.loads((folder / "task.json").read_text())
Path(__file__).with_name("seen.json").write_text(json.dumps(task))
columns = {name: {"INT": "INTEGER", "STRING": "VARCHAR"}.get(kind, kind) for name, kind in task["columns"]}
rows = f"read_csv('{folder}/rows/*', header = false, nullstr = '\\\\N', columns = {columns})"
duckdb.execute(f"CREATE TABLE {task['stream']} AS FROM {rows}")
for name, sql in task["queries"].items():
    (folder / "answers" / name).mkdir(parents=True)
    sql = sql.replace("TIMESTAMPADD(DAY, ", "add_days(")
    duckdb.execute("CREATE OR REPLACE MACRO add_days(n, d) AS d + n")
    duckdb.execute(f"COPY ({sql}) TO '{folder}/answers/{name}/part-0' (FORMAT csv, HEADER false, NULLSTR '\\\\N')")
(folder / "took.json").write_text(json.dumps({"plan_seconds": 1.5, "run_seconds": 2.5}))
"""


def fake(folder: Path, program: str) -> Environment:
    """An environment whose Python does something else than it is asked to."""
    (folder / "bin").mkdir()
    (folder / "program.py").write_text(program)
    python = folder / "bin" / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} {folder / "program.py"} "$@"\n')
    python.chmod(0o755)
    return environment(folder)


@pytest.fixture
def work() -> Workload:
    return workload("fed-manual", batches=1, history=3_000, batch=500, queries=16)


def test_answers_are_those_of_the_rows_that_were_given(work: Workload, tmp_path: Path) -> None:
    job = run_job(work, 3_400, fake(tmp_path, ANSWERS))
    assert (job.plan_seconds, job.run_seconds) == (1.5, 2.5)
    with duckdb.connect() as database:
        database.register(work.stream, work.table.slice(0, 3_400))
        for query in work.queries:
            names = ", ".join(f"c{i}" for i in range(len(database.execute(f"DESCRIBE {query.duckdb_sql}").fetchall())))
            expected = digest(database, f"(SELECT * FROM ({query.duckdb_sql}) t({names}))")
            assert job.digests[query.name] == expected, query.name
    assert sum(rows for rows, _ in job.digests.values()) > 0
    seen = json.loads((tmp_path / "seen.json").read_text())
    assert ["amount", "DECIMAL(15, 2)"] in seen["columns"]
    assert not any("!=" in sql or "tran_date +" in sql for sql in seen["queries"].values())


def test_what_flink_says_is_said(work: Workload, tmp_path: Path) -> None:
    stack = "raise SystemExit('org.x.TableException: no\\n\\tat org.x.Y\\nCaused by: out of buffers\\n\\tat org.x.Z')"
    with pytest.raises(WorkbenchError, match="Flink failed: Caused by: out of buffers"):
        run_job(work, 10, fake(tmp_path, stack))


def test_days_are_added_and_taken_away() -> None:
    assert flink_sql("b.adate - 3 > a.adate") == "TIMESTAMPADD(DAY, -3, b.adate) > a.adate"
