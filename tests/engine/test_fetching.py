"""Answers read from the segments are those that Spark reads: the same rows, values and types."""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pytest
from long import some

from workbench import Session
from workbench.engine import selection
from workbench.engine.answers import Answers
from workbench.engine.fetching import fetch_changes, fetch_count, fetch_first, fetch_results
from workbench.errors import UnexpectedError
from workbench.limits import Limits
from workbench.session.query import Query

ROW = {
    "id": pa.int64(),
    "flag": pa.bool_(),
    "x": pa.float64(),
    "money": pa.decimal128(15, 2),
    "wide": pa.decimal128(38, 0),
    "s": pa.string(),
    "day": pa.date32(),
    "at": pa.timestamp("us"),
}
NINES = Decimal(10**38 - 1)
VALUES: dict[str, list[object]] = {
    "flag": [True, False, None],
    "x": [0.0, -0.0, math.nan, None, 1.5, -math.inf, 1.5],
    "money": [Decimal("1.50"), None, Decimal("-0.01")],
    "wide": [NINES, Decimal(1 - 10**38), None, Decimal(0)],
    "s": ["", "a", None, "ä\U0001f600", "a "],
    "day": [dt.date(1, 1, 1), dt.date(1582, 10, 4), None, dt.date(9999, 12, 31), dt.date(2020, 2, 29)],
}
FIRST = dt.datetime(2020, 1, 1)

QUERIES = {
    "all": "SELECT * FROM T",
    "few": "SELECT id, s FROM T WHERE x > 1",
    "none": "SELECT id, money FROM T WHERE id < 0",
    "twice": "SELECT x AS a, x AS b, x, s AS A FROM T WHERE flag",
    "constant": "SELECT 1 AS one, 'it''s' AS text, x, DATE '1500-01-01' AS day, CAST(2.50 AS DECIMAL(5,2)) AS d FROM T",
    "double": "SELECT -0.0D AS zero, id FROM T WHERE flag",
    "double_of_groups": "SELECT -0.0D AS zero, ABS(-2.0D) AS two, s, COUNT(*) AS n FROM T GROUP BY s",
    "pairs": "SELECT l.x, r.wide FROM T l JOIN T r ON l.s = r.s WHERE l.flag AND r.money > 1",
    "groups": "SELECT x, COUNT(*) AS n, SUM(money) AS total FROM T GROUP BY x",
    "sizes": "SELECT n FROM (SELECT s, wide, COUNT(*) AS n FROM T GROUP BY s, wide)",
    "having": "SELECT day, MAX(x) AS most FROM T GROUP BY day HAVING COUNT(*) > 3",
    "different": "SELECT DISTINCT x, flag, wide FROM T",
    "except": "SELECT s, x FROM T EXCEPT ALL SELECT s, x FROM T WHERE flag",
    "both": "SELECT day, x FROM T WHERE flag UNION ALL SELECT day, MIN(x) FROM T GROUP BY day",
    "average": "SELECT s, AVG(money) AS mean FROM T GROUP BY s",
    "computed": "SELECT id + 1 AS next, UPPER(s) AS u FROM T WHERE flag",
    "recent": "SELECT id, x, at FROM T WHERE at > now() - INTERVAL '40' MINUTE",
    "recent_groups": "SELECT x, COUNT(*) AS n FROM T WHERE at > now() - INTERVAL '40' MINUTE GROUP BY x",
}


def rows(first: int, last: int) -> pa.Table:
    """Rows of T: all types, with each value beside different others."""
    ids = range(first, last)
    values = {name: [some[i % len(some)] for i in ids] for name, some in VALUES.items()}
    times = [FIRST + dt.timedelta(minutes=i) for i in ids]
    return pa.table({"id": [*ids], **values, "at": times}, schema=pa.schema(ROW))


@pytest.fixture(scope="module")
def session(spark) -> Iterator[Session]:
    with Session(spark=spark) as session:
        session.add_stream("T", rows(0, 120), history=60, batch=20, time="at")
        session.register_many({f"early_{name}": sql for name, sql in QUERIES.items()})
        session.register(QUERIES["recent"], name="early_eager", results="eager")
        session.run(1)
        session.register_many({f"late_{name}": sql for name, sql in QUERIES.items()})
        session.register(QUERIES["recent"], name="off", results="off")
        session.run(2)
        yield session


def bag(table: pa.Table) -> tuple[list[pa.DataType], Counter[str]]:
    """The rows of a table and their types; unlike values of one kind, 0.0 and -0.0, differ in their text."""
    return table.schema.types, Counter(map(repr, zip(*(column.to_pylist() for column in table.columns), strict=True)))


@pytest.fixture
def by_spark(session: Session, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Lets Spark read all answers from now on."""
    return lambda: monkeypatch.setattr(session.parts.jobs, "limits", Limits(rows_scanned_in_process=-1))


@pytest.fixture
def without_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark may not read an answer."""

    def refuse(*arguments: object) -> None:
        raise AssertionError("Spark reads an answer")

    for name in ("result", "changes", "count"):
        monkeypatch.setattr(Answers, name, refuse)


NAMES = [f"{when}_{name}" for when in ("early", "late") for name in QUERIES] + ["early_eager", "off"]


@pytest.mark.parametrize("name", some(NAMES, len(QUERIES)))
def test_spark_reads_the_same(session, by_spark: Callable[[], None], name: str) -> None:
    query: Query = session.query(name)
    ways: list[list[tuple[list[pa.DataType], Counter[str]]]] = []
    for prepare in (lambda: None, by_spark):
        prepare()
        with query.answers() as answers:
            seen = [bag(fetch_results([answers])[0])]
            seen += [bag(fetch_changes(answers, since)) for since in (None, 0, 2) if name != "off"]
            assert fetch_count(answers) == sum(seen[0][1].values())
        ways.append(seen)
    assert ways[0] == ways[1]
    assert ways[0][0][1] or name.endswith("none")


@pytest.mark.parametrize("name", [name for name in NAMES if name != "off"])
def test_small_answers_need_no_spark(session, without_spark: None, name: str) -> None:
    query: Query = session.query(name)
    result = query.result()
    assert len(result) == query.count() == len(query.head(1_000))
    assert query.changes().groupby("batch").size().index.min() >= query.registered if len(result) else True


def test_a_count_needs_no_expression(session, without_spark: None) -> None:
    assert session.query("early_computed").count() == session.query("early_twice").count() > 0


def test_many_answers_at_once(session) -> None:
    names = [*NAMES, NAMES[0].upper()]
    results = session.results(names)
    assert [*results] == names
    for name, result in results.items():
        alone = session.query(name).result()
        pd.testing.assert_frame_equal(ordered(result), ordered(alone))
    assert session.results([]) == {}


def ordered(frame: pd.DataFrame) -> pd.DataFrame:
    order = frame.map(repr).apply(tuple, axis=1).argsort() if len(frame) else []
    return frame.iloc[order].reset_index(drop=True)


def test_answers_with_too_many_rows_together_are_read_one_by_one(session, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["early_few", "early_twice", "early_all"]
    expected = {name: len(session.query(name).result()) for name in names}
    read: list[Answers] = []
    result = Answers.result
    limits = Limits(rows_found_in_process=expected["early_all"] - 1)
    monkeypatch.setattr(session.parts.jobs, "limits", limits)
    monkeypatch.setattr(Answers, "result", lambda answers: read.append(answers) or result(answers))
    assert {name: len(answer) for name, answer in session.results(names).items()} == expected
    assert [answers.plan.name for answers in read] == ["early_all"]


def test_first_rows_go_on_where_others_ended(session) -> None:
    with session.query("early_all").answers() as answers:
        whole = fetch_results([answers])[0]
        pages = [fetch_first(answers, skip, 50) for skip in range(0, 200, 50)]
    assert bag(pa.concat_tables(pages)) == bag(whole)


def test_the_first_rows_of_a_large_answer_need_no_spark(session, without_spark, monkeypatch) -> None:
    jobs = session.parts.jobs
    one_by_one = Limits(rows_found_in_process=25, rows_scanned_in_process=100, rows_chosen_together=1)
    monkeypatch.setattr(jobs, "limits", one_by_one)
    assert session.query("early_all").head(10, skip=15).id.tolist() == [*range(15, 25)]
    monkeypatch.setattr(jobs, "limits", Limits(rows_scanned_in_process=0))
    with pytest.raises(UnexpectedError, match="Spark reads an answer"):
        session.query("early_all").head(10)


def test_rows_that_count_twice_stand_there_twice() -> None:
    columns = selection.repeated([pa.array(["a", "b", "c"])], pa.array([2, 0, 1]))
    assert columns[0].to_pylist() == ["a", "a", "c"]


def test_equal_rows_are_summed_as_spark_groups_them() -> None:
    values = [0.0, -0.0, math.nan, -math.nan, None, None, 1.0, 1.0]
    (sums,), weights = selection.summed_weights([pa.array(values)], pa.array([1, 1, 1, 1, 1, 2, 1, -1]))
    assert list(map(repr, sums.to_pylist())) == ["0.0", "nan", "None"] and weights.to_pylist() == [2, 2, 3]
