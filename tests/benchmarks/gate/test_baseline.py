"""The regression gate without Spark: what falls, what is named, and what the command then returns."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.gate import __main__ as command
from benchmarks.gate import baseline, costs, matrix
from benchmarks.gate.baseline import Ratio, compare, load, write
from workbench.errors import WorkbenchError

JOBS, SPEED = Ratio("jobs", 8.0), Ratio("unshared / shared", 20.0, True)


@pytest.mark.parametrize(
    ("ratio", "before", "fell"),
    [
        (Ratio("less", 10.0), 8.0, False),
        (Ratio("less", 10.1), 8.0, True),
        (Ratio("less", 1.0), 8.0, False),
        (Ratio("less", 0.0), 0.0, False),
        (Ratio("more", 6.0, True), 8.0, False),
        (Ratio("more", 5.9, True), 8.0, True),
        (Ratio("more", 80.0, True), 8.0, False),
    ],
)
def test_a_quarter_is_tolerated_and_no_more(ratio: Ratio, before: float, fell: bool) -> None:
    assert ratio.fell(before) is fell


def test_what_fell_and_what_is_missing_is_named() -> None:
    outcome = compare([JOBS, SPEED, Ratio("first seen", 1.0)], {"jobs": 5, "unshared / shared": 21, "gone": 3})
    assert outcome.fallen == ("jobs", "gone")
    lines = {line.split("  ")[0]: line for line in outcome.text.splitlines()}
    assert lines["jobs"].endswith("FELL")
    assert lines["gone"].endswith("MISSING")
    assert lines["first seen"].endswith("new")
    assert "FELL" not in lines["unshared / shared"]


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write([JOBS, Ratio("third", 1 / 3)], tmp_path / "baseline.json")
    assert load(tmp_path / "baseline.json") == {"jobs": 8.0, "third": 0.3333}


def test_the_exit_status(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "baseline.json"
    measured, off = [JOBS, SPEED], ["LAG, few"]
    monkeypatch.setattr(command, "measure", lambda progress: measured)
    monkeypatch.setattr(matrix, "off_the_fast_path", lambda: off)
    for module, name, own in (
        (baseline, "BASELINE", file),
        (matrix, "OFF_THE_FAST_PATH", tmp_path / "off.json"),
    ):
        monkeypatch.setattr(module, name, own)
        for function in ("load", "write"):
            original = getattr(module, function)
            monkeypatch.setattr(module, function, lambda *given, o=original, own=own: o(*given, own))
    monkeypatch.setattr(costs, "growing", lambda kinds, say: {})
    monkeypatch.setattr(costs, "write", lambda known: None)
    matrix.write([])
    write([SPEED, Ratio("jobs", 5.0)], file)
    assert command.main([]) == 1
    out = capsys.readouterr().out
    assert "fell by more than 25%: jobs\n" in out and "off the fast path: LAG, few\n" in out
    assert command.main(["--write"]) == 0
    assert command.main([]) == 0

    def wrong(progress: object) -> list[Ratio]:
        raise WorkbenchError("1 answer differs")

    monkeypatch.setattr(command, "measure", wrong)
    assert command.main([]) == 1
    assert "1 answer differs" in capsys.readouterr().err


def test_the_committed_baseline_has_a_dozen_ratios() -> None:
    assert len(load()) >= 12
