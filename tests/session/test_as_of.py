"""Each answer has a line *as of*: batch, event times, and how many rows wait, were late, quarantined or left out."""

from __future__ import annotations

import datetime as dt

import pandas as pd
import pyarrow as pa
import pytest

from workbench.engine.spark.in_process import InProcess
from workbench.notebook.display import streams_table
from workbench.notebook.replay_status import status_line
from workbench.session.as_of import AsOf, StreamAsOf
from workbench.session.live.sources import perhaps_more
from workbench.session.session import Session

DAYS = pd.to_datetime(["2026-03-01", "2026-03-09", "2026-03-02", "2026-03-10"])


@pytest.fixture
def session(in_process: InProcess):
    with Session(in_process) as made:
        yield made


def test_a_replay_is_well_as_far_as_it_has_come(session):
    session.add_stream("T", pd.DataFrame({"id": range(4), "at": DAYS}), history=2, batch=1, time="at")
    session.add_table("U", pd.DataFrame({"id": range(2)}))
    session.register("SELECT T.id FROM T JOIN U ON T.id = U.id", "both")
    session.register("SELECT COUNT(*) AS n FROM U", "table")
    assert str(session.as_of("BOTH")) == "as of batch 0 · T 2026-03-09 · all is well"
    session.run(2)
    assert str(session.as_of("both")) == "as of batch 2 · T 2026-03-10 · all is well"
    assert str(session.as_of("table")) == "as of batch 2 · all is well"


def test_event_times_that_are_numbers_are_told_as_numbers(session):
    session.add_stream("Prices", pd.DataFrame({"day": [117, 118, -1]}), history=2, batch=1, time="day")
    session.register("SELECT COUNT(*) AS n FROM Prices", "n")
    assert str(session.as_of("n")) == "as of batch 0 · Prices 118 · all is well"
    assert "118  append-only" in streams_table(session).text and "1970" not in streams_table(session).text
    assert status_line(session, session.player.position) == "paused · batch 0 · 118 · 2 of 3 rows"


@pytest.mark.parametrize(
    ("latest", "zone", "told"),
    [
        ("2026-03-30 10:15:00", "Europe/Berlin", "2026-03-30 12:15+02:00"),
        ("2026-03-27 23:00:00", "Europe/Berlin", "2026-03-28 00:00+01:00"),
        ("2026-03-30 10:15:00", "UTC", "2026-03-30 10:15+00:00"),
        ("9999-12-31 23:30:00", "Europe/Berlin", "9999-12-31 23:30+00:00"),
    ],
)
def test_instants_are_told_as_the_rows_show_them(session, latest, zone, told):
    """The line had the time in UTC, without a zone, beside rows with the time of the session's zone."""
    moment = dt.datetime.fromisoformat(latest).replace(tzinfo=dt.UTC)
    session.set_timezone(zone)
    table = pa.table({"at": pa.array([moment], pa.timestamp("us", "UTC"))})
    session.add_stream("Scans", table, history=1, time="at")
    session.register("SELECT at FROM Scans", "moments")
    assert str(session.as_of("moments")) == f"as of batch 0 · Scans {told} · all is well"
    assert told in streams_table(session).text and told in status_line(session, session.player.position)
    session.set_timezone("Asia/Tokyo")
    assert told in str(session.as_of("moments")), "a query keeps the zone that it was registered in"


def test_what_is_late_or_does_not_fit_is_in_no_answer(session, tmp_path):
    (tmp_path / "t.csv").write_text("id,at\n1,2026-03-01\n2,2026-03-09\nx,2026-03-09\n3,2026-03-02\n")
    columns = {"id": "integer", "at": "date"}
    session.add_stream("T", tmp_path / "t.csv", history=2, batch=5, time="at", columns=columns, lateness="2 days")
    session.register("SELECT COUNT(*) AS n FROM T", "n")
    assert session.as_of("n").streams == (StreamAsOf("T", dt.datetime(2026, 3, 9), quarantined=1),)
    session.run(1)
    found = session.as_of("n")
    assert str(found) == "as of batch 1 · T 2026-03-09: 1 late, 1 quarantined" and not found.is_well


def test_a_suspended_query_is_behind(session):
    session.add_stream("T", pd.DataFrame({"id": range(4)}), batch=1)
    session.register("SELECT id FROM T", "ids")
    session.register("SELECT COUNT(*) AS n FROM T", "n")
    session.run(1)
    session.suspend("n")
    session.run(2)
    assert str(session.as_of("n")) == "as of batch 1, 2 batches behind: suspended"
    assert session.as_of("ids").is_well


def test_a_live_source_says_what_waits_and_why_it_cannot_be_read(session):
    def rows():
        yield from ({"id": i} for i in range(3))
        raise RuntimeError("the line is cut\nsee there")

    session.add_stream("T", rows(), columns={"id": "integer"}, batch=2)
    session.register("SELECT id FROM T", "ids")
    assert session.as_of("ids").is_well
    for _ in range(4):
        session.run(1)
    found = session.as_of("ids")
    assert not found.is_well and "RuntimeError: the line is cut" in str(found) and "see there" not in str(found)


@pytest.mark.parametrize("bad", [0, 1])
def test_a_source_that_may_have_more_rows_than_a_batch_takes_says_so(session, tmp_path, bad):
    for number in range(3):
        (tmp_path / f"{number}.csv").write_text("id\n1\n2\n" + "x\n" * bad + "3\n")
    session.add_stream("T", str(tmp_path / "*.csv"), columns={"id": "integer"}, batch=4)
    session.register("SELECT id FROM T", "ids")
    session.run(1)
    assert "T: more may be there" in str(session.as_of("ids")) and not session.as_of("ids").is_well
    assert perhaps_more(session.sources)[0].startswith("T may have more rows: %argus run 100 takes ")
    session.run(100)
    assert len(session.query("ids").result()) == 9 and "more may be there" not in str(session.as_of("ids"))
    assert not perhaps_more(session.sources)


def test_each_lack_is_named():
    stream = StreamAsOf("T", None, 1200, 3.04, late=4, quarantined=2, left_out=100, problem="gone", more=True)
    assert str(AsOf(5, streams=(stream,))) == (
        "as of batch 5 · T: 1,200 waiting for 3.0 s, more may be there, 4 late, 2 quarantined, 100 left out, gone"
    )
