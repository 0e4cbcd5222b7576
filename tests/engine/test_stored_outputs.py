"""Expressions of answers that are computed as rows of groups are written: extra columns that no answer depends on."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

from workbench import Session
from workbench.engine.answers import Answers
from workbench.engine.fetching import fetch_changes, fetch_results
from workbench.limits import Limits

MEAN = "SELECT g, AVG(n) AS mean FROM T GROUP BY g"
NEXT = "SELECT g, SUM(n) + COUNT(n) AS next FROM T GROUP BY g"
CALLED = "SELECT g, twice(SUM(n)) AS twice FROM T GROUP BY g"

Bags = list[tuple[list[pa.DataType], Counter[str]]]


def bags(session: Session, name: str) -> Bags:
    """A query's answer and its changes, with their types."""
    with session.query(name).answers() as answers:
        tables = [*fetch_results([answers]), fetch_changes(answers, None)]
    return [(t.schema.types, Counter(map(repr, zip(*(c.to_pylist() for c in t.columns), strict=True)))) for t in tables]


def check(session: Session) -> None:
    """All answers are those that Spark gives, which evaluates every expression as it reads."""
    for name in session.queries:
        found = bags(session, name)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(session.parts.jobs, "limits", Limits(rows_scanned_in_process=-1))
            assert bags(session, name) == found


def stored(session: Session, name: str) -> set[str]:
    """The columns that are computed as the rows of a query's tree are written."""
    with session.query(name).answers() as answers:
        return set(answers.tree.plan.computed)


@pytest.fixture
def session(spark, tmp_path: Path) -> Session:
    session = Session(spark=spark, path=tmp_path / "session")
    n = [i * i % 97 if i % 11 else None for i in range(400)]
    session.add_stream("T", pa.table({"g": [i % 7 for i in range(400)], "n": pa.array(n, pa.int64())}), 100, 10)
    return session


def test_a_column_is_stored_only_where_all_rows_have_it(session: Session, spark) -> None:
    session.register(MEAN, name="mean")
    session.register("SELECT g, SUM(n) AS s, COUNT(n) AS c FROM T GROUP BY g", name="parts")
    (mean,) = stored(session, "mean")
    with session.query("mean").answers() as answers:
        before = answers.tree.relation.files
    session.register(NEXT, name="next")
    with session.query("next").answers() as answers:
        assert answers.tree.relation.files == before, "no operator is computed anew for such a column"
    assert stored(session, "next") == {mean}
    check(session)
    session.run(9)  # with these batches runs are merged
    check(session)
    session.drop("mean")
    session.run(1)
    assert stored(session, "next") == set()
    session.register(MEAN, name="mean")
    session.run(9)
    check(session)
    session.close()
    with Session.open(session.path, spark) as again:
        assert stored(again, "mean") == set(), "the rows that are there lack it"
        check(again)
        again.run(2)
        check(again)


def test_it_is_stored_again_when_the_session_is_opened(session: Session, spark) -> None:
    session.register(MEAN, name="mean")
    session.run(2)
    session.close()
    with Session.open(session.path, spark) as again, pytest.MonkeyPatch.context() as patch:
        assert stored(again, "mean")
        again.run(1)
        check(again)
        patch.setattr(Answers, "result", None)  # Spark is not asked
        assert len(again.query("mean").result()) == 7


def test_a_function_is_called_for_its_own_rows_only(session: Session) -> None:
    session.add_function("twice", lambda n: None if n is None else 2 * n, returns="bigint")
    session.register(CALLED, name="called")
    assert stored(session, "called") == set()
    check(session)
    session.close()
