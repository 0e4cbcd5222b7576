"""Views as one would write them for Spark by hand: one job takes each batch and adds what is new to the answers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from decimal import Decimal

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from workbench.engine.spark.local_session import local_spark
from workbench.experiments.digests import Digest, digest_of
from workbench.experiments.workload import Workload


def views_by_hand(work: Workload) -> tuple[list[float], dict[str, Digest]]:
    """Seconds of every batch of views by threshold, all of them one job, and the digests of their answers.

    Sums over what arrived are added in this process to those so far, which are a few for each bank and view.
    """
    statistics = []
    for i, query in enumerate(work.queries):
        chosen = f"FILTER (WHERE amount > {query.parameters['threshold']})"
        statistics += [f"SUM(amount) {chosen} AS s{i}", f"COUNT(*) {chosen} AS n{i}"]
    spark = _session()
    sums: dict[str, dict[int, tuple[Decimal, int]]] = {query.name: {} for query in work.queries}
    seconds = []
    for part in _parts(work):
        begun = time.perf_counter()
        arrived = spark.createDataFrame(part).groupBy("bank").agg(*map(F.expr, statistics))
        for row in arrived.collect():
            for i, known in enumerate(sums.values()):
                if row[f"n{i}"]:
                    total, count = known.get(row["bank"], (Decimal(0), 0))
                    known[row["bank"]] = (total + row[f"s{i}"], count + row[f"n{i}"])
        seconds.append(time.perf_counter() - begun)
    answers = {
        name: pa.table(
            {
                "bank": list(known),
                "total": pa.array([total for total, _ in known.values()], pa.decimal128(38, 2)),
                "n": [count for _, count in known.values()],
            }
        )
        for name, known in sums.items()
    }
    return seconds[1:], {name: digest_of(answer) for name, answer in answers.items()}


def _session() -> SparkSession:
    spark = local_spark().newSession()
    spark.conf.set("spark.sql.shuffle.partitions", str(spark.sparkContext.defaultParallelism))
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    return spark


def _parts(work: Workload) -> Iterator[pa.Table]:
    """The history, and each batch."""
    ends = [work.history, *range(work.history + work.batch, work.table.num_rows + 1, work.batch)]
    for start, end in zip([0, *ends], ends, strict=False):
        yield work.table.slice(start, end - start)
