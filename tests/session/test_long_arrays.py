"""Rows of arrays of any length: while none is too long they are read like any other; then their query stops."""

from __future__ import annotations

import pandas as pd
import pytest
from pyspark.sql import SparkSession

from workbench.errors import QueryError
from workbench.session.session import Session

TAGS = "SELECT tag, COUNT(*) AS n FROM posts LATERAL VIEW EXPLODE(SPLIT(tags, ',')) e AS tag GROUP BY tag"
REASON = "an array in FROM has more than 10,000 elements"
TEXTS = ["a,b", None, "b", "", ",".join("b" * 10_000), ",".join("c" * 10_001)]


@pytest.fixture
def session(spark):
    with Session(spark=spark) as session:
        posts = pd.DataFrame({"id": range(len(TEXTS)), "tags": TEXTS})
        session.add_stream("posts", posts, history=1, batch=1)
        yield session


def test_a_query_runs_until_an_array_is_too_long(session: Session) -> None:
    tags = session.register(TAGS, name="tags")
    others = session.register(TAGS.replace("posts L", "(SELECT * FROM posts WHERE id < 5) L"), name="others")
    cut = session.register(TAGS.replace("','", "',', 3"), name="cut")
    unkept = session.register(TAGS, name="unkept", results="off")
    session.run(4)
    assert dict(tags.result().values) == {"a": 1, "b": 10_002, "": 1}
    assert set(session.network.results) == {"tags", "others", "cut"}
    session.run(1)
    assert [query.status for query in (tags, others, cut)] == [REASON, "active", "active"]
    assert dict(others.result().values) == {"a": 1, "b": 10_002, "": 1}
    assert dict(cut.result().values)["c"] == 2
    for query in (tags, unkept):
        with pytest.raises(QueryError, match=REASON):
            query.result()


def test_a_query_over_a_row_that_is_too_long_already_does_not_start(session: Session) -> None:
    session.run(5)
    assert session.register(TAGS, name="late").status == REASON


@pytest.mark.parametrize(
    ("dialect", "array"),
    [
        ("postgres", "generate_series(1, n)"),
        ("postgres", "generate_series(n, 1, -1)"),
        ("spark", "LATERAL EXPLODE(SEQUENCE(1, n))"),
        ("spark", "LATERAL EXPLODE(SEQUENCE(n, 1))"),
        ("spark", "LATERAL EXPLODE(SEQUENCE(1, n, step))"),
        ("spark", "LATERAL EXPLODE(ARRAY_REPEAT(1, n))"),
    ],
)
def test_an_array_that_is_much_too_long_is_noticed(spark: SparkSession, dialect: str, array: str) -> None:
    with Session(spark=spark) as session:
        rows = pd.DataFrame({"n": [10_000, None, 10**15], "step": [1, 1, 1]}).astype({"n": "Int64"})
        session.add_stream("counts", rows, history=1, batch=1)
        query = session.register(f"SELECT COUNT(*) AS c FROM counts, {array} AS e(v)", "series", dialect)
        session.run(1)
        assert query.result()["c"].tolist() == [10_000]
        session.run(1)
        assert query.status == REASON
