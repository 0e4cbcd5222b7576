"""Answers with ORDER BY come in that order, however they are read; DuckDB's list is the truth, row by row."""

from __future__ import annotations

import pyarrow.parquet as pq
from oracle.bags import Row, frame_rows
from oracle.harness import Case, Feed, Oracle
from oracle.random_streams import stream
from pyspark.sql import SparkSession

from workbench.engine.fetching import to_pandas

SPARK = {
    "defaults": Case("SELECT id, x FROM t ORDER BY x, id", "SELECT id, x FROM t ORDER BY x NULLS FIRST, id"),
    "descending": Case(
        "SELECT id, y FROM t ORDER BY y DESC, id DESC", "SELECT id, y FROM t ORDER BY y DESC NULLS LAST, id DESC"
    ),
    "nulls": Case("SELECT id, s FROM t ORDER BY s DESC NULLS FIRST, g ASC NULLS LAST, id"),
    "hidden": Case("SELECT g, s FROM t WHERE k > 2 ORDER BY id, g NULLS FIRST, s NULLS FIRST"),
    "expression": Case(
        "SELECT id FROM t ORDER BY upper(s) || 'x', k % 3, id",
        "SELECT id FROM t ORDER BY upper(s) || 'x' NULLS FIRST, k % 3 NULLS FIRST, id",
    ),
    "position_and_alias": Case(
        "SELECT d AS day, id, wide w FROM t ORDER BY w DESC, 1, id",
        "SELECT d, id, wide FROM t ORDER BY wide DESC NULLS LAST, d NULLS FIRST, id",
    ),
    "alias_hides_column": Case("SELECT id AS k, k AS id FROM t ORDER BY k", "SELECT id, k FROM t ORDER BY id"),
    "flags": Case("SELECT flag, ts, id FROM t ORDER BY ALL", "SELECT flag, ts, id FROM t ORDER BY ALL NULLS FIRST"),
    "groups": Case(
        "SELECT g, COUNT(*) AS n FROM t GROUP BY g ORDER BY SUM(k) + 1 DESC, n, g",
        "SELECT g, COUNT(*) AS n FROM t GROUP BY g ORDER BY SUM(k) + 1 DESC NULLS LAST, n, g NULLS FIRST",
    ),
    "distinct": Case(
        "SELECT DISTINCT g, flag FROM t ORDER BY length(g) DESC, g, flag",
        "SELECT DISTINCT g, flag, length(g) FROM t ORDER BY length(g) DESC NULLS LAST, g NULLS FIRST, flag NULLS FIRST",
    ),
    "union": Case(
        "SELECT k AS a, g FROM t UNION ALL SELECT id, s FROM t ORDER BY a DESC, 2",
        "SELECT k AS a, g FROM t UNION ALL SELECT id, s FROM t ORDER BY a DESC NULLS LAST, 2 NULLS FIRST",
    ),
    "of_a_view": Case(
        "WITH v AS (SELECT id, k FROM t ORDER BY s) SELECT id FROM v WHERE k > 3 ORDER BY k DESC, id",
    ),
    "parentheses": Case(
        "(SELECT id, k FROM t) ORDER BY id DESC, k", "SELECT id, k FROM t ORDER BY id DESC, k NULLS FIRST"
    ),
    "one_group": Case("SELECT COUNT(*) FROM t ORDER BY 1"),
}
DUCKDB = {
    "duckdb": Case("SELECT id, amount FROM t ORDER BY amount DESC, id", dialect="duckdb"),
    "duckdb_all": Case("SELECT s, id FROM t ORDER BY ALL DESC", dialect="duckdb"),
    "postgres": Case(
        "SELECT id, amount FROM t ORDER BY amount DESC, id",
        "SELECT id, amount FROM t ORDER BY amount DESC NULLS FIRST, id",
        dialect="postgres",
    ),
    "oracle": Case(
        "SELECT id, d FROM t ORDER BY d, id", "SELECT id, d FROM t ORDER BY d NULLS LAST, id", dialect="oracle"
    ),
}

REFINED: dict[str, tuple[Case, dict[str, object]]] = {
    "sorted": (
        Case("SELECT id, s FROM t", "SELECT id, s FROM t ORDER BY s NULLS LAST, id"),
        {"sort": "S"},
    ),
    "sorted_descending": (
        Case("SELECT id, x, s FROM t", "SELECT id, x, s FROM t ORDER BY x DESC NULLS LAST, id"),
        {"sort": "x", "descending": True},
    ),
    "chosen_and_sorted": (
        Case(
            "SELECT id, x, s FROM t",
            "SELECT id, x, s FROM t WHERE x > 0.5 OR s IS NULL ORDER BY x DESC NULLS LAST, id",
        ),
        {"sort": "x", "descending": True, "where": "x > 0.5 OR s IS NULL -- or none"},
    ),
    "chosen_in_its_order": (
        Case("SELECT k, id FROM t ORDER BY s, id", "SELECT k, id FROM t WHERE k % 2 = 1 ORDER BY s NULLS FIRST, id"),
        {"where": "k % 2 = 1"},
    ),
    "groups_refined": (
        Case(
            "SELECT g, COUNT(*) AS `n rows` FROM t GROUP BY g",
            "SELECT g, COUNT(*) AS n FROM t GROUP BY g HAVING n > 2 ORDER BY n DESC, g NULLS FIRST",
        ),
        {"sort": "n rows", "descending": True, "where": "`N rows` > 2"},
    ),
    "one_name_twice": (
        Case("SELECT k AS a, id AS A FROM t", "SELECT k, id FROM t WHERE id < 50 ORDER BY id DESC"),
        {"sort": "a_2", "descending": True, "where": "a_2 < 50"},
    ),
}
"""Queries, of which DuckDB gives the rows and the order that are asked for."""


def shown(oracle: Oracle, name: str, rows: list[Row]) -> list[Row]:
    """DuckDB's rows, without what was only ordered by."""
    width = len(oracle.watched[name].query.columns)
    return [row[:width] for row in rows]


def test_answers_come_in_their_order(spark: SparkSession, tmp_path: object) -> None:
    cases = SPARK | DUCKDB
    refined = {name: case for name, (case, _) in REFINED.items()}
    with Oracle(spark, {"t": Feed(stream(130, 7), 60, 30)}) as oracle:
        oracle.register(cases | refined, check=False)
        oracle.run(2, check=False)
        for name in cases:
            query, rows = oracle.watched[name].query, shown(oracle, name, oracle.watched[name].expected[2])
            assert frame_rows(query.result()) == rows, name
            assert frame_rows(query.head(7, 5)) == rows[5:12], name
            assert query.count() == len(rows)
        for name, (_, asked) in REFINED.items():
            query, rows = oracle.watched[name].query, oracle.watched[name].expected[2]
            assert len(rows) > 3 and frame_rows(query.head(1_000, **asked)) == rows, name
            assert frame_rows(query.head(2, 1, **asked)) == rows[1:3], name
            assert query.count(where=asked.get("where")) == len(rows), name
        for name in ("expression", "groups", "postgres"):
            query, rows = oracle.watched[name].query, shown(oracle, name, oracle.watched[name].expected[2])
            with query.answers() as answers:
                assert frame_rows(to_pandas(answers.result().toArrow(), answers.plan, query.timezone)) == rows, name
            assert frame_rows(query.dataframe().toPandas()) == rows
            query.save(f"{tmp_path}/{name}.parquet")
            assert frame_rows(pq.read_table(f"{tmp_path}/{name}.parquet").to_pandas()) == rows


def test_an_order_stays_when_a_session_is_opened_again(spark: SparkSession, tmp_path: object) -> None:
    case = Case("SELECT id, k FROM t ORDER BY k DESC NULLS LAST, id")
    with Oracle(spark, {"t": Feed(stream(60, 3), 30, 10)}, path=f"{tmp_path}/session") as oracle:  # type: ignore[arg-type]
        oracle.register({"ordered": case}, check=False)
        oracle.reopen()
        oracle.run(1, check=False)
        assert frame_rows(oracle.watched["ordered"].query.result()) == oracle.watched["ordered"].expected[1]
