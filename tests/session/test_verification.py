"""Answers verified by Spark SQL: those that are right, one that is damaged, and what cannot be verified."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from workbench.errors import QueryError
from workbench.files.mapped import MAPPED
from workbench.limits import Limits
from workbench.session.session import Session
from workbench.session.verification.report import ANEW, ORDER_OF_ADDITIONS, SPARK, Outcome

MARKED, WRONG = 812_734_551_907, 812_734_551_908
"""A value that no other part of the session's files has, and what it is changed to."""
QUERIES = {
    "rows": "SELECT id, x, s FROM T WHERE id <> 3",
    "groups": "SELECT g, SUM(n) AS n, AVG(x) AS x, COUNT(*) AS c FROM T GROUP BY g",
    "first": "SELECT g, id FROM T ORDER BY g LIMIT 2",
    "late": "SELECT id FROM T WHERE day >= now() - INTERVAL 1 DAY",
    "of_a_query": "SELECT COUNT(*) AS many FROM groups WHERE c > 1",
    "numbered": "SELECT id, ROW_NUMBER() OVER (PARTITION BY g ORDER BY day) AS r FROM T",
    "corrected": "SELECT k, v FROM U",
    "in_postgres": "SELECT g, n::text AS n FROM T",
}


@pytest.fixture(scope="module")
def session(spark, tmp_path_factory) -> Iterator[Session]:
    folder, each_a_file = tmp_path_factory.mktemp("sessions") / "verified", Limits(bytes_per_part=0)
    with Session(spark, folder, limits=each_a_file) as session:
        rows = pd.DataFrame({"id": range(8), "g": list("aabbccdd"), "n": [MARKED, *[None] * 3, 1, 2, 3, 4]})
        rows = rows.astype({"n": "Int64"}).assign(
            x=[0.1, float("nan"), 0.3, None, 1e300, -0.0, 0.0, 5.5],
            s=["", "NULL", None, " ", "é", "a", "a", "b"],
            day=pd.date_range("2020-01-01", periods=8).date,
        )
        session.add_stream("T", pd.concat([rows, rows.tail(2)]), history=4, batch=3, time="day")
        changes = pd.DataFrame({"k": [1, 2, 1, 1], "v": [5, 6, 7, 7], "w": [1, 1, -1, 1]})
        changes.loc[2, "v"] = 5
        session.add_stream("U", changes, history=2, batch=1, weight="w")
        session.register_many({name: sql for name, sql in QUERIES.items() if name != "in_postgres"})
        session.register(QUERIES["in_postgres"], "in_postgres", "postgres")
        session.run(2)
        yield session


def test_right_answers_are_those_of_spark(session: Session) -> None:
    found = session.verify()
    assert {name: str(one) for name, one in found.items() if one.outcome is not Outcome.SAME} == {}
    assert found["rows"].rows == len(session.query("rows").result()) and found["rows"].part == 1
    assert found["late"].notes == ("now is DATE'2020-01-08'",)
    assert session.verifying is None


def test_a_sample_of_groups(session: Session) -> None:
    some = session.verify("rows", sample=0.5)
    assert some.outcome is Outcome.SAME and some.part == 0.5 and some.rows < session.query("rows").count()
    with pytest.raises(QueryError, match="no sample of 2"):
        session.verify("rows", sample=2)


def test_a_damaged_answer_differs(session: Session) -> None:
    """One value of the kept answer is another one on the disk; the rows of the stream are as they were."""
    damaged = [file for file in session.path.glob("state/G*/*.arrow") if _replaced(file, MARKED, WRONG)]
    assert damaged
    try:
        found = session.verify("groups")
    finally:
        assert all(_replaced(file, WRONG, MARKED) for file in damaged)
    assert (found.outcome, found.missing, found.unexpected) == (Outcome.DIFFERS, 1, 1)
    assert found.differing[["side", "g", "n"]].values.tolist() == [["Spark SQL", "a", MARKED], ["kept", "a", WRONG]]
    assert "DIFFERS from Spark SQL after batch 2: 1 row missing, 1 row too many" in str(found)
    assert session.verify("groups").outcome is Outcome.SAME


def _replaced(file: Path, old: int, new: int) -> bool:
    before = file.read_bytes()
    after = before.replace(old.to_bytes(8, "little"), new.to_bytes(8, "little"))
    if after == before:
        return False
    with file.open("r+b") as out:
        out.write(after)
    MAPPED.forget(str(file))
    return True


OTHER_WAYS = {
    "bucket": ("SELECT TIME_BUCKET(INTERVAL '2 days', day) AS b, SUM(n) AS n FROM T GROUP BY 1", "duckdb", SPARK),
    "alias": ("SELECT id * 2 AS twice_id, s FROM T WHERE twice_id > 4", "duckdb", SPARK),
    "open": ("SELECT id, ROW_NUMBER() OVER (PARTITION BY g ORDER BY day DESC) AS r, s FROM T", "spark", SPARK),
    "window": ("SELECT id FROM T BEGIN NOW - INTERVAL 2 DAY END NOW", "spark", ANEW),
    "added": ("SELECT g, twice(id) AS t FROM T GROUP BY g", "spark", SPARK),
    "interval": ("SELECT day - DATE '2020-01-01' AS n FROM T", "spark", SPARK),
    "pattern": ("SELECT TO_CHAR(day, 'YYYY-MM') AS m, COUNT(*) AS n FROM T GROUP BY 1", "postgres", SPARK),
    "median": ("SELECT twice_id, MEDIAN(x) AS m FROM (SELECT id * 2 AS twice_id, x FROM T WHERE twice_id > 2) q "
               "GROUP BY twice_id", "duckdb", ANEW),
}  # fmt: skip
"""Texts that Spark SQL does not evaluate, or whose answer SQL leaves open, and what they are compared with."""


@pytest.fixture(scope="module")
def others(session: Session) -> Iterator[Session]:
    session.add_aggregate("twice", ("x",), {"n": "SUM(x)"}, "2 * n")
    for name, (sql, dialect, _) in OTHER_WAYS.items():
        session.register(sql, f"other_{name}", dialect)
    yield session
    for name in OTHER_WAYS:
        session.drop(f"other_{name}")


@pytest.mark.parametrize("name", OTHER_WAYS)
def test_what_spark_does_not_evaluate_is_verified_in_another_way(others: Session, name: str) -> None:
    found = others.verify(f"other_{name}")
    assert (found.outcome, found.by) == (Outcome.SAME, OTHER_WAYS[name][2]), str(found)
    assert not any(note.endswith(":") for note in found.notes)
    assert (found.notes or name == "open") and found.rows == others.query(f"other_{name}").count()


def test_a_damaged_answer_differs_in_another_way(others: Session) -> None:
    damaged = [file for file in others.path.glob("state/G*/*.arrow") if _replaced(file, MARKED, WRONG)]
    try:
        found = others.verify("other_bucket")
    finally:
        assert all(_replaced(file, WRONG, MARKED) for file in damaged)
    assert damaged and found.outcome is Outcome.DIFFERS, str(found)


def test_a_suspended_query_is_not_verifiable(session: Session) -> None:
    session.register("SELECT id FROM T WHERE id > 3", "other")
    session.suspend("other")
    found = session.verify("other")
    session.drop("other")
    assert found.outcome is Outcome.NOT_VERIFIABLE and "suspended since batch 2" in str(found)


AT_JUMPS = {
    "floor": ("SELECT FLOOR(SUM(x)) AS n FROM Tenths", Outcome.LEFT_OPEN),
    "cast": ("SELECT k, CAST(SUM(x) OVER (PARTITION BY k) AS BIGINT) AS n FROM Tenths", Outcome.LEFT_OPEN),
    "having": ("SELECT k, COUNT(*) AS n FROM Tenths GROUP BY k HAVING SUM(x) >= 1", Outcome.LEFT_OPEN),
    "between_jumps": ("SELECT ROUND(SUM(x)) AS n FROM Tenths", Outcome.SAME),
    "of_one_order": ("SELECT CAST(SUM(FLOOR(x * 10)) AS DOUBLE) AS n, SUM(x) AS s FROM Tenths", Outcome.SAME),
}  # fmt: skip
"""Ten times 0.1 is 1.0, and less where one is added after the other, as Spark does."""


def test_what_the_order_of_additions_decides_is_left_open(session: Session) -> None:
    session.add_stream("Tenths", pd.DataFrame({"k": [1] * 10, "x": [0.1] * 10}), history=10)
    session.register_many({f"at_{name}": sql for name, (sql, _) in AT_JUMPS.items()})
    found = {name: session.verify(f"at_{name}") for name in AT_JUMPS}
    expected = {name: outcome for name, (_, outcome) in AT_JUMPS.items()}
    assert {name: one.outcome for name, one in found.items()} == expected, "\n".join(map(str, found.values()))
    assert all(one.reasons == (ORDER_OF_ADDITIONS,) for one in found.values() if one.outcome is Outcome.LEFT_OPEN)
