"""Why an element of an array is not in an answer, and what is not looked at since joins would look at too much."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pytest

from workbench.engine.spark.in_process import InProcess
from workbench.limits import Limits
from workbench.session.session import Session

ROOMS = [[{"guests": [{"age": 80}, {"age": 90}]}, {"guests": []}], [{"guests": [{"age": 12}, {"age": None}]}], []]
NESTED = """SELECT b.id, g.age FROM b, LATERAL explode(b.rooms) AS t(r), LATERAL explode(r.guests) AS u(g)
WHERE g.age > 85"""
NUMBERS = pd.DataFrame({"k": [i % 50 for i in range(200)], "v": range(200)})


@pytest.mark.parametrize(
    ("expected", "total"), [("age = 80", 1), ("age = 12", 1), ("id = 1 AND age < 85", 1), ("id = 0 AND age < 85", 1)]
)
def test_elements_of_elements(expected: str, total: int) -> None:
    with Session(InProcess()) as session:
        session.add_stream("b", pa.table({"id": [0, 1, 2], "rooms": ROOMS}), history=3)
        (cause,) = session.register(NESTED, name="guests").why_not(expected).causes
    assert cause.title == f"without WHERE EXPLODE(EXPLODE(b.rooms).guests).age > 85: {total} row"
    assert len(cause.rows) == total


def test_what_would_take_too_many_pairs_is_said_and_not_looked_at() -> None:
    with Session(InProcess(), limits=Limits(pairs_compared_per_question=10_000)) as session:
        session.add_stream("t", NUMBERS, history=200)
        session.add_stream("u", NUMBERS, history=200)
        # Without both equalities each row of t has all of u.
        query = session.register("SELECT t.v FROM t JOIN u ON u.k = t.k AND u.v = t.v + 1", name="q")
        missing = query.why_not("v = 1000")
        assert "not looked at" in missing.title and "pairs_compared_per_question" in missing.title
        assert any(len(conditions) > 1 for conditions in missing.passed_over)
        # What takes few pairs is answered nevertheless.
        assert query.why_not("v = 7").causes
