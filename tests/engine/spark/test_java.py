"""Which Java is chosen, and that it is new enough."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fake_java import fake_java

from workbench.engine.spark import doctor, java


@pytest.mark.parametrize(("version", "major", "ok"), [("1.8.0_392", 8, False), ("16.0.2", 16, False), ("17", 17, True)])
def test_java_must_be_17_or_newer(
    bare_machine: Path, monkeypatch: pytest.MonkeyPatch, version: str, major: int, ok: bool
) -> None:
    home = fake_java(bare_machine / "x", version).parent.parent
    monkeypatch.setenv("JAVA_HOME", str(home))
    found = java.find_java()
    assert found is not None
    assert (found.version, found.where) == (major, "JAVA_HOME")
    assert {check.name: check for check in doctor.checks()}["Java"].ok is ok


def test_a_new_java_in_the_usual_folder_is_chosen_before_an_old_one_in_java_home(
    bare_machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = fake_java(tmp_path / "old", "11.0.2").parent.parent
    new = fake_java(bare_machine / "java-21", "21.0.1").parent.parent
    monkeypatch.setenv("JAVA_HOME", str(old))
    assert java.use_java().version == 21
    assert os.environ["JAVA_HOME"] == str(new)


def test_java_on_path_is_used_without_java_home(
    bare_machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = fake_java(tmp_path / "old", "11.0.2").parent.parent
    on_path = fake_java(tmp_path / "new", "17.0.15").parent
    monkeypatch.setenv("JAVA_HOME", str(old))
    monkeypatch.setenv("PATH", str(on_path))
    assert java.use_java().where == "PATH"
    assert "JAVA_HOME" not in os.environ


def test_a_java_that_does_not_run_is_no_java(bare_machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = fake_java(bare_machine / "broken", "17")
    program.write_text("#!/bin/sh\nexit 1\n")
    assert java.find_java() is None
