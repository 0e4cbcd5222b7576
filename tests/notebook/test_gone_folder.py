"""A folder of a session that is gone is said by the command that meets it, and by nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

from workbench import Session
from workbench.engine.spark.in_process import InProcess
from workbench.errors import SessionError
from workbench.notebook.context import NotebookContext
from workbench.notebook.extension import install


def test_cells_go_on_when_a_folder_is_gone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(history_length=0)
    shell.history_manager.enabled = False
    with Session(InProcess(), tmp_path / "s") as session:
        install(shell, NotebookContext(shell.user_ns, lambda: session))
        assert isinstance(shell.run_cell("%argus queries").error_in_exec, type(None))
        (tmp_path / "s").rename(tmp_path / "away")
        assert isinstance(shell.run_cell("%argus run").error_in_exec, SessionError)
        (tmp_path / "away").rename(tmp_path / "s")
    shell.history_manager.end_session()
    InteractiveShell.clear_instance()
    said = capsys.readouterr()
    assert "Error in callback" not in said.out + said.err
