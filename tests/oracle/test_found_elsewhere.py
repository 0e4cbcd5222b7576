"""Kinds of queries that texts of other databases' own tests showed to be answered wrongly, or not at all."""

from __future__ import annotations

from long import LONG
from oracle.harness import Case, Feed, Oracle
from oracle.random_streams import names, stream
from pyspark.sql import SparkSession

_COUNTS = (
    "(SELECT COUNT(*) AS n FROM u WHERE u.k = t.k HAVING COUNT(*) {} 1) l"
    " JOIN (SELECT COUNT(*) AS n FROM names WHERE names.k = t.k HAVING COUNT(*) {} 1) r ON l.n {} r.n"
)
_SIDES = (
    "(SELECT id, k, 'a' AS c, {0} AS n FROM t) x FULL JOIN (SELECT id, k, 'a' AS c, {0} AS n FROM u) y ON x.k = y.k"
)
_MANY = "(SELECT u.id FROM u WHERE u.k = t.k)"

CASES = {
    # HAVING of an aggregate of all rows leaves out what is counted of none as well.
    **{
        f"having_{i}": Case(f"SELECT id, (SELECT SUM(l.n + r.n) FROM {_COUNTS.format(*signs)}) AS s FROM t")
        for i, signs in enumerate([("<", "<", "="), (">=", "<", ">="), ("<>", ">=", "<=")])
    },
    "having_exists": Case(
        "SELECT id FROM t WHERE NOT EXISTS (SELECT COUNT(*) FROM u WHERE u.k = t.k HAVING COUNT(*) > 1)"
    ),
    # A subquery beside aggregates that reads groups, where FROM is more than inner joins.
    **{
        f"beside_groups_{i}": Case(
            f"SELECT t.g, t.k, COUNT(*) AS n, SUM(t.id) AS s FROM t {where} GROUP BY t.g, t.k HAVING {having}"
        )
        for i, (where, having) in enumerate(
            [
                (
                    "WHERE t.id NOT IN (SELECT id FROM u WHERE id % 3 = 0)",
                    "t.k NOT IN (SELECT k FROM u WHERE u.k = t.k)",
                ),
                ("WHERE EXISTS (SELECT 1 FROM u WHERE u.g = t.g)", "t.k IN (SELECT k FROM u WHERE u.g = t.g)"),
                ("LEFT JOIN u ON t.id = u.id + 1", "COUNT(*) > (SELECT COUNT(*) FROM u WHERE u.k = t.k)"),
                ("LEFT JOIN u ON t.id = u.id", "COUNT(*) IN (SELECT COUNT(*) FROM u GROUP BY k)"),
            ]
        )
    },
    "beside_groups": Case(
        "SELECT t.k, (SELECT COUNT(*) FROM u WHERE u.k = t.k AND u.id > 4) AS n FROM t FULL JOIN u ON t.id = u.id"
        " GROUP BY t.k"
    ),
    # Both sides of an outer join have the same constant.
    **{
        f"constants_{i}": Case(f"SELECT x.id, y.id AS o, x.c, y.c AS d, x.n + y.n AS s FROM {_SIDES.format(1)} {where}")
        for i, where in enumerate(["", "WHERE x.c = 'a'", "WHERE y.n > 0", "WHERE x.n IS NULL OR y.c <> 'a'"])
    },
    # A frame of RANGE whose ends are beyond 64 bits.
    "range": Case(
        "SELECT id, COUNT(*) OVER (ORDER BY k NULLS FIRST RANGE BETWEEN 3 PRECEDING AND 3 FOLLOWING) AS n, MAX(big)"
        " OVER (PARTITION BY flag ORDER BY big DESC NULLS LAST RANGE BETWEEN 2 PRECEDING AND 9 FOLLOWING) AS m FROM t",
        "SELECT id, COUNT(*) OVER (ORDER BY k::HUGEINT NULLS FIRST RANGE BETWEEN 3 PRECEDING AND 3 FOLLOWING), MAX(big)"
        " OVER (PARTITION BY flag ORDER BY big::HUGEINT DESC NULLS LAST RANGE BETWEEN 2 PRECEDING AND 9 FOLLOWING)"
        " FROM t",
    ),
    # Nothing reads a value that has several rows.
    "unread": Case(f"SELECT id FROM (SELECT id, {_MANY} AS o FROM t) z", "SELECT id FROM t"),
    "unread_groups": Case(
        f"SELECT g, n FROM (SELECT g, COUNT(*) AS n, MAX(o) AS o FROM (SELECT g, {_MANY} AS o FROM t) y GROUP BY g) z",
        "SELECT g, COUNT(*) FROM t GROUP BY g",
    ),
}


def test_as_duckdb_has_it(spark: SparkSession) -> None:
    feeds = {
        "t": Feed(stream(60, seed=7), 30, 15),
        "u": Feed(stream(40, seed=8), 20, 10),
        "names": Feed(names(3), static=True),
    }
    with Oracle(spark, feeds) as oracle:
        oracle.register(dict([*CASES.items()][:: 1 if LONG else 2]))
        oracle.run(2 if LONG else 1, check=False)
        oracle.check_results()
