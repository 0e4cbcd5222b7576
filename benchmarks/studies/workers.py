"""Large batches on a cluster of one worker and of two, each of one core: do rows a second grow with the cores?

Each cluster has a driver in a process of its own, since a process has one Spark.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from pyspark.sql import SparkSession

from benchmarks.query_sets.views import STREAM, join, selection, views
from benchmarks.sample_streams.payments import payments
from benchmarks.standalone import cluster
from benchmarks.studies.views import AMOUNT, CENTS
from workbench.experiments import reruns, runs
from workbench.experiments.digests import Digest, check_digests
from workbench.experiments.report import Chart, text_table, timing_summary
from workbench.experiments.study import Findings, Study, StudyProgress, option
from workbench.experiments.workload import Workload
from workbench.session.session import Session

WORKERS = (1, 2)
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executor.memory": "2g",
    "spark.locality.wait": "0s",
    "spark.python.unix.domain.socket.enabled": "true",
}


@dataclass(frozen=True)
class Workers(Study):
    """Clusters of one worker and of more."""

    name = "workers"
    summary = "batches of a million rows on a cluster of one worker and of two, each of one core"

    workers: tuple[int, ...] = option(WORKERS, "clusters to compare")
    views: int = option(10, "views beside a selection and a join")
    history: int = option(4_000, "rows of history")
    batch: int = option(1_000_000, "rows of a batch")
    batches: int = option(4, "batches that are measured")

    def run(self, progress: StudyProgress) -> Findings:
        """Run it."""
        work = _workload(self, runs.WARM_UP)
        expected = reruns.in_duckdb(work, work.queries, work.table.num_rows).digests
        seconds: dict[float, list[float]] = {}
        checked = 0
        for number in self.workers:
            taken, digests = _in_a_process(number, self)
            checked += check_digests(f"{number} workers", digests, expected)
            seconds[number] = taken
            progress(f"{number} workers of one core: {median(taken):.2f} s a batch of {self.batch:,}")
        rates = {number: self.batch / median(taken) for number, taken in seconds.items()}
        first = rates[self.workers[0]]
        rows = [[number, median(seconds[number]), round(rate), rate / first] for number, rate in rates.items()]
        title = (
            f"{len(work.queries)} queries over payments, batches of {self.batch:,}; {checked} answers equal DuckDB's"
        )
        figures = {str(number): timing_summary(taken) for number, taken in seconds.items()}
        text = text_table(["workers of one core", "s a batch", "rows/s", f"× {self.workers[0]}"], rows)
        chart = Chart("rows a second", "workers of one core", "rows/s", {"workbench": rates}, log_y=False)
        return f"{title}\n{text}", figures, [chart]


def _workload(chosen: Workers, warm_up: int) -> Workload:
    rows = payments(chosen.history + (warm_up + chosen.batches) * chosen.batch, AMOUNT)
    queries = (*views(chosen.views, CENTS), selection(), join())
    return Workload("workers", STREAM, rows, chosen.history, chosen.batch, queries)


def _in_a_process(workers: int, chosen: Workers) -> tuple[list[float], dict[str, Digest]]:
    context = multiprocessing.get_context("spawn")
    with (
        tempfile.TemporaryDirectory(prefix="argus-cluster-") as folder,
        cluster(Path(folder), workers, "3g") as (address, _),
        ProcessPoolExecutor(1, mp_context=context) as pool,
    ):
        return pool.submit(_measure, address, folder, chosen, runs.WARM_UP).result()


def _measure(address: str, folder: str, chosen: Workers, warm_up: int) -> tuple[list[float], dict[str, Digest]]:
    """Seconds of each measured batch, and the digests of the answers; runs in the driver's process."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(address).appName("argus-workers")
    for key, value in _SETTINGS.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    work = _workload(chosen, warm_up)
    with Session(spark=spark, path=Path(folder) / "session") as session:
        session.add_stream(work.stream, work.table, history=work.history, batch=work.batch)
        runs.register_queries(session, work)
        reports = session.run(warm_up + chosen.batches)[warm_up:]
        digests = {query.name: runs.run_digest(session.query(query.name)) for query in work.queries}
    spark.stop()
    return [report.seconds for report in reports], digests
