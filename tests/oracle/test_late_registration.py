"""Queries that meet nodes which are there already: what is remade must not disturb those who read it before."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pyarrow as pa
import pytest
from oracle.class_queries import ALL
from oracle.harness import Case, Feed, Oracle
from oracle.random_streams import names, stream
from pyspark.sql import SparkSession


@pytest.fixture
def oracle(spark: SparkSession) -> Iterator[Oracle]:
    chosen = random.Random(3)
    tenths = pa.table(
        {
            "k": pa.array([chosen.randrange(4) for _ in range(90)], pa.int64()),
            "x": pa.array([chosen.uniform(-1, 1) / 3 for _ in range(90)]),
        }
    )
    feeds = {
        "t": Feed(stream(120, seed=4), history=40, batch=20),
        "names": Feed(names(4), static=True),
        "f": Feed(tenths, history=30, batch=15),
    }
    with Oracle(spark, feeds) as made:
        yield made


def test_another_statistic_of_the_same_groups(oracle: Oracle) -> None:
    """One node, horizontally expanded (T7.1): the log of the first query has no such column."""
    oracle.register({"sums": Case("SELECT g, SUM(amount) AS s FROM t GROUP BY g")})
    oracle.run(2)
    oracle.register({"lowest": Case("SELECT g, MIN(x) AS lo, COUNT(k) AS n FROM t GROUP BY g")})
    oracle.run(1)
    oracle.register({"lowest_again": Case("SELECT g, MIN(x) AS lo FROM t GROUP BY g HAVING COUNT(*) > 3")})
    oracle.run(1)
    oracle.check_changes(since=True)


def test_a_statistic_dropped_and_wanted_again(oracle: Oracle) -> None:
    oracle.register({"a": Case("SELECT g, SUM(amount) AS s FROM t GROUP BY g"), "b": ALL["aggregate_by_group"]})
    oracle.run(1)
    oracle.drop("b")
    oracle.run(1)
    oracle.register({"b": ALL["aggregate_by_group"]})
    oracle.run(1)
    oracle.check_changes(since=True)


def test_sums_of_doubles_keep_the_value_they_were_told_with(oracle: Oracle) -> None:
    """Summed again in another order they may differ in the last bits, and a retraction would miss what it retracts."""
    told = {
        "sums": Case("SELECT k, SUM(x) AS s, STDDEV(x) AS d FROM f GROUP BY k"),
        "joined": Case("SELECT n.name, a.s FROM (SELECT k, SUM(x) AS s FROM f GROUP BY k) a, names n WHERE a.k = n.k"),
        "total": Case("SELECT SUM(x) AS s, VARIANCE(x) AS v FROM f"),
    }
    oracle.register(told)
    oracle.run(2)
    oracle.register(
        {
            "more": Case("SELECT k, COUNT(*) AS n, MAX(x) AS m FROM f GROUP BY k"),
            "all": Case("SELECT MIN(x) AS m FROM f"),
        }
    )
    oracle.run(2)
    oracle.check_results()
    oracle.check_changes()


def test_selections_of_every_kind_join_a_running_tree(oracle: Oracle) -> None:
    oracle.register({"a": Case("SELECT id FROM t WHERE amount > 100")})
    oracle.run(1)
    oracle.register({"b": Case("SELECT id, s FROM t WHERE amount > 200 OR s = 'plum'"), "c": Case("SELECT x FROM t")})
    oracle.run(1)
    oracle.drop("a")
    oracle.register({"d": Case("SELECT g FROM t WHERE amount > 300")})
    oracle.run(1)
    oracle.drop("c")
    oracle.run(1)
    oracle.check_changes(since=True)


def test_groups_by_a_count_are_counted(oracle: Oracle) -> None:
    """Both levels have a COUNT(*): two columns of one text."""
    oracle.register({"a": Case("SELECT n, COUNT(*) AS m FROM (SELECT k, COUNT(*) AS n FROM t GROUP BY k) GROUP BY n")})
    inner = "SELECT k, SUM(k) AS s FROM t WHERE k BETWEEN 0 AND 20 GROUP BY k"
    oracle.register({"b": Case(f"SELECT s, SUM(k) AS m FROM ({inner}) GROUP BY s")})
    oracle.run(2)
    oracle.check_changes()
