"""What an analyst reads from a query: all of the answer, its first rows, its size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from html import escape

import pandas as pd
import pytest

from workbench.errors import InputError, QueryError, WorkbenchError
from workbench.limits import Limits
from workbench.session.query import Query
from workbench.session.session import Session

VALUES = [3, None, 3, 1, 2, 2, 5]


@pytest.fixture(scope="module")
def session(spark) -> Iterator[Session]:
    with Session(spark=spark) as session:
        stream = pd.DataFrame({"n": pd.array(VALUES, "Int64")})
        session.add_stream("T", stream, history=5, batch=2)
        session.register("SELECT n FROM T", name="all_rows")
        session.register("SELECT n, COUNT(*) AS copies FROM T GROUP BY n", name="by_value")
        session.register("SELECT n FROM T WHERE n > 100", name="nothing")
        session.run(1)
        yield session


def bag(frame: pd.DataFrame) -> Counter[tuple[object, ...]]:
    return Counter(frame.astype(object).where(frame.notna(), None).itertuples(index=False, name=None))


@pytest.mark.parametrize("name", ["all_rows", "by_value", "nothing"])
@pytest.mark.parametrize("limit", [0, 1, 3, 100])
def test_first_rows_are_rows_of_the_result(session, name: str, limit: int) -> None:
    query: Query = session.query(name)
    result, head = query.result(), query.head(limit)
    assert list(head.columns) == list(result.columns)
    assert len(head) == min(limit, len(result)) and query.count() == len(result)
    assert bag(head) <= bag(result)


def test_a_negative_number_of_rows_is_refused(session) -> None:
    with pytest.raises(InputError, match="limit is -1"):
        session.query("all_rows").head(-1)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"sort": "m"}, "the answer has no column m"),
        ({"where": "m > 1"}, "unknown column m"),
        ({"where": "n >"}, "syntax error"),
        ({"where": "n = (SELECT MAX(n) FROM answer)"}, "one of its rows at a time"),
        ({"where": "n > 1) UNION (SELECT 1"}, "one of its rows at a time"),
        ({"where": "n = now()"}, "there is no now"),
    ],
)
def test_what_no_answer_has_is_refused(session, asked: dict[str, str], message: str) -> None:
    with pytest.raises(WorkbenchError) as refused:
        session.query("all_rows").head(**asked)
    assert message in str(refused.value)


def test_a_join_of_very_many_pairs_is_computed_when_that_is_asked_for(session, monkeypatch) -> None:
    monkeypatch.setattr(session.parts.jobs, "limits", Limits(pairs_compared_per_registration=20))
    before = session.network.nodes
    for register in (session.register, lambda sql, name, **more: session.register_many({name: sql}, **more)[name]):
        with pytest.raises(QueryError, match="T with T by no condition that finds few pairs") as refused:
            register("SELECT a.n, b.n AS m FROM T a, T b", name="product")
        assert "force" in str(refused.value)
        assert session.network.nodes == before and "product" not in session.queries
    assert (
        session.register("SELECT a.n, b.n AS m FROM T a, T b", name="product", force=True).count() == len(VALUES) ** 2
    )
    session.drop("product")


def test_a_dropped_query_shows_nothing(session) -> None:
    dropped = session.register("SELECT n + 1 AS more FROM T", name="dropped")
    session.drop("dropped")
    for read in (dropped.result, dropped.head, dropped.count, dropped.changes):
        with pytest.raises(QueryError, match="dropped"):
            read()


def test_an_explanation_keeps_its_columns_in_an_exported_page(session) -> None:
    explanation = session.query("by_value").explain()
    html = explanation._repr_html_()
    assert "monospace" in html and "white-space:pre-wrap" in html
    assert escape(str(explanation).splitlines()[0]) in html
    for decision in explanation.decisions:
        assert escape(decision.operator) in html and decision.node not in html
