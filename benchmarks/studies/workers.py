"""Large batches on a cluster of one worker and of two, each of one core: do rows a second grow with the cores?

Each cluster has a driver in a process of its own, since a process has one Spark. Where the driver has no core of its
own, the clock says little: so the processor's seconds are told by process, too, and what the busiest executor has.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from pyspark.sql import SparkSession

from benchmarks.processes import DRIVER, JVM, processor_seconds, session_processes
from benchmarks.query_sets.views import STREAM, by_account, join, selection, views
from benchmarks.sample_streams.payments import AMOUNT, CENTS, payments
from benchmarks.standalone import cluster
from workbench.experiments import reruns, runs
from workbench.experiments.digests import Digest, check_digests
from workbench.experiments.measure import descendants
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
    # Without the optimizing compiler (C2), which works for minutes on code that hardly ever runs.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1",
}


@dataclass(frozen=True)
class ClusterRun:
    """What a cluster took.

    Attributes:
        seconds: of each measured batch.
        driver, jvm: seconds of a processor a batch, of the driver's Python and of its JVM.
        executors: the same of each executor with its Python workers.
        digests: of the answers.
    """

    seconds: Sequence[float]
    driver: float
    jvm: float
    executors: Sequence[float]
    digests: dict[str, Digest]

    @property
    def by_process(self) -> list[float]:
        """Seconds of a processor a batch: of the driver, its JVM, its part of all in percent, and all executors."""
        executors = sum(self.executors)
        return [self.driver, self.jvm, 100 * self.jvm / (self.driver + self.jvm + executors), executors]


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
    hot: int = option(0, "percent of the rows that have one account, by which is then grouped and joined")
    before: int = option(runs.WARM_UP, "batches before these; the JVM's compiler is done after a hundred")

    def run(self, progress: StudyProgress) -> Findings:
        """Run it."""
        work = _workload(self)
        expected = reruns.in_duckdb(work, work.queries, work.table.num_rows).digests
        measured: dict[float, ClusterRun] = {}
        checked = 0
        for number in self.workers:
            measured[number] = one = _in_a_process(number, self)
            checked += check_digests(f"{number} workers", one.digests, expected)
            progress(f"{number} workers of one core: {median(one.seconds):.2f} s a batch of {self.batch:,}")
        rates = {number: self.batch / median(one.seconds) for number, one in measured.items()}
        busiest = {number: max(one.executors) for number, one in measured.items()}
        first = self.workers[0]
        rows = [
            [
                *(number, median(one.seconds), round(rates[number]), rates[number] / rates[first]),
                *(*one.by_process, busiest[number], busiest[first] / busiest[number]),
            ]
            for number, one in measured.items()
        ]
        title = f"{len(work.queries)} queries over payments, batches of {self.batch:,} after {self.before}; "
        title += f"{checked} answers equal DuckDB's"
        figures: dict[str, object] = {
            str(number): timing_summary(one.seconds)
            | {"driver": one.driver, "JVM": one.jvm, "executors": list(one.executors)}
            for number, one in measured.items()
        }
        columns = ["workers of one core", "s a batch", "rows/s", f"× {first}", "driver, CPU s", "its JVM", "% of all"]
        columns += ["executors", "the busiest", f"× {first}"]
        chart = Chart("rows a second", "workers of one core", "rows/s", {"workbench": rates}, log_y=False)
        return f"{title}\n{text_table(columns, rows)}", figures, [chart]


def _workload(chosen: Workers) -> Workload:
    rows = payments(chosen.history + (chosen.before + chosen.batches) * chosen.batch, AMOUNT, hot=chosen.hot / 100)
    queries = by_account() if chosen.hot else (*views(chosen.views, CENTS), selection(), join())
    return Workload("workers", STREAM, rows, chosen.history, chosen.batch, queries)


def _in_a_process(workers: int, chosen: Workers) -> ClusterRun:
    with (
        tempfile.TemporaryDirectory(prefix="argus-cluster-") as folder,
        cluster(Path(folder), workers, "3g") as (address, processes),
        ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool,
    ):
        return pool.submit(_measure, address, [process.pid for process in processes], folder, chosen).result()


def _measure(address: str, workers: Sequence[int], folder: str, chosen: Workers) -> ClusterRun:
    """What the batches took; runs in the driver's process."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(address).appName("argus-workers")
    for key, value in _SETTINGS.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    work = _workload(chosen)
    with Session(spark=spark, path=Path(folder) / "session") as session:
        session.add_stream(work.stream, work.table, history=work.history, batch=work.batch)
        runs.register_queries(session, work)
        session.run(chosen.before)
        before = _processor_seconds(workers)
        reports = session.run(chosen.batches)
        taken = zip(before, _processor_seconds(workers), strict=True)
        driver, jvm, *executors = [(after - earlier) / chosen.batches for earlier, after in taken]
        digests = {query.name: runs.run_digest(session.query(query.name)) for query in work.queries}
    spark.stop()
    return ClusterRun([report.seconds for report in reports], driver, jvm, executors, digests)


def _processor_seconds(workers: Sequence[int]) -> list[float]:
    """So far: of the driver, of its JVM, and of each worker's executor with its Python workers."""
    of_driver = session_processes()
    executors = [descendants(worker) - {worker} for worker in workers]
    return [*map(processor_seconds, (of_driver[DRIVER], of_driver[JVM], *executors))]
