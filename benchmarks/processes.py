"""Resources of a session's processes: this one (the driver), Spark's JVM below it, and the Python workers below that.

Linux tells (``/proc``) their memory, descriptors, threads and mapped files; elsewhere all measures are 0.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pyspark import SparkContext

from workbench.experiments.measure import descendants, memory_maps

DRIVER, JVM, WORKERS = PROCESS_KINDS = ("driver", "JVM", "workers")
_NO_FILES = ("/dev/", "/memfd:", "/SYSV")
"""Beginnings of paths that Linux lists as removed files, of memory that was never a file."""


def spark_jobs() -> int:
    """How many jobs the Spark of this process has run so far, for any caller; none while it is not started."""
    context = SparkContext._active_spark_context
    return 0 if context is None else int(context._jsc.sc().dagScheduler().numTotalJobs())


@dataclass(frozen=True)
class Usage:
    """Resources of some processes together.

    Attributes:
        processes: how many there are.
        memory: bytes; pages that several processes share are counted in proportion (PSS).
        mapped: how much of it are pages of files, which the system may take back.
        descriptors: open files, pipes and sockets.
        threads: threads.
        gone: removed files that are still mapped.
        seconds: processor time so far.
    """

    processes: int = 0
    memory: int = 0
    mapped: int = 0
    descriptors: int = 0
    threads: int = 0
    gone: int = 0
    seconds: float = 0.0


def usage(processes: Iterable[int]) -> Usage:
    """The usage of processes together; that of an ended one is 0."""
    running = [each for each in map(_usage, processes) if each is not None]
    return Usage(**{name: sum(getattr(each, name) for each in running) for name in Usage.__dataclass_fields__})


def processor_seconds(processes: Iterable[int]) -> float:
    """Processor time of processes so far; that of this one in microseconds, of others in hundredths of a second."""
    own = os.getpid()
    return sum(time.process_time() if pid == own else _seconds(Path(f"/proc/{pid}")) for pid in processes)


def processor_seconds_of_all() -> float:
    """Processor time so far of this process, Spark's JVM and the Python workers."""
    return sum(map(processor_seconds, session_processes().values()))


def session_processes(process: int | None = None) -> Mapping[str, list[int]]:
    """The processes of a session by their kind.

    Args:
        process: the driver; this process unless given.
    """
    driver = os.getpid() if process is None else process
    below = descendants(driver) - {driver}
    java = {pid for pid in below if _name(pid) == "java"}
    return {DRIVER: [driver], JVM: sorted(java), WORKERS: sorted(below - java)}


def _usage(pid: int) -> Usage | None:
    folder = Path(f"/proc/{pid}")
    try:
        pages = memory_maps(pid)
        maps = [line.split(maxsplit=5)[5] for line in (folder / "maps").read_text().splitlines() if "(deleted)" in line]
        return Usage(
            1,
            pages["Pss"],
            pages.get("Pss_File", 0),
            len(os.listdir(folder / "fd")),
            len(os.listdir(folder / "task")),
            len({path for path in maps if not path.startswith(_NO_FILES)}),
            _seconds(folder),
        )
    except (OSError, KeyError, ValueError, IndexError):
        return None  # it ended while we looked, or this is no Linux


def _seconds(folder: Path) -> float:
    try:
        user, system = (folder / "stat").read_text().rsplit(")", 1)[1].split()[11:13]
    except OSError:
        return 0.0  # it ended while we looked
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""
