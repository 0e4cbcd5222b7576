"""A machine without Java and Graphviz."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.engine.spark import java


@pytest.fixture
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No Java and no dot anywhere the doctor looks; the folder returned is the usual place for Java."""
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setenv("JAVA_HOME", "")
    usual = tmp_path / "jvm"
    monkeypatch.setattr(java, "JAVA_FOLDERS", (str(usual / "*"),))
    return usual
