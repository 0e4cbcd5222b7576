"""Queries and aggregates that combine conditions, and one that takes a condition apart: answers and changes go on, and
a reopened session has the same."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from oracle.harness import Case, Feed, Oracle
from oracle.random_streams import stream
from oracle.test_corrections import corrected
from pyspark.sql import SparkSession

AMOUNTS = ("t.amount > 0", "t.amount > -50 AND u.k < 4")
GROUPS = ("t.g = 'a' AND u.x > 0", "t.g IS NULL", "u.s > t.s")
PAIRS = "FROM t JOIN u ON t.k = u.k WHERE {}"
APART = f"u.x > 0 AND {GROUPS[1]}"
TOTALS = (
    "SELECT g, COUNT(*) AS n, SUM(amount) AS total, MIN(k) AS least FROM t GROUP BY g, flag"
    " HAVING SUM(amount) > {} AND COUNT(*) > {}"
)

FAMILIES: dict[str, tuple[list[str], str]] = {
    form: ([sql.format(f"{amount} AND {group}") for amount, group in product(AMOUNTS, GROUPS)], sql.format(APART))
    for form, sql in {
        "rows": f"SELECT t.id, u.id AS other, t.amount, u.x {PAIRS}",
        "additive": f"SELECT t.g, COUNT(*) AS n, SUM(t.amount) AS total, MAX(u.s) AS last {PAIRS} GROUP BY t.g",
        "no groups": f"SELECT COUNT(t.amount) AS n, SUM(t.amount) AS total {PAIRS}",
        "values": f"SELECT t.g, COUNT(DISTINCT u.s) AS n, MEDIAN(t.amount) AS middle {PAIRS} GROUP BY t.g",
        "from rows": f"SELECT t.g, MIN_BY(u.id, t.id * 1000 + u.id) AS first {PAIRS} GROUP BY t.g",
        "distinct": f"SELECT DISTINCT t.g, u.s {PAIRS}",
    }.items()
} | {
    "having": ([TOTALS.format(total, n) for total, n in product((-100, 0, 40), (0, 1, 3))], TOTALS.format(-100, 2)),
    "of groups": (
        [
            f"SELECT n, SUM(total) AS sum, COUNT(*) AS groups FROM ({TOTALS.format(total, n)}) GROUP BY n"
            for total, n in product((-100, 0, 40), (0, 1, 3))
        ],
        f"SELECT n, COUNT(*) AS groups FROM ({TOTALS.format(-100, 2)}) GROUP BY n",
    ),
}
"""Combinations of few conditions, and another one that takes a condition apart."""


def appended() -> dict[str, Feed]:
    return {
        "t": Feed(stream(260, seed=41), history=80, batch=30),
        "u": Feed(stream(140, seed=42), history=40, batch=15),
    }


def with_corrections() -> dict[str, Feed]:
    return {"t": corrected(stream(220, 41), 80, 20, 41), "u": corrected(stream(110, 42), 40, 10, 42)}


@pytest.mark.parametrize("form", FAMILIES)
@pytest.mark.parametrize("feeds", [appended, with_corrections])
def test_a_condition_is_taken_apart_and_put_together_again(
    spark: SparkSession, tmp_path: Path, form: str, feeds: Callable[[], dict[str, Feed]]
) -> None:
    combined, apart = FAMILIES[form]
    with Oracle(spark, feeds(), path=tmp_path / "session") as oracle:
        oracle.register({f"q{number}": Case(sql) for number, sql in enumerate(combined)})
        network = oracle.session.network
        grouped = [node for node in network.nodes if node.kind in ("aggregate", "distinct")]
        readers = [*network.results.values(), *(node.parents for node in grouped)]
        assert sum(len(nodes) == 2 for nodes in readers) == len(combined)
        oracle.run(1)
        oracle.register({"apart": Case(apart)})
        oracle.run(1)
        oracle.drop("apart")
        oracle.run(1)
        oracle.reopen()
        oracle.run(1)
        oracle.drop("q0")
        oracle.run(1)
        oracle.check_results()
        oracle.check_changes(since=True)


@pytest.mark.parametrize("pairs", ["FROM t JOIN u ON t.k = u.k", "FROM t JOIN t u ON t.k = u.k"])
def test_one_pair_of_a_row_is_enough_for_one_reader_of_a_condition_and_not_for_others(
    spark: SparkSession, pairs: str
) -> None:
    """Pairs of one ``k`` are wanted once for each row of ``t``, which a semijoin finds; pairs of one ``g`` besides are
    all wanted, and looked up by both."""
    groups = ("u.x > 0", "u.k < 4", "u.s > t.s")
    conditions = [f"{amount} AND t.g = u.g AND {group}" for amount, group in product(AMOUNTS, groups)]
    counted = [f"SELECT t.g, COUNT(*) AS n, SUM(u.x) AS total {pairs} WHERE {each} GROUP BY t.g" for each in conditions]
    with Oracle(spark, appended()) as oracle:
        oracle.register({"once": Case(f"SELECT DISTINCT t.g, t.k {pairs} WHERE {AMOUNTS[0]}")})
        oracle.register({f"q{number}": Case(sql) for number, sql in enumerate(counted)})
        oracle.run(2)
        oracle.drop("once")
        oracle.run(1)
        oracle.check_changes()
