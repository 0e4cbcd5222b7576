"""The errors of sources and sinks stay, with the row, until they are dismissed; what failed is tried again at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from workbench import Session
from workbench.engine.spark.in_process import InProcess
from workbench.errors import QueryError, StreamError
from workbench.session.failures.error_log import ERRORS, KEPT, ErrorLog, ErrorPlace


class Target:
    """A function that refuses what it is given until it is mended."""

    def __init__(self) -> None:
        self.refuses, self.taken = True, list[int]()

    def __call__(self, batch: int, changes: Any) -> None:
        if self.refuses:
            raise ValueError("no room")
        self.taken.append(batch)


def test_a_sink_that_fails_is_kept_with_its_row_and_tried_again(tmp_path: Path) -> None:
    target = Target()
    with Session(InProcess(), tmp_path / "s") as session:
        session.add_stream("t", [{"id": 7, "s": "<b>"}], history=1)
        session.register("SELECT id, s FROM t", name="q")
        session.add_sink("q", target)
        assert session.retry("q") == "ValueError: no room"
        (error,) = session.errors
        assert (error.place, error.name, error.message) == ("sink", "q", "ValueError: no room")
        assert '"id": 7' in error.row and "<b>" in error.row
        assert session.retry("q") == "ValueError: no room" and len(session.errors) == 1, "the same one is kept once"
        target.refuses = False
        assert session.retry("q") == "" and target.taken
        with pytest.raises(QueryError, match="there is no sink or stream x"):
            session.retry("x")
        with pytest.raises(StreamError, match="t is not live"):
            session.retry("T")
    with Session.open(tmp_path / "s", InProcess()) as again:
        assert again.errors == (error,)
        with pytest.raises(QueryError, match="there is no sink or stream other"):
            again.dismiss_errors("other")
        assert again.dismiss_errors("Q") == 1 and again.errors == ()
    with Session.open(tmp_path / "s", InProcess()) as empty:
        assert empty.errors == ()


def test_a_row_of_a_source_that_does_not_fit_is_an_error_with_the_row(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.csv").write_text("id,fee\n1,2\n")
    with Session(InProcess(), tmp_path / "s") as session:
        session.add_stream("t", str(tmp_path / "in" / "*.csv"), columns={"id": "integer", "fee": "integer"}, batch=10)
        session.run(1)
        (tmp_path / "in" / "2.csv").write_text("id,fee\n2,x\n3,4\n")
        assert session.retry("T") == ""
        (error,) = session.errors
        assert (error.place, error.name) == ("source", "t") and "is no integer" in error.message and "2,x" in error.row
        session.run(1)
        assert session.streams["t"].position == 2 and len(session.errors) == 1


def test_the_last_hundred_stay_and_a_damaged_file_stops_nothing(tmp_path: Path) -> None:
    log = ErrorLog(tmp_path)
    for number in range(KEPT + 5):
        log.add(ErrorPlace.SOURCE, "t", f"no {number}", "x" * 5_000)
    assert [error.message for error in log.errors] == [f"no {number}" for number in range(5, KEPT + 5)]
    again = ErrorLog(tmp_path)
    assert again.errors == log.errors and len(again.errors[0].row) == 500
    for damage in (b"\xff\x00", b"{}\n", b'{"at": 1}', b"[" * 100_000):
        (tmp_path / ERRORS).write_bytes(damage)
        damaged = ErrorLog(tmp_path)
        assert damaged.errors == ()
        damaged.add(ErrorPlace.SINK, "q", "new")
        assert [error.message for error in ErrorLog(tmp_path).errors] == ["new"]
