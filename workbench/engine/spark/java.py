"""The Java that Spark runs on: where it is found, and which one is chosen."""

from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from workbench.errors import EnvironmentProblem

JAVA_NEEDED = 17
JAVA_REMEDY = (
    f"install Java {JAVA_NEEDED} or newer (Debian, Ubuntu: sudo apt-get install openjdk-17-jre-headless; "
    "macOS: brew install openjdk@17), or set JAVA_HOME to where it is"
)
JAVA_FOLDERS = ("/usr/lib/jvm/*", "/opt/homebrew/opt/openjdk*", "/usr/local/opt/openjdk*")
"""Where package managers put Java without putting it on PATH."""


@dataclass(frozen=True)
class Java:
    """A Java program that runs.

    Attributes:
        program: path of the ``java`` executable.
        version: its major version.
        where: how it was found: ``JAVA_HOME``, ``PATH`` or, in one of the usual folders, its home.
    """

    program: Path
    version: int
    where: str


def find_java() -> Java | None:
    """The Java to run Spark with: the first of JAVA_HOME, PATH and the usual folders that is new enough.

    Returns:
        When none is new enough, the first that runs at all; ``None`` when there is none.
    """
    candidates: list[tuple[str, str | None]] = []
    if home := os.environ.get("JAVA_HOME"):
        candidates.append(("JAVA_HOME", str(Path(home, "bin", "java"))))
    candidates.append(("PATH", shutil.which("java")))
    for pattern in JAVA_FOLDERS:
        candidates += [(folder, str(Path(folder, "bin", "java"))) for folder in sorted(glob.glob(pattern))]
    first = None
    for where, program in candidates:
        version = _version_of(program) if program else None
        if program is None or version is None:
            continue
        java = Java(Path(program), version, where)
        if version >= JAVA_NEEDED:
            return java
        first = first or java
    return first


def use_java() -> Java:
    """Make a Spark that is about to start run on the Java that :func:`find_java` chose.

    Spark takes ``JAVA_HOME``, else ``java`` on PATH; so ``JAVA_HOME`` changes only when that would be another one.

    Raises:
        EnvironmentProblem: there is no Java, or none that is new enough.
    """
    java = find_java()
    if java is None or java.version < JAVA_NEEDED:
        problem = "no Java was found" if java is None else f"Java {java.version} ({java.program}) is too old for Spark"
        raise EnvironmentProblem(problem, hint=JAVA_REMEDY)
    if java.where == "PATH":
        os.environ.pop("JAVA_HOME", None)
    elif java.where != "JAVA_HOME":
        os.environ["JAVA_HOME"] = java.where
    return java


def java_major(output: str) -> int | None:
    """The major version in what ``java -version`` prints.

    Example:
        >>> java_major('openjdk version "17.0.15" 2025-04-15'), java_major('java version "1.8.0_392"')
        (17, 8)
        >>> java_major("Unable to locate a Java Runtime.") is None
        True
    """
    match = re.search(r'version "(?:1\.)?(\d+)', output)
    return int(match[1]) if match else None


def output_of(command: list[str], cwd: str | None = None) -> str | None:
    """The output of a short command; ``None`` when it cannot be run, fails, or takes longer than 30 s."""
    try:
        process = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True, cwd=cwd)
    except (OSError, subprocess.SubprocessError):
        return None
    return process.stdout + process.stderr


def _version_of(program: str) -> int | None:
    return java_major(output_of([program, "-version"]) or "")
