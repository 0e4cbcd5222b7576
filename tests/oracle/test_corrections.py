"""Queries of every class over streams whose rows are inserted, updated and deleted at random, on every side of a join,
and again in the same batch; DuckDB's answer over the rows that are left is the truth."""

from __future__ import annotations

import os
import random
import re
from dataclasses import replace

import pyarrow as pa
import pytest
from long import one_in
from oracle.class_queries import ALL
from oracle.harness import Case, Feed, Oracle
from oracle.random_streams import names, stream
from oracle.test_windows import CASES, F, G
from oracle.test_without_spark import registered
from pyspark.sql import SparkSession

from workbench.engine.spark.in_process import InProcess, NeedsSparkError
from workbench.limits import LIMITS

BATCHES = int(os.environ.get("ARGUS_BATCHES", "2"))
"""Batches before the second half of the queries comes, and after; more of them are smaller."""


def corrected(table: pa.Table, history: int, batch: int, seed: int, time: str | None = None) -> Feed:
    """Rows that are inserted and, half as often, taken back: at once, later, or for another row in their place."""
    chosen, waiting = random.Random(seed), list(range(table.num_rows))
    places: list[int] = []
    takes: list[int] = []
    there: list[int] = []
    while waiting:
        if there and chosen.random() < 0.35:
            # Often a young one, so that rows come and go within a batch.
            at = chosen.randrange(len(there)) if chosen.random() < 0.5 else -1
            places, takes = [*places, places[taken := there.pop(at)]], [*takes, taken]
            if chosen.random() < 0.5:
                continue
        there.append(len(places))
        places, takes = [*places, waiting.pop(0)], [*takes, -1]
    weights = pa.array([1 if taken < 0 else -1 for taken in takes], pa.int64())
    return Feed(table.take(pa.array(places)).append_column("w", weights), history, batch, time=time, takes=tuple(takes))


def feeds(seed: int) -> dict[str, Feed]:
    """Both streams are corrected, the one with a table's history and the other from nothing."""
    return {
        "t": corrected(stream(160, seed), 70, 70 // BATCHES, seed),
        "u": corrected(stream(90, seed + 1), 0, 90 // BATCHES, seed + 1),
        "names": Feed(names(seed), static=True),
    }


@pytest.mark.parametrize("seed", range(1, 1 + int(os.environ.get("ARGUS_SEEDS", "1"))))
def test_every_class_under_corrections(spark: SparkSession, seed: int) -> None:
    """Half of a mix of all classes from the start, the other half over rows that were corrected already."""
    order = random.Random(seed).sample(sorted(ALL), min(len(ALL), int(os.environ.get("ARGUS_QUERIES", "16"))))
    early, late = order[::2], order[1::2]
    with Oracle(spark, feeds(seed)) as oracle:
        oracle.register({name: ALL[name] for name in early}, check=False)
        oracle.run(BATCHES, check=BATCHES > 2)
        oracle.register({name: ALL[name] for name in late})
        oracle.run(BATCHES)
        oracle.check_changes()


def test_elements_of_arrays_under_corrections(spark: SparkSession) -> None:
    """Rows find the places that their arrays have."""
    names = [name for name in ALL if name.startswith(("array_tags", "array_parts"))]
    cases = {name: ALL[name] for name in one_in(2, names)}
    with Oracle(spark, feeds(4)) as oracle:
        oracle.register(cases, check=False)
        oracle.run(2)
        oracle.check_changes()


def test_gaps_and_recursions_under_corrections() -> None:
    """A group between two others goes, and the last of a key; a path is cut, and closed again."""
    cases = {name: case for name, case in ALL.items() if name.startswith(("gap_", "recursion_"))}
    with Oracle(InProcess(), feeds(int(os.environ["ARGUS_SEED"]))) as oracle:
        for name, case in cases.items():
            try:
                oracle.register({name: case}, check=False)
            except NeedsSparkError:
                oracle.watched.pop(name, None)
        assert len(oracle.watched) > 10
        oracle.run(2, check=False)
        oracle.check_results()
        oracle.check_changes()


def test_values_of_groups_that_count_as_large_are_found_by_rank() -> None:
    """MIN and MAX of every type, also of what MAX_BY orders, and percentiles: rows that decided are taken back."""
    kinds = ("statistic", "collected", "list")
    limits = replace(LIMITS, values_of_large_group=0, rows_kept_open=0)
    seed = int(os.environ["ARGUS_SEED"])
    chosen = [name for name in ALL if name.partition("_")[0] in kinds]
    with Oracle(InProcess(), feeds(seed), limits=limits) as oracle:
        assert len(registered(oracle, chosen)) > 20
        for _ in range(2):
            oracle.run(1, check=False)
            oracle.check_results()
        oracle.check_changes()


def test_windows_under_corrections(spark: SparkSession) -> None:
    """Rows in windows, behind them and before them are taken back; time itself does not go back."""
    # Now is the latest time that any row brought, also one that was taken back.
    now = re.compile(r"(SELECT max\((?:d|ts)\)(?: m)? FROM [fg])\b")
    cases = {name: Case(case.sql, now.sub(r"\1_brought", case.asked)) for name, case in CASES.items()}
    some = random.Random(5).sample(sorted(cases), min(len(cases), int(os.environ.get("ARGUS_QUERIES", "6"))))
    with Oracle(spark, {"f": corrected(F, 40, 35, 3, time="d"), "g": corrected(G, 0, 40, 4, time="ts")}) as oracle:
        oracle.register({name: cases[name] for name in some[::2]}, check=False)
        oracle.run(2)
        oracle.register({name: cases[name] for name in some[1::2]}, results="eager")
        oracle.run(2)
        oracle.check_changes()
