"""Rows of an answer that satisfy a condition are found without Spark, where kernels evaluate it."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
import pytest

from workbench.engine.spark.in_process import InProcess, NeedsSparkError
from workbench.session.query import Query
from workbench.session.session import Session

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
        yield session.register("SELECT id, UPPER(s) AS name, x * 2 AS y, at FROM t", name="q")


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
        query.head(5, where="SOUNDEX(name) = 'S000'")
