"""A text with an error is refused at once, also while a batch runs, for which everything else waits."""

from __future__ import annotations

import threading
import time

import pandas as pd
import pytest

from workbench import Session
from workbench.engine.schedule import Progress
from workbench.engine.spark.in_process import InProcess
from workbench.errors import SqlError, SqlWarning


def test_a_text_with_an_error_does_not_wait_for_the_batch_that_runs(
    in_process: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Session, "progress", property(lambda session: Progress(batch=1, done=0, total=1)))
    with Session(in_process) as session:
        session.add_stream("flights", pd.DataFrame({"id": [1, 2, 3]}))
        runs, leave = threading.Event(), threading.Event()

        def batch() -> None:
            with session.parts.store.exclusively():
                runs.set()
                leave.wait(40)

        running = threading.Thread(target=batch)
        running.start()
        runs.wait(60)
        try:
            for ask in (session.register, session.preview):
                begun = time.monotonic()
                with pytest.raises(SqlError, match="idd"):
                    ask("SELECT idd FROM flights", "q")
                assert time.monotonic() - begun < 20 and running.is_alive()
        finally:
            leave.set()
            running.join()
        assert session.register("SELECT id FROM flights", name="q").name == "q"


def test_a_text_is_bound_once_while_a_batch_runs(in_process: InProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was bound again after the batch, and its warnings were shown twice."""
    monkeypatch.setattr(Session, "progress", property(lambda session: Progress(batch=1, done=0, total=1)))
    with Session(in_process) as session:
        session.add_stream("flights", pd.DataFrame({"id": [1, 2, 3]}))
        for ask in (session.register, session.preview):
            with pytest.warns(SqlWarning) as warned:
                ask("SELECT id FROM flights WHERE id = NULL", "q")
            assert [w.category for w in warned].count(SqlWarning) == 1
