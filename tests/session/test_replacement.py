"""An edited query: what it would change is said, and readers, alerts and sinks go over to it in one step."""

from __future__ import annotations

import time

import pandas as pd
import pytest

from workbench.errors import QueryError
from workbench.session.session import Session

BIG = "SELECT id, g, v FROM T WHERE v > 2"
SUMS = "SELECT g, SUM(v) AS s FROM big GROUP BY g"
ALERT = "SELECT * FROM sums WHERE (s > 9)"


@pytest.fixture
def session(in_process):
    rows = pd.DataFrame({"id": range(12), "g": [i % 3 for i in range(12)], "v": [i % 7 for i in range(12)]})
    with Session(in_process) as made:
        made.add_stream("T", rows, history=4, batch=4)
        for name, sql in {"big": BIG, "sums": SUMS, "alert": ALERT}.items():
            made.register(sql, name)
        made.run(1)
        yield made


def rows(session, name):
    return sorted(map(tuple, session.query(name).result().itertuples(index=False)))


def test_what_an_edit_would_change_is_said_and_nothing_changes(session):
    before = rows(session, "big")
    found = session.compare("SELECT id, g, v FROM T WHERE v > 3", "BIG")
    assert found.followers == ("sums", "alert") and rows(session, "big") == before
    assert (found.answers.added, found.answers.removed, found.answers.changed) == (0, 1, 0)
    assert found.answers.first.to_dict("records") == [{"weight": -1, "id": 3, "g": 0, "v": 3}]
    assert "over the stored rows: 0 added, 1 removed, 0 changed; 4 rows before (weight -1), 3 now (1)" in str(found)
    assert any("v > 3" in node or "v >= 4" in node for node in found.hydrated)
    groups = session.compare("SELECT g, SUM(v) AS s FROM big WHERE v <> 3 GROUP BY g", "sums").answers
    assert (groups.added, groups.removed, groups.changed) == (0, 0, 1) and [*groups.first["weight"]] == [-1, 1]
    same = session.compare("SELECT id, g, v FROM T WHERE v > 2 AND id >= 0", "big").answers
    assert str(same) == "the answer is the same over the stored rows: 4 rows"
    with pytest.raises(QueryError, match="query sums, which reads it, cannot then"):
        session.compare("SELECT id, g FROM T", "big")
    other = session.compare("SELECT g, COUNT(*) AS n FROM T GROUP BY g", "alert").answers
    assert str(other) == "the answer has other columns: n integer is new, s integer goes; 0 rows before, 3 now"
    wider = session.compare("SELECT v, g, id, v AS w FROM T WHERE v > 2", "big").answers
    assert str(wider).startswith("the answer has other columns: w integer is new; 4 rows")
    typed = session.compare("SELECT id, g, CAST(v AS DOUBLE) AS v FROM T WHERE v > 2", "big").answers
    assert str(typed).startswith("the answer has other columns: v is double and was integer; 4 rows")
    order = session.compare("SELECT v, g, id FROM T WHERE v > 2", "big").answers
    assert str(order).startswith("the answer has other columns: they stand in another order; 4 rows")


def test_readers_and_sinks_go_over_in_one_step(session, in_process):
    heard, handle = list[pd.DataFrame](), session.query("big")
    session.add_sink("sums", lambda batch, changes: heard.append(changes), name="heard")
    _wait(lambda: session.sinks["heard"].behind == 0)
    session.register("SELECT id, g, v FROM T WHERE v > 3", "BIG", move=True)
    with Session(in_process) as alone:
        alone.add_stream("T", pd.DataFrame({"id": range(12), "g": [i % 3 for i in range(12)],
                                            "v": [i % 7 for i in range(12)]}), history=4, batch=4)  # fmt: skip
        for name, sql in {"big": BIG.replace("2", "3"), "sums": SUMS, "alert": ALERT}.items():
            alone.register(sql, name)
        alone.run(1)
        for _ in range(2):
            assert all(rows(session, name) == rows(alone, name) for name in alone.queries)
            session.run(1), alone.run(1)
    assert handle.status == "active" and handle.sql.endswith("v > 3") and [*session.queries] == ["big", "sums", "alert"]
    _wait(lambda: session.sinks["heard"].behind == 0)
    told = pd.concat(heard).groupby(["g", "s"])["weight"].sum()
    assert session.sinks["heard"].problem == ""
    assert sorted(told[told != 0].index) == rows(session, "sums") and set(told) <= {0, 1}


def test_one_that_a_reader_cannot_read_is_refused_and_changes_nothing(session):
    before = {name: rows(session, name) for name in session.queries}
    with pytest.raises(QueryError, match="query sums, which reads it, cannot then"):
        session.register("SELECT id, g FROM T", "big", move=True)
    assert {name: rows(session, name) for name in session.queries} == before and session.query("big").sql == BIG


def test_a_reader_keeps_the_meaning_without_it(session):
    before = rows(session, "sums")
    session.register("SELECT id, g, v FROM T WHERE v > 5", "big")
    assert rows(session, "sums") == before


def _wait(done, seconds=10.0):
    until = time.monotonic() + seconds
    while not done() and time.monotonic() < until:
        time.sleep(0.01)
    assert done()
