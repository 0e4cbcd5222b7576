"""Large batches on a cluster of one worker and of two, each of one core: do rows a second grow with the cores?

Each cluster has a driver in a process of its own, since a process has one Spark.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median

from pyspark.sql import SparkSession

from benchmarks.query_sets.views import STREAM, join, selection, views
from benchmarks.sample_streams.payments import payments
from benchmarks.standalone import cluster
from benchmarks.studies.views import CENTS, MONEY
from workbench.experiments import reruns, runs
from workbench.experiments.digests import Digest, check
from workbench.experiments.report import Chart, Report, table, timing_summary
from workbench.experiments.runs import Progress
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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the experiment."""
    parser.add_argument("--workers", nargs="+", type=int, default=WORKERS, metavar="N", help="clusters to compare")
    parser.add_argument("--views", type=int, default=10, metavar="N", help="views beside a selection and a join (10)")
    parser.add_argument("--history", type=int, default=4_000, metavar="ROWS", help="rows of history (4000)")
    parser.add_argument("--batch", type=int, default=1_000_000, metavar="ROWS", help="rows of a batch (1000000)")
    parser.add_argument("--batches", type=int, default=4, metavar="N", help="batches that are measured (4)")


def report(chosen: argparse.Namespace, progress: Progress = print) -> Report:
    """Run the experiment."""
    work = _workload(chosen, runs.WARM_UP)
    expected = reruns.in_duckdb(work, work.queries, work.table.num_rows).digests
    seconds: dict[float, list[float]] = {}
    checked = 0
    for number in chosen.workers:
        taken, digests = _in_a_process(number, chosen)
        checked += check(f"{number} workers", digests, expected)
        seconds[number] = taken
        progress(f"{number} workers of one core: {median(taken):.2f} s a batch of {chosen.batch:,}")
    rates = {number: chosen.batch / median(taken) for number, taken in seconds.items()}
    first = rates[chosen.workers[0]]
    rows = [[number, median(seconds[number]), round(rate), rate / first] for number, rate in rates.items()]
    title = f"{len(work.queries)} queries over payments, batches of {chosen.batch:,}; {checked} answers equal DuckDB's"
    figures = {str(number): timing_summary(taken) for number, taken in seconds.items()}
    text = table(["workers of one core", "s a batch", "rows/s", f"× {chosen.workers[0]}"], rows)
    chart = Chart("rows a second", "workers of one core", "rows/s", {"workbench": rates}, log_y=False)
    return Report("workers", f"{title}\n{text}", figures, [chart])


def _workload(chosen: argparse.Namespace, warm_up: int) -> Workload:
    rows = payments(chosen.history + (warm_up + chosen.batches) * chosen.batch, MONEY)
    queries = (*views(chosen.views, CENTS), selection(), join())
    return Workload("workers", STREAM, rows, chosen.history, chosen.batch, queries)


def _in_a_process(workers: int, chosen: argparse.Namespace) -> tuple[list[float], dict[str, Digest]]:
    context = multiprocessing.get_context("spawn")
    with (
        tempfile.TemporaryDirectory(prefix="argus-cluster-") as folder,
        cluster(Path(folder), workers, "3g") as (address, _),
        ProcessPoolExecutor(1, mp_context=context) as pool,
    ):
        return pool.submit(_measure, address, folder, chosen, runs.WARM_UP).result()


def _measure(
    address: str, folder: str, chosen: argparse.Namespace, warm_up: int
) -> tuple[list[float], dict[str, Digest]]:
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
        session.register_many({query.name: query.sql for query in work.queries})
        reports = session.run(warm_up + chosen.batches)[warm_up:]
        digests = {query.name: runs.digest(session.query(query.name)) for query in work.queries}
    spark.stop()
    return [report.seconds for report in reports], digests
