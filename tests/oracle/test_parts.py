"""Queries that combine conditions, and one that takes a condition apart: answers and changes go on, and a reopened
session has the same."""

from __future__ import annotations

from itertools import product
from pathlib import Path

from oracle.harness import Case, Feed, Oracle
from oracle.random_streams import stream
from pyspark.sql import SparkSession

AMOUNTS = ("t.amount > 0", "t.amount > -50 AND u.k < 4")
GROUPS = ("t.g = 'a' AND u.x > 0", "t.g IS NULL", "u.s > t.s")
PAIRS = "SELECT t.id, u.id AS other, t.amount, u.x FROM t JOIN u ON t.k = u.k WHERE "
COMBINED = [f"{PAIRS}{amount} AND {group}" for amount, group in product(AMOUNTS, GROUPS)]
APART = f"{PAIRS}u.x > 0 AND {GROUPS[1]}"


def test_a_condition_is_taken_apart_and_put_together_again(spark: SparkSession, tmp_path: Path) -> None:
    feeds = {
        "t": Feed(stream(260, seed=41), history=80, batch=30),
        "u": Feed(stream(140, seed=42), history=40, batch=15),
    }
    with Oracle(spark, feeds, path=tmp_path / "session") as oracle:
        oracle.register({f"q{number}": Case(sql) for number, sql in enumerate(COMBINED)})
        assert {len(nodes) for nodes in oracle.session.network.results.values()} == {2}
        oracle.run(1)
        oracle.register({"apart": Case(APART)})
        oracle.run(1)
        oracle.drop("apart")
        oracle.run(1)
        oracle.reopen()
        oracle.run(1)
        oracle.drop("q0")
        oracle.run(1)
        oracle.check_results()
        oracle.check_changes(since=True)
