"""Analytic functions batch by batch against DuckDB: ranks, neighbours, positions, and aggregates over every frame.

Orders are complete but for rows that are equal in all columns, since SQL leaves the order of peers open.
"""

from __future__ import annotations

import pyarrow as pa
import pytest
from long import LONG
from oracle.harness import FEW_ARE_MANY, Case, Feed, Oracle
from oracle.random_streams import names, stream
from pyspark.sql import SparkSession

from workbench.engine.spark.in_process import InProcess
from workbench.options import Options

W = "(PARTITION BY g ORDER BY x DESC NULLS LAST, id)"


def duck(sql: str) -> Case:
    """The same words for both."""
    return Case(sql, dialect="duckdb")


ANALYTIC = {
    "ranks": duck(
        "SELECT id, g, k, rank() OVER w, dense_rank() OVER w, percent_rank() OVER w, cume_dist() OVER w,"
        " count(*) OVER w, sum(k) OVER w FROM t WINDOW w AS (PARTITION BY g ORDER BY k NULLS FIRST)"
    ),
    "numbers": duck(f"SELECT id, x, row_number() OVER {W}, ntile(3) OVER {W} FROM t"),
    "neighbours": duck(f"SELECT id, k, lag(k) OVER {W}, lead(k, 2, -7) OVER {W}, lag(s, 3) OVER {W} FROM t"),
    "neighbours_of_rows": duck(
        "SELECT id, lag(k, id % 4 - 1) OVER w AS a, lead(s, k % 3, '-') OVER w AS b, lag(k, -2) OVER w AS c,"
        " lead(id, CASE WHEN id % 5 > 0 THEN id % 5 END, -1) OVER w AS d, nth_value(k, id % 4) OVER w AS e,"
        " nth_value(id, id % 2 + 1) OVER (w ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING) AS f, lag(k, NULL, 3) OVER w AS h"
        " FROM t WHERE k BETWEEN -1000 AND 1000 WINDOW w AS (PARTITION BY flag ORDER BY id)"
    ),
    "neighbours_only": duck(f"SELECT id, lag(id) OVER {W} AS before FROM t WHERE k > 2"),
    "nulls_ignored": duck(
        f"SELECT id, lag(k IGNORE NULLS) OVER {W}, first_value(s IGNORE NULLS) OVER {W},"
        f" last_value(k IGNORE NULLS) OVER {W} FROM t"
    ),
    "any_value": Case(
        "SELECT id, any_value(k) OVER w AS a, any_value(s) IGNORE NULLS OVER w AS b, any_value(k) IGNORE NULLS OVER"
        " (w ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING) AS c FROM t WINDOW w AS (PARTITION BY flag ORDER BY id)",
        "SELECT id, first_value(k) OVER w, first_value(s IGNORE NULLS) OVER w, first_value(k IGNORE NULLS) OVER"
        " (w ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING) FROM t WINDOW w AS (PARTITION BY flag ORDER BY id)",
    ),
    "positions": duck(
        "SELECT id, first_value(k) OVER w, last_value(s) OVER w, nth_value(k, 2) OVER w,"
        " last_value(id) OVER (w ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING),"
        " nth_value(k, 2) OVER (w ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING)"
        " FROM t WINDOW w AS (PARTITION BY flag ORDER BY d NULLS FIRST, id)"
    ),
    "rows": duck(
        "SELECT id, sum(k) OVER (w ROWS 2 PRECEDING), count(*) OVER (w ROWS BETWEEN 1 FOLLOWING AND 3 FOLLOWING),"
        " max(x) OVER (w ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING), min(s) OVER (w ROWS UNBOUNDED PRECEDING),"
        " avg(k) OVER (w ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM t WINDOW w AS (PARTITION BY g ORDER BY id)"
    ),
    "groups": duck(
        "SELECT id, sum(big % 1000) OVER (w GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING),"
        " count(k) OVER (w GROUPS 2 PRECEDING), max(id) OVER (w GROUPS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
        " FROM t WINDOW w AS (PARTITION BY flag ORDER BY k NULLS LAST)"
    ),
    "range": duck(
        "SELECT id, count(*) OVER (PARTITION BY g ORDER BY k % 100 NULLS FIRST RANGE 2 PRECEDING), min(id) OVER"
        " (PARTITION BY g ORDER BY amount % 1000 DESC NULLS LAST RANGE BETWEEN 50.5 PRECEDING AND 10 FOLLOWING) FROM t"
    ),
    "range_of_time": duck(
        "SELECT id, count(*) OVER (ORDER BY ts NULLS FIRST RANGE BETWEEN INTERVAL 2 DAY PRECEDING AND CURRENT ROW),"
        " sum(k % 50) OVER (PARTITION BY flag ORDER BY d NULLS FIRST RANGE BETWEEN INTERVAL 3 DAY PRECEDING AND"
        " INTERVAL 1 DAY FOLLOWING) FROM t WHERE year(ts) = 2002 AND year(d) = 2002"
    ),
    "range_of_months": duck(
        "SELECT id, count(*) OVER (ORDER BY ts NULLS FIRST RANGE BETWEEN INTERVAL 1 MONTH PRECEDING AND CURRENT ROW)"
        " AS a, count(*) OVER (PARTITION BY flag ORDER BY m DESC NULLS LAST RANGE BETWEEN INTERVAL 1 YEAR PRECEDING"
        " AND INTERVAL 13 MONTH FOLLOWING) AS b, sum(id) OVER (ORDER BY m NULLS FIRST RANGE BETWEEN INTERVAL 40 DAY"
        " PRECEDING AND INTERVAL 1 MONTH PRECEDING) AS c, min(id) OVER (ORDER BY m DESC NULLS LAST RANGE BETWEEN"
        " INTERVAL 1 MONTH FOLLOWING AND INTERVAL 2 QUARTER FOLLOWING) AS d FROM"
        " (SELECT id, flag, ts, d AS m FROM t WHERE year(ts) BETWEEN 1900 AND 2100 AND year(d) BETWEEN 1900 AND 2100) v"
    ),
    "rows_left_out": duck(
        "SELECT id, sum(k) OVER (w ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING EXCLUDE CURRENT ROW) AS a,"
        " count(*) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW) AS b,"
        " max(s) OVER (w ROWS BETWEEN 3 PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW) AS c,"
        " avg(x) OVER (w ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW) AS d,"
        " first_value(id) OVER (w ROWS BETWEEN CURRENT ROW AND 2 FOLLOWING EXCLUDE CURRENT ROW) AS e,"
        " last_value(k) OVER (w ROWS BETWEEN 2 PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW) AS f,"
        " nth_value(k, 3) OVER (w ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING EXCLUDE CURRENT ROW) AS g"
        " FROM t WHERE abs(x) < 1e6 WINDOW w AS (PARTITION BY flag ORDER BY id)"
    ),
    "peers_left_out": duck(
        "SELECT id, sum(id) OVER (w RANGE BETWEEN 3 PRECEDING AND 1 FOLLOWING EXCLUDE GROUP) AS a,"
        " count(*) OVER (w GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE TIES) AS b,"
        " min(id) OVER (w GROUPS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE GROUP) AS c,"
        " max(id) OVER (w RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE TIES) AS d,"
        " sum(id) OVER (w GROUPS BETWEEN 1 FOLLOWING AND 2 FOLLOWING EXCLUDE TIES) AS e,"
        " count(*) OVER (PARTITION BY g ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE TIES) AS f"
        " FROM t WINDOW w AS (PARTITION BY flag ORDER BY k % 10 NULLS FIRST)"
    ),
    "values_once": duck(
        "SELECT id, count(DISTINCT g) OVER (PARTITION BY flag) AS a, sum(DISTINCT k % 7) OVER w AS b,"
        " avg(DISTINCT k % 5) OVER (w ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS c,"
        " count(DISTINCT s) FILTER (WHERE k > 3) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS d,"
        " sum(DISTINCT x) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND 2 FOLLOWING) AS e, max(DISTINCT y) OVER () AS f"
        " FROM t WHERE abs(x) < 1e6 WINDOW w AS (PARTITION BY flag ORDER BY id)"
    ),
    "nth_of_peers": duck(
        "SELECT id, nth_value(k, 2) OVER (PARTITION BY flag ORDER BY id RANGE BETWEEN 6 PRECEDING AND CURRENT ROW),"
        " nth_value(id, 1) OVER (ORDER BY id GROUPS BETWEEN 1 FOLLOWING AND 3 FOLLOWING) FROM t"
    ),
    "running": duck("SELECT id, sum(x) OVER (ORDER BY id, x NULLS FIRST) AS total FROM t WHERE k < 9"),
    "running_exactly": duck(
        "SELECT id, sum(id) OVER w AS a, sum(amount) OVER w AS b, count(*) OVER w AS c, count(wide) OVER w AS d,"
        " rank() OVER w, sum(CASE WHEN k > 3 THEN 1 ELSE 0 END) OVER w AS e, count(*) FILTER (WHERE flag) OVER w AS f,"
        " count(s) OVER w AS g, lag(g) OVER w AS h FROM t WINDOW w AS (PARTITION BY flag ORDER BY d NULLS FIRST, id)"
    ),
    "too_large": Case(
        "SELECT id, sum(big) OVER (ORDER BY id, big) AS total FROM t",
        "SELECT id, CASE WHEN total BETWEEN -9223372036854775808 AND 9223372036854775807 THEN total END FROM"
        " (SELECT id, sum(big) OVER (ORDER BY id, big NULLS FIRST) AS total FROM t)",
    ),
    "filtered": duck("SELECT id, count(*) FILTER (WHERE k > 3) OVER (PARTITION BY g ORDER BY id) AS n FROM t"),
    "whole": duck(
        "SELECT id, k, count(*) OVER () AS n, k - max(k) OVER (PARTITION BY g) AS below, median(k % 100) OVER"
        " (PARTITION BY g) AS m FROM t WHERE abs(k) < 100"
    ),
    "first_of_each": duck("SELECT id, g FROM t QUALIFY row_number() OVER (PARTITION BY g ORDER BY id DESC) <= 2"),
    "first_ranks": duck("SELECT id, g, k FROM t QUALIFY dense_rank() OVER (PARTITION BY g ORDER BY k) <= 2"),
    "second_of_each": duck(
        "SELECT id, g FROM (SELECT id, g, row_number() OVER (PARTITION BY g ORDER BY id DESC) AS n FROM t) v"
        " WHERE n = 2"
    ),
    "changes_only": duck("SELECT id, k FROM t QUALIFY k <> lag(k) OVER (PARTITION BY g ORDER BY id)"),
    "over_groups": duck(
        "SELECT g, sum(k % 1000) AS total, rank() OVER (ORDER BY sum(k % 1000) DESC) AS place,"
        " count(*) - lag(count(*)) OVER (ORDER BY g) AS more FROM t GROUP BY g"
    ),
    "groups_ranked": duck(
        "SELECT g, flag, count(*) AS n FROM t GROUP BY g, flag"
        " QUALIFY row_number() OVER (PARTITION BY flag ORDER BY n DESC, g) <= 2 ORDER BY n DESC, g, flag"
    ),
    "joined": duck(
        "SELECT t.id, n.name, row_number() OVER (PARTITION BY t.k ORDER BY t.id, n.name, n.rate) AS r"
        " FROM t JOIN names n ON t.k = n.k"
    ),
    "under_groups": duck(
        "SELECT r, count(*) AS n, max(id) AS m FROM (SELECT id, rank() OVER (PARTITION BY g ORDER BY k) AS r FROM t) v"
        " GROUP BY r"
    ),
    "sessions": duck(
        "SELECT g, sum(new) OVER (PARTITION BY g ORDER BY id) AS session, id FROM (SELECT g, id, CASE WHEN id -"
        " lag(id) OVER (PARTITION BY g ORDER BY id) < 5 THEN 0 ELSE 1 END AS new FROM t) v"
    ),
    "of_first_rows": duck(
        "SELECT id, lead(id) OVER (ORDER BY id) AS next FROM (SELECT id FROM t ORDER BY id DESC LIMIT 12) v"
    ),
    "lists": duck(
        "SELECT id, list(k) OVER w AS a, string_agg(s, '-') OVER w AS b, list(k) OVER (w ROWS BETWEEN 2 PRECEDING AND"
        " 1 FOLLOWING EXCLUDE CURRENT ROW) AS c, string_agg(s, '-' ORDER BY id DESC) OVER (w ROWS 3 PRECEDING) AS d,"
        " list(id) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS e, list(x) FILTER (WHERE k > 3)"
        " OVER (w GROUPS 2 PRECEDING) AS f, any_value(k) OVER w AS h FROM t WINDOW w AS (PARTITION BY flag ORDER BY d"
        " NULLS FIRST, id DESC)"
    ),
    "running_by_values": duck(
        "SELECT id, median(k % 100) OVER w AS a, arg_max(s, id) OVER w AS b, bit_or(k) OVER w AS c, mode(0) OVER w AS h"
        ", arg_min(id, id) OVER (w RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS e FROM t WHERE abs(k) < 100"
        " WINDOW w AS (PARTITION BY g ORDER BY id)"
    ),
    "distinct": duck("SELECT DISTINCT g, count(*) OVER (PARTITION BY g) AS n FROM t"),
    "spark": Case(
        "SELECT id, lag(x, 1) OVER (PARTITION BY g ORDER BY d, id) AS p FROM t",
        "SELECT id, lag(x, 1) OVER (PARTITION BY g ORDER BY d NULLS FIRST, id) AS p FROM t",
    ),
}


def test_analytic_functions_batch_by_batch(
    spark: SparkSession, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over rows that stay and rows that are taken back, registered together, late and again; few rows are many here."""
    feeds = {"t": Feed(stream(150, 11), 50, 25), "u": Feed(stream(60, 12), 0, 20), "names": Feed(names(5), static=True)}
    late, dropped = {"ranks", "second_of_each", "over_groups"}, "first_of_each"
    early = [name for name in ANALYTIC if name not in late | {dropped}][:: 1 if LONG else 2]
    with Oracle(spark, feeds, path=f"{tmp_path}/session", limits=FEW_ARE_MANY) as oracle:  # type: ignore[arg-type]
        oracle.register({name: ANALYTIC[name] for name in [*early, dropped]})
        oracle.run(2)
        oracle.register({name: ANALYTIC[name] for name in late})
        oracle.drop(dropped)
        oracle.run(1)
        oracle.reopen()
        oracle.run(1)
        oracle.check_changes()


NEIGHBOURS = ("lag(v IGNORE NULLS)", "lead(v IGNORE NULLS)", "lag(v, 3 IGNORE NULLS)")
IN_FRAMES = (
    "first_value(v IGNORE NULLS)",
    "last_value(v IGNORE NULLS)",
    "nth_value(v, 2 IGNORE NULLS)",
    "count(v)",
    "sum(v)",
)
ORDERS = ("ORDER BY n", "ORDER BY n DESC")
FRAMES = (
    *ORDERS,
    "ORDER BY n ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    "ORDER BY n ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING",
    "ORDER BY n DESC RANGE UNBOUNDED PRECEDING",
)


@pytest.mark.parametrize("there", ["never", "first", "later", "last", "in some"])
def test_values_that_are_null_in_whole_partitions(there: str) -> None:
    """A column is NULL in all rows of a partition, or in those of some batches; a few rows are many here."""
    batches, in_batch = 8, 2
    some = {"never": [], "first": [0], "later": [4, 5], "last": [7], "in some": [1, 3, 6]}[there]
    rows = [(batch, group) for batch in range(batches) for group in ("all", "none") * in_batch]
    values = [at if batch in some and group == "all" else None for at, (batch, group) in enumerate(rows)]
    table = pa.table({
        "id": range(len(rows)), "g": [group for _, group in rows], "n": [at * 7 % 61 for at in range(len(rows))],
        "v": pa.array(values, pa.int64()),
    })  # fmt: skip
    asked = [(call, order) for call in NEIGHBOURS for order in ORDERS] + [(c, f) for c in IN_FRAMES for f in FRAMES]
    cases = {
        f"q{number}": duck(f"SELECT id, {call} OVER (PARTITION BY g {frame}) AS a FROM t")
        for number, (call, frame) in enumerate(asked)
    }
    options = Options(sharing=False)  # a node of several functions reads more
    with Oracle(InProcess(), {"t": Feed(table, 0, 2 * in_batch)}, options, limits=FEW_ARE_MANY) as oracle:
        oracle.register(cases)
        oracle.run(batches)
        oracle.check_changes()
