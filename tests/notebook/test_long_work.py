"""Long work of a cell says how far it is; short work says nothing."""

from __future__ import annotations

import threading

import pytest

from workbench.engine.schedule import Progress
from workbench.notebook import long_work
from workbench.notebook.commands.replay import profile_forecast
from workbench.notebook.long_work import Underway, how_far
from workbench.streams.ingest import Arriving


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(long_work, "PATIENCE", 0.0)
    monkeypatch.setattr(long_work, "PAUSE", 0.001)


def test_a_long_cell_says_how_far_it_is_and_then_how_long_it_took(run, session, monkeypatch, impatient):
    session.underway = Progress(0, 2, 6)
    seen, made = threading.Event(), type(session).register
    updates = []

    class Line:
        def __init__(self, text: str) -> None:
            self.update(text)

        def update(self, text: str) -> None:
            updates.append(text)
            if "2 of 6 operators" in text:
                seen.set()

    def register(*args, **settings):
        assert seen.wait(120)
        return made(session, *args, **settings)

    monkeypatch.setattr(long_work, "ProgressLine", Line)
    run("%argus queries")  # makes the session
    monkeypatch.setattr(session, "register", register)
    assert run("%%argus q1\nSELECT big").error is None
    assert any(text.startswith("q1: 2 of 6 operators") for text in updates)
    assert updates[-1].startswith("q1 took ") and updates[-1].endswith(" s")


def test_a_source_that_is_copied_says_how_much_of_it_is(run, session, monkeypatch, impatient):
    session.arriving = Arriving("Trades", 420_000, 0.4)
    seen, updates = threading.Event(), []

    class Line:
        def __init__(self, text: str) -> None:
            self.update(text)

        def update(self, text: str) -> None:
            updates.append(text)
            seen.set()

    monkeypatch.setattr(long_work, "ProgressLine", Line)
    run("%argus queries")  # makes the session
    seen.clear()
    monkeypatch.setattr(session, "add_stream", lambda *args, **settings: seen.wait(120) and 1 / 0)
    run("%argus stream Trades trades.parquet")
    assert any(text.startswith("%argus stream: 420,000 rows (40% of the source), ") for text in updates)
    assert updates[-1].startswith("%argus stream refused after")


def test_its_line_is_text_that_stays_with_the_cell(run, session, impatient, monkeypatch):
    showing = threading.Event()
    display = long_work.ProgressLine

    class Line(display):
        def __init__(self, text: str) -> None:
            super().__init__(text)
            showing.set()

    monkeypatch.setattr(long_work, "ProgressLine", Line)
    monkeypatch.setattr(type(session), "kept", lambda *_: showing.wait(120) and (1, 1))
    run("%%argus q1\nSELECT big")
    run("%argus run")
    showing.clear()
    assert run("%argus timings").texts[-1].startswith("%argus timings took ")


def test_a_short_one_says_nothing(run):
    assert not any("took" in text for text in run("%%argus q1\nSELECT big").texts)


def test_what_is_left_is_expected_to_take_as_long_as_what_is_done():
    assert how_far(Progress(3, 1, 4), 2.0, more=10) == "1 of 4 operators, 2.0 s, about 16 s more"
    assert how_far(Progress(3, 0, 4), 2.0) == "0 of 4 operators, 2.0 s"


def test_what_is_left_does_not_grow_while_nothing_gets_on():
    course = Underway()
    said = [course.how_far(Progress(3, done, 4), second) for done, second in ((1, 2.0), (1, 5.0), (1, 9.0), (2, 10.0))]
    assert [text.partition(" s, ")[2] for text in said] == ["about 6 s more", "about 3 s more", "", "about 10 s more"]


def test_a_profile_says_beforehand_what_it_takes(run, session):
    run("%%argus q1\nSELECT big")
    assert profile_forecast(session).endswith("several times as long as the batch itself")
    run("%argus run")
    assert "by batch 1" in run("%argus run --profile").texts[0]
