"""Why a row is in an answer: DuckDB has it again from those rows alone that are said to explain it."""

from __future__ import annotations

import duckdb
import pytest
from long import LONG
from oracle.bags import difference, frame_rows
from oracle.class_queries import ALL
from oracle.harness import Case, Feed, Oracle
from oracle.test_corrections import feeds as corrected_feeds
from oracle.test_query_classes import feeds
from oracle.test_windows import SESSIONS, G
from oracle.test_without_spark import LEAST, SEED, registered
from pyspark.sql import SparkSession

from workbench.engine.spark.in_process import InProcess, NeedsSparkError
from workbench.sql.logical import Input, LogicalQuery, SetQuery, parts_of

EVERY = 1 if LONG else 40
"""Of the queries of all classes a run has every n-th."""

SHAPES = {
    "max_having_itself": "SELECT g, MAX(k) AS m FROM t GROUP BY g HAVING MAX(k) > 3",
    "max_having_min": "SELECT g, MAX(k) AS m FROM t GROUP BY g HAVING MIN(k) < 3",
    "max_having_count": "SELECT g, MAX(k) AS m FROM t GROUP BY g HAVING COUNT(*) > 4",
    "min_and_max_of_two": "SELECT g, MIN(k) AS a, MAX(amount) AS b FROM t GROUP BY g HAVING MAX(amount) > 0",
    "max_of_all": "SELECT MAX(k) AS m, MIN(d) AS d FROM t",
    "group_not_shown": "SELECT COUNT(*) AS n, SUM(k) AS s FROM t WHERE k BETWEEN 0 AND 20 GROUP BY g, flag",
    "two_partitions": "SELECT id, COUNT(*) OVER (PARTITION BY g) AS a, COUNT(*) OVER (PARTITION BY k) AS b FROM t",
    "partition_not_shown": "SELECT id, COUNT(*) OVER (PARTITION BY g, flag) AS a FROM t",
    "partition_of_all": "SELECT id, k, COUNT(*) OVER () AS a FROM t WHERE k > 4",
    "highest_over": "SELECT id, k, MAX(k) OVER (PARTITION BY g) AS m FROM t",
    "lowest_so_far": "SELECT id, MIN(k) OVER (PARTITION BY g ORDER BY d NULLS LAST) AS m FROM t QUALIFY id > m OR flag",
    "highest_of_groups": "SELECT g, COUNT(*) AS n, MAX(MAX(k)) OVER (PARTITION BY flag) AS m FROM t GROUP BY g, flag",
    "highest_count": "SELECT g, flag, MAX(COUNT(*)) OVER (PARTITION BY flag) AS m FROM t GROUP BY g, flag",
    "over_groups": "SELECT g, COUNT(*) AS n, SUM(COUNT(*)) OVER (PARTITION BY flag) AS s FROM t GROUP BY g, flag",
    "rank_of_groups": "SELECT g, RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM t GROUP BY g HAVING COUNT(*) > 2",
    "offset": "SELECT id, k, d FROM t ORDER BY k DESC NULLS LAST, id, d LIMIT 4 OFFSET 3",
    "offset_in_from": "SELECT g, COUNT(*) AS n FROM (SELECT id, g FROM t ORDER BY id, g LIMIT 9 OFFSET 2) q GROUP BY g",
    "a_view_twice": "WITH v AS (SELECT g, MAX(k) AS m FROM t GROUP BY g) SELECT a.g, b.m FROM v a JOIN v b USING (m)",
    "above_average": "SELECT id, k FROM t WHERE k > (SELECT AVG(k) FROM t)",
    "all_and_some": "SELECT COUNT(k) AS n FROM t UNION ALL SELECT k FROM t WHERE g = 'b' UNION ALL SELECT 1 FROM t",
    "of_no_group": "SELECT COUNT(*) AS n FROM (SELECT SUM(k) AS s FROM t HAVING COUNT(*) > 100000) q",
    "both_sides": "SELECT t.id, u.id AS other, t.k FROM t LEFT JOIN u ON t.k = u.k AND u.k > 3",
}  # fmt: skip
"""What decides a row is not the row's own group or partition alone."""


BARE = ("map", "struct")
"""Classes whose columns the streams with corrections have not."""

KINDS = sorted(LEAST.keys() - {*BARE, "json"})
"""JSON shows the sign of a zero, which equal rows need not have in common."""


@pytest.mark.parametrize("limit", [1, 100])
def test_rows_are_there_again_from_what_explains_them(spark: SparkSession, limit: int) -> None:
    cases = dict(sorted(ALL.items())[limit % EVERY :: EVERY])
    with Oracle(spark, feeds(seed=7)) as oracle:
        oracle.register(cases)
        check_explained(oracle, limit)


def test_rows_that_others_decide_under_corrections(spark: SparkSession) -> None:
    cases = {name: Case(sql) for name, sql in SHAPES.items()}
    if LONG:
        cases |= {name: case for name, case in ALL.items() if not name.startswith(BARE)}
    with Oracle(spark, corrected_feeds(seed=3)) as oracle:
        oracle.register(cases)
        check_explained(oracle, 1)
        check_explained(oracle, 100)


@pytest.mark.parametrize("kinds", [[kind] for kind in KINDS] if LONG else [KINDS], ids=lambda kinds: kinds[-1])
def test_queries_of_each_class_under_corrections(in_process: InProcess, kinds: list[str]) -> None:
    """With ``ARGUS_LONG=all`` all of each kind in a session of its own, some hundred rows; else some of all kinds."""
    names = [name for kind in kinds for name in ALL if name.startswith(f"{kind}_")]
    narrowed = [name for name in names if name.startswith(("pattern_", "correlated_asof"))]
    chosen = names if LONG else [*narrowed[::2], *names[::16]]
    with Oracle(in_process, corrected_feeds(seed=SEED if LONG else 3)) as oracle:
        found = registered(oracle, dict.fromkeys(chosen))
        assert check_explained(oracle, 100) >= (len(found) if LONG else 100)


def test_rows_of_sessions(in_process: InProcess) -> None:
    cases = {name: case for name, case in SESSIONS.items() if name != "of late"}  # no row that explains it is now
    with Oracle(in_process, {"g": Feed(G, 20, 12, time="ts")}) as oracle:
        oracle.register(cases)
        assert check_explained(oracle, 1) == len(cases)
        assert check_explained(oracle, 100) > 20


def check_explained(oracle: Oracle, limit: int) -> int:
    """Check rows of each query after two batches.

    Returns:
        Of how many rows: where a session has no Spark, of the queries that need none for it.
    """
    failed, explained = [], 0
    watched, oracle.watched = oracle.watched, {}  # DuckDB overflows in some answers, for which nothing asks here
    oracle.run(2, check=False)
    oracle.watched = watched
    oracle.duck.execute("CREATE SCHEMA IF NOT EXISTS explained")
    for name, asked in watched.items():
        try:
            found = asked.query.why(limit=limit)
        except NeedsSparkError:
            continue
        explained += len(found.rows)
        assert len(found.rows) == min(limit, asked.query.count())
        for stream in oracle.feeds:
            oracle.duck.execute(f"CREATE OR REPLACE TABLE explained.{stream} AS FROM main.{stream} LIMIT 0")
            if (rows := found.tables.get(stream)) is not None:
                oracle.duck.register("those", rows.drop_columns(["batch"]))
                oracle.duck.execute(f"INSERT INTO explained.{stream} BY NAME FROM those")
            beyond = f"SELECT COUNT(*) FROM (FROM explained.{stream} EXCEPT ALL FROM main.{stream})"
            assert oracle.answer(beyond) == [(0,)], f"{name}: rows of {stream} that are not there"
        oracle.duck.execute("USE explained")
        try:
            again = oracle.answer(asked.case.asked)
        except duckdb.OutOfRangeException:  # DuckDB computes of fewer rows what it did not of all
            continue
        finally:
            oracle.duck.execute("USE main")
        _, lost = difference(frame_rows(found.rows), again, asked.case.zero or 1e-9)
        if lost and not negates_twice(asked.query.logical):
            failed.append(f"{name}: {asked.case.sql}: {lost[:3]} not in {again[:3]}")
    assert not failed, "\n".join(failed)
    return explained


def negates_twice(query: LogicalQuery) -> bool:
    """Whether rows are there since others are not that NOT IN, EXCEPT or a join without a partner took away.

    What is not there has no rows to show, so such rows may be others where all else is left out.
    """

    def takes(part: Input) -> bool:
        return isinstance(part, SetQuery) and part.operator in ("except", "antijoin")

    taking = [part for part in parts_of(query) if isinstance(part, SetQuery) and takes(part)]
    return any(takes(inner) for part in taking for other in part.branches[1:] for inner in parts_of(other))
