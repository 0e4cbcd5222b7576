"""Queries of every class, folded into one network, over small random streams: registered together and one by one, in
random orders, early and late, with some dropped on the way; DuckDB's answer after every batch is the truth."""

from __future__ import annotations

import os
import random
from collections.abc import Mapping

import pytest
from long import LONG
from oracle.class_queries import ALL, CLASSES
from oracle.harness import Case, Feed, Oracle
from oracle.random_streams import names, stream
from pyspark.sql import SparkSession


def feeds(seed: int, rows: int = 160, history: int = 60, batch: int = 25) -> dict[str, Feed]:
    """Streams of different lengths and batch sizes: ``u`` begins empty and ends before ``t`` does."""
    return {
        "t": Feed(stream(rows, seed), history, batch),
        "u": Feed(stream(rows // 2, seed + 1), 0, batch + 10),
        "names": Feed(names(seed), static=True),
    }


def test_there_are_queries_of_every_class() -> None:
    assert len(ALL) >= 60
    assert all(len(cases) >= 5 for cases in CLASSES.values())


EVERY = {
    "outer": 8, "subquery": 6, "join": 4, "set": 4, "correlated": 4, "aggregate": 4, "grouping": 3, "statistic": 3,
    "selection": 3, "struct": 3, "array": 3, "view": 2, "shape": 2, "collected": 2, "database": 2, "pivot": 2,
    "list": 2, "map": 2, "gap": 2, "recursion": 2, "pattern": 2, "json": 2,
}  # fmt: skip
"""Of most classes a run has every n-th query, beginning where its seed says: many of the others need no Spark
and run in ``test_without_spark``, some of them in ``make check``."""


@pytest.mark.parametrize("kind", CLASSES)
def test_all_of_a_class_together(spark: SparkSession, kind: str) -> None:
    every = 1 if LONG else EVERY.get(kind, 1)
    begun = int(os.environ["ARGUS_SEED"]) % every
    cases = dict([item for item in ALL.items() if item[0].startswith(f"{kind}_")][begun::every])
    with Oracle(spark, feeds(seed=len(kind))) as oracle:
        oracle.register(cases)
        oracle.run(4, check=False)
        oracle.check_results()
        oracle.check_changes(since=kind == "aggregate")
        oracle.check_verified(cases if LONG else _verified(kind, cases))


def _verified(kind: str, cases: Mapping[str, Case]) -> list[str]:
    """One query of every sixth class, another one for each seed: each takes a second."""
    chosen = random.Random(f"{kind} {os.environ['ARGUS_SEED']}")
    return chosen.sample(sorted(cases), 1) if chosen.randrange(6) == 0 else []


def test_alone_a_union_reads_no_column_that_nobody_keeps(spark: SparkSession) -> None:
    """Beside other queries the column would be there for them."""
    with Oracle(spark, feeds(seed=3)) as oracle:
        oracle.register({"set_union_column_unread": ALL["set_union_column_unread"]})
        oracle.run(2)


def test_functions_of_pairs_that_cheaper_tests_let_through(spark: SparkSession) -> None:
    def apart(first: int | None, second: int | None) -> int | None:
        if first is None or second is None:
            return None
        return second - first if first <= second else 1 // 0

    pairs = (
        "SELECT t.id, u.id AS uid FROM t JOIN u ON t.g = u.g WHERE t.k <= u.k AND CASE WHEN t.k <= u.k THEN {} END < {}"
    )
    functions = {"apart": (apart, ["BIGINT", "BIGINT"], "BIGINT")}
    with Oracle(spark, feeds(seed=11), functions=functions) as oracle:
        oracle.register({f"apart_{n}": Case(pairs.format("apart(t.k, u.k)", n)) for n in (3, 5)})
        oracle.run(3)
        oracle.check_changes()


def test_functions_of_rows_that_cheaper_tests_let_through(spark: SparkSession) -> None:
    """A function of two selections, each of which keeps it from rows that it could not take."""

    def parts(number: int | None) -> int:
        assert number is not None and number > 2
        return number % 3

    functions = {"parts": (parts, ["BIGINT"], "BIGINT")}
    tests = {"high": ("k > 5", "parts(k) < 2"), "low": ("k BETWEEN 3 AND 7", "parts(k) >= 1")}
    with Oracle(spark, feeds(seed=12), functions=functions) as oracle:
        for name, (cheap, called) in tests.items():
            asked = f"SELECT id FROM t WHERE CASE WHEN {cheap} THEN {called} END"
            oracle.register({name: Case(f"SELECT id FROM t WHERE {called} AND {cheap}", asked)})
        oracle.run(3)
        oracle.check_changes()


@pytest.mark.parametrize("seed", range(1, 1 + int(os.environ.get("ARGUS_SEEDS", "1"))))
def test_random_orders_with_late_comers_and_drops(spark: SparkSession, seed: int) -> None:
    """A mix of all classes; a third is registered after batch 2, some one by one, and a fifth is dropped before."""
    chosen = random.Random(seed)
    order = chosen.sample(sorted(ALL), 36 if LONG else 24)
    early, one_by_one, late = order[:-20], order[-20:-12], order[-12:]
    with Oracle(spark, feeds(seed, history=chosen.randrange(60), batch=chosen.randrange(15, 40))) as oracle:
        oracle.register({name: ALL[name] for name in early}, check=False)
        oracle.register({name: ALL[name] for name in one_by_one}, one_by_one=True, check=False)
        oracle.run(2, check=chosen.sample(early, 4))
        for name in chosen.sample(early + one_by_one, 7):
            oracle.drop(name)
        oracle.register({name: ALL[name] for name in late})
        oracle.run(2, check=chosen.sample(late, 4))
        oracle.check_results()
        oracle.check_changes()
