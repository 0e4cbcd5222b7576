"""Checks of a cluster's workers: they must have this package, and reach the session's folder.

A Spark in this process has both. The workers of a cluster are other processes, often on other machines: the package is
sent to them, and the folder must lie where all of them can write it.
"""

from __future__ import annotations

import os
import tempfile
import zipfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from pyspark import SparkContext
from pyspark.sql import SparkSession

from workbench.errors import EnvironmentProblem
from workbench.files.mapped import remove_at_exit

MODULES = ("numpy", "pyarrow", "pandas")
"""Modules that the workers' Python must have; Spark brings itself."""

PROBES_A_CORE = 2
"""Tasks that look around, so that every worker gets some."""


def prepare_workers(spark: SparkSession, folder: Path, writing: bool = True) -> None:
    """Send the package to a cluster's workers and see that they can work in a folder; nothing for a local Spark.

    Args:
        spark: the Spark to be used.
        folder: where the session keeps its rows.
        writing: whether the session writes there, or only reads.

    Raises:
        EnvironmentProblem: a worker has not the packages it needs, or cannot reach the folder.
    """
    context = spark.sparkContext
    if (context.master or "local").startswith("local"):
        return
    context.addPyFile(str(packed()))
    if problems := unready(context, folder, writing):
        raise EnvironmentProblem(
            f"Spark's workers are not ready: {'; '.join(problems)}",
            hint="give Session a path that all machines share, and workers a Python like this one (PYSPARK_PYTHON)",
        )


def unready(context: SparkContext, folder: Path, writing: bool = True, modules: Sequence[str] = MODULES) -> list[str]:
    """The problems of workers: modules that are not installed there, a folder they cannot write (or read)."""
    tasks = PROBES_A_CORE * max(1, context.defaultParallelism)
    where, needed, done = str(folder), (os.W_OK if writing else os.R_OK), "written" if writing else "read"

    def look(_: int) -> list[str]:
        import importlib.util
        import os

        host = os.uname().nodename
        missing = [f"{name} is not installed on {host}" for name in modules if importlib.util.find_spec(name) is None]
        return missing if os.access(where, needed) else [*missing, f"{where} cannot be {done} on {host}"]

    return sorted(set(context.parallelize(range(tasks), tasks).flatMap(look).collect()))


@cache
def packed() -> Path:
    """This package as a zip file that Python imports from, in a folder of this process, which is its only writer.

    There is one for all sessions: Spark serves it for as long as it runs, and refuses another of the same name.

    Example:
        >>> names = zipfile.ZipFile(packed()).namelist()
        >>> "workbench/session/session.py" in names, any("__pycache__" in name for name in names)
        (True, False)
    """
    root, folder = Path(__file__).parents[2], tempfile.mkdtemp(prefix="argus-package-")
    remove_at_exit(folder)
    file = Path(folder) / f"{root.name}.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(root.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                archive.write(path, path.relative_to(root.parent))
    return file
