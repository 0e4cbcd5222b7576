"""Queries that overlap in every way, under every option: sharing is invisible (contract 3.2 of the design).

Each query comes one at a time, so that joins are weakened, aggregates rerouted and selections taken apart while others
run; some are dropped in the middle. What each option does to the network is tested without Spark (``tests/sharing``),
so here only those run by themselves that give the engine other work; ``ARGUS_LONG=all`` runs all.
"""

from __future__ import annotations

import pytest
from long import LONG
from oracle.harness import Case, Feed, Oracle
from oracle.random_streams import names, stream
from pyspark.sql import SparkSession

from workbench import Options

PAIRS = "SELECT a.id AS i, b.id AS j FROM t a, t b WHERE a.k = b.k AND a.id <> b.id AND b.d - a.d BETWEEN 0 AND {} {}"

QUERIES = {
    # Joins that differ in residuals: subsumed, weaker, covered; windows and thresholds combined.
    "pairs_30": PAIRS.format(30, "AND a.amount > 500"),
    "pairs_10": PAIRS.format(10, "AND a.amount > 500"),
    "pairs_90": PAIRS.format(90, "AND a.amount > 1000"),
    "pairs_90_low": PAIRS.format(90, "AND a.amount > 0"),
    "pairs_30_high": PAIRS.format(30, "AND a.amount > 1000"),
    "pairs_10_high": PAIRS.format(10, "AND a.amount > 1000"),
    "pairs_flipped": "SELECT y.id, x.id FROM t x, t y WHERE x.d + 10 >= y.d AND x.d <= y.d AND y.k = x.k AND"
    " NOT (x.id = y.id) AND 2 * x.amount > 1000",
    # Disjoint ranges with one join: range cover.
    "near": "SELECT a.id, n.name FROM t a, names n WHERE a.k = n.k AND a.amount BETWEEN 100 AND 400",
    "far": "SELECT a.id, n.rate FROM t a, names n WHERE a.k = n.k AND a.amount BETWEEN 5000 AND 9000",
    "listed": "SELECT a.id, n.rate FROM t a, names n WHERE a.k = n.k AND a.g IN ('a', 'b') AND a.amount IS NOT NULL",
    # A longer chain with a shared prefix; constants that follow by transitivity.
    "chain": "SELECT a.id, b.id, c.id FROM t a, t b, t c WHERE a.k = b.k AND b.g = c.g AND a.amount > 5000"
    " AND b.amount >= a.amount AND b.id < c.id AND a.id < b.id",
    "chain_tight": "SELECT c.id, a.id FROM t c, t b, t a WHERE c.g = b.g AND a.k = b.k AND a.amount > 9000"
    " AND b.amount >= a.amount AND b.id < c.id AND a.id < b.id",
    # Selections in chains, ranges and lists; NULL tests.
    "over": "SELECT id FROM t WHERE amount > 1000",
    "over_more": "SELECT id, g FROM t WHERE amount > 2000 AND g = 'a'",
    "not_null": "SELECT id FROM t WHERE amount IS NOT NULL",
    "either": "SELECT id FROM t WHERE amount > 8000 OR k = 1",
    "scaled": "SELECT id FROM t WHERE 3 * amount - 1000 > amount + 1000 AND k + 1 < 4",
    # Groups of groups, also over a join, also DISTINCT; HAVING thresholds.
    "fine": "SELECT g, k, COUNT(*) AS n, SUM(amount) AS s, MAX(amount) AS m FROM t GROUP BY g, k",
    "coarse": "SELECT g, COUNT(*) AS n, MAX(amount) AS m FROM t GROUP BY g",
    "coarsest": "SELECT COUNT(*) AS n, SUM(amount) AS s, MIN(big) AS b FROM t",
    "having": "SELECT g, SUM(amount) AS s FROM t GROUP BY g HAVING SUM(amount) > 5000",
    "having_more": "SELECT g FROM t GROUP BY g HAVING SUM(amount) > 9000 AND COUNT(*) > 2",
    "kinds": "SELECT DISTINCT g FROM t",
    "pairs_by_key": "SELECT a.k, COUNT(*) AS n FROM t a, t b WHERE a.k = b.k AND a.id <> b.id"
    " AND b.d - a.d BETWEEN 0 AND 30 AND a.amount > 500 GROUP BY a.k",
    "doubles": "SELECT g, AVG(x) AS m FROM t GROUP BY g",
    # Set operators over some of the branches.
    "two": "SELECT k FROM t WHERE amount > 2000 UNION SELECT k FROM names",
    "three": "SELECT k FROM t WHERE amount > 2000 UNION SELECT k FROM names UNION SELECT k + 1 FROM t WHERE g = 'a'",
    "minus": "SELECT k FROM t EXCEPT SELECT k FROM names",
    "minus_more": "SELECT k FROM t EXCEPT SELECT k FROM names EXCEPT SELECT k FROM t WHERE amount > 2000",
    "all_of": "SELECT k, g FROM t WHERE amount > 1000 UNION ALL SELECT k, g FROM t WHERE g = 'a'",
    "all_of_more": "SELECT k, g FROM t WHERE g = 'a' UNION ALL SELECT k, g FROM t WHERE amount > 1000 UNION ALL"
    " SELECT k, name FROM names",
}  # fmt: skip

ONE_OF_EACH = {
    "pairs_30", "near", "chain", "over", "scaled", "fine", "having", "kinds", "pairs_by_key", "doubles", "three",
    "minus", "all_of",
}  # fmt: skip
GROUPED = {"coarse", "coarsest", "having_more"}
FEWER = {"unshared": ONE_OF_EACH, "recomputed": ONE_OF_EACH | GROUPED}
"""What runs under an option: where nothing is shared, the others would do the same work a second time; and where groups
are recomputed, only these are computed in another way than by default."""

CONFIGURATIONS = {
    "default": Options(),
    "unshared": Options(sharing=False),
}
if LONG:
    CONFIGURATIONS |= {
        "recomputed": Options(
            incremental_aggregates=False, vertical_expansion=False, join_order=False, restructure=False
        ),
        "joins unshared": Options(join_sharing=False, reroute=False, restructure=False),
        "not canonical": Options(canonicalize=False, transitivity=False),
        "match-plan": Options(strategy="match-plan", restructure=False, materialize_below=0.0),
        "as the thesis": Options(reroute=False, restructure=False, materialize_below=1.0),
    }


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_overlapping_queries(spark: SparkSession, name: str) -> None:
    feeds = {"t": Feed(stream(150, seed=11), history=60, batch=30), "names": Feed(names(5), static=True)}
    cases = {query: Case(sql) for query, sql in QUERIES.items() if query in FEWER.get(name, QUERIES)}
    order = sorted(cases, key=lambda query: (hash_of(query + name), query))
    first, second = order[: len(order) // 2], order[len(order) // 2 :]
    with Oracle(spark, feeds, Options(**vars(CONFIGURATIONS[name]))) as oracle:
        oracle.register({query: cases[query] for query in first[:4]}, one_by_one=True, check=False)
        oracle.register({query: cases[query] for query in first[4:]}, check=False)
        oracle.run(1, check=False)
        for query in second[:4]:
            oracle.register({query: cases[query]}, check=False)
        oracle.register({query: cases[query] for query in second[4:]}, check=False)
        oracle.run(1, check=False)
        for query in order[::4]:
            oracle.drop(query)
        oracle.run(1)
        oracle.check_changes()
        nodes = oracle.session.catalog("SELECT id FROM nodes")["id"]
        assert set(nodes) == {node.id for node in oracle.session.network.nodes}
        assert {name for name, _, rows in oracle.session.catalog_tables() if rows} >= {"simple_columns", "decisions"}


def hash_of(text: str) -> int:
    """Mixes the order of registration: the same in every process."""
    return sum(ord(letter) * 31**place for place, letter in enumerate(text)) % 1009
