"""``%argus experiment``: what it lists, how it is told its options, and what it shows."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from workbench.errors import MagicError, WorkbenchError
from workbench.experiments import registry
from workbench.experiments.report import Chart
from workbench.experiments.study import Findings, Study, StudyProgress, option


@dataclass(frozen=True)
class Quick(Study):
    """An experiment without a session."""

    name, summary, needs = "quick", "takes no time", ()

    sets: tuple[str, ...] = option((), "what to draw", positional=True)
    history: int = option(5, "rows of history")

    def run(self, progress: StudyProgress) -> Findings:
        progress("half of it")
        if self.history < 0:
            raise WorkbenchError("an answer is wrong")
        chart = Chart("times", "set", "seconds", {"ours": dict.fromkeys(self.sets, 1.0)})
        return f"history {self.history}", {}, (chart,) if self.sets else ()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "EXPERIMENTS", {"quick": Quick})


def test_without_a_name_it_lists_what_there_is(run, session):
    assert run("%argus experiment").text.splitlines()[1].split() == ["quick", "takes", "no", "time"]
    text = run("%argus experiment --options quick").text
    assert "%argus experiment quick" in text and "takes no time" in text and "--history" in text


def test_it_shows_progress_tables_and_a_drawing(run, session, shell):
    cell = run("%argus experiment -o report quick one two --history 7")
    assert cell.texts[0] == "quick …"
    assert "half of it" in cell.texts[1]
    assert cell.texts[2].startswith("quick took ")
    assert cell.texts[3].strip() == "history 7"
    assert "<svg" in cell.htmls[-1] and "<?xml" not in cell.htmls[-1]
    assert shell.user_ns["report"].figures["options"] == {"sets": ("one", "two"), "history": 7}
    assert session.added == [], "an experiment leaves the notebook's session alone"


def test_without_a_drawing_there_is_text(run):
    cell = run("%argus experiment quick")
    assert cell.texts[-1] == "history 5"
    assert "<svg" not in cell.htmls[-1]


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        ("quik", "there is no experiment quik", "did you mean quick?"),
        ("quick --histry 3", "there is no option --histry", "did you mean --history?"),
        ("quick --history x", "--history is a whole number, not 'x'", "%argus help experiment"),
        ("quick --history=-1", "an answer is wrong", None),
    ],
)
def test_what_is_wrong_is_said(run, line, message, hint):
    error = run(f"%argus experiment {line}").error
    assert isinstance(error, WorkbenchError)
    assert message in str(error)
    assert error.hint == hint
    assert isinstance(error, MagicError) == ("whole number" in message or "no option" in message)
