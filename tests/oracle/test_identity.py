"""Queries that read alike and mean different things, in one session: each answers as if it were alone."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

import pandas as pd
import pytest

from workbench import Session

BIG = 2**63 - 1


def bag(query) -> Counter:
    return Counter(tuple(row) for row in query.result().itertuples(index=False))


@pytest.fixture
def session(spark):
    with Session(spark) as made:
        yield made


TIMES_TWO = {
    "SELECT DISTINCT k * 2 AS z FROM r": [(None,), (2,)],
    "SELECT DISTINCT k * 2. AS z FROM r": [(Decimal(2 * BIG),), (Decimal(2),)],
    "SELECT k * 2 AS z, COUNT(*) AS n FROM r GROUP BY k * 2": [(None, 1), (2, 1)],
    "SELECT k * 2. AS z, COUNT(*) AS n FROM r GROUP BY k * 2.": [(Decimal(2 * BIG), 1), (Decimal(2), 1)],
    "SELECT k + 1 AS z, COUNT(*) AS n FROM r GROUP BY k + 1": [(None, 1), (2, 1)],
    "SELECT k + 1. AS z, COUNT(*) AS n FROM r GROUP BY k + 1.": [(Decimal(BIG + 1), 1), (Decimal(2), 1)],
}


def values(query) -> Counter:
    frame = query.result()
    return Counter(tuple(None if pd.isna(v) else v for v in row) for row in frame.itertuples(index=False))


@pytest.mark.parametrize(
    "order", [list(TIMES_TWO), list(reversed(TIMES_TWO))], ids=["integers first", "decimals first"]
)
def test_integer_and_decimal_arithmetic_are_not_shared(session, order):
    session.add_stream("r", pd.DataFrame({"k": [BIG, 1]}), history=2)
    queries = {sql: session.register(sql, name=f"q{i}") for i, sql in enumerate(order)}
    for sql, query in queries.items():
        assert values(query) == Counter(TIMES_TWO[sql]), sql


def test_columns_called_like_expressions_are_columns(session):
    frame = pd.DataFrame({"s": ["a", "b"], "upper(s)": ["B", "A"], "a": [2, 3], "k": [5, 7], "(a * k)": [0, 10]})
    frame["d"] = pd.to_datetime(["2020-01-01", "2021-01-01"]).date
    frame["year(d)"] = [2021, 2020]
    session.add_stream("r", frame, history=2)
    pairs = {
        "UPPER(s) = 'A'": [("a",)], "`upper(s)` = 'A'": [("b",)],
        "a * k = 10": [("a",)], "`(a * k)` = 10": [("b",)],
        "YEAR(d) = 2020": [("a",)], "`year(d)` = 2020": [("b",)],
    }  # fmt: skip
    queries = {where: session.register(f"SELECT s FROM r WHERE {where}") for where in pairs}
    grouped = {
        "UPPER(s)": [("A", 1), ("B", 1)], "`upper(s)`": [("A", 1), ("B", 1)],
        "a * k": [(10, 1), (21, 1)], "`(a * k)`": [(0, 1), (10, 1)],
        "YEAR(d)": [(2020, 1), (2021, 1)], "`year(d)`": [(2020, 1), (2021, 1)],
    }  # fmt: skip
    counts = {g: session.register(f"SELECT {g} AS g, COUNT(*) AS n FROM r GROUP BY {g}") for g in grouped}
    for where, query in queries.items():
        assert bag(query) == Counter(pairs[where]), where
    for group, query in counts.items():
        assert bag(query) == Counter(grouped[group]), group


def test_columns_of_one_name_have_the_type_of_their_stream(spark):
    one = pd.DataFrame({"k": [1, 2], "v": [1, 2]})
    two = pd.DataFrame({"k": [1, 2], "v": ["x", "y"]})
    join = "SELECT a.k FROM {0} a JOIN {0} b ON a.v <=> b.v"
    with Session(spark) as first, Session(spark) as second:
        for session, frames in ((first, {"one": one, "two": two}), (second, {"one": two})):
            for name, frame in frames.items():
                session.add_stream(name, frame, history=2)
                assert bag(session.register(join.format(name))) == Counter([(1,), (2,)])


def test_a_function_added_again_is_another_function(session):
    session.add_stream("r", pd.DataFrame({"i": [1, 2, 3]}), history=2, batch=1)
    session.add_function("f", lambda i: i + 1, returns="bigint")
    session.register("CREATE VIEW seen AS SELECT f(i) AS v FROM r WHERE f(i) > 2", name="seen")
    before = session.register("SELECT f(i) AS v FROM r WHERE f(i) > 2", name="before")
    session.add_function("f", lambda i: i - 100, returns="bigint")
    after = session.register("SELECT f(i) AS v FROM r WHERE f(i) < 2", name="after")
    grouped = session.register("SELECT f(i) AS v, COUNT(*) AS n FROM r GROUP BY f(i)", name="grouped")
    viewed = session.register("SELECT v FROM seen", name="viewed")
    session.run(1)
    assert bag(before) == bag(viewed) == Counter([(3,), (4,)])
    assert bag(after) == Counter([(-99,), (-98,), (-97,)])
    assert bag(grouped) == Counter([(-99, 1), (-98, 1), (-97, 1)])
    assert bag(session.register(before.sql, name="before")) == Counter()
    assert any("F@2(" in view.sql for view in session.network.nodes)


def test_versions_of_functions_are_there_after_opening_again(spark, tmp_path):
    with Session(spark, tmp_path / "s") as session:
        session.add_stream("r", pd.DataFrame({"i": [1, 2, 3]}), history=1, batch=1)
        for step in (1, -100):
            session.add_function("f", lambda i, step=step: i + step, returns="bigint")
            session.register("SELECT f(i) AS v FROM r", name=f"by{step}")
        session.run(1)
    with Session.open(tmp_path / "s", spark) as session:
        session.run(1)
        assert bag(session.query("by1")) == Counter([(2,), (3,), (4,)])
        assert bag(session.query("by-100")) == Counter([(-99,), (-98,), (-97,)])
        assert bag(session.register("SELECT f(i) AS v FROM r WHERE i = 1")) == Counter([(-99,)])
        session.add_function("f", lambda i: 7, returns="bigint")
        assert bag(session.register("SELECT f(i) AS v FROM r WHERE i = 1")) == Counter([(7,)])


def test_a_function_of_the_same_code_is_the_same_function(session):
    session.add_stream("r", pd.DataFrame({"i": [1, 2]}), history=2)
    ids = []
    for _ in range(2):
        session.add_function("f", abs, returns="bigint")
        ids.append(session.register("SELECT i FROM r WHERE f(i) > 1", name="q") and set(session.network.nodes))
    assert ids[0] == ids[1]


def test_a_function_of_the_analyst_is_not_one_of_ours(session):
    """``neg`` is what a minus sign is called inside."""
    session.add_stream("r", pd.DataFrame({"i": [1, 2]}), history=2)
    session.add_function("neg", lambda i: i + 10, returns="bigint")
    assert bag(session.register("SELECT -i AS v FROM r")) == Counter([(-1,), (-2,)])
    assert bag(session.register("SELECT neg(i) AS v FROM r")) == Counter([(11,), (12,)])
