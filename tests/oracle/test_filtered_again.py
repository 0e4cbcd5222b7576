"""Selections that come later on rows that are stored: they are filtered again, and nothing is computed anew."""

from __future__ import annotations

from oracle.harness import Case, Feed, Oracle
from oracle.random_streams import stream
from pyspark.sql import SparkSession

from benchmarks.processes import spark_jobs

GROUPS = "SELECT g, SUM(amount) AS total, COUNT(*) AS n, SUM(x) AS f, MAX(k) AS top FROM t GROUP BY g"
FIRST = {
    "groups": GROUPS,
    "rows": "SELECT id, k, g, s, amount FROM t",
    "kinds": "SELECT DISTINCT g, s FROM t",
    "pairs": "SELECT t.id, t.k, t.s, u.id AS other, u.g FROM t JOIN u ON t.k = u.k",
    "ranks": "SELECT id, g, k, COUNT(*) OVER (PARTITION BY g) AS n FROM t",
    "both": "SELECT g, k FROM t UNION ALL SELECT g, k FROM u",
}
LATE = [
    f"SELECT * FROM ({GROUPS}) v WHERE n > 8",
    f"SELECT g, f FROM ({GROUPS}) v WHERE top >= 3 AND (n < 20 OR total > 0)",
    "SELECT id, amount FROM t WHERE k = 2 OR g IS NULL",
    "SELECT g, s FROM (SELECT DISTINCT g, s FROM t) v WHERE s > 'a'",
    "SELECT id, n FROM (SELECT id, g, k, COUNT(*) OVER (PARTITION BY g) AS n FROM t) v WHERE n > 6",
    "SELECT t.id, t.s, u.id AS other FROM t JOIN u ON t.k = u.k WHERE t.s = u.g",
    f"SELECT g FROM ({GROUPS}) v WHERE n > 8 AND total < 1000 AND n <> 12",
    "SELECT t.id, t.s, u.id AS other FROM t JOIN u ON t.k = u.k WHERE regexp_replace(t.s, '^(a)+?', 'b') = u.g",
]


def test_selections_on_rows_that_are_there(spark: SparkSession) -> None:
    feeds = {
        "t": Feed(stream(210, seed=31), history=60, batch=25),
        "u": Feed(stream(90, seed=32), history=20, batch=10),
    }
    with Oracle(spark, feeds) as oracle:
        oracle.register({name: Case(sql) for name, sql in FIRST.items()})
        jobs = {}
        for number, sql in enumerate(LATE):
            if number % 2:
                oracle.run(1)
            before = spark_jobs()
            oracle.session.register(sql, name=f"aside{number}", dialect="spark")
            jobs[number] = spark_jobs() - before
            oracle.register({f"late{number}": Case(sql)})
            if number == 3:
                oracle.session.drop("aside0")
                oracle.drop("late0")
                oracle.register({"late0": Case(LATE[0])})
        assert [number for number, count in jobs.items() if count] == [7]
        oracle.run(2)
        oracle.check_results()
        oracle.check_changes(since=True)
