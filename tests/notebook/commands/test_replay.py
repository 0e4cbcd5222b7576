"""``%argus play`` and its like: they return at once, and a line tells how far the streams are."""

from __future__ import annotations

import re
import time

import pandas as pd
import pytest
from fake_session import FakeSession

from workbench.engine.spark.in_process import InProcess
from workbench.errors import MagicError, QueryError
from workbench.notebook.panel.replay_view import ReplayView
from workbench.notebook.replay_status import latency_of_play, status_line
from workbench.notebook.session import Session


@pytest.fixture
def context(shell, session):
    session.add_stream("fed", None, 10, 10, None)
    made = shell.magics_manager.registry["ArgusMagics"].context
    yield made
    made.close()


def test_play_returns_at_once_and_pause_ends_it(run, context, session):
    cell = run("%argus play")
    assert cell.error is None
    assert "playing · batch " in cell.texts[0] and "of 5,000 rows" in cell.texts[0]
    assert "paus" in run("%argus pause").text
    assert context.session.player.wait(120)
    played = session.batch
    assert run("%argus step").text.startswith(f"paused · batch {played + 1} ")


def test_play_takes_a_number_a_batch_size_and_stops_at_the_end(run, context, session):
    session.ends_after = 4
    run("%argus play 3 --batch 25")
    assert context.session.player.wait(120)
    assert (session.batch, session.streams["fed"].batch) == (3, 25)
    assert run("%argus step").text.startswith("paused · batch 4")
    assert run("%argus step").text.startswith("at the end · batch 4")


def test_back_goes_back(run, context, session):
    run("%argus play 3")
    context.session.player.wait(120)
    assert run("%argus back 1").error is None
    assert context.session.player.wait(120)
    assert session.batch == 1
    run("%argus run 3")
    assert run("%argus back").error is None
    assert session.batch == 3


@pytest.mark.parametrize(
    ("line", "error", "message"),
    [
        ("%argus play 0", QueryError, "cannot play 0 batches"),
        ("%argus play --speed fast", MagicError, "fast is no speed"),
        ("%argus play --speed 1d", QueryError, "no stream has a time to keep"),
        ("%argus play --spede 1d", MagicError, "did you mean --speed?"),
        ("%argus back 3", MagicError, "the last batch that was run is 0"),
        ("%argus back", MagicError, "no batch was run"),
        ("%argus paus", MagicError, "did you mean pause?"),
    ],
)
def test_what_cannot_be_played_is_an_error(run, context, line, error, message):
    cell = run(line)
    assert isinstance(cell.error, error)
    assert message in str(cell.error)


def test_a_session_made_by_hand_is_played_instead(run, context, session):
    run("%argus play")
    context.use(FakeSession())
    assert session.player.wait(120) and context.session.player is not session.player
    session.close()


@pytest.mark.parametrize("line", ["%argus play", "%argus play --live", "the panel's button"])
def test_live_streams_are_played_until_the_analyst_pauses(run, context, tmp_path, line):
    """They were read to what was there, and what came later was in no answer: the line said "at the end"."""
    (tmp_path / "1.jsonl").write_text('{"id": 1}\n')
    with Session(InProcess()) as session:
        session.add_stream("orders", f"{tmp_path}/*.jsonl")
        context.use(session)
        if line == "the panel's button":
            ReplayView(session, session.player).widget.children[0].children[0].click()
        else:
            assert run(line).error is None
        rows_come(session, 1)
        (tmp_path / "2.jsonl").write_text('{"id": 2}\n{"id": 3}\n')
        rows_come(session, 3)
        assert status_line(session, session.player.position).startswith("live")
        session.player.pause()
        assert session.player.wait(120)


def test_a_live_stream_that_is_read_to_what_is_there_is_not_at_its_end(tmp_path):
    (tmp_path / "1.jsonl").write_text('{"id": 1}\n')
    with Session(InProcess()) as session:
        session.add_stream("orders", f"{tmp_path}/*.jsonl")
        session.player.play(5)
        assert session.player.wait(120)
        line = status_line(session, session.player.position)
    assert line.startswith("nothing more has come to orders; %argus play goes on as rows come · batch 1")


def test_files_are_replayed_in_their_batches_also_beside_live_streams(tmp_path):
    (tmp_path / "1.jsonl").write_text('{"id": 1}\n')
    with Session(InProcess()) as session:
        session.add_stream("orders", f"{tmp_path}/*.jsonl")
        session.add_stream("files", pd.DataFrame({"n": range(5)}), history=1, batch=2)
        assert latency_of_play(session) is None
        session.run(2)
        assert latency_of_play(session) == 1.0


def rows_come(session, rows):
    """Wait until a stream has so many rows in batches."""
    deadline = time.monotonic() + 120
    while session.streams["orders"].position < rows:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_the_time_of_a_run_is_that_for_which_the_analyst_waited(run, context, session, monkeypatch):
    """With the reading of live sources: "in 0.08 s" was said of 1.3 s."""
    run_batches = session.run

    def slowly(*arguments, **options):
        time.sleep(0.3)
        return run_batches(*arguments, **options)

    monkeypatch.setattr(session, "run", slowly)
    said = run("%argus run 2").texts[-2]
    assert float(re.search(r"rows in ([\d.]+) s", said)[1]) >= 0.3
