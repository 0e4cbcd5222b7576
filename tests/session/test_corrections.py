"""A stream with corrections in a session: answers, changes, going back, opening again, windows, and its end."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from workbench import Session
from workbench.engine.spark.in_process import InProcess
from workbench.errors import SqlError, StreamError

ORDERS = pd.DataFrame(
    {
        "id": [1, 2, 1, 3, 2, 3, 4],
        "day": pd.to_datetime(
            ["2024-03-01", "2024-03-02", "2024-03-01", "2024-03-09", None, "2024-03-03", "2024-03-04"]
        ),
        "fee": [5.0, 7.0, 6.0, 1.0, None, 2.0, 4.0],
    }
)
"""Order 1 gets another fee, order 2 is deleted, and order 3, at first the latest, is moved to an earlier day."""

UPSERTS = [{name: value for name, value in row.items() if not pd.isna(value)} for row in ORDERS.to_dict("records")]

WEEK = "SELECT id FROM Orders WHERE day >= now() - INTERVAL 6 DAYS"


def answer(session: Session, name: str) -> list[tuple[object, ...]]:
    return sorted(session.query(name).result().itertuples(index=False, name=None))


def test_a_stream_whose_rows_are_replaced(in_process: InProcess, tmp_path: Path) -> None:
    with Session(in_process, tmp_path / "s") as session:
        stream = session.add_stream("Orders", UPSERTS, 2, 2, time="day", key=["id"], changes="upsert")
        assert not stream.append_only and stream.quarantined_rows == 0
        with pytest.raises(StreamError, match="already"):
            session.add_stream("orders", ORDERS)
        session.add_stream("Plain", ORDERS[["id", "fee"]].assign(w=1), 2, 2, weight="w")
        queries = {"all": "SELECT id, fee FROM Orders", "most": "SELECT MAX(fee) AS m, COUNT(*) AS n FROM Orders"}
        session.register_many({**queries, "week": WEEK})
        assert answer(session, "all") == [(1, 5.0), (2, 7.0)]
        reports = session.run(1)
        assert reports[0].arrived["Orders"] == 2  # an update is the row that goes and the row that comes
        assert answer(session, "all") == [(1, 6.0), (2, 7.0)]
        assert answer(session, "most") == [(7.0, 2)]
        changes = session.query("all").changes(since=0)
        assert sorted(changes.itertuples(index=False, name=None)) == [(1, -1, 1, 5.0), (1, 1, 1, 6.0)]
        session.run(1)
        assert answer(session, "all") == [(1, 6.0), (3, 1.0)]
        assert answer(session, "week") == [(3,)]
        session.run(5)
        assert answer(session, "all") == [(1, 6.0), (3, 2.0), (4, 4.0)]
        assert answer(session, "most") == [(6.0, 3)]
        # Time has reached the ninth: it does not go back with the row that brought it.
        assert answer(session, "week") == [(3,), (4,)]
        last = session.batch
        session.seek(1)
        assert answer(session, "all") == [(1, 6.0), (2, 7.0)]
        session.run(1)
    with Session.open(tmp_path / "s", in_process) as session:
        assert not session.streams["Orders"].append_only
        session.run(5)
        assert session.batch == last
        assert answer(session, "all") == [(1, 6.0), (3, 2.0), (4, 4.0)]
        session.register("SELECT COUNT(*) AS n FROM Orders", name="late")
        assert answer(session, "late") == [(3,)]
        assert any("takes rows back" in line for line in str(session.query("late").explain()).splitlines())
        with pytest.raises(SqlError, match="Plain takes rows back, so its rows cannot be counted by a window"):
            session.register("SELECT id FROM Plain BEGIN NOW - 3 END NOW")
        with pytest.raises(StreamError, match="Orders is read by 4 queries") as caught:
            session.drop_stream("orders")
        assert (caught.value.hint or "").startswith("first %argus drop all ")
        for name in list(session.queries):
            session.drop(name)
        session.drop_stream("orders")
        with pytest.raises(StreamError, match="there is no stream orders"):
            session.drop_stream("orders")
        assert list(session.streams) == ["Plain"]
        session.add_stream("Orders", ORDERS, 2, 2)
        session.register("SELECT COUNT(*) AS n FROM Orders", name="again")
        assert answer(session, "again") == [(2,)]
        session.seek(1)
        session.run(1)
        assert answer(session, "again") == [(4,)]


ZIPS = pd.DataFrame({"zip": ["a", "b"], "state": ["MA", "NY"]})
PAID = pd.DataFrame({"id": range(6), "zip": ["a", "b", "c", "a", "b", "c"]})


def test_a_table_that_is_updated(in_process: InProcess, tmp_path: Path) -> None:
    by_state = "SELECT state, COUNT(*) AS n FROM Paid p JOIN Zips z ON p.zip = z.zip GROUP BY state"
    with Session(in_process, tmp_path / "s") as session:
        session.add_stream("Paid", PAID, 2, 2)
        session.add_table("Zips", ZIPS, key=["zip"])
        session.add_table("Notes", [{"text": "one"}])
        session.register_many({"by_state": by_state, "texts": "SELECT text FROM Notes"})
        assert answer(session, "by_state") == [("MA", 1), ("NY", 1)]
        session.run(1)
        assert answer(session, "by_state") == [("MA", 2), ("NY", 1)]
        report = session.update_table("zips", [{"zip": "b", "state": "MA"}, {"zip": "c", "state": "CA"}])
        assert (report.batch, report.arrived) == (2, {"Paid": 0, "Zips": 3})
        assert answer(session, "by_state") == [("CA", 1), ("MA", 3)]
        session.update_table("Zips", delete=[{"zip": "a"}])
        assert answer(session, "by_state") == [("CA", 1), ("MA", 1)]
        session.update_table("Notes", [{"text": "two"}])
        assert answer(session, "texts") == [("one",), ("two",)]
        with pytest.raises(StreamError, match="table Notes has no key"):
            session.update_table("Notes", delete=[{"text": "two"}])
        with pytest.raises(StreamError, match="Paid is a stream"):
            session.update_table("Paid", PAID)
        with pytest.raises(StreamError, match="row 1: it takes back a row that is not there"):
            session.update_table("Zips", [{"zip": "d", "state": "DE"}], delete=[{"zip": "a"}])
        assert session.batch == 4
        session.save(tmp_path / "copy")
        session.seek(2)
        assert answer(session, "by_state") == [("CA", 1), ("MA", 3)]
        session.run(1)  # what had waited of the tables arrives again, with the next rows of the stream
        assert answer(session, "by_state") == [("CA", 2), ("MA", 2)]
        assert answer(session, "texts") == [("one",), ("two",)]
        session.update_table("Zips", [{"zip": "a", "state": "ME"}])
    for folder, expected in (("s", [("CA", 2), ("MA", 2), ("ME", 2)]), ("copy", [("CA", 1), ("MA", 1)])):
        with Session.open(tmp_path / folder, in_process) as session:
            assert session.read_only is None
            assert answer(session, "by_state") == expected
            session.run(5)
            session.update_table("Zips", [{"zip": "c", "state": "WA"}])
            assert ("WA", 2) in answer(session, "by_state")
