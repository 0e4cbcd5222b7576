"""A join of rows that are taken back comes to test less when a query needs more of it; what its readers were told of
stays told, and each goes on to see its own rows alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from long import some
from oracle.harness import Case, Feed, Oracle
from oracle.random_streams import stream
from pyspark.sql import SparkSession

from workbench.network.nodes import Join


def days(least: int, window: int) -> Case:
    """Two keys of a group, each with some rows and not many more than the other has; sums of floats beside them."""
    rows = f"SELECT g, k, COUNT(*) AS n, SUM(x) AS total FROM t GROUP BY g, k HAVING COUNT(*) > {least}"
    return Case(
        f"WITH many AS ({rows}) SELECT a.g, a.k, a.total, b.k AS other, b.n FROM many a, many b"
        f" WHERE a.g = b.g AND a.k < b.k AND b.n - a.n <= {window}"
    )


def counted(least: int, window: int) -> Case:
    """An operator above such a join."""
    return Case(f"SELECT other, COUNT(*) AS pairs, MAX(n) AS most FROM ({days(least, window).sql}) p GROUP BY other")


def joins(oracle: Oracle) -> int:
    """How many joins there are."""
    return sum(isinstance(node, Join) for node in oracle.session.network.network.nodes.values())


@pytest.mark.parametrize("seed", some([3, 4]))
def test_a_join_over_groups_comes_to_serve_more(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    feeds = {"t": Feed(stream(300, seed=seed), history=80, batch=20)}
    with Oracle(spark, feeds, path=tmp_path / "session") as oracle:
        oracle.register({"narrow": days(2, 1)})
        oracle.run(2)
        oracle.register({"above": counted(2, 1)})
        oracle.run(1)
        oracle.register({"weaker": days(1, 3)})
        oracle.run(1)
        oracle.register({"other side": days(0, 2)})
        assert joins(oracle) == 1
        oracle.run(1)
        oracle.check_changes(since=True)
        oracle.reopen()
        oracle.register({"same": days(2, 1), "all": days(0, 9)})
        assert joins(oracle) == 1
        oracle.run(2)
        oracle.drop("weaker")
        oracle.run(1)
        oracle.register({"weaker": days(1, 4)})
        oracle.run(1)
        oracle.drop("all")
        oracle.drop("other side")  # it tests more again
        oracle.run(1)
        oracle.drop("weaker")
        oracle.run(1)
        assert joins(oracle) == 1
        oracle.check_changes(since=True)
