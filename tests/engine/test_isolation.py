"""No query's error stops another (contract 3.4 of the design)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest
from oracle.class_queries import ALL
from oracle.harness import Case, Feed, Oracle
from oracle.random_streams import names, stream
from pyspark.sql import SparkSession

from workbench.errors import QueryError
from workbench.limits import Limits


def picky() -> Callable[[int | None], float | None]:
    """A function that refuses what arrives with later batches only; made here, so that workers need not import it."""

    def halved(value: int | None) -> float | None:
        if value is not None and value >= 60:
            raise ValueError(f"{value} is too much")
        return None if value is None else value / 2

    return halved


@pytest.fixture
def oracle(spark: SparkSession) -> Iterator[Oracle]:
    feeds = {"t": Feed(stream(90, seed=10, again=0), history=30, batch=20), "names": Feed(names(8), static=True)}
    with Oracle(spark, feeds, functions={"halved": (picky(), ["BIGINT"], "DOUBLE")}) as made:
        yield made


HEALTHY = Case("SELECT id, amount FROM t WHERE k > 3")


def test_overflow_division_by_zero_and_bad_casts_give_null(oracle: Oracle) -> None:
    trouble = ["selection_overflow", "selection_division", "selection_bad_cast"]
    oracle.register({name: ALL[name] for name in trouble} | {"healthy": HEALTHY})
    oracle.run(2)
    assert all(query.status == "active" for query in oracle.session.queries.values())
    oracle.check_changes()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id FROM t WHERE halved(id) > 5",
        "SELECT id, halved(id) AS h FROM t",
        "SELECT g, MAX(halved(id)) AS m FROM t GROUP BY g",
        "SELECT n.name FROM t, names n WHERE t.k = n.k AND halved(t.id) > n.rate",
        "SELECT halved(id) AS h FROM t UNION SELECT 1.5 FROM t",
    ],
    ids=["where", "select", "aggregate", "join", "union"],
)
def test_a_function_that_raises_disables_its_query_with_the_reason(oracle: Oracle, sql: str) -> None:
    oracle.register({"healthy": HEALTHY})
    session = oracle.session
    doubtful = session.register(sql, name="doubtful")
    oracle.run(1)
    assert doubtful.status == "active"
    assert len(doubtful.result())
    session.run(1)
    with pytest.raises(QueryError, match=r"function halved raised ValueError: 6[0-9] is too much"):
        doubtful.result()
    with pytest.raises(QueryError, match="halved"):
        doubtful.changes()
    assert "halved" in doubtful.status
    assert oracle.watched["healthy"].query.status == "active"
    session.drop("doubtful")
    assert list(session.queries) == ["healthy"]


def test_a_function_that_raises_at_registration_stops_nobody(oracle: Oracle) -> None:
    oracle.run(2, check=False)
    oracle.register({"healthy": HEALTHY})
    late = oracle.session.register("SELECT id FROM t WHERE halved(id) > 5", name="late")
    assert "halved raised ValueError" in late.status
    oracle.run(1)
    oracle.check_changes()


def test_a_function_given_another_meaning_has_it_for_queries_registered_from_then_on(oracle: Oracle) -> None:
    """A query's meaning never changes, and plans that are made once must not mix up the versions."""
    session = oracle.session
    session.add_function("chosen", lambda value: 1.0, returns="double")
    session.register("SELECT id FROM t WHERE chosen(id) > 0", name="by_function")
    (first,) = session.run(1)
    assert first.changes["by_function"] == 20
    session.add_function("chosen", lambda value: -1.0, returns="double")
    session.register("SELECT id FROM t WHERE chosen(id) > 0", name="by_the_new_one")
    (second,) = session.run(1)
    assert (second.changes["by_function"], second.changes.get("by_the_new_one", 0)) == (20, 0)
    session.register("SELECT id FROM t WHERE chosen(id) > 0", name="by_function")
    (third,) = session.run(1)
    assert third.changes.get("by_function", 0) == 0


def leaving() -> Callable[[int | None], float | None]:
    """A function that ends its process when later batches come."""

    def left(value: int | None) -> float | None:
        if value is not None and value >= 60:
            os._exit(3)
        return None if value is None else value / 2

    return left


INNOCENT = {
    "counted": Case("SELECT g, COUNT(*) AS n FROM t GROUP BY g"),
    "largest": Case("SELECT g, MAX(id) AS m FROM t GROUP BY g HAVING COUNT(*) > 1"),
    "numbered": Case("SELECT id, ROW_NUMBER() OVER (PARTITION BY g ORDER BY id) AS n FROM t"),
    "joined": Case("SELECT t.id, n.name FROM t JOIN names n ON t.k = n.k"),
}
SHARING = {
    "sum": "SELECT g, SUM({f}(id)) AS s FROM t GROUP BY g",
    "having": "SELECT g, COUNT(*) AS n FROM t GROUP BY g HAVING MAX({f}(id)) > 3",
    "over": "SELECT id, SUM({f}(id)) OVER (PARTITION BY g ORDER BY id) AS n FROM t",
    "finer": "SELECT g, {f}(id) AS h, COUNT(*) AS n FROM t GROUP BY g, {f}(id)",
    "join": "SELECT t.id, n.name FROM t JOIN names n ON t.k = n.k AND {f}(t.id) > n.rate",
}


def test_a_function_that_fails_disables_nobody_who_shares_with_its_caller(oracle: Oracle) -> None:
    """Innocent queries from before and after share aggregates, partitions and joins with callers that fail."""
    session = oracle.session
    session.add_function("leaving", leaving(), returns="double")
    half = len(INNOCENT) // 2
    oracle.register(dict([*INNOCENT.items()][:half]))
    functions = dict(zip(SHARING, ("halved", "leaving", "halved", "leaving", "halved"), strict=True))
    guilty = session.register_many({name: sql.format(f=functions[name]) for name, sql in SHARING.items()})
    oracle.register(dict([*INNOCENT.items()][half:]))
    oracle.run(1)
    assert {query.status for query in session.queries.values()} == {"active"}
    oracle.run(2)
    assert {name for name in guilty if functions[name] not in guilty[name].status} == set()
    assert {watched.query.status for watched in oracle.watched.values()} == {"active"}
    oracle.check_changes()
    again = session.register(SHARING["sum"].format(f="halved"), name="again")
    assert "halved raised ValueError" in again.status
    oracle.run(1)
    oracle.check_changes()


def test_a_join_of_too_many_pairs_in_a_batch_disables_its_queries(oracle: Oracle) -> None:
    oracle.register({"healthy": HEALTHY})
    sql = "SELECT t.id, n.name FROM t JOIN names n ON t.k < n.k"
    endless = oracle.session.register(sql, name="endless")
    above = oracle.session.register(f"SELECT COUNT(*) AS n FROM ({sql}) x", name="above")
    oracle.run(1)
    assert (endless.status, above.status) == ("active", "active")
    oracle.session.parts.jobs.limits = Limits(pairs_compared_per_batch=100)
    oracle.run(2)
    assert "pairs of rows in one batch" in endless.status and "pairs of rows" in above.status
    oracle.check_changes()


def test_pairs_of_other_nodes_rows_do_not_count(oracle: Oracle) -> None:
    """The one row that a join reads is of a tree with many rows: those of other queries."""
    oracle.register({"grouped": Case("SELECT id, k, COUNT(*) AS n FROM t GROUP BY id, k")})
    oracle.register({"missing": Case("SELECT id FROM t WHERE k NOT IN (SELECT k FROM t WHERE k > 2)")})
    oracle.session.parts.jobs.limits = Limits(pairs_compared_per_batch=100)
    oracle.run(2)
    assert oracle.watched["missing"].query.status == "active"


def test_what_a_join_of_totals_retracts_cancels(oracle: Oracle) -> None:
    """A join of *n* inputs that each replace a row would have 3^n changes: nine of them were a batch without end."""
    totals = [f"(SELECT COUNT(*) FROM t WHERE k > {i})" for i in range(9)]
    cases = ", ".join(f"CASE WHEN {total} > 3 THEN {total} ELSE 0 END AS c{i}" for i, total in enumerate(totals))
    oracle.register({"totals": Case(f"SELECT {cases} FROM names WHERE k = 1")})
    reports = oracle.run(2)
    assert max(operator.rows_out for report in reports for operator in report.operators) < 100


def test_what_functions_make_too_large_is_not_fetched(oracle: Oracle) -> None:
    large = oracle.session.register("SELECT id, REPEAT('x', 1000) AS x FROM t", name="large")
    small = oracle.session.register("SELECT id, LENGTH(REPEAT('x', 1000)) AS n FROM t", name="small")
    oracle.session.parts.jobs.limits = Limits(bytes_fetched=100_000)
    with pytest.raises(QueryError, match="30 rows of large may have 0 MB"):
        large.result()
    assert (len(large.head(10)), len(small.result())) == (10, 30)
