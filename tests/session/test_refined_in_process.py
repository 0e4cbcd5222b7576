"""Rows of an answer that satisfy a condition are found without Spark, where kernels evaluate it."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
import pyarrow as pa
import pytest

from workbench.engine import fetching, selection
from workbench.engine.spark.in_process import InProcess, NeedsSparkError
from workbench.limits import Limits
from workbench.session.query import Query
from workbench.session.session import Session
from workbench.sql.algebra.expressions import Expression, calls

pytestmark = pytest.mark.usefixtures("spark_soundex")

ROWS = pd.DataFrame(
    {
        "id": range(40),
        "s": [None if n % 7 == 0 else f"s{n % 5}" for n in range(40)],
        "x": [None if n % 6 == 0 else n / 4 for n in range(40)],
        "at": [{"k": n % 3, "tags": ["a"] * (n % 2)} for n in range(40)],
    }
)


@pytest.fixture(scope="module")
def query() -> Iterator[Query]:
    with Session(InProcess()) as session:
        session.add_stream("t", ROWS, history=30, batch=10)
        yield session.register("SELECT id, UPPER(s) AS name, x * 2 AS y, at, 1 AS one FROM t", name="q")


@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        ("y > 10", ROWS.x * 2 > 10),
        ("y > 10 OR name = 'S1'", (ROWS.x * 2 > 10) | (ROWS.s == "s1")),
        ("NOT y > 10", ROWS.x * 2 <= 10),
        ("name LIKE 'S%' AND y IS NULL", ROWS.s.notna() & ROWS.x.isna()),
        ("at.k = 2", ROWS["at"].map(lambda at: at["k"] == 2)),
        ("SIZE(at.tags) = 1 AND id BETWEEN 3 AND 20", ROWS.id.between(3, 20) & (ROWS.id % 2 == 1)),
        ("name IN ('S1', 'S4')", ROWS.s.isin(["s1", "s4"])),
        ("1 = 0", ROWS.id < 0),
        ("one = 1 AND id > 7", ROWS.id > 7),
        ("one = 1", ROWS.id >= 0),
        ("1 = 1", ROWS.id >= 0),
    ],
)
def test_a_condition_is_tested_in_the_process(query: Query, where: str, wanted: pd.Series) -> None:
    ids = ROWS.id[wanted & (ROWS.id < 30)].tolist()
    found = query.head(100, where=where, sort="id", descending=True)
    assert found["id"].tolist() == ids[::-1]
    assert query.count(where=where) == len(ids)
    assert query.head(2, skip=1, where=where, sort="id")["id"].tolist() == ids[1:3]


def test_what_has_no_kernel_is_sparks(query: Query) -> None:
    with pytest.raises(NeedsSparkError):
        query.head(5, where="SPARK_SOUNDEX(name) = 'S000'")


def test_only_what_a_condition_needs_is_read_and_only_until_there_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[tuple[list[str], int]] = []
    conform = selection.conform

    def counted(rows: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
        taken.append((schema.names, rows.num_rows))
        return conform(rows, schema)

    rows = pd.DataFrame({"id": range(1_000), "wide": ["x" * 50] * 1_000})
    with Session(InProcess(), limits=Limits(rows_handed_on=100)) as session:
        session.add_stream("t", rows, history=1_000, batch=1)
        query = session.register("SELECT id, wide FROM t", name="q")
        monkeypatch.setattr(selection, "conform", counted)
        assert query.head(2, where="id >= 150")["id"].tolist() == [150, 151]
    tested = [number for names, number in taken if "wide" not in names]
    shown = [number for names, number in taken if "wide" in names]
    assert (tested, shown) == ([100, 100], [2])


def test_what_is_computed_is_tested_of_the_rows_that_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluated: list[int] = []
    evaluate = fetching.evaluate

    def counted(expression: Expression, rows: pa.RecordBatch) -> pa.Array:
        if calls(expression):
            evaluated.append(rows.num_rows)
        return evaluate(expression, rows)

    rows = pd.DataFrame({"id": range(1_000), "s": ["x"] * 1_000})
    with Session(InProcess()) as session:
        session.add_stream("t", rows, history=1_000, batch=1)
        query = session.register("SELECT UPPER(s) AS a, id, s || id AS b FROM t", name="q")
        monkeypatch.setattr(fetching, "evaluate", counted)
        assert query.count(where="a = 'X' AND b = 'x7' AND id = 7") == 1
    assert evaluated and max(evaluated) == 1
