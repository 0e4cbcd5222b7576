"""Families: aggregates and set operators that differ only in the rows they read run as one operator, and each answers
as if it were alone, while others come, go, ask for more, or come back."""

from __future__ import annotations

from pathlib import Path

import pytest
from long import some
from oracle.harness import Case, Feed, Oracle
from oracle.random_streams import stream
from oracle.test_corrections import corrected
from pyspark.sql import SparkSession

from workbench.engine.physical.plans import AggregatePlan


def totals(above: int) -> Case:
    return Case(f"SELECT g, s, SUM(amount) AS total, COUNT(*) AS n FROM t WHERE k > {above} GROUP BY g, s HAVING n > 1")


def held(oracle: Oracle, query: str) -> tuple[int, ...]:
    """Who is in the family of a query's root."""
    plan = oracle.session.network.network.queries[query]
    running = oracle.session.parts.engine.state.by_root[plan.read.root].plan
    assert isinstance(running, AggregatePlan)
    return running.grouped.members


def test_a_family_that_grows_shrinks_splits_and_is_opened_again(spark: SparkSession, tmp_path: Path) -> None:
    feeds = {"t": Feed(stream(260, seed=11), history=60, batch=20)}
    with Oracle(spark, feeds, path=tmp_path / "session") as oracle:
        oracle.register({f"q{i}": totals(i) for i in range(3)})
        assert len(held(oracle, "q1")) == 3
        oracle.run(1)
        oracle.register({"late": totals(-1)})  # joins: computed alone
        assert len(held(oracle, "q1")) == 4
        oracle.run(1)
        oracle.drop("q0")
        oracle.register({"after": totals(3)})  # a member has left, so all of it is made again
        oracle.run(1)
        # One of them comes to have another statistic, and leaves with what was told of it.
        oracle.register({"more": Case("SELECT g, s, AVG(amount) AS a FROM t WHERE k > 1 GROUP BY g, s")})
        assert set(held(oracle, "q1")).isdisjoint(held(oracle, "q2")) and held(oracle, "more") == held(oracle, "q1")
        oracle.run(1)
        oracle.reopen()
        oracle.register({"q0": totals(0)})
        oracle.run(1)
        oracle.drop("more")
        oracle.register({"more": Case("SELECT g, s, MAX(x) AS m FROM t WHERE k > 2 GROUP BY g, s")})
        oracle.run(2)
        oracle.check_results()
        oracle.check_changes(since=True)


def test_groupings_by_columns_that_the_others_have_not(spark: SparkSession, tmp_path: Path) -> None:
    """Each is computed alone; the rows and the state of those that are there get its columns, in corrections, too."""
    feeds = {"t": corrected(stream(260, seed=23, again=0.2), 100, 20, seed=23)}
    groupings = ["g", "s", "g, s", "k", "d", "k % 3", "s, d", "x", "amount, g", "UPPER(s)", "d, k, g"]
    with Oracle(spark, feeds, path=tmp_path / "session") as oracle:
        for number, groups in enumerate(groupings):
            oracle.register({f"q{number}": Case(f"SELECT {groups}, COUNT(*) AS n FROM t GROUP BY {groups}")})
            if number % 3 == 1:
                oracle.run(1)
            if number == 6:
                oracle.drop("q2")
            if number == 8:
                oracle.reopen()
        assert len(held(oracle, "q8")) > 5
        oracle.run(2)
        oracle.check_results()
        oracle.check_changes(since=True)


@pytest.mark.parametrize("one_by_one", some([False, True]))
def test_siblings_of_every_kind(spark: SparkSession, one_by_one: bool) -> None:
    """Without groups, over no rows, holistic, distinct, with computed groups, over siblings, and set operators."""
    cases = {}
    for i in (0, 3, 1_000):
        where = f"FROM t WHERE k >= {i}"
        cases |= {
            f"alone{i}": Case(f"SELECT COUNT(*) AS n, COUNT(DISTINCT s) AS d, MIN(amount) AS lo {where}"),
            f"median{i}": Case(f"SELECT g, MEDIAN(k) AS m, COUNT(DISTINCT s) AS d {where} GROUP BY g"),
            f"doubles{i}": Case(f"SELECT s, SUM(x) AS total, MAX(x) AS top {where} GROUP BY s"),
            f"distinct{i}": Case(f"SELECT DISTINCT g, s {where}"),
            f"computed{i}": Case(f"SELECT k % 3 AS r, SUM(amount) AS total {where} GROUP BY k % 3"),
            f"over{i}": Case(f"SELECT n, COUNT(*) AS c FROM (SELECT g, COUNT(*) AS n {where} GROUP BY g) a GROUP BY n"),
            f"union{i}": Case(f"SELECT g {where} UNION SELECT s FROM t WHERE k < {i}"),
            f"except{i}": Case(f"SELECT g {where} EXCEPT SELECT s FROM t WHERE k > {i + 1}"),
        }
    with Oracle(spark, {"t": Feed(stream(150, seed=8), history=50, batch=25)}) as oracle:
        oracle.register(cases, one_by_one=one_by_one)
        if not one_by_one:  # else one after the other comes to be computed from finer groups, and leaves alone
            assert {len(held(oracle, f"{kind}0")) for kind in ("alone", "median", "doubles", "computed", "over")} == {3}
        oracle.run(3)
        oracle.check_changes()
