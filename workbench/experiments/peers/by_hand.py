"""Queries as one would write them for Spark by hand: a loop that takes each batch and adds what is new to the answer.
It is what queries of ours are compared with, and computes the same: a selection, a join, and views by one job."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from workbench.engine.spark.local_session import local_spark
from workbench.experiments.peers.digests import Digest, digest_of
from workbench.experiments.workload import FED, Workload

SELECTION = f"SELECT tranid, amount FROM {FED.stream} WHERE type_code = 1000 AND amount > 50000"
JOIN = f"""
SELECT r1.tranid first_id, r2.tranid second_id FROM {FED.stream} r1, {FED.stream} r2
WHERE r1.type_code = 1000 AND r2.type_code = 1000 AND r1.amount > 50000 AND r2.amount * 5 >= r1.amount
AND r1.rbank_aba = r2.sbank_aba AND r1.benef_account = r2.orig_account
AND r1.tran_date <= r2.tran_date AND r2.tran_date <= r1.tran_date + 20
"""

_KEPT = ["tranid", "amount", "tran_date", "sbank_aba", "rbank_aba", "orig_account", "benef_account"]


def selected(rows: DataFrame) -> DataFrame:
    """The selection."""
    return rows.where("type_code = 1000 AND amount > 50000").select("tranid", "amount")


def joined(first: DataFrame, second: DataFrame) -> DataFrame:
    """The join of first transfers with those that follow."""
    r1, r2 = first.where("amount > 50000").alias("r1"), second.alias("r2")
    follows = F.expr(
        "r1.rbank_aba = r2.sbank_aba AND r1.benef_account = r2.orig_account AND r2.amount * 5 >= r1.amount"
        " AND r1.tran_date <= r2.tran_date AND r2.tran_date <= date_add(r1.tran_date, 20)"
    )
    return r1.join(r2, follows).selectExpr("r1.tranid first_id", "r2.tranid second_id")


def selection(work: Workload, folder: Path) -> tuple[list[float], Digest]:
    """Seconds of every batch of the selection, and the digest of the answer; it is kept as Parquet in ``folder``."""

    def step(arriving: DataFrame, answer: str) -> None:
        selected(arriving).write.mode("append").parquet(answer)

    return _loop(work, folder, step)


def join(work: Workload, folder: Path) -> tuple[list[float], Digest]:
    """Seconds of every batch of the join: what is new with all, and all before with what is new."""
    state: list[DataFrame] = []

    def step(arriving: DataFrame, answer: str) -> None:
        new = arriving.where("type_code = 1000").select(*_KEPT)
        if not state:
            history = new.cache()
            joined(history, history).write.mode("append").parquet(answer)
            state[:] = [history, history.limit(0).localCheckpoint()]
            return
        # A main part that stays and one small tail: a union of all batches so far gets slower with each.
        main, tail = state
        new, before = new.localCheckpoint(), main.unionAll(tail)
        joined(new, before.unionAll(new)).unionAll(joined(before, new)).write.mode("append").parquet(answer)
        state[1] = tail.unionAll(new).localCheckpoint()

    return _loop(work, folder, step)


def views(work: Workload) -> tuple[list[float], dict[str, Digest]]:
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


def _loop(work: Workload, folder: Path, step: Callable[[DataFrame, str], None]) -> tuple[list[float], Digest]:
    spark = _session()
    answer = str(folder / "answer")
    seconds = []
    for arriving in _parts(work):
        begun = time.perf_counter()
        step(spark.createDataFrame(arriving), answer)
        seconds.append(time.perf_counter() - begun)
    digest = digest_of(spark.read.parquet(answer).toArrow())
    spark.catalog.clearCache()
    return seconds[1:], digest


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
