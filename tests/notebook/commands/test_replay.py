"""``%argus play`` and its like: they return at once, and a line tells how far the streams are."""

from __future__ import annotations

import pytest
from fake_session import FakeSession

from workbench.errors import QueryError
from workbench.notebook.command_line import MagicError


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
