"""Rows of arrays of any length: while none is too long they are read like any other; then their query stops."""

from __future__ import annotations

import pandas as pd
import pytest

from workbench.errors import QueryError
from workbench.session.session import Session

TAGS = "SELECT tag, COUNT(*) AS n FROM posts LATERAL VIEW EXPLODE(SPLIT(tags, ',')) e AS tag GROUP BY tag"
REASON = "an array in FROM has more than 100 elements"
TEXTS = ["a,b", None, "b", "", ",".join("b" * 100), ",".join("c" * 101)]


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
    assert dict(tags.result().values) == {"a": 1, "b": 102, "": 1}
    assert set(session.network.results) == {"tags", "others", "cut"}
    session.run(1)
    assert [query.status for query in (tags, others, cut)] == [REASON, "active", "active"]
    assert dict(others.result().values) == {"a": 1, "b": 102, "": 1}
    assert dict(cut.result().values)["c"] == 2
    for query in (tags, unkept):
        with pytest.raises(QueryError, match=REASON):
            query.result()


def test_a_query_over_a_row_that_is_too_long_already_does_not_start(session: Session) -> None:
    session.run(5)
    assert session.register(TAGS, name="late").status == REASON
