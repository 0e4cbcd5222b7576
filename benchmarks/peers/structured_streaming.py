"""One query over payments that is written by hand for Spark's Structured Streaming, over files that are there."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from benchmarks.arriving import folder_of, write
from benchmarks.peers.live import LiveOutcome
from workbench.errors import WorkbenchError
from workbench.experiments.digests import answer_digest, connect
from workbench.experiments.workload import Workload
from workbench.session.session import Session

FILES = 10
"""Files of a micro-batch."""
_PATIENCE = 3_600
"""Seconds after which it is given up."""


def structured_streaming(work: Workload, installed: Path) -> LiveOutcome:
    """Take all rows in one run, as ``Peer.measure`` is called; the time is that of all, and counts as one batch.

    Raises:
        WorkbenchError: it does not end.
    """
    (query,) = work.queries
    with folder_of(work) as folder, Session() as session, tempfile.TemporaryDirectory() as place:
        spark = session.spark
        write(folder, work.table.slice(work.history), "rows")
        schema = spark.read.parquet(str(folder)).schema
        rows = spark.readStream.schema(schema).option("maxFilesPerTrigger", FILES).parquet(str(folder))
        rows.createOrReplaceTempView(work.stream)
        started = time.perf_counter()
        run = (
            spark.sql(query.sql).writeStream.trigger(availableNow=True).format("parquet")
            .option("checkpointLocation", f"{place}/checkpoint").start(f"{place}/out")
        )  # fmt: skip
        if not run.awaitTermination(_PATIENCE):
            raise WorkbenchError("Structured Streaming did not end")
        seconds = time.perf_counter() - started
        with connect() as database:
            answer = answer_digest(database, f"read_parquet('{place}/out/*.parquet')")
    return LiveOutcome(None, (seconds,), None, {query.name: answer})
