"""Python environments of their own: what a competitor needs is installed by pip on demand, and never beside ours."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from workbench.errors import WorkbenchError


@dataclass(frozen=True)
class Environment:
    """A virtual environment that is made when it is first needed.

    Args:
        folder: where it is, or is made.
        packages: what pip installs there.
        module: can be imported once it is whole.
    """

    folder: str | Path
    packages: tuple[str, ...]
    module: str

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return Path(self.folder).resolve() / "bin" / "python"

    def install(self) -> None:
        """Make it, if it is not there.

        Raises:
            WorkbenchError: it could not be made; the message has pip's last words.
        """
        if self.python.exists() and _succeeds([str(self.python), "-c", f"import {self.module}"]):
            return
        pip(self.packages[0], [sys.executable, "-m", "venv", str(self.folder)])
        pip(self.packages[0], [str(self.python), "-m", "pip", "install", "--quiet", *self.packages])


def pip(what: str, command: list[str]) -> None:
    """Run a command that installs.

    Raises:
        WorkbenchError: it failed; the message has its last words.
    """
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise WorkbenchError(f"{what} cannot be installed: {last_words(done.stderr)}")


def last_words(text: str) -> str:
    """The cause among the lines of a stack, Java's or Python's, or else the last line that a program wrote.

    Example:
        >>> last_words("org.x.Y: no\\n\\tat org.x.Z\\nCaused by: out of buffers\\n\\tat org.x.Z")
        'Caused by: out of buffers'
        >>> last_words("  File 'x.py', line 1\\nValueError: no\\nx.py: UserWarning: and more\\n  warn(")
        'ValueError: no'
    """
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith("at ")]
    causes = [line for line in lines if re.match(r"Caused by:|[\w.]*(Error|Exception): ", line)]
    return (causes or lines or ["no message"])[-1][:300]


def _succeeds(command: list[str]) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
