"""Flink as a competitor: one job, a statement set, for all queries, in a Python environment of its own.

Flink shares what is literally the same in the texts, and has no notion of a batch: it takes the rows as they come. So
the time of its job, from the first row to the last, is divided by the rows. It keeps its state on the heap.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import duckdb
import pyarrow as pa

from workbench.engine.spark.java import use_java
from workbench.errors import WorkbenchError
from workbench.experiments import runs
from workbench.experiments.environment import Environment, last_words
from workbench.experiments.measure import PeakMemory
from workbench.experiments.peers import reruns
from workbench.experiments.peers.digests import Digest, check, digest
from workbench.experiments.report import table
from workbench.experiments.runs import Progress
from workbench.experiments.workload import Workload

FOLDER = "build/flink"
PACKAGE = "apache-flink>=2.3,<2.4"
HEAP = "12g"
SECONDS_AT_MOST = 3_600

_TYPES = {"int64": "BIGINT", "int32": "INT", "date32[day]": "DATE", "string": "STRING"}


def environment(folder: str | Path = FOLDER) -> Environment:
    """Where Flink is, or is installed."""
    return Environment(folder, (PACKAGE,), "pyflink")


@dataclass(frozen=True)
class Job:
    """What one job took; ``peak_gib`` is the memory of its process and all below."""

    plan_seconds: float
    run_seconds: float
    peak_gib: float
    digests: Mapping[str, Digest]


def compare(
    work: Workload, batches: int, flink: Environment, progress: Progress = print
) -> tuple[str, dict[str, object]]:
    """Run a workload as one Flink job, and by our own engine; gives text and figures, or Flink's error.

    Raises:
        WorkbenchError: an answer is another than DuckDB's.
    """
    number = len(work.queries)
    names = {query.name for query in work.queries}
    run = runs.run(work, [number], batches, checked=names, progress=lambda line: None)
    expected = reruns.in_duckdb(work, work.queries, run.rows).digests
    checked = check("shared", run.digests, expected)
    progress(f"Flink runs {number} queries")
    try:
        flink.install()
        job = run_job(work, run.rows, flink)
    except WorkbenchError as problem:
        return f"{number} queries in one Flink job: {problem}", {"queries": number, "error": str(problem)}
    compared = check("Flink", job.digests, expected)
    per_batch = job.run_seconds * work.batch / run.rows
    rows = [
        ["shared", run.last.seconds, run.peak_gib, run.last.register_seconds],
        ["Flink", per_batch, job.peak_gib, job.plan_seconds],
    ]
    columns = [f"{number} queries", f"s for {work.batch:,} rows", "peak GiB", "s to begin"]
    text = f"{table(columns, rows)}\n{checked} and {compared} answers compared with DuckDB's"
    figures: dict[str, object] = {
        "queries": number,
        "rows": run.rows,
        "shared_seconds": run.last.seconds,
        "shared_peak_gib": run.peak_gib,
        "seconds": per_batch,
        "run_seconds": job.run_seconds,
        "plan_seconds": job.plan_seconds,
        "peak_gib": job.peak_gib,
    }
    return text, figures


def run_job(work: Workload, rows: int, flink: Environment) -> Job:
    """Run a workload's queries over the first rows.

    Raises:
        WorkbenchError: Flink cannot plan the queries, or its job failed or did not end.
    """
    with tempfile.TemporaryDirectory(prefix="argus-flink-") as name:
        folder = Path(name)
        _write(work, rows, folder)
        script = resources.files("workbench.experiments.peers").joinpath("flink_job.py")
        use_java()
        java = os.environ | {"JVM_ARGS": f"-Xmx{HEAP}"}
        with (folder / "errors.txt").open("w") as errors:
            process = subprocess.Popen(
                [flink.python, str(script), str(folder)], stdout=subprocess.DEVNULL, stderr=errors, env=java, cwd=folder
            )
            with PeakMemory(process=process.pid) as peak:
                try:
                    status = process.wait(SECONDS_AT_MOST)
                except BaseException as problem:
                    process.kill()
                    process.wait()
                    if isinstance(problem, subprocess.TimeoutExpired):
                        raise WorkbenchError(f"the job had not ended after {SECONDS_AT_MOST} s") from None
                    raise
        if status:
            raise WorkbenchError(f"Flink failed: {last_words((folder / 'errors.txt').read_text())}")
        took = json.loads((folder / "took.json").read_text())
        return Job(took["plan_seconds"], took["run_seconds"], peak.bytes / 2**30, _digests(work, folder))


def flink_sql(text: str) -> str:
    """A query of DuckDB's in Flink's SQL, which adds no number to a date and has no ``!=``.

    Example:
        >>> flink_sql("b.tran_date <= a.tran_date + 20 AND a.x != b.x")
        'b.tran_date <= TIMESTAMPADD(DAY, 20, a.tran_date) AND a.x <> b.x'
    """
    days = re.sub(r"(\w+\.\w*date) \+ (\d+)", r"TIMESTAMPADD(DAY, \2, \1)", text)
    days = re.sub(r"(\w+\.\w*date) - (\d+)", r"TIMESTAMPADD(DAY, -\2, \1)", days)
    return days.replace(" != ", " <> ")


def _write(work: Workload, rows: int, folder: Path) -> None:
    """The task as ``flink_job`` reads it."""
    columns = [(field.name, _type(field.type)) for field in work.table.schema]
    queries = {query.name: flink_sql(query.duckdb_sql) for query in work.queries}
    (folder / "task.json").write_text(json.dumps({"stream": work.stream, "columns": columns, "queries": queries}))
    (folder / "rows").mkdir()
    with duckdb.connect() as database:
        database.register("arrived", work.table.slice(0, rows))
        database.execute(f"COPY arrived TO '{folder / 'rows' / 'rows.csv'}' (HEADER false, NULLSTR '\\N')")


def _type(type_: pa.DataType) -> str:
    return _TYPES.get(str(type_)) or f"DECIMAL({type_.precision}, {type_.scale})"


def _digests(work: Workload, folder: Path) -> dict[str, Digest]:
    """Digests of the answers that were written, read as the types DuckDB has for them."""
    digests: dict[str, Digest] = {}
    with duckdb.connect() as database:
        database.register(work.stream, work.table.slice(0, 0))
        for query in work.queries:
            described = database.execute(f"DESCRIBE {query.duckdb_sql.rstrip().rstrip(';')}").fetchall()
            types = ", ".join(f"'c{i}': '{type_}'" for i, (_, type_, *_) in enumerate(described))
            files = f"{folder}/answers/{query.name}/*"
            read = f"read_csv('{files}', header = false, auto_detect = false, nullstr = '\\N', columns = {{{types}}})"
            has_rows = any((folder / "answers" / query.name).glob("*"))
            digests[query.name] = digest(database, read) if has_rows else (0, 0)
    return digests
