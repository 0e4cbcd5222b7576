"""A real IPython shell with the magics, on a session without Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from fake_session import FakeSession
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from workbench.notebook import long_work
from workbench.notebook.context import NotebookContext
from workbench.notebook.extension import install


@dataclass
class Cell:
    """What running a cell showed: texts and HTML of its outputs, and the error's own rendering."""

    texts: list[str]
    htmls: list[str]
    error: BaseException | None
    stdout: str

    @property
    def text(self) -> str:
        return "\n".join(self.texts)


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """No line says that a cell took long, as it may on a slow machine."""
    monkeypatch.setattr(long_work, "PATIENCE", 3_600)


@pytest.fixture
def session() -> Iterator[FakeSession]:
    made = FakeSession()
    yield made
    made.player.close()


@pytest.fixture
def shell(session: FakeSession) -> Iterator[InteractiveShell]:
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(history_length=0)
    shell.history_manager.enabled = False
    install(shell, NotebookContext(shell.user_ns, lambda: session))
    yield shell
    shell.history_manager.end_session()
    InteractiveShell.clear_instance()


@pytest.fixture
def run(shell: InteractiveShell) -> Callable[[str], Cell]:
    def run_cell(source: str) -> Cell:
        with capture_output() as captured:
            result = shell.run_cell(source)
        data: list[dict[str, Any]] = [output.data for output in captured.outputs]
        return Cell(
            [d["text/plain"] for d in data if "text/plain" in d],
            [d["text/html"] for d in data if "text/html" in d],
            result.error_before_exec or result.error_in_exec,
            captured.stdout,
        )

    return run_cell
