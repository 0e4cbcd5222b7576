"""LIMIT, OFFSET, WITH TIES and DISTINCT ON, kept batch by batch: over rows that stay and rows that are taken back.

SQL leaves open which of equal rows LIMIT takes. Here it is the first ones in the order of the columns shown, which the
questions for DuckDB say.
"""

from __future__ import annotations

import pytest
from oracle.bags import frame_rows
from oracle.harness import FEW_ARE_MANY, Case, Feed, Oracle
from oracle.random_streams import names, stream
from pyspark.sql import SparkSession

FIRST = {
    "share": Case("SELECT id, x FROM t ORDER BY x DESC, id LIMIT 30% OFFSET 2", dialect="duckdb"),
    "share_of_groups": Case("SELECT g, COUNT(k) AS n FROM t GROUP BY g ORDER BY g LIMIT (100 / 2)%", dialect="duckdb"),
    "share_of_union": Case("SELECT k FROM t UNION SELECT k FROM u ORDER BY k DESC LIMIT 12.5%", dialect="duckdb"),
    "top": Case(
        "SELECT id, x FROM t ORDER BY x DESC LIMIT 7", "SELECT id, x FROM t ORDER BY x DESC NULLS LAST, id LIMIT 7"
    ),
    "top_longer": Case(
        "SELECT id, x FROM t ORDER BY x DESC LIMIT 20", "SELECT id, x FROM t ORDER BY x DESC NULLS LAST, id LIMIT 20"
    ),
    "page": Case(
        "SELECT id, x FROM t ORDER BY x DESC LIMIT 5 OFFSET 4",
        "SELECT id, x FROM t ORDER BY x DESC NULLS LAST, id LIMIT 5 OFFSET 4",
    ),
    "rest": Case(
        "SELECT id, s FROM t WHERE k > 4 ORDER BY s OFFSET 6",
        "SELECT id, s FROM t WHERE k > 4 ORDER BY s NULLS FIRST, id OFFSET 6",
    ),
    "no_order": Case("SELECT g, k FROM t LIMIT 9", "SELECT g, k FROM t ORDER BY g NULLS FIRST, k NULLS FIRST LIMIT 9"),
    "hidden": Case(
        "SELECT upper(g) AS u FROM t ORDER BY k % 4, amount LIMIT 11",
        "SELECT upper(g) AS u FROM t ORDER BY k % 4 NULLS FIRST, amount NULLS FIRST, g NULLS FIRST LIMIT 11",
    ),
    "ties": Case(
        "SELECT id, k FROM t ORDER BY k DESC FETCH FIRST 6 ROWS WITH TIES",
        "SELECT id, k FROM t QUALIFY rank() OVER (ORDER BY k DESC NULLS FIRST) <= 6",
        dialect="postgres",
    ),
    "groups": Case(
        "SELECT g, SUM(k) AS n FROM t GROUP BY g ORDER BY n DESC LIMIT 3",
        "SELECT g, SUM(k) AS n FROM t GROUP BY g ORDER BY n DESC NULLS LAST, g NULLS FIRST LIMIT 3",
    ),
    "groups_small": Case(
        "SELECT d, COUNT(*) AS n FROM t GROUP BY d ORDER BY n, d DESC LIMIT 4",
        "SELECT d, COUNT(*) AS n FROM t GROUP BY d ORDER BY n, d DESC NULLS LAST LIMIT 4",
    ),
    "groups_later": Case(
        "SELECT k, MIN(x) AS m FROM t GROUP BY k ORDER BY m NULLS LAST, k LIMIT 3 OFFSET 2",
        "SELECT k, MIN(x) AS m FROM t GROUP BY k ORDER BY m NULLS LAST, k NULLS FIRST LIMIT 3 OFFSET 2",
    ),
    "distinct": Case(
        "SELECT DISTINCT g, flag FROM t ORDER BY g DESC, flag LIMIT 5",
        "SELECT DISTINCT g, flag FROM t ORDER BY g DESC NULLS LAST, flag NULLS FIRST LIMIT 5",
    ),
    "difference": Case(
        "SELECT k FROM t EXCEPT SELECT k FROM u ORDER BY k LIMIT 2",
        "SELECT k FROM t EXCEPT SELECT k FROM u ORDER BY k NULLS FIRST LIMIT 2",
    ),
    "over_a_view": Case(
        "SELECT g, COUNT(*) AS n FROM (SELECT g, id FROM t ORDER BY amount DESC LIMIT 25) v GROUP BY g",
        "SELECT g, COUNT(*) AS n FROM"
        " (SELECT g, id FROM t ORDER BY amount DESC NULLS LAST, g NULLS FIRST, id LIMIT 25) v GROUP BY g",
    ),
    "joined": Case(
        "SELECT v.id, n.name FROM (SELECT id, k FROM t ORDER BY id DESC, k LIMIT 12) v JOIN names n ON v.k = n.k",
        "SELECT v.id, n.name FROM (SELECT id, k FROM t ORDER BY id DESC, k NULLS FIRST LIMIT 12) v"
        " JOIN names n ON v.k = n.k",
    ),
    "nothing": Case("SELECT id FROM t ORDER BY id LIMIT 0"),
    "of_limited_groups": Case(
        "SELECT m FROM (SELECT g, MAX(id) AS m FROM (SELECT id, g FROM t ORDER BY id DESC LIMIT 30) a GROUP BY g) b"
        " ORDER BY m LIMIT 2",
        "SELECT m FROM (SELECT g, MAX(id) AS m FROM (SELECT id, g FROM t ORDER BY id DESC, g NULLS FIRST LIMIT 30) a"
        " GROUP BY g) b ORDER BY m LIMIT 2",
    ),
    "distinct_on": Case(
        "SELECT DISTINCT ON (g) g, id, amount FROM t ORDER BY g, amount DESC",
        "SELECT DISTINCT ON (g) g, id, amount FROM t ORDER BY g, amount DESC NULLS FIRST, id",
        dialect="postgres",
    ),
    "distinct_on_groups": Case(
        "SELECT DISTINCT ON (flag) g, COUNT(*) AS n FROM t GROUP BY g, flag ORDER BY flag, n DESC LIMIT 2",
        "SELECT g, n FROM (SELECT DISTINCT ON (flag) g, flag, COUNT(*) AS n FROM t GROUP BY g, flag"
        " ORDER BY flag NULLS LAST, n DESC NULLS LAST, g NULLS FIRST) ORDER BY flag NULLS LAST, n DESC LIMIT 2",
        dialect="duckdb",
    ),
}


def test_first_rows_batch_by_batch(spark: SparkSession, tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Registered together and late, one dropped, and after the session was opened again; few rows are many here."""
    feeds = {"t": Feed(stream(170, 5), 40, 20), "u": Feed(stream(80, 6), 0, 15), "names": Feed(names(5), static=True)}
    late = {"top_longer", "page", "groups_later"}
    with Oracle(spark, feeds, path=f"{tmp_path}/session", limits=FEW_ARE_MANY) as oracle:  # type: ignore[arg-type]
        oracle.register({name: case for name, case in FIRST.items() if name not in late})
        oracle.run(2)
        oracle.register({name: FIRST[name] for name in late})
        nodes = {name: oracle.session.network.to_dot(name) for name in ("top", "top_longer")}
        assert all("20" in dot for dot in nodes.values())
        oracle.run(1)
        oracle.drop("top_longer")
        oracle.run(1)
        oracle.reopen()
        oracle.run(2)
        oracle.check_changes()
        for name in ("top", "groups", "difference"):
            assert frame_rows(oracle.watched[name].query.result()) == oracle.watched[name].expected[6], name
