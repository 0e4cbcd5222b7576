"""Loading the extension: Spark starts in the background, the session is made when first needed and kept."""

from __future__ import annotations

import threading
from queue import SimpleQueue

import pytest
from fake_session import FakeSession

from workbench.errors import EnvironmentProblem
from workbench.notebook import extension
from workbench.notebook.context import NotebookContext, SparkStart
from workbench.notebook.idle import REFRESH_PAUSE, IdleGate


class Line:
    """A progress line that remembers."""

    def __init__(self, text: str) -> None:
        self.texts = [text]
        self.updated = threading.Event()

    def update(self, text: str) -> None:
        self.texts.append(text)
        self.updated.set()


def started(start, on_ready=lambda spark: None):
    lines: list[Line] = []

    def line(text: str) -> Line:
        lines.append(Line(text))
        return lines[0]

    return SparkStart(start, line, on_ready), lines[0]


def test_spark_starts_without_anybody_waiting():
    go = threading.Event()
    _spark, line = started(lambda: go.wait(120) and "a session")
    assert line.texts == ["starting Spark …"]
    go.set()
    assert line.updated.wait(120)
    assert line.texts[1].startswith("Spark ready (") and len(line.texts) == 2


def test_a_spark_that_does_not_start_is_told_at_once():
    def fail():
        raise EnvironmentProblem("no Java", hint="install it")

    _spark, line = started(fail)
    assert line.updated.wait(120)
    assert line.texts[1] == "Spark did not start: no Java\nhint: install it"


def test_a_spark_that_is_ready_is_settled_in_the_background_and_nobody_waits_for_that():
    go, settled = threading.Event(), []
    spark, line = started(lambda: "a session", lambda spark: go.wait(120) and settled.append(spark))
    assert line.updated.wait(120) and line.texts[1].startswith("Spark ready (") and settled == []
    go.set()
    spark.join(120)
    assert settled == ["a session"]


def test_settling_that_fails_is_no_problem_of_the_analyst(monkeypatch):
    shown: list[object] = []
    monkeypatch.setattr(threading, "excepthook", shown.append)

    def fail(spark: object) -> None:
        raise RuntimeError("no memory")

    spark, line = started(lambda: "a session", fail)
    spark.join(120)
    assert len(line.texts) == 2 and shown == []


def test_a_spark_that_does_not_start_is_not_settled():
    settled: list[object] = []
    spark, _ = started(lambda: 1 / 0, settled.append)
    spark.join(120)
    assert settled == []


@pytest.fixture
def settling() -> SimpleQueue[IdleGate]:
    """The idle of the extension, once its Spark is ready."""
    return SimpleQueue()


@pytest.fixture
def loaded(shell, settling, monkeypatch):
    made: list[FakeSession] = []

    def make(notebook: str) -> FakeSession:
        made.append(FakeSession())
        return made[-1]

    monkeypatch.setattr(extension, "current_context", None)
    monkeypatch.setattr(extension, "start_spark", lambda: None)
    monkeypatch.setattr(extension, "warm_up_when_idle", lambda idle, spark: settling.put(idle))
    monkeypatch.setattr(extension, "make_session", make)
    shell.run_cell("%load_ext workbench.notebook.extension")
    return made


def test_loading_makes_no_session_and_the_first_command_does(loaded, run):
    assert loaded == []
    run("%argus streams")
    run("%argus queries")
    assert len(loaded) == 1
    assert extension.get_session() is loaded[0]


def test_what_is_done_in_the_background_waits_while_a_cell_runs(loaded, settling, shell, run):
    idle = settling.get(timeout=120)
    waiting = threading.Thread(target=idle.wait, daemon=True)
    waits: list[bool] = []

    def look() -> None:
        waiting.start()
        waiting.join(2 * REFRESH_PAUSE)
        waits.append(waiting.is_alive())

    shell.user_ns["look"] = look
    run("look()")
    waiting.join(120)
    assert waits == [True] and not waiting.is_alive()


def test_loading_again_keeps_the_session(loaded, shell, run):
    run("%argus streams")
    extension.load_ipython_extension(shell)
    run("%argus streams")
    assert len(loaded) == 1


def test_a_session_made_by_hand_is_used(loaded, run):
    mine = FakeSession()
    extension.use(mine)
    run("%%argus q1\nSELECT big")
    assert list(mine.queries) == ["q1"] and loaded == []


def test_a_folder_is_opened_with_or_without_the_functions_of_others(monkeypatch):
    trusted: list[bool | None] = []
    monkeypatch.setattr("workbench.notebook.session.Session.open", lambda path, trust=None: trusted.append(trust))
    context = NotebookContext({}, FakeSession, extension.open_session)
    context.open("folder")
    context.open("folder", trust=True)
    assert trusted == [None, True]


def test_without_the_extension_there_is_no_session(monkeypatch):
    monkeypatch.setattr(extension, "current_context", None)
    for ask in (extension.get_session, lambda: extension.use(FakeSession())):
        with pytest.raises(EnvironmentProblem) as caught:
            ask()
        assert caught.value.hint == "%load_ext workbench"


def test_closing_a_context_closes_its_session_once():
    closed: list[int] = []

    class Closing(FakeSession):
        def close(self) -> None:
            closed.append(1)

    context = NotebookContext({}, Closing)
    context.close()
    assert context.session is context.session
    context.close()
    context.close()
    assert closed == [1] and context.current is None


def test_the_notebooks_variable_session_is_its_session_unless_the_analyst_has_one():
    first, second = FakeSession(), FakeSession()
    context = NotebookContext({}, lambda: first, lambda path: second)
    assert "session" not in context.variables and context.session is context.variables["session"] is first
    context.open("there")
    assert context.variables["session"] is second
    context.variables["session"] = "mine"
    context.use(first)
    assert context.variables["session"] == "mine"
