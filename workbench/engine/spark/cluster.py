"""Checks of a cluster's workers: they must be like this process, and have the session's folder.

A Spark in this process has both. The workers of a cluster are other processes, often on other machines: the package is
sent to them; the folder must lie where all of them can write it; and what steps and files are made with must have the
same versions, since pickled steps, hashes and files go between them.
"""

from __future__ import annotations

import os
import tempfile
import uuid
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Protocol, TypeVar

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from workbench.engine.spark.failures import first_reason
from workbench.engine.spark.probe import OTHER_USER, Probe, versions
from workbench.errors import EnvironmentProblem
from workbench.files.mapped import remove_at_exit
from workbench.files.store import is_address, store_at

R = TypeVar("R")


class AskWorkers(Protocol):
    """Calls a function with the numbers of tasks of Spark; gives the results."""

    def __call__(self, look: Callable[[int], R], tasks: int, /) -> list[R]:
        """What ``look`` returns for each of the tasks."""


MODULES = ("numpy", "pyarrow", "pandas")
"""Modules that the workers' Python must have; Spark brings itself."""

PROBES_A_CORE = 2
"""Tasks that look around, so that every worker gets some."""

_SHARED = "give Session a path that all machines share, and workers a Python like this one (PYSPARK_PYTHON)"
_FOR_GROUP = "the workers are another user: Session(group=…) lets a group read and write the folder"


def is_cluster(spark: SparkSession) -> bool:
    """Whether the workers of a Spark are on other machines, or could be."""
    return not (spark.sparkContext.master or "local").startswith("local")


def prepare_workers(spark: SparkSession, folder: Path, writing: bool = True, store: str = "") -> None:
    """Send the package to a cluster's workers and see that they can work in a folder; nothing for a local Spark.

    Args:
        spark: the Spark to be used.
        folder: where the session keeps its rows.
        writing: whether the session writes there, or only reads.
        store: the address of the store through which workers have the folder; "" where they share it.

    Raises:
        EnvironmentProblem: a worker has not the packages it needs, or cannot reach the folder or the store.
    """
    if not is_cluster(spark):
        return
    context = spark.sparkContext
    context.addPyFile(str(packed()))
    with refused_by_spark():
        problems = unready(asker(context), context.defaultParallelism, folder, writing or bool(store), store=store)
    refuse(problems)


def asker(context: SparkContext) -> AskWorkers:
    """What lets tasks of a Spark look around."""

    def ask(look: Callable[[int], R], tasks: int) -> list[R]:
        return context.parallelize(range(tasks), tasks).map(look).collect()

    return ask


@contextmanager
def refused_by_spark() -> Iterator[None]:
    """Within the context, Spark itself may refuse a Python of another version.

    Raises:
        EnvironmentProblem: it does.
    """
    try:
        yield
    except (PySparkException, Py4JError) as problem:
        message = f"Spark's workers are not ready: {first_reason(problem)}"
        raise EnvironmentProblem(message, hint=_SHARED) from problem


def refuse(problems: Sequence[str]) -> None:
    """Refuse workers that have problems.

    Raises:
        EnvironmentProblem: there are some.
    """
    if problems:
        hint = _FOR_GROUP if any(f" {OTHER_USER} " in problem for problem in problems) else _SHARED
        raise EnvironmentProblem(f"Spark's workers are not ready: {'; '.join(problems)}", hint=hint)


def unready(
    ask: AskWorkers, cores: int, folder: Path, writing: bool = True, modules: Sequence[str] = MODULES, store: str = ""
) -> list[str]:
    """The problems of workers, each with its host.

    A worker reads what the driver has just written, and the driver what the worker has: a folder of the same name on
    a disk of the worker's own is not the session's.

    Args:
        ask: lets workers look around.
        cores: how many tasks they run at a time.
        folder: of the session.
        writing: whether they must write there, or only read.
        modules: that they must have, in the versions of this process.
        store: the address of the store through which they have the folder; "" where they share it.
    """
    tasks = PROBES_A_CORE * max(1, cores)
    probe = Probe(str(folder), versions([*modules, *(["obstore"] if is_address(store) else [])]), store=store)
    if not writing:
        probe = replace(probe, names=sorted(os.listdir(folder)) if folder.is_dir() else ())
    else:
        probe = replace(probe, name=f".probe-{uuid.uuid4().hex}", nonce=uuid.uuid4().hex)
        with suppress(OSError):  # the workers say what is wrong with it
            if store or folder.is_dir():
                probe.write(probe.name)
    try:
        by_task = ask(lambda task: (task, probe.problems(task)), tasks)
        problems = {problem for _, of_task in by_task for problem in of_task}
        if writing and any(not of_task and not probe.holds(probe.of_task(task)) for task, of_task in by_task):
            problems.add(f"{probe.place} of a worker is another one: what it writes is not here")
        return sorted(problems)
    finally:
        if writing:
            store_at(probe.place).remove([probe.name, *map(probe.of_task, range(tasks))])


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
